/* What messages move between memories, and who says so: counters, the report and the trace. Nothing, where MPI takes the
 * device's pointers. */
#ifndef HARRAY_TESTS_MPI_MOVED_H
#define HARRAY_TESTS_MPI_MOVED_H

#include "halos.h"

/* The transfers of a call site so far. */
static uint64_t transfers_of(const char *of) {
    static ha_site_statistics all[2000];
    const size_t n = ha_sites(all, 2000);
    for (size_t i = 0; i < n && i < 2000; i++)
        if (!strcmp(all[i].site, of)) return all[i].transfers;
    return 0;
}

/* Whether a file has the text. */
static int has_text(FILE *file, const char *text) {
    static char line[4000];
    int found = 0;
    rewind(file);
    while (!found && fgets(line, sizeof line, file)) found = strstr(line, text) != NULL;
    return found;
}

/* What a traced message to the right, of a view on a device, has moved: bytes in both directions. */
typedef struct moved_case {
    uint64_t staged, packed;
    unsigned long given;
    uint64_t transfers;         /* at the line of the send */
    int is_reported, is_traced; /* it stands there: as waits and copies on a device do, too */
} moved_case;

/* The site of a call, which all macros of one line have. */
static const char *site;
#define FROM_HERE(call) (site = HA_SITE, (call))

static moved_case moved_by(darray out, darray in) {
    const int right = (me + 1) % ranks, left = (me + ranks - 1) % ranks;
    const ha_mpi_traffic before = ha_mpi_traffic_so_far();
    const unsigned long given = given_of_devices;
    ha_mpi_request r[2] = {{NULL}};
    char path[] = "/tmp/harray_mpi_XXXXXX";
    const int made = mkstemp(path);
    IS_TRUE(made >= 0);
    SUCCEEDS(ha_trace_begin(path));
    SUCCEEDS(ha_mpi_irecv(&r[0], in, left, 1, WORLD));
    SUCCEEDS(FROM_HERE(ha_mpi_isend(&r[1], out, right, 1, WORLD)));
    SUCCEEDS(ha_mpi_wait_all(r, 2));
    SUCCEEDS(darray_prefetch(in, places[1]));
    SUCCEEDS(ha_context_finish(places[1]));
    SUCCEEDS(ha_trace_end());
    const ha_mpi_traffic after = ha_mpi_traffic_so_far();
    FILE *report = tmpfile(), *trace = fdopen(made, "r");
    moved_case m = {.staged = after.staged_bytes - before.staged_bytes,
                    .packed = after.packed_bytes - before.packed_bytes,
                    .given = given_of_devices - given};
    ha_report(report);
    m.transfers = transfers_of(site);
    m.is_reported = has_text(report, site);
    m.is_traced = has_text(trace, site);
    fclose(report);
    fclose(trace);
    unlink(path);
    return m;
}

static void moved_by_messages(void) {
    enum { N = 30, BYTES = N * 8 };
    ha_report_reset(); /* it has the largest transfers alone */
    array_double_2 x = array_double_2_filled(HA_DIM(N, 4), me + 1, places[1]);
    array_double_2 y = array_double_2_filled(HA_DIM(N, 4), -1, places[1]);
    SUCCEEDS(array_double_2_fill(x, me + 2, places[1])); /* under way when it is sent */
    (void)moved_by(HA_DARRAY(array_double_2_fix(x, 1, 0)), HA_DARRAY(array_double_2_fix(y, 1, 0)));
    const moved_case packed = moved_by(HA_DARRAY(array_double_2_fix(x, 1, 3)),
                                       HA_DARRAY(array_double_2_fix(y, 1, 3)));
    SUCCEEDS(array_double_2_fill(x, me + 2, places[1]));
    const moved_case plain = moved_by(HA_DARRAY(x), HA_DARRAY(y));
    IS_TRUE(packed.packed == 2 * BYTES);
    IS_TRUE(plain.packed == 0);
    IS_TRUE(packed.staged == (is_aware ? 0 : 2 * BYTES));
    IS_TRUE(plain.staged == (is_aware ? 0 : 4 * BYTES)); /* what has come stays on the host */
    IS_TRUE(packed.given == (is_aware ? 2 : 0));
    IS_TRUE(plain.given == (is_aware ? 2 : 0));
    IS_TRUE(is_aware ? packed.transfers == 0 : packed.transfers > 0 && packed.is_reported);
    IS_TRUE(packed.is_traced && (plain.is_traced || is_aware));
    IS_TRUE(strstr(ha_mpi_describe(places[1]), is_aware ? "direct: HARRAY_MPI_GPU" : "staged: "));
    IS_TRUE(!strcmp(ha_mpi_describe(ha_host()), "in place or packed: it is the host"));
    double value = 0;
    SUCCEEDS(array_double_2_get(y, HA_DIM(N - 1, 3), &value));
    IS_TRUE(value == (double)((me + ranks - 1) % ranks + 2));
    SUCCEEDS(array_double_2_free(&x));
    SUCCEEDS(array_double_2_free(&y));
    end_case("what messages move");
}

