/* What is in the way of the stream: the opaque pixels of a picture, or a cylinder. */
#ifndef LBM_OBSTACLE_H
#define LBM_OBSTACLE_H

#include "flow.h"

/* An obstacle of so many rows of sites, in a stream that is `across` times as wide and goes on for `behind`
 * times its height. False: a line in `error`. */
enum { OBSTACLE_ERROR_BYTES = 300 };
bool obstacle_cylinder(shape *s, int64_t rows, int64_t across, int64_t behind);
bool obstacle_picture(shape *s, const char *path, int64_t rows, int64_t across, int64_t behind,
                      char error[OBSTACLE_ERROR_BYTES]);

/* No obstacle. */
bool obstacle_none(shape *s, int64_t rows, int64_t columns);

void obstacle_free(shape *s);

#endif
