/* The kernel of backends/cuda/strides_kernel.h in the fake driver, which has it compiled for the host. What
 * a launch hands over is looked at byte by byte, so that what a GPU would do wrong is misuse here. */
#ifndef HARRAY_TESTS_BACKENDS_FAKE_CUDA_STRIDES_H
#define HARRAY_TESTS_BACKENDS_FAKE_CUDA_STRIDES_H

#include "../../backends/cuda/strides_kernel.h"
#include "fake_cuda_copy.h"

static const char fake_strides_name[] = "ha_cuda_strides";
static const size_t fake_strides_size = sizeof(ha_cuda_strides_table);

/* Every thread of the grid, one after the other. */
static void fake_strides_body(void **parameters, const fake_cuda_launch *launch) {
    const ha_cuda_strides_table *table = (const ha_cuda_strides_table *)parameters[0];
    const unsigned threads = launch->grid[0] * launch->block[0];
    for (unsigned i = 0; i < launch->grid[1]; i++) {
        ha_cuda_stride s = table->copy[i];
        s.to = (uintptr_t)fake_cuda_here(launch, (const void *)(uintptr_t)s.to);
        s.from = (uintptr_t)fake_cuda_here(launch, (const void *)(uintptr_t)s.from);
        for (unsigned thread = 0; thread < threads; thread++)
            ha_cuda_stride_thread(&s, thread, threads);
    }
}

/* The memory of one side, which is the device's, or such that it reaches. */
static void fake_check_side(fake_command *command, ha_cu_stream stream, const ha_cuda_stride *s,
                            uintptr_t first, const unsigned long long *step) {
    size_t span = (size_t)s->unit * s->units;
    fake_block *block;
    uintptr_t all = first;
    for (int k = 0; k < 4; k++) {
        size_t level;
        if (s->count[k] > 1) all |= step[k];
        if (__builtin_mul_overflow((size_t)(s->count[k] - 1), (size_t)step[k], &level) ||
            __builtin_add_overflow(span, level, &span))
            fake_misuse("the size of strided copies overflows");
    }
    if (all % s->unit != 0)
        fake_misuse("units of %u bytes are not aligned at %#zx", s->unit, (size_t)first);
    block = fake_use_block(first, span);
    if (block == NULL) fake_misuse("a kernel uses pageable memory at %#zx", (size_t)first);
    if (!fake_is_on_host(block) && block->context != stream->context &&
        !stream->context->may_reach[block->context->device])
        fake_misuse("a kernel uses memory of another device at %#zx", (size_t)first);
    for (size_t i = 0; i < command->used; i++)
        if (command->uses[i] == block) return;
    fake_add_use(command, block);
}

static void fake_check_strides(fake_command *command, ha_cu_stream stream, void **parameters,
                               const fake_cuda_launch *launch) {
    const ha_cuda_strides_table *table = (const ha_cuda_strides_table *)parameters[0];
    if (launch->grid[1] > HA_CUDA_STRIDES_MOST_ || launch->grid[2] != 1 ||
        launch->block[0] != HA_CUDA_STRIDES_BLOCK_ || launch->block[1] * launch->block[2] != 1)
        fake_misuse("strided copies in another grid than they are written for");
    for (unsigned i = 0; i < launch->grid[1]; i++) {
        const ha_cuda_stride *s = &table->copy[i];
        unsigned long long values = 1;
        for (int k = 0; k < 4; k++) {
            values *= s->count[k];
            if (values == 0 || values > INT32_MAX) fake_misuse("strided copies of too many values");
        }
        if (s->units == 0 || (s->unit != 1 && s->unit != 2 && s->unit != 4 && s->unit != 8))
            fake_misuse("%u units of %u bytes", s->units, s->unit);
        fake_check_side(command, stream, s, (uintptr_t)s->to, s->to_step);
        fake_check_side(command, stream, s, (uintptr_t)s->from, s->from_step);
    }
}

#endif
