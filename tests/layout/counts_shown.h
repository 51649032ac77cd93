/* Counts as text, as JSON, and as pictures. Included by test_layout_counts.c. */
#ifndef HARRAY_TESTS_LAYOUT_COUNTS_SHOWN_H
#define HARRAY_TESTS_LAYOUT_COUNTS_SHOWN_H

/* ---- as text --------------------------------------------------------------------------------- */

typedef int64_t (*writer)(const ha_counts *c, char *buffer, size_t size);

/* The whole text, to be freed; a cut one is its beginning. */
static char *whole(writer write, const ha_counts *c) {
    const int64_t length = write(c, NULL, 0);
    char *text = (char *)malloc((size_t)length + 1);
    assert_int_equal(write(c, text, (size_t)length / 2 + 1), length);
    assert_int_equal(strlen(text), length / 2);
    assert_int_equal(write(c, text, (size_t)length + 1), length);
    assert_int_equal(strlen(text), length);
    return text;
}

static void assert_text(writer write, const ha_counts *c, const char *expected) {
    char *text = whole(write, c);
    assert_string_equal(text, expected);
    free(text);
}

/* Two leaves in 40 bytes: counts that anybody can count. */
static ha_record *pair_record;
static ha_mapping *pair(const char *layout) {
    const int64_t n = 3;
    int64_t at = 0;
    ha_error e;
    if (!pair_record) pair_record = ha_record_parse("long.name:f64 b:f32", &e);
    ha_mapping *m = ha_mapping_parse(pair_record, layout, 1, &n, &e);
    if (!m) fail_msg("%s: %s", layout, e.text);
    void *blob[2];
    void *memory = ha_mapping_memory(m, blob, &e);
    const ha_mapped records = {m, blob};
    double x = 0;
    for (int k = 0; k < 1234; k++) ha_mapped_get(&records, 0, &at, &x);
    for (; at < 3; at++) ha_mapped_set(&records, 1, &at, &x);
    ha_blob_free(memory);
    return m;
}

static void test_texts(void **state) {
    (void)state;
    ha_mapping *m = pair("count(heatmap(16; soa))");
    m->counts->leaf[1].pointers = 12345678901;
    assert_text(ha_counts_text, m->counts,
                "field            reads       writes     pointers\n"
                "long.name         1234            0            0\n"
                "b                    0            3  12345678901\n"
                "blob  granules  touched  most often (granules of 16 bytes)\n"
                "   0         2        1  1234 times at byte 0\n"
                "   1         1        1  3 times at byte 0\n");
    assert_text(ha_counts_json, m->counts,
                "{\"fields\": [{\"name\": \"long.name\", \"reads\": 1234, \"writes\": 0, "
                "\"pointers\": 0}, {\"name\": \"b\", \"reads\": 0, \"writes\": 3, \"pointers\": "
                "12345678901}], \"granularity\": 16, \"blobs\": [[1234, 0], [3]]}");
    ha_mapping_free(m);
    m = pair("count(aos)");
    assert_text(ha_counts_json, m->counts,
                "{\"fields\": [{\"name\": \"long.name\", \"reads\": 1234, \"writes\": 0, "
                "\"pointers\": 0}, {\"name\": \"b\", \"reads\": 0, \"writes\": 3, \"pointers\": "
                "0}]}");
    ha_mapping_free(m);
    m = pair("heatmap(aos)");
    assert_text(ha_counts_json, m->counts, "{\"granularity\": 64, \"blobs\": [[1237]]}");
    ha_mapping_free(m);
    assert_text(ha_counts_text, NULL, "nothing is counted\n");
    assert_text(ha_counts_json, NULL, "{}");
}

/* ---- JSON read again ------------------------------------------------------------------------- */

static void test_read_again(void **state) {
    (void)state;
    static const char *const layouts[] = {"count(heatmap(16; soa))", "count(soa)", "heatmap(soa)",
                                          "soa"};
    for (size_t k = 0; k < sizeof layouts / sizeof *layouts; k++) {
        ha_mapping *m = pair(layouts[k]);
        ha_error e;
        char *json = whole(ha_counts_json, m->counts);
        ha_counts *c = ha_counts_parse(m, json, &e);
        if (!c) fail_msg("%s", e.text);
        assert_ptr_equal(c->record, m->record);
        assert_text(ha_counts_json, c, json);
        no_blob = 1;
        assert_null(ha_counts_parse(m, json, &e));
        assert_int_equal(e.status, HA_ERR_MEMORY);
        no_blob = 0;
        ha_counts_free(c);
        free(json);
        ha_mapping_free(m);
    }
}

