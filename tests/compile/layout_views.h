/* Uses every macro of views, in the subset that C11, C++17 and CUDA share. The beginning is the
 * sample of the manual. */
#ifndef COMPILE_LAYOUT_VIEWS_H
#define COMPILE_LAYOUT_VIEWS_H

#include <layout.h>

/* clang-format off */
typedef struct { struct { float x, y, z; } pos, vel; float mass; } body;
#define body_FIELDS (float,pos,x), (float,pos,y), (float,pos,z), (float,vel,x), (float,vel,y), (float,vel,z), (float,mass)
HA_RECORD(body)
HA_VIEW(sky, body, 1, HA_AOSOA(16))
HA_FN void drift(sky v, float dt) { HA_EACH(sky, v, at) *sky_pos_x(v, at) += dt * *sky_vel_x(v, at); }
/* clang-format on */

static int use_sample(void) {
    int failed = 0;
    sky v = sky_new(35);
    HA_EACH(sky, v, at) * sky_vel_x(v, at) = 10;
    HA_WITH(v, drift(v, 0.1f));
    HA_EACH(sky, v, at) {
        if (*sky_pos_x(v, at) < 0.9f) failed++;
    }
    sky_free(v);
    return failed;
}

/* Names of users that the text of a view might have for something else. */
typedef float spot;
typedef struct p {
    double far[50];
    spot x;
} p;
#define p_FIELDS (double, far, (50)), (spot, x)
HA_RECORD(p)
HA_VIEW(p_aos, p, 1, HA_AOS)
HA_VIEW(p_soa, p, 1, HA_SOA)

static int use_short_names(void) {
    p_soa v = p_soa_new(10);
    const ha_cursor at = p_soa_at(v, 9);
    int failed = p_aos_bytes(0, 10) != 10 * sizeof(p);
    *p_soa_x(v, at) = 2;
    failed += HA_TO_(size_t, p_soa_x_get(v, at)) != 2 || p_soa_bytes(50, 10) != 10 * sizeof(spot);
    p_soa_free(v);
    return failed;
}

typedef struct site {
    double e[3][3];
    struct {
        float re, im;
    } link[4];
    int tag;
} site;
#define LATE_FIELDS (float, link, (4), re), (float, link, (4), im)
#define EARLY_FIELDS (double, e, (3, 3)), (int, tag)
#define site_FIELDS EARLY_FIELDS, LATE_FIELDS
HA_RECORD(site)
HA_VIEW(site_aos, site, 4, HA_AOS)
HA_VIEW(site_packed, site, 3, HA_AOS_PACKED, HA_COL)
HA_VIEW(site_soa, site, 2, HA_SOA, HA_MORTON)
HA_VIEW(site_single, site, 1, HA_SOA_SINGLE)
HA_VIEW(site_aligned, site, 2, HA_SOA_SINGLE_ALIGNED)
HA_VIEW(site_rows, site, 3, HA_AOSOA(8, HA_ROWS))
HA_VIEW(site_one, site, 2, HA_ONE)
HA_VIEW(site_any, site, 2, HA_ANY)
HA_VIEW_SPLIT(site_two, 2, EARLY, HA_AOSOA(8), LATE, HA_AOS)
HA_VIEW(site_counted, site, 2, HA_COUNTED(HA_AOSOA(8, HA_ROWS)), HA_COL)
HA_VIEW(site_lines, site, 1, HA_HEATMAP(HA_COUNTED(HA_SOA)))
HA_VIEW(site_bytes, site, 1, HA_HEATMAP(HA_AOS, 1))
HA_VIEW_SPLIT(site_halves, 1, EARLY, HA_COUNTED(HA_AOS_PACKED), LATE, HA_HEATMAP(HA_SOA_SINGLE))
HA_VIEW_SPLIT(site_both, site, 3, EARLY, HA_SOA, LATE, HA_AOS_PACKED, HA_COL)

HA_FN void smooth(site_rows v, ha_region box) {
    HA_EACH_NEAR(site_rows, v, at, box)
    *site_rows_e(v, at, 0, 1) += *site_rows_e(v, ha_neighbour(at, 2, 1), 0, 0);
    HA_EACH_IN(site_rows, v, at, box) {
        if (ha_coordinate(at, 0) == 2 && ha_index(at) > 3) break;
        *site_rows_tag(v, at) = 1;
    }
}

HA_FN int look(site_any v) {
    int sum = 0;
    HA_EACH(site_any_const, site_any_reading(v), at)
    sum += *site_any_const_tag(site_any_reading(v), at);
    return sum;
}

