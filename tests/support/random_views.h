/* Random numbers, the same for the same state, and views with other orders, steps, and backwards. To be included behind
 * harray.h. */
#ifndef HARRAY_TESTS_SUPPORT_RANDOM_VIEWS_H
#define HARRAY_TESTS_SUPPORT_RANDOM_VIEWS_H

static uint64_t random_state = 1;
static int64_t draw(int64_t n) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((random_state >> 33) % (uint64_t)n);
}

/* A view of these extents, none of which is 0, and the storage on the host that it is in: *storage. */
static darray random_view(ha_type type, int rank, const int64_t *extent, darray *storage) {
    int64_t order[HA_MOST_RANK], back[HA_MOST_RANK], step[HA_MOST_RANK], first[HA_MOST_RANK];
    const int plain = draw(3) == 0;
    ha_shape room = {.rank = rank, .order = !plain && draw(2) ? HA_COLUMN_MAJOR : HA_ROW_MAJOR};
    for (int d = 0; d < rank; d++) order[d] = d;
    for (int d = rank - 1; d > 0 && !plain; d--) {
        const int64_t e = draw(d + 1), swapped = order[d];
        order[d] = order[e];
        order[e] = swapped;
    }
    for (int d = 0; d < rank; d++) {
        step[d] = plain || draw(3) ? 1 : 2;
        first[d] = plain ? 0 : draw(2);
        back[d] = order[d];
        room.extent[order[d]] = first[d] + (extent[d] - 1) * step[d] + 1 + (plain ? 0 : draw(2));
    }
    *storage = darray_make_of(type, &room, ha_host());
    darray view = darray_permute(*storage, back);
    for (int d = 0; d < rank; d++) {
        view = darray_slice(view, d, first[d], first[d] + (extent[d] - 1) * step[d] + 1, step[d]);
        if (!plain && draw(4) == 0) view = darray_flip(view, d);
    }
    return view;
}

#endif
