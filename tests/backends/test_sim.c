/* What the simulated device alone promises: peers, costs, options, and what is told when the system
 * refuses something. Its queues are in test_sim_queue.c, its memory in test_sim_memory.c; what
 * every backend must do is in test_backend.c. */
#include "../support/sim_alone.h"

/* ---- peers and costs ------------------------------------------------------------------------ */

TEST(peers_copy_directly) {
    const ha_place host = {&ha_backend_host, NULL};
    const char text[] = "from one to the other, and back";
    char back[sizeof text] = "";
    void *device2, *memory2, *a, *b;
    SUCCEEDS(ha_sim_open(1, &device2, &memory2));
    const ha_place place = {&ha_backend_sim, memory2};
    assert_true(memory_ops->reaches(memory, &place));
    assert_true(memory_ops->reaches(memory, &host));
    SUCCEEDS(memory_ops->allocate(memory, sizeof text, &a));
    SUCCEEDS(memory_ops->allocate(memory2, sizeof text, &b));
    SUCCEEDS(ops->copy(queue, a, text, sizeof text));
    SUCCEEDS(ops->copy(queue, b, a, sizeof text));
    SUCCEEDS(ops->fill(queue, a, "", 1, sizeof text));
    SUCCEEDS(ops->copy(queue, a, b, sizeof text));
    SUCCEEDS(ops->copy(queue, back, a, sizeof text));
    ops->drain(queue);
    assert_string_equal(back, text);
    memory_ops->release(memory, a, sizeof text);
    memory_ops->release(memory2, b, sizeof text);
    ha_sim_close(device2);
    SUCCEEDS(ops->copy(queue, back, text, sizeof text)); /* must not look for it there any more */
    ops->drain(queue);
}

TEST(others_are_not_reached) {
    const ha_backend other = {.kind = "other"};
    const ha_place place = {&other, NULL}, peer = {&ha_backend_sim, memory};
    assert_false(memory_ops->reaches(memory, &place));
    assert_false(memory_ops->reaches(memory, &peer));
}

static uint64_t cost_with(const ha_sim_options *options) {
    const ha_place host = {&ha_backend_host, NULL};
    void *opened, *its_memory;
    uint64_t cost;
    SUCCEEDS(ha_sim_set_options(options));
    SUCCEEDS(ha_sim_open(0, &opened, &its_memory));
    cost = memory_ops->cost(its_memory, &host);
    ha_sim_close(opened);
    return cost;
}

TEST(costs_come_from_the_bandwidth) {
    assert_int_equal(cost_with(NULL), 100000);
    assert_int_equal(cost_with(&(ha_sim_options){.bandwidth = 1 << 20}), 1000000000);
    assert_int_equal(cost_with(&(ha_sim_options){.bandwidth = 1 << 30}), 976562);
    assert_int_equal(cost_with(&(ha_sim_options){.latency_ns = 5, .bandwidth = 1 << 30}), 976567);
}

/* ---- options -------------------------------------------------------------------------------- */

TEST(texts_are_read) {
    ha_sim_options o;
    ha_option_text wrong;
    assert_true(ha_sim_parse("devices=4,capacity=256M,bandwidth=12G,latency=5us,delay=100us,seed=7,"
                             "peers=1,unified=1,strides=1",
                             &o, &wrong));
    assert_int_equal(o.devices, 4);
    assert_int_equal(o.capacity, 256 << 20);
    assert_int_equal(o.bandwidth, (uint64_t)12 << 30);
    assert_int_equal(o.latency_ns, 5000);
    assert_int_equal(o.delay_ns, 100000);
    assert_int_equal(o.seed, 7);
    assert_int_equal(o.peers, 1);
    assert_int_equal(o.unified, 1);
    assert_int_equal(o.strides, 1);
    assert_true(ha_sim_parse("", &o, &wrong));
    assert_int_equal(o.devices + o.peers + o.unified + o.strides, 0);
    assert_int_equal(o.capacity, 0);
    assert_true(ha_sim_parse("latency=17ns,delay=3ms,bandwidth=9K,capacity=100,", &o, &wrong));
    assert_int_equal(o.latency_ns, 17);
    assert_int_equal(o.delay_ns, 3000000);
    assert_int_equal(o.bandwidth, 9 << 10);
    assert_int_equal(o.capacity, 100);
    assert_true(ha_sim_parse("delay=2s,seed=18446744073709551615", &o, &wrong));
    assert_int_equal(o.delay_ns, 2000000000);
    assert_true(o.seed == UINT64_MAX);
}