static int use_counts(void) {
    int failed = 0;
    char text[20];
    site all[3];
    memset(all, 0, sizeof all);
    site_counted c = site_counted_new(3, 4);
    HA_EACH(site_counted, c, at) * site_counted_tag(c, at) = 1;
    failed += HA_COUNTS(site_counted, c)->leaf[9].pointers != 12;
    failed += ha_counts_text(HA_COUNTS(site_counted, c), text, sizeof text) < 100;
    ha_counts_reset(HA_COUNTS(site_counted, c));
    failed += HA_COUNTS(site_counted, c)->leaf[9].pointers != 0;
    site_counted_free(c);
    site_lines l = site_lines_new(9);
    site_lines_tag_set(l, site_lines_at(l, 8), 1);
    failed += HA_COUNTS(site_lines, l)->blob[9].touched[0] != 1;
    failed += ha_counts_json(HA_COUNTS(site_lines, l), text, sizeof text) < 100;
    site_lines_free(l);
    const site_bytes b = HA_COUNTING(site_bytes, site_bytes_of(all, 3));
    (void)site_bytes_const_load(site_bytes_reading(b), site_bytes_at(b, 2));
    failed += HA_COUNTS(site_bytes, b)->blob[0].touched[2 * sizeof(site)] != 1;
    ha_counts_free(HA_COUNTS(site_bytes, b));
    site_halves h = site_halves_new(9);
    site_halves_link_im_set(h, site_halves_at(h, 0), 3, 1);
    failed += HA_COUNTS(site_halves, h)->leaf[17].writes != 1;
    site_halves_free(h);
    return failed;
}

HA_ADVISED(look_on, site_any, a, if (look(a) < 0) return HA_ERR_STATE)

static int use_advice(void) {
    const int64_t extent[] = {3, 5};
    ha_advice advice[HA_ADVISED_LAYOUTS];
    ha_advising how;
    memset(&how, 0, sizeof how);
    how.run = look_on;
    how.rounds = 1;
    how.shortest = 1e-9;
    int failed = ha_layout_advise(&site_record, 2, extent, HA_NULL_, 0, &how, advice, HA_NULL_) !=
                 HA_OK;
    failed += ha_advice_text(advice, HA_ADVISED_LAYOUTS, HA_NULL_, 0) < 100;
    return failed;
}

/* Some layouts of many, fields that are arrays, and a part of the fields. */
HA_VIEW(site_few, site, 2, HA_ANY_OF(HA_SOA, HA_SOA_FIELDS, HA_AOSOA(8)))
HA_VIEW(site_fields, site, 2, HA_SOA_FIELDS)
HA_VIEW_LIST(site_few, EARLY)
typedef struct mixed {
    ha_half h[2];
    ha_c64 z[3];
    bool flag[6];
} mixed;
#define mixed_FIELDS (ha_half, h, (2)), (ha_c64, z, (3)), (bool, flag, (6))
HA_RECORD(mixed)
HA_VIEW(mixed_fields, mixed, 1, HA_SOA_FIELDS)

