/* How fast the link between host and device is: measured by plain copies. */
#ifndef OUTOFCORE_LINK_H
#define OUTOFCORE_LINK_H

#include "harray.h"

#include <stdbool.h>

typedef struct link_rates {
    double in, out, both; /* bytes a second: one way alone, and of both ways together */
} link_rates;

/* False: ha_take_error(). */
bool link_measure(ha_context *device, link_rates *rates);
void link_tell(const link_rates *rates);

/* The least time for so many bytes. */
double link_seconds(const link_rates *rates, double in, double out);

#endif
