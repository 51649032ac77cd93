/* Team kernels on every context: local memory, barriers, atomics, and what bodies must not do. */
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray_kernels.h"
#include "../support/matrix.h"
#include "../support/fake_kernels.h"

HA_ARRAY(int64_t, 1);
HA_ARRAY(int64_t, 2);
HA_ARRAY(int64_t, 3);

/* ---- kernels -------------------------------------------------------------------------------------- */

HA_TEAM_KERNEL(scan, 64, g, ((value, int64_t, n), (in, float, x), (out, float, y)), {
    HA_LOCAL(float, a, HA_TEAM);
    HA_LOCAL(float, b, HA_TEAM);
    HA_LANES(l) a[l] = g * HA_TEAM + l < n ? x[g * HA_TEAM + l] : 0;
    for (int d = 1; d < HA_TEAM; d *= 2) {
        HA_LANES(l) b[l] = l >= d ? a[l] + a[l - d] : a[l];
        HA_LANES(l) a[l] = b[l];
    }
    HA_LANES_ALONE(l) if (g * HA_TEAM + l < n) y[g * HA_TEAM + l] = a[l];
});

/* Sums of what stands behind. */
HA_TEAM_KERNEL(scan_back, 64, g, ((value, int64_t, n), (in, float, x), (out, float, y)), {
    HA_LOCAL(float, a, HA_TEAM);
    HA_LOCAL(float, b, HA_TEAM);
    HA_LANES(l) a[l] = g * HA_TEAM + l < n ? x[g * HA_TEAM + l] : 0;
    for (int d = 1; d < HA_TEAM; d *= 2) {
        HA_LANES(l) b[l] = l + d < HA_TEAM ? a[l] + a[l + d] : a[l];
        HA_LANES(l) a[l] = b[l];
    }
    HA_LANES_ALONE(l) {
        if (g * HA_TEAM + l >= n) continue;
        y[g * HA_TEAM + l] = a[l];
    }
});

HA_TEAM_KERNEL(histogram, 256, g,
               ((value, int64_t, n), (value, int64_t, each), (in, uint8_t, pixel),
                (inout, uint32_t, count)),
               {
                   HA_LOCAL(uint32_t, h, 256);
                   HA_LANES(l) h[l] = 0;
                   HA_LANES(l)
                   HA_SHARE(i, l, g * each, HA_LESS((g + 1) * each, n))
                   ha_local_add(&h[pixel[i]], 1);
                   HA_LANES_ALONE(l) if (h[l] != 0) ha_global_add(&count[l], h[l]);
               });

/* Of both neighbours, twice; without a loop. */
HA_TEAM_KERNEL(steps, 64, g, ((in, float, x), (inout, float, y)), {
    HA_LOCAL(float, a, HA_TEAM);
    HA_LOCAL(float, b, HA_TEAM);
    HA_LANES(l) a[l] = g * HA_TEAM + l < HA_SIZE(x) ? x[g * HA_TEAM + l] : 0;
    HA_LANES(l) b[l] = a[l] + 2 * a[(l + 1) % HA_TEAM] + 3 * a[(l + HA_TEAM - 1) % HA_TEAM];
    HA_LANES(l) a[l] = b[l];
    HA_LANES_ALONE(l) {
        b[l] = a[l] + 2 * a[(l + 1) % HA_TEAM] + 3 * a[(l + HA_TEAM - 1) % HA_TEAM];
        if (g * HA_TEAM + l < HA_SIZE(y)) y[g * HA_TEAM + l] = b[l];
    }
});

/* Local memory that is used twice. */
HA_TEAM_KERNEL(tiles, 64, g, ((in, float, x), (inout, float, y)), {
    HA_LOCAL(float, a, HA_TEAM);
    HA_PRIVATE(float, sum);
    HA_LANES(l) a[l] = g * HA_TEAM + l < HA_SIZE(x) ? x[g * HA_TEAM + l] : 0;
    HA_LANES_ALONE(l) HA_MINE(sum, l) = a[HA_TEAM - 1 - l];
    HA_BARRIER();
    HA_LANES(l) a[l] = (float)l;
    HA_LANES_ALONE(l)
    if (g * HA_TEAM + l < HA_SIZE(y)) y[g * HA_TEAM + l] = HA_MINE(sum, l) + a[HA_TEAM - 1 - l];
});

#define SOFTENING 0.25f
HA_DEVICE_CONST(softening, SOFTENING);
HA_TEAM_KERNEL(attract, 64, g,
               ((uses, softening), (value, float, dt), (in, float, x), (in, float, mass),
                (inout, float, v)),
               {
                   HA_LOCAL(float, there, HA_TEAM);
                   HA_LOCAL(float, m, HA_TEAM);
                   HA_PRIVATE(float, here);
                   HA_PRIVATE(float, force);
                   const ptrdiff_t n = HA_SIZE(x);
                   HA_LANES_ALONE(l) {
                       HA_MINE(here, l) = g * HA_TEAM + l < n ? x[g * HA_TEAM + l] : 0;
                       HA_MINE(force, l) = 0;
                   }
                   for (ptrdiff_t first = 0; first < n; first += HA_TEAM) {
                       HA_LANES(l) {
                           there[l] = first + l < n ? x[first + l] : 0;
                           m[l] = first + l < n ? mass[first + l] : 0;
                       }
                       for (int k = 0; k < HA_TEAM; k++) HA_LANES_ALONE(l) {
                               const float d = there[k] - HA_MINE(here, l);
                               HA_MINE(force, l) += m[k] * d / (d * d + SOFTENING);
                           }
                       HA_BARRIER();
                   }
                   HA_LANES_ALONE(l)
                   if (g * HA_TEAM + l < n) v[g * HA_TEAM + l] += dt * HA_MINE(force, l);
               });

