/* What is read of kernels' texts: whether they need double, where their lines are, and the rules of teams. */
#include "../support/faulty_backend.h"
#include "../../backends/host/host.h"
FAULTY_HOST(faulty_host, ha_backend_host)
#define HARRAY_HOST_BACKEND faulty_host
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#define HA_LAYOUT_TESTING
#include "../../harray_kernels.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define TEST(name) static void name(HA_UNUSED void **state)
#define COUNT(list) (sizeof(list) / sizeof *(list))

/* ---- double -------------------------------------------------------------------------------------- */

/* NULL: it does not need it. */
TEST(what_needs_double) {
    static const char *const texts[][2] = {
        {"{ x[i] = 1.5; }", "1.5"},
        {"1.", "1."},
        {".5", ".5"},
        {"x - .5f", NULL},
        {"1.5f", NULL},
        {"1.F", NULL},
        {"1e5", "1e5"},
        {"1E+5", "1E+5"},
        {"1e-5f", NULL},
        {"0x1p3", "0x1p3"},
        {"0X1P-3", "0X1P-3"},
        {"0x1p+3f", NULL},
        {"0x1e + 5", NULL},
        {"0x.8p0F", NULL},
        {"00", NULL},
        {"1+x-2", NULL},
        {"17u", NULL},
        {"s.a + s.b", NULL},
        {"x ... y", NULL},
        {"./", NULL},
        {"'.' + \"1.5\"[0]", NULL},
        {"double y = 1;", "double"},
        {"doubled y; dauble z;", NULL},
        {"ha_c128 z;", "ha_c128"},
        {"harray_c64 z;", NULL},
        {"sqrt(x)", "sqrt"},
        {"sqrt  (x)", "sqrt"},
        {"sqrtf(x)", NULL},
        {"int sqrt = cosf(0);", NULL},
        {"ldexp(x, 2)", "ldexp"},
        {"M_PI", "M_PI"},
        {"FLT_MAX + INFINITY + M_PI_OF", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < COUNT(texts); i++) {
        ha_double_need need = {""};
        const int needs = ha_text_needs_double(texts[i][0], "k", &need);
        if (needs != (texts[i][1] != NULL)) fail_msg("%s", texts[i][0]);
        assert_string_equal(need.text, needs ? texts[i][1] : "");
    }
}

static const ha_field one_field[] = {{.path = "pos.x", .type = HA_DTYPE_float}},
                      two_fields[] = {{.path = "pos.x", .type = HA_DTYPE_float},
                                      {.path = "pos.y", .type = HA_DTYPE_double}},
                      complex_field[] = {{.path = "z", .type = HA_DTYPE_c128}};
static const ha_record short_record = {.name = "one", .fields = 1, .field = one_field},
                       long_record = {.name = "two", .fields = 2, .field = two_fields},
                       complex_record = {.name = "three", .fields = 1, .field = complex_field};

static int has_none(void *device) { return device != NULL; }

/* By its types: which argument, or which field, is told. */
TEST(what_parameters_need_double) {
    static const struct {
        ha_kernel_parameter_ parameter;
        const char *what;
    } cases[] = {
        {{.mode = HA_KERNEL_IN_, .type = "double"}, "p"},
        {{.mode = HA_KERNEL_IN_, .type = "float"}, NULL},
        {{.mode = HA_KERNEL_IN_, .type = "array_double_2", .rank = 2}, "p"},
        {{.mode = HA_KERNEL_IN_, .type = "array_c128_1", .rank = 1}, "p"},
        {{.mode = HA_KERNEL_IN_, .type = "array_float_1", .rank = 1}, NULL},
        {{.mode = HA_KERNEL_VALUE_, .type = "double"}, "p"},
        {{.mode = HA_KERNEL_VALUE_, .type = "one", .record = &short_record}, NULL},
        {{.mode = HA_KERNEL_VALUE_, .type = "two", .record = &long_record}, "pos.y"},
        {{.mode = HA_KERNEL_IN_, .type = "three", .record = &complex_record}, "z"},
        {{.mode = HA_KERNEL_USES_, .type = "file.c:7\nfloat f(double x);"}, "double"},
        {{.mode = HA_KERNEL_USES_, .type = "double.c:7\nfloat f(float x);"}, NULL},
        {{.mode = HA_KERNEL_OPTION_, .type = "double"}, NULL},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        ha_kernel_parameter_ p = cases[i].parameter;
        ha_kernel k = {.name = "k", .site = "here:1", .text = "{}", .parameters = 1};
        const ha_kernel_variant v = {.kernel = &k};
        ha_backend b = {.bytes = sizeof b, .has_double = has_none};
        p.name = "p";
        k.parameter = &p;
        const ha_status s = ha_doubles_check(&v, &b, NULL, "gpu");
        const ha_error e = ha_take_error();
        assert_int_equal(s, cases[i].what ? HA_ERR_UNSUPPORTED : HA_OK);
        if (s) assert_non_null(strstr(e.text, "gpu does not compute with double, which "));
        if (s) assert_non_null(strstr(e.text, cases[i].what));
        assert_int_equal(ha_doubles_check(&v, &b, &b, "gpu"), HA_OK); /* that device has it */
        b.has_double = NULL; /* all devices of that kind have it */
        assert_int_equal(ha_doubles_check(&v, &b, NULL, "gpu"), HA_OK);
        b.bytes = offsetof(ha_backend, has_double); /* of an older version, that cannot say */
        assert_int_equal(ha_doubles_check(&v, &b, NULL, "gpu"), HA_OK);
    }
}

/* ---- lines --------------------------------------------------------------------------------------- */

TEST(where_tokens_end) {
    static const struct {
        const char *text;
        int length;
    } tokens[] = {{"name_1+", 6}, {"+=", 1},       {"\"a\"b", 3}, {"\"a\\\"b\"c", 6}, {"'\\''", 4},
                  {"\"open", 5},  {"\"open\\", 6}, {"''", 2},     {"7u", 1}};
    for (size_t i = 0; i < COUNT(tokens); i++)
        assert_int_equal(ha_token_end(tokens[i].text) - tokens[i].text, tokens[i].length);
}

/* Blanks, comments and lines that go on. */
TEST(where_blanks_end) {
    static const struct {
        const char *text;
        int length;
    } blanks[] = {{" x", 1},        {"\tx", 1},  {"\nx", 1},      {"x", 0},       {"/x", 0},
                  {"// a\nb", 4},   {"// a", 4}, {"/* a */b", 7}, {"/* open", 7}, {"/*/ x", 5},
                  {"\\\nx", 2 - 1}, {"\\x", 0},  {"", 0}};
    for (size_t i = 0; i < COUNT(blanks); i++)
        assert_int_equal(ha_blank_end(blanks[i].text) - blanks[i].text, blanks[i].length);
}

/* Of several places the one nearest to the line; with comments between, and not within longer words. */
TEST(where_a_text_stands) {
    static const struct {
        const char *source, *text;
        int64_t near, first, last; /* 0: nowhere */
    } cases[] = {
        {"a\nx = 1;\nb\nx = 1;\n", "x = 1;", 1, 2, 2},
        {"a\nx = 1;\nb\nx = 1;\n", "x = 1;", 4, 4, 4},
        {"a\nx = 1;\nb\nx = 1;\n", "x = 1;", 3, 2, 2}, /* the first of two as near */
        {"x /* one\ntwo */ = // three\n1;", "x = 1;", 1, 1, 3},
        {"x \\\n= 1;", "x = 1;", 9, 1, 2},
        {"xx = 1;", "x = 1;", 1, 0, 0},
        {"x = 1", "x = 1;", 1, 0, 0},
        {"x = \"1;", "x = 1;", 1, 0, 0},
        {"x = yy;", "x = y", 1, 0, 0},
        {"", "x", 1, 0, 0},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        ha_source_place first = {NULL, 0}, last = {NULL, 0};
        const int found = ha_source_find(cases[i].source, cases[i].text, cases[i].near, &first,
                                         &last);
        assert_int_equal(found, cases[i].first > 0);
        assert_int_equal(first.line, cases[i].first);
        assert_int_equal(last.line, cases[i].last);
    }
}

static char path[] = "/tmp/harray-test-readers-XXXXXX";

static void write_source(const char *text) {
    strcpy(path + sizeof path - 7, "XXXXXX");
    const int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), (ssize_t)strlen(text));
    assert_int_equal(close(file), 0);
}

