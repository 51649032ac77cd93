/* For test programs that link an implementation which is compiled for all of them (tested.c, tested_layout.c): what
 * they include first (tests/meson.build). Their text is the same as where they have it for themselves, with
 * HARRAY_STATIC, as tools/mutations and tools/test-device compile them.
 *
 * Behind HARRAY_IMPLEMENTATION a program still reads all of it, so it may look inside. Types are its own; functions
 * are those of the library; variables are, too, as they are weak in both, and the linker takes one. What is public
 * it compiles once more, but only what it calls. So macros that change the implementation have no effect, but for
 * HARRAY_MALLOC (own_memory.h), what own_calls.h lists, and HARRAY_HOST_BACKEND: of ha_host_memory the linker takes
 * the program's. */
#ifndef HARRAY_TESTS_SUPPORT_LINKED_H
#define HARRAY_TESTS_SUPPORT_LINKED_H

#define HA_INSIDE_IS_LINKED_
#define HA_API static __inline__ HA_UNUSED
#ifdef __OPTIMIZE__ /* gcc does not optimise what it then does not keep: that would take it minutes */
#define HA_IN_ extern __inline__ __attribute__((__gnu_inline__, __optimize__("O0")))
#else
#define HA_IN_ extern __inline__ __attribute__((__gnu_inline__))
#endif
#define HA_NOINLINE_
#define HA_STATE_ __attribute__((__weak__))

#endif
