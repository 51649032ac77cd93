/* harray_mpi.h on ranks, against what is known of each element. Prints TAP on rank 0.
 *
 * usage: test_mpi [waiting | opencl | ROUNDS]
 *   waiting  for what never comes, with HARRAY_MPI_CHECK=1; otherwise all other cases
 *   opencl   a few of them with the first device of OpenCL in the place of a simulated one; skipped where there is none
 *   ROUNDS   how much is tried; default: 10 */
#define _GNU_SOURCE
#include <stdlib.h>
static void *sparing_malloc(size_t bytes); /* of failures.h */
static void *sparing_realloc(void *memory, size_t bytes);
#define HARRAY_MALLOC sparing_malloc
#define HARRAY_REALLOC sparing_realloc
#define HARRAY_FREE free
#define HARRAY_IMPLEMENTATION
#define HA_MPI_MOST_COUNT_ 1777 /* so that larger numbers are tried */
#define HA_MPI_MOST_PIECES_ 24
#define HA_MPI_ROW_BYTES_ 16
#include "../../harray_mpi.h"

#include "some_messages.h"

#include "files.h"
#include "nulls.h"
#include "pending.h"
#include "record_halos.h"
#include "told.h"

static void all_cases(int rounds) {
    messages_by_requests(rounds);
    messages_at_once(2 * rounds);
    messages_crosswise(2 * rounds);
    fields_of_records(rounds);
    moved_by_fields();
    broadcasts(rounds);
    gathers(2 * rounds);
    scatters(2 * rounds);
    everything_to_everybody(rounds);
    reductions(2 * rounds);
    pending_collectives(2 * rounds);
    for (int kind = HA_MPI_CORNERS; kind <= HA_MPI_AT_ONCE; kind++) some_halos(kind, rounds);
    halos_of_columns();
    halos_by_turns();
    halos_that_do_not_wait(HA_MPI_FACES);
    halos_that_do_not_wait(HA_MPI_AT_ONCE);
    moved_by_halos();
    if (!is_checked) moved_by_messages();
    messages_in_rows();
    rows_in_planes();
    if (!is_checked) rows_that_fail();
    for (int kind = HA_MPI_CORNERS; kind <= HA_MPI_AT_ONCE; kind++)
        some_record_halos(kind, rounds / 2 + 1);
    moved_by_record_halos();
    if (puts_values) record_halos_that_do_not_wait();
    told_of_messages();
    nothing_at_all();
    wrong_arguments();
    wrong_fields();
    wrong_shares();
    arrays_in_use();
    arrays_that_were_freed();
    arrays_of_pending_collectives();
    messages_that_do_not_fit();
    halos_that_do_not_fit();
    fields_that_do_not_fit();
    records_that_do_not_fit();
    a_rank_that_fails();
    records_that_fail();
    mpi_that_fails();
    if (!is_checked) collectives_without_mpi();
    for (int p = 0; p < 2; p++) halos_without_mpi(places[p]);
    if (!is_checked) pending_with_failures(1);
    pending_with_failures(0);
    messages_without_memory(rounds / 2);
    collectives_without_memory(2);
    for (int kind = HA_MPI_CORNERS; kind <= HA_MPI_FACES; kind++) {
        halos_without_memory(ha_host(), kind);
        halos_without_memory(places[1], kind);
    }
    for (int p = 0; p < 2; p++) record_halos_with_failures(places[p]);
    all_files(rounds);
    if (is_checked) types_that_differ();
    if (is_checked) fields_that_differ();
    if (is_checked) collectives_that_differ();
    if (is_checked) pending_collectives_that_differ();
}

/* Some of each: what its queue and memory, which has no addresses, do otherwise. */
static void cases_of_a_device(void) {
    messages_by_requests(1);
    messages_crosswise(3);
    fields_of_records(1);
    moved_by_fields();
    gathers(2);
    some_halos(HA_MPI_CORNERS, 2);
    some_record_halos(HA_MPI_FACES, 2);
    moved_by_record_halos();
    name_file();
    files(2);
}

int main(int argc, char **argv) {
    const int waits = argc > 1 && strcmp(argv[1], "waiting") == 0;
    is_checked = getenv("HARRAY_MPI_CHECK") != NULL;
    is_aware = getenv("HARRAY_MPI_GPU") && !strcmp(getenv("HARRAY_MPI_GPU"), "yes");
    if (is_aware) setenv("HARRAY_SIM", "delay=20us,strides=1", 1); /* as GPUs, it does that, too */
    puts_values = getenv("HARRAY_SIM") && strstr(getenv("HARRAY_SIM"), "strides=1");
    without_mpi("before MPI_Init");
    MPI_Init(&argc, &argv); /* one thread only */
    MPI_Comm_rank(WORLD, &me);
    MPI_Comm_size(WORLD, &ranks);
    places[0] = ha_host();
    places[1] = ha_context_find("sim:0");
    places[2] = ha_context_find("sim:1");
    const int of_opencl = argc > 1 && strcmp(argv[1], "opencl") == 0;
    if (of_opencl) places[1] = ha_context_find("opencl:0");
    if (!places[1]) (void)MPI_Finalize();
    if (!places[1]) return 77;
    if (ranks < 2) return 77; /* another MPI's launcher has started it */
    if (waits)
        waiting_for_nobody();
    else if (of_opencl)
        cases_of_a_device();
    else
        all_cases(getenv("HARRAY_TEST_LONG") ? 200 : argc > 1 ? atoi(argv[1]) : 10);
    if (!me) printf("1..%d\n", cases);
    MPI_Finalize();
    without_mpi("after MPI_Finalize");
    return failures ? 1 : 0;
}
