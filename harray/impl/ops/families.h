/* The words that say what is computed. A number is of one family of them at most: so a word of another family is refused by its
 * name, and does not compute something else. */
#ifndef HARRAY_IMPL_OPS_FAMILIES_H
#define HARRAY_IMPL_OPS_FAMILIES_H

#include "../../scan.h"
#include "../../sort.h"
#include "expressions.h"

/* ---- their names --------------------------------------------------------------------------------- */

#define HA_NAMED_MAP_(T, operation, ...) [(operation)-HA_NEGATE] = #operation,
#define HA_NAMED_TEST_(T, R, kind, operation, ...) HA_NAMED_MAP_(T, operation, )
#define HA_NAMED_(T, operation, ...) [operation] = #operation,
#define HA_NAMED_OTHER_(T, R, kind, operation, ...) HA_NAMED_(T, operation, )
#define HA_NOT_NAMED_(...)
static const char *const ha_op_map_names[] = {
    HA_MAPS_OF_REAL_(HA_NAMED_MAP_, , ) HA_OTHERS_OF_REAL_(HA_NAMED_TEST_, HA_NOT_NAMED_, , , )
        HA_NAMED_MAP_(, HA_CONJUGATE, ) HA_NAMED_MAP_(, HA_REAL_PART, )
            HA_NAMED_MAP_(, HA_IMAGINARY_PART, ) HA_NAMED_MAP_(, HA_ARGUMENT, )};
static const char *const ha_op_combine_names[] = {
    HA_NAMED_(, HA_ASSIGN, ) HA_COMBINES_OF_REAL_(HA_NAMED_, , ) HA_COMPARISONS_(HA_NAMED_, )
        HA_OTHERS_OF_REAL_(HA_NOT_NAMED_, HA_NAMED_OTHER_, , , )};
static const char *const ha_op_reduction_names[] = {
    "HA_SUM", "HA_PRODUCT", "HA_MIN",       "HA_MAX",    "HA_AND",
    "HA_OR",  "HA_XOR",     "HA_SUM_EXACT", "HA_MIN_AT", "HA_MAX_AT"};
static const char *const ha_op_norm_names[] = {"HA_NORM_1", "HA_NORM_2", "HA_NORM_MAX"};
static const char *const ha_op_order_names[] = {"HA_ASCENDING", "HA_DESCENDING"};
static const char *const ha_op_scan_names[] = {"HA_INCLUSIVE", "HA_EXCLUSIVE"};
static const char *const ha_op_less_names[] = {"HA_LESS"};
static const char *const ha_op_greater_names[] = {"HA_GREATER", "HA_UNORDERED"};

/* ---- families ------------------------------------------------------------------------------------ */

typedef struct ha_op_family {
    int first;
    unsigned words;
    const char *const *names; /* by number, from the first one on */
    const char *noun;         /* of a number that is no word: norm 7 */
    const char *what, *call;  /* HA_SQRT is <of one argument>: <ha_map> */
    const char *as;           /* <as a reduction> it is HA_SUM */
} ha_op_family;

#define HA_FAMILY_(first, names, ...)                                                              \
    { first, sizeof names / sizeof *names, names, __VA_ARGS__ }
#define HA_ORDER_ "order", "the order of two numbers", "ha_dvalue_compare", "as an order"
enum { HA_OF_TWO_, HA_OF_REDUCTIONS_, HA_OF_ONE_, HA_OF_NORMS_, HA_OF_ORDERS_, HA_OF_SCANS_ };
static const ha_op_family ha_op_families[] = {
    [HA_OF_TWO_] = HA_FAMILY_(HA_ASSIGN, ha_op_combine_names, "operation", "of two arguments",
                              "ha_combine", "of two arguments"),
    [HA_OF_REDUCTIONS_] = HA_FAMILY_(HA_SUM, ha_op_reduction_names, "reduction", "a reduction",
                                     "ha_reduce", "as a reduction"),
    [HA_OF_ONE_] = HA_FAMILY_(HA_NEGATE, ha_op_map_names, "operation", "of one argument", "ha_map",
                              "of one argument"),
    [HA_OF_NORMS_] = HA_FAMILY_(HA_NORM_1, ha_op_norm_names, "norm", "a norm", "ha_norm",
                                "as a norm"),
    [HA_OF_ORDERS_] = HA_FAMILY_(HA_ASCENDING, ha_op_order_names, "order", "an order of sorting",
                                 "ha_sort", "as an order"),
    [HA_OF_SCANS_] = HA_FAMILY_(HA_INCLUSIVE, ha_op_scan_names, "kind", "a kind of scans",
                                "ha_scan", "as a kind of scans"),
    HA_FAMILY_(HA_LESS, ha_op_less_names, HA_ORDER_),
    HA_FAMILY_(HA_GREATER, ha_op_greater_names, HA_ORDER_)};

HA_STATIC_ASSERT_((int)HA_COMBINES_ <= (int)HA_SUM && (int)HA_MAX_AT < (int)HA_NEGATE &&
                      (int)HA_MAPS_ <= (int)HA_NORM_1 && (int)HA_NORM_MAX < (int)HA_ASCENDING &&
                      (int)HA_DESCENDING < (int)HA_INCLUSIVE && (int)HA_EXCLUSIVE < (int)HA_GREATER,
                  "a number is of one family at most");

/* NULL: there is no such word. */
HA_IN_ const ha_op_family *ha_op_family_of(int word) {
    for (size_t i = 0; i < sizeof ha_op_families / sizeof *ha_op_families; i++)
        if ((unsigned)word - (unsigned)ha_op_families[i].first < ha_op_families[i].words)
            return &ha_op_families[i];
    return NULL;
}

