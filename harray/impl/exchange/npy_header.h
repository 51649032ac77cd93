/* The header of NumPy's .npy files. */
#ifndef HARRAY_IMPL_EXCHANGE_NPY_HEADER_H
#define HARRAY_IMPL_EXCHANGE_NPY_HEADER_H

#include "../../npy.h"
#include "../elements/all.h"

static const char ha_npy_magic[] = "\x93NUMPY";
enum { HA_NPY_MAGIC = 6, HA_NPY_ALIGNMENT = 64 };

static const char *const ha_npy_parsing = "ha_npy_parse";

/* ---- element types -------------------------------------------------------------------------- */

static const struct {
    const char *name; /* without the order of bytes */
    ha_dtype type;
} ha_npy_types[] = {
    {"f2", HA_DTYPE_half},     {"f4", HA_DTYPE_float},    {"f8", HA_DTYPE_double},
    {"i1", HA_DTYPE_int8_t},   {"i2", HA_DTYPE_int16_t},  {"i4", HA_DTYPE_int32_t},
    {"i8", HA_DTYPE_int64_t},  {"u1", HA_DTYPE_uint8_t},  {"u2", HA_DTYPE_uint16_t},
    {"u4", HA_DTYPE_uint32_t}, {"u8", HA_DTYPE_uint64_t}, {"b1", HA_DTYPE_bool},
    {"c8", HA_DTYPE_c64},      {"c16", HA_DTYPE_c128},
};
enum { HA_NPY_TYPES = sizeof ha_npy_types / sizeof *ha_npy_types };

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
static const char ha_npy_ours = '<', ha_npy_others = '>';
#else
static const char ha_npy_ours = '>', ha_npy_others = '<';
#endif

/* Returns whether there is such a type. */
HA_IN_ int ha_npy_find_type(const char *text, ha_dtype *type, int *swapped) {
    for (int i = 0; *text && i < HA_NPY_TYPES; i++) {
        if (strcmp(text + 1, ha_npy_types[i].name)) continue;
        size_t size = ha_dtype_size(ha_npy_types[i].type);
        if (!strchr(size == 1 ? "|<>=" : "<>=", *text)) return 0;
        *type = ha_npy_types[i].type;
        *swapped = size > 1 && *text == ha_npy_others;
        return 1;
    }
    return 0;
}

/* ---- the text: a Python dictionary ---------------------------------------------------------- */

typedef struct ha_npy_text {
    const char *first, *at, *end;
} ha_npy_text;

/* The byte at hand; 0 behind the last one, which is refused wherever it stands. */
HA_IN_ char ha_npy_here(const ha_npy_text *t) { return t->at < t->end ? *t->at : (char)0; }

HA_IN_ ha_status ha_npy_expected(const ha_npy_text *t, const char *what) {
    return ha_fail(HA_ERR_ARGUMENT, ha_npy_parsing, "%s is missing at byte %zu of the .npy header",
                   what, (size_t)(t->at - t->first));
}

HA_IN_ void ha_npy_skip(ha_npy_text *t) {
    while (t->at < t->end && (*t->at == ' ' || *t->at == '\t' || *t->at == '\n' || *t->at == '\r'))
        t->at++;
}

/* Takes a character, with space around it, if it is there. */
HA_IN_ int ha_npy_take(ha_npy_text *t, char c) {
    ha_npy_skip(t);
    if (t->at == t->end || *t->at != c) return 0;
    t->at++;
    ha_npy_skip(t);
    return 1;
}

/* Takes a word that is not the beginning of a longer one. */
HA_IN_ int ha_npy_take_word(ha_npy_text *t, const char *word) {
    size_t n = strlen(word);
    if ((size_t)(t->end - t->at) <= n || memcmp(t->at, word, n)) return 0;
    if (!strchr(" \t\r\n,}", t->at[n])) return 0;
    t->at += n;
    return 1;
}

HA_IN_ ha_status ha_npy_string(ha_npy_text *t, char *string, size_t bytes) {
    const char quote = ha_npy_here(t);
    size_t n = 0;
    if (quote != '\'' && quote != '"') return ha_npy_expected(t, "a quote");
    for (t->at++; t->at < t->end && *t->at != quote; t->at++) {
        if (*t->at < ' ' || *t->at > '~' || *t->at == '\\' || n + 1 >= bytes)
            return ha_fail(HA_ERR_ARGUMENT, ha_npy_parsing,
                           "byte %zu of the .npy header is in no name that is known",
                           (size_t)(t->at - t->first));
        string[n++] = *t->at;
    }
    if (t->at == t->end) return ha_npy_expected(t, "a quote");
    t->at++;
    string[n] = 0;
    return HA_OK;
}