TEST(bad_texts_are_refused) {
    static const char *const texts[] = {"speed=3",
                                        "device=3",
                                        "devices",
                                        "devices=",
                                        "=3",
                                        ",devices=3",
                                        "devices=3;peers=1",
                                        "devices=-1",
                                        "devices=+1",
                                        "devices=65",
                                        "devices=3x",
                                        "devices=3 ",
                                        "devices=1K",
                                        "capacity=1T",
                                        "capacity=1025G",
                                        "capacity=1.5G",
                                        "capacity=M",
                                        "capacity=18446744073709551616",
                                        "capacity=17592186044416M",
                                        "bandwidth=99999999999G",
                                        "latency=5",
                                        "latency=5m",
                                        "latency=3601s",
                                        "delay=us",
                                        "delay=5us5",
                                        "peers=2",
                                        "unified=2",
                                        "strides=2",
                                        "seed=0x1"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        ha_sim_options options = {.devices = 17};
        ha_option_text wrong = {""};
        assert_false(ha_sim_parse(texts[i], &options, &wrong));
        assert_int_equal(options.devices, 17);
        assert_int_equal(strncmp(wrong.text, "HARRAY_SIM: \"", 13), 0);
    }
}

/* As in a process that has just begun. */
static void begin_with(const char *text) {
    ha_sim_shared.known = 0;
    if (text != NULL)
        setenv("HARRAY_SIM", text, 1);
    else
        unsetenv("HARRAY_SIM");
}

TEST(the_environment_is_asked) {
    void *opened, *its_memory, *block;
    begin_with("devices=5,capacity=1K");
    assert_int_equal(ha_sim_count(), 5);
    SUCCEEDS(ha_sim_open(4, &opened, &its_memory));
    assert_int_equal(memory_ops->allocate(its_memory, 1025, &block), HA_ERR_MEMORY);
    SUCCEEDS(memory_ops->allocate(its_memory, 1024, &block));
    memory_ops->release(its_memory, block, 1024);
    ha_sim_close(opened);
    begin_with(NULL);
    assert_int_equal(ha_sim_count(), 2);
}

TEST(a_bad_environment_fails_to_open) {
    void *opened = &opened, *its_memory = &opened;
    begin_with("capacity=64M,latency=5 us");
    assert_int_equal(ha_sim_count(), 2);
    assert_int_equal(ha_sim_open(0, &opened, &its_memory), HA_ERR_BACKEND);
    assert_ptr_equal(opened, &opened);
    assert_string_equal(reported.text, "HARRAY_SIM: \"latency=5 us\": latency is a number with ns, "
                                       "us, ms or s; up to an hour");
    begin_with("colour=red");
    assert_int_equal(ha_sim_open(0, &opened, &its_memory), HA_ERR_BACKEND);
    assert_string_equal(
        reported.text,
        "HARRAY_SIM: \"colour=red\": unknown key; there are devices, "
        "capacity, bandwidth, latency, delay, seed, peers, unified, strides, strict");
    SUCCEEDS(ha_sim_set_options(NULL)); /* a call outweighs the environment */
    SUCCEEDS(ha_sim_open(0, &opened, &its_memory));
    ha_sim_close(opened);
    begin_with(NULL);
}

TEST(options_have_ranges) {
    static const ha_sim_options bad[] = {{.devices = -1},
                                         {.devices = 65},
                                         {.capacity = ((size_t)1 << 40) + 1},
                                         {.latency_ns = (uint64_t)3601 * 1000000000},
                                         {.delay_ns = UINT64_MAX}};
    const ha_sim_options good = {.devices = 64,
                                 .capacity = (size_t)1 << 40,
                                 .bandwidth = UINT64_MAX,
                                 .latency_ns = (uint64_t)3600 * 1000000000,
                                 .seed = UINT64_MAX,
                                 .peers = -1};
    SUCCEEDS(ha_sim_set_options(&good));
    assert_int_equal(ha_sim_count(), 64);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(ha_sim_set_options(&bad[i]), HA_ERR_ARGUMENT);
    assert_int_equal(ha_sim_count(), 64);
    SUCCEEDS(ha_sim_set_options(NULL));
    assert_int_equal(ha_sim_count(), 2);
}

