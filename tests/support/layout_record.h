/* The record that most tests of layouts are about, as text. */
#ifndef HARRAY_TESTS_SUPPORT_LAYOUT_RECORD_H
#define HARRAY_TESTS_SUPPORT_LAYOUT_RECORD_H

#define PARTICLE                                                                                   \
    "pos.x:f64 pos.y:f64 pos.z:f64 mass:f32 vel.x:f64 vel.y:f64 vel.z:f64 flags[4]:bool"

enum { PARTICLE_LEAVES = 11 };

#endif
