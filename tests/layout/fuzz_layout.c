/* For libFuzzer: bytes are pieces of text, of a record and then of a layout, or pieces of layouts
 * of the particle that fit each other; then extents, and another layout. What is parsed is right:
 * it is written and parsed again to the same, values do not overlap unless "one" says so, all texts
 * can be made of it, values that were read are read again after they have been written, and copies
 * between the two layouts leave in every byte what values that are got and set one by one leave.
 * What is refused points into the text.
 *
 *     clang -g -O1 -fsanitize=fuzzer,address,undefined tests/layout/fuzz_layout.c -o fuzz
 *     ./fuzz -max_len=200 -max_total_time=600 corpus/ */
#define HA_LAYOUT_IMPLEMENTATION
#include "../../layout.h"

#include "../support/layout_record.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static void require(int condition) {
    if (!condition) abort();
}

/* ---- texts ----------------------------------------------------------------------------------- */

static const char *const pieces[] = {
    "aos",
    "soa",
    "aosoa",
    "one",
    "null",
    "split",
    "permute",
    "packed",
    "minalign",
    "single",
    "aligned",
    "rows",
    "@",
    "row",
    "col",
    "morton",
    "(",
    ")",
    ",",
    ":",
    "+",
    ";",
    " ",
    "separate",
    "pos",
    "vel",
    "mass",
    "flags",
    "x",
    ".",
    "[",
    "]",
    "0",
    "1",
    "2",
    "8",
    "1,0,",
    "9999999999",
    "f64",
    "bool",
    "c128",
    "i16",
    "(8)",
    "(pos: ",
    "(separate; vel: ",
    "a",
    "b",
    "\n",
    "_",
    ":f32 ",
    ":u8 ",
    "[3]",
    "aos, ",
    "bf16",
    "tree(",
    "idem",
    "leafonly",
    "movedown(",
    "/",
    ";2), ",
    "changetype(",
    "byteswap(",
    "bytesplit(",
    "bitint(",
    "bitfloat(",
    "f64:f32",
    "x:i16",
    "3,5; ",
    "7; ",
    "; soa)",
    "; aos)",
    "leafonly)",
    "movedown(0;4))",
    "count(",
    "heatmap(",
};
enum { PIECES = sizeof pieces / sizeof *pieces, LONGEST = 4000 };

/* Takes pieces up to a byte 255 or the end. */
static void read_text(const uint8_t **at, const uint8_t *end, char *text) {
    size_t length = 0;
    text[0] = 0;
    while (*at < end && **at != 255 && length < LONGEST - 20) {
        const uint8_t byte = *(*at)++;
        if (byte < PIECES)
            length += (size_t)snprintf(text + length, 20, "%s", pieces[byte]);
        else
            length += (size_t)snprintf(text + length, 20, "%c", byte);
        text[length] = 0;
    }
    if (*at < end) ++*at;
}

/* Layouts that mostly are some: pieces with others inside, which end with what each needs. */
static const char *const whole[] = {
    "aos",
    "soa",
    "aosoa(4)",
    "one",
    "null",
    "soa(single)",
    "soa(fields)",
    "soa@morton",
    "aos(packed)@col",
    "aosoa(3,rows)",
    "aosoa(8,aligned)",
    "one(minalign)",
    "tree(leafonly)",
    "tree(movedown(0;4))",
    "changetype(f64:i32, f32:u64, bool:i8; bitint(9; aos@col))",
    "changetype(f32:f64, bool:f16; bitfloat(4,7; soa@morton))",
    "changetype(f64:i16, f32:bool; bitint(1; soa))",
};
static const struct {
    const char *begin, *middle;
} around[] = {
    {"count(", NULL},
    {"heatmap(8; ", NULL},
    {"byteswap(", NULL},
    {"bytesplit(", NULL},
    {"changetype(; ", NULL},
    {"changetype(f64:f32, pos.y:i64; ", NULL},
    {"changetype(vel:bf16, flags[2]:u16, mass:u8; ", NULL},
    {"split(pos: ", ", "},
    {"split(separate; vel+flags: ", ", "},
    {"split(separate; mass: ", ", "},
    {"split(separate; flags: bitint(3; aos), ", NULL},
    {"split(separate; pos+mass: bitfloat(5,10; soa), ", NULL},
    {"split(separate; vel: bitfloat(11,40; aos), ", NULL},
};