enum { ROWS = 6, ROW = 8, ROW_FROM = 2, WIDE = 11, ROWS_BYTES = ROWS * ROW * 8 };

/* Rows of an array that has something between them; -1 - me everywhere, if nothing else. */
static darray some_rows(array_double_2 x, int numbered) {
    HA_OVERWRITING_ALL(v, x, ha_host())
    for (int i = 0; i < ROWS * WIDE; i++) v.data[i] = numbered ? i : -1 - me;
    return darray_slice(HA_DARRAY(x), 1, ROW_FROM, ROW_FROM + ROW, 1);
}

/* `out` goes from rank 0 to `in` of rank 1: how many bytes have been packed here. */
static uint64_t packed_by(darray out, darray in) {
    const uint64_t before = ha_mpi_traffic_so_far().packed_bytes;
    if (me == 0) SUCCEEDS(ha_mpi_send(out, 1, 4, WORLD));
    if (me == 1) SUCCEEDS(ha_mpi_recv(in, 0, 4, WORLD));
    return ha_mpi_traffic_so_far().packed_bytes - before;
}

/* Row i of what was received is as row order + sign * i of what was sent, and what is between rows as it was. */
static void expect_rows(array_double_2 y, int order, int sign) {
    if (me != 1) return;
    HA_READING(v, y, ha_host())
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < WIDE; j++) {
            const int inside = j >= ROW_FROM && j < ROW_FROM + ROW;
            IS_TRUE(v.data[i * WIDE + j] == (inside ? (order + sign * i) * WIDE + j : -2));
        }
}

/* Rows that lie on the host are not packed, in whatever order they are, and what is between them stays. */
static void messages_in_rows(void) {
    const int64_t extent[] = {ROWS, ROW};
    const uint64_t none = is_checked ? ROWS_BYTES : 0, here = me < 2 ? ROWS_BYTES : 0;
    array_double_2 x = array_double_2_zeros(HA_DIM(ROWS, WIDE), ha_host());
    array_double_2 y = array_double_2_zeros(HA_DIM(ROWS, WIDE), ha_host());
    const darray out = some_rows(x, 1), second = darray_slice(out, 0, 1, 2, 1);
    IS_TRUE(packed_by(out, some_rows(y, 0)) == (me < 2 ? none : 0));
    expect_rows(y, 0, 1);
    IS_TRUE(packed_by(darray_flip(out, 0), some_rows(y, 0)) == (me < 2 ? none : 0));
    expect_rows(y, ROWS - 1, -1);
    IS_TRUE(packed_by(out, darray_flip(some_rows(y, 0), 0)) == (me < 2 ? none : 0));
    expect_rows(y, ROWS - 1, -1);
    IS_TRUE(packed_by(darray_broadcast(second, 2, extent), some_rows(y, 0)) == (me < 2 ? none : 0));
    expect_rows(y, 1, 0);
    /* Where they are not on the host, or are no rows, they are packed. */
    SUCCEEDS(array_double_2_fill(x, 3, places[1]));
    (void)some_rows(y, 0);
    SUCCEEDS(array_double_2_fill(y, 4, places[1]));
    IS_TRUE(packed_by(out, darray_slice(HA_DARRAY(y), 1, 0, ROW, 1)) == here);
    (void)some_rows(x, 1);
    IS_TRUE(
        packed_by(darray_slice(out, 0, 0, ROWS, 2), darray_slice(some_rows(y, 0), 0, 0, ROWS, 2)) ==
        here / 2); /* an access would lock the rows between, too */
    IS_TRUE(packed_by(darray_flip(out, 1), darray_flip(some_rows(y, 0), 1)) == here);
    expect_rows(y, 0, 1);
    SUCCEEDS(array_double_2_free(&x));
    SUCCEEDS(array_double_2_free(&y));
    end_case("messages in rows");
}

