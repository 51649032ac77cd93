/* Arrays over the caller's memory, on the host and on devices. On the contexts of support/matrix.h;
 * syncing it and handing it back are in cases_unwrap.c. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"
#include "../support/wrapped.h"

/* ---- H. cases ------------------------------------------------------------------------------- */

TEST(wrapped_memory_is_used) {
    harray_double x = wrapped();
    assert_true(VALID(x, H));
    assert_int_equal(CAPACITY(x, H), N);
    HA_WRITING(v, x, C) fill(&v, 1);
    else fail();
    step();
    HA_READING(v, x, H) {
        assert_ptr_equal(v.data, buffer);
        BUFFER(1, 0);
    }
    else fail();
    drop(x);
    BUFFER(1, 0);
}

#define TOO_LARGE(call)                                                                            \
    do {                                                                                           \
        assert_int_equal(call, HA_ERR_STATE);                                                      \
        const ha_error e = ha_take_error();                                                        \
        assert_int_equal(e.status, HA_ERR_STATE);                                                  \
        assert_non_null(strstr(e.text, "the caller's"));                                           \
        expect_unchanged(x, &before);                                                              \
    } while (0)

/* Nowhere can the array have more elements than the caller's memory. */
TEST(wrapped_memory_does_not_grow) {
    harray_double x = wrapped();
    touch(x, C);
    const snapshot before = snapshot_of(x);
    ha_access v;
    TOO_LARGE(harray_double_resize(x, N + 1));
    TOO_LARGE(ha_array_reserve(x.array, H, N + 1));
    TOO_LARGE(ha_array_reserve(x.array, C, 2 * N));
    TOO_LARGE(ha_overwrite(&v, x.array, H, N + 1, HA_WAIT));
    TOO_LARGE(ha_overwrite(&v, x.array, C, 2 * N, HA_TRY));
    TOO_LARGE(ha_overwrite(&v, x.array, M1, HA_END, HA_WAIT));
    ha_context *places[] = {H, C, M1};
    for (size_t i = 0; i < 3; i++) {
        HA_WRITING(w, x, places[i]) {
            const ha_write_double was = w;
            const uint64_t version = ha_array_version(x.array);
            REFUSED(HA_ERR_STATE, ha_access_resize(&w, 2 * N));
            REFUSED(HA_ERR_STATE, ha_access_reserve(&w, N + 1));
            assert_memory_equal(&w, &was, offsetof(ha_write_double, status));
            assert_int_equal(ha_array_version(x.array), version);
            SUCCEEDS(ha_access_reserve(&w, N));
            SUCCEEDS(ha_access_resize(&w, N / 2));
            SUCCEEDS(ha_access_resize(&w, N));
        }
        else fail();
    }
    SUCCEEDS(ha_array_reserve(x.array, H, N));
    SUCCEEDS(harray_double_resize(x, N));
    SUCCEEDS(harray_double_resize(x, 3));
    assert_int_equal(CAPACITY(x, H), N);
    VALUES(x, 0, 1, 2);
    drop(x);
}

/* Nobody writes const memory: not at the host, and no other place either. */
static void refuse_writing(harray_double x, ha_context *context) {
    const unsigned hows[] = {HA_WRITE, HA_OVERWRITE, HA_WRITE | HA_TRY};
    const snapshot before = snapshot_of(x);
    for (size_t i = 0; i < 3; i++) {
        ha_access v;
        REFUSED(HA_ERR_STATE, ha_open(&v, x.array, context, hows[i], 0, HA_END));
        REFUSED(HA_ERR_STATE, ha_open(&v, x.array, context, hows[i], 1, 2));
        REFUSED(HA_ERR_STATE, ha_open(&v, x.array, context, hows[i], 2, 2));
        REFUSED(HA_ERR_STATE, ha_overwrite(&v, x.array, context, 5 - i, HA_WAIT));
    }
    HA_WRITING(v, x, context) fail();
    else expect_text(HA_ERR_STATE, "ha_open", "cases_wrap.c:", "const memory of the caller's");
    expect_unchanged(x, &before);
}