static void grow(const uint8_t **at, const uint8_t *end, char *text, int depth) {
    const size_t kinds = sizeof around / sizeof *around, leaves = sizeof whole / sizeof *whole;
    const uint8_t byte = *at < end ? *(*at)++ : 0;
    const size_t kind = byte / 4 % kinds;
    if (depth == 4 || byte % 4 == 0) {
        strcat(text, whole[byte / 4 % leaves]);
        return;
    }
    strcat(text, around[kind].begin);
    grow(at, end, text, depth + 1);
    if (around[kind].middle) {
        strcat(text, around[kind].middle);
        grow(at, end, text, depth + 1);
    }
    strcat(text, ")");
}

static void check_error(const ha_error *e, const char *text) {
    require(e->status == HA_ERR_ARGUMENT || e->status == HA_ERR_MEMORY);
    require(e->code >= 0 && e->code <= (int64_t)strlen(text));
    require(strlen(e->text) > 0 && strlen(e->text) < sizeof e->text);
}

/* ---- records --------------------------------------------------------------------------------- */

static ha_record *parse_record(const char *text) {
    ha_error e;
    ha_record *r = ha_record_parse(text, &e);
    if (!r) {
        if (strlen(text) > 0) check_error(&e, text);
        return ha_record_parse(PARTICLE, NULL);
    }
    const int64_t leaves = ha_record_leaves(r);
    require(leaves > 0 && leaves <= HA_MOST_LEAVES);
    require(ha_record_check(r, &e) == HA_OK);
    for (int64_t k = 0; k < leaves; k += leaves / 50 + 1) {
        char name[LONGEST];
        int64_t found;
        require(ha_record_leaf_name(r, k, name, sizeof name) > 0);
        require(ha_record_find(r, name, 0, &found) == HA_OK && found == k);
    }
    return r;
}

/* ---- layouts --------------------------------------------------------------------------------- */

static void check_same(const ha_mapping *m, const ha_mapping *n) {
    require(!strcmp(m->text, n->text));
    require(m->blobs == n->blobs && m->rows == n->rows);
    require(!memcmp(m->row, n->row, (size_t)m->rows * sizeof *m->row));
    require(!memcmp(m->blob, n->blob, (size_t)m->blobs * sizeof *m->blob));
}

static void check_texts(const ha_mapping *m) {
    char text[100], all[100000];
    const int64_t length = ha_mapping_json(m, NULL, text, sizeof text);
    require(length < 0 || strlen(text) == sizeof text - 1 || (int64_t)strlen(text) == length);
    if (m->rows < 100) (void)ha_mapping_device_text(m, "name", all, sizeof all);
    if (m->rows < 20) require(ha_mapping_svg(m, all, sizeof all) > 0);
    if (ha_counts_json(m->counts, all, sizeof all) < (int64_t)sizeof all) {
        ha_error e;
        ha_counts *c = ha_counts_parse(m, all, &e);
        require(c != NULL);
        ha_counts_free(c);
    }
}

/* What is read back once stays so, at the first and at the last index. */
static void check_value(const ha_mapped *records, int64_t leaf, const int64_t *index) {
    const size_t size = ha_dtype_size((ha_dtype)records->mapping->row[leaf].type);
    unsigned char value[16], read[16];
    memset(value, records->mapping->row[leaf].type == HA_DTYPE_bool ? 1 : 0x41, sizeof value);
    ha_mapped_set(records, leaf, index, value);
    ha_mapped_get(records, leaf, index, value);
    ha_mapped_set_run(records, leaf, index, 0, 1, value);
    ha_mapped_get_run(records, leaf, index, 0, 1, read);
    require(!memcmp(value, read, size));
}

