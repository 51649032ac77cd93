/* Sorting by digits of keys on the host, the lowest ones first (Knuth, volume 3, algorithm 5.2.5R): by all in which keys differ, or by the
 * highest ones, if these tell nearly all elements apart, and the others are then inserted where they belong (MacLaren, Journal of the ACM
 * 13 (1966), 404-411; Knuth, section 5.2.5). What is moved from pass to pass is the keys where elements can be made of them again,
 * else the elements. */
#ifndef HARRAY_IMPL_OPS_SORT_DIGITS_H
#define HARRAY_IMPL_OPS_SORT_DIGITS_H

#include "sort_loops.h"

/* From so many elements on digits may be longer than 8 bits; digits of a key, at most. Bytes that the caches hold, and of a bucket of what
 * they do not; of room that is on the stack. */
enum {
    HA_SORT_MANY = 4096,
    HA_SORT_DIGIT = 11,
    HA_SORT_DIGITS = 8,
    HA_SORT_CACHED = 1 << 22,
    HA_SORT_BUCKET = 1 << 20,
    HA_SORT_STACK = 1 << 15
};

/* One of so many elements may be out of order to be mended; of so many that are looked at, so many may have bits in common. */
enum { HA_SORT_STRAYS = 64, HA_SORT_LEFT = 16, HA_SORT_LOOKED_AT = 128, HA_SORT_IN_COMMON = 6 };

/* Bits beyond those of the number of elements that tell nearly all apart. */
enum { HA_SORT_MORE = 5 };

/* ---- what is sorted ------------------------------------------------------------------------------ */

/* What is in the room, by the bytes from its beginning, where the counts are. 0: what is sorted itself serves. */
typedef struct ha_sort_layout {
    int64_t longest; /* elements of a bucket (sort_buckets.h); 0: all fits the caches */
    size_t keys[2], carried[2], all;
    size_t scratch[2]; /* keys of one bucket, and what goes along with them */
} ha_sort_layout;

/* Elements that are sorted by digits: those of a job, or of a bucket. */
typedef struct ha_sort_part {
    int64_t n;
    ha_sort_place from;       /* where they are at first */
    ha_sort_place other, end; /* where they are put in turns, and in the end */
    int kind;                 /* of keys at first; UNFOLD: elements are made of them in the end */
    uint64_t differ;          /* keys differ in none but these bits, perhaps not in all of them */
    int may_do;               /* so many of the highest ones may tell nearly all elements apart */
} ha_sort_part;

/* Digits that elements are sorted by, the highest one first. */
typedef struct ha_sort_digits_of {
    int bits, n;                     /* of each; how many */
    int shift[HA_SORT_DIGITS];       /* bits below each */
    uint32_t *begin[HA_SORT_DIGITS]; /* where the elements of each come to */
    int is_all;                      /* keys do not differ in others */
} ha_sort_digits_of;

HA_IN_ size_t ha_sort_take(ha_sort_layout *l, size_t element, int64_t n) {
    const size_t from = l->all;
    l->all += (element * (size_t)n + 7) / 8 * 8;
    return from;
}

HA_IN_ ha_sort_pass ha_sort_pass_of(const ha_sort_job *j, const ha_sort_part *p) {
    return (ha_sort_pass){.form = j->form,
                          .from = p->from,
                          .to = p->end,
                          .n = p->n,
                          .wide = j->carried == sizeof(uint64_t)};
}

HA_IN_ void ha_sort_copy(void *to, int64_t to_step, const void *from, int64_t from_step, int64_t n,
                         size_t bytes) {
    if (to != from) ha_copy_strided(1, &n, to, &to_step, from, &from_step, bytes);
}

/* ---- which digits -------------------------------------------------------------------------------- */

/* Bits from the lowest one that differs to the highest one. */
HA_IN_ int ha_sort_low(uint64_t differ) { return differ ? __builtin_ctzll(differ) : 0; }
HA_IN_ int ha_sort_span(uint64_t differ) {
    return differ ? 64 - __builtin_clzll(differ) - __builtin_ctzll(differ) : 0;
}

