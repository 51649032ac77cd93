/* Arithmetic with whole views (layout/arithmetic.h) against the loops that one would write by hand
 * for the layout: a body of 7 floats and a pixel of 4, all of their fields or the first three; so
 * few that they stay in the cache of the second level, and so many that they do not fit any; and so
 * few that it shows what a call costs before it begins. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#define HA_LAYOUT_IMPLEMENTATION
#include "../layout.h"

#include <math.h>

#include "loops.h"

/* ---- work ------------------------------------------------------------------------------------ */

#define BODY "pos.x:f32 pos.y:f32 pos.z:f32 vel.x:f32 vel.y:f32 vel.z:f32 mass:f32"
#define PIXEL "color.r:f32 color.g:f32 color.b:f32 alpha:f32"
#define BODY_OF_DOUBLES "pos.x:f64 pos.y:f64 pos.z:f64 vel.x:f64 vel.y:f64 vel.z:f64 mass:f64"
#define PIXEL_OF_DOUBLES "color.r:f64 color.g:f64 color.b:f64 alpha:f64"

typedef enum layout { AOS = 0, SOA, AOSOA8, AOSOA32, LAYOUTS } layout;
static const char *const layout_text[LAYOUTS] = {"aos", "soa", "aosoa(8)", "aosoa(32)"};
enum { MOST_FIELDS = 7, MANY = 32768 };

typedef enum operand { NUMBER = 0, RECORD, VIEW, ASSIGNED, DOUBLES, COLUMNS, OPERANDS } operand;
static const char *const operand_text[OPERANDS] = {
    "+= number", "*= record", "+= view", "= view", "+= view of doubles", "+= view in soa"};

typedef struct place {
    ha_mapping *mapping;
    void *blob[MOST_FIELDS], *memory[MOST_FIELDS];
    ha_mapped mapped;
} place;

typedef struct work work;
typedef void by_hand(work *w);

struct work {
    ha_record *record, *other;
    place left, right;
    operand operand;
    ha_applying how;
    by_hand *by_hand;
    size_t n;
    float number, values[MOST_FIELDS];
};

static void make_place(place *p, const ha_record *record, const char *text, int64_t n) {
    ha_error error;
    p->mapping = ha_mapping_parse(record, text, 1, &n, &error);
    bench_require(p->mapping != NULL, error.text);
    for (int b = 0; b < p->mapping->blobs; b++) { /* not all at the same place of a page */
        const size_t shift = (size_t)(b * 5 + (p->mapping->text[0] == 's')) * 64;
        const size_t bytes = (size_t)p->mapping->blob[b].bytes + shift;
        p->memory[b] = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
        bench_require(p->memory[b] != NULL, "memory");
        p->blob[b] = (char *)p->memory[b] + shift;
    }
    p->mapped = (ha_mapped){p->mapping, p->blob};
}

static ha_status apply(work *w) {
    const ha_mapped *left = &w->left.mapped;
    if (w->operand == NUMBER)
        return ha_mapped_apply_number(left, HA_ADD, (double)w->number, &w->how, NULL);
    if (w->operand == RECORD)
        return ha_mapped_apply_record(left, HA_MULTIPLY, w->record, w->values, &w->how, NULL);
    return ha_mapped_apply_view(left, w->operand == ASSIGNED ? HA_ASSIGN : HA_ADD, &w->right.mapped,
                                &w->how, NULL);
}

TIME(mapped, work, bench_require(!apply(w), "apply"))
TIME(hand, work, w->by_hand(w))

/* ---- by hand --------------------------------------------------------------------------------- */

#define EACH_3(X) X(0) X(1) X(2)
#define EACH_4(X) EACH_3(X) X(3)
#define EACH_7(X) EACH_4(X) X(4) X(5) X(6)

/* The loop of one layout with one operand, for a record of F fields, of which EACH are done. */
#define ADD_NUMBER(left, k, right) left += s;
#define MULTIPLY_VALUE(left, k, right) left *= c[k];
#define ADD_VALUE(left, k, right) left += right;
#define ADD_DOUBLE(left, k, right) left = (float)((double)left + right);
#define ASSIGN_VALUE(left, k, right) left = right;

#define AOS_FIELD(k) OPERATE(a[i].f[k], k, b[i].f[k])
#define SOA_FIELD(k) OPERATE(a##k[i], k, b##k[i])
#define MIXED_FIELD(k) OPERATE(a[i].f[k], k, b##k[i])
#define BLOCK_FIELD(k)                                                                             \
    WHOLE for (size_t j = 0; j < L; j++) { OPERATE(a[i].f[k][j], k, b[i].f[k][j]) }
#define LEFT_COLUMN(k) float *__restrict const a##k = (float *)w->left.blob[k];
#define RIGHT_COLUMN(k) const OTHER *__restrict const b##k = (const OTHER *)w->right.blob[k];
#define ITS_COLUMN(k) const float *const b##k = a##k;
#define UNUSED_COLUMN(k) (void)b##k;

