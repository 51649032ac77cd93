/* Random records, extents, values, and layouts of all kinds that keep every value; for
 * test_records_pairs.c. Each pair of layouts has a number, from which all that is random about it follows. */
#ifndef HARRAY_TESTS_RECORDS_PAIRS_LAYOUTS_H
#define HARRAY_TESTS_RECORDS_PAIRS_LAYOUTS_H

enum { MOST_LEAVES = 16, MOST_CELLS = 700, MOST_BLOBS = 160 };

/* ---- chance ------------------------------------------------------------------------------------ */

static uint64_t pair_number, random_state;

static uint32_t pick(uint32_t n) {
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return (uint32_t)((random_state * UINT64_C(2685821657736338717) >> 32) * n >> 32);
}

static void start_pair(uint64_t number) {
    pair_number = number;
    random_state = (number + 1) * UINT64_C(11400714819323198485);
    for (int i = 0; i < 8; i++) (void)pick(2);
}

/* ---- values ------------------------------------------------------------------------------------ */

/* A number of any type: neighbours are different, and no type that is wider changes it. */
static void set_value(ha_dtype type, uint32_t k, void *value) {
    const int is_complex = type == HA_DTYPE_c64 || type == HA_DTYPE_c128;
    const double number = type == HA_DTYPE_bool                                   ? k * 7 / 3 % 2
                          : ha_dtype_size(type) == 1 || type == HA_DTYPE_bfloat16 ? k % 127
                          : ha_dtype_size(type) == 2                              ? k % 2039
                                                                                  : k % 16777213;
    if (is_complex) {
        const ha_dtype part = type == HA_DTYPE_c64 ? HA_DTYPE_float : HA_DTYPE_double;
        set_value(part, k, value);
        set_value(part, k + 1000, (char *)value + ha_dtype_size(part));
        return;
    }
    assert_true(ha_convert_scalars(value, type, &number, HA_DTYPE_double, 1));
}

/* ---- records ----------------------------------------------------------------------------------- */

/* Fields in another order than in the struct, and a member that is none of the fields. */
static const ha_field odd_field[] = {
    {.path = "c", .type = HA_DTYPE_uint16_t, .offset = 20},
    {.path = "a", .type = HA_DTYPE_double, .offset = 8},
    {.path = "b", .type = HA_DTYPE_float, .offset = 4},
    {.path = "d[3]", .type = HA_DTYPE_uint8_t, .offset = 22, .stride = {3}}};
static const ha_record odd_record = {"odd", 32, 8, 4, odd_field};

static const ha_record *any_record(void) {
    static const char *const texts[] = {
        "a:f32 id:u32 m:f64",
        "pos.x:f64 pos.y:f64 pos.z:f64 mass:f32 flags[4]:bool",
        "a:u8 b:i64 c[2].d:f16 e:u32 z:c128 w:c64",
        "only:f32",
        "x:f32 y:f32 z:f32 w:f32",
        "p:u8 q:u16 r:u8 s:f64 t:u8",
    };
    enum { TEXTS = sizeof texts / sizeof *texts };
    static ha_record *parsed[TEXTS];
    const uint32_t k = pick(TEXTS + 1);
    if (k == TEXTS) return &odd_record;
    if (!parsed[k]) parsed[k] = ha_record_parse(texts[k], NULL);
    assert_non_null(parsed[k]);
    return parsed[k];
}

/* Gives how many records there are. */
static int64_t any_extents(int *rank, int64_t *extent) {
    static const uint32_t most[] = {0, 260, 24, 8, 5};
    int64_t cells = 1;
    *rank = 1 + (int)pick(4);
    for (int d = 0; d < HA_MAPPING_RANK; d++) {
        extent[d] = d < *rank ? 1 + (int64_t)pick(most[*rank]) : 1;
        if (extent[d] > 3 && pick(4) == 0) extent[d] = extent[d] / 4 * 4;
        cells *= extent[d];
    }
    assert_true(cells <= MOST_CELLS);
    return cells;
}

/* ---- layouts as text --------------------------------------------------------------------------- */

typedef struct text {
    char at[400];
} text;

