/* Headers of .npy files: what NumPy writes, what others write, and what is none. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"
#include "../support/refusals.h"

/* A header around a dictionary, in a block that ends where it ends. */
typedef struct file {
    unsigned char *bytes;
    size_t count;
} file;

static file file_of(int version, const char *text) {
    size_t n = strlen(text), head = version == 1 ? 10 : 12;
    file f = {(unsigned char *)malloc(head + n), head + n};
    assert_non_null(f.bytes);
    memcpy(f.bytes, "\x93NUMPY", 6);
    f.bytes[6] = (unsigned char)version;
    f.bytes[7] = 0;
    for (size_t i = 8; i < head; i++) f.bytes[i] = (unsigned char)(n >> 8 * (i - 8));
    memcpy(f.bytes + head, text, n);
    return f;
}

static ha_status parse(int version, const char *text, ha_npy_header *h) {
    file f = file_of(version, text);
    ha_status s = ha_npy_parse(f.bytes, f.count, h);
    if (!s) assert_int_equal(h->bytes, f.count);
    free(f.bytes);
    return s;
}

#define SHAPE_IS(h, ...)                                                                           \
    do {                                                                                           \
        const int64_t expected_[HA_MOST_RANK + 1] = {__VA_ARGS__};                                 \
        assert_memory_equal((h).extent, expected_, sizeof(h).extent);                              \
    } while (0)

/* The dictionary with a type, or a shape. */
static const char *with_type(const char *type) {
    static char text[200];
    snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (2,), }\n", type);
    return text;
}

static const char *with_shape(const char *shape) {
    static char text[400];
    snprintf(text, sizeof text, "{'descr': '<f8', 'fortran_order': False, 'shape': %s, }\n", shape);
    return text;
}

/* ---- what is read --------------------------------------------------------------------------- */

TEST(as_numpy_writes_it) {
    ha_npy_header h;
    for (int version = 1; version <= 3; version++) {
        FINE(
            parse(version, "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }   \n", &h));
        assert_int_equal(h.type, HA_DTYPE_double);
        assert_int_equal(h.swapped, __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__);
        assert_int_equal(h.order, HA_ROW_MAJOR);
        assert_int_equal(h.rank, 2);
        SHAPE_IS(h, 3, 4);
    }
    FINE(parse(1, "{'descr': '|b1', 'fortran_order': True, 'shape': (), }\n", &h));
    assert_int_equal(h.type, HA_DTYPE_bool);
    assert_int_equal(h.order, HA_COLUMN_MAJOR);
    assert_int_equal(h.rank, 0);
    SHAPE_IS(h, 0);
}

TEST(as_others_write_it) {
    ha_npy_header h;
    FINE(parse(1, "{'shape':(5,),'fortran_order':False,'descr':'>i2'}", &h));
    assert_true(h.type == HA_DTYPE_int16_t && h.rank == 1);
    SHAPE_IS(h, 5);
    FINE(parse(
        1, "\t{ \"descr\" :\n\"<c16\" , 'fortran_order':True , 'shape' : ( 3L , 0 , ) } \r\n", &h));
    assert_true(h.type == HA_DTYPE_c128 && h.order == HA_COLUMN_MAJOR);
    SHAPE_IS(h, 3, 0);
    FINE(parse(1, with_shape("(1, 2, 3, 4, 5, 6, 7, 8)"), &h));
    SHAPE_IS(h, 1, 2, 3, 4, 5, 6, 7, 8);
    FINE(parse(1, with_shape("(0, 9223372036854775807, 9223372036854775807)"), &h));
    FINE(parse(1, with_shape("(1152921504606846975,)"), &h));
    SHAPE_IS(h, 1152921504606846975);
}

