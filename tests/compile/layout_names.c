/* Records, types of fields and variables of the program with names that the macros of layout.h
 * could have used themselves. */
#include <layout.h>

typedef float at;
typedef double v;
typedef short record;
typedef int spot, c;
typedef char value, s, p, b, box, next, room, i, n;
static const int memory = 1, blob = 2, blobs = 3, mapping = 4, error = 5, count = 6, size = 7;

typedef struct k {
    at a;
    v w;
    record d;
    spot e;
    value f[2];
} k;
#define HOT_FIELDS (at, a), (v, w)
#define COLD_FIELDS (record, d), (spot, e), (value, f, (2))
#define k_FIELDS HOT_FIELDS, COLD_FIELDS
HA_RECORD(k)
HA_VIEW(k_aos, k, 2, HA_AOS)
HA_VIEW(k_blocks, k, 2, HA_AOSOA(4))
HA_VIEW(k_any, k, 3, HA_ANY)
HA_VIEW_SPLIT(k_split, 2, HOT, HA_AOS, COLD, HA_AOSOA(4))
HA_VIEW_SPLIT(k_whole, k, 2, HOT, HA_SOA, COLD, HA_AOS)

typedef struct lanes {
    float x;
} lanes;
#define lanes_FIELDS (float, x)
HA_RECORD(lanes)
HA_VIEW(order, lanes, 1, HA_AOSOA(4))

int use_names(order o);
int use_names(order o) {
    int sum = memory + blob + blobs + mapping + error + count + size;
    HA_EACH(order, o, j) sum += *order_x(o, j) > 0;
    return sum;
}