/* The same of records, in any layout. */
typedef struct star {
    struct {
        float x;
    } pos, vel;
    float mass;
} star;
#define star_FIELDS (float, pos, x), (float, vel, x), (float, mass)
HA_RECORD(star)
HA_VIEW(sky, star, 1, HA_ANY)
HA_RECORDS(stars, sky);
HA_TEAM_KERNEL(pull, 64, g,
               ((uses, softening), (use, stars, p, "read pos+mass, write vel"), (value, float, dt)),
               {
                   HA_LOCAL(float, there, HA_TEAM);
                   HA_LOCAL(float, m, HA_TEAM);
                   HA_PRIVATE(float, here);
                   HA_PRIVATE(float, force);
                   HA_LANES_ALONE(l) {
                       const ptrdiff_t i = g * HA_TEAM + l;
                       HA_MINE(here, l) = i < p.count ? *sky_pos_x(p, sky_at(p, i)) : 0;
                       HA_MINE(force, l) = 0;
                   }
                   for (ptrdiff_t first = 0; first < p.count; first += HA_TEAM) {
                       HA_LANES(l) {
                           const ptrdiff_t j = first + l;
                           there[l] = j < p.count ? *sky_pos_x(p, sky_at(p, j)) : 0;
                           m[l] = j < p.count ? *sky_mass(p, sky_at(p, j)) : 0;
                       }
                       for (int k = 0; k < HA_TEAM; k++) HA_LANES_ALONE(l) {
                               const float d = there[k] - HA_MINE(here, l);
                               HA_MINE(force, l) += m[k] * d / (d * d + SOFTENING);
                           }
                       HA_BARRIER();
                   }
                   HA_LANES_ALONE(l) {
                       const ptrdiff_t i = g * HA_TEAM + l;
                       if (i < p.count) *sky_vel_x(p, sky_at(p, i)) += dt * HA_MINE(force, l);
                   }
               });

/* A transpose, by tiles. */
#define SIDE 8
HA_TEAM_KERNEL(turn, (SIDE, SIDE), (gy, gx), ((in, array_int64_t_2, x), (out, array_int64_t_2, y)),
               {
                   HA_LOCAL(int64_t, tile, HA_TEAM);
                   HA_LANES(ly, lx) {
                       const ptrdiff_t j = gy * HA_TEAM_Y + ly, i = gx * HA_TEAM_X + lx;
                       if (j < x.extent[0] && i < x.extent[1])
                           tile[ly * HA_TEAM_X + lx] = HA_AT(x, j, i);
                   }
                   HA_LANES_ALONE(ly, lx) {
                       const ptrdiff_t j = gx * HA_TEAM_X + ly, i = gy * HA_TEAM_Y + lx;
                       if (j < y.extent[0] && i < y.extent[1])
                           HA_AT(y, j, i) = tile[lx * HA_TEAM_X + ly];
                   }
               });

HA_TEAM_KERNEL(number, (2, 3, 4), (gz, gy, gx), ((out, array_int64_t_3, w)), {
    HA_PRIVATE(int64_t, z);
    HA_LANES_ALONE(lz, ly, lx) HA_MINE(z, lz, ly, lx) = 10000 * (gz * HA_TEAM_Z + lz);
    HA_LANES_ALONE(lz, ly, lx) {
        const ptrdiff_t k = gz * HA_TEAM_Z + lz, j = gy * HA_TEAM_Y + ly, i = gx * HA_TEAM_X + lx;
        if (k < w.extent[0] && j < w.extent[1] && i < w.extent[2])
            HA_AT(w, k, j, i) = HA_MINE(z, lz, ly, lx) + 100 * j + i;
    }
});

/* The team ends where all lanes do. */
HA_TEAM_KERNEL(some_teams, 4, g, ((inout, int, x)), {
    HA_LOCAL(int, a, HA_TEAM);
    if (g % 2) return;
    HA_LANES(l) a[l] = (int)(10 * g) + l;
    HA_LANES_ALONE(l) x[g * HA_TEAM + l] = a[HA_TEAM - 1 - l];
});

