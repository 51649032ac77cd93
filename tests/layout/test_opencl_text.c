/* half.h, bfloat16.h and complex.h as OpenCL C: tests/compile/numbers.cl is built and run on the first
 * OpenCL device (PoCL has one on every processor), and the bits that it converts are those of the host.
 * Skipped where there is no OpenCL; nothing of it is needed for building this. */
#include "../../harray/bfloat16.h"
#include "../../harray/half.h"

#include "../support/opencl_device.h"

/* ---- what the host has to say to it -------------------------------------------------------- */

enum { N = 1 << 20 };
static uint32_t bits[N], sixteen[N], floats[2 * N];

static void expect_same(uint32_t got, uint32_t expected, uint32_t of, const char *what) {
    if (got == expected) return;
    printf("%s of %#x: %#x, not %#x\n", what, (unsigned)of, (unsigned)got, (unsigned)expected);
    exit(1);
}

static void compare(size_t i) {
    const ha_bits16_ low = (ha_bits16_)bits[i];
    const float x = ha_bits_float_(bits[i]);
    const uint32_t half = ha_float_bits_(ha_half_to_float(ha_half_of_bits(low)));
    const uint32_t bfloat16 = ha_float_bits_(ha_bfloat16_to_float(ha_bfloat16_of_bits(low)));
    expect_same(sixteen[i] & 0xffff, ha_half_of_float(x).bits, bits[i], "half");
    expect_same(sixteen[i] >> 16, ha_bfloat16_of_float(x).bits, bits[i], "bfloat16");
    expect_same(floats[2 * i], half, low, "float of half");
    expect_same(floats[2 * i + 1], bfloat16, low, "float of bfloat16");
}

/* The upper 18 bits of floats, with lower ones from the middle of two halves to the middle of two
 * bfloat16; every 16 bits are among the lower halves. */
static void convert(void) {
    static const uint32_t low[] = {0xfff, 0x1000, 0x1001, 0x3fff};
    for (uint32_t i = 0; i < N; i++) bits[i] = i >> 2 << 14 | (low[i & 3]);
    for (uint32_t i = 0; i < 0x10000; i++) bits[i * 16] = i * 0x9e3779b1u << 16 | i;
    void *buffers[] = {new_buffer(sizeof bits, bits), new_buffer(sizeof sixteen, NULL),
                       new_buffer(sizeof floats, NULL)};
    run("convert", N, buffers, 3);
    read_back(buffers[1], sizeof sixteen, sixteen);
    read_back(buffers[2], sizeof floats, floats);
    for (size_t i = 0; i < N; i++) compare(i);
}

int main(void) {
    void *device = NULL;
    int32_t failed = -1;
    load();
    open_device(&device);
    build(device, "#include \"tests/compile/numbers.cl\"\n", "-cl-std=CL1.2 -I" HARRAY_SOURCE);
    void *buffer = new_buffer(sizeof failed, &failed);
    run("use_numbers", 1, &buffer, 1);
    read_back(buffer, sizeof failed, &failed);
    if (failed) printf("%d checks failed on the device\n", (int)failed);
    require(failed == 0, "numbers on the device");
    convert();
    puts("ok");
    return 0;
}
