#define _POSIX_C_SOURCE 200809L
#include "png_io.h"

#include <errno.h>
#include <png.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* So that no product of sizes overflows, and a small file cannot ask for all memory. */
static const size_t most_pixels = (size_t)1 << 28;

/* A file being read or written. Everything that must survive libpng's longjmp, or be given back
 * after it, stands here and not in local variables. */
typedef struct transfer {
    FILE *file;
    png_structp png;
    png_infop info;
    png_bytep *rows;
    char warning[80]; /* libpng says what is wrong with a header in a warning before the error */
    char *error;
} transfer;

static void set_error(transfer *t, const char *text) {
    (void)snprintf(t->error, PICTURE_ERROR_BYTES, "%s", text);
}

static void on_warning(png_structp png, png_const_charp text) {
    transfer *t = png_get_error_ptr(png);
    (void)snprintf(t->warning, sizeof t->warning, " (%s)", text);
}

static void on_error(png_structp png, png_const_charp text) {
    transfer *t = png_get_error_ptr(png);
    if (ferror(t->file)) {
        set_error(t, strerror(errno));
    } else if (feof(t->file)) {
        set_error(t, "the file is cut short");
    } else {
        (void)snprintf(t->error, PICTURE_ERROR_BYTES, "%s%s", text, t->warning);
    }
    png_longjmp(png, 1);
}

static bool is_png(transfer *t) {
    unsigned char signature[8];
    if (fread(signature, 1, sizeof signature, t->file) == sizeof signature &&
        png_sig_cmp(signature, 0, sizeof signature) == 0) {
        return true;
    }
    set_error(t, ferror(t->file) ? strerror(errno) : "not a PNG file");
    return false;
}

static size_t row_bytes(const picture *p) { return p->width * p->channels * (p->depth / 8); }

static bool allocate(picture *p, transfer *t) {
    p->samples = malloc(p->height * row_bytes(p));
    t->rows = malloc(p->height * sizeof *t->rows);
    if (!p->samples || !t->rows) {
        (void)snprintf(t->error, PICTURE_ERROR_BYTES, "no memory for %zu x %zu pixels", p->width,
                       p->height);
        return false;
    }
    for (size_t y = 0; y < p->height; y++) t->rows[y] = p->samples + y * row_bytes(p);
    return true;
}

static bool read_header(picture *p, transfer *t) {
    png_read_info(t->png, t->info);
    t->warning[0] = 0;
    p->width = png_get_image_width(t->png, t->info);
    p->height = png_get_image_height(t->png, t->info);
    p->profile = png_get_valid(t->png, t->info, PNG_INFO_iCCP) != 0 &&
                 png_get_valid(t->png, t->info, PNG_INFO_sRGB) == 0;
    if (p->width <= most_pixels / p->height) return true;
    (void)snprintf(t->error, PICTURE_ERROR_BYTES, "%zu x %zu is too large, at most %zu pixels",
                   p->width, p->height, most_pixels);
    return false;
}

/* From here on libpng takes memory for rows. Channels and depth are those after expanding. */
static void expand(picture *p, transfer *t) {
    png_set_expand(t->png); /* palette to RGB, transparent colour to alpha, at least 8 bits */
    (void)png_set_interlace_handling(t->png);
    png_read_update_info(t->png, t->info);
    p->channels = png_get_channels(t->png, t->info);
    p->depth = png_get_bit_depth(t->png, t->info);
}

static bool read_picture(picture *p, transfer *t) {
    if (setjmp(png_jmpbuf(t->png)) != 0) return false;
    png_init_io(t->png, t->file);
    png_set_sig_bytes(t->png, 8);
    png_set_user_limits(t->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    if (!read_header(p, t)) return false;
    expand(p, t);
    if (!allocate(p, t)) return false;
    png_read_image(t->png, t->rows);
    png_read_end(t->png, NULL);
    return true;
}

static bool start_reading(transfer *t) {
    t->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, t, on_error, on_warning);
    t->info = t->png ? png_create_info_struct(t->png) : NULL;
    if (!t->info) set_error(t, "libpng cannot start");
    return t->info;
}

