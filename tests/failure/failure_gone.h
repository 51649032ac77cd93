/* That all devices of support/failure_engine.h have got everything back. To be included behind EXPECT. */
#ifndef HARRAY_TESTS_FAILURE_FAILURE_GONE_H
#define HARRAY_TESTS_FAILURE_FAILURE_GONE_H

static void check_gone(faulty_ledger *ledger) {
    const faulty_holdings held = faulty_held(ledger);
    EXPECT(!held.blocks && !held.bytes && !held.queues && !held.devices,
           "'%s' has not got everything back: %zu blocks, %zu queues, %zu devices",
           ledger->outer->kind, held.blocks, held.queues, held.devices);
}

static void check_all_gone(void) {
    check_gone(&faulty_host_ledger);
    check_gone(&faulty_sim_ledger);
    check_gone(&faulty_private_ledger);
    check_gone(&faulty_launch_ledger);
    check_gone(&faulty_opencl_ledger);
}

#endif