TEST(texts_with_their_lines) {
    int64_t line = 9;
    write_source("int y;\n{ x /* one\n*/ = 1;\n}\n");
    char *text = ha_text_with_lines(path, "{ x = 1; }", &line);
    assert_string_equal(text, "{ x \n= 1; \n}");
    assert_int_equal(line, 2);
    HARRAY_FREE(text);
    assert_null(ha_text_with_lines(path, "{ x = 2; }", &line));
    for (int n = 0; n < 2; n++) { /* the file, the text */
        faulty_arm(n, 0);
        text = ha_text_with_lines(path, "{ x = 1; }", &line);
        assert_int_equal(faulty_disarm(), 1);
        assert_null(text);
    }
    assert_int_equal(unlink(path), 0);
}

/* What is no source, or none that is looked at. */
TEST(files_that_cannot_be_read) {
    assert_null(ha_source_read("/nowhere/at all.c"));
    assert_null(ha_source_read("/"));
    write_source("x");
    assert_int_equal(truncate(path, HA_MOST_SOURCE + 1), 0); /* takes no room on the disk */
    assert_null(ha_source_read(path));
    assert_int_equal(truncate(path, 1), 0);
    char *text = ha_source_read(path);
    assert_string_equal(text, "x");
    HARRAY_FREE(text);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0); /* no place in it can be gone to */
    const int both = open(path, O_RDWR | O_CLOEXEC);
    assert_null(ha_source_read(path));
    assert_int_equal(close(both), 0);
    assert_int_equal(unlink(path), 0);
}