bool picture_read(picture *p, const char *path, char error[PICTURE_ERROR_BYTES]) {
    transfer t = {.file = fopen(path, "rb"), .error = error};
    picture read = {0};
    if (!t.file) {
        set_error(&t, strerror(errno));
        return false;
    }
    bool ok = is_png(&t) && start_reading(&t) && read_picture(&read, &t);
    png_destroy_read_struct(&t.png, &t.info, NULL);
    free(t.rows);
    (void)fclose(t.file);
    if (ok) {
        *p = read;
    } else {
        picture_free(&read);
    }
    return ok;
}

static void write_rows(const picture *p, transfer *t) {
    for (size_t y = 0; y < p->height; y++) png_write_row(t->png, p->samples + y * row_bytes(p));
}

static bool write_picture(const picture *p, transfer *t) {
    static const int colour_type[] = {0, PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA,
                                      PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGB_ALPHA};
    if (setjmp(png_jmpbuf(t->png)) != 0) return false;
    png_init_io(t->png, t->file);
    png_set_user_limits(t->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_IHDR(t->png, t->info, (png_uint_32)p->width, (png_uint_32)p->height, (int)p->depth,
                 colour_type[p->channels], PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    png_set_sRGB(t->png, t->info, PNG_sRGB_INTENT_PERCEPTUAL);
    png_write_info(t->png, t->info);
    write_rows(p, t);
    png_write_end(t->png, t->info);
    return true;
}

static bool start_writing(transfer *t) {
    t->png = png_create_write_struct(PNG_LIBPNG_VER_STRING, t, on_error, on_warning);
    t->info = t->png ? png_create_info_struct(t->png) : NULL;
    if (!t->info) set_error(t, "libpng cannot start");
    return t->info;
}

/* Renaming would replace a device or a pipe by a file. */
static bool may_replace(const char *path, transfer *t) {
    struct stat status;
    if (stat(path, &status) != 0 || S_ISREG(status.st_mode)) return true;
    set_error(t, S_ISDIR(status.st_mode) ? strerror(EISDIR) : "not a regular file");
    return false;
}

static bool write_file(const picture *p, const char *path, transfer *t) {
    t->file = fopen(path, "wbx");
    if (!t->file) {
        set_error(t, strerror(errno));
        return false;
    }
    bool ok = start_writing(t) && write_picture(p, t);
    png_destroy_write_struct(&t->png, &t->info);
    if (fclose(t->file) != 0 && ok) {
        set_error(t, strerror(errno));
        ok = false;
    }
    if (!ok) (void)remove(path);
    return ok;
}

bool picture_write(const picture *p, const char *path, char error[PICTURE_ERROR_BYTES]) {
    transfer t = {.error = error};
    const size_t length = strlen(path), more = 32;
    char *part = malloc(length + more);
    if (!part) {
        set_error(&t, strerror(ENOMEM));
        return false;
    }
    memcpy(part, path, length);
    (void)snprintf(part + length, more, ".%ld.part", (long)getpid());
    bool ok = may_replace(path, &t) && write_file(p, part, &t);
    if (ok && rename(part, path) != 0) {
        set_error(&t, strerror(errno));
        (void)remove(part);
        ok = false;
    }
    free(part);
    return ok;
}

double picture_get(const picture *p, size_t pixel, unsigned channel) {
    const size_t i = pixel * p->channels + channel;
    if (p->depth == 8) return p->samples[i] / 255.0;
    return (p->samples[2 * i] * 256 + p->samples[2 * i + 1]) / 65535.0;
}

void picture_set(picture *p, size_t pixel, unsigned channel, double value) {
    const size_t i = pixel * p->channels + channel;
    const double clamped = value > 0 ? (value < 1 ? value : 1) : 0;
    if (p->depth == 8) {
        p->samples[i] = (unsigned char)(clamped * 255 + 0.5);
    } else {
        const unsigned sample = (unsigned)(clamped * 65535 + 0.5);
        p->samples[2 * i] = (unsigned char)(sample >> 8);
        p->samples[2 * i + 1] = (unsigned char)(sample & 255);
    }
}

void picture_free(picture *p) {
    free(p->samples);
    *p = (picture){0};
}
