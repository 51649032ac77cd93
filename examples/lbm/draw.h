/* Pictures of the flow, and a plot of the forces. */
#ifndef LBM_DRAW_H
#define LBM_DRAW_H

#include "flow.h"

#include <stdio.h>

/* Vorticity, and the obstacle in its colours. False: a line in `error`, of PICTURE_ERROR_BYTES. */
bool draw_frame(const flow_results *r, const shape *s, const char *path, char *error);

/* Two curves over time as SVG: n values, `each` units of time apart. False: the file is incomplete. */
bool draw_forces(FILE *file, const float *drag, const float *lift, int64_t n, double each);

#endif
