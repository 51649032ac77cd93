/* harray-layout: where a layout puts the fields of records, as JSON and as a picture.
 *
 *     harray-layout --record "pos.x:f64 mass:f32" --mapping "aosoa(8)" --extents 16x16
 *                   [--at 0,1] [--svg FILE [--counts FILE]]
 *
 * layout/record.h and layout/mapping.h say how records and mappings are written. The offsets are
 * those of the record at this index; of the first one without --at. The picture shows also what was
 * counted, of the same layout, as ha_counts_json wrote it to the file of --counts
 * (layout/counts.h). Exit status: 0; 2 when the arguments make no sense or are too large, with a
 * message that points at the character; 1 when what was asked for could not be written. */
#define HA_LAYOUT_IMPLEMENTATION
#include "../layout.h"

static const char usage[] =
    "usage: harray-layout --record TEXT --mapping TEXT --extents 16x16 [--at 0,1]\n"
    "                     [--svg FILE [--counts FILE]]\n"
    "  TEXT of a record:  pos.x:f64 pos.y:f64 mass:f32 flags[4]:bool\n"
    "       types:        bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 c64 c128\n"
    "  TEXT of a mapping: aos, aos(packed), aos(minalign), soa, soa(single), soa(single,aligned),\n"
    "                     aosoa(N), aosoa(N,aligned), aosoa(N,rows), one, one(packed),\n"
    "                     one(minalign), each with @row, @col or @morton behind it; null;\n"
    "                     split(PATH+PATH: M, M), split(separate; PATH+PATH: M, M);\n"
    "                     permute(1,0, M); tree(F, F) with F being idem, leafonly or\n"
    "                     movedown(0/1;K); changetype(FROM:TO, ...; M), FROM a type or a field;\n"
    "                     byteswap(M); bytesplit(M); bitint(BITS; soa), bitint(BITS; aos);\n"
    "                     bitfloat(EXPONENT,MANTISSA; soa), bitfloat(EXPONENT,MANTISSA; aos);\n"
    "                     count(M); heatmap(M), heatmap(BYTES; M)\n";

typedef struct options {
    const char *record, *mapping, *extents, *at, *svg, *counts;
} options;

/* Says what is wrong with a text, and where. */
static int wrong(const char *what, const char *text, int64_t position, const char *message) {
    fprintf(stderr, "harray-layout: %s: %s\n", what, message);
    if (text && position >= 0 && !strchr(text, '\n'))
        fprintf(stderr, "    %s\n    %*s^\n", text, (int)position, "");
    return 2;
}

static int refused(const char *what, const char *text, const ha_error *error) {
    return wrong(what, error->status == HA_ERR_ARGUMENT ? text : NULL, error->code, error->text);
}

/* Numbers with a letter between them. 0: they are right. */
static int read_numbers(const char *what, const char *text, char between, int64_t *number,
                        int *count) {
    const ha_asked asked = {.operation = what};
    ha_reader r = {.text = text, .at = text, .asked = &asked};
    char expected[32];
    *count = 0;
    do {
        const char *start = r.at;
        if (*count == HA_MAPPING_RANK)
            return wrong(what, text, start - text, "there are at most 4 dimensions");
        if (!ha_is_digit(*start) || ha_read_number(&r, what, 0, INT64_MAX, &number[*count]))
            return wrong(what, text, start - text, "a number was expected, of at most 63 bits");
        ++*count;
    } while (*r.at == between && r.at++);
    snprintf(expected, sizeof expected, "'%c' or the end was expected", between);
    return *r.at ? wrong(what, text, r.at - text, expected) : 0;
}

/* The whole text of ha_mapping_json or ha_mapping_svg; NULL: there is no memory. */
static char *json_text(const ha_mapping *m, const int64_t *index) {
    const size_t size = (size_t)ha_mapping_json(m, index, NULL, 0) + 1;
    char *text = (char *)malloc(size);
    if (text) (void)ha_mapping_json(m, index, text, size);
    return text;
}

static char *svg_text(const ha_mapping *m, const ha_counts *counts) {
    const int64_t length = ha_counts_svg(m, counts, NULL, 0);
    char *text = length < 0 ? NULL : (char *)malloc((size_t)length + 1);
    if (text && ha_counts_svg(m, counts, text, (size_t)length + 1) < 0) {
        free(text);
        text = NULL;
    }
    return text;
}

