/* Cases of cases_records.c: one array over several allocations of the caller. Each of them is a field of
 * the record: in the layout "soa" it has a blob of its own, which on the host is the piece where it is. On a
 * device all pieces are in one block. */
#ifndef HARRAY_TESTS_RECORDS_RECORDS_PIECES_H
#define HARRAY_TESTS_RECORDS_RECORDS_PIECES_H

enum { PIECES = 9, LINES = 6, LINE = 7, PIECE = LINES * LINE };
static const int64_t piece_extent[] = {LINES, LINE};

typedef struct in_pieces {
    ha_record *record; /* p[0], p[1], … */
    ha_records *r;
    void *piece[PIECES];
} in_pieces;

/* What an element is in the beginning. */
static double piece_value(int k, int i) { return 1000 * k + i; }

static void pieces_allocated(in_pieces *x) {
    x->record = ha_record_parse("p[9]:f64", NULL);
    assert_non_null(x->record);
    for (int k = 0; k < PIECES; k++) {
        double *p = (double *)malloc(PIECE * sizeof *p);
        assert_non_null(x->piece[k] = p);
        for (int i = 0; i < PIECE; i++) p[i] = piece_value(k, i);
    }
}

static ha_records *pieces_wrapped(const in_pieces *x, unsigned flags) {
    ha_mapping *m = ha_mapping_parse(x->record, "soa", 2, piece_extent, NULL);
    assert_non_null(m);
    ha_records *r = ha_records_wrap(&(ha_mapped){m, x->piece}, H, flags);
    ha_mapping_free(m);
    return r;
}

static in_pieces pieces_at_hand(void) {
    in_pieces x;
    ha_context *const devices[] = {C, M1, M2};
    pieces_allocated(&x);
    assert_non_null(x.r = pieces_wrapped(&x, 0));
    ha_records_set_name(x.r, "grid");
    for (int d = 0; d < 3; d++) SUCCEEDS(ha_records_layout(x.r, devices[d], "soa"));
    return x;
}

static void pieces_freed(in_pieces *x) {
    for (int k = 0; k < PIECES; k++) free(x->piece[k]);
    ha_record_free(x->record);
}

/* ---- work on them ---------------------------------------------------------------------------- */

typedef struct piece_work {
    double *at[PIECES]; /* NULL: not this one */
    int first, last;    /* lines */
    double add;
} piece_work;

static void add_to_pieces(const ha_queue *queue, void *argument) {
    const piece_work *w = (const piece_work *)argument;
    for (int k = 0; k < PIECES; k++) {
        double *p = w->at[k] ? HA_HERE(queue, double, w->at[k]) : NULL;
        for (int i = w->first * LINE; p && i < w->last * LINE; i++) p[i] += w->add;
    }
}

/* Adds to these lines of pieces [from, to), which `what` names. */
static ha_status pieces_add(const in_pieces *x, ha_context *c, const char *what, int from, int to,
                            int first, int last, double add) {
    ha_records_access v;
    piece_work w = {.first = first, .last = last, .add = add};
    ha_status s = ha_records_open(&v, x->r, c, what, (size_t)first, (size_t)last);
    if (s) return s;
    for (int k = from; k < to; k++) w.at[k] = (double *)v.blob[k];
    s = ha_records_run(add_to_pieces, &v, &w, sizeof w);
    assert_int_equal(ha_records_close(&v), HA_OK);
    return s;
}

/* ---- cases ----------------------------------------------------------------------------------- */

TEST(pieces_are_where_they_were) {
    in_pieces x = pieces_at_hand();
    ha_records_access v;
    SUCCEEDS(ha_records_open(&v, x.r, H, "read p[1]+p[2]+p[3]", 0, HA_END));
    for (int k = 0; k < PIECES; k++) assert_ptr_equal(v.blob[k], x.piece[k]);
    SUCCEEDS(ha_records_close(&v));
    SUCCEEDS(ha_records_open(&v, x.r, M1, "read", 0, HA_END)); /* one block there */
    const uintptr_t apart = (uintptr_t)v.blob[1] - (uintptr_t)v.blob[0];
    for (int k = 1; k < PIECES; k++)
        assert_int_equal((uintptr_t)v.blob[k] - (uintptr_t)v.blob[k - 1], apart);
    assert_true(apart >= PIECE * sizeof(double) && apart < PIECE * sizeof(double) + 64);
    SUCCEEDS(ha_records_close(&v));
    SUCCEEDS(pieces_add(&x, M1, "write p", 0, PIECES, 0, LINES, 0.5));
    SUCCEEDS(ha_records_sync(x.r));
    for (int k = 0; k < PIECES; k++)
        for (int i = 0; i < PIECE; i++)
            assert_true(((double *)x.piece[k])[i] == piece_value(k, i) + 0.5);
    assert_int_equal(moved(x.r), 2 * PIECES * PIECE * sizeof(double));
    SUCCEEDS(ha_records_unwrap(x.r));
    pieces_freed(&x);
}