static const char *one_of(const char *const *words, uint32_t n) { return words[pick(n)]; }
#define ONE_OF(...)                                                                                \
    one_of((const char *const[]){__VA_ARGS__},                                                     \
           sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static text leaf_layout(void) {
    const char *order = ONE_OF("", "", "", "@col", "@col", "@morton");
    text t;
    if (pick(3) == 0)
        snprintf(t.at, sizeof t.at, "aosoa(%s%s)%s",
                 ONE_OF("1", "2", "3", "4", "4", "4", "8", "16"), ONE_OF("", "", ",aligned"),
                 order);
    else if (pick(6) == 0)
        snprintf(t.at, sizeof t.at, "aosoa(%s,rows)%s", ONE_OF("2", "4", "8"),
                 *order == '@' && order[1] == 'm' ? "" : order);
    else
        snprintf(t.at, sizeof t.at, "%s%s",
                 ONE_OF("aos", "aos", "aos(packed)", "aos(minalign)", "soa", "soa", "soa(single)",
                        "soa(single,aligned)"),
                 order);
    return t;
}

static void put_paths(const ha_record *record, char *paths, size_t size) {
    const int64_t leaves = ha_record_leaves(record);
    *paths = 0;
    while (!*paths)
        for (int64_t leaf = 0; leaf < leaves; leaf++) {
            const size_t n = strlen(paths);
            char name[40] = "";
            if (pick(2)) continue;
            (void)ha_record_leaf_name(record, leaf, name, sizeof name);
            snprintf(paths + n, size - n, "%s%s", n ? "+" : "", name);
        }
}

static text any_layout(const ha_record *record, int rank, int depth);

static text split_layout(const ha_record *record, int rank, int depth) {
    const text a = any_layout(record, rank, depth), b = any_layout(record, rank, depth);
    char paths[200];
    text t;
    put_paths(record, paths, sizeof paths);
    snprintf(t.at, sizeof t.at, "split(%s%s: %.80s, %.80s)", ONE_OF("", "separate; "), paths, a.at,
             b.at);
    return t;
}

/* The leaves of one kind as paths; gives the bytes of the largest, 0: there are none. */
static size_t put_kind(const ha_record *record, int integers, char *paths, size_t size) {
    size_t most = 0;
    *paths = 0;
    for (int64_t leaf = 0; leaf < ha_record_leaves(record); leaf++) {
        const size_t n = strlen(paths);
        ha_leaf described = {.type = HA_DTYPE_NONE};
        char name[40] = "";
        assert_int_equal(ha_record_leaf(record, leaf, &described), HA_OK);
        if (integers ? described.type > HA_DTYPE_uint64_t
                     : described.type < HA_DTYPE_half || described.type >= HA_DTYPE_c64)
            continue;
        if (ha_dtype_size(described.type) > most) most = ha_dtype_size(described.type);
        (void)ha_record_leaf_name(record, leaf, name, sizeof name);
        snprintf(paths + n, size - n, "%s%s", n ? "+" : "", name);
    }
    return most;
}

/* Integers, or numbers with a point, in fewer bits than they have, which keep all values of these tests. */
static text bits_layout(const ha_record *record) {
    const int integers = pick(3) != 0;
    const char *order = ONE_OF("", "", "@col", "@morton"), *kind = ONE_OF("aos", "soa");
    char paths[200], inner[60];
    text t;
    const size_t most = put_kind(record, integers, paths, sizeof paths);
    if (integers)
        snprintf(inner, sizeof inner, "bitint(%s; %s%s)",
                 most == 1   ? ONE_OF("7", "7", "8")
                 : most == 2 ? ONE_OF("11", "11", "13", "16")
                             : ONE_OF("25", "25", "27", "32"),
                 kind, order);
    else
        snprintf(inner, sizeof inner, "bitfloat(%s; %s%s)", ONE_OF("8,23", "9,24", "8,27", "11,40"),
                 kind, order);
    snprintf(t.at, sizeof t.at, "split(%s%s: %s, %.80s)", ONE_OF("", "separate; "), paths, inner,
             leaf_layout().at);
    return t;
}

static text permuted_layout(const ha_record *record, int rank, int depth) {
    const text inner = any_layout(record, rank, depth);
    int p[HA_MAPPING_RANK] = {0, 1, 2, 3};
    text t;
    size_t n = (size_t)snprintf(t.at, sizeof t.at, "permute(");
    for (int d = rank; d-- > 1;) {
        const int other = (int)pick((uint32_t)d + 1), kept = p[d];
        p[d] = p[other];
        p[other] = kept;
    }
    for (int d = 0; d < rank; d++) n += (size_t)snprintf(t.at + n, sizeof t.at - n, "%d,", p[d]);
    snprintf(t.at + n, sizeof t.at - n, "%.200s)", inner.at);
    return t;
}

/* What cannot be is found out when it is read. */
static text any_layout(const ha_record *record, int rank, int depth) {
    const uint32_t kind = depth ? pick(13) : 11;
    text t, inner;
    if (kind < 3) return split_layout(record, rank, depth - 1);
    if (kind == 3) return permuted_layout(record, rank, depth - 1);
    if (kind == 6) return bits_layout(record);
    if (kind > 5) return leaf_layout();
    if (kind == 4 && pick(2)) {
        snprintf(t.at, sizeof t.at, "tree(%s)",
                 ONE_OF("", "idem", "leafonly", "movedown(0;4)", "movedown(;3)",
                        "movedown(;2), leafonly"));
        return t;
    }
    inner = any_layout(record, rank, depth - 1);
    snprintf(t.at, sizeof t.at, "%s%.200s)",
             ONE_OF("byteswap(", "bytesplit(", "changetype(f32:f64; ",
                    "changetype(u8:u32, f16:f32; ", "count(", "heatmap("),
             inner.at);
    return t;
}

/* ---- mappings ---------------------------------------------------------------------------------- */

/* As if it were seen in a mirror: of each blob the last byte is the first. */
static void mirror(ha_mapping *m) {
    ha_row *row = (ha_row *)(uintptr_t)m->row, *byte_row = (ha_row *)(uintptr_t)m->byte_row;
    for (int64_t k = 0; k < m->rows + m->byte_rows; k++) {
        ha_row *r = k < m->rows ? &row[k] : &byte_row[k - m->rows];
        const ha_coding *c = k < m->rows ? ha_row_coding(m, r) : NULL;
        int64_t size = (int64_t)ha_dtype_size(c ? c->stored : (ha_dtype)r->type);
        if (k >= m->rows || (c && c->bytes)) size = 1;
        if (c && c->bits) size = c->bits;
        r->base = m->blob[r->blob].bytes * (c && c->bits ? 8 : 1) - size - r->base;
        r->lane_stride = -r->lane_stride;
        r->block_stride = -r->block_stride;
        r->packed = 1;
    }
}

/* All twice as far apart. */
static void spread(ha_mapping *m) {
    ha_row *row = (ha_row *)(uintptr_t)m->row, *byte_row = (ha_row *)(uintptr_t)m->byte_row;
    for (int64_t k = 0; k < m->rows + m->byte_rows; k++) {
        ha_row *r = k < m->rows ? &row[k] : &byte_row[k - m->rows];
        r->base *= 2;
        r->lane_stride *= 2;
        r->block_stride *= 2;
    }
    for (int32_t b = 0; b < m->blobs; b++) ((ha_blob *)(uintptr_t)m->blob)[b].bytes *= 2;
}

/* Whether records may be kept in a mapping; on a device of the caller's: not where values share bytes. */
static int keeps(const ha_records_state *state, const ha_mapping *m, int on_device) {
    ha_shared_bytes *shared = NULL;
    const char *objection;
    int64_t leaf;
    ha_error why;
    if (ha_records_accept(state, m, &why) ||
        ha_shared_bytes_make(state, m, &shared, &objection, &leaf))
        return 0;
    const int keeps = !on_device || !shared;
    HARRAY_FREE(shared);
    return keeps;
}

/* A mapping that keeps every value, to be freed by HARRAY_FREE. callers: one that can be
 * adopted, perhaps a table that no text describes. */
static ha_mapping *any_mapping(const ha_record *record, int rank, const int64_t *extent,
                               int callers, int on_device) {
    ha_records_state *state = ha_records_state_make(record, rank, extent, "aos");
    ha_mapping *m = NULL, *copy;
    while (!m) { /* until one serves */
        const text t = any_layout(record, rank, 2);
        m = ha_mapping_parse(record, t.at, rank, extent, NULL);
        const int serves = m && m->blobs <= MOST_BLOBS && !(callers && m->trees) &&
                           keeps(state, m, callers && on_device);
        if (serves) break;
        ha_mapping_free(m);
        m = NULL;
    }
    ha_records_state_free(state);
    if (!callers) return m;
    copy = ha_mapping_duplicated(m);
    ha_mapping_free(m);
    assert_non_null(copy);
    if (pick(4) == 0) spread(copy);
    if (pick(6) == 0) mirror(copy);
    return copy;
}

#endif