/* Writes and frees a text; it is followed by a line end when it has none. */
static int write_text(char *text, const char *name) {
    FILE *file = name ? fopen(name, "w") : stdout;
    int failed = !file || !text;
    if (!failed) failed = fputs(text, file) < 0;
    if (!failed && !name) failed = fputc('\n', file) == EOF;
    if (file) failed |= (name ? fclose(file) : fflush(file)) != 0;
    free(text);
    if (failed) fprintf(stderr, "harray-layout: cannot write %s\n", name ? name : "the output");
    return failed;
}

/* A whole file, to be freed; NULL: it cannot be read. */
static char *read_text(const char *name) {
    FILE *file = fopen(name, "rb");
    size_t size = 65536, length = 0;
    char *text = file ? (char *)malloc(size) : NULL;
    while (text) {
        char *larger;
        length += fread(text + length, 1, size - 1 - length, file);
        if (length < size - 1) break;
        larger = (char *)realloc(text, size *= 2);
        if (!larger) free(text);
        text = larger;
    }
    if (text && ferror(file)) {
        free(text);
        text = NULL;
    }
    if (text) text[length] = 0;
    if (file) (void)fclose(file);
    return text;
}

/* 0: *counts are those of --counts, or NULL without that. */
static int read_counts(const options *o, const ha_mapping *m, ha_counts **counts) {
    char *text = o->counts ? read_text(o->counts) : NULL;
    ha_error error;
    *counts = text ? ha_counts_parse(m, text, &error) : NULL;
    free(text);
    if (o->counts && !text) {
        fprintf(stderr, "harray-layout: cannot read %s\n", o->counts);
        return 1;
    }
    return o->counts && !*counts ? wrong("--counts", NULL, -1, error.text) : 0;
}

static int show(const options *o, const ha_mapping *m, const int64_t *at) {
    ha_counts *counts;
    int failed = read_counts(o, m, &counts);
    if (!failed && o->svg) failed = write_text(svg_text(m, counts), o->svg);
    ha_counts_free(counts);
    return failed ? failed : write_text(json_text(m, at), NULL);
}

static int check_index(const options *o, const int64_t *extent, int rank, const int64_t *at,
                       int numbers) {
    if (numbers != rank) return wrong("--at", o->at, 0, "as many numbers as extents were expected");
    for (int d = 0; d < rank; d++)
        if (at[d] >= extent[d])
            return wrong("--at", o->at, 0, "there is no such index in these extents");
    return 0;
}

static int run(const options *o) {
    int64_t extent[HA_MAPPING_RANK], at[HA_MAPPING_RANK] = {0};
    int rank, numbers, status;
    ha_error error;
    ha_record *record;
    ha_mapping *m;
    if (read_numbers("--extents", o->extents, 'x', extent, &rank)) return 2;
    numbers = rank;
    for (int d = 0; d < rank; d++)
        if (extent[d] == 0)
            return wrong("--extents", o->extents, 0, "there is no record: an extent is 0");
    if (o->at && read_numbers("--at", o->at, ',', at, &numbers)) return 2;
    if (check_index(o, extent, rank, at, numbers)) return 2;
    record = ha_record_parse(o->record, &error);
    if (!record) return refused("--record", o->record, &error);
    m = ha_mapping_parse(record, o->mapping, rank, extent, &error);
    status = m ? show(o, m, at) : refused("--mapping", o->mapping, &error);
    ha_mapping_free(m);
    ha_record_free(record);
    return status;
}

int main(int count, char **argument) {
    options o = {0};
    for (int k = 1; k < count; k += 2) {
        const char *name = argument[k];
        const char **to = !strcmp(name, "--record")    ? &o.record
                          : !strcmp(name, "--mapping") ? &o.mapping
                          : !strcmp(name, "--extents") ? &o.extents
                          : !strcmp(name, "--at")      ? &o.at
                          : !strcmp(name, "--svg")     ? &o.svg
                          : !strcmp(name, "--counts")  ? &o.counts
                                                       : NULL;
        if (!strcmp(name, "--help") || !strcmp(name, "-h")) return fputs(usage, stdout) < 0;
        if (!to || k + 1 == count) {
            fprintf(stderr, "harray-layout: %s: %s\n", name,
                    to ? "something has to follow" : "there is no such option");
            fputs(usage, stderr);
            return 2;
        }
        *to = argument[k + 1];
    }
    if (!o.record || !o.mapping || !o.extents) {
        fputs(usage, stderr);
        return 2;
    }
    return run(&o);
}
