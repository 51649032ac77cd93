#define _POSIX_C_SOURCE 200809L /* getline */
#include "matrix_market.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* An entry as it stands in the file. */
typedef struct entry {
    int row, column;
    double value;
    long line;
} entry;

typedef struct reader {
    FILE *file;
    char *text; /* the current line */
    size_t text_bytes;
    long line;
    bool symmetric;
    long n, promised; /* from the line of sizes */
    entry *entries;
    size_t count, room;
    char *error;
} reader;

/* ---- lines and errors ----------------------------------------------------------------------- */

/* Always false, so that what fails can end with it. */
static bool complain(reader *r, const char *format, ...) {
    int length = 0;
    if (r->line > 0) length = snprintf(r->error, MATRIX_ERROR_BYTES, "line %ld: ", r->line);
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(r->error + length, (size_t)(MATRIX_ERROR_BYTES - length), format, arguments);
    va_end(arguments);
    return false;
}

static bool read_line(reader *r) {
    if (getline(&r->text, &r->text_bytes, r->file) < 0) return false;
    r->line++;
    return true;
}

static const char *behind_space(const char *text) {
    while (isspace((unsigned char)*text)) text++;
    return text;
}

/* The next line that is no comment and not empty. */
static bool read_content(reader *r) {
    while (read_line(r)) {
        if (*r->text != '%' && *behind_space(r->text) != 0) return true;
    }
    return false;
}

/* A whole number and what is behind it; false when there is none. */
static bool whole(const char **text, long *number) {
    char *end;
    errno = 0;
    *number = strtol(*text, &end, 10);
    if (end == *text || errno != 0 || (*end != 0 && !isspace((unsigned char)*end))) return false;
    *text = end;
    return true;
}

/* ---- the head of the file ------------------------------------------------------------------- */

static bool read_banner(reader *r) {
    char word[5][20] = {""};
    if (!read_line(r))
        return complain(r, "%s", ferror(r->file) ? strerror(errno) : "the file is empty");
    (void)sscanf(r->text, "%19s %19s %19s %19s %19s", word[0], word[1], word[2], word[3], word[4]);
    if (strcmp(word[0], "%%MatrixMarket") != 0)
        return complain(r, "no Matrix Market file: it does not begin with %%%%MatrixMarket");
    if (strcasecmp(word[1], "matrix") != 0 || strcasecmp(word[2], "coordinate") != 0)
        return complain(r, "'matrix coordinate' is wanted, not '%s %s'", word[1], word[2]);
    if (strcasecmp(word[3], "real") != 0 && strcasecmp(word[3], "integer") != 0)
        return complain(r, "'real' or 'integer' values are wanted, not '%s'", word[3]);
    r->symmetric = strcasecmp(word[4], "symmetric") == 0;
    if (!r->symmetric && strcasecmp(word[4], "general") != 0)
        return complain(r, "'symmetric' or 'general' is wanted, not '%s'", word[4]);
    return true;
}

static bool read_sizes(reader *r) {
    long columns;
    if (!read_content(r)) return complain(r, "the file ends before the line of sizes");
    const char *text = r->text;
    if (!whole(&text, &r->n) || !whole(&text, &columns) || !whole(&text, &r->promised) ||
        *behind_space(text) != 0)
        return complain(r, "three whole numbers are wanted: rows, columns, entries");
    if (r->n != columns) return complain(r, "the matrix is not square: %ld x %ld", r->n, columns);
    if (r->n < 1 || r->n >= INT_MAX) return complain(r, "there cannot be %ld rows", r->n);
    if (r->promised < 0 || r->promised > INT_MAX / 2)
        return complain(r, "there cannot be %ld entries", r->promised);
    return true;
}

/* ---- the entries ---------------------------------------------------------------------------- */

static bool add(reader *r, entry e) {
    if (r->count == r->room) {
        const size_t room = r->room ? 2 * r->room : 1024;
        entry *grown = realloc(r->entries, room * sizeof *grown);
        if (!grown) return complain(r, "there is no memory for more than %zu entries", r->count);
        r->entries = grown;
        r->room = room;
    }
    r->entries[r->count++] = e;
    return true;
}