static void test_wrong_json(void **state) {
    (void)state;
#define B ", {\"name\": \"b\", \"reads\": 0, \"writes\": 0, \"pointers\": 0}"
#define A "{\"fields\": [{\"name\": \"long.name\", \"reads\": 1, \"writes\": 0, \"pointers\": 0}"
    static const struct {
        const char *text;
        int64_t position;
        const char *why;
    } wrong[] = {
        {"", 0, "expected '{'"},
        {"{", 1, "expected \"granularity\""},
        {"{\"fields\" 3}", 10, "expected ':'"},
        {"{\"fields\": {}", 11, "expected '['"},
        {"{\"fields\": []}", 12, "expected '{'"},
        {"{\"fields\": [{\"nome\"", 15, "expected \"name\""},
        {"{\"fields\": [{\"name\" \"b\"", 20, "expected ':'"},
        {"{\"fields\": [{\"name\": \"b\"", 22, "expected \"long.name\""},
        {"{\"fields\": [{\"name\": \"long.name\"}", 32, "expected ','"},
        {"{\"fields\": [{\"name\": \"long.name\", \"writes\": 3", 35, "expected \"reads\""},
        {"{\"fields\": [{\"name\": \"long.name\", \"reads\": -3", 43, "expected a number"},
        {"{\"fields\": [{\"name\": \"long.name\", \"reads\" 3", 42, "expected ':'"},
        {A "]}", 73, "the next field"},
        {A B ", {}]}", 128, "there is no further field"},
        {A B "]} x", 131, "expected the end"},
        {A B "], ", 131, "expected \"granularity\""},
        {"{\"granularity\": 0", 16, "from 1 to"},
        {"{\"granularity\" 16", 15, "expected ':'"},
        {"{\"granularity\": 16}", 18, "expected ','"},
        {"{\"granularity\": 16, \"blob\": []", 25, "expected \"blobs\""},
        {"{\"granularity\": 16, \"blobs\" []", 28, "expected ':'"},
        {"{\"granularity\": 16, \"blobs\": {", 29, "expected '['"},
        {"{\"granularity\": 16, \"blobs\": []", 30, "expected '['"},
        {"{\"granularity\": 16, \"blobs\": [[1]", 32, "the next number"},
        {"{\"granularity\": 16, \"blobs\": [[1, x", 34, "expected a number"},
        {"{\"granularity\": 16, \"blobs\": [[1, 2, 3]", 35, "the blob ends here"},
        {"{\"granularity\": 16, \"blobs\": [[1, 2]]", 36, "the next blob"},
        {"{\"granularity\": 16, \"blobs\": [[1, 2], [3], []]", 41, "no further blob"},
        {"{\"granularity\": 16, \"blobs\": [[1, 2], [3]]", 42, "expected '}'"},
    };
    ha_mapping *m = pair("soa");
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        ha_error e;
        if (ha_counts_parse(m, wrong[k].text, &e)) fail_msg("accepted: %s", wrong[k].text);
        assert_int_equal(e.status, HA_ERR_ARGUMENT);
        if (e.code != wrong[k].position || !strstr(e.text, wrong[k].why))
            fail_msg("%s: %d, %s", wrong[k].text, (int)e.code, e.text);
        assert_null(ha_counts_parse(m, wrong[k].text, NULL));
    }
    ha_mapping_free(m);
}

/* ---- pictures -------------------------------------------------------------------------------- */

static char *picture(const ha_mapping *m) {
    const int64_t length = ha_mapping_svg(m, NULL, 0);
    char *text = (char *)malloc((size_t)length + 1);
    assert_int_equal(ha_mapping_svg(m, text, (size_t)length + 1), length);
    return text;
}

static int times(const char *text, const char *what) {
    int n = 0;
    while ((text = strstr(text, what))) n++, text++;
    return n;
}