TEST(constant_memory_is_only_read) {
    harray_double x = keep(harray_double_wrap_const(constants, 5)), y = ramp(5);
    assert_int_equal(harray_double_size(x), 5);
    refuse_writing(x, H);
    refuse_writing(x, C);
    touch(x, C);
    refuse_writing(x, C);
    refuse_writing(x, M1);
    const snapshot before = snapshot_of(x);
    REFUSED(HA_ERR_STATE, harray_double_set(x, 1, 7));
    REFUSED(HA_ERR_STATE, harray_double_resize(x, 5));
    REFUSED(HA_ERR_STATE, harray_double_resize(x, 2));
    REFUSED(HA_ERR_STATE, ha_array_clear(x.array));
    REFUSED(HA_ERR_STATE, ha_array_purge(x.array));
    REFUSED(HA_ERR_STATE, harray_double_assign(x, y));
    REFUSED(HA_ERR_STATE, ha_array_assign_at(x.array, y.array, H));
    expect_unchanged(x, &before);
    VALUES(x, 5, 6, 2, 3, -5);
    assert_true(sum_at(x, C) == 11 && sum_at(x, M1) == 11 && sum_at(x, M2) == 11);
    SUCCEEDS(harray_double_sync(x));
    SUCCEEDS(part(&x));
    assert_null(x.array);
    drop(y);
}

/* Freeing is the last chance: what a device wrote comes back. */
TEST(freeing_brings_values_back) {
    ha_context *places[] = {M1, C, H};
    for (size_t i = 0; i < 3; i++) {
        harray_double x = wrapped();
        add_at(x, places[i], 2);
        drop(x);
        BUFFER(2, 1);
        expect_unused(buffer, sizeof buffer);
    }
}

TEST(wrapping_no_memory) {
    const ha_wrapped nowhere = {NULL, C, 0};
    REFUSED_NULL(HA_ERR_ARGUMENT, harray_double_wrap(NULL, 1).array);
    REFUSED_NULL(HA_ERR_ARGUMENT, harray_double_wrap_const(NULL, 1).array);
    REFUSED_NULL(HA_ERR_ARGUMENT, harray_double_wrap_at(NULL, 1, C).array);
    REFUSED_NULL(HA_ERR_ARGUMENT, ha_array_wrap(harray_double_type(), 1, &nowhere, 1));
}

/* An ordinary empty array, that may be handed back as any other while it is empty. */
TEST(wrapping_an_empty_array) {
    harray_double x = keep(harray_double_wrap(NULL, 0)), y = keep(harray_double_wrap(buffer, 0));
    assert_int_equal(harray_double_size(x), 0);
    HA_READING(v, x, C) assert_int_equal(v.size, 0);
    else fail();
    SUCCEEDS(harray_double_sync(x));
    SUCCEEDS(part(&x));
    SUCCEEDS(harray_double_resize(y, 3));
    HA_OVERWRITING_ALL(v, y, C) fill(&v, 4);
    else fail();
    SUCCEEDS(harray_double_sync(y));
    REFUSED(HA_ERR_STATE, part(&y)); /* its values would be lost */
    VALUES(y, 4, 4, 4);
    SUCCEEDS(ha_array_purge(y.array));
    drop(y);
}

/* ---- whole arrays --------------------------------------------------------------------------- */

TEST(the_memory_stays_with_its_array) {
    harray_double x = wrapped(), y = ramp(4);
    const snapshot before = snapshot_of(x), other = snapshot_of(y);
    REFUSED(HA_ERR_STATE, harray_double_swap(x, y));
    REFUSED(HA_ERR_STATE, harray_double_swap(y, x));
    REFUSED(HA_ERR_STATE, ha_array_take(x.array, y.array));
    REFUSED(HA_ERR_STATE, ha_array_take(y.array, x.array));
    assert_int_equal(ha_array_purge(x.array), HA_ERR_STATE);
    expect_text(HA_ERR_STATE, "ha_array_purge", "double[10]", "the caller's");
    SUCCEEDS(harray_double_swap(x, x));
    expect_unchanged(x, &before);
    expect_unchanged(y, &other);
    drop(x);
    drop(y);
}

