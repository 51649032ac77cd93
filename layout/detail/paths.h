/* The path of a field, `link, (4), e, (3, 3), re`, in all its forms: member designator, name, text,
 * parameters for its subscripts, number of elements. A path has up to 8 items: names, and subscripts
 * in parentheses after the name that they belong to; up to three in one pair of parentheses. */
#ifndef HARRAY_LAYOUT_DETAIL_PATHS_H
#define HARRAY_LAYOUT_DETAIL_PATHS_H

#include "base.h"
#include "list.h"

/* F(1, name) for the first item, then in order R(p, name) for each other name, and D_n(p, extent…) for
 * each pair of parentheses with n subscripts; p is the number of the item. */
#define HA_PATH_(F, R, D, ...) HA_JOIN_(HA_PATH_, HA_ITEMS_(__VA_ARGS__))(F, R, D, __VA_ARGS__)
#define HA_ITEMS_(...) HA_ITEMS_8_(__VA_ARGS__, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define HA_ITEMS_8_(a, b, c, d, e, f, g, h, n, ...) n
#define HA_ITEM_(R, D, p, x) HA_JOIN_(HA_ITEM_, HA_IS_PAREN_(x))(R, D, p, x)
#define HA_ITEM_0(R, D, p, x) R(p, x)
#define HA_ITEM_1(R, D, p, x) HA_CALL_(HA_JOIN_(D##_, HA_ITEMS_ x), p, HA_BARE_ x)

/* clang-format off */
#define HA_PATH_1(F, R, D, a) F(1, a)
#define HA_PATH_2(F, R, D, a, b) F(1, a) HA_ITEM_(R, D, 2, b)
#define HA_PATH_3(F, R, D, a, b, c) F(1, a) HA_ITEM_(R, D, 2, b) HA_ITEM_(R, D, 3, c)
#define HA_PATH_4(F, R, D, a, b, c, d) HA_PATH_3(F, R, D, a, b, c) HA_ITEM_(R, D, 4, d)
#define HA_PATH_5(F, R, D, a, b, c, d, e) HA_PATH_4(F, R, D, a, b, c, d) HA_ITEM_(R, D, 5, e)
#define HA_PATH_6(F, R, D, a, b, c, d, e, f) HA_PATH_5(F, R, D, a, b, c, d, e) HA_ITEM_(R, D, 6, f)
#define HA_PATH_7(F, R, D, a, b, c, d, e, f, g) HA_PATH_6(F, R, D, a, b, c, d, e, f) HA_ITEM_(R, D, 7, g)
#define HA_PATH_8(F, R, D, a, b, c, d, e, f, g, h) HA_PATH_7(F, R, D, a, b, c, d, e, f, g) HA_ITEM_(R, D, 8, h)

#define HA_SAME_(p, x) x
#define HA_NONE_(p, x)
#define HA_NONE__1(p, a)
#define HA_NONE__2(p, a, b)
#define HA_NONE__3(p, a, b, c)

/* link[0].e[0][0].re */
#define HA_DOT_(p, x) .x
#define HA_ZERO__1(p, a) [0]
#define HA_ZERO__2(p, a, b) [0][0]
#define HA_ZERO__3(p, a, b, c) [0][0][0]
#define HA_FIRST_MEMBER_(...) HA_PATH_(HA_SAME_, HA_DOT_, HA_ZERO_, __VA_ARGS__)

/* link[(4) - 1].e[(3) - 1][(3) - 1].re */
#define HA_LAST__1(p, a) [(a) - 1]
#define HA_LAST__2(p, a, b) [(a) - 1][(b) - 1]
#define HA_LAST__3(p, a, b, c) [(a) - 1][(b) - 1][(c) - 1]
#define HA_LAST_MEMBER_(...) HA_PATH_(HA_SAME_, HA_DOT_, HA_LAST_, __VA_ARGS__)

/* link[ha_i20].e[ha_i40][ha_i41].re */
#define HA_SUBSCRIPT__1(p, a) [ha_i##p##0]
#define HA_SUBSCRIPT__2(p, a, b) [ha_i##p##0][ha_i##p##1]
#define HA_SUBSCRIPT__3(p, a, b, c) [ha_i##p##0][ha_i##p##1][ha_i##p##2]
#define HA_MEMBER_(...) HA_PATH_(HA_SAME_, HA_DOT_, HA_SUBSCRIPT_, __VA_ARGS__)

/* number of elements: 1 * 4 * 3 * 3 */
#define HA_TIMES__1(p, a) * (a)
#define HA_TIMES__2(p, a, b) * (a) * (b)
#define HA_TIMES__3(p, a, b, c) * (a) * (b) * (c)
#define HA_ELEMENTS_(...) (1 HA_PATH_(HA_NONE_, HA_NONE_, HA_TIMES_, __VA_ARGS__))