static bool read_entry(reader *r) {
    long row, column;
    const char *text = r->text;
    if (!whole(&text, &row) || !whole(&text, &column))
        return complain(r, "an entry is wanted: row, column, value");
    char *end;
    const double value = strtod(text, &end);
    if (end == text || *behind_space(end) != 0 || !isfinite(value))
        return complain(r, "one finite number is wanted as value of entry (%ld, %ld)", row, column);
    if (row < 1 || row > r->n || column < 1 || column > r->n)
        return complain(r, "entry (%ld, %ld) is outside of the matrix: %ld x %ld", row, column,
                        r->n, r->n);
    if (r->symmetric && column > row)
        return complain(r, "entry (%ld, %ld) is above the diagonal of a symmetric matrix", row,
                        column);
    const entry e = {(int)row - 1, (int)column - 1, value, r->line};
    const entry mirrored = {e.column, e.row, e.value, e.line};
    return add(r, e) && (!r->symmetric || row == column || add(r, mirrored));
}

static bool read_entries(reader *r) {
    for (long k = 0; k < r->promised; k++) {
        if (!read_content(r))
            return complain(r, "the file ends after %ld of %ld entries", k, r->promised);
        if (!read_entry(r)) return false;
    }
    if (read_content(r)) return complain(r, "more than the %ld entries of the head", r->promised);
    return ferror(r->file) == 0 || complain(r, "%s", strerror(errno));
}

static int by_row(const void *a, const void *b) {
    const entry *x = a, *y = b;
    if (x->row != y->row) return x->row < y->row ? -1 : 1;
    if (x->column != y->column) return x->column < y->column ? -1 : 1;
    return (x->line > y->line) - (x->line < y->line);
}

/* Sorts. */
static bool has_no_double(reader *r) {
    if (r->count > 0) qsort(r->entries, r->count, sizeof *r->entries, by_row);
    for (size_t k = 1; k < r->count; k++) {
        const entry *e = &r->entries[k], *before = e - 1;
        if (e->row == before->row && e->column == before->column) {
            r->line = e->line;
            return complain(r, "the same entry as in line %ld", before->line);
        }
    }
    return true;
}

/* ---- the matrix ----------------------------------------------------------------------------- */

static bool build(matrix *m, reader *r) {
    m->n = (size_t)r->n;
    m->start = calloc(m->n + 1, sizeof *m->start);
    m->column = malloc((r->count + 1) * sizeof *m->column); /* + 1: never nothing */
    m->value = malloc((r->count + 1) * sizeof *m->value);
    if (!m->start || !m->column || !m->value) return complain(r, "there is no memory");
    for (size_t k = 0; k < r->count; k++) {
        m->start[r->entries[k].row + 1]++;
        m->column[k] = r->entries[k].column;
        m->value[k] = r->entries[k].value;
    }
    for (size_t i = 0; i < m->n; i++) m->start[i + 1] += m->start[i];
    return true;
}

bool matrix_read(matrix *m, const char *path, char error[MATRIX_ERROR_BYTES]) {
    reader r = {.file = fopen(path, "r"), .error = error};
    *m = (matrix){0};
    if (!r.file) return complain(&r, "%s", strerror(errno));
    const bool good = read_banner(&r) && read_sizes(&r) && read_entries(&r) && has_no_double(&r) &&
                      build(m, &r);
    if (!good) matrix_free(m);
    free(r.entries);
    free(r.text);
    (void)fclose(r.file);
    return good;
}

void matrix_free(matrix *m) {
    free(m->start);
    free(m->column);
    free(m->value);
    *m = (matrix){0};
}

bool vector_write(const double *x, size_t n, const char *path) {
    FILE *file = fopen(path, "w");
    if (!file) return false;
    bool good = fprintf(file, "%%%%MatrixMarket matrix array real general\n%zu 1\n", n) > 0;
    for (size_t i = 0; good && i < n; i++) good = fprintf(file, "%.17g\n", x[i]) > 0;
    return fclose(file) == 0 && good;
}
