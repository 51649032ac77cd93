/* The force loop through the view VIEW, which this undefines. */
#define THROUGH(name) THROUGH_1(VIEW, name)
#define THROUGH_1(V, name) THROUGH_2(V, name)
#define THROUGH_2(V, name) V##_##name
#define EACH_OF(V, v, at) HA_EACH(V, v, at)

#define NAME VIEW
#define PARTICLES VIEW
#define PLACE ha_cursor
#define AT(v, i) THROUGH(at)(v, i)
#define EACH(v, at) EACH_OF(VIEW, v, at)
#define CHARGE(v, at) (*THROUGH(charge)(v, at))
#define ENERGY(v, at) (*THROUGH(energy)(v, at))
#define TYPE(v, at) (*THROUGH(type)(v, at))
#define LOAD_R(v, at, x) THROUGH(r_load)(v, at, x)
#define LOAD_P(v, at, x) THROUGH(p_load)(v, at, x)
#define LOAD_F(v, at, x) THROUGH(f_load)(v, at, x)
#define STORE_P(v, at, x) THROUGH(p_store)(v, at, x)
#define STORE_F(v, at, x) THROUGH(f_store)(v, at, x)
#define ADD_F(v, at, x) THROUGH(f_add)(v, at, x)
#include "force_loop.h"
#undef VIEW
#undef THROUGH
#undef THROUGH_1
#undef THROUGH_2
#undef EACH_OF