TEST(element_types) {
    static const struct {
        const char *name;
        ha_dtype type;
    } expected[] = {
        {"f2", HA_DTYPE_half},     {"f4", HA_DTYPE_float},    {"f8", HA_DTYPE_double},
        {"i1", HA_DTYPE_int8_t},   {"i2", HA_DTYPE_int16_t},  {"i4", HA_DTYPE_int32_t},
        {"i8", HA_DTYPE_int64_t},  {"u1", HA_DTYPE_uint8_t},  {"u2", HA_DTYPE_uint16_t},
        {"u4", HA_DTYPE_uint32_t}, {"u8", HA_DTYPE_uint64_t}, {"b1", HA_DTYPE_bool},
        {"c8", HA_DTYPE_c64},      {"c16", HA_DTYPE_c128},
    };
    const uint16_t one = 1;
    const char others = *(const unsigned char *)&one ? '>' : '<';
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        for (const char *order = "<>=|"; *order; order++) {
            ha_npy_header h;
            char name[8];
            size_t size = ha_dtype_size(expected[i].type);
            snprintf(name, sizeof name, "%c%s", *order, expected[i].name);
            if (*order == '|' && size > 1) {
                REFUSED(HA_ERR_UNSUPPORTED, parse(1, with_type(name), &h));
                continue;
            }
            FINE(parse(1, with_type(name), &h));
            assert_int_equal(h.type, expected[i].type);
            assert_int_equal(h.swapped, *order == others && size > 1);
        }
}

/* ---- what is refused ------------------------------------------------------------------------ */

/* Refused with this text, and nothing is written. */
static void refused(ha_status expected, const char *words, const char *text) {
    ha_npy_header h, before;
    memset(&h, 0x55, sizeof h);
    memcpy(&before, &h, sizeof h);
    assert_int_equal(parse(1, text, &h), expected);
    ha_error error = ha_take_error();
    assert_int_equal(error.status, expected);
    if (!strstr(error.text, words)) fail_msg("%s: %s", text, error.text);
    assert_memory_equal(&h, &before, sizeof h);
}

TEST(unsupported) {
    static const char *const names[] = {"|O", "|S5", "<U3", "|V4", "<M8[ns]", "<f16", "<i3", ""};
    refused(HA_ERR_UNSUPPORTED, "records",
            "{'descr': [('x', '<f8')], 'fortran_order': False, 'shape': (3,), }\n");
    refused(HA_ERR_UNSUPPORTED, "records",
            "{'descr': ('<f8', (2,)), 'fortran_order': False, 'shape': (3,), }\n");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        refused(HA_ERR_UNSUPPORTED, names[i], with_type(names[i]));
    refused(HA_ERR_UNSUPPORTED, "more than 8", with_shape("(1, 1, 1, 1, 1, 1, 1, 1, 1)"));
    refused(HA_ERR_MEMORY, "byte 64", with_shape("(2, 9223372036854775808)"));
    refused(HA_ERR_MEMORY, "(4294967296, 4294967296)", with_shape("(4294967296, 4294967296)"));
    refused(HA_ERR_MEMORY, "overflow", with_shape("(1152921504606846976,)"));
}

TEST(malformed) {
    static const char *const shapes[] = {"(3)",   "3",     "(3 4)",  "(,)",   "(3,,4)", "(-3,)",
                                         "(03,)", "(3, 4", "(3.0,)", "(a,)",  "[3, 4]", "(3,) (4,)",
                                         "('3')", "(L,)",  "(3 L,)", "(+3,)", "",       "(3,]"};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        refused(HA_ERR_ARGUMENT, "missing at byte", with_shape(shapes[i]));
    static const char *const texts[][2] = {
        {"", "'{' is missing at byte 10"},
        {"\n", "'{' is missing"},
        {"{", "a quote"},
        {"{}", "one of descr"},
        {"{'descr': '<f8', 'fortran_order': False}", "one of descr"},
        {"{'descr': '<f8', 'descr': '<f8'}", "'descr' is unknown in a .npy header, or twice"},
        {"{'more': 1}", "'more' is unknown"},
        {"{'descr' '<f8'}", "':' is missing at byte 19"},
        {"{'descr': <f8}", "a quote is missing at byte 20"},
        {"{'descr': '<f8}", "a quote is missing"},
        {"{'descr': '<f\\x38'}", "byte 23"},
        {"{'descr': '<f8\n'}", "byte 24"},
        {"{'a name that is longer than any of them': 1}", "in no name"},
        {"{'descr': '<f8' 'fortran_order': False}", "','"},
        {"{, 'descr': '<f8'}", "a quote"},
        {"{'fortran_order': 0}", "True or False"},
        {"{'fortran_order': Falsehood}", "True or False"},
        {"{'fortran_order': True", "True or False"},
        {"{'fortran_order': true}", "True or False"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2,), } x", "the end"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }}", "the end"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        refused(HA_ERR_ARGUMENT, texts[i][1], texts[i][0]);
}