/* , ptrdiff_t ha_i20, ptrdiff_t ha_i40, ptrdiff_t ha_i41 */
#define HA_PARAMETER__1(p, a) , ptrdiff_t ha_i##p##0
#define HA_PARAMETER__2(p, a, b) , ptrdiff_t ha_i##p##0, ptrdiff_t ha_i##p##1
#define HA_PARAMETER__3(p, a, b, c) , ptrdiff_t ha_i##p##0, ptrdiff_t ha_i##p##1, ptrdiff_t ha_i##p##2
#define HA_PARAMETERS_(...) HA_PATH_(HA_NONE_, HA_NONE_, HA_PARAMETER_, __VA_ARGS__)

/* , ha_i20, ha_i40, ha_i41 */
#define HA_ARGUMENT__1(p, a) , ha_i##p##0
#define HA_ARGUMENT__2(p, a, b) , ha_i##p##0, ha_i##p##1
#define HA_ARGUMENT__3(p, a, b, c) , ha_i##p##0, ha_i##p##1, ha_i##p##2
#define HA_ARGUMENTS_(...) HA_PATH_(HA_NONE_, HA_NONE_, HA_ARGUMENT_, __VA_ARGS__)

/* number of the element, in list order: ha_k = ((0 * 4 + i) * 3 + j) * 3 + k */
#define HA_POSITION__1(p, a) ha_k = ha_k * (a) + ha_i##p##0;
#define HA_POSITION__2(p, a, b) ha_k = (ha_k * (a) + ha_i##p##0) * (b) + ha_i##p##1;
#define HA_POSITION__3(p, a, b, c) ha_k = ((ha_k * (a) + ha_i##p##0) * (b) + ha_i##p##1) * (c) + ha_i##p##2;
#define HA_ELEMENT_NUMBER_(...) HA_PATH_(HA_NONE_, HA_NONE_, HA_POSITION_, __VA_ARGS__)

/* loops over the elements */
#define HA_LOOP_(i, n) for (ptrdiff_t i = 0; i < (n); i++)
#define HA_LOOP__1(p, a) HA_LOOP_(ha_i##p##0, a)
#define HA_LOOP__2(p, a, b) HA_LOOP_(ha_i##p##0, a) HA_LOOP_(ha_i##p##1, b)
#define HA_LOOP__3(p, a, b, c) HA_LOOP_(ha_i##p##0, a) HA_LOOP_(ha_i##p##1, b) HA_LOOP_(ha_i##p##2, c)
#define HA_ELEMENT_LOOPS_(...) HA_PATH_(HA_NONE_, HA_NONE_, HA_LOOP_, __VA_ARGS__)

/* "link[4].e[3][3].re" */
#define HA_QUOTED_(x) #x
#define HA_TEXT_(p, x) HA_QUOTED_(x)
#define HA_DOT_TEXT_(p, x) "." HA_QUOTED_(x)
#define HA_TEXT__1(p, a) "[" HA_QUOTED_(a) "]"
#define HA_TEXT__2(p, a, b) "[" HA_QUOTED_(a) "][" HA_QUOTED_(b) "]"
#define HA_TEXT__3(p, a, b, c) "[" HA_QUOTED_(a) "][" HA_QUOTED_(b) "][" HA_QUOTED_(c) "]"
#define HA_PATH_TEXT_(...) HA_PATH_(HA_TEXT_, HA_DOT_TEXT_, HA_TEXT_, __VA_ARGS__)

/* link_e_re */
#define HA_NAME_OF_(...) HA_JOIN_(HA_NAME_OF_, HA_ITEMS_(__VA_ARGS__))(__VA_ARGS__)
#define HA_LONGER_(name, x) HA_JOIN_(HA_LONGER_, HA_IS_PAREN_(x))(name, x)
#define HA_LONGER_0(name, x) HA_JOIN_(name, HA_JOIN_(_, x))
#define HA_LONGER_1(name, x) name
#define HA_NAME_OF_1(a) a
#define HA_NAME_OF_2(a, b) HA_LONGER_(a, b)
#define HA_NAME_OF_3(a, b, c) HA_LONGER_2_(HA_NAME_OF_2(a, b), c)
#define HA_NAME_OF_4(a, b, c, d) HA_LONGER_2_(HA_NAME_OF_3(a, b, c), d)
#define HA_NAME_OF_5(a, b, c, d, e) HA_LONGER_2_(HA_NAME_OF_4(a, b, c, d), e)
#define HA_NAME_OF_6(a, b, c, d, e, f) HA_LONGER_2_(HA_NAME_OF_5(a, b, c, d, e), f)
#define HA_NAME_OF_7(a, b, c, d, e, f, g) HA_LONGER_2_(HA_NAME_OF_6(a, b, c, d, e, f), g)
#define HA_NAME_OF_8(a, b, c, d, e, f, g, h) HA_LONGER_2_(HA_NAME_OF_7(a, b, c, d, e, f, g), h)
#define HA_LONGER_2_(name, x) HA_LONGER_(name, x)
/* clang-format on */

#endif