TEST(assigning_copies_into_the_memory) {
    harray_double x = wrapped(), y = list_at(C), large = ramp(N + 1);
    SUCCEEDS(harray_double_assign(x, y));
    SUCCEEDS(harray_double_sync(x));
    VALUES(x, 5, 6, 2, 3, -5);
    assert_true(buffer[0] == 5 && buffer[4] == -5 && buffer[5] == 5);
    SUCCEEDS(harray_double_resize(y, 2));
    SUCCEEDS(ha_array_assign_at(x.array, y.array, M1));
    SUCCEEDS(harray_double_sync(x));
    assert_true(buffer[1] == 6 && buffer[2] == 2);
    const snapshot before = snapshot_of(x);
    assert_int_equal(harray_double_assign(x, large), HA_ERR_STATE);
    expect_text(HA_ERR_STATE, "ha_array_assign", "double[2]", "room for 10 elements");
    REFUSED(HA_ERR_STATE, ha_array_assign_at(x.array, large.array, C));
    expect_unchanged(x, &before);
    SUCCEEDS(harray_double_assign(x, x));
    drop(x);
    drop(y);
    drop(large);
}

/* Copies are ordinary arrays. */
TEST(copies_have_memory_of_their_own) {
    harray_double x = wrapped(), z = list_at(C);
    touch(x, C);
    harray_double y = keep(harray_double_copy(x));
    harray_double of_const = keep(harray_double_wrap_const(constants, 5));
    SUCCEEDS(harray_double_assign(z, of_const));
    add_at(y, C, 5);
    add_at(z, H, 1);
    HA_WRITING(v, y, H) assert_ptr_not_equal(v.data, buffer);
    else fail();
    SUCCEEDS(harray_double_resize(y, 2 * N));
    SUCCEEDS(ha_array_purge(y.array));
    BUFFER(0, 1);
    VALUES(z, 6, 7, 3, 4, -4);
    VALUES(of_const, 5, 6, 2, 3, -5);
    harray_double like = keep(harray_double_from(ha_array_like(of_const.array)));
    SUCCEEDS(harray_double_resize(like, 99));
    drop(x);
    drop(y);
    drop(z);
    drop(of_const);
    drop(like);
}

/* What passes the host may use the caller's memory on the way; const memory has the values. */
TEST(staging_through_the_memory) {
    harray_double x = wrapped(), y = keep(harray_double_wrap_const(constants, 5));
    add_at(x, M1, 1);
    assert_true(sum_at(x, M2) == 55);
    assert_true(sum_at(x, C) == 55);
    SUCCEEDS(harray_double_sync(x));
    BUFFER(1, 1);
    SUCCEEDS(harray_double_resize(x, 4));
    SUCCEEDS(harray_double_resize(x, N));
    HA_OVERWRITING_RANGE(v, x, M2, 4, N) fill(&v, 2);
    else fail();
    assert_true(sum_at(x, M1) == 10 + 12);
    touch(y, M1);
    assert_true(sum_at(y, M2) == 11);
    drop(x);
    drop(y);
}

/* ---- memory on a device --------------------------------------------------------------------- */

/* The caller's buffer on a device; on the host when that is under test. */
TEST(device_memory_is_used_in_place) {
    ha_context *places[] = {C, M1};
    for (size_t i = 0; i < 2; i++) {
        ha_context *c = places[i];
        double *data = device_memory(c, N);
        const double *seen = seen_from_here(c, data);
        for (size_t k = 0; k < N; k++) seen_from_here(c, data)[k] = (double)k;
        harray_double x = keep(harray_double_wrap_at(data, N, c));
        assert_ptr_equal(ha_array_first_touch(x.array), c);
        HA_WRITING(v, x, c) {
            assert_ptr_equal(v.data, data);
            add(&v, 1);
        }
        else fail();
        assert_true(sum_at(x, H) == 55);
        add_at(x, H, 1);
        add_at(x, M2, 1);
        SUCCEEDS(harray_double_sync(x)); /* it has arrived, not only been enqueued */
        memory_is(seen, N, 3, 1);
        add_at(x, H, 1);
        REFUSED(HA_ERR_STATE, harray_double_resize(x, N + 1));
        SUCCEEDS(part(&x));
        memory_is(seen, N, 4, 1);
        device_release(c, data, N); /* private: ends the program when a queue still uses it */
    }
}

/* The caller's own work on the device is over when the memory is handed back, as all other. */
TEST(device_memory_after_work_in_place) {
    double *data = device_memory(M1, N);
    harray_double x = keep(harray_double_wrap_at(data, N, M1));
    HA_OVERWRITING_ALL(v, x, M1) fill(&v, 3);
    else fail();
    SUCCEEDS(part(&x));
    memory_is(seen_from_here(M1, data), N, 3, 0);
    device_release(M1, data, N);
}