/* Dense on a device, of one field as of an array. */
TEST(pieces_without_gaps) {
    in_pieces x = pieces_at_hand();
    ha_records_access v;
    SUCCEEDS(ha_records_layout(x.r, M1, "soa(single)"));
    SUCCEEDS(ha_records_open(&v, x.r, M1, "write", 0, HA_END));
    assert_int_equal(v.mapping->blobs, 1);
    piece_work w = {.at = {(double *)v.blob[0]}, .last = PIECES * LINES, .add = 2};
    SUCCEEDS(ha_records_run(add_to_pieces, &v, &w, sizeof w));
    SUCCEEDS(ha_records_close(&v));
    SUCCEEDS(ha_records_unwrap(x.r));
    for (int k = 0; k < PIECES; k++)
        for (int i = 0; i < PIECE; i++)
            assert_true(((double *)x.piece[k])[i] == piece_value(k, i) + 2);
    pieces_freed(&x);
}

TEST(pieces_move_that_are_missing) {
    in_pieces x = pieces_at_hand();
    const uint64_t line = LINE * sizeof(double);
    SUCCEEDS(pieces_add(&x, M1, "write p[3]", 3, 4, 2, 4, 1));
    assert_int_equal(moved(x.r), 2 * line);
    SUCCEEDS(try_open(x.r, H, "read p[2]+p[4], write p[5]", 0, HA_END));
    SUCCEEDS(try_open(x.r, H, "read p[3]", 4, HA_END));
    assert_int_equal(moved(x.r), 2 * line);
    SUCCEEDS(
        try_open(x.r, H, "read p", 3, HA_END)); /* the pieces as they go on, and a line of one */
    assert_int_equal(moved(x.r), 3 * line);
    SUCCEEDS(
        pieces_add(&x, M2, "write p[3]+p[4]", 3, 5, 0, LINES, 1)); /* what is only at M1, too */
    assert_int_equal(moved(x.r), 3 * line + 2 * LINES * line + line);
    SUCCEEDS(ha_records_sync(x.r));
    for (int k = 0; k < PIECES; k++)
        for (int i = 0; i < PIECE; i++)
            assert_true(((double *)x.piece[k])[i] == piece_value(k, i) + (k == 3 || k == 4) +
                                                         (k == 3 && i / LINE >= 2 && i / LINE < 4));
    SUCCEEDS(ha_records_unwrap(x.r));
    pieces_freed(&x);
}

TEST(pieces_conflict_by_piece) {
    in_pieces x = pieces_at_hand();
    visitor other;
    visit(&other, x.r, M1, "write p[3]");
    await_flag(&other.opened);
    SUCCEEDS(pieces_add(&x, C, "try write p[2]+p[4], read p[5]", 4, 5, 0, LINES, 1));
    SUCCEEDS(pieces_add(&x, H, "try write p[2]", 2, 3, 0, LINES, 1));
    REFUSED(HA_ERR_BUSY, try_open(x.r, H, "try read p[3]", 1, 2));
    REFUSED(HA_ERR_BUSY, try_open(x.r, H, "try read", 1, 2));
    REFUSED(HA_ERR_CONFLICT, ha_records_unwrap(x.r));
    leave(&other);
    SUCCEEDS(ha_records_unwrap(x.r));
    for (int k = 0; k < PIECES; k++)
        assert_true(((double *)x.piece[k])[5] == piece_value(k, 5) + (k == 2 || k == 4));
    pieces_freed(&x);
}