/* ---- teams --------------------------------------------------------------------------------------- */

static int checked;
static const ha_team_ team = {{4, 3, 2}, &checked};
static const ha_kernel_parameter_ constants[] = {
    {.mode = HA_KERNEL_VALUE_, .name = "v", .type = "int"},
    {.mode = HA_KERNEL_USES_, .name = "f", .type = "file.c:1\nint f(void);"},
    {.mode = HA_KERNEL_USES_, .name = "N", .type = "file.c:2\n\n#define N 10"},
    {.mode = HA_KERNEL_USES_, .name = "M", .type = "file.c:3\n\n#define M (N + 2) * 2"},
    {.mode = HA_KERNEL_USES_, .name = "LOOP", .type = "file.c:4\n\n#define LOOP LOOP + 1"},
    {.mode = HA_KERNEL_USES_, .name = "CALL", .type = "file.c:5\n\n#define CALL 1 ? 2 : 3"},
};

static ha_kernel team_kernel(const char *text) {
    return (ha_kernel){.name = "k",
                       .text = text,
                       .site = "here:1",
                       .rank = 1,
                       .parameters = COUNT(constants),
                       .parameter = constants,
                       .team = &team};
}

/* Refused with a word of what is wrong, each time; NULL: it keeps them. */
TEST(rules_of_teams) {
    static const char *const texts[][2] = {
        {"{ HA_LANES(l) x[l] = 1; }", NULL},
        {"{\n\tHA_LANES(l)\n\t{ x[l] = f(a[(0)], {1}); }\n}", NULL},
        {"{ if (a) x; else if (b) { y; } else z; }", NULL},
        {"{ do { x; } while (a[0]); for (;;) while (b) switch (c) { case 1: x; break; default: y; "
         "} }",
         NULL},
        {"{ HA_LANES(l) for (;;) break; HA_LANES(l) { switch (a) { default: break; } } }", NULL},
        {"{ HA_LANES(l) { break; } }", "break out of HA_LANES"},
        {"{ for (;;) HA_LANES(l) { if (a) break; } }", "break out of HA_LANES"},
        {"{ for (;;) { if (a) break; } return; }", NULL},
        {"{ HA_LANES(l) return; }", "return within"},
        {"{ HA_LANES(l) HA_LANES_ALONE(m) x; }", "HA_LANES within"},
        {"{ HA_LANES(l) HA_BARRIER(); }", "a barrier within"},
        {"{ HA_LANES(l) x[HA_BARRIER_LOCAL()] = 1; }", "a barrier within"},
        {"{ HA_BARRIER(); x = HA_MINE(m, l); }", "HA_MINE outside"},
        {"{ HA_SHARE(i, l, 0, 1) x; }", "HA_SHARE outside"},
        {"{ if (a) { HA_LOCAL(int, h, 1); } }", "not at the top"},
        {"{ for (;;) HA_PRIVATE(int, h); }", "not at the top"},
        {"{ goto end; return; }", "goto"},
        {"x;", NULL},
        {"{ } x", "no block in braces"},
        {"{ x; } ;", "no block in braces"},
        {"{ x[(1", NULL}, /* the compiler tells these */
        {"{ HA_LANES(l) { x", NULL},
        {"{ f({", NULL},
        {"{ x = a ]; }", NULL},
    };
    for (size_t i = 0; i < COUNT(texts); i++) {
        const ha_kernel k = team_kernel(texts[i][0]);
        checked = 0;
        for (int again = 0; again < 2; again++) {
            const ha_status s = ha_team_check(&k);
            const ha_error e = ha_take_error();
            if (s != (texts[i][1] ? HA_ERR_COMPILE : HA_OK))
                fail_msg("%s: %s", texts[i][0], e.text);
            if (s) assert_non_null(strstr(e.text, texts[i][1]));
            assert_int_equal(checked, !s);
        }
    }
}

