/* The unit with the implementation. Exit status: how many checks failed. */
#define HARRAY_IMPLEMENTATION
#include "user.h"

int main(void) {
    int failed = use_everything(ha_host());
    failed += use_everything(ha_context_find("sim"));
    return failed + (ha_shutdown() != HA_OK);
}
