/* What a backend's queues must do with bytes: copies, copies of pieces, fills. */
#ifndef HARRAY_TESTS_BACKENDS_BACKEND_COPIES_H
#define HARRAY_TESTS_BACKENDS_BACKEND_COPIES_H

#include "backend_subject.h"

/* ---- copies --------------------------------------------------------------------------------- */

TEST(copies_move_their_bytes_and_no_others) {
    enum { GUARD = 64, BYTES = 1000, ALL = BYTES + 2 * GUARD };
    unsigned char before[ALL], bytes[BYTES], back[ALL];
    void *block = take(ALL);
    memset(before, 0xEE, sizeof before);
    for (size_t size = 1; size <= BYTES; size = 3 * size + 1) {
        for (size_t i = 0; i < size; i++) bytes[i] = (unsigned char)(i + size);
        memset(back, 0xDD, sizeof back);
        move(block, before, ALL);
        move(at(block, GUARD), bytes, size);
        move(back + 1, at(block, 1), ALL - 2);
        assert_int_equal(back[0], 0xDD);
        assert_int_equal(back[ALL - 1], 0xDD);
        assert_memory_equal(back + 1, before, GUARD - 1);
        assert_memory_equal(back + GUARD, bytes, size);
        assert_memory_equal(back + GUARD + size, before, ALL - 1 - GUARD - size);
    }
    give(block, ALL);
}

TEST(copies_inside_the_device) {
    const char text[] = "from here to there, and then to the other end";
    char back[sizeof text] = "";
    void *a = take(sizeof text), *b = take(4 * sizeof text);
    SUCCEEDS(ops->copy(queue, a, text, sizeof text));
    SUCCEEDS(ops->copy(queue, b, a, sizeof text));
    SUCCEEDS(ops->copy(queue, at(b, 3 * sizeof text), b, sizeof text));
    SUCCEEDS(ops->copy(queue, back, at(b, 3 * sizeof text), sizeof text));
    ops->drain(queue);
    assert_string_equal(back, text);
    give(a, sizeof text);
    give(b, 4 * sizeof text);
}

/* Large enough for a slow copy to be made in pieces. */
TEST(large_copies) {
    size_t n = (size_t)1 << 18, bytes = n * sizeof(uint32_t);
    uint32_t *numbers = (uint32_t *)malloc(bytes), *back = (uint32_t *)calloc(n, sizeof *back);
    void *block = take(bytes);
    assert_true(numbers != NULL && back != NULL);
    for (size_t i = 0; i < n; i++) numbers[i] = (uint32_t)i;
    move(block, numbers, bytes);
    move(back, block, bytes);
    assert_memory_equal(back, numbers, bytes);
    give(block, bytes);
    free(numbers);
    free(back);
}

/* ---- copies of pieces ----------------------------------------------------------------------- */

/* Rows and planes, and the distances of one side and the other: packed, with gaps between rows, between
 * planes, everywhere. */
static const ha_strided_copy shapes[] = {
    PITCHED(1, 1, 1, 1, 1, 1, 1),
    PITCHED(40, 1, 1, 50, 50, 40, 40),
    PITCHED(3, 7, 1, 3, 21, 10, 70),
    PITCHED(8, 9, 1, 24, 216, 8, 72),
    PITCHED(5, 4, 3, 5, 20, 5, 20),
    PITCHED(5, 4, 3, 7, 28, 5, 25),
    PITCHED(4, 1, 6, 4, 12, 8, 32),
    PITCHED(4, 6, 5, 12, 96, 16, 112),
    PITCHED(16, 3, 4, 32, 96, 48, 192),
    PITCHED(100, 5, 2, 128, 640, 100, 1000),
    PITCHED(700, 3, 3, 701, 2103, 800, 2400),
};
enum { SHAPES = sizeof shapes / sizeof *shapes, MOST_PIECES = 8000, SHIFT = 11 };

/* What a copy has to do. */
static void expect_pieces(unsigned char *to, const unsigned char *from, const ha_strided_copy *p) {
    for (size_t z = 0; z < p->count[1]; z++)
        for (size_t y = 0; y < p->count[0]; y++)
            for (size_t x = 0; x < p->bytes; x++)
                to[z * p->to_step[1] + y * p->to_step[0] + x] =
                    from[z * p->from_step[1] + y * p->from_step[0] + x];
}

static void number(unsigned char *bytes, size_t n, unsigned first) {
    for (size_t i = 0; i < n; i++) bytes[i] = (unsigned char)(first + i * 7 + i / 250);
}

/* From a to b, on the host or on the device, and then what is there. */
static void move_pieces(int up, int down, const ha_strided_copy *p) {
    static unsigned char source[MOST_PIECES], is[MOST_PIECES], should[MOST_PIECES];
    void *a = up ? NULL : take(sizeof source), *b = down ? NULL : take(sizeof is);
    number(source, sizeof source, 1);
    number(is, sizeof is, 100);
    memcpy(should, is, sizeof is);
    expect_pieces(should + SHIFT, source + SHIFT, p);
    if (!up) move(a, source, sizeof source);
    if (!down) move(b, is, sizeof is);
    SUCCEEDS(copy_pitched(ops, queue, at(down ? is : b, SHIFT), at(up ? source : a, SHIFT), p));
    ops->drain(queue);
    if (!down) move(is, b, sizeof is);
    assert_memory_equal(is, should, sizeof is);
    if (a != NULL) give(a, sizeof source);
    if (b != NULL) give(b, sizeof is);
}