#define CONSTANTS                                                                                  \
    const float s = w->number;                                                                     \
    float c[MOST_FIELDS];                                                                          \
    memcpy(c, w->values, sizeof c);                                                                \
    (void)s;                                                                                       \
    (void)c;

#define ROWS(name, F, EACH)                                                                        \
    LOOP void aos_##name(work *w) {                                                                \
        typedef struct {                                                                           \
            float f[F];                                                                            \
        } record;                                                                                  \
        typedef struct {                                                                           \
            OTHER f[F];                                                                            \
        } other;                                                                                   \
        record *__restrict const a = (record *)w->left.blob[0];                                    \
        const other *__restrict const b = (const other *)w->right.blob[0];                         \
        CONSTANTS                                                                                  \
        INDEPENDENT for (size_t i = 0; i < w->n; i++){EACH(AOS_FIELD)}(void)b;                     \
    }
#define COLUMNS_OF(name, EACH, RIGHT)                                                              \
    LOOP void soa_##name(work *w) {                                                                \
        EACH(LEFT_COLUMN)                                                                          \
        EACH(RIGHT)                                                                                \
        CONSTANTS                                                                                  \
        INDEPENDENT for (size_t i = 0; i < w->n; i++){EACH(SOA_FIELD)} EACH(UNUSED_COLUMN)         \
    }
#define MIXED(name, F, EACH)                                                                       \
    LOOP void mixed_##name(work *w) {                                                              \
        typedef struct {                                                                           \
            float f[F];                                                                            \
        } record;                                                                                  \
        record *__restrict const a = (record *)w->left.blob[0];                                    \
        EACH(RIGHT_COLUMN)                                                                         \
        INDEPENDENT for (size_t i = 0; i < w->n; i++) { EACH(MIXED_FIELD) }                        \
    }
#define BLOCKS(name, F, EACH, lanes)                                                               \
    LOOP void aosoa##lanes##_##name(work *w) {                                                     \
        enum { L = lanes };                                                                        \
        typedef struct {                                                                           \
            float f[F][L];                                                                         \
        } block;                                                                                   \
        typedef struct {                                                                           \
            OTHER f[F][L];                                                                         \
        } other;                                                                                   \
        block *__restrict const a = (block *)w->left.blob[0];                                      \
        const other *__restrict const b = (const other *)w->right.blob[0];                         \
        CONSTANTS                                                                                  \
        BLOCKWISE for (size_t i = 0; i < w->n / L; i++){EACH(BLOCK_FIELD)}(void)b;                 \
    }
