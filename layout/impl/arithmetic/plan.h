/* The plan of an operation: parts that go by kernels, and leaves that go by runs through a buffer.
 *
 * A part is a leaf, or one of the two numbers of a complex one, that lies in memory as it is and at
 * equal distances, or equal ones in each block; the right side has the same type, or is one number.
 * Parts that follow each other in each record or block are done together, as one array where they
 * fill them, with the numbers on the right repeated as they come. */
#ifndef HARRAY_LAYOUT_IMPL_ARITHMETIC_PLAN_H
#define HARRAY_LAYOUT_IMPL_ARITHMETIC_PLAN_H

#include "values.h"
#include "../copy/all.h"

enum {
    HA_APPLY_PATTERN = 4096, /* bytes of a block of values on the right, and of some */
    HA_APPLY_PERIOD = 8192,
    HA_APPLY_LARGE = 1 << 22, /* bytes of which we think that they are in no cache */
    HA_APPLY_NEAR = 65536     /* bytes that stay in the second cache */
};

typedef struct ha_apply_part {
    char *left;        /* of linear index 0 */
    const char *right; /* NULL: `value` */
    ha_copy_shape left_shape, right_shape;
    const ha_span_kernel *kernel;
    int32_t walk, size, right_size; /* bytes of a value on each side */
    int64_t together;   /* so many parts from this one on follow each other in each block */
    int is_filled;      /* and fill the whole of it */
    int is_interleaved; /* but on the right they are arrays */
    char *pattern;      /* their values, as they lie in blocks; NULL: none */
    int64_t patterns;   /* blocks in there */
    int64_t least;      /* values in there, after which they come again and a vector ends */
    int is_large;       /* in no cache */
    _Alignas(16) char value[HA_SPLAT];
} ha_apply_part;

typedef struct ha_apply_leaf {
    int64_t left, right; /* their numbers; right < 0: the constant */
    ha_dtype left_type, right_type;
    ha_constant constant;
} ha_apply_leaf;

typedef struct ha_apply_walk {
    ha_copy_walk walk;
    int64_t part, parts; /* its parts */
    int64_t tile, tiles; /* records of a tile along the last loop, and how many tiles it has */
    int64_t rows;        /* of a tile, along the loop around that */
    int64_t units;       /* tiles there are */
} ha_apply_walk;

typedef struct ha_apply_plan {
    const ha_mapped *left, *right; /* right NULL: constants */
    ha_operator operation;
    int64_t first[HA_MAPPING_RANK], last[HA_MAPPING_RANK], shift[HA_MAPPING_RANK];
    int64_t records, workers; /* threads */
    int64_t parts, leaves, walks;
    ha_apply_part *part;
    ha_apply_leaf *leaf;
    ha_apply_walk *walk;
    char *patterns; /* memory of all */
} ha_apply_plan;

/* ---- parts ----------------------------------------------------------------------------------- */

HA_IN_ int ha_apply_is_plain(const ha_row *row) {
    return row->blob >= 0 && row->linearizer >= 0 && row->coding == 0;
}

/* Which walk goes along both, perhaps a new one; -1: none, as it is not even. */
HA_IN_ int32_t ha_apply_find_walk(ha_apply_plan *p, const ha_linearizer *left,
                                  const ha_linearizer *right) {
    int64_t from[HA_MAPPING_RANK] = {0};
    if (left->morton != 0 || right->morton != 0) return -1;
    for (int32_t k = 0; k < p->walks; k++)
        if (ha_copy_same_order(p->walk[k].walk.to_linearizer, left) &&
            ha_copy_same_order(p->walk[k].walk.from_linearizer, right))
            return k;
    for (int d = 0; d < left->rank; d++) from[d] = p->first[d] + p->shift[d];
    p->walk[p->walks].walk = ha_copy_walk_of(left, right, p->first, p->last);
    p->walk[p->walks].walk.from = ha_linear(right, from);
    return (int32_t)p->walks++;
}

/* One value over and over: from a register, as what was written by smaller pieces is not read soon. */
HA_IN_ void ha_apply_splat(char *to, const char *value, int32_t size) {
    uint8_t one;
    uint16_t two;
    uint32_t four;
    uint64_t eight;
    if (size == 1)
        memcpy(&one, value, sizeof one), eight = one * UINT64_C(0x101010101010101);
    else if (size == 2)
        memcpy(&two, value, sizeof two), eight = two * UINT64_C(0x1000100010001);
    else if (size == 4)
        memcpy(&four, value, sizeof four), eight = four * UINT64_C(0x100000001);
    else
        memcpy(&eight, value, sizeof eight);
    for (int k = 0; k < HA_SPLAT; k += 8) memcpy(to + k, &eight, sizeof eight);
}

