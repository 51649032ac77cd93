/* For libFuzzer: bytes are pieces of text, of a record and then of a layout, and extents. What is parsed is
 * right: it is written and parsed again to the same, values do not overlap unless "one" says so, and
 * all texts can be made of it. What is refused points into the text.
 *
 *     clang -g -O1 -fsanitize=fuzzer,address,undefined tests/fuzz_layout.c -o fuzz
 *     ./fuzz -max_len=200 -max_total_time=600 corpus/ */
#define HA_LAYOUT_IMPLEMENTATION
#include "../layout.h"

#include "layout_record.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static void require(int condition) {
    if (!condition) abort();
}

/* ---- texts ----------------------------------------------------------------------------------- */

static const char *const pieces[] = {
    "aos",     "soa",      "aosoa",      "one",      "null",
    "split",   "permute",  "packed",     "minalign", "single",
    "aligned", "rows",     "@",          "row",      "col",
    "morton",  "(",        ")",          ",",        ":",
    "+",       ";",        " ",          "separate", "pos",
    "vel",     "mass",     "flags",      "x",        ".",
    "[",       "]",        "0",          "1",        "2",
    "8",       "1,0,",     "9999999999", "f64",      "bool",
    "c128",    "i16",      "(8)",        "(pos: ",   "(separate; vel: ",
    "a",       "b",        "\n",         "_",        ":f32 ",
    ":u8 ",    "[3]",      "aos, ",      "bf16",     "tree(",
    "idem",    "leafonly", "movedown(",  "/",        ";2), ",
};
enum { PIECES = sizeof pieces / sizeof *pieces, LONGEST = 4000 };

/* Takes pieces up to a byte 255 or the end. */
static void read_text(const uint8_t **at, const uint8_t *end, char *text) {
    size_t length = 0;
    text[0] = 0;
    while (*at < end && **at != 255 && length < LONGEST - 20) {
        const uint8_t byte = *(*at)++;
        if (byte < 2 * PIECES)
            length += (size_t)snprintf(text + length, 20, "%s", pieces[byte / 2]);
        else
            length += (size_t)snprintf(text + length, 20, "%c", byte);
        text[length] = 0;
    }
    if (*at < end) ++*at;
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
        check_error(&e, text);
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
}

static void check_mapping(const ha_mapping *m) {
    ha_error e;
    const ha_status s = ha_mapping_check(m, &e);
    if (s == HA_ERR_ARGUMENT) require(strstr(m->text, "one") && strstr(e.text, "overlap"));
    ha_mapping *n = ha_mapping_parse(m->record, m->text, m->rank, m->extent, &e);
    require(n != NULL);
    check_same(m, n);
    ha_mapping_free(n);
    check_texts(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    static const int64_t extents[] = {3, 0, 1, 5, 17, 4096, 4294967296, INT64_MAX};
    const uint8_t *at = bytes, *end = bytes + count;
    char record[LONGEST], layout[LONGEST];
    int64_t extent[HA_MAPPING_RANK];
    int rank = 2;
    ha_error e;
    read_text(&at, end, record);
    read_text(&at, end, layout);
    if (at < end) rank = 1 + *at++ % HA_MAPPING_RANK;
    for (int d = 0; d < rank; d++) extent[d] = at < end ? extents[*at++ % 8] : 3;
    ha_record *r = parse_record(record);
    ha_mapping *m = ha_mapping_parse(r, layout, rank, extent, &e);
    if (m)
        check_mapping(m);
    else
        check_error(&e, layout);
    ha_mapping_free(m);
    ha_record_free(r);
    return 0;
}