/* What atomics make of 60, in local memory and then in an array, by lanes 0 to 31. */
enum { ALL_ATOMICS = 20, REAL_ATOMICS = 12 };
#define INTEGER_ATOMICS(T)                                                                         \
    HA_TEAM_KERNEL(atomics_of_##T, 32, g, ((inout, T, r), (inout, T, before)), {                   \
        HA_LOCAL(T, s, 10);                                                                        \
        HA_LANES(l) if (l < 10) s[l] = 60;                                                         \
        HA_LANES(l) {                                                                              \
            ha_local_add(&s[0], (T)l);                                                             \
            ha_local_sub(&s[1], 1);                                                                \
            ha_local_min(&s[2], (T)(50 + l));                                                      \
            ha_local_max(&s[3], (T)(50 + l));                                                      \
            ha_local_and(&s[4], (T) ~(1 << l % 5));                                                \
            ha_local_or(&s[5], (T)(1 << l % 16));                                                  \
            ha_local_xor(&s[6], (T)(1 << l % 16));                                                 \
            if (l == 7) before[0] = ha_local_exchange(&s[7], 5);                                   \
            if (ha_local_compare_exchange(&s[8], 60, (T)(100 + l)) == 60)                          \
                before[1] = (T)(100 + l);                                                          \
            if (l == 9) ha_local_store(&s[9], 1 + ha_local_load(&s[9]));                           \
            ha_global_add(&r[10], (T)l);                                                           \
            ha_global_sub(&r[11], 1);                                                              \
            ha_global_min(&r[12], (T)(50 + l));                                                    \
            ha_global_max(&r[13], (T)(50 + l));                                                    \
            ha_global_and(&r[14], (T) ~(1 << l % 5));                                              \
            ha_global_or(&r[15], (T)(1 << l % 16));                                                \
            ha_global_xor(&r[16], (T)(1 << l % 16));                                               \
            if (l == 7) before[2] = ha_global_exchange(&r[17], 5);                                 \
            if (ha_global_compare_exchange(&r[18], 60, (T)(100 + l)) == 60)                        \
                before[3] = (T)(100 + l);                                                          \
            if (l == 9) ha_global_store(&r[19], 1 + ha_global_load(&r[19]));                       \
        }                                                                                          \
        HA_FENCE_LOCAL();                                                                          \
        HA_FENCE_GLOBAL();                                                                         \
        HA_BARRIER_LOCAL();                                                                        \
        HA_LANES_ALONE(l) if (l < 10) r[l] = s[l];                                                 \
        if (g == 0) HA_LANES_ALONE(l) if (l == 3) before[4] = s[8];                                \
    })
INTEGER_ATOMICS(int32_t);
INTEGER_ATOMICS(uint32_t);
INTEGER_ATOMICS(int64_t);
INTEGER_ATOMICS(uint64_t);

#define REAL_ATOMICS_OF(T)                                                                         \
    HA_TEAM_KERNEL(atomics_of_##T, 32, g, ((inout, T, r), (inout, T, before)), {                   \
        HA_LOCAL(T, s, 6);                                                                         \
        HA_LANES(l) if (l < 6) s[l] = 60;                                                          \
        HA_LANES(l) {                                                                              \
            ha_local_add(&s[0], (T)(0.5 * l));                                                     \
            ha_local_sub(&s[1], 1);                                                                \
            ha_local_min(&s[2], (T)(50.25 + l));                                                   \
            ha_local_max(&s[3], (T)(50.25 + l));                                                   \
            if (l == 7) before[0] = ha_local_exchange(&s[4], (T)5.5);                              \
            if (l == 9) ha_local_store(&s[5], (T)0.5 + ha_local_load(&s[5]));                      \
            ha_global_add(&r[6], (T)(0.5 * l));                                                    \
            ha_global_sub(&r[7], 1);                                                               \
            ha_global_min(&r[8], (T)(50.25 + l));                                                  \
            ha_global_max(&r[9], (T)(50.25 + l));                                                  \
            if (l == 7) before[1] = ha_global_exchange(&r[10], (T)5.5);                            \
            if (l == 9) ha_global_store(&r[11], (T)0.5 + ha_global_load(&r[11]));                  \
        }                                                                                          \
        HA_LANES_ALONE(l) if (l < 6 && g == 0) r[l] = s[l];                                        \
    })
REAL_ATOMICS_OF(float);
REAL_ATOMICS_OF(double);

/* ---- bodies that are refused ---------------------------------------------------------------------- */

HA_TEAM_KERNEL(returns, 8, g, ((inout, int, x)), {
    HA_LANES(l) if (l < 4) return;
    x[g] = 1;
});
HA_TEAM_KERNEL(leaves, 8, g, ((inout, int, x)), { HA_LANES(l) if (x[g] == l) break; });
HA_TEAM_KERNEL(nests, 8, g, ((inout, int, x)), { HA_LANES(l) HA_LANES_ALONE(k) x[g] = l + k; });
HA_TEAM_KERNEL(waits, 8, g, ((inout, int, x)), { HA_LANES(l) { x[g] = l; HA_BARRIER();
}
});
HA_TEAM_KERNEL(below, 8, g, ((inout, int, x)), {
    if (g) {
        HA_LOCAL(int, a, 8);
        HA_LANES(l) a[l] = l;
        x[g] = a[0];
    }
});
HA_TEAM_KERNEL(outside, 8, g, ((inout, int, x)), {
    HA_PRIVATE(int, p);
    HA_LANES(l) HA_MINE(p, l) = l;
    x[g] = HA_MINE(p, 0);
});
HA_TEAM_KERNEL(shares, 8, g, ((inout, int, x)), { HA_SHARE(i, 0, g, 8) x[g] = (int)i; });
HA_TEAM_KERNEL(jumps, 8, g, ((inout, int, x)), {
    if (x[g]) goto end;
    x[g] = 1;
end:
    x[g]++;
});