/* Of a digit: 8, or of many elements 11, if digits are fewer then. */
HA_IN_ int ha_sort_bits_of_digit(int64_t n, int span) {
    const int fewest = (span + HA_SORT_DIGIT - 1) / HA_SORT_DIGIT;
    const int bits = n < HA_SORT_MANY || 8 * fewest >= span ? 8 : HA_SORT_DIGIT;
    return span < bits ? span : bits;
}

/* The caches hold so many bytes, of one bucket so many. */
HA_IN_ ha_sort_layout ha_sort_layout_for(const ha_sort_job *j, size_t cached, size_t bucket) {
    const size_t moved = j->bytes + j->carried;
    ha_sort_layout l = {.longest = 0};
    if (j->n <= HA_SORT_FEW) return l;
    if (j->bytes >= sizeof(uint32_t) && moved * (size_t)j->n > cached)
        l.longest = (int64_t)(bucket / moved);
    const int width = 8 * (int)j->bytes;
    const int bits = ha_sort_bits_of_digit(l.longest ? HA_SORT_MANY : j->n, width);
    ha_sort_take(&l, sizeof(uint32_t) << bits, (width + bits - 1) / bits);
    if (j->what == HA_SORT_NUMBERS || j->x_step != 1) l.keys[0] = ha_sort_take(&l, j->bytes, j->n);
    l.keys[1] = ha_sort_take(&l, j->bytes, j->n);
    if (j->carried && j->q_step != 1) l.carried[0] = ha_sort_take(&l, j->carried, j->n);
    if (j->carried) l.carried[1] = ha_sort_take(&l, j->carried, j->n);
    l.scratch[0] = ha_sort_take(&l, j->bytes, l.longest);
    l.scratch[1] = ha_sort_take(&l, j->carried, l.longest);
    return l;
}

HA_IN_ ha_sort_layout ha_sort_layout_of(const ha_sort_job *j) {
    return ha_sort_layout_for(j, HA_SORT_CACHED, HA_SORT_BUCKET);
}

/* Are there NaNs or -0.0, perhaps? Their highest digits, as folded keys, are those from that of infinity to that of -infinity, and that of
 * all bits. */
HA_IN_ int ha_sort_is_nan_digit(const ha_sort_form *f, uint64_t digit, int shift) {
    return digit >= f->infinite >> shift && digit <= (f->ones ^ f->infinite) >> shift;
}
HA_IN_ int ha_sort_is_doubtful_digit(const ha_sort_form *f, uint64_t digit, int shift) {
    return digit == f->ones >> shift || ha_sort_is_nan_digit(f, digit, shift);
}
HA_IN_ int ha_sort_is_doubtful(const uint32_t *counts, const ha_sort_form *f, int shift) {
    uint32_t any = counts[f->ones >> shift];
    for (uint64_t digit = f->infinite >> shift; ha_sort_is_nan_digit(f, digit, shift); digit++)
        any |= counts[digit];
    return any != 0;
}

/* Of an element, before the bits of the form are changed. */
HA_IN_ uint64_t ha_sort_key_of(const ha_sort_job *j, const ha_sort_part *p, int64_t at) {
    const uint64_t element = ha_sort_read(p->from.keys, j->bytes, at);
    if (p->kind == HA_SORT_WHOLE) return ha_sort_key(element, &j->form) ^ j->form.change;
    const int is_changed = p->kind == HA_SORT_FOLD && element > j->form.magnitude;
    return is_changed ? element ^ j->form.magnitude : element;
}

HA_IN_ uint64_t ha_sort_differ(const ha_sort_job *j, const ha_sort_part *p) {
    const ha_sort_pass pass = ha_sort_pass_of(j, p);
    return ha_sort_differs[j->bytes == sizeof(uint64_t)][p->kind](&pass);
}

/* Folded keys become those of all reals, which differ in other bits. */
HA_IN_ void ha_sort_doubt(const ha_sort_job *j, ha_sort_part *p) {
    p->kind = HA_SORT_WHOLE;
    if (p->differ != j->form.ones) p->differ = ha_sort_differ(j, p);
}

