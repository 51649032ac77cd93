/* Reading and writing PNG files, by libpng. Knows nothing of harray.
 *
 * Grey, RGB or palette, with or without alpha, 1 to 16 bits, interlaced or not: what is read is
 * always 1 to 4 channels of 8 or 16 bits, and that is what is written. */
#ifndef PNG_IO_H
#define PNG_IO_H

#include <stdbool.h>
#include <stddef.h>

enum { PICTURE_ERROR_BYTES = 256 };

typedef struct picture {
    size_t width, height;
    unsigned channels; /* 1 grey, 2 grey and alpha, 3 RGB, 4 RGB and alpha */
    unsigned depth;    /* bits of a sample: 8 or 16 */
    bool profile;      /* the file has a colour profile, other than sRGB; it is not looked at */
    unsigned char *samples; /* pixel by pixel; 16 bits: the high byte first */
} picture;

/* True, or false with one line in `error`; then the picture is as before. */
bool picture_read(picture *p, const char *path, char error[PICTURE_ERROR_BYTES]);

/* Writes under another name and renames when all is written: there is no half file, and a file that
 * was there stays when this fails. */
bool picture_write(const picture *p, const char *path, char error[PICTURE_ERROR_BYTES]);

/* One sample as a number from 0 to 1. Setting clamps, and rounds to the nearest. */
double picture_get(const picture *p, size_t pixel, unsigned channel);
void picture_set(picture *p, size_t pixel, unsigned channel, double value);

void picture_free(picture *p); /* a picture of zeros is fine */

#endif