HA_FN int add_early(site_few v) {
    const double more[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    float re[4];
    HA_EACH(site_few, v, at) site_few_e_add(v, at, more);
    site_few_link_re_load(v, site_few_at(v, 1, 1), re);
    return HA_TO_(int, re[3] + HA_TO_(float, site_few_EARLY_load(v, site_few_at(v, 2, 3)).e[2][2]));
}

static int use_fields(void) {
    int failed = 0;
    site_few v = site_few_new(3, 4);
    const site_fields w = site_fields_new(3, 4);
    const mixed_fields m = mixed_fields_new(5);
    ha_c64 z[3];
    HA_WITH(v, failed += add_early(v) != 9);
    HA_WITH_ONLY(v, (HA_SOA), failed += add_early(v) != 18);
    failed += site_fields_apply(w, "e", HA_ASSIGN, 5, HA_NULL_) != HA_OK;
    failed += HA_TO_(int, site_fields_e_get(w, site_fields_at(w, 2, 3), 1, 1)) != 5;
    mixed_fields_z_load(m, mixed_fields_at(m, 4), z);
    mixed_fields_z_store(m, mixed_fields_at(m, 3), z);
    failed += HA_TO_(int, z[2].im) != 0;
    mixed_fields_free(m);
    site_fields_free(w);
    site_few_free(v);
    return failed;
}

static int use_layouts_of_views(void) {
    int failed = use_short_names() + use_counts() + use_advice() + use_fields();
    site s = {{{0}}, {{0, 0}}, 7};
    const site_rows r = site_rows_new(3, 4, 9);
    for (ptrdiff_t part = 0; part < 2; part++)
        smooth(r, ha_part(ha_inside(site_rows_region(r), 3, 1), part, 2));
    site_aos_store(site_aos_of(&s, 1, 1, 1, 1),
                   site_aos_at(site_aos_of(&s, 1, 1, 1, 1), 0, 0, 0, 0),
                   site_rows_load(r, site_rows_at(r, 1, 1, 1)));
    failed += s.tag != 1;
    site_rows_free(r);
    site_any a = site_any_new(3, 4);
    HA_EACH(site_any, a, at) site_any_tag_set(a, at, 1);
    HA_WITH(a, failed += look(a) != 12);
    site_any_free(a);
    const site_two t = site_two_new(3, 4);
    const site_two_record record = site_two_load(t, site_two_at(t, 2, 3));
    failed += record.tag != 0;
    site_two_free(t);
    const site_both b = site_both_new(3, 4, 5);
    site_both_store(b, site_both_at(b, 1, 1, 1), s);
    failed += site_both_tag_get(b, site_both_at(b, 1, 1, 1)) != 1;
    site_both_free(b);
    char room[HA_ROOM(site_single, 9)];
    const site_single w = site_single_in(room, 9);
    site_single_tag_set(w, site_single_at(w, 8), 4);
    failed += site_single_load(w, site_single_at(w, 8)).tag != 4;
    return failed;
}

#ifdef __CUDACC__
__global__ void drift_there(sky v, float dt);
__global__ void drift_there(sky v, float dt) {
    const ha_cursor at = sky_at(v, threadIdx.x);
    *sky_pos_x(v, at) += dt * *sky_vel_x(v, at);
    drift(v, dt);
}
__global__ void smooth_there(site_rows v, site_any a, site_both b);
__global__ void smooth_there(site_rows v, site_any a, site_both b) {
    smooth(v, ha_part(site_rows_region(v), threadIdx.x, blockDim.x));
    HA_WITH(a, site_any_tag_set(a, site_any_at(a, 0, 0), look(a)));
    site_both_store(b, site_both_at(b, 0, 0, 0), site_rows_load(v, site_rows_at(v, 0, 0, 0)));
}
__global__ void early_there(site_few v, int *sum);
__global__ void early_there(site_few v, int *sum) { HA_WITH(v, *sum = add_early(v)); }
/* Views of what a block shares: in memory whose bytes are counted when it is compiled, or launched, of
 * structs, and of arrays. */
enum { SHARED = 64 };
__global__ void mirror_there(sky v);
__global__ void mirror_there(sky v) {
    __shared__ char memory[HA_ROOM(sky, SHARED)];
    const sky tile = sky_in(memory, SHARED);
    const ha_cursor at = sky_at(v, blockIdx.x * SHARED + threadIdx.x);
    sky_store(tile, sky_at(tile, threadIdx.x), sky_load(v, at));
    __syncthreads();
    sky_store(v, at, sky_load(tile, sky_at(tile, SHARED - 1 - threadIdx.x)));
}
__global__ void share_there(site_any v, site_two w, ptrdiff_t n);
__global__ void share_there(site_any v, site_two w, ptrdiff_t n) {
    extern __shared__ char rooms[]; /* site_any_room(n, 4) and site_two_room(n, 4) bytes */
    const site_any any = site_any_in(rooms, n, 4);
    const site_two two = site_two_in(rooms + site_any_room(n, 4), n, 4);
    const site_any_const same = site_any_reading(any);
    site_any_store(any, site_any_at(any, 0, threadIdx.x), site_any_load(v, site_any_at(v, 0, 0)));
    site_two_store(two, site_two_at(two, 0, 1), site_two_load(w, site_two_at(w, 0, 0)));
    __syncthreads();
    *site_any_tag(v, site_any_at(v, 0, 0)) = *site_any_const_tag(same, site_any_at(any, 0, 1)) +
                                             site_two_tag_get(two, site_two_at(two, 0, 1));
}
__global__ void adopt_there(p *all);
__global__ void adopt_there(p *all) {
    __shared__ p tile[2];
    __shared__ double far[50][2];
    __shared__ spot x[2];
    void *blobs[p_soa_blobs];
    for (int b = 0; b < 50; b++) blobs[b] = far[b];
    blobs[50] = x;
    const p_soa columns = p_soa_on(blobs, 2);
    const p_aos records = p_aos_of(tile, 2);
    p_aos_store(records, p_aos_at(records, 1), all[0]);
    p_soa_store(columns, p_soa_at(columns, 1), p_aos_load(records, p_aos_at(records, 1)));
    all[1] = p_soa_load(columns, p_soa_at(columns, 1));
}
__global__ void count_there(site_counted v); /* does not, but runs */
__global__ void count_there(site_counted v) { *site_counted_tag(v, site_counted_at(v, 0, 0)) = 1; }
#endif

#endif