/* In bytes; -1: not known, which no device refuses. */
TEST(local_memory_of_teams) {
    static const struct {
        const char *text;
        int64_t bytes;
    } cases[] = {
        {"{ HA_LOCAL(float, a, 10); }", 40},
        {"{ HA_LOCAL(double, a, 0x10u); HA_LOCAL(char, b, 1UL); HA_LOCAL(short, c, 2lL); }", 133},
        {"{ HA_LOCAL(ha_c128, a, HA_TEAM); }", 16 * 24},
        {"{ HA_LOCAL(int, a, HA_TEAM_X + HA_TEAM_Y * HA_TEAM_Z); }", 40},
        {"{ HA_LOCAL(int, a, (HA_TEAM_X + 1) * 2 - 3); }", 28},
        {"{ HA_LOCAL(int, a, 7 / 2); HA_LOCAL(int, b, 0 * 5); }", 12},
        {"{ HA_LOCAL(int, a, N); }", 40},
        {"{ HA_LOCAL(int, a, M); }", 96},
        {"{ HA_LOCAL(int, a, LOOP); }", -1},
        {"{ HA_LOCAL(int, a, CALL); }", -1},
        {"{ HA_LOCAL(int, a, NN); }", -1},
        {"{ HA_LOCAL(int, a, n); }", -1},
        {"{ HA_LOCAL(int, a, -1); }", -1},
        {"{ HA_LOCAL(int, a, 1 / 0); }", -1},
        {"{ HA_LOCAL(int, a, n / 2); }", -1},
        {"{ HA_LOCAL(int, a, 2 * n); }", -1},
        {"{ HA_LOCAL(int, a, n + 1); }", -1},
        {"{ HA_LOCAL(int, a, 1 + n); }", -1},
        {"{ HA_LOCAL(int, a, 1 - 2); }", -1},
        {"{ HA_LOCAL(int, a, 1 << 4); }", -1},
        {"{ HA_LOCAL(int, a, 1.5); }", -1},
        {"{ HA_LOCAL(int, a, 0x7fffffffffffffff * 2); }", -1},
        {"{ HA_LOCAL(int, a, 0x7fffffffffffffff + 1); }", -1},
        {"{ HA_LOCAL(int, a, 0x7fffffffffffffff); }", -1},
        {"{ HA_LOCAL(char, a, 0x7fffffffffffffff); HA_LOCAL(short, b, 0x4000000000000001); }", -1},
        {"{ HA_LOCAL(unsigned long, a, 4); }", -1},
        {"{ HA_LOCAL(atom, a, 4); }", -1},
        {"{ HA_LOCAL(int, a, 4, 5); }", -1},
    };
    const ha_kernel_limits limits = {.lanes = 24, .local_bytes = 39};
    for (size_t i = 0; i < COUNT(cases); i++) {
        const ha_kernel k = team_kernel(cases[i].text);
        const ha_team_reader r = ha_team_read(&k);
        if ((r.local_is_known ? (int64_t)r.local_bytes : -1) != cases[i].bytes)
            fail_msg("%s: %zu", cases[i].text, r.local_bytes);
        const ha_status s = ha_team_fits(&k, "gpu", &limits);
        const ha_error e = ha_take_error();
        assert_int_equal(s, cases[i].bytes > 39 ? HA_ERR_ARGUMENT : HA_OK);
        if (s) assert_non_null(strstr(e.text, "bytes of local memory, and gpu has 39"));
    }
}