static void check_values(const ha_mapping *m) {
    const int64_t first[HA_MAPPING_RANK] = {0};
    int64_t last[HA_MAPPING_RANK] = {0}, bytes = 0, records = 1;
    void *blob[512];
    for (int d = 0; d < m->rank; d++) {
        last[d] = m->extent[d] - 1;
        records = m->extent[d] < 5000 ? records * m->extent[d] : 0;
    }
    for (int b = 0; b < m->blobs && b < 512; b++)
        bytes += m->blob[b].bytes < 4096 ? m->blob[b].bytes : 1 << 20;
    if (records == 0 || m->blobs > 512 || bytes > 1 << 16) return;
    for (int b = 0; b < m->blobs; b++) {
        blob[b] = malloc((size_t)m->blob[b].bytes + 1);
        memset(blob[b], 0x55, (size_t)m->blob[b].bytes);
    }
    const ha_mapped mapped = {m, blob};
    for (int64_t leaf = 0; leaf < m->rows; leaf++) {
        check_value(&mapped, leaf, first);
        check_value(&mapped, leaf, last);
    }
    for (int b = 0; b < m->blobs; b++) free(blob[b]);
}

static void check_mapping(const ha_mapping *m) {
    ha_error e;
    const ha_status s = ha_mapping_check(m, &e);
    int countable = 1; /* in bits, where some values are packed */
    for (int b = 0; b < m->blobs; b++) countable &= m->blob[b].bytes <= INT64_MAX / 8;
    if (s == HA_ERR_ARGUMENT)
        require((strstr(m->text, "one") && strstr(e.text, "overlap")) ||
                (!countable && strstr(m->text, "bit") && strstr(e.text, "overflow")));
    ha_mapping *n = ha_mapping_parse(m->record, m->text, m->rank, m->extent, &e);
    require(n != NULL);
    check_same(m, n);
    ha_mapping_free(n);
    check_texts(m);
    check_values(m);
}

/* ---- copies ---------------------------------------------------------------------------------- */

enum { MOST_VALUES = 4000, MOST_BYTES = 100000, MOST_BLOBS = 64 };

typedef struct memory {
    void *blob[MOST_BLOBS];
    ha_mapped records;
} memory;

/* How many records there are, if these are few, in few blobs and bytes; else 0. */
static int64_t few_records(const ha_mapping *m) {
    int64_t records = 1, bytes = 0;
    for (int d = 0; d < m->rank; d++) {
        if (m->extent[d] > MOST_VALUES) return 0;
        records *= m->extent[d];
    }
    if (m->blobs > MOST_BLOBS || records * m->rows > MOST_VALUES) return 0;
    for (int b = 0; b < m->blobs; b++) {
        if (m->blob[b].bytes > MOST_BYTES) return 0;
        bytes += m->blob[b].bytes;
    }
    return bytes > MOST_BYTES ? 0 : records;
}

static void make_memory(memory *m, const ha_mapping *mapping, int seed) {
    m->records = (ha_mapped){mapping, m->blob};
    for (int b = 0; b < mapping->blobs; b++) {
        const size_t bytes = (size_t)mapping->blob[b].bytes;
        m->blob[b] = malloc(bytes + 1);
        require(m->blob[b] != NULL);
        memset(m->blob[b], seed + b, bytes);
    }
}

static void free_memory(memory *m) {
    for (int b = 0; b < m->records.mapping->blobs; b++) free(m->blob[b]);
}

static int next_index(const int64_t *first, const int64_t *last, int rank, int64_t *index) {
    for (int d = rank; d-- > 0; index[d] = first[d])
        if (++index[d] < last[d]) return 1;
    return 0;
}

