/* Sparse matrices from Matrix Market files (https://math.nist.gov/MatrixMarket/formats.html). */
#ifndef MATRIX_MARKET_H
#define MATRIX_MARKET_H

#include <stdbool.h>
#include <stddef.h>

/* By rows: those of row i are number start[i] to start[i + 1] - 1, by rising column. All counting
 * is from 0. */
typedef struct matrix {
    size_t n;
    int *start, *column;
    double *value;
} matrix;

enum { MATRIX_ERROR_BYTES = 300 };

/* Reads a square matrix: "coordinate", "real" or "integer", "symmetric" or "general". On failure
 * nothing is held, and error says what is wrong in which line. */
bool matrix_read(matrix *m, const char *path, char error[MATRIX_ERROR_BYTES]);

void matrix_free(matrix *m);

/* Writes n numbers as "array real general", with all their digits. */
bool vector_write(const double *x, size_t n, const char *path);

#endif