TEST(options_stay_while_a_device_is_open) {
    const ha_sim_options options = {.devices = 3};
    void *opened, *its_memory;
    SUCCEEDS(ha_sim_set_options(NULL));
    SUCCEEDS(ha_sim_open(1, &opened, &its_memory));
    assert_int_equal(ha_sim_set_options(&options), HA_ERR_STATE);
    assert_int_equal(ha_sim_count(), 2);
    ha_sim_close(opened);
    SUCCEEDS(ha_sim_set_options(&options));
    assert_int_equal(ha_sim_count(), 3);
}

/* ---- failing -------------------------------------------------------------------------------- */

/* Opens, uses and closes a device. Gives the first error. */
static ha_status use_all(void) {
    void *opened, *its_memory, *its_queue, *block;
    ha_event event;
    ha_status s = ha_sim_open(0, &opened, &its_memory);
    if (s != HA_OK) return s;
    s = ops->create(opened, &its_queue);
    if (s == HA_OK) {
        s = memory_ops->allocate(its_memory, 64, &block);
        if (s == HA_OK) {
            s = ops->fill(its_queue, block, "x", 1, 64);
            if (s == HA_OK) s = ops->copy(its_queue, block, "y", 1);
            if (s == HA_OK) s = ops->call(its_queue, count_call, NULL, 0);
            if (s == HA_OK) s = ops->record(its_queue, &event);
            if (s == HA_OK) s = ops->finish(&event);
            ops->drain(its_queue);
            memory_ops->release(its_memory, block, 64);
        }
        ops->destroy(its_queue);
    }
    ha_sim_close(opened);
    return s;
}

TEST(nothing_is_lost_when_records_are_refused) {
    for (int sticky = 0; sticky < 2; sticky++) {
        for (long n = 0;; n++) {
            faulty_arm(n, sticky);
            ha_status status = use_all();
            if (faulty_disarm() == 0) {
                assert_true(n >= 6);
                SUCCEEDS(status);
                break;
            }
            assert_int_equal(status, HA_ERR_MEMORY);
            assert_int_equal(faulty_records(), 0);
        }
    }
}

TEST(a_lack_of_address_space_is_told) {
    void *opened = &opened, *its_memory = &opened;
    for (int i = 0; i < 2; i++) {
        reported.code = 0;
        refused_mmap = i;
        assert_int_equal(ha_sim_open(0, &opened, &its_memory), HA_ERR_MEMORY);
        assert_int_equal(reported.code, ENOMEM);
    }
    assert_ptr_equal(opened, &opened);
    assert_int_equal(faulty_records(), 0);
    SUCCEEDS(ha_sim_open(0, &opened, &its_memory));
    ha_sim_close(opened);
}

TEST(a_lack_of_threads_is_told) {
    void *third = &third;
    long records = faulty_records();
    refused_thread = EAGAIN;
    assert_int_equal(ops->create(device, &third), HA_ERR_BACKEND);
    refused_thread = 0;
    assert_int_equal(reported.code, EAGAIN);
    assert_ptr_equal(third, &third);
    assert_int_equal(faulty_records(), records);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PEERS(peers_copy_directly),
        USUAL(others_are_not_reached),
        CLOSED(costs_come_from_the_bandwidth),
        CLOSED(texts_are_read),
        CLOSED(bad_texts_are_refused),
        CLOSED(the_environment_is_asked),
        CLOSED(a_bad_environment_fails_to_open),
        CLOSED(options_have_ranges),
        CLOSED(options_stay_while_a_device_is_open),
        CLOSED(nothing_is_lost_when_records_are_refused),
        CLOSED(a_lack_of_address_space_is_told),
        USUAL(a_lack_of_threads_is_told),
    };
    pthread_sigmask(SIG_SETMASK, NULL, &usual_signals);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
