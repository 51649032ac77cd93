/* Layouts alone, compiled once for all test programs of layout.h that link them: as support/tested.c. */
#include "tested.h"

#define HA_LAYOUT_IMPLEMENTATION
#define HA_LAYOUT_TESTING
#include "../../layout.h"
