/* Records and layouts from text, and layouts by functions: what is refused, with the character where it
 * stops to make sense, and that nothing is left behind then. */
#include "../support/layout_memory.h"
#include "../../layout.h"

#include <setjmp.h>
#include <cmocka.h>

#include "../support/layout_record.h"

typedef struct refusal {
    const char *text;
    int64_t position;
    const char *why; /* what the message has to contain */
} refusal;

static void check_refusal(const ha_error *e, const refusal *r, const char *operation) {
    if (e->code != r->position || !strstr(e->text, r->why))
        fail_msg("\"%s\": %lld, %s", r->text, (long long)e->code, e->text);
    assert_int_equal(e->status, HA_ERR_ARGUMENT);
    assert_string_equal(e->operation, operation);
    assert_int_equal(allocated, 0);
}

/* ---- records --------------------------------------------------------------------------------- */

static const refusal bad_records[] = {
    {"", 0, "expected a name, found the end"},
    {"  ", 2, "expected a name, found the end"},
    {"a", 1, "expected ':', '.' or '[', found the end"},
    {"a ", 1, "found ' '"},
    {"a:", 2, "expected a type"},
    {"a: f32", 2, "expected a type"},
    {"a:f33", 2, "found 'f'"},
    {"a:f322", 2, "expected a type"},
    {"a:f32,b:f32", 5, "expected a blank or the end, found ','"},
    {"a:f32 1b:f32", 6, "expected a name, found '1'"},
    {"a..b:f32", 2, "expected a name, found '.'"},
    {"a.:f32", 2, "expected a name, found ':'"},
    {"a[]:f32", 2, "expected a number, found ']'"},
    {"a[0]:f32", 2, "a subscript, from 1 to 4096"},
    {"a[-1]:f32", 2, "expected a number, found '-'"},
    {"a[5000]:f32", 2, "from 1 to 4096"},
    {"a[99999999999999999999]:f32", 2, "too large"},
    {"a[3:f32", 3, "expected ']', found ':'"},
    {"a[2][2][2][2][2][2][2]:f32", 19, "no more subscripts"},
    {"a[3]b:f32", 4, "found 'b'"},
    {"a:f32 b[4096]:f32", 6, "more than 4096 leaves"},
    {"a[64].b[64].c[2]:f32", 0, "more than 4096 leaves"},
    {"a:f32 a:f64", 6, "a and a cannot both be in a struct"},
    {"a:f32 a.x:f64", 6, "a and a.x cannot"},
    {"a.x:f32 b:f32 a:f64", 14, "a.x and a cannot"},
    {"a[2]:f32 a:f64", 9, "a[2] and a cannot"},
    {"a[2].x:f32 a[3].y:f64", 11, "a[2].x and a[3].y cannot"},
    {"a[2].x:f32 a[21].y:f64", 11, "cannot both"},
    {"a[12].x:f32 a[1].y:f64", 12, "cannot both"},
    {"a[2].x:f32 a.y:f64", 11, "cannot both"},
    {"a\x01:f32", 1, "found byte 0x01"},
    {"\xc3\xa4:f32", 0, "found byte 0xc3"},
};

static void test_bad_records(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof bad_records / sizeof *bad_records; k++) {
        ha_error e;
        assert_null(ha_record_parse(bad_records[k].text, &e));
        check_refusal(&e, &bad_records[k], "ha_record_parse");
        assert_null(ha_record_parse(bad_records[k].text, NULL));
    }
    assert_int_equal(allocated, 0);
}

static void check_leaf(const ha_record *r, int64_t number, const char *name, int64_t offset) {
    char text[100] = "untouched";
    ha_leaf leaf;
    assert_int_equal(ha_record_leaf(r, number, &leaf), HA_OK);
    assert_int_equal(leaf.offset, offset);
    assert_int_equal(ha_record_leaf_name(r, number, text, sizeof text), strlen(name));
    assert_string_equal(text, name);
}