#define ALL_LAYOUTS(operand, record, F, EACH, RIGHT)                                               \
    ROWS(operand##_##record, F, EACH)                                                              \
    COLUMNS_OF(operand##_##record, EACH, RIGHT)                                                    \
    BLOCKS(operand##_##record, F, EACH, 8)                                                         \
    BLOCKS(operand##_##record, F, EACH, 32)
#define ALL_RECORDS(operand, RIGHT)                                                                \
    ALL_LAYOUTS(operand, body, 7, EACH_7, RIGHT)                                                   \
    ALL_LAYOUTS(operand, pos, 7, EACH_3, RIGHT)                                                    \
    ALL_LAYOUTS(operand, pixel, 4, EACH_4, RIGHT)                                                  \
    ALL_LAYOUTS(operand, color, 4, EACH_3, RIGHT)

#define OTHER float
#define OPERATE ADD_NUMBER
ALL_RECORDS(number, ITS_COLUMN)
#undef OPERATE
#define OPERATE MULTIPLY_VALUE
ALL_RECORDS(record, ITS_COLUMN)
#undef OPERATE
#define OPERATE ADD_VALUE
ALL_RECORDS(view, RIGHT_COLUMN)
MIXED(body, 7, EACH_7)
MIXED(pos, 7, EACH_3)
MIXED(pixel, 4, EACH_4)
MIXED(color, 4, EACH_3)
#undef OPERATE
#define OPERATE ASSIGN_VALUE
ALL_RECORDS(assigned, RIGHT_COLUMN)
#undef OPERATE
#undef OTHER
#define OTHER double
#define OPERATE ADD_DOUBLE
ALL_RECORDS(doubles, RIGHT_COLUMN)

/* ---- figures --------------------------------------------------------------------------------- */

typedef struct sort {
    const char *name, *record, *of_doubles, *paths;
    by_hand *by_hand[OPERANDS][LAYOUTS];
} sort;
#define OF_OPERAND(operand, name)                                                                  \
    {                                                                                              \
        aos_##operand##_##name, soa_##operand##_##name, aosoa8_##operand##_##name,                 \
            aosoa32_##operand##_##name                                                             \
    }
#define SORT(name, text, fields, paths)                                                            \
    {                                                                                              \
        text, fields, fields##_OF_DOUBLES, paths, {                                                \
            OF_OPERAND(number, name), OF_OPERAND(record, name), OF_OPERAND(view, name),            \
                OF_OPERAND(assigned, name), OF_OPERAND(doubles, name), {                           \
                mixed_##name                                                                       \
            }                                                                                      \
        }                                                                                          \
    }
static const sort sorts[] = {SORT(body, "body", BODY, NULL), SORT(pos, "body.pos", BODY, "pos"),
                             SORT(pixel, "pixel", PIXEL, NULL),
                             SORT(color, "pixel.color", PIXEL, "color")};

static void fill(place *p, float step) {
    const int is_double = p->mapping->record->field[0].type == HA_DTYPE_double;
    int64_t number = 0;
    for (int b = 0; b < p->mapping->blobs; b++)
        for (int64_t k = 0; k < p->mapping->blob[b].bytes / (is_double ? 8 : 4); k++, number++)
            if (is_double)
                ((double *)p->blob[b])[k] = (double)step * 1.1 * (double)(number % 1000);
            else
                ((float *)p->blob[b])[k] = step * (float)(number % 1000);
}

/* Do both do the same? Of the library and then of the loop by hand, from the same values. */
static void check(work *w, size_t bytes) {
    float *const kept = (float *)malloc(bytes);
    size_t at = 0;
    bench_require(kept != NULL, "memory");
    fill(&w->left, 0.5f);
    bench_require(!apply(w), "apply");
    for (int b = 0; b < w->left.mapping->blobs; at += (size_t)w->left.mapping->blob[b++].bytes)
        memcpy((char *)kept + at, w->left.blob[b], (size_t)w->left.mapping->blob[b].bytes);
    fill(&w->left, 0.5f);
    w->by_hand(w);
    at = 0;
    for (int b = 0; b < w->left.mapping->blobs; at += (size_t)w->left.mapping->blob[b++].bytes)
        bench_require(
            !memcmp((char *)kept + at, w->left.blob[b], (size_t)w->left.mapping->blob[b].bytes),
            "the same results as by hand");
    free(kept);
}

static void run(const sort *s, layout left, operand op, size_t n) {
    work w = {.operand = op, .n = n, .number = 1e-6f, .how = {.paths = s->paths}};
    char name[120];
    ha_error error;
    size_t bytes = 0;
    snprintf(name, sizeof name, "%zu x %s in %s %s", n, s->name, layout_text[left],
             operand_text[op]);
    w.by_hand = s->by_hand[op][left];
    if (!w.by_hand || !strstr(name, bench_settings.only)) return;
    for (int k = 0; k < MOST_FIELDS; k++) w.values[k] = 1 - (float)k * 1e-7f;
    w.record = ha_record_parse(s->record, &error);
    bench_require(w.record != NULL, error.text);
    w.other = op == DOUBLES ? ha_record_parse(s->of_doubles, &error) : NULL;
    bench_require(op != DOUBLES || w.other != NULL, error.text);
    make_place(&w.left, w.record, layout_text[left], (int64_t)n);
    make_place(&w.right, w.other ? w.other : w.record, layout_text[op == COLUMNS ? SOA : left],
               (int64_t)n);
    fill(&w.right, 1e-6f);
    for (int b = 0; b < w.left.mapping->blobs; b++) bytes += (size_t)w.left.mapping->blob[b].bytes;
    check(&w, bytes);
    bench_run(&(bench_figure){name, time_mapped, &w, "by hand", time_hand, &w,
                              .bound = n < MANY ? 0 : 1.05,
                              .bytes = bytes * (op == DOUBLES                 ? 4
                                                : op == VIEW || op == COLUMNS ? 3
                                                                              : 2)});
    for (int b = 0; b < w.left.mapping->blobs; b++) free(w.left.memory[b]);
    for (int b = 0; b < w.right.mapping->blobs; b++) free(w.right.memory[b]);
    ha_mapping_free(w.left.mapping);
    ha_mapping_free(w.right.mapping);
    ha_record_free(w.record);
    ha_record_free(w.other);
}

int main(int argc, char **argv) {
    bench_begin(argc, argv, "included");
    const size_t sizes[] = {MANY, bench_settings.least_ns == 0 ? 4096 : 1 << 20};
    const size_t few[] = {32, 96, 992};
    for (int n = 0; n < 2; n++)
        for (size_t k = 0; k < sizeof sorts / sizeof *sorts; k++)
            for (operand op = NUMBER; op < OPERANDS; op++)
                for (layout left = AOS; left < LAYOUTS; left++) run(&sorts[k], left, op, sizes[n]);
    for (int n = 0; n < 3; n++)
        for (size_t k = 0; k < 2; k++)
            for (operand op = NUMBER; op <= VIEW; op++)
                for (layout left = AOS; left <= AOSOA8; left++) run(&sorts[k], left, op, few[n]);
    return 0;
}