/* What looks like that, and is none of it. */
HA_TEAM_KERNEL(allowed, 8, g, ((inout, int, x)), {
    HA_LOCAL(int, a, HA_TEAM);
    HA_LANES(l) {
        a[l] = 0;
        for (int k = 0; k < 5; k++) {
            if (k > l) break;
            switch (k) {
            case 3:
                break;
            default:
                a[l] += k;
            }
        }
        do {
            if (a[l] > 100) break;
            a[l] *= 3;
        } while (a[l] > 0 && a[l] < 10);
        if (l == 5) continue;
        a[l] += "return; break"[0] - (l == 6 ? 'q' : 'r');
    }
    if (g > 1) return;
    for (int k = 0; k < 2; k++) {
        if (k == 1) break;
        HA_LANES_ALONE(l) x[g * HA_TEAM + l] = a[HA_TEAM - 1 - l];
    }
});

#define MUCH (512 * 1024)
HA_DEVICE_CONST(much, MUCH);
HA_TEAM_KERNEL(large, 8, g, ((uses, much), (inout, double, x)), {
    HA_LOCAL(double, a, MUCH *(HA_TEAM_X + 24) / 4 - 2);
    HA_LOCAL(char, b, HA_TEAM + 8);
    HA_LANES(l) a[l] = b[l] = 0;
    HA_LANES_ALONE(l) if (l == 0) x[g] = a[0];
});

/* How much this takes is not known before it is compiled. */
enum { SOME = 8 };
HA_DEVICE_CONST(some, SOME);
HA_TEAM_KERNEL(unknown, 8, g, ((uses, some), (inout, int, x)), {
    HA_LOCAL(int, a, SOME);
    HA_LANES(l) a[l] = l;
    HA_LANES_ALONE(l) x[l] = a[l];
});

KNOWN_KERNEL(scan)
KNOWN_KERNEL(scan_back)
KNOWN_KERNEL(histogram)
KNOWN_KERNEL(attract)
KNOWN_KERNEL(pull)
KNOWN_KERNEL(turn)
KNOWN_KERNEL(number)
KNOWN_KERNEL(some_teams)
KNOWN_KERNEL(allowed)
KNOWN_KERNEL(atomics_of_int32_t)
KNOWN_KERNEL(atomics_of_uint32_t)
KNOWN_KERNEL(atomics_of_int64_t)
KNOWN_KERNEL(atomics_of_uint64_t)
KNOWN_KERNEL(atomics_of_float)
KNOWN_KERNEL(atomics_of_double)
static const known_kernel *const known[] = {
    &scan_known,
    &scan_back_known,
    &histogram_known,
    &attract_known,
    &turn_known,
    &number_known,
    &some_teams_known,
    &allowed_known,
    &atomics_of_int32_t_known,
    &atomics_of_uint32_t_known,
    &atomics_of_int64_t_known,
    &atomics_of_uint64_t_known,
    &atomics_of_float_known,
    &atomics_of_double_known,
};

static int begin_teams(void **state) {
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) know_kernel(known[i]);
    return begin_case(state);
}
#define TEAMS(name) cmocka_unit_test_setup_teardown(name, begin_teams, end_case)

/* ---- scans ---------------------------------------------------------------------------------------- */

enum { MOST = 1000 };
static float values[MOST];

/* Sums over the part of 64 values that index i is in. */
static float scanned(int64_t n, int64_t i, int back) {
    float sum = 0;
    if (back)
        for (int64_t k = i; k < n && k / 64 == i / 64; k++) sum += values[k];
    else
        for (int64_t k = i / 64 * 64; k <= i; k++) sum += values[k];
    return sum;
}

static void expect_scanned(int64_t n) {
    harray_float x = harray_float_of((size_t)n, values), y = harray_float_new((size_t)n);
    keep_array(x.array), keep_array(y.array);
    for (int back = 0; back < 2; back++) {
        SUCCEEDS((back ? scan_back : scan)(C, HA_TEAMS(64, n), n, x, y));
        HA_READING(v, y, H) {
            for (int64_t i = 0; i < n; i++) assert_true(v.data[i] == scanned(n, i, back));
        }
        else fail();
    }
    drop_array(x.array), drop_array(y.array);
}

TEST(scans) {
    static const int64_t sizes[] = {1, 2, 63, 64, 65, 100, 128, 200, 999, MOST};
    for (int kind = 0; kind < 3; kind++) {
        for (int i = 0; i < MOST; i++) values[i] = kind == 0 ? 1 : (float)(i % 64 + (kind == 1));
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) expect_scanned(sizes[k]);
    }
    assert_true(scanned(64, 63, 0) == 2016); /* of 0 to 63 */
}