static void test_good_records(void **state) {
    (void)state;
    ha_error e;
    ha_record *r = ha_record_parse("\n a1:u8\ta2:u8 link[4].e[3][2].re:f64 ab:i16 a:c128 \r\n", &e);
    assert_non_null(r);
    assert_int_equal(e.status, HA_OK);
    assert_int_equal(r->fields, 5);
    assert_string_equal(r->field[2].path, "link[4].e[3][2].re");
    assert_int_equal(ha_record_leaves(r), 28);
    assert_int_equal(r->alignment, 8);
    assert_int_equal(r->size, 8 + 24 * 8 + 8 + 16);
    check_leaf(r, 1, "a2", 1);
    check_leaf(r, 2, "link[0].e[0][0].re", 8);
    check_leaf(r, 2 + 6 + 2 + 1, "link[1].e[1][1].re", 8 + 9 * 8);
    check_leaf(r, 25, "link[3].e[2][1].re", 8 + 23 * 8);
    check_leaf(r, 26, "ab", 200);
    check_leaf(r, 27, "a", 208);
    assert_int_equal(ha_record_check(r, &e), HA_OK);
    ha_record_free(r);
    ha_record_free(NULL);
    assert_int_equal(allocated, 0);
}

/* Every type has its size and alignment in a struct, as C has it. */
static void test_scalars(void **state) {
    (void)state;
#define CHECK_SCALAR(name, T, kind, text)                                                          \
    {                                                                                              \
        ha_record *r = ha_record_parse("x:" text, NULL);                                           \
        assert_int_equal(r->field->type, HA_DTYPE_##name);                                         \
        assert_int_equal(r->size, sizeof(T));                                                      \
        assert_int_equal(r->alignment, _Alignof(T));                                               \
        if (kind != HA_KIND_BOOL) assert_int_equal(HA_DTYPE_OF(T), HA_DTYPE_##name);               \
        assert_string_equal(ha_dtype_short_name(HA_DTYPE_##name), text);                           \
        ha_record_free(r);                                                                         \
    }
    HA_DTYPES(CHECK_SCALAR)
    assert_int_equal(HA_DTYPE_OF(bool), HA_DTYPE_bool);
    assert_int_equal(HA_DTYPE_OF(char), CHAR_MIN < 0 ? HA_DTYPE_int8_t : HA_DTYPE_uint8_t);
    assert_int_equal(HA_DTYPE_OF(long long), HA_DTYPE_int64_t);
    assert_int_equal(HA_DTYPE_OF(unsigned long), HA_DTYPE_uint64_t);
    assert_int_equal(HA_DTYPE_OF(int *), HA_DTYPE_NONE);
    assert_string_equal(ha_dtype_short_name(HA_DTYPE_NONE), "");
    assert_int_equal(ha_dtype_alignment(HA_DTYPE_NONE), 0);
}

static void test_finding(void **state) {
    (void)state;
    ha_record *r = ha_record_parse("po:u8 pos.x:u8 mass:u8 pos.y[12].z:u8 posx:u8", NULL);
    const ha_record none = {0};
    int64_t first = -1;
    ha_leaf leaf;
    assert_int_equal(ha_record_find(r, "pos", 0, &first), HA_OK);
    assert_int_equal(first, 1);
    assert_int_equal(ha_record_find(r, "pos", 2, &first), HA_OK);
    assert_int_equal(first, 3);
    assert_int_equal(ha_record_find(r, "pos.y[1]", 0, &first), HA_OK);
    assert_int_equal(first, 4);
    assert_int_equal(ha_record_find(r, "pos.y[11].z", 0, &first), HA_OK);
    assert_int_equal(first, 14);
    assert_int_equal(ha_record_find(r, "pos", 15, &first), HA_ERR_NOT_FOUND);
    assert_int_equal(ha_record_find(r, "p", 0, &first), HA_ERR_NOT_FOUND);
    assert_int_equal(ha_record_find(r, "", 0, &first), HA_ERR_NOT_FOUND);
    assert_int_equal(ha_record_find(r, "pos.y[1].z.w", 0, &first), HA_ERR_NOT_FOUND);
    assert_int_equal(ha_record_find(&none, "pos", 0, &first), HA_ERR_NOT_FOUND);
    assert_int_equal(first, 14);
    assert_int_equal(ha_record_leaf(r, 16, &leaf), HA_ERR_ARGUMENT);
    assert_int_equal(ha_record_leaf(r, -1, &leaf), HA_ERR_ARGUMENT);
    assert_int_equal(ha_record_leaf_name(r, 16, NULL, 0), -1);
    assert_int_equal(ha_record_leaf_name(r, 13, NULL, 0), 11);
    assert_int_equal(ha_record_leaves(&none), -1);
    assert_int_equal(ha_record_lanes(&none, 16), -1);
    ha_record_free(r);
}

/* Records by hand. */
static void check_wrong(const ha_record *r, const char *why) {
    const int64_t extent[] = {3};
    const ha_layout aos = {0};
    ha_error e;
    assert_int_equal(ha_record_check(r, NULL), HA_ERR_ARGUMENT);
    assert_int_equal(ha_record_check(r, &e), HA_ERR_ARGUMENT);
    if (!strstr(e.text, why)) fail_msg("%s", e.text);
    assert_string_equal(e.operation, "ha_record_check");
    assert_null(ha_mapping_new(r, &aos, 1, extent, &e));
    assert_string_equal(e.operation, "ha_mapping_new");
    assert_null(ha_mapping_parse(r, "aos", 1, extent, NULL));
    assert_int_equal(allocated, 0);
}

static void test_wrong_records(void **state) {
    (void)state;
    ha_field f[2] = {{"a[3]", HA_DTYPE_double, 8, {16}}, {"b", HA_DTYPE_uint8_t, 0, {0}}};
    ha_record r = {"r", 48, 8, 2, f};
    assert_int_equal(ha_record_check(&r, NULL), HA_OK);
    assert_int_equal(ha_record_leaves(&r), 4);
    check_wrong(NULL, "no fields");
    r.size = 47;
    check_wrong(&r, "a[3] is not inside its struct of 47 bytes");
    r.size = 0;
    check_wrong(&r, "cannot be");
    r.size = 48;
    r.alignment = 6;
    check_wrong(&r, "aligned to 6");
    r.alignment = 0;
    check_wrong(&r, "aligned to 0");
    r.alignment = 8;
    f[0].stride[0] = INT64_MAX / 2 + 1;
    check_wrong(&r, "not inside");
    f[0].stride[0] = -16;
    check_wrong(&r, "not inside");
    f[0].offset = 40;
    assert_int_equal(ha_record_check(&r, NULL), HA_OK);
    f[0].offset = INT64_MAX;
    check_wrong(&r, "not inside");
    f[0].offset = INT64_MAX - 8;
    f[0].stride[0] = 8;
    check_wrong(&r, "not inside");
    f[0] = (ha_field){"a", HA_DTYPE_double, 8, {0}};
    f[1].type = HA_DTYPE_NONE;
    check_wrong(&r, "b has a type that is none");
    f[1].type = HA_DTYPE_uint8_t;
    f[1].path = NULL;
    check_wrong(&r, "field 1 has no path");
    f[1].path = "b c";
    check_wrong(&r, "expected the end of the path, found ' '");
    f[1].path = "b[0]";
    check_wrong(&r, "from 1 to 4096");
    f[1].path = "a";
    check_wrong(&r, "a and a cannot");
    f[1].path = "b[4096]";
    check_wrong(&r, "more than 4096 leaves");
    f[1].path = "b[64][65]";
    check_wrong(&r, "more than 4096 leaves");
    f[1].path = "b[4096][4096][4096][4096][4096][4096]";
    check_wrong(&r, "more than 4096 leaves");
    r.fields = 0;
    check_wrong(&r, "no fields");
}

/* ---- layouts --------------------------------------------------------------------------------- */

static const refusal bad_layouts[] = {
    {"", 0, "expected a layout (aos, soa, "},
    {"   ", 3, "expected a layout"},
    {"aost", 0, "expected a layout"},
    {"aos aos", 4, "expected the end, found 'a'"},
    {"aos(", 4, "expected packed or minalign, found the end"},
    {"aos()", 4, "expected packed or minalign, found ')'"},
    {"aos(aligned)", 4, "expected packed or minalign"},
    {"aos(packed,packed)", 11, "there already"},
    {"aos(packed,minalign)", 11, "exclude each other"},
    {"one(minalign, packed)", 14, "exclude each other"},
    {"aos(packed", 10, "expected ')' or ',', found the end"},
    {"aos(packed;", 10, "found ';'"},
    {"soa(aligned)", 4, "needs \"single\""},
    {"soa(packed)", 4, "expected single, aligned or fields"},
    {"soa(fields,single)", 11, "single and fields exclude each other"},
    {"soa(single,fields)", 11, "single and fields exclude each other"},
    {"soa(fields,aligned)", 11, "needs \"single\""},
    {"bitint(3; soa(fields))", 10, "without options"},
    {"aosoa", 5, "expected '(' and a number of lanes"},
    {"aosoa()", 6, "expected a number of lanes, found ')'"},
    {"aosoa(0)", 6, "a number of lanes, from 1"},
    {"aosoa(-4)", 6, "found '-'"},
    {"aosoa(9223372036854775808)", 6, "too large"},
    {"aosoa(4 4)", 8, "expected ')' or ','"},
    {"aosoa(4,packed)", 8, "expected aligned or rows"},
    {"aosoa(4,rows,)", 13, "expected aligned or rows, found ')'"},
    {"aosoa(4,rows)@morton", 14, "there are no rows"},
    {"aos@", 4, "expected row, col or morton, found the end"},
    {"aos@diagonal", 4, "expected row, col or morton"},
    {"aos@row@col", 7, "expected the end"},
    {"null@col", 4, "expected the end, found '@'"},
    {"null()", 4, "expected the end"},
    {"split", 5, "expected '('"},
    {"split()", 6, "expected a name, found ')'"},
    {"split(pos)", 9, "expected ':', '+', '.' or '[', found ')'"},
    {"split(pos:", 10, "expected a layout"},
    {"split(pos: aos)", 14, "expected ',', found ')'"},
    {"split(pos: aos,)", 15, "expected a layout"},
    {"split(pos: aos, soa", 19, "expected ')', found the end"},
    {"split(pos+: aos, soa)", 10, "expected a name"},
    {"split(flags[a]: aos, aos)", 12, "expected a number"},
    {"split(flags[1: aos, aos)", 13, "expected ']'"},
    {"split(poz: aos, aos)", 6, "no such field here"},
    {"split(pos + po: aos, aos)", 12, "no such field here"},
    {"split(flags[4]: aos, aos)", 6, "no such field here"},
    {"split(flags[01]: aos, aos)", 6, "no such field here"},
    {"split(pos: split(mass: aos, soa), aos)", 17, "no such field here"},
    {"split(pos+vel+mass+flags: aos, aos)", 0, "leaves no field for the second"},
    {"split(pos: aos, split(mass+vel+flags: soa, one))", 16, "leaves no field"},
    {"split(pos: soa, aos)", 0, "several blobs"},
    {"split(pos: aos, soa)", 0, "several blobs"},
    {"permute(1,0,split(pos: aos, split(separate; vel: aos, aos)))", 12, "several blobs"},
    {"split(separate, pos: aos, aos)", 14, "found ','"},
    {"split(separate: aos, aos)", 6, "no such field here"},
    {"permute", 7, "expected '('"},
    {"permute()", 8, "expected the number of a dimension, found ')'"},
    {"permute(aos)", 8, "expected the number of a dimension"},
    {"permute(0, aos)", 11, "expected the number of a dimension"},
    {"permute(0,0,aos)", 10, "there already"},
    {"permute(0,2,aos)", 10, "from 0 to 1"},
    {"permute(0 1 aos)", 10, "expected ','"},
    {"permute(0,1,2,aos)", 12, "expected a layout"},
    {"permute(1,0,aos@row", 19, "expected ')'"},
};

static void test_bad_layouts(void **state) {
    (void)state;
    const int64_t extent[] = {3, 5};
    ha_record *r = ha_record_parse(PARTICLE, NULL);
    allocated = 0;
    for (size_t k = 0; k < sizeof bad_layouts / sizeof *bad_layouts; k++) {
        ha_error e;
        if (ha_mapping_parse(r, bad_layouts[k].text, 2, extent, &e))
            fail_msg("accepted: %s", bad_layouts[k].text);
        check_refusal(&e, &bad_layouts[k], "ha_mapping_parse");
        assert_null(ha_mapping_parse(r, bad_layouts[k].text, 2, extent, NULL));
    }
    allocated = 1;
    ha_record_free(r);
}

static void check_nothing(void *made, const ha_error *e, const char *operation, const char *why) {
    assert_null(made);
    assert_int_equal(e->status, HA_ERR_ARGUMENT);
    assert_string_equal(e->operation, operation);
    assert_string_equal(e->text, why);
}

/* Nothing is refused in words. */
static void test_of_nothing(void **state) {
    (void)state;
    const int64_t extent[] = {3};
    const ha_layout aos = {0};
    ha_error e;
    ha_record *r = ha_record_parse(PARTICLE, NULL);
    check_nothing(ha_record_parse(NULL, &e), &e, "ha_record_parse", "there is no text");
    check_nothing(ha_mapping_parse(r, NULL, 1, extent, &e), &e, "ha_mapping_parse",
                  "there is no layout");
    check_nothing(ha_mapping_new(r, NULL, 1, extent, &e), &e, "ha_mapping_new",
                  "there is no layout");
    check_nothing(ha_mapping_parse(r, "aos", 1, NULL, &e), &e, "ha_mapping_parse",
                  "there are no extents");
    check_nothing(ha_mapping_new(r, &aos, 1, NULL, &e), &e, "ha_mapping_new",
                  "there are no extents");
    const int64_t one = 1;
    ha_mapping *m = ha_mapping_parse(r, "aos", 1, &one, &e);
    check_nothing(ha_counts_parse(m, NULL, &e), &e, "ha_counts_parse", "there is no text");
    assert_null(ha_counts_parse(m, NULL, NULL));
    ha_mapping_free(m);
    ha_record_free(r);
}

/* A mapping that could not be made is none to all that is asked of it. */
static void test_no_mapping(void **state) {
    (void)state;
    const int64_t index[] = {0};
    char text[10];
    ha_run_of_values run;
    ha_error e;
    assert_int_equal(ha_mapping_check(NULL, &e), HA_ERR_ARGUMENT);
    assert_string_equal(e.text, "there is no mapping");
    assert_int_equal(ha_mapping_run_of_values(NULL, 0, index, &run), HA_ERR_ARGUMENT);
    assert_int_equal(ha_mapping_json(NULL, index, text, sizeof text), -1);
    assert_int_equal(ha_mapping_svg(NULL, text, sizeof text), -1);
    assert_int_equal(ha_counts_svg(NULL, NULL, text, sizeof text), -1);
    assert_int_equal(ha_mapping_tree_text(NULL, 0, text, sizeof text), -1);
    assert_int_equal(ha_mapping_device_text(NULL, "it", text, sizeof text), -1);
    check_nothing(ha_counts_parse(NULL, "{}", &e), &e, "ha_counts_parse", "there is no mapping");
    ha_mapping_free(NULL);
}

/* Blanks go, what is the default goes, and the rest is read again as the same. */
static void test_good_layouts(void **state) {
    (void)state;
    static const char *const texts[][2] = {
        {" aos @ row ", "aos"},
        {"aos ( packed )@col", "aos(packed)@col"},
        {"soa(single , aligned)", "soa(single,aligned)"},
        {"soa( fields )@col", "soa(fields)@col"},
        {"aosoa( 8,rows, aligned)", "aosoa(8,aligned,rows)"},
        {"aosoa(16) @morton", "aosoa(16)@morton"},
        {"null", "null"},
        {"one(minalign)", "one(minalign)"},
        {"split( separate ;pos + vel:soa,one)", "split(separate; pos+vel: soa, one)"},
        {"split(flags[1]+pos.x:aos,split(vel:null,aosoa(4)))",
         "split(flags[1]+pos.x: aos, split(vel: null, aosoa(4)))"},
        {"permute( 1 , 0 , permute(1,0,aos@col))", "permute(1,0, permute(1,0, aos@col))"},
    };
    const int64_t extent[] = {3, 5};
    ha_record *r = ha_record_parse(PARTICLE, NULL);
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
        for (int again = 0; again < 2; again++) {
            ha_error e;
            ha_mapping *m = ha_mapping_parse(r, texts[k][again], 2, extent, &e);
            if (!m) fail_msg("%s: %s", texts[k][again], e.text);
            assert_string_equal(m->text, texts[k][1]);
            assert_int_equal(e.status, HA_OK);
            ha_mapping_free(m);
        }
    ha_record_free(r);
    /* a field with the name of a word */
    r = ha_record_parse("separate.x:f32 row:f32", NULL);
    ha_mapping *m = ha_mapping_parse(r, "split(separate.x: aos, aos)", 2, extent, NULL);
    assert_non_null(m);
    ha_mapping_free(m);
    m = ha_mapping_parse(r, "split(separate: aos, aos)", 2, extent, NULL);
    assert_non_null(m);
    ha_mapping_free(m);
    ha_record_free(r);
    assert_int_equal(allocated, 0);
}

static void test_nesting(void **state) {
    (void)state;
    const int64_t extent[] = {3};
    char text[1000] = "";
    ha_record *r = ha_record_parse("a:f32", NULL);
    ha_error e;
    for (int depth = 1; depth <= HA_LAYOUT_DEPTH; depth++) {
        memset(text, 0, sizeof text);
        for (int k = 1; k < depth; k++) strcat(text, "permute(0,");
        strcat(text, "aos");
        for (int k = 1; k < depth; k++) strcat(text, ")");
        ha_mapping *m = ha_mapping_parse(r, text, 1, extent, &e);
        if (!m) fail_msg("%s", e.text);
        ha_mapping_free(m);
    }
    memmove(text + 10, text, strlen(text) + 1);
    memcpy(text, "permute(0,", 10);
    assert_null(ha_mapping_parse(r, text, 1, extent, &e));
    assert_int_equal(e.code, 10 * HA_LAYOUT_DEPTH);
    assert_non_null(strstr(e.text, "too many layouts inside others"));
    ha_record_free(r);
}

/* As many splits inside each other as there may be, each with a leaf. */
static void test_nested_splits(void **state) {
    (void)state;
    const int64_t extent[] = {3}, at[] = {2};
    char text[3000] = "";
    ha_record *r = ha_record_parse("a[64]:u16", NULL);
    ha_error e;
    for (int k = 1; k < HA_LAYOUT_DEPTH; k++)
        snprintf(text + strlen(text), 40, "split(a[%d]: aos, ", HA_LAYOUT_DEPTH - k);
    strcat(text, "aos");
    for (int k = 1; k < HA_LAYOUT_DEPTH; k++) strcat(text, ")");
    ha_mapping *m = ha_mapping_parse(r, text, 1, extent, &e);
    if (!m) fail_msg("%s", e.text);
    for (int64_t k = 0; k < 64; k++)
        assert_int_equal(ha_mapping_offset(m, k, at), (63 - k) * 6 + 4);
    assert_string_equal(m->text, text);
    ha_mapping_free(m);
    ha_record_free(r);
}

/* ---- layouts by functions -------------------------------------------------------------------- */

static void check_layout(const ha_record *r, const ha_layout *l, const char *text,
                         const char *why) {
    const int64_t extent[] = {3, 5};
    ha_error e;
    ha_mapping *m = ha_mapping_new(r, l, 2, extent, &e);
    if (text) {
        if (!m) fail_msg("%s: %s", text, e.text);
        assert_string_equal(m->text, text);
    } else {
        assert_null(m);
        if (!strstr(e.text, why)) fail_msg("\"%s\" instead of \"%s\"", e.text, why);
        assert_int_equal(e.status, HA_ERR_ARGUMENT);
        assert_int_equal(e.code, 0);
        assert_string_equal(e.operation, "ha_mapping_new");
    }
    ha_mapping_free(m);
}

static void test_functions(void **state) {
    (void)state;
    static const ha_layout aos = {.flags = HA_LAYOUT_PACKED, .order = HA_COL};
    static const ha_layout soa = {.kind = HA_LAYOUT_SOA, .flags = HA_LAYOUT_SINGLE};
    static const ha_layout fields = {.kind = HA_LAYOUT_SOA, .flags = HA_LAYOUT_FIELDS};
    static const ha_layout blocks = {.kind = HA_LAYOUT_AOSOA, .flags = HA_LAYOUT_ROWS, .lanes = 8};
    static const ha_layout nothing = {.kind = HA_LAYOUT_NULL};
    static const ha_layout one = {.kind = HA_LAYOUT_ONE, .flags = HA_LAYOUT_MINALIGN};
    ha_record *r = ha_record_parse(PARTICLE, NULL);
    ha_layout split = {.kind = HA_LAYOUT_SPLIT,
                       .flags = HA_LAYOUT_SEPARATE,
                       .paths = " pos +vel",
                       .first = &soa,
                       .second = &nothing};
    ha_layout permute = {.kind = HA_LAYOUT_PERMUTE, .dimension = {1, 0}, .first = &split};
    check_layout(r, &(ha_layout){0}, "aos", NULL);
    check_layout(r, &aos, "aos(packed)@col", NULL);
    check_layout(r, &fields, "soa(fields)", NULL);
    check_layout(r, &blocks, "aosoa(8,rows)", NULL);
    check_layout(r, &one, "one(minalign)", NULL);
    check_layout(r, &split, "split(separate; pos+vel: soa(single), null)", NULL);
    check_layout(r, &permute, "permute(1,0, split(separate; pos+vel: soa(single), null))", NULL);
    split.paths = "pos+x";
    check_layout(r, &permute, NULL, "no such field");
    split.paths = "pos+";
    check_layout(r, &split, NULL, "no such field");
    split.paths = "pos vel";
    check_layout(r, &split, NULL, "no such field");
    split.paths = "pos+vel";
    permute.dimension[1] = 1;
    check_layout(r, &permute, NULL, "a dimension is there twice");
    permute.dimension[1] = 2;
    check_layout(r, &permute, NULL, "no such dimension");
    permute.dimension[1] = -1;
    check_layout(r, &permute, NULL, "no such dimension");
    ha_record_free(r);
}

static void test_wrong_functions(void **state) {
    (void)state;
    static const ha_layout aos = {0};
    static const struct {
        ha_layout layout;
        const char *why;
    } wrong[] = {
        {{.kind = (ha_layout_kind)99}, "no such kind"},
        {{.kind = (ha_layout_kind)-1}, "no such kind"},
        {{.flags = HA_LAYOUT_ROWS}, "a flag does not fit"},
        {{.flags = HA_LAYOUT_PACKED | HA_LAYOUT_MINALIGN}, "exclude each other"},
        {{.kind = HA_LAYOUT_SOA, .flags = HA_LAYOUT_ALIGNED}, "exclude each other"},
        {{.kind = HA_LAYOUT_NULL, .order = HA_COL}, "the order does not fit"},
        {{.order = (ha_linear_order)3}, "the order does not fit"},
        {{.kind = HA_LAYOUT_AOSOA}, "the number of lanes"},
        {{.lanes = 1}, "the number of lanes"},
        {{.kind = HA_LAYOUT_AOSOA, .lanes = 4, .order = HA_MORTON, .flags = HA_LAYOUT_ROWS},
         "there are no rows"},
        {{.kind = HA_LAYOUT_PERMUTE, .dimension = {0, 1}}, "a layout inside is missing"},
        {{.first = &aos}, "a layout inside"},
        {{.kind = HA_LAYOUT_SPLIT, .paths = "pos", .second = &aos}, "a layout inside is missing"},
        {{.kind = HA_LAYOUT_SPLIT, .paths = "pos", .first = &aos}, "the second layout"},
        {{.kind = HA_LAYOUT_SPLIT, .first = &aos, .second = &aos}, "the paths are missing"},
        {{.second = &aos}, "the second layout"},
        {{.paths = "pos"}, "the paths"},
        {{.kind = HA_LAYOUT_SPLIT, .paths = "pos", .first = &aos, .second = &aos, .flags = 64},
         "a flag does not fit"},
    };
    ha_record *r = ha_record_parse(PARTICLE, NULL);
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++)
        check_layout(r, &wrong[k].layout, NULL, wrong[k].why);
    /* layouts inside themselves, in a line and branching */
    ha_layout loop = {.kind = HA_LAYOUT_PERMUTE, .dimension = {0, 1}};
    loop.first = &loop;
    check_layout(r, &loop, NULL, "too many layouts inside others");
    ha_layout levels[60] = {{0}};
    for (int k = 1; k < 60; k++)
        levels[k] = (ha_layout){.kind = HA_LAYOUT_SPLIT,
                                .paths = "pos",
                                .first = &levels[k - 1],
                                .second = &levels[k - 1]};
    check_layout(r, &levels[59], NULL, "too many layouts inside others");
    ha_record_free(r);
}

/* ---- sizes ----------------------------------------------------------------------------------- */

static void check_extents(const char *text, int rank, const int64_t *extent, ha_status expect) {
    ha_record *r = ha_record_parse("a:f64 b:u8", NULL);
    ha_error e;
    ha_mapping *m = ha_mapping_parse(r, text, rank, extent, &e);
    if (e.status != expect) fail_msg("%s: %s", text, e.text);
    assert_int_equal(m != NULL, expect == HA_OK);
    ha_mapping_free(m);
    ha_record_free(r);
    assert_int_equal(allocated, 0);
}

static void test_sizes(void **state) {
    (void)state;
    static const char *const all[] = {"aos",           "aos@col",           "aos(packed)",
                                      "soa",           "soa(single)",       "aosoa(8)",
                                      "aosoa(8,rows)", "split(a: aos, aos)"};
    const int64_t most = INT64_MAX, half = most / 16, root = (int64_t)1 << 32;
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        check_extents(all[k], 1, (const int64_t[]){most}, HA_ERR_MEMORY);
        check_extents(all[k], 2, (const int64_t[]){root, root}, HA_ERR_MEMORY);
        check_extents(all[k], 3, (const int64_t[]){most, most, most}, HA_ERR_MEMORY);
        check_extents(all[k], 3, (const int64_t[]){most, 0, most}, HA_OK);
        check_extents(all[k], 2, (const int64_t[]){0, most}, HA_OK);
        check_extents(all[k], 1, (const int64_t[]){half / 2}, HA_OK);
    }
    check_extents("aos", 1, (const int64_t[]){half}, HA_OK);
    check_extents("aos", 1, (const int64_t[]){half + 1}, HA_ERR_MEMORY);
    check_extents("soa", 1, (const int64_t[]){most / 8}, HA_OK);
    check_extents("soa", 1, (const int64_t[]){most / 8 + 1}, HA_ERR_MEMORY);
    check_extents("soa(single)", 1, (const int64_t[]){most / 9}, HA_OK);
    check_extents("soa(single)", 1, (const int64_t[]){most / 9 + 1}, HA_ERR_MEMORY);
    check_extents("aosoa(9223372036854775807)", 1, (const int64_t[]){1}, HA_ERR_MEMORY);
    check_extents("aosoa(1000000000000000000)", 1, (const int64_t[]){1}, HA_OK);
    check_extents("aosoa(1000000000000000000)", 1, (const int64_t[]){most / 9}, HA_ERR_MEMORY);
    check_extents("aosoa(1000000000000000000,rows)", 1, (const int64_t[]){most}, HA_ERR_MEMORY);
    check_extents("split(a: aosoa(1000000000000000000), aosoa(1000000000000000000))", 1,
                  (const int64_t[]){0}, HA_OK);
    check_extents("one", 2, (const int64_t[]){root, root / 4}, HA_OK);
    check_extents("one@morton", 1, (const int64_t[]){most}, HA_ERR_MEMORY);
    check_extents("one@morton", 2, (const int64_t[]){root / 2, 1}, HA_OK);
    check_extents("one@morton", 2, (const int64_t[]){root / 2 + 1, 1}, HA_ERR_MEMORY);
    check_extents("aos@morton", 2, (const int64_t[]){root / 2, 1}, HA_ERR_MEMORY);
    check_extents("aos@morton", 2, (const int64_t[]){most, 0}, HA_OK);
    check_extents("aos", 1, (const int64_t[]){-1}, HA_ERR_ARGUMENT);
    check_extents("aos", 2, (const int64_t[]){3, INT64_MIN}, HA_ERR_ARGUMENT);
    check_extents("aos", 0, NULL, HA_ERR_ARGUMENT);
    check_extents("aos", 5, (const int64_t[]){1, 1, 1, 1, 1}, HA_ERR_ARGUMENT);
    check_extents("aos", 4, (const int64_t[]){2, 3, 1, 2}, HA_OK);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Fails each allocation in turn: nothing comes out, nothing is left. */
static void test_failing_memory(void **state) {
    (void)state;
    const int64_t extent[] = {3, 5};
    const ha_layout aos = {0};
    ha_error e;
    ha_record *r;
    for (int k = 0; k < 1; k++) {
        until_failure = k;
        assert_null(ha_record_parse(PARTICLE, &e));
        assert_int_equal(e.status, HA_ERR_MEMORY);
        assert_non_null(strstr(e.text, "no memory for "));
        assert_int_equal(allocated, 0);
    }
    until_failure = 1;
    r = ha_record_parse(PARTICLE, &e);
    assert_non_null(r);
    for (int k = 0; k < 4; k++) {
        until_failure = k;
        ha_mapping *m = ha_mapping_parse(r, "split(pos: aos, aosoa(8))", 2, extent, &e);
        assert_int_equal(m != NULL, k == 3);
        assert_int_equal(e.status, k == 3 ? HA_OK : HA_ERR_MEMORY);
        ha_mapping_free(m);
        until_failure = k;
        m = ha_mapping_new(r, &aos, 2, extent, NULL);
        assert_int_equal(m != NULL, k >= 2);
        assert_int_equal(allocated, 1 + (m != NULL));
        ha_mapping_free(m);
        assert_int_equal(allocated, 1);
    }
    until_failure = -1;
    ha_record_free(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_records),     cmocka_unit_test(test_good_records),
        cmocka_unit_test(test_scalars),         cmocka_unit_test(test_finding),
        cmocka_unit_test(test_wrong_records),   cmocka_unit_test(test_bad_layouts),
        cmocka_unit_test(test_good_layouts),    cmocka_unit_test(test_nesting),
        cmocka_unit_test(test_nested_splits),   cmocka_unit_test(test_functions),
        cmocka_unit_test(test_wrong_functions), cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_failing_memory),  cmocka_unit_test(test_of_nothing),
        cmocka_unit_test(test_no_mapping),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
