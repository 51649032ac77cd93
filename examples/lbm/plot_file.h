/* The file that a plot goes to. */
#ifndef LBM_PLOT_FILE_H
#define LBM_PLOT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* A plot is drawn into memory, and written when it is complete: a file that was there stays as it
 * was until then, and after that keeps its mode, its owner and the links to it. */
typedef struct plot_file {
    const char *path; /* NULL: none */
    FILE *drawing;    /* to draw into; NULL if there is none */
    char *text;       /* of the drawing, when that is closed */
    size_t length;
    int file;   /* open if there is a drawing */
    char *made; /* the file's own name if it was not there before; removed on failure */
} plot_file;

/* With nothing but the path set. False: a line of complaint has been written. */
bool plot_file_begin(plot_file *p);

/* Writes the drawing if that is complete (good), and leaves the file as it was if it is not. Is all good? */
bool plot_file_end(plot_file *p, bool good);

#endif