/* Cut anywhere, and with any byte replaced: no byte behind is looked at, and nothing is believed.
 * */
TEST(cut_and_changed) {
    file f = file_of(2, with_shape("(3, 4)"));
    ha_npy_header h;
    for (size_t n = 0; n < f.count; n++) {
        unsigned char *part = (unsigned char *)malloc(n ? n : 1);
        assert_non_null(part);
        memcpy(part, f.bytes, n);
        REFUSED(HA_ERR_ARGUMENT, ha_npy_parse(part, n, &h));
        free(part);
        REFUSED(HA_ERR_ARGUMENT, ha_npy_parse(f.bytes, n, &h)); /* with the rest behind */
    }
    for (size_t n = 0; n < f.count; n++)
        for (int value = 0; value < 256; value++) {
            unsigned char before = f.bytes[n];
            f.bytes[n] = (unsigned char)value;
            if (!ha_npy_parse(f.bytes, f.count, &h)) assert_true(h.bytes <= f.count);
            (void)ha_take_error();
            f.bytes[n] = before;
        }
    free(f.bytes);
}

TEST(lengths) {
    unsigned char b[12] = "\x93NUMPY\1\0\x76\0";
    size_t length = 7;
    FINE(ha_npy_measure(b, 10, &length));
    assert_int_equal(length, 128);
    b[6] = 2;
    b[9] = 1;
    FINE(ha_npy_measure(b, 12, &length));
    assert_int_equal(length, 12 + 256 + 0x76);
    REFUSED(HA_ERR_ARGUMENT, ha_npy_measure(b, 11, &length));
    REFUSED(HA_ERR_ARGUMENT, ha_npy_measure(b, 7, &length));
    REFUSED(HA_ERR_ARGUMENT, ha_npy_measure(NULL, 12, &length));
    REFUSED(HA_ERR_ARGUMENT, ha_npy_measure(b, 12, NULL));
    REFUSED(HA_ERR_ARGUMENT, ha_npy_parse(b, 12, NULL));
    b[10] = 1;
    REFUSED(HA_ERR_UNSUPPORTED, ha_npy_measure(b, 12, &length));
    b[10] = 0;
    b[11] = 255;
    REFUSED(HA_ERR_UNSUPPORTED, ha_npy_measure(b, 12, &length));
    b[6] = 4;
    REFUSED(HA_ERR_UNSUPPORTED, ha_npy_measure(b, 12, &length));
    b[6] = 0;
    REFUSED(HA_ERR_UNSUPPORTED, ha_npy_measure(b, 12, &length));
    b[6] = b[7] = 1;
    REFUSED(HA_ERR_UNSUPPORTED, ha_npy_measure(b, 12, &length));
    b[5] = 'X';
    REFUSED(HA_ERR_ARGUMENT, ha_npy_measure(b, 12, &length));
    assert_int_equal(length, 12 + 256 + 0x76);
}

/* ---- what is written ------------------------------------------------------------------------ */

