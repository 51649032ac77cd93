/* Random messages between random views, by every way to send and receive, against known elements. All ranks draw the
 * same numbers, so each knows what the others do. */
#ifndef HARRAY_TESTS_MPI_SOME_MESSAGES_H
#define HARRAY_TESTS_MPI_SOME_MESSAGES_H

#include "ranks.h"

enum { AT_ONCE = 8 };

typedef struct some_message {
    int from, to, tag, tests, is_placed;
    shape_of shape;
    sample sent, received;
    ha_mpi_request out, in;
} some_message;

/* Both samples are drawn on all ranks, and kept where they are needed. */
static void make_message(some_message *m, int number) {
    *m = (some_message){.from = (int)draw(ranks), .to = (int)draw(ranks), .tag = number % 3};
    m->shape = some_shape(60);
    m->tests = draw(3) == 0;
    m->is_placed = (int)draw(2);
    m->sent = some_sample(&m->shape);
    m->received = some_sample(&m->shape);
    ha_context *const from = places[draw(PLACES)], *const to = places[draw(PLACES)];
    model_becomes(&m->sent, (uint64_t)number);
    model_is_written(&m->sent, from);
    model_is_written(&m->received, to);
}

static void begin_message(some_message *m) {
    if (m->to == me) SUCCEEDS(ha_mpi_irecv(&m->in, m->received.view, m->from, m->tag, WORLD));
    if (m->from != me) return;
    if (!m->is_placed) {
        SUCCEEDS(ha_mpi_isend(&m->out, m->sent.view, m->to, m->tag, WORLD));
    } else {
        HA_ON(places[m->tag]) SUCCEEDS(ha_mpi_isend(&m->out, m->sent.view, m->to, m->tag, WORLD));
    }
}

static void wait_for(ha_mpi_request *request, int by_test) {
    int done = 0;
    if (!by_test) SUCCEEDS(ha_mpi_wait(request));
    while (by_test && !done) SUCCEEDS(ha_mpi_test(request, &done));
    IS_TRUE(!request->message);
}

static void end_message(some_message *m, int number) {
    if (m->to == me) model_becomes(&m->received, (uint64_t)number);
    is_as_modelled(&m->received);
    is_as_modelled(&m->sent);
    free_sample(&m->sent);
    free_sample(&m->received);
}

/* Several at once, waited for backwards. */
static void messages_by_requests(int rounds) {
    static some_message m[AT_ONCE];
    for (int r = 0; r < rounds; r++) {
        for (int i = 0; i < AT_ONCE; i++) make_message(&m[i], r * AT_ONCE + i);
        for (int i = 0; i < AT_ONCE; i++) begin_message(&m[i]);
        for (int i = AT_ONCE; i-- > 0;) {
            wait_for(&m[i].out, m[i].tests);
            wait_for(&m[i].in, m[i].tests);
        }
        for (int i = 0; i < AT_ONCE; i++) end_message(&m[i], r * AT_ONCE + i);
    }
    end_case("messages by requests");
}

static void messages_at_once(int rounds) {
    some_message m;
    for (int r = 0; r < rounds; r++) {
        make_message(&m, r);
        if (m.from == me && m.to == me)
            SUCCEEDS(ha_mpi_exchange(m.sent.view, me, m.received.view, me, 5, WORLD));
        else if (m.from == me)
            SUCCEEDS(ha_mpi_send(m.sent.view, m.to, m.tag, WORLD));
        else if (m.to == me)
            SUCCEEDS(ha_mpi_recv(m.received.view, draw(2) ? m.from : MPI_ANY_SOURCE, MPI_ANY_TAG,
                                 WORLD));
        MPI_Barrier(WORLD);
        end_message(&m, r);
        random_state = (uint64_t)r + 99; /* not all have drawn */
    }
    end_case("messages at once");
}

/* To the right and from the left. */
static void messages_crosswise(int rounds) {
    const int right = (me + 1) % ranks, left = (me + ranks - 1) % ranks;
    for (int r = 0; r < rounds; r++) {
        const shape_of shape = some_shape(60);
        sample sent = some_sample(&shape), received = some_sample(&shape);
        model_becomes(&sent, (uint64_t)(r * ranks + me));
        model_is_written(&sent, places[draw(PLACES)]);
        random_state += (uint64_t)r; /* by drawing not all have come to the same */
        model_is_written(&received, places[draw(PLACES)]);
        SUCCEEDS(ha_mpi_exchange(sent.view, right, received.view, left, r % 5, WORLD));
        model_becomes(&received, (uint64_t)(r * ranks + left));
        is_as_modelled(&received);
        free_sample(&sent);
        free_sample(&received);
        MPI_Bcast(&random_state, 1, MPI_UINT64_T, 0, WORLD);
    }
    end_case("messages crosswise");
}

/* ---- fields of records ------------------------------------------------------------------------- */