TEST(host_and_device_memory_together) {
    double *data = device_memory(M1, N);
    const double *seen = seen_from_here(M1, data);
    const ha_wrapped pieces[] = {{buffer, H, 0}, {data, M1, HA_WRAP_UNWRITTEN}};
    fill_buffer();
    harray_double x = keep(harray_double_from(ha_array_wrap(harray_double_type(), N, pieces, 2)));
    assert_true(VALID(x, H) && !VALID(x, M1));
    HA_WRITING_RANGE(v, x, M1, 2, 4) {
        assert_ptr_equal(v.data, data + 2);
        fill(&v, 9);
    }
    else fail();
    add_at(x, C, 1);
    SUCCEEDS(harray_double_sync(x)); /* both */
    assert_true(VALID(x, H) && VALID(x, M1));
    assert_memory_equal(buffer, seen, sizeof buffer);
    assert_true(buffer[0] == 1 && buffer[3] == 10);
    add_at(x, M2, 1);
    SUCCEEDS(part(&x));
    assert_memory_equal(buffer, seen, sizeof buffer);
    assert_true(buffer[0] == 2 && buffer[3] == 11);
    device_release(M1, data, N);
}

/* Const on the host, and a buffer on a device that takes the values. */
TEST(const_memory_with_room_on_a_device) {
    double *data = device_memory(M1, 5);
    const ha_wrapped pieces[] = {{(void *)(uintptr_t)constants, H, HA_WRAP_CONST},
                                 {data, M1, HA_WRAP_UNWRITTEN}};
    harray_double x = keep(harray_double_from(ha_array_wrap(harray_double_type(), 5, pieces, 2)));
    refuse_writing(x, M1);
    SUCCEEDS(harray_double_sync(x));
    assert_memory_equal(seen_from_here(M1, data), constants, sizeof constants);
    assert_true(sum_at(x, M2) == 11);
    SUCCEEDS(part(&x));
    device_release(M1, data, 5);
}

/* Const on a device: read everywhere, written nowhere. */
TEST(const_memory_on_a_device) {
    double *data = device_memory(M1, 3);
    for (size_t k = 0; k < 3; k++) seen_from_here(M1, data)[k] = 7;
    const ha_wrapped piece = {data, M1, HA_WRAP_CONST};
    harray_double x = keep(harray_double_from(ha_array_wrap(harray_double_type(), 3, &piece, 1)));
    VALUES(x, 7, 7, 7);
    HA_WRITING(v, x, H) fail();
    else REFUSED(HA_ERR_STATE, v.status);
    HA_READING(v, x, M1) {
        HA_READING(w, x, M1) assert_ptr_equal(w.data, data);
        else fail();
        assert_ptr_equal(v.data, data);
    }
    else fail();
    assert_true(sum_at(x, M2) == 21);
    SUCCEEDS(part(&x));
    device_release(M1, data, 3);
}

/* ---- what makes no sense -------------------------------------------------------------------- */

static void refuse_wrap(ha_status expected, ha_type type, size_t n, const ha_wrapped *pieces,
                        size_t count, const char *text) {
    assert_null(ha_array_wrap(type, n, pieces, count));
    expect_text(expected, "ha_array_wrap", text, "");
    check_ledger(arrays, MOST_ARRAYS);
}

