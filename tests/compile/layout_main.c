/* The unit with the run-time part of layouts, which needs nothing else of harray. Exit status: how many
 * checks failed. Another header of a program may have included layout.h before. */
#include "layout_user.h"

#include <layout.h>

#define HA_LAYOUT_IMPLEMENTATION
#include <layout.h>

int main(void) { return use_layouts(); }