/* In which bits do keys differ? If those of some differ in nearly all that all may differ in, nobody looks further. */
HA_IN_ void ha_sort_look(const ha_sort_job *j, ha_sort_part *p) {
    const int some = 8;
    const uint64_t first = ha_sort_key_of(j, p, 0);
    uint64_t differ = 0;
    if (j->bytes < sizeof(uint32_t)) return;
    for (int i = 1; i < some; i++) differ |= ha_sort_key_of(j, p, p->n * i / some + i) ^ first;
    if (ha_sort_span(differ) + 2 >= ha_sort_span(p->differ)) return;
    p->differ = ha_sort_differ(j, p);
    const int high = ha_sort_low(p->differ) + ha_sort_span(p->differ);
    if (p->kind == HA_SORT_FOLD && p->differ <= j->form.magnitude &&
        ha_sort_is_doubtful_digit(&j->form, first >> high, high))
        ha_sort_doubt(j, p);
}

/* Counts so many, side by side. 0: the order of folded keys was in doubt; now they are others, whose digits are to be chosen anew. */
HA_IN_ int ha_sort_count_digits(const ha_sort_job *j, ha_sort_part *p, uint32_t *counts, int shift,
                                int bits, int digits) {
    const int at_once = bits > 8 ? 3 : 4;
    ha_sort_pass pass = ha_sort_pass_of(j, p);
    pass.bits = bits;
    memset(counts, 0, sizeof *counts * (size_t)digits << bits);
    for (int digit = 0; digit < digits; digit += at_once) {
        const int left = digits - digit;
        pass.shift = shift + digit * bits;
        ha_sort_counts[__builtin_ctzll(j->bytes)][p->kind](&pass, left < at_once ? left : at_once,
                                                           counts + ((size_t)digit << bits));
    }
    if (p->kind != HA_SORT_FOLD || shift + digits * bits < 8 * (int)j->bytes ||
        !ha_sort_is_doubtful(counts + ((size_t)(digits - 1) << bits), &j->form,
                             shift + (digits - 1) * bits))
        return 1;
    ha_sort_doubt(j, p);
    return 0;
}

/* Do many have the bits from there on in common with another one? Of some that are looked at, by a hash of these bits (Knuth,
 * volume 3, section 6.4). */
HA_IN_ int ha_sort_is_crowded(const ha_sort_job *j, const ha_sort_part *p, int shift) {
    uint64_t seen[64] = {0};
    const int64_t some = p->n < HA_SORT_LOOKED_AT ? p->n : HA_SORT_LOOKED_AT;
    int common = 0;
    for (int64_t i = 0; i < some; i++) {
        const uint64_t key = ha_sort_key_of(j, p, p->n * i / some) >> shift;
        const uint64_t hash = key * 0x9e3779b97f4a7c15 >> 52, bit = (uint64_t)1 << hash % 64;
        common += (seen[hash / 64] & bit) != 0;
        seen[hash / 64] |= bit;
    }
    return common > HA_SORT_IN_COMMON;
}

/* Of how many pairs of elements, those of one and the same included, are the digits the same? Twice as many. */
HA_IN_ double ha_sort_squares(const uint32_t *counts, int bits) {
    uint64_t squares = 0;
    for (size_t digit = 0; digit < (size_t)1 << bits; digit++)
        squares += (uint64_t)counts[digit] * counts[digit];
    return (double)squares;
}

/* Counts become where digits begin, in the order of the digits with these bits changed. */
HA_FAST_ void ha_sort_begin_by(uint32_t *counts, uint32_t change, int bits) {
    const size_t digits = (size_t)1 << bits;
    uint32_t sum = 0;
    for (size_t digit = 0; digit < digits; digit++) {
        uint32_t *begin = &counts[digit ^ change];
        const uint32_t count = *begin;
        *begin = sum;
        sum += count;
    }
}
HA_IN_ void ha_sort_begin(uint32_t *counts, uint32_t change, int bits) {
    if (change)
        ha_sort_begin_by(counts, change, bits);
    else
        ha_sort_begin_by(counts, 0, bits); /* what most digits are, in fewer steps */
}

