/* Records from text. */
#ifndef HARRAY_LAYOUT_IMPL_RECORD_RECORD_TEXT_H
#define HARRAY_LAYOUT_IMPL_RECORD_RECORD_TEXT_H

#include "record.h"

#define HA_DTYPE_WORDS_ "a type (bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 c64 c128)"

HA_IN_ ha_dtype ha_read_scalar(ha_reader *r) {
#define HA_DTYPE_WORD_(name, T, kind, text)                                                        \
    if (ha_accept_word(r, text)) return HA_DTYPE_##name;
    HA_DTYPES(HA_DTYPE_WORD_)
#undef HA_DTYPE_WORD_
    return HA_DTYPE_NONE;
}

/* Reads one field; path and *path_end: where its path begins and ends. */
HA_IN_ ha_status ha_read_field(ha_reader *r, const char **path, const char **path_end,
                               ha_dtype *scalar, int64_t *count, int *counts) {
    ha_status s;
    *path = r->at;
    s = ha_read_path(r, 1, count, counts);
    if (s) return s;
    *path_end = r->at;
    if (*r->at != ':') return ha_expected(r, "':', '.' or '['");
    r->at++;
    *scalar = ha_is_blank(*r->at) ? HA_DTYPE_NONE : ha_read_scalar(r);
    if (*scalar == HA_DTYPE_NONE) return ha_expected(r, HA_DTYPE_WORDS_);
    if (*r->at && !ha_is_blank(*r->at)) return ha_expected(r, "a blank or the end");
    ha_skip_blanks(r);
    return HA_OK;
}

/* Are these words fields, and how many? */
HA_IN_ ha_status ha_count_fields(const char *text, const ha_asked *asked, int64_t *fields) {
    ha_reader r = {.text = text, .at = text, .asked = asked};
    int64_t count[HA_MOST_SUBSCRIPTS], leaves = 0;
    *fields = 0;
    ha_skip_blanks(&r);
    do {
        const char *path, *path_end;
        ha_dtype scalar;
        int counts;
        int64_t more = 1;
        const ha_status s = ha_read_field(&r, &path, &path_end, &scalar, count, &counts);
        if (s) return s;
        for (int k = 0; k < counts && more <= HA_MOST_LEAVES; k++) more *= count[k];
        leaves += more;
        if (leaves > HA_MOST_LEAVES)
            return ha_refuse_at(&r, path, "the record gets more than 4096 leaves");
        ++*fields;
    } while (*r.at);
    return HA_OK;
}

/* Places a field in the struct, behind what is there. Small numbers: nothing overflows. */
HA_IN_ void ha_place_field(ha_record *record, ha_field *field, const int64_t *count, int counts) {
    const int64_t alignment = (int64_t)ha_dtype_alignment(field->type);
    int64_t bytes = (int64_t)ha_dtype_size(field->type);
    field->offset = (record->size + alignment - 1) / alignment * alignment;
    for (int k = HA_MOST_SUBSCRIPTS; k-- > 0;) {
        field->stride[k] = k < counts ? bytes : 0;
        if (k < counts) bytes *= count[k];
    }
    record->size = field->offset + bytes;
    record->alignment = ha_larger(record->alignment, alignment);
}

/* Fills the fields of a text that is known to be right; `copy` is its copy, from now on the paths. */
HA_IN_ void ha_fill_fields(ha_record *record, ha_field *field, char *copy) {
    const ha_asked nobody = {0};
    ha_reader r = {.text = copy, .at = copy, .asked = &nobody};
    int64_t count[HA_MOST_SUBSCRIPTS];
    ha_skip_blanks(&r);
    for (int64_t f = 0; f < record->fields; f++) {
        const char *path_end = copy;
        int counts = 0;
        /* known to be right */
        if (ha_read_field(&r, &field[f].path, &path_end, &field[f].type, count, &counts)) return;
        copy[path_end - copy] = 0;
        ha_place_field(record, &field[f], count, counts);
    }
    record->size = (record->size + record->alignment - 1) / record->alignment * record->alignment;
}

HA_API ha_record *ha_record_parse(const char *text, ha_error *error) {
    const ha_asked asked = ha_ask("ha_record_parse", error);
    int64_t fields, first, second;
    if (!text) {
        ha_refuse(&asked, HA_ERR_ARGUMENT, 0, "there is no text");
        return NULL;
    }
    if (ha_count_fields(text, &asked, &fields)) return NULL;
    const size_t list = (size_t)fields * sizeof(ha_field), length = strlen(text) + 1;
    const size_t bytes = sizeof(ha_record) + list + length;
    char *memory = (char *)HA_LAYOUT_MALLOC_(bytes);
    if (!memory) {
        ha_no_memory(&asked, bytes);
        return NULL;
    }
    ha_record *record = (ha_record *)(void *)memory;
    ha_field *field = (ha_field *)(void *)(memory + sizeof *record);
    char *copy = memory + sizeof *record + list;
    memcpy(copy, text, length);
    *record = (ha_record){.name = "", .alignment = 1, .fields = fields, .field = field};
    ha_fill_fields(record, field, copy);
    if (ha_find_conflict(record, &first, &second)) {
        const int64_t at = field[second].path - copy;
        ha_refuse(&asked, HA_ERR_ARGUMENT, at,
                  "at character %lld: %s and %s cannot both be in a "
                  "struct",
                  (long long)at, field[first].path, field[second].path);
        HA_LAYOUT_FREE_(memory);
        return NULL;
    }
    return record;
}

HA_API void ha_record_free(ha_record *record) { HA_LAYOUT_FREE_(record); }

#endif