/* They stay what they are until they are handed back. */
TEST(pieces_are_the_callers) {
    in_pieces x = pieces_at_hand();
    const int64_t more[] = {LINES + 1, LINE};
    REFUSED_SAYING(HA_ERR_STATE, "records 'grid' (record[6, 7]): their memory is the caller's",
                   ha_records_resize(x.r, more));
    REFUSED_SAYING(HA_ERR_STATE,
                   "records 'grid' (record[6, 7]) at host: its memory is the caller's",
                   ha_records_layout(x.r, H, "aos"));
    SUCCEEDS(ha_records_layout(x.r, H, "soa")); /* which it has */
    assert_null(pieces_wrapped(&x, 0));
    expect_told(HA_ERR_STATE, "ha_records_wrap",
                "records 'grid' (record[6, 7]) owns some of blob 0 ");
    harray_double one = harray_double_wrap((double *)x.piece[4], 3);
    assert_null(one.array);
    assert_int_equal(ha_take_error().status, HA_ERR_STATE);
    SUCCEEDS(pieces_add(&x, M1, "write p[8]", 8, 9, 0, LINES, 7));
    SUCCEEDS(ha_records_free(x.r)); /* which brings the values, and frees nothing of the caller's */
    assert_true(((double *)x.piece[8])[1] == piece_value(8, 1) + 7);
    x.r = pieces_wrapped(&x, HA_WRAP_CONST);
    SUCCEEDS(try_open(x.r, M2, "read", 0, HA_END));
    REFUSED(HA_ERR_STATE, try_open(x.r, M2, "write p[1]", 0, HA_END));
    SUCCEEDS(ha_records_unwrap(x.r));
    x.r = pieces_wrapped(&x, HA_WRAP_UNWRITTEN);
    assert_false(ha_records_valid(x.r, H, "p[0]", 0, HA_END));
    SUCCEEDS(try_open(x.r, H, "overwrite p[0]", 0, HA_END));
    assert_true(ha_records_valid(x.r, H, "p[0]", 0, HA_END));
    SUCCEEDS(ha_records_unwrap(x.r));
    pieces_freed(&x);
}

/* Each piece is looked at, and none is kept when one is wrong. */
TEST(pieces_that_do_not_do) {
    in_pieces x;
    pieces_allocated(&x);
    void *const good = x.piece[5];
    x.piece[5] = NULL;
    assert_null(pieces_wrapped(&x, 0));
    expect_told(HA_ERR_ARGUMENT, "ha_records_wrap", "a blob at NULL (blob 5 of 9");
    x.piece[5] = (char *)good + 1;
    assert_null(pieces_wrapped(&x, 0));
    expect_told(HA_ERR_ARGUMENT, "ha_records_wrap",
                "a blob that is not aligned as its layout asks for (blob 5 of 9");
    x.piece[5] = (double *)x.piece[7] + LINE;
    assert_null(pieces_wrapped(&x, 0));
    const ha_error e = ha_take_error();
    assert_int_equal(e.status, HA_ERR_ARGUMENT);
    assert_non_null(strstr(e.text, "two blobs overlap"));
    x.piece[5] = good;
    assert_non_null(x.r = pieces_wrapped(&x, 0));
    SUCCEEDS(ha_records_unwrap(x.r));
    pieces_freed(&x);
}

/* A table with the text of a layout that it has not. */
TEST(pieces_in_another_order) {
    in_pieces x;
    pieces_allocated(&x);
    ha_mapping *m = ha_mapping_parse(x.record, "soa", 2, piece_extent, NULL), turned = *m;
    ha_row row[PIECES];
    for (int k = 0; k < PIECES; k++) {
        row[k] = m->row[k];
        row[k].blob = PIECES - 1 - k;
    }
    turned.row = row;
    assert_non_null(x.r = ha_records_wrap(&(ha_mapped){&turned, x.piece}, H, 0));
    REFUSED(HA_ERR_STATE, ha_records_layout(x.r, H, "soa"));
    SUCCEEDS(ha_records_layout(x.r, M1, "soa"));
    SUCCEEDS(pieces_add(&x, M1, "write p[8]", 8, 9, 0, LINES, 7));
    SUCCEEDS(ha_records_unwrap(x.r));
    assert_true(((double *)x.piece[0])[1] == piece_value(0, 1) + 7);
    ha_mapping_free(m);
    pieces_freed(&x);
}

/* Any pieces and lines, anywhere, against one plain copy. */
TEST(pieces_at_random) {
    in_pieces x = pieces_at_hand();
    ha_context *const places[] = {H, C, M1, M2};
    static double plain[PIECES][PIECE];
    uint32_t random = 12345;
    for (int k = 0; k < PIECES; k++)
        for (int i = 0; i < PIECE; i++) plain[k][i] = piece_value(k, i);
    for (int n = 0; n < share_of(300); n++) {
        char what[200] = "write ";
        random = random * 1664525 + 1013904223;
        const int from = (int)(random >> 8) % PIECES, first = (int)(random >> 12) % LINES;
        const int to = from + 1 + (int)(random >> 16) % (PIECES - from);
        const int last = first + 1 + (int)(random >> 20) % (LINES - first);
        for (int k = from; k < to; k++) {
            const size_t at = strlen(what);
            snprintf(what + at, sizeof what - at, "%sp[%d]", k > from ? "+" : "", k);
            for (int i = first * LINE; i < last * LINE; i++) plain[k][i] += n;
        }
        SUCCEEDS(pieces_add(&x, places[random >> 30], what, from, to, first, last, n));
    }
    SUCCEEDS(ha_records_unwrap(x.r));
    for (int k = 0; k < PIECES; k++) assert_memory_equal(x.piece[k], plain[k], sizeof plain[k]);
    pieces_freed(&x);
}

#endif
