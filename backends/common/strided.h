/* Copies of equally spaced pieces (ha_strided_copy): how they are built, and what they are. */
#ifndef HARRAY_BACKENDS_COMMON_STRIDED_H
#define HARRAY_BACKENDS_COMMON_STRIDED_H

#include "../backend.h"

/* Repeats the copy n times, so many bytes apart: one more level, unless what is repeated follows itself
 * without a gap on both sides. Then pieces become longer, or the outermost level does. */
HA_IN_ HA_UNUSED void ha_strided_repeat(ha_strided_copy *s, size_t n, size_t to_step,
                                        size_t from_step) {
    const int k = s->levels - 1;
    if (n == 1) return;
    if (k < 0 && to_step == s->bytes && from_step == s->bytes)
        s->bytes *= n;
    else if (k >= 0 && to_step == s->count[k] * s->to_step[k] &&
             from_step == s->count[k] * s->from_step[k])
        s->count[k] *= n;
    else {
        s->count[s->levels] = n;
        s->to_step[s->levels] = to_step;
        s->from_step[s->levels++] = from_step;
    }
}

/* The same copy, of as few pieces on as few levels as there can be. */
HA_IN_ HA_UNUSED ha_strided_copy ha_strided_fold(const ha_strided_copy *s) {
    ha_strided_copy folded = {.to = s->to, .from = s->from, .bytes = s->bytes};
    for (int k = 0; k < s->levels; k++)
        ha_strided_repeat(&folded, s->count[k], s->to_step[k], s->from_step[k]);
    return folded;
}

/* Bytes, of all pieces. */
HA_IN_ HA_UNUSED size_t ha_strided_total(const ha_strided_copy *s) {
    size_t bytes = s->bytes;
    for (int k = 0; k < s->levels; k++) bytes *= s->count[k];
    return bytes;
}

/* Whether rows lie behind each other, and planes a whole number of rows apart, on one side. */
HA_IN_ int ha_strided_side_is_pitched(const ha_strided_copy *s, const size_t *step) {
    if (s->levels > 0 && step[0] < s->bytes) return 0;
    return s->levels < 2 || (step[1] % step[0] == 0 && step[1] / step[0] >= s->count[0]);
}

/* Whether it is what drivers call a pitched copy: of rows, or of planes of rows. */
HA_IN_ HA_UNUSED int ha_strided_is_pitched(const ha_strided_copy *s) {
    return s->levels <= 2 && ha_strided_side_is_pitched(s, s->to_step) &&
           ha_strided_side_is_pitched(s, s->from_step);
}

/* Whether it may be one of several in a call: of small values. */
HA_IN_ HA_UNUSED int ha_strided_is_scatter(const ha_strided_copy *s) {
    return s->bytes <= HA_SCATTER_BYTES && s->levels <= HA_SCATTER_LEVELS;
}

#endif
