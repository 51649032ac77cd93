/* For libFuzzer: bytes are the choices of a script (schedules/model_run.h).
 *
 *     clang -g -O1 -fsanitize=fuzzer,address,undefined tests/arrays/fuzz_target.c -o fuzz -pthread
 *     ./fuzz -max_len=4096 -max_total_time=600 corpus/ */
#include "../schedules/model_memory.h"
#include "../support/order_backend.h"
#define HARRAY_HOST_BACKEND order_host
#define HARRAY_IMPLEMENTATION
#define HARRAY_TESTING
#include "../../harray.h"

#include "../schedules/model_run.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    const script_options options = {.bytes = bytes, .count = count, .steps = UINT32_MAX};
    if (!run_script(&options)) return 0;
    print_script(&options);
    abort();
}