/* ---- others --------------------------------------------------------------------------------------- */

static void expect_counted(int64_t n, int64_t each) {
    harray_uint8_t p = harray_uint8_t_new((size_t)n);
    harray_uint32_t count = harray_uint32_t_filled(256, 3);
    uint32_t expected[256] = {0};
    keep_array(p.array), keep_array(count.array);
    HA_OVERWRITING_ALL(v, p, H) for (int64_t i = 0; i < n; i++) {
        v.data[i] = (uint8_t)(i * i % 251);
        expected[v.data[i]]++;
    }
    SUCCEEDS(histogram(C, HA_TEAMS(each, n), n, each, p, count));
    HA_READING(v, count, H) {
        for (int i = 0; i < 256; i++) assert_int_equal(v.data[i], 3 + expected[i]);
    }
    else fail();
    drop_array(p.array), drop_array(count.array);
}

TEST(histograms) {
    expect_counted(1, 1000);
    expect_counted(100003, 1000);
    expect_counted(65536, 65536);
}

enum { STARS = 200 };
static float star_x[STARS], star_mass[STARS], star_velocity[STARS];

/* Positions, masses, and velocities after half a second. */
static void compute_stars(void) {
    for (int i = 0; i < STARS; i++)
        star_x[i] = 0.125f * (float)(i * 7 % STARS), star_mass[i] = 1 + 0.01f * (float)i;
    for (int i = 0; i < STARS; i++) {
        float force = 0;
        for (int k = 0; k < (STARS + 63) / 64 * 64; k++) { /* zeros are added, too */
            const float d = (k < STARS ? star_x[k] : 0) - star_x[i], square = d * d;
            const float part = (k < STARS ? star_mass[k] : 0) * d;
            const float quotient = part / (square + SOFTENING);
            force += quotient;
        }
        star_velocity[i] = 1 + (float)(0.5f * force);
    }
}

TEST(bodies_that_attract_each_other) {
    compute_stars();
    harray_float there = harray_float_of(STARS, star_x), mass = harray_float_of(STARS, star_mass),
                 v = harray_float_filled(STARS, 1);
    keep_array(there.array), keep_array(mass.array), keep_array(v.array);
    SUCCEEDS(attract(C, HA_TEAMS(64, STARS), 0.5f, there, mass, v));
    HA_READING(w, v, H) {
        for (int i = 0; i < STARS; i++) assert_true(w.data[i] == star_velocity[i]);
    }
    else fail();
    drop_array(there.array), drop_array(mass.array), drop_array(v.array);
}

TEST(records_that_attract_each_other) {
    static const char *const layouts[] = {"aos", "soa", "aosoa(16)"};
    stars r = stars_new(STARS);
    compute_stars();
    for (int l = 0; l < 3; l++) {
        SUCCEEDS(ha_records_layout(r.records, C, layouts[l]));
        HA_USING(v, r, H, "overwrite") {
            for (int i = 0; i < STARS; i++)
                sky_store(v, sky_at(v, i), (star){{star_x[i]}, {1}, star_mass[i]});
        }
        else fail();
        know_records(&pull_known, C, r.records);
        SUCCEEDS(pull(C, HA_TEAMS(64, STARS), r, 0.5f));
        HA_USING(v, r, H, "read vel") {
            for (int i = 0; i < STARS; i++)
                assert_true(*sky_vel_x(v, sky_at(v, i)) == star_velocity[i]);
        }
        else fail();
    }
    SUCCEEDS(stars_free(&r));
}

TEST(teams_of_two_and_three_dimensions) {
    array_int64_t_2 x = array_int64_t_2_new(HA_DIM(13, 21), C),
                    y = array_int64_t_2_new(HA_DIM(21, 13), C);
    array_int64_t_3 w = array_int64_t_3_new(HA_DIM(5, 7, 9), C);
    keep_array(x.array), keep_array(y.array), keep_array(w.array);
    HA_OVERWRITING_ALL(v, x, H) {
        for (int j = 0; j < 13; j++)
            for (int i = 0; i < 21; i++) HA_AT(v.span, j, i) = 100 * j + i;
    }
    SUCCEEDS(turn(C, HA_DIM(HA_TEAMS(SIDE, 13), HA_TEAMS(SIDE, 21)), x, y));
    HA_READING(v, y, H) {
        for (int j = 0; j < 21; j++)
            for (int i = 0; i < 13; i++) assert_int_equal(HA_AT(v.span, j, i), 100 * i + j);
    }
    else fail();
    SUCCEEDS(number(C, HA_DIM(3, 3, 3), w));
    HA_READING(v, w, H) {
        for (int k = 0; k < 5; k++)
            for (int j = 0; j < 7; j++)
                for (int i = 0; i < 9; i++)
                    assert_int_equal(HA_AT(v.span, k, j, i), 10000 * k + 100 * j + i);
    }
    else fail();
    drop_array(x.array), drop_array(y.array), drop_array(w.array);
}