TEST(senseless_wraps) {
    const ha_type type = harray_double_type(), nothing = {"nothing", 0}, nameless = {NULL, 8};
    double *data = device_memory(M1, N);
    const ha_wrapped twice[] = {{buffer, H, 0}, {buffer + 5, H, 0}};
    const ha_wrapped overlap[] = {{buffer, H, 0}, {buffer, require_context("private:0"), 0}};
    const ha_wrapped never = {buffer, H, HA_WRAP_CONST | HA_WRAP_UNWRITTEN};
    const ha_wrapped odd = {buffer, H, 8}, end = {(void *)(UINTPTR_MAX - 7), H, 0};
    const ha_wrapped second_null[] = {{buffer, H, 0}, {NULL, M1, 0}};
    refuse_wrap(HA_ERR_ARGUMENT, nothing, 1, twice, 1, "no size");
    refuse_wrap(HA_ERR_ARGUMENT, type, N, NULL, 1, "no piece");
    refuse_wrap(HA_ERR_ARGUMENT, type, N, twice, 0, "no piece");
    refuse_wrap(HA_ERR_ARGUMENT, type, 5, twice, 2, "two pieces in one memory");
    refuse_wrap(HA_ERR_ARGUMENT, type, N, overlap, 2, "overlap");
    refuse_wrap(HA_ERR_ARGUMENT, type, N, &never, 1, "const memory that has no values");
    refuse_wrap(HA_ERR_ARGUMENT, type, N, &odd, 1, "unknown flags");
    refuse_wrap(HA_ERR_ARGUMENT, type, N, second_null, 2, "NULL");
    refuse_wrap(HA_ERR_ARGUMENT, nameless, 1, &end, 1, "last address");
    refuse_wrap(HA_ERR_MEMORY, type, SIZE_MAX / 2, twice, 1, "overflow");
    refuse_wrap(HA_ERR_MEMORY, type, SIZE_MAX / 8, twice, 1, "overflow");
    device_release(M1, data, N);
}

/* Bytes that an array has from harray are no one else's; what ha_memory_allocate gave is the user's. */
TEST(memory_of_another_array) {
    const ha_type type = harray_double_type();
    harray_double x = keep(harray_double_new_at(N, C)), y;
    harray_double_set_name(x, "x");
    HA_OVERWRITING_ALL(v, x, C) {
        const ha_wrapped all = {v.data, C, 0}, behind = {v.data + N - 1, C, 0};
        refuse_wrap(HA_ERR_STATE, type, N, &all, 1, "array 'x' (double[10]) owns some");
        refuse_wrap(HA_ERR_STATE, type, 1, &behind, 1, "array 'x'");
    }
    else fail();
    HA_OVERWRITING_ALL(v, x, H) {
        const ha_wrapped middle = {v.data + 3, H, HA_WRAP_CONST};
        refuse_wrap(HA_ERR_STATE, type, 2, &middle, 1, "array 'x'");
    }
    else fail();
    double *own = (double *)ha_memory_allocate(C, N * sizeof *own);
    y = harray_double_wrap_at(own, N, C);
    keep_array(y.array);
    drop(y);
    SUCCEEDS(ha_memory_release(C, own));
    drop(x);
}

/* However many there are, and whatever came and went between. */
TEST(memory_of_one_of_many_arrays) {
    enum { MANY = 60 };
    harray_double x[MANY];
    double *data[MANY];
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < MANY; i++) {
            x[i] = harray_double_new_at(1 + 700 * (i * 7 % MANY), H);
            HA_OVERWRITING_ALL(v, x[i], H) data[i] = v.data;
        }
        for (size_t i = 0; i < MANY; i += 3) SUCCEEDS(harray_double_free(&x[i]));
        for (size_t i = 0; i < MANY; i++) {
            if (!x[i].array) continue;
            const ha_wrapped last = {data[i] + harray_double_size(x[i]) - 1, H, 0};
            assert_null(ha_array_wrap(harray_double_type(), 1, &last, 1));
            assert_int_equal(ha_take_error().status, HA_ERR_STATE);
        }
        for (size_t i = 0; i < MANY; i++) SUCCEEDS(harray_double_free(&x[i]));
        if (round == 0) (void)ha_memory_trim(H, 0);
    }
}

TEST(misaligned_memory) {
    _Alignas(16) static char bytes[64];
    const ha_wrapped four = {bytes + 4, H, 0}, one = {bytes + 1, H, 0};
    const ha_type three_bytes = {"three bytes", 3};
    refuse_wrap(HA_ERR_ARGUMENT, harray_double_type(), 2, &four, 1, "not aligned for its type");
    refuse_wrap(HA_ERR_ARGUMENT, harray_c64_type(), 2, &one, 1, "not aligned for its type");
    ha_array *x = ha_array_wrap(harray_c64_type(), 2, &four, 1); /* two floats */
    assert_non_null(x);
    SUCCEEDS(ha_unwrap(x));
    x = ha_array_wrap(three_bytes, 5, &one, 1); /* whose alignment nobody knows */
    assert_non_null(x);
    SUCCEEDS(ha_unwrap(x));
}