/* Of a word that there is. */
HA_IN_ const char *ha_op_name_of(int word) {
    const ha_op_family *family = ha_op_family_of(word);
    return family->names[word - family->first];
}

/* ---- what a call takes --------------------------------------------------------------------------- */

typedef struct ha_op_words {
    int family;
    uint32_t taken;     /* a bit for each word of the family, from the first one on */
    const char *listed; /* the same, for messages */
} ha_op_words;

#define HA_WORDS_FROM_(first, from, to)                                                            \
    ((UINT32_C(2) << ((int)(to) - (int)(first))) - (UINT32_C(1) << ((int)(from) - (int)(first))))
static const ha_op_words
    ha_op_map_words = {HA_OF_ONE_, HA_WORDS_FROM_(HA_NEGATE, HA_NEGATE, HA_IS_FINITE),
                       "HA_NEGATE to HA_IS_FINITE"},
    ha_op_combine_words = {HA_OF_TWO_, HA_WORDS_FROM_(HA_ASSIGN, HA_ADD, HA_IS_GREATER_EQUAL),
                           "HA_ADD to HA_IS_GREATER_EQUAL"},
    ha_op_scatter_words = {HA_OF_TWO_,
                           HA_WORDS_FROM_(HA_ASSIGN, HA_ASSIGN, HA_ADD) |
                               HA_WORDS_FROM_(HA_ASSIGN, HA_MULTIPLY, HA_MULTIPLY) |
                               HA_WORDS_FROM_(HA_ASSIGN, HA_MINIMUM, HA_MAXIMUM),
                           "HA_ASSIGN, HA_ADD, HA_MULTIPLY, HA_MINIMUM, HA_MAXIMUM"},
    ha_op_apply_words = {HA_OF_TWO_, HA_WORDS_FROM_(HA_ASSIGN, HA_ASSIGN, HA_DIVIDE),
                         "HA_ASSIGN, HA_ADD, HA_SUBTRACT, HA_MULTIPLY, HA_DIVIDE"},
    ha_op_reduce_words = {HA_OF_REDUCTIONS_, HA_WORDS_FROM_(HA_SUM, HA_SUM, HA_MAX_AT),
                          "HA_SUM to HA_MAX_AT"},
    ha_op_scan_words = {HA_OF_REDUCTIONS_, HA_WORDS_FROM_(HA_SUM, HA_SUM, HA_MAX),
                        "HA_SUM, HA_PRODUCT, HA_MIN, HA_MAX"},
    ha_op_norm_words = {HA_OF_NORMS_, HA_WORDS_FROM_(HA_NORM_1, HA_NORM_1, HA_NORM_MAX),
                        "HA_NORM_1, HA_NORM_2, HA_NORM_MAX"},
    ha_op_order_words = {HA_OF_ORDERS_, HA_WORDS_FROM_(HA_ASCENDING, HA_ASCENDING, HA_DESCENDING),
                         "HA_ASCENDING, HA_DESCENDING"},
    ha_op_kind_words = {HA_OF_SCANS_, HA_WORDS_FROM_(HA_INCLUSIVE, HA_INCLUSIVE, HA_EXCLUSIVE),
                        "HA_INCLUSIVE, HA_EXCLUSIVE"};

HA_IN_ int ha_op_takes(const ha_op_words *words, int word) {
    const unsigned n = (unsigned)word - (unsigned)ha_op_families[words->family].first;
    return n < 32 && (words->taken >> n & 1);
}

/* That of these words which says the same of what the call is of; if there is none, the word itself. */
HA_IN_ int ha_op_counterpart(const ha_op_words *words, int word) {
    static const int pairs[][2] = {
        {HA_ADD, HA_SUM},           {HA_MULTIPLY, HA_PRODUCT},     {HA_MINIMUM, HA_MIN},
        {HA_MAXIMUM, HA_MAX},       {HA_ABS_MAXIMUM, HA_NORM_MAX}, {HA_IS_LESS, HA_LESS},
        {HA_IS_GREATER, HA_GREATER}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        for (int side = 0; side < 2; side++)
            if (pairs[i][side] == word && ha_op_takes(words, pairs[i][1 - side]))
                return pairs[i][1 - side];
    return word;
}

HA_IN_ ha_status ha_op_check_word(const ha_op_words *words, const char *operation, int word) {
    if (ha_op_takes(words, word)) return HA_OK;
    const ha_op_family *own = &ha_op_families[words->family], *family = ha_op_family_of(word);
    const int other = ha_op_counterpart(words, word);
    const int is_number = !family || (other == word && (word == HA_ASSIGN || word == HA_LESS));
    if (is_number && family != own) /* 0 and -1 are rarely meant as words */
        return ha_fail(HA_ERR_ARGUMENT, operation, "%s %d is none of %s's: %s", own->noun, word,
                       operation, words->listed);
    const char *name = ha_op_name_of(word);
    if (family == own)
        return ha_fail(HA_ERR_ARGUMENT, operation, "%s is none of %s's: %s", name, operation,
                       words->listed);
    if (other == word && words->family >= HA_OF_NORMS_) /* few, whose names tell more */
        return ha_fail(HA_ERR_ARGUMENT, operation, "%s is %s; %s takes %s", name, family->what,
                       operation, words->listed);
    if (other == word)
        return ha_fail(HA_ERR_ARGUMENT, operation, "%s is %s: %s", name, family->what,
                       family->call);
    return ha_fail(HA_ERR_ARGUMENT, operation, "%s is %s; %s it is %s", name, family->what, own->as,
                   ha_op_name_of(other));
}

#endif
