/* The path of a field, `link, (4), e, (3, 3), re`, in all its forms: member designator, name, text,
 * parameters for its subscripts, number of elements. A path has up to 8 items: names, and subscripts
 * in parentheses after the name that they belong to; up to three in one pair of parentheses. */
#ifndef HARRAY_LAYOUT_DETAIL_PATHS_H
#define HARRAY_LAYOUT_DETAIL_PATHS_H

#include "base.h"
#include "list.h"

/* F(1, name) for the first item, then in order R(p, name) for each other name, and D_n(p, extent…) for
 * each pair of parentheses with n subscripts; p is the number of the item. */
#define HA_PATH_(F, R, D, ...) HA_VARIANT_(HA_PATH_, HA_ITEMS_(__VA_ARGS__))(F, R, D, __VA_ARGS__)
#define HA_ITEMS_(...) HA_ITEMS_8_(__VA_ARGS__, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define HA_ITEMS_8_(a, b, c, d, e, f, g, h, n, ...) n
#define HA_ITEM_(R, D, p, x) HA_VARIANT_(HA_ITEM_, HA_IS_PAREN_(x))(R, D, p, x)
#define HA_ITEM_0_(R, D, p, x) R(p, x)
#define HA_ITEM_1_(R, D, p, x) HA_CALL_(HA_VARIANT_(D, HA_ITEMS_ x), p, HA_BARE_ x)

/* clang-format off */
#define HA_PATH_1_(F, R, D, a) F(1, a)
#define HA_PATH_2_(F, R, D, a, b) F(1, a) HA_ITEM_(R, D, 2, b)
#define HA_PATH_3_(F, R, D, a, b, c) F(1, a) HA_ITEM_(R, D, 2, b) HA_ITEM_(R, D, 3, c)
#define HA_PATH_4_(F, R, D, a, b, c, d) HA_PATH_3_(F, R, D, a, b, c) HA_ITEM_(R, D, 4, d)
#define HA_PATH_5_(F, R, D, a, b, c, d, e) HA_PATH_4_(F, R, D, a, b, c, d) HA_ITEM_(R, D, 5, e)
#define HA_PATH_6_(F, R, D, a, b, c, d, e, f) HA_PATH_5_(F, R, D, a, b, c, d, e) HA_ITEM_(R, D, 6, f)
#define HA_PATH_7_(F, R, D, a, b, c, d, e, f, g) HA_PATH_6_(F, R, D, a, b, c, d, e, f) HA_ITEM_(R, D, 7, g)
#define HA_PATH_8_(F, R, D, a, b, c, d, e, f, g, h) HA_PATH_7_(F, R, D, a, b, c, d, e, f, g) HA_ITEM_(R, D, 8, h)

#define HA_SAME_(p, x) x
#define HA_NONE_(p, x)
#define HA_NONE_1_(p, a)
#define HA_NONE_2_(p, a, b)
#define HA_NONE_3_(p, a, b, c)

/* link[0].e[0][0].re */
#define HA_DOT_(p, x) .x
#define HA_ZERO_1_(p, a) [0]
#define HA_ZERO_2_(p, a, b) [0][0]
#define HA_ZERO_3_(p, a, b, c) [0][0][0]
#define HA_FIRST_MEMBER_(...) HA_PATH_(HA_SAME_, HA_DOT_, HA_ZERO_, __VA_ARGS__)

/* link[(4) - 1].e[(3) - 1][(3) - 1].re */
#define HA_LAST_1_(p, a) [(a) - 1]
#define HA_LAST_2_(p, a, b) [(a) - 1][(b) - 1]
#define HA_LAST_3_(p, a, b, c) [(a) - 1][(b) - 1][(c) - 1]
#define HA_LAST_MEMBER_(...) HA_PATH_(HA_SAME_, HA_DOT_, HA_LAST_, __VA_ARGS__)

/* link[ha_i20].e[ha_i40][ha_i41].re */
#define HA_SUBSCRIPT_1_(p, a) [ha_i##p##0]
#define HA_SUBSCRIPT_2_(p, a, b) [ha_i##p##0][ha_i##p##1]
#define HA_SUBSCRIPT_3_(p, a, b, c) [ha_i##p##0][ha_i##p##1][ha_i##p##2]
#define HA_MEMBER_(...) HA_PATH_(HA_SAME_, HA_DOT_, HA_SUBSCRIPT_, __VA_ARGS__)

/* number of elements: 1 * 4 * 3 * 3 */
#define HA_TIMES_1_(p, a) * (a)
#define HA_TIMES_2_(p, a, b) * (a) * (b)
#define HA_TIMES_3_(p, a, b, c) * (a) * (b) * (c)
#define HA_ELEMENTS_(...) (1 HA_PATH_(HA_NONE_, HA_NONE_, HA_TIMES_, __VA_ARGS__))