/* Those in which keys differ, from the highest one on: all, or until so few elements have them in common with another one, were they
 * independent of each other, that these can be mended. What may do is counted first. */
HA_IN_ ha_sort_digits_of ha_sort_choose(const ha_sort_job *j, ha_sort_part *p, int by_all,
                                        uint32_t *counts) {
    const int span = ha_sort_span(p->differ), high = ha_sort_low(p->differ) + span;
    const int bits = ha_sort_bits_of_digit(p->n, span), all = bits ? (span + bits - 1) / bits : 0;
    const int some = bits && p->may_do < span ? (p->may_do + bits - 1) / bits : all;
    const uint32_t mask = ((uint32_t)1 << bits) - 1;
    const uint64_t change = j->form.change;
    const double n = (double)p->n;
    ha_sort_digits_of d = {.bits = bits, .is_all = 1};
    double pairs = n * n / 2;
    for (int from = 0, to = by_all ? all : some; from < all; from = to, to = all) {
        const int lowest = high > to * bits ? high - to * bits : 0;
        if (!ha_sort_count_digits(j, p, counts, lowest, bits, to - from))
            return ha_sort_choose(j, p, by_all,
                                  counts); /* the highest ones tell: the first that are counted */
        const uint64_t first = ha_sort_key_of(j, p, 0);
        for (int digit = to - from - 1; digit >= 0; digit--) {
            const int shift = lowest + digit * bits, left = all - to + digit;
            uint32_t *begin = counts + ((size_t)digit << bits);
            if (begin[first >> shift & mask] == (uint64_t)p->n) continue;
            d.begin[d.n] = begin;
            d.shift[d.n++] = shift;
            const int more = left - (bits == 8 && to == all); /* one costs less than to mend */
            if (!by_all && more > 0) {
                pairs *= (ha_sort_squares(begin, bits) - n) / (n * n);
                d.is_all = pairs * (double)HA_SORT_STRAYS >= n;
                const double least = pairs / (double)((uint64_t)1 << bits * (more - 1));
                by_all = d.is_all ? least * (double)HA_SORT_STRAYS >= n
                                  : ha_sort_is_crowded(j, p, shift);
                d.is_all |= by_all;
            }
            ha_sort_begin(begin, (uint32_t)(change >> shift) & mask, bits);
            if (!d.is_all) return d;
        }
        counts += (size_t)(to - from) << bits;
    }
    return d;
}

/* ---- all passes ---------------------------------------------------------------------------------- */

/* A pass by these keys: the first one; one that leaves elements behind. */
HA_IN_ int ha_sort_kind_of(int kind, int is_first, int is_last) {
    if (kind != HA_SORT_FOLD && kind != HA_SORT_UNFOLD) return kind;
    if (kind == HA_SORT_FOLD && is_first) return is_last ? HA_SORT_WHOLE : HA_SORT_FOLD;
    return is_last ? HA_SORT_UNFOLD : HA_SORT_PLAIN;
}

HA_IN_ void ha_sort_move(const ha_sort_job *j, ha_sort_place from, ha_sort_place to, int64_t n) {
    ha_sort_copy(to.keys, 1, from.keys, 1, n, j->bytes);
    if (from.carried) ha_sort_copy(to.carried, 1, from.carried, 1, n, j->carried);
}