static int
    puts_values; /* simulated devices put values into their places themselves (HARRAY_SIM=strides=1) */

typedef struct {
    struct {
        double x, y;
    } pos;
    int32_t kind;
    float mass;
} particle;
#define particle_FIELDS (double, pos, x), (double, pos, y), (int32_t, kind), (float, mass)
HA_RECORD(particle)
HA_VIEW(swarm, particle, 2, HA_ANY)
HA_RECORDS(particles, swarm);

static particle particle_at(int64_t i, int64_t j, int salt) {
    const double x = (double)(1000 * salt + 10 * i + j);
    const particle p = {{x, x + 0.25}, (int32_t)x * 3, (float)x / 2};
    return p;
}

static particles some_particles(int64_t n, int64_t m, int salt, ha_context *c, const char *layout) {
    particles r = particles_new(HA_DIM(n, m));
    SUCCEEDS(ha_records_layout(r.records, ha_host(), draw(2) ? "aos" : "soa"));
    if (c != ha_host()) SUCCEEDS(ha_records_layout(r.records, c, layout));
    HA_USING(v, r, ha_host(), "overwrite")
    HA_EACH(swarm, v, at)
    swarm_store(v, at, particle_at(ha_coordinate(at, 0), ha_coordinate(at, 1), salt));
    SUCCEEDS(ha_records_prefetch(r.records, c, NULL, 0, HA_END));
    return r;
}

/* "pos+mass" of the box have been received. */
static void compare_particles(particles r, int64_t n, int64_t m, ha_region box, int salt) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) {
            const int inside = i >= box.first[0] && i < box.last[0] && j >= box.first[1] &&
                               j < box.last[1];
            const particle theirs = particle_at(i, j, salt), ours = particle_at(i, j, me);
            particle p;
            SUCCEEDS(particles_get(r, HA_DIM(i, j), &p));
            IS_TRUE(p.pos.x == (inside ? theirs : ours).pos.x);
            IS_TRUE(p.pos.y == (inside ? theirs : ours).pos.y);
            IS_TRUE(p.mass == (inside ? theirs : ours).mass);
            IS_TRUE(p.kind == ours.kind);
        }
}

static void fields_of_records(int rounds) {
    static const char *const layouts[] = {"aos", "soa", "aosoa(4)"};
    const int right = (me + 1) % ranks, left = (me + ranks - 1) % ranks;
    for (int r = 0; r < rounds; r++) {
        const int64_t n = 1 + draw(7), m = 2 + draw(9);
        random_state += (uint64_t)me;
        const ha_region box = ha_box2(0, n, 1, m);
        particles x = some_particles(n, m, me, places[draw(PLACES)], layouts[draw(3)]);
        particles y = some_particles(n, m, me, places[draw(PLACES)], layouts[draw(3)]);
        SUCCEEDS(ha_mpi_exchange(HA_MPI_FIELDS(x.records, "pos + mass", box), right,
                                 HA_MPI_FIELDS(y.records, "mass+pos", box), left, 1, WORLD));
        compare_particles(y, n, m, box, left);
        particles_free(&x);
        particles_free(&y);
        MPI_Bcast(&random_state, 1, MPI_UINT64_T, 0, WORLD);
    }
    end_case("fields of records");
}

/* What a device packs itself goes from there, and comes to there; of the records nothing moves. */
static void moved_by_fields(void) {
    enum { N = 6, M = 5, BYTES = N * M * (8 + 8 + 4) }; /* of "pos+mass" */
    const int right = (me + 1) % ranks, left = (me + ranks - 1) % ranks;
    const ha_region all = ha_box2(0, N, 0, M);
    particles x = some_particles(N, M, me, places[1], "soa");
    particles y = some_particles(N, M, me, places[1], "aos");
    const ha_mpi_traffic before = ha_mpi_traffic_so_far();
    const uint64_t was = ha_records_statistics(x.records).bytes +
                         ha_records_statistics(y.records).bytes;
    HA_ON(places[1])
    SUCCEEDS(ha_mpi_exchange(HA_MPI_FIELDS(x.records, "pos+mass", all), right,
                             HA_MPI_FIELDS(y.records, "pos+mass", all), left, 1, WORLD));
    const ha_mpi_traffic after = ha_mpi_traffic_so_far();
    IS_TRUE(ha_records_statistics(x.records).bytes + ha_records_statistics(y.records).bytes == was);
    IS_TRUE(
        ha_records_valid(y.records, puts_values ? places[1] : ha_host(), "pos+mass", 0, HA_END));
    IS_TRUE(after.packed_bytes - before.packed_bytes == 2 * BYTES);
    IS_TRUE(after.staged_bytes - before.staged_bytes == (puts_values && !is_aware ? 2 * BYTES : 0));
    compare_particles(y, N, M, all, left);
    particles_free(&x);
    particles_free(&y);
    end_case("what messages of fields move");
}

#endif
