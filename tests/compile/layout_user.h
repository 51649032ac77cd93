/* What tests/compile/layout.c has for layout_main.c. */
#ifndef COMPILE_LAYOUT_USER_H
#define COMPILE_LAYOUT_USER_H

#ifdef __cplusplus
extern "C" {
#endif
int use_layouts(void); /* how many checks failed */
#ifdef __cplusplus
}
#endif

#endif