/* In passes; if there is no digit that not all have, to where they are to be. */
HA_IN_ void ha_sort_put_all(const ha_sort_job *j, ha_sort_part *p, const ha_sort_digits_of *d) {
    const int is_kept = j->what != HA_SORT_NUMBERS; /* else nobody needs keys in the end */
    const int is_home = p->from.keys == p->end.keys, kind = p->kind, passes = d->n ? d->n : 1;
    const int is_whole = p->from.carried || !j->carried; /* else numbers are still to be given */
    uint32_t none = 0;
    ha_sort_pass pass = ha_sort_pass_of(j, p);
    if (!d->n && is_whole && !(is_kept && kind == HA_SORT_UNFOLD)) {
        ha_sort_move(j, p->from, p->end, p->n);
        return;
    }
    if (d->n % 2 && is_home) {
        ha_sort_move(j, p->from, p->other, p->n);
        pass.from = p->other;
        if (!is_whole) pass.from.carried = NULL;
    }
    for (int k = 0; k < passes; k++) {
        const int is_last = k == passes - 1;
        pass.to = (passes - k) % 2 ? p->end : p->other;
        pass.bits = d->n ? d->bits : 0;
        pass.shift = d->n ? d->shift[passes - 1 - k] : 0;
        pass.begin = d->n ? d->begin[passes - 1 - k] : &none;
        if (is_last && !is_kept && d->is_all && pass.from.carried) pass.to.keys = NULL;
        ha_sort_puts[__builtin_ctzll(j->bytes)][ha_sort_kind_of(kind, k == 0, is_last && is_kept)](
            &pass);
        pass.from = pass.to;
    }
    p->from = p->end;
    if (kind == HA_SORT_FOLD || kind == HA_SORT_UNFOLD)
        p->kind = is_kept ? HA_SORT_FOLD : HA_SORT_UNFOLD;
}

/* Elements that are nearly in order are brought there; if too many are not, they are sorted by all digits: until then those with equal
 * keys are in order. */
HA_IN_ void ha_sort_by_digits(const ha_sort_job *j, ha_sort_part *p, uint32_t *counts) {
    for (int by_all = 0; by_all < 2; by_all++) {
        const ha_sort_digits_of d = ha_sort_choose(j, p, by_all, counts);
        ha_sort_put_all(j, p, &d);
        if (d.is_all) return;
        const ha_sort_pass pass = ha_sort_pass_of(j, p);
        if (ha_sort_mends[j->bytes == sizeof(uint64_t)][p->kind](&pass, p->n / HA_SORT_LEFT))
            return;
    }
}

/* ---- a job --------------------------------------------------------------------------------------- */

/* All of it, from where elements are without gaps, if need be copied there, and numbers are not yet. */
HA_IN_ ha_sort_part ha_sort_part_in(const ha_sort_job *j, const ha_sort_layout *l, char *room) {
    ha_sort_place place[2];
    for (int i = 0; i < 2; i++) {
        place[i].keys = l->keys[i] ? room + l->keys[i] : j->x;
        place[i].carried = l->carried[i] ? room + l->carried[i] : j->q;
    }
    ha_sort_part p = {.n = j->n,
                      .from = place[0],
                      .other = place[1],
                      .end = place[0],
                      .kind = !j->is_real                   ? HA_SORT_PLAIN
                              : j->bytes < sizeof(uint32_t) ? HA_SORT_WHOLE
                                                            : HA_SORT_FOLD,
                      .differ = j->form.ones,
                      .may_do = 32};
    if (j->what == HA_SORT_NUMBERS) p.from.carried = NULL;
    if (j->what == HA_SORT_NUMBERS && j->x_step == 1) p.from.keys = j->x;
    ha_sort_copy(p.from.keys, 1, j->x, j->x_step, j->n, j->bytes);
    ha_sort_look(j, &p);
    if (j->what == HA_SORT_VALUES)
        ha_sort_copy(p.from.carried, 1, j->q, j->q_step, j->n, j->carried);
    return p;
}

/* From where it is to where it is wanted. */
HA_IN_ void ha_sort_bring(const ha_sort_job *j, ha_sort_place end) {
    if (j->what != HA_SORT_NUMBERS) ha_sort_copy(j->x, j->x_step, end.keys, 1, j->n, j->bytes);
    if (j->carried) ha_sort_copy(j->q, j->q_step, end.carried, 1, j->n, j->carried);
}

HA_IN_ void ha_sort_in_caches(const ha_sort_job *j, const ha_sort_layout *layout, char *room) {
    ha_sort_part p = ha_sort_part_in(j, layout, room);
    ha_sort_by_digits(j, &p, (uint32_t *)(void *)room);
    ha_sort_bring(j, p.end);
}

#endif