static void round_trip(ha_npy_header h) {
    char bytes[HA_NPY_MOST_BYTES + 1];
    ha_npy_header back;
    memset(bytes, '?', sizeof bytes);
    FINE(ha_npy_print(&h, bytes, HA_NPY_MOST_BYTES));
    assert_true(h.bytes % 64 == 0 && h.bytes <= HA_NPY_MOST_BYTES);
    assert_int_equal(bytes[h.bytes - 1], '\n');
    assert_int_equal(bytes[h.bytes], '?');
    FINE(ha_npy_parse(bytes, h.bytes, &back));
    assert_true(back.type == h.type && back.order == h.order && back.rank == h.rank);
    assert_int_equal(back.swapped, h.swapped && ha_dtype_size(h.type) > 1);
    assert_memory_equal(back.extent, h.extent, sizeof h.extent);
    assert_int_equal(back.bytes, h.bytes);
    memset(bytes, '?', sizeof bytes);
    REFUSED(HA_ERR_ARGUMENT, ha_npy_print(&h, bytes, h.bytes - 1));
    assert_int_equal(bytes[0], '?');
}

TEST(round_trips) {
    for (int type = HA_DTYPE_bool; type <= HA_DTYPE_c128; type++)
        for (int rank = 0; type != HA_DTYPE_bfloat16 && rank <= HA_MOST_RANK; rank++)
            for (int swapped = 0; swapped < 2; swapped++) {
                ha_npy_header h = {.type = (ha_dtype)type, .rank = rank, .swapped = swapped};
                h.order = swapped ? HA_COLUMN_MAJOR : HA_ROW_MAJOR;
                for (int d = 0; d < rank; d++) h.extent[d] = d + 2;
                round_trip(h);
                for (int d = 0; d < rank; d++) h.extent[d] = d ? INT64_MAX : 0; /* the longest */
                round_trip(h);
            }
}

TEST(text) {
    char bytes[HA_NPY_MOST_BYTES];
    ha_npy_header h = {.type = HA_DTYPE_uint8_t, .rank = 1, .extent = {7}};
    static const char expected[] = "{'descr': '|u1', 'fortran_order': False, 'shape': (7,), } ";
    FINE(ha_npy_print(&h, bytes, sizeof bytes));
    assert_int_equal(h.bytes, 128);
    assert_memory_equal(bytes, "\x93NUMPY\1\0\x76\0", 10);
    assert_memory_equal(bytes + 10, expected, strlen(expected));
}

TEST(not_written) {
    char bytes[HA_NPY_MOST_BYTES];
    ha_npy_header h = {.type = HA_DTYPE_bfloat16, .rank = 1, .extent = {7}};
    REFUSED(HA_ERR_UNSUPPORTED, ha_npy_print(&h, bytes, sizeof bytes));
    h.type = HA_DTYPE_NONE;
    REFUSED(HA_ERR_ARGUMENT, ha_npy_print(&h, bytes, sizeof bytes));
    h.type = HA_DTYPE_double;
    h.rank = HA_MOST_RANK + 1;
    REFUSED(HA_ERR_ARGUMENT, ha_npy_print(&h, bytes, sizeof bytes));
    h.rank = 1;
    h.order = (ha_order)2;
    REFUSED(HA_ERR_ARGUMENT, ha_npy_print(&h, bytes, sizeof bytes));
    h.order = HA_ROW_MAJOR;
    h.extent[0] = -1;
    REFUSED(HA_ERR_ARGUMENT, ha_npy_print(&h, bytes, sizeof bytes));
    h.extent[0] = INT64_MAX;
    REFUSED(HA_ERR_MEMORY, ha_npy_print(&h, bytes, sizeof bytes));
    REFUSED(HA_ERR_ARGUMENT, ha_npy_print(&h, NULL, sizeof bytes));
    REFUSED(HA_ERR_ARGUMENT, ha_npy_print(NULL, bytes, sizeof bytes));
    assert_int_equal(h.bytes, 0);
}

#define T(name) cmocka_unit_test(name)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(as_numpy_writes_it),
        T(as_others_write_it),
        T(element_types),
        T(unsupported),
        T(malformed),
        T(cut_and_changed),
        T(lengths),
        T(round_trips),
        T(text),
        T(not_written),
    };
    int failed = cmocka_run_group_tests_name("npy", tests, NULL, NULL);
    return failed + (ha_shutdown() != HA_OK);
}
