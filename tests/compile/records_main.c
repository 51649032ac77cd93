/* The implementation, in C, and the program that uses records.c. */
#define HARRAY_IMPLEMENTATION
#include "records_user.h"

int main(void) {
    const int failed = use_records(ha_host()) + use_records(ha_context_find("sim:0"));
    HA_CHECK_ERRORS();
    HA_CHECK(ha_shutdown());
    if (failed) (void)fprintf(stderr, "%d checks failed\n", failed);
    return failed != 0;
}