TEST(pieces_move_their_bytes_and_no_others) {
    for (size_t i = 0; i < SHAPES; i++) {
        const ha_strided_copy p = shapes[i], q = pitched_turned(&p);
        move_pieces(1, 0, &p);
        move_pieces(1, 0, &q);
        move_pieces(0, 1, &p);
        move_pieces(0, 1, &q);
        move_pieces(0, 0, &p);
        move_pieces(0, 0, &q);
    }
}

/* The halves of rows change places, on several ways, and nothing is waited for: something in front
 * writes each source, something behind reads each target. */
TEST(pieces_are_copied_in_order) {
    enum { SIDE = 30, BYTES = SIDE * SIDE };
    const ha_strided_copy half = PITCHED(SIDE / 2, SIDE, 1, SIDE, BYTES, SIDE, BYTES);
    unsigned char source[BYTES], middle[BYTES], back[BYTES];
    void *a = take(BYTES), *b = take(BYTES);
    number(source, BYTES, 5);
    memset(middle, 0, BYTES);
    memset(back, 0, BYTES);
    SUCCEEDS(ops->copy(queue, a, source, BYTES));
    SUCCEEDS(copy_pitched(ops, queue, b, at(a, SIDE / 2), &half));
    SUCCEEDS(copy_pitched(ops, queue, at(b, SIDE / 2), a, &half));
    SUCCEEDS(copy_pitched(ops, queue, a, at(b, SIDE / 2), &half));
    SUCCEEDS(copy_pitched(ops, queue, middle, b, &half));
    SUCCEEDS(copy_pitched(ops, queue, middle + SIDE / 2, a, &half));
    SUCCEEDS(copy_pitched(ops, queue, a, middle, &half));
    SUCCEEDS(copy_pitched(ops, queue, at(a, SIDE / 2), middle + SIDE / 2, &half));
    SUCCEEDS(ops->copy(queue, back, a, BYTES));
    ops->drain(queue);
    for (size_t y = 0; y < SIDE; y++) {
        assert_memory_equal(back + y * SIDE, source + y * SIDE + SIDE / 2, SIDE / 2);
        assert_memory_equal(back + y * SIDE + SIDE / 2, source + y * SIDE, SIDE / 2);
    }
    give(a, BYTES);
    give(b, BYTES);
}

/* Large enough to be made in several parts, which begin and end anywhere: long rows, many short ones,
 * many planes. */
TEST(large_pieces) {
    static const ha_strided_copy large[] = {
        PITCHED(300001, 3, 1, 300007, 900021, 300001, 900003),
        PITCHED(8, 100000, 1, 16, 1600000, 8, 800000),
        PITCHED(700, 10, 130, 710, 7100, 700, 7700),
    };
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        const ha_strided_copy *p = &large[i];
        const size_t from_bytes = p->count[1] * p->from_step[1],
                     to_bytes = p->count[1] * p->to_step[1];
        unsigned char *source = (unsigned char *)malloc(from_bytes);
        unsigned char *is = (unsigned char *)calloc(from_bytes, 1);
        unsigned char *should = (unsigned char *)calloc(from_bytes, 1);
        const ha_strided_copy q = pitched_turned(p),
                              same = PITCHED(p->bytes, p->count[0], p->count[1], p->from_step[0],
                                             p->from_step[1], p->from_step[0], p->from_step[1]);
        void *block = take(to_bytes);
        assert_true(source && is && should);
        number(source, from_bytes, (unsigned)i);
        SUCCEEDS(copy_pitched(ops, queue, block, source, p));
        SUCCEEDS(copy_pitched(ops, queue, is, block, &q));
        ops->drain(queue);
        expect_pieces(should, source, &same);
        assert_memory_equal(is, should, from_bytes);
        give(block, to_bytes);
        free(source);
        free(is);
        free(should);
    }
}

/* By a backend without the slot that is wrapped. */
TEST(pieces_can_be_refused) {
    char text[] = "text";
    void *block = take(sizeof text);
    assert_null(private_backend.queue->copy_strided);
    ha_strided_copy piece = shapes[0];
    piece.to = block, piece.from = text;
    assert_int_equal(ops->copy_strided(queue, &piece, 1), HA_ERR_UNSUPPORTED);
    give(block, sizeof text);
}

/* ---- fills ---------------------------------------------------------------------------------- */

TEST(fills_repeat_a_value) {
    static const size_t sizes[] = {1, 3, 8, 100}, counts[] = {1, 2, 1000, 1500};
    enum { GUARD = 16, MOST = 150000 };
    static unsigned char bytes[MOST + 2 * GUARD];
    unsigned char value[100];
    void *block = take(sizeof bytes);
    for (size_t i = 0; i < 16; i++) {
        size_t size = sizes[i % 4], count = counts[i / 4];
        memset(bytes, 0xEE, sizeof bytes);
        move(block, bytes, sizeof bytes);
        for (size_t j = 0; j < size; j++) value[j] = (unsigned char)(j + i);
        const ha_status filled = ops->fill(queue, at(block, GUARD), value, size, count);
        if (filled == HA_ERR_UNSUPPORTED && !(has & ANY_FILLS)) continue;
        assert_int_equal(filled, HA_OK);
        memset(value, 0, sizeof value); /* it was copied */
        move(bytes, block, sizeof bytes);
        for (size_t j = 0; j < GUARD; j++) assert_int_equal(bytes[j], 0xEE);
        for (size_t j = 0; j < size * count; j++)
            assert_int_equal(bytes[GUARD + j], (unsigned char)(j % size + i));
        for (size_t j = 0; j < GUARD; j++) assert_int_equal(bytes[GUARD + size * count + j], 0xEE);
    }
    give(block, sizeof bytes);
}

#endif
