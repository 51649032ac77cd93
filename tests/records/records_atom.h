/* The record of the tests of record arrays: fields of several types and sizes, one of them an array. */
#ifndef HARRAY_TESTS_RECORDS_RECORDS_ATOM_H
#define HARRAY_TESTS_RECORDS_RECORDS_ATOM_H

typedef struct atom {
    struct {
        double x, y, z;
    } pos;
    struct {
        float x, y;
    } vel;
    double mass;
    uint16_t tag[3];
    int32_t id;
    uint8_t flag;
} atom;
#define atom_FIELDS                                                                                \
    (double, pos, x), (double, pos, y), (double, pos, z), (float, vel, x), (float, vel, y),        \
        (double, mass), (uint16_t, tag, (3)), (int32_t, id), (uint8_t, flag)
HA_RECORD(atom)

enum { POS = 0, VEL = 3, MASS = 5, TAG = 6, ID = 9, FLAG = 10, LEAVES = 11 };
enum { POS_BYTES = 24, VEL_BYTES = 8, MASS_BYTES = 8, ATOM_BYTES = 24 + 8 + 8 + 6 + 4 + 1 };
static const size_t leaf_bytes[LEAVES] = {8, 8, 8, 4, 4, 8, 2, 2, 2, 4, 1};

HA_VIEW(cloud, atom, 1, HA_ANY)
HA_RECORDS(atoms, cloud);

/* Layouts that keep every value, by which the tests go. */
static const char *const atom_layouts[] = {
    "aos",
    "soa",
    "aosoa(4)",
    "aosoa(8)",
    "soa(single,aligned)",
    "aos(packed)",
    "soa(single)",
    "aos(minalign)",
    "aosoa(3)",
    "split(separate; pos: soa, aos)",
    "split(separate; mass+tag: aos, aosoa(8))",
    "soa@morton",
    "soa(fields)",
};
enum { ATOM_LAYOUTS = sizeof atom_layouts / sizeof *atom_layouts };

/* What a leaf is set to: any type of them has this number. */
static inline double atom_number(int64_t leaf, uint32_t k) {
    return leaf == FLAG ? k % 251 : k % 65521;
}

static inline double leaf_number(int64_t leaf, const void *value) {
    double d;
    float f;
    int32_t i;
    uint16_t u;
    if (leaf == ID) return memcpy(&i, value, sizeof i), i;
    if (leaf == FLAG) return *(const uint8_t *)value;
    if (leaf_bytes[leaf] == 2) return memcpy(&u, value, sizeof u), u;
    if (leaf_bytes[leaf] == 4) return memcpy(&f, value, sizeof f), (double)f;
    return memcpy(&d, value, sizeof d), d;
}

static inline void leaf_set_number(int64_t leaf, double number, void *value) {
    const float f = (float)number;
    const int32_t i = (int32_t)number;
    const uint16_t u = (uint16_t)number;
    if (leaf == ID)
        memcpy(value, &i, sizeof i);
    else if (leaf == FLAG)
        *(uint8_t *)value = (uint8_t)number;
    else if (leaf_bytes[leaf] == 2)
        memcpy(value, &u, sizeof u);
    else if (leaf_bytes[leaf] == 4)
        memcpy(value, &f, sizeof f);
    else
        memcpy(value, &number, sizeof number);
}

#endif
