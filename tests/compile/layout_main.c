/* The unit with the run-time part of layouts, which needs nothing else of harray. Exit status: how many
 * checks failed. */
#include "layout_user.h"

#define HA_LAYOUT_IMPLEMENTATION
#include <layout.h>

int main(void) { return use_layouts(); }