/* Number `part` of a leaf, with part `from` of the right one, or with the constant. */
HA_IN_ void ha_apply_add_part(ha_apply_plan *p, const ha_apply_leaf *leaf, int part, int from,
                              const ha_span_kernel *kernel, int32_t walk) {
    const ha_row *row = &p->left->mapping->row[leaf->left];
    const int64_t size = ha_part_size(leaf->left_type);
    ha_apply_part *a = &p->part[p->parts++];
    memset(a, 0, offsetof(ha_apply_part, value));
    a->left = (char *)p->left->blob[row->blob] + row->base + part * size;
    a->left_shape = ha_copy_shape_of(row);
    a->right_shape = (ha_copy_shape){1, 0, 0};
    a->kernel = kernel;
    a->walk = walk;
    a->size = (int32_t)size;
    a->right_size = (int32_t)kernel->right_size;
    if (leaf->right >= 0) {
        const ha_row *other = &p->right->mapping->row[leaf->right];
        a->right = (const char *)p->right->blob[other->blob] + other->base + from * a->right_size;
        a->right_shape = ha_copy_shape_of(other);
    } else {
        ha_apply_splat(a->value, leaf->constant.value + from * a->right_size, a->right_size);
    }
}

/* Makes parts of a leaf; 0: it has to go by runs. */
HA_IN_ int ha_apply_as_parts(ha_apply_plan *p, ha_apply_leaf *leaf) {
    const ha_mapping *m = p->left->mapping;
    const ha_row *row = &m->row[leaf->left];
    const ha_row *other = leaf->right < 0 ? row : &p->right->mapping->row[leaf->right];
    const int is_complex = ha_is_complex(leaf->left_type), both = ha_is_complex(leaf->right_type);
    const ha_dtype type = ha_type_of_part(leaf->left_type);
    if (!ha_apply_is_plain(row) || !ha_apply_is_plain(other)) return 0;
    if (both && p->operation >= HA_MULTIPLY) return 0;
    if (is_complex && !both && p->operation == HA_ASSIGN) return 0;
    if (leaf->right < 0 && !both) (void)ha_constant_as(&leaf->constant, p->operation, type);
    const ha_span_kernel *kernel = ha_kernel_of(
        p->operation, type,
        ha_type_of_part(leaf->right < 0 ? leaf->constant.type : leaf->right_type));
    if (!kernel) return 0;
    const ha_linearizer *l = &m->linearizer[row->linearizer];
    const int32_t walk = ha_apply_find_walk(
        p, l, leaf->right < 0 ? l : &p->right->mapping->linearizer[other->linearizer]);
    if (walk < 0) return 0;
    ha_apply_add_part(p, leaf, 0, 0, kernel, walk);
    if (is_complex && (both || p->operation >= HA_MULTIPLY))
        ha_apply_add_part(p, leaf, 1, both, kernel, walk);
    return 1;
}

/* The leaf that was put behind those there are. */
HA_IN_ void ha_apply_add_leaf(ha_apply_plan *p) {
    ha_apply_leaf *leaf = &p->leaf[p->leaves];
    if (p->left->mapping->row[leaf->left].blob < 0) return;
    if (!ha_apply_as_parts(p, leaf)) p->leaves++;
}

/* ---- parts together -------------------------------------------------------------------------- */

HA_IN_ int ha_apply_by_place(const void *first, const void *second) {
    const ha_apply_part *a = (const ha_apply_part *)first, *b = (const ha_apply_part *)second;
    if (a->walk != b->walk) return a->walk < b->walk ? -1 : 1;
    if (a->left == b->left) return 0;
    return HA_NUMBER_(a->left) < HA_NUMBER_(b->left) ? -1 : 1;
}

HA_IN_ int ha_apply_same_shape(const ha_copy_shape *a, const ha_copy_shape *b) {
    return a->lanes == b->lanes && a->lane == b->lane && a->block == b->block;
}

/* Does b lie right behind a on both sides? */
HA_IN_ int ha_apply_follows(const ha_apply_part *a, const ha_apply_part *b) {
    const int64_t lanes = a->left_shape.lanes;
    return a->walk == b->walk && a->kernel == b->kernel &&
           ha_apply_same_shape(&a->left_shape, &b->left_shape) &&
           HA_NUMBER_(b->left) - HA_NUMBER_(a->left) == (uint64_t)(lanes * a->size) &&
           !a->right == !b->right &&
           (!a->right ||
            (ha_apply_same_shape(&a->right_shape, &b->right_shape) &&
             a->right_shape.lanes == lanes &&
             (lanes == 1 || a->right_shape.lane == a->right_size) &&
             HA_NUMBER_(b->right) - HA_NUMBER_(a->right) == (uint64_t)(lanes * a->right_size)));
}