static void expect_ints(harray_int x, int n, const int *expected) {
    HA_READING(v, x, H) {
        for (int i = 0; i < n; i++) assert_int_equal(v.data[i], expected[i]);
    }
    else fail();
}

TEST(teams_that_end_and_teams_of_a_box) {
    static const int all[] = {3, 2, 1, 0, -1, -1, -1, -1, 23, 22, 21, 20},
                     one[] = {7, 7, 7, 7, 7, 7, 7, 7, 23, 22, 21, 20};
    harray_int x = harray_int_filled(12, -1);
    keep_array(x.array);
    SUCCEEDS(some_teams(C, 3, x));
    expect_ints(x, 12, all);
    HA_OVERWRITING_ALL(v, x, H) for (int i = 0; i < 12; i++) v.data[i] = 7;
    SUCCEEDS(some_teams_in(C, ha_box1(1, 3), x));
    expect_ints(x, 12, one);
    drop_array(x.array);
}

/* ---- atomics -------------------------------------------------------------------------------------- */

#define EXPECT_INTEGER_ATOMICS(T)                                                                  \
    do {                                                                                           \
        const int64_t expected[] = {60 + 496, 60 - 32, 50, 81, 60 & ~31, 65535, 60,                \
                                    5,        -1,      61, 0,  0,        0,     0};                \
        harray_##T r = harray_##T##_filled(ALL_ATOMICS, 60), before = harray_##T##_zeros(5);       \
        keep_array(r.array), keep_array(before.array);                                             \
        SUCCEEDS(atomics_of_##T(C, 1, r, before));                                                 \
        HA_READING(v, r, H) HA_READING(b, before, H) {                                             \
            for (int i = 0; i < ALL_ATOMICS; i++)                                                  \
                if (i % 10 != 8) assert_int_equal((int64_t)v.data[i], expected[i % 10]);           \
            assert_int_equal((int64_t)b.data[0], 60);                                              \
            assert_int_equal((int64_t)b.data[2], 60);                                              \
            assert_in_range((uint64_t)b.data[1], 100, 131);                                        \
            assert_int_equal((int64_t)b.data[4], (int64_t)b.data[1]);                              \
            assert_int_equal((int64_t)v.data[8], (int64_t)b.data[1]);                              \
            assert_int_equal((int64_t)v.data[18], (int64_t)b.data[3]);                             \
        }                                                                                          \
        drop_array(r.array), drop_array(before.array);                                             \
    } while (0)

TEST(atomics_of_integers) {
    EXPECT_INTEGER_ATOMICS(int32_t);
    EXPECT_INTEGER_ATOMICS(uint32_t);
    EXPECT_INTEGER_ATOMICS(int64_t);
    EXPECT_INTEGER_ATOMICS(uint64_t);
}

#define EXPECT_REAL_ATOMICS(T)                                                                     \
    do {                                                                                           \
        const double expected[] = {60 + 248, 60 - 32, 50.25, 81.25, 5.5, 60.5};                    \
        harray_##T r = harray_##T##_filled(REAL_ATOMICS, 60), before = harray_##T##_zeros(2);      \
        keep_array(r.array), keep_array(before.array);                                             \
        SUCCEEDS(atomics_of_##T(C, 1, r, before));                                                 \
        HA_READING(v, r, H) HA_READING(b, before, H) {                                             \
            for (int i = 0; i < REAL_ATOMICS; i++)                                                 \
                assert_true((double)v.data[i] == expected[i % 6]);                                 \
            assert_true(b.data[0] == 60 && b.data[1] == 60);                                       \
        }                                                                                          \
        drop_array(r.array), drop_array(before.array);                                             \
    } while (0)

TEST(atomics_of_reals) {
    EXPECT_REAL_ATOMICS(float);
    EXPECT_REAL_ATOMICS(double);
}

/* ---- coherence ------------------------------------------------------------------------------------ */

/* Nothing moves for what all lanes of the teams write; else what none writes keeps its value. */
TEST(elements_that_no_lane_writes) {
    harray_float x = harray_float_filled(100, 1), y = harray_float_filled(100, 5);
    keep_array(x.array), keep_array(y.array);
    SUCCEEDS(scan(C, 1, 100, x, y));
    HA_READING(v, y, H) assert_true(v.data[63] == 64 && v.data[64] == 5 && v.data[99] == 5);
    else fail();
    HA_WRITING(v, y, H) v.data[0] = 0;
    const uint64_t moved = ha_array_statistics(y.array).bytes;
    SUCCEEDS(scan(C, 2, 100, x, y));
    assert_int_equal(ha_array_statistics(y.array).bytes, moved);
    HA_READING(v, y, H) assert_true(v.data[99] == 36);
    else fail();
    drop_array(x.array), drop_array(y.array);
}

/* ---- what is wrong -------------------------------------------------------------------------------- */

static void refused(ha_status status, ha_status got, const char *part, const char *other) {
    const ha_error e = ha_take_error();
    assert_int_equal(got, status);
    assert_int_equal(e.status, status);
    if (!strstr(e.text, part) || !strstr(e.text, other) || !strstr(e.text, "cases_teams.c:"))
        fail_msg("'%s' lacks '%s' or '%s'", e.text, part, other);
}

TEST(bodies_that_break_rules) {
    harray_int x = harray_int_filled(16, 2);
    keep_array(x.array);
    for (int twice = 0; twice < 2; twice++) {
        refused(HA_ERR_COMPILE, returns(C, 1, x), "return within HA_LANES", "HA_TEAM_KERNEL");
        refused(HA_ERR_COMPILE, leaves(C, 1, x), "break out of HA_LANES", "");
        refused(HA_ERR_COMPILE, nests(C, 1, x), "HA_LANES within HA_LANES", "");
        refused(HA_ERR_COMPILE, waits(C, 1, x), "a barrier within HA_LANES", "");
        refused(HA_ERR_COMPILE, below(C, 1, x), "not at the top", "HA_LOCAL");
        refused(HA_ERR_COMPILE, outside(C, 1, x), "HA_MINE outside of HA_LANES", "");
        refused(HA_ERR_COMPILE, shares(C, 1, x), "HA_SHARE outside of HA_LANES", "");
        refused(HA_ERR_COMPILE, jumps(C, 1, x), "goto", "");
    }
    HA_READING(v, x, H) for (int i = 0; i < 16; i++) assert_int_equal(v.data[i], 2);
    SUCCEEDS(allowed(C, 1, x));
    static const int expected[] = {21, 22, 21, 21, 27, 27, 27, 0, 2, 2, 2, 2, 2, 2, 2, 2};
    expect_ints(x, 16, expected);
    drop_array(x.array);
}

TEST(teams_that_are_too_large) {
    const ha_kernel_limits few = {63, 1, 1 << 20}, little = {64, 1, 511};
    const ha_kernel_limits fits = {64, 1, 512};
    harray_double x = keep(harray_double_filled(1, 1));
    refused(HA_ERR_ARGUMENT, ha_team_fits(&scan_kernel, "host", &few), "64 lanes", "63");
    refused(HA_ERR_ARGUMENT, ha_team_fits(&scan_kernel, "host", &little), "512 bytes of local",
            "has 511");
    SUCCEEDS(ha_team_fits(&scan_kernel, "host", &fits));
    refused(HA_ERR_ARGUMENT, ha_team_fits(&turn_kernel, "host", &little), "512 bytes of local", "");
    assert_false(ha_team_read(&unknown_kernel).local_is_known);
    refused(HA_ERR_ARGUMENT, large(C, 1, x), "33554432 bytes of local memory", "at most 1048576");
    drop(x);
}

TEST(lanes_are_not_teams) {
    harray_float x = harray_float_filled(100, 1);
    keep_array(x.array);
    refused(HA_ERR_ARGUMENT, scan(C, HA_ALL_LANES, 100, x, x), "HA_ALL_LANES", "HA_TEAMS(64, n)");
    refused(HA_ERR_ARGUMENT, scan(C, -2, 100, x, x), "lanes below zero", "");
    refused(HA_ERR_ARGUMENT, scan(C, HA_TEAMS(64, -5), 100, x, x), "lanes below zero", "");
    refused(HA_ERR_ARGUMENT, scan(C, HA_TEAMS(64, HA_ALL_LANES), 100, x, x), "HA_ALL_LANES", "");
    refused(HA_ERR_ARGUMENT, scan(C, HA_TEAMS(0, 5), 100, x, (harray_float){NULL}), "y: no array",
            "");
    assert_int_equal(HA_TEAMS(64, 0), 0);
    assert_int_equal(HA_TEAMS(64, INT64_MAX), INT64_MAX / 64 + 1);
    SUCCEEDS(scan(C, 0, 100, x, x));
    drop_array(x.array);
}

/* ---- barriers ------------------------------------------------------------------------------------- */

/* A kernel, the word whose n-th occurrence goes, and what stands there instead. PoCL runs the lanes of a team one
 * after the other between barriers, so each of these shows. (Not those in front of a loop with barriers and at its
 * end: there it has its own.) */
typedef struct missing_barrier {
    const ha_kernel *kernel;
    const char *word, *instead;
    int n;
} missing_barrier;

static const missing_barrier missing[] = {
    {&steps_kernel, "HA_LANES(", "HA_LANES_ALONE(", 0},
    {&steps_kernel, "HA_LANES(", "HA_LANES_ALONE(", 1},
    {&steps_kernel, "HA_LANES(", "HA_LANES_ALONE(", 2},
    {&tiles_kernel, "HA_LANES(", "HA_LANES_ALONE(", 0},
    {&tiles_kernel, "HA_BARRIER()", "((void)0)", 0},
    {&tiles_kernel, "HA_LANES(", "HA_LANES_ALONE(", 1},
    {&scan_kernel, "HA_LANES(", "HA_LANES_ALONE(", 1},
    {&histogram_kernel, "HA_LANES(", "HA_LANES_ALONE(", 0},
    {&histogram_kernel, "HA_LANES(", "HA_LANES_ALONE(", 1},
    {&attract_kernel, "HA_LANES(", "HA_LANES_ALONE(", 0},
    {&turn_kernel, "HA_LANES(", "HA_LANES_ALONE(", 0},
    {&some_teams_kernel, "HA_LANES(", "HA_LANES_ALONE(", 0},
};
enum { MISSING = sizeof missing / sizeof *missing, TEXT_BYTES = 4000 };
static ha_kernel mutants[MISSING];
static char mutant_text[MISSING][TEXT_BYTES];

static const ha_kernel *without_barrier(int i) {
    const missing_barrier *m = &missing[i];
    const char *at = strstr(m->kernel->text, m->word);
    for (int k = 0; at && k < m->n; k++) at = strstr(at + 1, m->word);
    if (!at) fail_msg("%s has no %s number %d", m->kernel->name, m->word, m->n);
    mutants[i] = *m->kernel;
    snprintf(mutant_text[i], TEXT_BYTES, "%.*s%s%s", (int)(at - m->kernel->text), m->kernel->text,
             m->instead, at + strlen(m->word));
    mutants[i].text = mutant_text[i];
    return &mutants[i];
}

/* Everything that a kernel writes, as bytes. */
static ha_array *outcome(const ha_kernel *k, const ha_kernel *like) {
    enum { N = 200 };
    const int64_t n = N, each = 50;
    const float dt = 0.5f;
    float v[N];
    uint8_t p[N];
    int64_t w[16 * 16];
    for (int i = 0; i < N; i++) v[i] = (float)(i * 37 % N) + 1, p[i] = (uint8_t)(i * 7 % 256);
    for (int i = 0; i < 16 * 16; i++) w[i] = i + 1;
    harray_float x = harray_float_of(N, v), y = harray_float_zeros(N);
    harray_uint8_t pixel = harray_uint8_t_of(N, p);
    harray_uint32_t count = harray_uint32_t_zeros(256);
    harray_int z = harray_int_zeros(16);
    array_int64_t_2 from = array_int64_t_2_of(HA_DIM(16, 16), w, C),
                    to = array_int64_t_2_zeros(HA_DIM(16, 16), C);
    const void *const scanning[] = {&n, &x, &y}, *const counting[] = {&n, &each, &pixel, &count},
                      *const attracting[] = {NULL, &dt, &x, &x, &y}, *const stepping[] = {&x, &y},
                      *const turning[] = {&from, &to}, *const some[] = {&z};
    const ha_region teams = like == &turn_kernel ? ha_box2(0, 2, 0, 2) : ha_box1(0, 4);
    const int steps_it = like == &steps_kernel || like == &tiles_kernel;
    SUCCEEDS(ha_kernel_launch_(k, C, &teams,
                               steps_it                    ? stepping
                               : like == &scan_kernel      ? scanning
                               : like == &histogram_kernel ? counting
                               : like == &attract_kernel   ? attracting
                               : like == &turn_kernel      ? turning
                                                           : some));
    ha_array *all[] = {x.array, pixel.array, from.array, y.array, count.array, to.array, z.array};
    ha_array *written = like == &histogram_kernel    ? count.array
                        : like == &turn_kernel       ? to.array
                        : like == &some_teams_kernel ? z.array
                                                     : y.array;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i] != written) SUCCEEDS(ha_array_free(all[i]));
    return written;
}