/* Bytes that are 0 or 1 are no NaN, and right truth values. */
static void set_values(const memory *m) {
    const ha_mapping *mapping = m->records.mapping;
    static const int64_t zeros[HA_MAPPING_RANK];
    int64_t index[HA_MAPPING_RANK] = {0};
    uint32_t seed = 1;
    do
        for (int64_t k = 0; k < mapping->rows; k++) {
            char value[16];
            for (int b = 0; b < 16; b++)
                value[b] = (char)((seed = seed * 1103515245u + 12345) >> 30 & 1);
            ha_mapped_set(&m->records, k, index, value);
        }
    while (next_index(zeros, mapping->extent, mapping->rank, index));
}

/* Is there one place for several records? */
static int is_shared(const ha_mapping *m) { return strstr(m->text, "one") != NULL; }

/* Each value got, converted and set by itself; gives whether all could be. */
static int convert_each(const memory *to, const memory *from, const ha_copying *how) {
    const ha_mapping *t = to->records.mapping, *f = from->records.mapping;
    int64_t index[HA_MAPPING_RANK];
    memcpy(index, how->first, sizeof index);
    do
        for (int64_t k = 0; k < t->rows; k++) {
            _Alignas(16) char value[16], converted[16];
            if (t->row[k].blob < 0) continue;
            ha_mapped_get(&from->records, k, index, value);
            if (!ha_convert_scalars(converted, ha_mapped_type(t, k), value, ha_mapped_type(f, k),
                                    1))
                return 0;
            ha_mapped_set(&to->records, k, index, converted);
        }
    while (next_index(how->first, how->last, t->rank, index));
    return 1;
}

/* A copy leaves what values that are got and set one by one leave, in every byte. */
static void check_copy(const ha_mapping *to, const ha_mapping *from, const ha_copying *how) {
    memory target, source, expected;
    ha_error e;
    make_memory(&target, to, 7);
    make_memory(&expected, to, 7);
    make_memory(&source, from, 99);
    set_values(&source);
    const ha_status s = ha_mapped_copy(&target.records, &source.records, how, &e);
    if (s && is_shared(to) && strstr(e.text, "one place")) {
        require(s == HA_ERR_ARGUMENT);
    } else if (!convert_each(&expected, &source, how)) {
        require(s == HA_ERR_ARGUMENT && strstr(e.text, "cannot be converted"));
        free_memory(&expected);
        make_memory(&expected, to, 7);
    } else {
        require(!s);
    }
    for (int b = 0; b < to->blobs; b++)
        require(!memcmp(target.blob[b], expected.blob[b], (size_t)to->blob[b].bytes));
    free_memory(&target);
    free_memory(&source);
    free_memory(&expected);
}

/* Both ways, of all records but perhaps the outermost. */
static void check_copies(const ha_mapping *m, const ha_mapping *n, int shrink) {
    int64_t first[HA_MAPPING_RANK] = {0}, last[HA_MAPPING_RANK] = {0};
    const ha_copying how = {.first = first, .last = last, .threads = 1 + (shrink & 1)};
    if (few_records(m) == 0 || few_records(n) == 0) return;
    for (int d = 0; d < m->rank; d++) {
        last[d] = m->extent[d];
        if ((shrink >> (2 * d) & 1) && last[d] - first[d] > 1) first[d]++;
        if ((shrink >> (2 * d + 1) & 1) && last[d] - first[d] > 1) last[d]--;
    }
    check_copy(m, n, &how);
    check_copy(n, m, &how);
}