/* Bytes that so many parts take of each block, on the left. */
HA_IN_ int64_t ha_apply_bytes(const ha_apply_part *part, int64_t parts) {
    return parts * part->size * part->left_shape.lanes;
}

/* Values that parts together have in each block. */
HA_IN_ int64_t ha_apply_values(const ha_apply_part *part) {
    return part->together * part->left_shape.lanes;
}

/* How many parts from this one on follow each other in each block; 1: it is alone. */
HA_IN_ int64_t ha_apply_neighbours(const ha_apply_part *part, int64_t parts) {
    const ha_copy_shape *shape = &part->left_shape;
    int64_t n = 1;
    if (shape->lanes > 1 && shape->lane != part->size) return 1;
    while (n < parts && ha_apply_bytes(part, n) < shape->block &&
           (part->right || ha_apply_bytes(part, n + 1) <= HA_APPLY_PATTERN) &&
           ha_apply_follows(&part[n - 1], &part[n]))
        n++;
    return n;
}

/* Is it a field of structs, with an array on the right? */
HA_IN_ int ha_apply_is_mixed(const ha_apply_part *part) {
    return part->right && part->left_shape.lanes == 1 && part->left_shape.block > part->size &&
           part->right_shape.lanes == 1 && part->right_shape.block == part->right_size;
}

/* How many of these follow each other in each struct. */
HA_IN_ int64_t ha_apply_mixed_neighbours(const ha_apply_part *part, int64_t parts) {
    int64_t n = 1;
    if (!ha_apply_is_mixed(part)) return 1;
    while (n < ha_smaller(parts, HA_STRIDED_LEAVES) && ha_apply_is_mixed(&part[n]) &&
           part[n].walk == part->walk && part[n].kernel == part->kernel &&
           part[n].left_shape.block == part->left_shape.block &&
           HA_NUMBER_(part[n].left) - HA_NUMBER_(part->left) == (uint64_t)(n * part->size))
        n++;
    return n;
}

HA_IN_ void ha_apply_find_together(ha_apply_plan *p) {
    int is_sorted = 1;
    for (int64_t k = 1; k < p->parts; k++)
        is_sorted &= ha_apply_by_place(&p->part[k - 1], &p->part[k]) <= 0;
    if (!is_sorted) qsort(p->part, (size_t)p->parts, sizeof *p->part, ha_apply_by_place);
    for (int64_t k = 0; k < p->parts; k += p->part[k].together) {
        ha_apply_part *part = &p->part[k];
        part->together = ha_apply_neighbours(part, p->parts - k);
        if (part->together == 1) {
            part->together = ha_apply_mixed_neighbours(part, p->parts - k);
            part->is_interleaved = part->together > 1;
        }
        part->is_filled = ha_apply_bytes(part, part->together) == part->left_shape.block &&
                          (!part->right || part->is_interleaved ||
                           part->right_shape.block == ha_apply_values(part) * part->right_size);
    }
}

/* Have parts together all the same value? */
HA_IN_ int ha_apply_is_uniform(const ha_apply_part *part) {
    for (int64_t k = 1; k < part->together; k++)
        if (memcmp(part->value, part[k].value, (size_t)part->right_size) != 0) return 0;
    return 1;
}

/* Blocks of their values: one, or so many that four vectors have an end where the last one has, if
 * that is not too much; then records are one array. */
HA_IN_ int64_t ha_apply_pattern_blocks(ha_apply_part *part) {
    int64_t blocks = 1;
    if (part->right || part->together == 1 || ha_apply_is_uniform(part)) return 0;
    if (!part->is_filled) return 1;
    while (blocks * ha_apply_values(part) % (4 * part->kernel->lanes) != 0) blocks *= 2;
    part->is_filled = blocks * part->left_shape.block <= HA_APPLY_PERIOD;
    for (part->least = ha_apply_values(part); part->least % part->kernel->lanes != 0;)
        part->least *= 2;
    return part->is_filled ? blocks : 1;
}

HA_IN_ void ha_apply_make_pattern(ha_apply_part *part, char *at) {
    const int64_t lanes = part->left_shape.lanes;
    part->pattern = at;
    for (int64_t b = 0; b < part->patterns; b++)
        for (int64_t k = 0; k < part->together; k++)
            for (int64_t i = 0; i < lanes; i++, at += part->right_size)
                memcpy(at, part[k].value, (size_t)part->right_size);
}

/* Bytes of them, so many that others behind them begin where vectors do. */
HA_IN_ int64_t ha_apply_pattern_bytes(const ha_apply_part *part) {
    return (part->patterns * ha_apply_values(part) * part->right_size + 63) / 64 * 64;
}