/* Where a driver knows what a pointer is. */
TEST(misplaced_memory) {
    const ha_type type = harray_double_type();
    ha_context *sim = require_context("sim:0"), *other = require_context("private:0");
    harray_double x = keep(harray_double_new_at(N, require_context("sim:1")));
    HA_OVERWRITING_ALL(v, x, ha_array_first_touch(x.array)) {
        const ha_wrapped at_host = {v.data, H, 0}, at_other = {v.data, other, 0};
        const ha_wrapped at_sim = {v.data, sim, 0}, host_at_sim[] = {{buffer, sim, 0}};
        if (shares_memory(v.context)) break;
        refuse_wrap(HA_ERR_ARGUMENT, type, N, &at_host, 1, "of another device");
        refuse_wrap(HA_ERR_ARGUMENT, type, N, &at_other, 1, "of another device");
        refuse_wrap(HA_ERR_ARGUMENT, type, N, &at_sim, 1, "of another device");
        if (shares_memory(sim)) break;
        refuse_wrap(HA_ERR_ARGUMENT, type, N, host_at_sim, 1, "memory of the host");
    }
    else fail();
    drop(x);
}

/* Whoever prints an array sees whose memory it is. */
TEST(described) {
    char text[400];
    harray_double x = wrapped(), y = keep(harray_double_wrap_const(constants, 5));
    (void)ha_describe(x.array, text, sizeof text);
    assert_non_null(strstr(text, "the caller's, capacity 10"));
    (void)ha_describe(y.array, text, sizeof text);
    assert_non_null(strstr(text, "the caller's, const, capacity 5"));
    drop(x);
    drop(y);
}

/* ---- without an array ----------------------------------------------------------------------- */

/* From the host through each of two places and back, by pointers alone. */
static void copy_around(ha_context *one, ha_context *two) {
    double *a = device_memory(one, N), *b = device_memory(two, N), back[N] = {0};
    fill_buffer();
    SUCCEEDS(ha_copy(a, one, buffer, H, sizeof buffer));
    SUCCEEDS(ha_copy(b, two, a, one, sizeof buffer));
    SUCCEEDS(ha_copy(back, H, b, two, sizeof buffer));
    memory_is(back, N, 0, 1);
    SUCCEEDS(ha_copy(back + 1, NULL, b + 3, two, 2 * sizeof *b)); /* NULL as usual */
    assert_true(back[0] == 0 && back[1] == 3 && back[2] == 4 && back[3] == 3);
    BUFFER(0, 1);
    device_release(one, a, N);
    device_release(two, b, N);
}

TEST(bytes_by_pointers) {
    copy_around(C, M1);
    copy_around(C, C);
    copy_around(M1, M2);
    copy_around(H, C);
}

TEST(bytes_that_are_not_copied) {
    double other[N] = {0};
    harray_double x = wrapped();
    REFUSED(HA_ERR_STATE, ha_copy(other, H, buffer, H, 8));
    REFUSED(HA_ERR_STATE, ha_copy(buffer, H, other, H, 8));
    drop(x);
    REFUSED(HA_ERR_STATE, ha_copy(buffer, H, (char *)buffer + 1, H, 8)); /* both overlap */
    REFUSED(HA_ERR_ARGUMENT, ha_copy(NULL, H, buffer, C, 8));
    REFUSED(HA_ERR_ARGUMENT, ha_copy(buffer, H, NULL, C, 8));
    SUCCEEDS(ha_copy(NULL, C, NULL, H, 0));
    SUCCEEDS(ha_copy(other, H, buffer, H, sizeof buffer)); /* nothing was left behind */
    memory_is(other, N, 0, 1);
    if (!shares_memory(C)) {
        double *data = device_memory(C, N);
        HA_NO_TRANSFERS REFUSED(HA_ERR_TRANSFER, ha_copy(data, C, buffer, H, sizeof buffer));
        SUCCEEDS(ha_copy(data, C, buffer, H, sizeof buffer));
        device_release(C, data, N);
    }
}

static ha_status start(ha_token *t, void *to, ha_context *to_context, const void *from,
                       ha_context *from_context, size_t bytes) {
    return ha_copy_start(t, to, to_context, from, from_context, bytes);
}