static void test_picture_of_bytes(void **state) {
    (void)state;
    ha_mapping *m = pair("heatmap(1; aos)");
    char *text = picture(m);
    assert_int_equal(times(text, ">accesses to each byte:<"), 1);
    assert_int_equal(times(text, ">1 \xe2\x80\x93 246<"), 1); /* legend: fifths of 1234 */
    assert_int_equal(times(text, ">988 \xe2\x80\x93 1234<"), 1);
    assert_int_equal(times(text, "fill=\"#dc6b45\""), 1 + 8);     /* and the hot value's bytes */
    assert_int_equal(times(text, "fill=\"#fdf0d5\""), 1 + 3 * 4); /* and the lukewarm ones' */
    assert_int_equal(times(text, ">1234<"), 1);
    assert_int_equal(times(text, ">1<"), 3 + 2); /* three values, and index 1 of both leaves */
    assert_int_equal(times(text, "accesses to each field"), 0);
    free(text);
    ha_mapping_free(m);
}

static void test_picture_of_lines(void **state) {
    (void)state;
    ha_mapping *m = pair("count(heatmap(soa(single)))");
    m->counts->blob[0].touched[0] = 12345678; /* too long for the margin */
    m->counts->leaf[1].pointers = 617;
    char *text = picture(m);
    assert_int_equal(times(text, ">accesses to each 64 bytes:<"), 1);
    assert_int_equal(times(text, "font-weight=\"bold\">12M<"), 1);
    assert_int_equal(times(text, "fill=\"#dc6b45\""), 2); /* legend, and the only line */
    assert_int_equal(times(text, ">accesses to each field<"), 1);
    assert_int_equal(times(text, ">long.name<"), 3 + 1);
    assert_int_equal(times(text, "width=\"420\" height=\"12\" fill=\"#9cc7e8\""), 1);
    assert_int_equal(times(text, "width=\"1\" height=\"12\" fill=\"#f0a9a0\""), 1);
    assert_int_equal(times(text, "width=\"210\" height=\"12\" fill=\"#e3e3e3\""), 1);
    free(text);
    m->counts->blob[0].touched[0] = 2; /* fewer numbers than shades */
    text = picture(m);
    assert_int_equal(times(text, "\xe2\x80\x93"), 0);
    free(text);
    ha_mapping_free(m);
}

static void test_pictures_without(void **state) {
    (void)state;
    const int64_t n = 300;
    ha_mapping *m = pair("count(aos)"), *plain = pair("aos"), *empty;
    char *text = picture(m), *other = picture(plain);
    assert_int_equal(times(text, "fill=\"#ffd9a0\""), 3); /* as without counters, but for bars */
    assert_int_equal(times(text, "accesses to each"), 1);
    assert_int_equal(times(other, "accesses to each"), 0);
    free(text);
    free(other);
    ha_mapping_free(m);
    ha_mapping_free(plain);
    ha_error e;
    ha_record *many = ha_record_parse("x[300]:u8", &e);
    empty = ha_mapping_parse(many, "heatmap(8; count(soa(single)))", 1, &n, &e);
    text = picture(empty); /* nothing was touched */
    assert_int_equal(times(text, ">and 44 more<"), 1);
    assert_int_equal(times(text, "fill=\"#dc6b45\""), 0);
    free(text);
    ha_mapping_free(empty);
    ha_record_free(many);
}

static void test_short_numbers(void **state) {
    (void)state;
    static const struct {
        uint64_t n;
        int room;
        const char *text;
    } numbers[] = {{0, 0, "0"},           {999, 0, "999"},         {1000, 0, "1.0k"},
                   {9999, 0, "9.9k"},     {10000, 0, "10k"},       {999999, 0, "999k"},
                   {1950000, 0, "1.9M"},  {1950000, 1, "1950000"}, {12345678, 1, "12M"},
                   {UINT64_MAX, 0, "18E"}};
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
        char text[24];
        ha_text w = ha_text_into(text, sizeof text);
        ha_put_short_number(&w, numbers[k].n, numbers[k].room);
        assert_string_equal(text, numbers[k].text);
    }
}

#endif