/* What has no team has lanes, too: those of a reduction. */
TEST(lanes_of_teams) {
    ha_kernel_limits limits = {.lanes = 23, .local_bytes = 100};
    ha_kernel k = team_kernel("{ }");
    assert_int_equal(ha_team_fits(&k, "gpu", &limits), HA_ERR_ARGUMENT);
    assert_non_null(strstr(ha_take_error().text, "a team has 24 lanes, and gpu takes 23"));
    k.team = NULL;
    assert_int_equal(ha_team_fits(&k, "gpu", &limits), HA_OK);
    k.reduction = &(ha_reduction_){.result_bytes = 4};
    assert_int_equal(ha_team_fits(&k, "gpu", &limits), HA_ERR_ARGUMENT);
    assert_int_equal(ha_take_error().status, HA_ERR_ARGUMENT);
    limits.lanes = HA_REDUCTION_LANES;
    assert_int_equal(ha_team_fits(&k, "gpu", &limits), HA_OK);
}

/* ---- records ------------------------------------------------------------------------------------- */

static ha_record wide;
static const ha_record *wide_record(void) { return &wide; }

/* Of a record with so many fields: the steps that its text for devices takes. */
static uint64_t steps_of_text(int fields, const char *layout) {
    static const ha_records_type_ type = {.view = "plain", .rank = 1, .record = wide_record};
    const ha_kernel_parameter_ p = {.mode = HA_KERNEL_RECORDS_,
                                    .type = "wides",
                                    .name = "p",
                                    .site = "here:1",
                                    .records = &type};
    const ha_kernel k = {.name = "k",
                         .site = "here:1",
                         .indices = "at",
                         .text = "{ }",
                         .rank = 1,
                         .parameters = 1,
                         .parameter = &p,
                         .each = 1};
    const int64_t one = 1;
    char *fields_text = (char *)malloc(32 * (size_t)fields), *to = fields_text;
    ha_error e;
    assert_non_null(to);
    for (int i = 0; i < fields; i++) to += sprintf(to, "f%d:f32 ", i);
    ha_record *record = ha_record_parse(fields_text, &e);
    assert_non_null(record);
    wide = *record;
    wide.name = "wide";
    ha_mapping *m = ha_mapping_parse(&wide, layout, 1, &one, &e);
    assert_non_null(m);
    const ha_kernel_variant v = {.kernel = &k, .mapping = {m}, .records = 1};
    const uint64_t before = ha_layout_steps_;
    ha_kernel_writer w = {
        .to = ha_text_into(NULL, 0), .variant = &v, .kernel = &k, .language = HA_LANGUAGE_OPENCL_C};
    w.arguments = ha_kernel_leaves(&k, w.argument);
    assert_int_equal(ha_put_kernel(&w), 0);
    const uint64_t steps = ha_layout_steps_ - before;
    assert_true(w.to.length > 500 * (size_t)fields);
    ha_mapping_free(m);
    ha_record_free(record);
    free(fields_text);
    return steps;
}

TEST(text_of_many_fields) {
    static const char *const layouts[] = {"aos", "soa(single)", "aosoa(8)"};
    for (size_t i = 0; i < COUNT(layouts); i++) {
        const uint64_t few = steps_of_text(125, layouts[i]), many = steps_of_text(1000, layouts[i]);
        assert_true(few >= 125);
        if (many > 16 * few)
            fail_msg("%llu, %llu", (unsigned long long)few, (unsigned long long)many);
    }
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_needs_double),
        cmocka_unit_test(what_parameters_need_double),
        cmocka_unit_test(where_tokens_end),
        cmocka_unit_test(where_blanks_end),
        cmocka_unit_test(where_a_text_stands),
        cmocka_unit_test(texts_with_their_lines),
        cmocka_unit_test(files_that_cannot_be_read),
        cmocka_unit_test(rules_of_teams),
        cmocka_unit_test(text_of_many_fields),
        cmocka_unit_test(local_memory_of_teams),
        cmocka_unit_test(lanes_of_teams),
    };
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
