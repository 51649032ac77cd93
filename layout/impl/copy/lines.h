/* Large copies between arrays and blocks of lanes, or blocks of other lanes, by whole lines of the
 * target (simd/cache_lines.h). */
#ifndef HARRAY_LAYOUT_IMPL_COPY_LINES_H
#define HARRAY_LAYOUT_IMPL_COPY_LINES_H

#include "convert_first.h"

/* Of so many records of a leaf as all lines are made for: how many follow each other there. */
HA_IN_ int64_t ha_copy_in_line(const ha_copy_shape *s, int64_t records) {
    return s->lanes == 1 ? records : s->lanes;
}

/* One block of a leaf, or all that there is. */
HA_IN_ int ha_copy_add_block(ha_copy_worker *w, const ha_copy_leaf *leaf, int64_t records,
                             int64_t to, int64_t from, int64_t block) {
    const ha_copy_shape *t = &leaf->to_shape, *f = &leaf->from_shape;
    const int64_t step = leaf->is_changed ? 0 : ha_copy_stride(f, records);
    const char *source = ha_copy_source(w, leaf);
    const int64_t lanes = ha_copy_in_line(t, records);
    const int64_t unit = ha_smaller(lanes, ha_copy_in_line(f, records));
    for (int64_t i = block * lanes; i < (block + 1) * lanes; i += unit)
        if (!ha_add_line_run(&w->lines, leaf->to + ha_copy_offset(t, to + i),
                             ha_copy_stride(t, records), source + ha_copy_offset(f, from + i), step,
                             unit * leaf->size))
            return 0;
    return 1;
}

/* Of all leaves, from these linear indices on; 0: it cannot be done. */
HA_IN_ int ha_copy_make_lines(ha_copy_worker *w, const ha_copy_pass *pass, int64_t to,
                              int64_t from) {
    ha_line_program *p = &w->lines;
    const int64_t records = pass->lined;
    const int64_t blocks = records / ha_copy_in_line(&pass->group->leaf->to_shape, records);
    p->lines = p->pieces = p->filled = 0;
    for (int64_t b = 0; b < blocks; b++)
        for (int64_t g = 0; g < pass->groups; g++)
            for (int64_t k = 0; k < pass->group[g].leaves; k++)
                if (!ha_copy_add_block(w, &pass->group[g].leaf[k], records, to,
                                       ha_copy_group_from(&pass->group[g], from), b))
                    return 0;
    ha_find_line_sequence(p);
    return p->filled == 0;
}

/* As many records of a tile as are done by lines, from this one on: 0 if that cannot be. */
HA_IN_ int64_t ha_copy_lines(ha_copy_worker *w, const ha_copy_pass *pass, int64_t to, int64_t from,
                             int64_t count) {
    const ha_interleavers *interleavers = ha_best_interleavers();
    const int64_t times = count / pass->lined, once = pass->changed ? 1 : times;
    if (times == 0 || !ha_has_lines(interleavers) || !ha_copy_make_lines(w, pass, to, from))
        return 0;
    for (int64_t n = 0; n < times; n += once) { /* both linear indices go on one by one here */
        if (pass->changed) ha_copy_change_all(w, pass, from + n * pass->lined, pass->lined);
        ha_do_lines(interleavers, &w->lines, once);
    }
    return times * pass->lined;
}

#endif