HA_IN_ ha_status ha_npy_number(ha_npy_text *t, int64_t *number) {
    const char *first = t->at;
    int64_t n = 0;
    for (; ha_npy_here(t) >= '0' && ha_npy_here(t) <= '9'; t->at++)
        if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, *t->at - '0', &n))
            return ha_fail(HA_ERR_MEMORY, ha_npy_parsing,
                           "the extent at byte %zu of the .npy header overflows 64 bits",
                           (size_t)(first - t->first));
    if (t->at == first || (*first == '0' && t->at - first > 1))
        return ha_npy_expected(t, "an extent");
    if (ha_npy_here(t) == 'L') t->at++; /* as Python 2 wrote it */
    *number = n;
    return HA_OK;
}

/* ---- its values ----------------------------------------------------------------------------- */

HA_IN_ ha_status ha_npy_descr(ha_npy_text *t, ha_npy_header *h) {
    char name[40];
    if (ha_npy_here(t) == '[' || ha_npy_here(t) == '(')
        return ha_fail(HA_ERR_UNSUPPORTED, ha_npy_parsing,
                       "the elements are records (or parts of arrays), not plain numbers");
    ha_status s = ha_npy_string(t, name, sizeof name);
    if (s || ha_npy_find_type(name, &h->type, &h->swapped)) return s;
    return ha_fail(HA_ERR_UNSUPPORTED, ha_npy_parsing,
                   "there is no element type for NumPy's '%s' here", name);
}

HA_IN_ ha_status ha_npy_fortran_order(ha_npy_text *t, ha_npy_header *h) {
    if (ha_npy_take_word(t, "True"))
        h->order = HA_COLUMN_MAJOR;
    else if (ha_npy_take_word(t, "False"))
        h->order = HA_ROW_MAJOR;
    else
        return ha_npy_expected(t, "True or False");
    return HA_OK;
}

HA_IN_ ha_status ha_npy_shape(ha_npy_text *t, ha_npy_header *h) {
    int comma = 1;
    h->rank = 0;
    if (!ha_npy_take(t, '(')) return ha_npy_expected(t, "'('");
    while (!ha_npy_take(t, ')')) {
        if (!comma) return ha_npy_expected(t, "','");
        if (h->rank == HA_MOST_RANK)
            return ha_fail(HA_ERR_UNSUPPORTED, ha_npy_parsing, "more than %d dimensions",
                           HA_MOST_RANK);
        ha_status s = ha_npy_number(t, &h->extent[h->rank++]);
        if (s) return s;
        comma = ha_npy_take(t, ',');
    }
    return h->rank == 1 && !comma ? ha_npy_expected(t, "','") : HA_OK; /* (3) is no tuple */
}

HA_IN_ ha_status ha_npy_item(ha_npy_text *t, ha_npy_header *h, int *seen) {
    static const struct {
        const char *name;
        ha_status (*parse)(ha_npy_text *, ha_npy_header *);
    } keys[] = {
        {"descr", ha_npy_descr}, {"fortran_order", ha_npy_fortran_order}, {"shape", ha_npy_shape}};
    char name[20];
    ha_status s = ha_npy_string(t, name, sizeof name);
    if (!s && !ha_npy_take(t, ':')) s = ha_npy_expected(t, "':'");
    if (s) return s;
    for (int i = 0; i < 3; i++) {
        if (strcmp(name, keys[i].name) || *seen & 1 << i) continue;
        *seen |= 1 << i;
        return keys[i].parse(t, h);
    }
    return ha_fail(HA_ERR_ARGUMENT, ha_npy_parsing, "'%s' is unknown in a .npy header, or twice in",
                   name);
}

HA_IN_ ha_status ha_npy_dictionary(ha_npy_text *t, ha_npy_header *h) {
    int seen = 0, comma = 1;
    if (!ha_npy_take(t, '{')) return ha_npy_expected(t, "'{'");
    while (!ha_npy_take(t, '}')) {
        ha_status s = comma ? ha_npy_item(t, h, &seen) : ha_npy_expected(t, "','");
        if (s) return s;
        comma = ha_npy_take(t, ',');
    }
    if (t->at < t->end) return ha_npy_expected(t, "the end");
    return seen == 7 ? HA_OK : ha_npy_expected(t, "one of descr, fortran_order and shape");
}

/* ---- the whole header ----------------------------------------------------------------------- */

HA_IN_ ha_status ha_npy_bytes_fit(const ha_npy_header *h, const char *operation) {
    int64_t count, bytes;
    ha_status s = ha_extents_count(h->rank, h->extent, 0, &count, operation);
    if (s || !__builtin_mul_overflow(count, (int64_t)ha_dtype_size(h->type), &bytes)) return s;
    return ha_fail(HA_ERR_MEMORY, operation, "the bytes of (%s) %s overflow 63 bits",
                   ha_show(h->rank, h->extent).text, ha_dtype_name(h->type));
}

/* Of the magic and the length; 0: other versions. */
HA_IN_ size_t ha_npy_head(const unsigned char *b) {
    if (b[7] || b[6] < 1 || b[6] > 3) return 0;
    return b[6] == 1 ? 10 : 12;
}

