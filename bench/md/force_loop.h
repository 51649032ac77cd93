/* The force loop of a molecular dynamics, as one text for whatever the particles lie in: pairs by cell
 * lists, bonds, angles, walls, and half a kick. Included once for each NAME, with these defined:
 *
 *     PARTICLES, PLACE       types of all particles and of where one is
 *     AT(v, i)               the place of number i
 *     EACH(v, at)            a loop over all of them
 *     CHARGE, ENERGY, TYPE, P(v, at, d)     a value
 *     LOAD_R, LOAD_P, ADD_F, STORE_F, STORE_P(v, at, vector)     three of them
 *
 * It undefines them. */

#define FN(name) FN_1(name, NAME)
#define FN_1(name, suffix) FN_2(name, suffix)
#define FN_2(name, suffix) name##_##suffix

#ifndef BENCH_MD_FORCE_LOOP_H
#define BENCH_MD_FORCE_LOOP_H

/* A particle whose neighbours are looked at. */
typedef struct md_centre {
    double r[3], f[3], charge, energy;
    int type;
} md_centre;

static inline double md_dot(const double *a, const double *b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void md_virial(md_sums *sums, const double *d, const double *f) {
    sums->virial[0] += d[0] * f[0];
    sums->virial[1] += d[1] * f[1];
    sums->virial[2] += d[2] * f[2];
    sums->virial[3] += d[0] * f[1];
    sums->virial[4] += d[0] * f[2];
    sums->virial[5] += d[1] * f[2];
}

/* The shortest way between two particles of a box that repeats in x and y. */
static inline void md_shortest(const md *s, double *d) {
    for (int k = 0; k < 2; k++) {
        if (d[k] > s->box[k] / 2) d[k] -= s->box[k];
        if (d[k] < -s->box[k] / 2) d[k] += s->box[k];
    }
}

#endif

/* Two particles: Lennard-Jones by their types, switched off smoothly between `switching` and the cutoff
 * (x is how far from the one to the other), and their charges in a medium that begins at the cutoff. */
HA_FN void FN(pair)(PARTICLES v, const md *s, md_centre *i, PLACE j, const double *shift,
                    md_sums *sums) {
    double r[3], f[3];
    LOAD_R(v, j, r);
    const double d[3] = {i->r[0] - r[0] - shift[0], i->r[1] - r[1] - shift[1],
                         i->r[2] - r[2] - shift[2]};
    const double square = md_dot(d, d);
    if (square >= s->cutoff * s->cutoff) return;
    const int other = TYPE(v, j);
    const double charges = i->charge * CHARGE(v, j);
    const double sigma = s->sigma[i->type][other], inverse = 1 / square;
    const double six = sigma * sigma * inverse * sigma * sigma * inverse * sigma * sigma * inverse;
    const double four_epsilon = 4 * s->epsilon[i->type][other];
    double potential = four_epsilon * (six * six - six);
    double force = 6 * four_epsilon * (2 * six * six - six) * inverse; /* over the distance */
    if (square > s->switching * s->switching) {
        const double distance = sqrt(square), width = s->cutoff - s->switching;
        const double x = (distance - s->switching) / width;
        const double on = 1 - x * x * x * (10 - 15 * x + 6 * x * x);
        const double slope = -30 * x * x * (1 - 2 * x + x * x) / width;
        force = force * on - potential * slope / distance;
        potential *= on;
    }
    double electric = 0;
    if (charges != 0) {
        const double over_distance = sqrt(inverse);
        electric = charges * (over_distance + s->reaction_k * square - s->reaction_c);
        force += charges * (over_distance * inverse - 2 * s->reaction_k);
    }
    for (int k = 0; k < 3; k++) {
        f[k] = force * d[k];
        i->f[k] += f[k];
        f[k] = -f[k];
    }
    ADD_F(v, j, f);
    i->energy += (potential + electric) / 2;
    ENERGY(v, j) += (potential + electric) / 2;
    sums->lennard_jones += potential;
    sums->coulomb += electric;
    sums->pairs += 1;
    for (int k = 0; k < 3; k++) f[k] = -f[k];
    md_virial(sums, d, f);
}

/* All pairs: of the members of a cell with each other, and with those of the half of its neighbours
 * that comes after it. */
HA_FN void FN(pairs)(PARTICLES v, const md *s, md_sums *sums) {
    static const double nowhere[3] = {0, 0, 0};
    const ptrdiff_t *n = s->cells;
    for (ptrdiff_t z = 0; z < n[2]; z++)
        for (ptrdiff_t y = 0; y < n[1]; y++)
            for (ptrdiff_t x = 0; x < n[0]; x++) {
                const ptrdiff_t cell = (z * n[1] + y) * n[0] + x;
                for (ptrdiff_t a = s->start[cell]; a < s->start[cell + 1]; a++) {
                    const PLACE at = AT(v, s->member[a]);
                    md_centre i = {{0}, {0, 0, 0}, CHARGE(v, at), 0, TYPE(v, at)};
                    LOAD_R(v, at, i.r);
                    for (ptrdiff_t b = a + 1; b < s->start[cell + 1]; b++)
                        FN(pair)(v, s, &i, AT(v, s->member[b]), nowhere, sums);
                    for (int k = 14; k < 27; k++) { /* numbers behind the middle one, 13 */
                        ptrdiff_t to[3] = {x + k % 3 - 1, y + k / 3 % 3 - 1, z + k / 9 - 1};
                        double shift[3] = {0, 0, 0};
                        if (to[2] < 0 || to[2] >= n[2]) continue;
                        for (int d = 0; d < 2; d++) {
                            if (to[d] < 0) {
                                to[d] += n[d];
                                shift[d] = -s->box[d];
                            } else if (to[d] >= n[d]) {
                                to[d] -= n[d];
                                shift[d] = s->box[d];
                            }
                        }
                        const ptrdiff_t there = (to[2] * n[1] + to[1]) * n[0] + to[0];
                        for (ptrdiff_t b = s->start[there]; b < s->start[there + 1]; b++)
                            FN(pair)(v, s, &i, AT(v, s->member[b]), shift, sums);
                    }
                    ADD_F(v, at, i.f);
                    ENERGY(v, at) += i.energy;
                }
            }
}

/* Harmonic bonds between two particles. */
HA_FN void FN(bonds)(PARTICLES v, const md *s, md_sums *sums) {
    for (ptrdiff_t b = 0; b < s->bonds; b++) {
        const PLACE i = AT(v, s->bond[b][0]), j = AT(v, s->bond[b][1]);
        double ri[3], rj[3];
        LOAD_R(v, i, ri);
        LOAD_R(v, j, rj);
        double d[3] = {ri[0] - rj[0], ri[1] - rj[1], ri[2] - rj[2]};
        md_shortest(s, d);
        const double distance = sqrt(md_dot(d, d)), stretch = distance - s->bond_length;
        const double force = -s->bond_k * stretch / distance;
        const double energy = s->bond_k * stretch * stretch / 2;
        const double f[3] = {force * d[0], force * d[1], force * d[2]};
        const double back[3] = {-f[0], -f[1], -f[2]};
        ADD_F(v, i, f);
        ADD_F(v, j, back);
        ENERGY(v, i) += energy / 2;
        ENERGY(v, j) += energy / 2;
        sums->bond += energy;
        md_virial(sums, d, f);
    }
}

/* Angles between two bonds, harmonic in their cosine. */
HA_FN void FN(angles)(PARTICLES v, const md *s, md_sums *sums) {
    for (ptrdiff_t b = 0; b < s->angles; b++) {
        const PLACE i = AT(v, s->angle[b][0]), j = AT(v, s->angle[b][1]), k = AT(v, s->angle[b][2]);
        double ri[3], rj[3], rk[3], fi[3], fj[3], fk[3], u[3], w[3];
        LOAD_R(v, i, ri);
        LOAD_R(v, j, rj);
        LOAD_R(v, k, rk);
        for (int d = 0; d < 3; d++) {
            u[d] = ri[d] - rj[d];
            w[d] = rk[d] - rj[d];
        }
        md_shortest(s, u);
        md_shortest(s, w);
        const double uu = 1 / md_dot(u, u), ww = 1 / md_dot(w, w), uw = sqrt(uu * ww);
        const double cosine = md_dot(u, w) * uw, off = cosine - s->angle_cosine;
        for (int d = 0; d < 3; d++) {
            fi[d] = -s->angle_k * off * (w[d] * uw - u[d] * cosine * uu);
            fk[d] = -s->angle_k * off * (u[d] * uw - w[d] * cosine * ww);
            fj[d] = -fi[d] - fk[d];
        }
        ADD_F(v, i, fi);
        ADD_F(v, j, fj);
        ADD_F(v, k, fk);
        ENERGY(v, j) += s->angle_k * off * off / 2;
        sums->angle += s->angle_k * off * off / 2;
        md_virial(sums, u, fi);
        md_virial(sums, w, fk);
    }
}

/* A wall at each end of z, 9-3, and a field that pulls at charges. */
HA_FN void FN(walls)(PARTICLES v, const md *s, md_sums *sums) {
    double all = 0;
    EACH(v, at) {
        double r[3];
        LOAD_R(v, at, r);
        const double below = s->wall_sigma / (r[2] + s->wall_sigma);
        const double above = s->wall_sigma / (s->box[2] + s->wall_sigma - r[2]);
        const double three = below * below * below, far = above * above * above;
        const double energy = s->wall_epsilon *
                              (three * three * three - three + far * far * far - far);
        const double push = s->wall_epsilon / s->wall_sigma * 3 *
                            (below * (3 * three * three * three - three) -
                             above * (3 * far * far * far - far));
        const double f[3] = {s->field * CHARGE(v, at), 0, push};
        ADD_F(v, at, f);
        ENERGY(v, at) += energy;
        all += energy;
    }
    sums->wall = all;
}

/* Half a step for the momenta. */
HA_FN void FN(kick)(PARTICLES v, const md *s, md_sums *sums) {
    double all = 0;
    EACH(v, at) {
        double p[3], f[3];
        LOAD_P(v, at, p);
        LOAD_F(v, at, f);
        for (int k = 0; k < 3; k++) p[k] += s->dt / 2 * f[k];
        STORE_P(v, at, p);
        all += md_dot(p, p) / (2 * s->mass[TYPE(v, at)]);
    }
    sums->kinetic = all;
}

HA_FN void FN(forces)(PARTICLES v, const md *s, md_sums *result) {
    md_sums sums = {0};
    EACH(v, at) {
        static const double zero[3] = {0, 0, 0};
        STORE_F(v, at, zero);
        ENERGY(v, at) = 0;
    }
    FN(pairs)(v, s, &sums);
    FN(bonds)(v, s, &sums);
    FN(angles)(v, s, &sums);
    FN(walls)(v, s, &sums);
    FN(kick)(v, s, &sums);
    *result = sums;
}

#undef FN
#undef FN_1
#undef FN_2
#undef NAME
#undef PARTICLES
#undef PLACE
#undef AT
#undef EACH
#undef CHARGE
#undef ENERGY
#undef TYPE
#undef LOAD_R
#undef LOAD_P
#undef LOAD_F
#undef ADD_F
#undef STORE_F
#undef STORE_P