/* One of another type, which has room for most of its values. */
static ha_dtype other_type(ha_dtype type) {
    static const ha_dtype others[] = {
        [HA_DTYPE_bool] = HA_DTYPE_uint8_t,      [HA_DTYPE_int8_t] = HA_DTYPE_int16_t,
        [HA_DTYPE_int16_t] = HA_DTYPE_int64_t,   [HA_DTYPE_int32_t] = HA_DTYPE_float,
        [HA_DTYPE_int64_t] = HA_DTYPE_int64_t,   [HA_DTYPE_uint8_t] = HA_DTYPE_half,
        [HA_DTYPE_uint16_t] = HA_DTYPE_uint32_t, [HA_DTYPE_uint32_t] = HA_DTYPE_double,
        [HA_DTYPE_uint64_t] = HA_DTYPE_uint32_t, [HA_DTYPE_half] = HA_DTYPE_float,
        [HA_DTYPE_bfloat16] = HA_DTYPE_double,   [HA_DTYPE_float] = HA_DTYPE_double,
        [HA_DTYPE_double] = HA_DTYPE_float,      [HA_DTYPE_c64] = HA_DTYPE_c128,
        [HA_DTYPE_c128] = HA_DTYPE_c64,
    };
    return others[type];
}

/* The same fields of other types, each leaf's in 16 bytes of its own. */
static ha_record *other_record(const ha_record *r) {
    ha_field *field = calloc((size_t)r->fields + 1, sizeof *field);
    ha_record *other = calloc(1, sizeof *other);
    require(field != NULL && other != NULL);
    *other = (ha_record){.name = "other", .alignment = 16, .fields = r->fields, .field = field};
    for (int64_t f = 0; f < r->fields; f++) {
        int64_t count[HA_MOST_SUBSCRIPTS], bytes = 16;
        const int counts = ha_field_counts(&r->field[f], count);
        field[f].path = r->field[f].path;
        field[f].type = other_type(r->field[f].type);
        field[f].offset = other->size;
        for (int k = counts - 1; k >= 0; bytes *= count[k--]) field[f].stride[k] = bytes;
        other->size += bytes;
    }
    return other;
}

/* Of this mapping and one of another layout, and of a record of other types. */
static void check_other(const ha_mapping *m, const char *layout, int shrink) {
    ha_record *const other = other_record(m->record);
    const ha_record *const of[] = {m->record, other};
    for (int k = 0; k < 2; k++) {
        ha_error e;
        ha_mapping *n = ha_mapping_parse(of[k], layout, m->rank, m->extent, &e);
        if (!n) {
            check_error(&e, layout);
            n = ha_mapping_parse(of[k], "aosoa(4)", m->rank, m->extent, NULL);
        }
        if (n) check_copies(m, n, shrink);
        ha_mapping_free(n);
    }
    free((void *)(uintptr_t)other->field);
    free(other);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    static const int64_t extents[] = {3, 0, 1, 5, 17, 4096, 4294967296, INT64_MAX};
    const uint8_t *at = bytes, *end = bytes + count;
    char record[LONGEST], layout[LONGEST], other[LONGEST];
    int64_t extent[HA_MAPPING_RANK];
    int rank = 2;
    ha_error e;
    layout[0] = record[0] = 0;
    if (count > 0 && bytes[0] % 2 == 1) {
        at++;
        grow(&at, end, layout, 0);
    } else {
        read_text(&at, end, record);
        read_text(&at, end, layout);
    }
    if (at < end) rank = 1 + *at++ % HA_MAPPING_RANK;
    for (int d = 0; d < rank; d++) extent[d] = at < end ? extents[*at++ % 8] : 3;
    const int shrink = at < end ? *at++ : 0;
    read_text(&at, end, other);
    for (int d = 0; d < rank; d++) /* heatmaps have memory by their extents */
        if ((strstr(layout, "heatmap") || strstr(other, "heatmap")) && extent[d] > 17)
            extent[d] = 17;
    ha_record *r = parse_record(record);
    ha_mapping *m = ha_mapping_parse(r, layout, rank, extent, &e);
    if (m) {
        check_mapping(m);
        check_other(m, other, shrink);
    } else {
        check_error(&e, layout);
    }
    ha_mapping_free(m);
    ha_record_free(r);
    return 0;
}