HA_IN_ ha_status ha_npy_length(const unsigned char *b, size_t count, size_t *head, size_t *length,
                               const char *operation) {
    if (!b || count < 8 || memcmp(b, ha_npy_magic, HA_NPY_MAGIC))
        return ha_fail(HA_ERR_ARGUMENT, operation, "these %zu bytes begin no .npy file", count);
    *head = ha_npy_head(b);
    if (!*head)
        return ha_fail(HA_ERR_UNSUPPORTED, operation, ".npy files of version %d.%d are unknown",
                       b[6], b[7]);
    if (count < *head)
        return ha_fail(HA_ERR_ARGUMENT, operation, "a .npy header is cut after %zu bytes", count);
    *length = *head + b[8] + ((size_t)b[9] << 8);
    if (*head == 12) *length += (size_t)b[10] << 16 | (size_t)b[11] << 24;
    if (*length > HA_NPY_MOST_PARSED)
        return ha_fail(HA_ERR_UNSUPPORTED, operation, "a .npy header of %zu bytes, more than %d",
                       *length, HA_NPY_MOST_PARSED);
    return HA_OK;
}

ha_status ha_npy_measure(const void *bytes, size_t count, size_t *length) {
    const char *const operation = "ha_npy_measure";
    size_t head = 0, n = 0;
    if (!length) return ha_fail(HA_ERR_ARGUMENT, operation, "a pointer is NULL");
    ha_status s = ha_npy_length((const unsigned char *)bytes, count, &head, &n, operation);
    if (!s) *length = n;
    return s;
}

ha_status ha_npy_parse(const void *bytes, size_t count, ha_npy_header *header) {
    const char *first = (const char *)bytes;
    ha_npy_header h = {.rank = 0};
    size_t head = 0;
    if (!header) return ha_fail(HA_ERR_ARGUMENT, ha_npy_parsing, "a pointer is NULL");
    ha_status s = ha_npy_length((const unsigned char *)bytes, count, &head, &h.bytes,
                                ha_npy_parsing);
    if (s) return s;
    if (count < h.bytes)
        return ha_fail(HA_ERR_ARGUMENT, ha_npy_parsing,
                       "a .npy header of %zu bytes is cut after %zu", h.bytes, count);
    ha_npy_text t = {first, first + head, first + h.bytes};
    s = ha_npy_dictionary(&t, &h);
    if (!s) s = ha_npy_bytes_fit(&h, ha_npy_parsing);
    if (!s) *header = h;
    return s;
}

/* ---- writing -------------------------------------------------------------------------------- */

HA_IN_ const char *ha_npy_type_name(ha_dtype type) {
    for (int i = 0; i < HA_NPY_TYPES; i++)
        if (ha_npy_types[i].type == type) return ha_npy_types[i].name;
    return NULL;
}

HA_IN_ ha_status ha_npy_printable(const ha_npy_header *h, const char *operation) {
    if (!ha_dtype_size(h->type))
        return ha_fail(HA_ERR_ARGUMENT, operation, "there is no element type %d", (int)h->type);
    if (!ha_npy_type_name(h->type))
        return ha_fail(HA_ERR_UNSUPPORTED, operation, "NumPy has no %s", ha_dtype_name(h->type));
    ha_status s = ha_order_valid(h->order, operation);
    return s ? s : ha_npy_bytes_fit(h, operation);
}

ha_status ha_npy_print(ha_npy_header *header, void *bytes, size_t capacity) {
    const char *const operation = "ha_npy_print";
    unsigned char all[HA_NPY_MOST_BYTES];
    if (!header || !bytes) return ha_fail(HA_ERR_ARGUMENT, operation, "a pointer is NULL");
    ha_status s = ha_npy_printable(header, operation);
    if (s) return s;
    char order = header->swapped ? ha_npy_others : ha_npy_ours;
    if (ha_dtype_size(header->type) == 1) order = '|';
    memset(all, ' ', sizeof all);
    memcpy(all, ha_npy_magic, HA_NPY_MAGIC);
    int n = snprintf((char *)all + 10, sizeof all - 10,
                     "{'descr': '%c%s', 'fortran_order': %s, 'shape': (%s%s), }", order,
                     ha_npy_type_name(header->type),
                     header->order == HA_COLUMN_MAJOR ? "True" : "False",
                     ha_show(header->rank, header->extent).text, header->rank == 1 ? "," : "");
    size_t end = 10 + (size_t)n, aligned = HA_NPY_ALIGNMENT;
    size_t length = (end + 1 + aligned - 1) / aligned * aligned;
    if (length > capacity)
        return ha_fail(HA_ERR_ARGUMENT, operation, "a .npy header of %zu bytes, and room for %zu",
                       length, capacity);
    all[6] = 1;
    all[7] = 0;
    all[8] = (unsigned char)(length - 10);
    all[9] = 0;
    all[end] = ' ';
    all[length - 1] = '\n';
    memcpy(bytes, all, length);
    header->bytes = length;
    return HA_OK;
}

#endif