static int same_bytes(ha_array *a, ha_array *b) {
    ha_access x = {0}, y = {0};
    int same = -1;
    SUCCEEDS(ha_open(&x, a, H, HA_READ, 0, HA_END));
    SUCCEEDS(ha_open(&y, b, H, HA_READ, 0, HA_END));
    same = !memcmp(x.data, y.data, x.size * ha_array_type(a).size);
    SUCCEEDS(ha_close(&x));
    SUCCEEDS(ha_close(&y));
    return same;
}

TEST(barriers_that_are_missing_show) {
    int failures = 0;
    if (!is_of_opencl()) skip();
    for (int i = 0; i < MISSING; i++) {
        ha_array *right = outcome(missing[i].kernel, missing[i].kernel);
        ha_array *wrong = outcome(without_barrier(i), missing[i].kernel);
        if (same_bytes(right, wrong)) {
            print_error("%s: number %d of %s is not missed\n", missing[i].kernel->name,
                        missing[i].n, missing[i].word);
            failures++;
        }
        SUCCEEDS(ha_array_free(right));
        SUCCEEDS(ha_array_free(wrong));
    }
    assert_int_equal(failures, 0);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        TEAMS(scans),
        TEAMS(histograms),
        TEAMS(bodies_that_attract_each_other),
        TEAMS(records_that_attract_each_other),
        TEAMS(teams_of_two_and_three_dimensions),
        TEAMS(teams_that_end_and_teams_of_a_box),
        TEAMS(atomics_of_integers),
        TEAMS(atomics_of_reals),
        TEAMS(elements_that_no_lane_writes),
        TEAMS(bodies_that_break_rules),
        TEAMS(teams_that_are_too_large),
        TEAMS(lanes_are_not_teams),
        TEAMS(barriers_that_are_missing_show),
    };
    int failed = 0;
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    RUN_ON_MATRIX(failed, tests)
    return failed;
}