HA_IN_ ha_status ha_apply_make_patterns(const ha_asked *asked, ha_apply_plan *p) {
    int64_t bytes = 0;
    for (int64_t k = 0; k < p->parts; k += p->part[k].together) {
        p->part[k].patterns = ha_apply_pattern_blocks(&p->part[k]);
        bytes += ha_apply_pattern_bytes(&p->part[k]);
    }
    if (bytes == 0) return HA_OK;
    p->patterns = (char *)HA_LAYOUT_MALLOC_((size_t)bytes + 63);
    if (!p->patterns) return ha_no_memory(asked, (size_t)bytes + 63);
    char *at = p->patterns + (64 - HA_NUMBER_(p->patterns) % 64) % 64;
    for (int64_t k = 0; k < p->parts; k += p->part[k].together) {
        if (p->part[k].patterns == 0) continue;
        ha_apply_make_pattern(&p->part[k], at);
        at += ha_apply_pattern_bytes(&p->part[k]);
    }
    return HA_OK;
}

/* ---- tiles ----------------------------------------------------------------------------------- */

/* Bytes from record to record that it shares with other parts; 0: none. */
HA_IN_ int64_t ha_apply_shared(const ha_copy_shape *s, int64_t size) {
    const int64_t each = s->block / s->lanes;
    return each == size ? 0 : each < 0 ? -each : each;
}

HA_IN_ int ha_apply_is_large(const ha_copy_shape *s, int64_t records) {
    const int64_t each = s->block / s->lanes;
    return each > 0 && records >= HA_APPLY_LARGE / each;
}

/* Bytes on both sides from record to record, of parts of which each takes a few; and how often
 * lines are gone through, at least: once for each alone or neighbours that are one piece. */
HA_IN_ int64_t ha_apply_lines(const ha_apply_plan *p, const ha_apply_walk *w, int64_t *times) {
    int64_t shared = 0;
    int is_one = 1; /* one piece of each run */
    *times = 0;
    for (int64_t k = w->part; k < w->part + w->parts; k += p->part[k].together) {
        const ha_apply_part *part = &p->part[k];
        if (part->is_filled) continue;
        int64_t values;
        (void)ha_form_within(part->kernel, ha_apply_values(part), &values);
        is_one &= part->together == 1 || values == ha_apply_values(part);
        *times += part->together > 1
                      ? ha_form_passes(part->kernel, ha_apply_values(part), part->patterns > 0)
                      : 1;
        shared = ha_larger(shared, ha_apply_shared(&part->left_shape, part->size) +
                                       ha_apply_shared(&part->right_shape, part->right_size));
    }
    if (*times == 1 && is_one) *times = 0;
    return shared;
}

/* Tiles are as long as their lines stay in the nearest cache, if that matters, and at least as a block. */
HA_IN_ void ha_apply_make_tiles(const ha_apply_plan *p, ha_apply_walk *w) {
    const ha_copy_walk *walk = &w->walk;
    const int64_t count = walk->loop[walk->rank - 1].count;
    int64_t lanes = 1, outer = 1, times;
    const int64_t shared = ha_apply_lines(p, w, &times);
    for (int64_t k = w->part; k < w->part + w->parts; k += p->part[k].together) {
        lanes = ha_larger(lanes, p->part[k].left_shape.lanes);
        p->part[k].is_large = ha_apply_is_large(&p->part[k].left_shape, p->records);
    }
    w->tile = 16384;
    if (shared == 0 && p->workers == 1) w->tile = 1 << 18;
    if (shared > 0 && times > 0)
        w->tile = ha_larger((times < 2 ? HA_APPLY_NEAR : HA_APPLY_CACHED) / shared, 64);
    if (!ha_round_to(w->tile, lanes, &w->tile)) w->tile = lanes;
    w->tiles = count / w->tile + (count % w->tile != 0);
    w->rows = 1;
    for (int k = 0; k < walk->rank - 1; k++) {
        const int64_t rows = walk->loop[k].count;
        if (k == walk->rank - 2 && w->tiles == 1)
            w->rows = ha_smaller(rows, ha_larger(w->tile / count, 1));
        outer *= rows / w->rows + (rows % w->rows != 0);
    }
    w->units = outer * w->tiles;
}

HA_IN_ ha_status ha_apply_complete(const ha_asked *asked, ha_apply_plan *p) {
    int64_t k = 0;
    ha_apply_find_together(p);
    const ha_status s = ha_apply_make_patterns(asked, p);
    for (int64_t w = 0; w < p->walks && !s; w++) {
        p->walk[w].part = k;
        while (k < p->parts && p->part[k].walk == w) k++;
        p->walk[w].parts = k - p->walk[w].part;
        ha_apply_make_tiles(p, &p->walk[w]);
    }
    return s;
}

#endif
