/* The order-checking backend itself: what it takes for a race, where copies of pieces are near each
 * other. Each race is followed by what would have been in order. */
#include "../support/order_backend.h"

#include "../support/backend_alone.h"
#include "../support/pitched.h"

enum { ROW = 12, ROWS = 5, PLANE = ROW * ROWS, PLANES = 3, BYTES = PLANE * PLANES };

static const ha_queue_ops *ops = &order_queue_ops;
static void *device, *memory, *queue, *queue2, *block;
static unsigned char host[BYTES], back[BYTES]; /* nobody's: the host is not watched here */

static int begin(HA_UNUSED void **state) {
    order_reset();
    return order_open(0, &device, &memory) || ops->create(device, &queue) ||
           ops->create(device, &queue2) || order_allocate(memory, BYTES, &block);
}

static int end(HA_UNUSED void **state) {
    ops->drain(queue);
    ops->drain(queue2);
    ops->destroy(queue);
    ops->destroy(queue2);
    *hb.complaint = '\0'; /* after a race, no block is freed */
    order_release(memory, block, BYTES);
    return order_blocks() != 0;
}

/* `bytes` of each row from `first` on, to or from the same place on the host. */
static void column(void *on, int up, size_t first, size_t bytes) {
    const ha_strided_copy p = PITCHED(bytes, ROWS, PLANES, ROW, PLANE, ROW, PLANE);
    void *there = (char *)block + first;
    SUCCEEDS(copy_pitched(ops, on, up ? there : back + first, up ? host + first : there, &p));
}

static void follow(void *on, void *behind) {
    ha_event event;
    SUCCEEDS(ops->record(behind, &event));
    SUCCEEDS(ops->await(on, &event));
    ops->forget(&event);
}

#define IN_ORDER() assert_string_equal(hb.complaint, "")
#define RACES(part) assert_non_null(strstr(hb.complaint, part))

TEST(columns_that_do_not_touch) {
    for (size_t x = 0; x < ROW; x++) column(x % 2 ? queue2 : queue, 1, x, 1);
    IN_ORDER();
    for (size_t x = 0; x < ROW; x++) column(x % 2 ? queue2 : queue, 0, x, 1);
    IN_ORDER();
}

TEST(columns_that_share_a_byte) {
    column(queue, 1, 0, 5);
    column(queue2, 1, 5, 3);
    IN_ORDER();
    column(queue2, 1, 4, 1);
    RACES("copy to pieces by queue 2");
    RACES("of bytes 4 to 5");
    RACES("the write by queue 1");
}

TEST(columns_in_order) {
    column(queue, 1, 0, 5);
    follow(queue2, queue);
    column(queue2, 1, 4, 2);
    IN_ORDER();
    column(queue, 0, 0, 5);
    RACES("copy from pieces by queue 1");
}

/* The last piece, and what is before and behind it. */
TEST(other_copies_in_the_gaps) {
    const ha_strided_copy p = PITCHED(2, ROWS, PLANES, ROW, PLANE, ROW, PLANE);
    const size_t last = (PLANES - 1) * PLANE + (ROWS - 1) * ROW;
    SUCCEEDS(copy_pitched(ops, queue, block, host, &p));
    SUCCEEDS(ops->copy(queue2, (char *)block + last + 2, host, ROW - 2));
    SUCCEEDS(ops->copy(queue2, (char *)block + last - 1, host, 1));
    IN_ORDER();
    SUCCEEDS(ops->copy(queue2, back, (char *)block + last + 1, 1));
    RACES("copy from by queue 2");
}

/* Reads do not race with each other; a write of one row races with the read of a column. */
TEST(a_row_and_a_column) {
    column(queue, 0, 3, 1);
    column(queue2, 0, 3, 1);
    IN_ORDER();
    SUCCEEDS(ops->copy(queue2, (char *)block + PLANE + ROW, host, 3));
    IN_ORDER();
    SUCCEEDS(ops->copy(queue2, (char *)block + PLANE + ROW, host, ROW));
    RACES("the read by queue 1");
}

TEST(pieces_stay_in_their_block) {
    const ha_strided_copy p = PITCHED(2, 2, 1, BYTES - 2, 2 * BYTES - 4, 2, 4);
    ha_strided_copy q = p;
    q.to_step[0]++;
    q.to_step[1] += 2;
    SUCCEEDS(copy_pitched(ops, queue, block, host, &p));
    IN_ORDER();
    SUCCEEDS(copy_pitched(ops, queue, block, host, &q));
    RACES("in a block of");
    order_command *command = ((order_queue *)queue)->first->next;
    assert_int_equal(command->kind, ORDER_PIECES);
    q = p; /* for it runs in the end */
    q.to = block;
    q.from = host;
    memcpy(command->data, &q, sizeof q);
}

static void touch_nothing(HA_UNUSED const ha_queue *here, HA_UNUSED void *argument) {}

/* As they say. */
TEST(functions_touch_pieces) {
    const order_touches t = {
        .n = 1,
        .touch = {{.data = block, .write = 1, .pieces = {2, ROWS, PLANES, ROW, PLANE}}},
    };
    SUCCEEDS(ops->call(queue, touch_nothing, &t, sizeof t));
    column(queue2, 0, 2, ROW - 2);
    IN_ORDER();
    column(queue2, 0, 1, 1);
    RACES("the write by queue 1");
}

TEST(pieces_are_moved) {
    for (size_t i = 0; i < BYTES; i++) host[i] = (unsigned char)i;
    memset(back, 0, BYTES);
    SUCCEEDS(ops->copy(queue, block, host, BYTES));
    column(queue, 0, 3, 4);
    ops->drain(queue);
    for (size_t i = 0; i < BYTES; i++)
        assert_int_equal(back[i], i % ROW >= 3 && i % ROW < 7 ? host[i] : 0);
}

int main(void) {
#define ORDER(test) cmocka_unit_test_setup_teardown(test, begin, end)
    const struct CMUnitTest tests[] = {
        ORDER(columns_that_do_not_touch), ORDER(columns_that_share_a_byte),
        ORDER(columns_in_order),          ORDER(other_copies_in_the_gaps),
        ORDER(a_row_and_a_column),        ORDER(pieces_stay_in_their_block),
        ORDER(functions_touch_pieces),    ORDER(pieces_are_moved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
