/* The implementation, in C, and the program that uses kernels.c. */
#define HARRAY_IMPLEMENTATION
#include "kernels_user.h"

int main(void) {
    const int failed = use_kernels(ha_host()) + use_kernels(ha_context_find("sim:0"));
    HA_CHECK_ERRORS();
    HA_CHECK(ha_shutdown());
    if (failed) (void)fprintf(stderr, "%d checks failed\n", failed);
    return failed != 0;
}