/* Rows of planes, of which only the columns are locked that are received: the one beside them is open for writing. And of
 * a dimension of one index the stride means nothing. */
static void rows_in_planes(void) {
    enum { N = 3, M = 4, K = 5, WIDE_3 = K + 2, ALL = N * M * WIDE_3 };
    double of_one[WIDE_3 * M] = {0};
    array_double_3 x = array_double_3_zeros(HA_DIM(N, M, WIDE_3), ha_host());
    array_double_3 y = array_double_3_zeros(HA_DIM(N, M, WIDE_3), ha_host());
    HA_OVERWRITING_ALL(v, x, ha_host())
    for (int i = 0; i < ALL; i++) v.data[i] = i;
    darray out = darray_slice(darray_slice(HA_DARRAY(x), 2, 1, 1 + K, 1), 1, 1, M, 1);
    darray in = darray_slice(darray_slice(HA_DARRAY(y), 2, 1, 1 + K, 1), 1, 1, M, 1);
    HA_WRITING(beside, array_double_3_fix(y, 2, 0), ha_host()) {
        IS_TRUE(packed_by(out, in) == (me < 2 && is_checked ? N * (M - 1) * K * 8 : 0));
    }
    else complain(__LINE__, "the column beside is locked");
    if (me == 1) {
        HA_READING(v, y, ha_host())
        for (int i = 0; i < ALL; i++) {
            const int inside = i % WIDE_3 >= 1 && i % WIDE_3 < 1 + K && i / WIDE_3 % M >= 1;
            IS_TRUE(v.data[i] == (inside ? i : 0));
        }
    }
    for (int after = 0; after < 4 && !is_checked; after++) {
        mpi_arm(after);
        FAILS(HA_ERR_BACKEND, after < 3 ? "making a type failed" : "sending failed",
              ha_mpi_send(out, me, 4, WORLD));
    }
    mpi_arm(-1);
    const int64_t extent[] = {1, M, K}, stride[] = {INT64_MAX / 2, WIDE_3, 1};
    darray wrapped = darray_wrap(HA_DTYPE_double, 3, extent, stride, of_one, NULL, 0);
    IS_TRUE(wrapped.array != NULL);
    IS_TRUE(packed_by(wrapped, wrapped) == (me < 2 && is_checked ? M * K * 8 : 0));
    SUCCEEDS(darray_free(&wrapped));
    SUCCEEDS(array_double_3_free(&x));
    SUCCEEDS(array_double_3_free(&y));
    end_case("rows in planes");
}

/* MPI does not make their type, or does not send them, or what comes is shorter. */
static void rows_that_fail(void) {
    array_double_2 x = array_double_2_zeros(HA_DIM(ROWS, WIDE), ha_host());
    const darray rows = some_rows(x, 1);
    for (int after = 0; after < 3; after++) {
        mpi_arm(after);
        FAILS(HA_ERR_BACKEND, after < 2 ? "making a type failed" : "sending failed",
              ha_mpi_send(rows, me, 4, WORLD));
    }
    mpi_arm(-1);
    if (me == 0) SUCCEEDS(ha_mpi_send(darray_slice(rows, 0, 1, ROWS, 1), 1, 4, WORLD));
    if (me == 1) FAILS(HA_ERR_ARGUMENT, "bytes have come", ha_mpi_recv(rows, 0, 4, WORLD));
    HA_WRITING(v, x, ha_host()) {
        for (int i = 0; i < ROWS * WIDE; i++)
            IS_TRUE(v.data[i] == i || (i % WIDE >= ROW_FROM && i % WIDE < ROW_FROM + ROW));
    }
    else complain(__LINE__, "rows that failed are locked");
    SUCCEEDS(array_double_2_free(&x));
    end_case("rows that fail");
}

#endif