/* , ptrdiff_t ha_i20, ptrdiff_t ha_i40, ptrdiff_t ha_i41 */
#define HA_PARAMETER_1_(p, a) , ptrdiff_t ha_i##p##0
#define HA_PARAMETER_2_(p, a, b) , ptrdiff_t ha_i##p##0, ptrdiff_t ha_i##p##1
#define HA_PARAMETER_3_(p, a, b, c) , ptrdiff_t ha_i##p##0, ptrdiff_t ha_i##p##1, ptrdiff_t ha_i##p##2
#define HA_PARAMETERS_(...) HA_PATH_(HA_NONE_, HA_NONE_, HA_PARAMETER_, __VA_ARGS__)

/* , ha_i20, ha_i40, ha_i41 */
#define HA_ARGUMENT_1_(p, a) , ha_i##p##0
#define HA_ARGUMENT_2_(p, a, b) , ha_i##p##0, ha_i##p##1
#define HA_ARGUMENT_3_(p, a, b, c) , ha_i##p##0, ha_i##p##1, ha_i##p##2
#define HA_ARGUMENTS_(...) HA_PATH_(HA_NONE_, HA_NONE_, HA_ARGUMENT_, __VA_ARGS__)

/* number of the element, in list order: ha_k = ((0 * 4 + i) * 3 + j) * 3 + k */
#define HA_POSITION_1_(p, a) ha_k = ha_k * (a) + ha_i##p##0;
#define HA_POSITION_2_(p, a, b) ha_k = (ha_k * (a) + ha_i##p##0) * (b) + ha_i##p##1;
#define HA_POSITION_3_(p, a, b, c) ha_k = ((ha_k * (a) + ha_i##p##0) * (b) + ha_i##p##1) * (c) + ha_i##p##2;
#define HA_ELEMENT_NUMBER_(...) HA_PATH_(HA_NONE_, HA_NONE_, HA_POSITION_, __VA_ARGS__)

/* loops over the elements */
#define HA_LOOP_(i, n) for (ptrdiff_t i = 0; i < (n); i++)
#define HA_LOOP_1_(p, a) HA_LOOP_(ha_i##p##0, a)
#define HA_LOOP_2_(p, a, b) HA_LOOP_(ha_i##p##0, a) HA_LOOP_(ha_i##p##1, b)
#define HA_LOOP_3_(p, a, b, c) HA_LOOP_(ha_i##p##0, a) HA_LOOP_(ha_i##p##1, b) HA_LOOP_(ha_i##p##2, c)
#define HA_ELEMENT_LOOPS_(...) HA_PATH_(HA_NONE_, HA_NONE_, HA_LOOP_, __VA_ARGS__)

/* "link[4].e[3][3].re" */
#define HA_TEXT_(p, x) HA_QUOTED_(x)
#define HA_DOT_TEXT_(p, x) "." HA_QUOTED_(x)
#define HA_TEXT_1_(p, a) "[" HA_QUOTED_(a) "]"
#define HA_TEXT_2_(p, a, b) "[" HA_QUOTED_(a) "][" HA_QUOTED_(b) "]"
#define HA_TEXT_3_(p, a, b, c) "[" HA_QUOTED_(a) "][" HA_QUOTED_(b) "][" HA_QUOTED_(c) "]"
#define HA_PATH_TEXT_(...) HA_PATH_(HA_TEXT_, HA_DOT_TEXT_, HA_TEXT_, __VA_ARGS__)

/* link_e_re */
#define HA_NAME_OF_(...) HA_VARIANT_(HA_NAME_OF_, HA_ITEMS_(__VA_ARGS__))(__VA_ARGS__)
#define HA_LONGER_(name, x) HA_VARIANT_(HA_LONGER_, HA_IS_PAREN_(x))(name, x)
#define HA_LONGER_0_(name, x) HA_JOIN_(name, HA_JOIN_(_, x))
#define HA_LONGER_1_(name, x) name
#define HA_NAME_OF_1_(a) a
#define HA_NAME_OF_2_(a, b) HA_LONGER_(a, b)
#define HA_NAME_OF_3_(a, b, c) HA_LONGER_2_(HA_NAME_OF_2_(a, b), c)
#define HA_NAME_OF_4_(a, b, c, d) HA_LONGER_2_(HA_NAME_OF_3_(a, b, c), d)
#define HA_NAME_OF_5_(a, b, c, d, e) HA_LONGER_2_(HA_NAME_OF_4_(a, b, c, d), e)
#define HA_NAME_OF_6_(a, b, c, d, e, f) HA_LONGER_2_(HA_NAME_OF_5_(a, b, c, d, e), f)
#define HA_NAME_OF_7_(a, b, c, d, e, f, g) HA_LONGER_2_(HA_NAME_OF_6_(a, b, c, d, e, f), g)
#define HA_NAME_OF_8_(a, b, c, d, e, f, g, h) HA_LONGER_2_(HA_NAME_OF_7_(a, b, c, d, e, f, g), h)
#define HA_LONGER_2_(name, x) HA_LONGER_(name, x)
/* clang-format on */

#endif