/* Who reads the same bytes at once is in nobody's way, who writes them is. */
TEST(bytes_that_are_copied_twice_at_once) {
    double *a = device_memory(C, N), *b = device_memory(M1, N);
    ha_token t[2] = {{0}};
    fill_buffer();
    SUCCEEDS(start(&t[0], a, C, buffer, H, sizeof buffer));
    SUCCEEDS(start(&t[1], b, M1, buffer + 1, H, sizeof buffer - 8));
    for (int i = 0; i < 2; i++) {
        REFUSED_NULL(HA_ERR_STATE, harray_double_wrap_const(buffer, N).array);
        REFUSED(HA_ERR_STATE, ha_copy(buffer + 1, H, constants, H, 8));
        SUCCEEDS(ha_token_wait(&t[i]));
    }
    harray_double x = wrapped();
    REFUSED(HA_ERR_STATE, start(&t[0], a, C, buffer, H, 8));
    drop(x);
    device_release(C, a, N);
    device_release(M1, b, N);
}

/* As copy_around, each started, and two of them on their way at once. */
static void start_around(ha_context *one, ha_context *two) {
    double *a = device_memory(one, N), *b = device_memory(two, N), back[N] = {0};
    ha_token t[2] = {{0}};
    fill_buffer();
    SUCCEEDS(start(&t[0], a, one, buffer, H, N / 2 * 8));
    SUCCEEDS(start(&t[1], a + N / 2, one, buffer + N / 2, NULL, N / 2 * 8));
    SUCCEEDS(ha_token_wait(&t[1]));
    assert_null(t[1].array);
    SUCCEEDS(ha_token_finish(&t[0]));
    SUCCEEDS(start(&t[0], b, two, a, one, sizeof buffer));
    SUCCEEDS(ha_token_wait(&t[0]));
    SUCCEEDS(start(&t[0], back, H, b, two, sizeof buffer));
    REFUSED(HA_ERR_STATE, start(&t[0], b, two, a, one, 8)); /* the token is in use */
    REFUSED(HA_ERR_STATE, ha_copy(b + 1, two, a, one, 8));  /* and so is what it copies */
    REFUSED(HA_ERR_STATE, ha_copy(a, one, back, H, 8));
    REFUSED(HA_ERR_UNSUPPORTED, ha_token_end_at(&t[0], one));
    REFUSED(HA_ERR_UNSUPPORTED, ha_token_end_after(&t[0], one, &t));
    assert_non_null(t[0].array);
    t[1] = t[0];
    SUCCEEDS(ha_token_wait(&t[0]));
    REFUSED(HA_ERR_STATE, ha_token_wait(&t[1])); /* it has ended */
    memory_is(back, N, 0, 1);
    SUCCEEDS(ha_copy(back, H, a + 1, one, 8)); /* nothing was left behind */
    assert_true(back[0] == 1);
    device_release(one, a, N);
    device_release(two, b, N);
}

TEST(bytes_that_are_started) {
    start_around(C, M1);
    start_around(C, C);
    start_around(M1, M2);
    start_around(H, C);
}

int main(void) {
    int failures = 0;
    const struct CMUnitTest tests[] = {
        CASE(wrapped_memory_is_used),
        CASE(bytes_by_pointers),
        CASE(bytes_that_are_not_copied),
        CASE(bytes_that_are_copied_twice_at_once),
        CASE(bytes_that_are_started),
        CASE(wrapped_memory_does_not_grow),
        CASE(constant_memory_is_only_read),
        CASE(freeing_brings_values_back),
        CASE(wrapping_no_memory),
        CASE(wrapping_an_empty_array),
        CASE(the_memory_stays_with_its_array),
        CASE(assigning_copies_into_the_memory),
        CASE(copies_have_memory_of_their_own),
        CASE(staging_through_the_memory),
        CASE(device_memory_is_used_in_place),
        CASE(device_memory_after_work_in_place),
        CASE(host_and_device_memory_together),
        CASE(const_memory_with_room_on_a_device),
        CASE(const_memory_on_a_device),
        CASE(senseless_wraps),
        CASE(memory_of_another_array),
        CASE(memory_of_one_of_many_arrays),
        CASE(misaligned_memory),
        CASE(misplaced_memory),
        CASE(described),
    };
    RUN_ON_MATRIX(failures, tests)
    return failures;
}
