/* The fake driver's copies and memsets.
 *
 * Pageable memory of the host cannot be reached by a device, so the driver copies it: up to 64 KiB to a
 * device at the time of the call, not in the stream's order; more than that, and all from a device,
 * while the caller waits. Copies from host to host wait, too. */
#ifndef HARRAY_TESTS_BACKENDS_FAKE_CUDA_COPY_H
#define HARRAY_TESTS_BACKENDS_FAKE_CUDA_COPY_H

#include "fake_cuda_queue.h"

enum { FAKE_STAGED = 65536 };
static const size_t fake_most_pitch = 0x7fffffff; /* CU_DEVICE_ATTRIBUTE_MAX_PITCH */

typedef struct fake_side {
    uintptr_t first;
    size_t row, plane; /* distances */
    fake_block *block; /* NULL: pageable */
} fake_side;

typedef struct fake_box {
    fake_side to, from;
    size_t bytes, rows, planes;
} fake_box;

typedef struct fake_copy {
    fake_box box;          /* addresses of the bytes themselves */
    unsigned char bytes[]; /* copied at the call */
} fake_copy;

static void fake_copy_now(const fake_box *box) {
    for (size_t z = 0; z < box->planes; z++)
        for (size_t y = 0; y < box->rows; y++)
            memcpy((char *)box->to.first + z * box->to.plane + y * box->to.row,
                   (const char *)box->from.first + z * box->from.plane + y * box->from.row,
                   box->bytes);
}

static void fake_run_copy(ha_cu_stream stream, void *data) {
    (void)stream;
    fake_copy_now(&((const fake_copy *)data)->box);
}

/* ---- where the bytes are, and who may go there ---- */

static size_t fake_span(const fake_box *box, const fake_side *side) {
    size_t rows, planes, span;
    if (__builtin_mul_overflow(box->rows - 1, side->row, &rows) ||
        __builtin_mul_overflow(box->planes - 1, side->plane, &planes) ||
        __builtin_add_overflow(rows, planes, &span) ||
        __builtin_add_overflow(span, box->bytes, &span))
        fake_misuse("a copy's size overflows");
    return span;
}

static int fake_is_host(const fake_side *side) {
    return side->block == NULL || side->block->kind == FAKE_PINNED;
}

/* The failure of another device that is involved. Portable pinned memory is every device's. */
static ha_cu_result fake_locate(const fake_box *box, fake_side *side) {
    const size_t span = fake_span(box, side);
    if (fake_is_pinned_in_part(side->first, span)) return HA_CU_INVALID_VALUE;
    side->block = fake_use_block(side->first, span);
    side->first = (uintptr_t)fake_bytes_at(side->first);
    if (side->block == NULL || side->block->kind == FAKE_PINNED) return HA_CU_SUCCESS;
    return fake_failure(side->block->context);
}

static int fake_must_not_reach(ha_cu_stream stream, const fake_side *side) {
    const ha_cu_context context = side->block->context;
    return context != stream->context && !stream->context->may_reach[context->device];
}

static void fake_count_peers(ha_cu_stream stream, const fake_box *box) {
    const fake_block *to = box->to.block, *from = box->from.block;
    if (!to || !from || fake_is_on_host(to) || fake_is_on_host(from)) return;
    if (to->context == from->context) return;
    if (fake_must_not_reach(stream, &box->to) || fake_must_not_reach(stream, &box->from))
        fake.statistics.staged_copies++;
    else
        fake.statistics.peer_copies++;
}

/* Kernels and copies of one device may overlap in time, their bytes may not. */
static void fake_check_overlap(const fake_box *box) {
    if (box->rows > 1 || box->planes > 1) return;
    if (box->to.first - box->from.first < box->bytes ||
        box->from.first - box->to.first < box->bytes)
        fake_misuse("a copy of %zu bytes overlaps itself", box->bytes);
}

/* ---- copying ---- */

/* The source is gathered now. */
static fake_copy *fake_stage(const fake_box *box, size_t total) {
    fake_copy *copy = (fake_copy *)fake_make(sizeof *copy + total);
    fake_side packed = {(uintptr_t)copy->bytes, box->bytes, box->bytes * box->rows, NULL};
    copy->box = *box;
    copy->box.to = packed;
    fake_copy_now(&copy->box);
    copy->box.to = box->to;
    copy->box.from = packed;
    return copy;
}

static fake_copy *fake_plain_copy(const fake_box *box) {
    fake_copy *copy = (fake_copy *)fake_make(sizeof *copy);
    copy->box = *box;
    return copy;
}

static ha_cu_result fake_copy_box(ha_cu_stream stream, fake_box *box) {
    fake_command *command;
    fake_position end;
    ha_cu_result result;
    size_t total;
    int staged;
    if (box->bytes == 0 || box->rows == 0 || box->planes == 0) return HA_CU_SUCCESS;
    result = fake_locate(box, &box->to);
    if (result == HA_CU_SUCCESS) result = fake_locate(box, &box->from);
    if (result != HA_CU_SUCCESS) return result;
    fake_check_overlap(box);
    fake_count_peers(stream, box);
    total = box->bytes * box->rows * box->planes;
    staged = box->from.block == NULL && !fake_is_host(&box->to) && total <= FAKE_STAGED;
    command = fake_new_command(FAKE_WORK);
    command->run = fake_run_copy;
    command->data = staged ? fake_stage(box, total) : fake_plain_copy(box);
    fake_add_use(command, box->to.block);
    fake_add_use(command, box->from.block);
    end = fake_enqueue(stream, command);
    if (staged) return HA_CU_SUCCESS;
    if (box->to.block && box->from.block && !(fake_is_host(&box->to) && fake_is_host(&box->from)))
        return HA_CU_SUCCESS;
    return fake_wait_for(end);
}

static ha_cu_result fake_copy_bytes(ha_cu_stream stream, uintptr_t to, uintptr_t from,
                                    size_t bytes) {
    fake_box box = {.to.first = to, .from.first = from, .bytes = bytes, .rows = 1, .planes = 1};
    return fake_copy_box(stream, &box);
}

/* Whether a pointer that was said to be a device's is. */
static int fake_is_known(uintptr_t address) {
    return fake_device_of(address) || fake_find_block(address);
}

ha_cu_result cuMemcpyAsync(ha_cu_pointer to, ha_cu_pointer from, size_t bytes,
                           ha_cu_stream handle) {
    ha_cu_stream stream;
    FAKE_BEGIN_STREAM(MemcpyAsync, handle, &stream);
    return fake_end(fake_copy_bytes(stream, (uintptr_t)to, (uintptr_t)from, bytes));
}

ha_cu_result cuMemcpyHtoDAsync_v2(ha_cu_pointer to, const void *from, size_t bytes,
                                  ha_cu_stream handle) {
    ha_cu_stream stream;
    FAKE_BEGIN_STREAM(MemcpyHtoDAsync, handle, &stream);
    if (!fake_is_known((uintptr_t)to) || fake_device_of((uintptr_t)from))
        return fake_end(HA_CU_INVALID_VALUE);
    return fake_end(fake_copy_bytes(stream, (uintptr_t)to, (uintptr_t)from, bytes));
}

ha_cu_result cuMemcpyDtoHAsync_v2(void *to, ha_cu_pointer from, size_t bytes, ha_cu_stream handle) {
    ha_cu_stream stream;
    FAKE_BEGIN_STREAM(MemcpyDtoHAsync, handle, &stream);
    if (!fake_is_known((uintptr_t)from) || fake_device_of((uintptr_t)to))
        return fake_end(HA_CU_INVALID_VALUE);
    return fake_end(fake_copy_bytes(stream, (uintptr_t)to, (uintptr_t)from, bytes));
}

/* ---- three dimensions ---- */

/* One side of the driver's description: where it begins, and its distances. */
static ha_cu_result fake_side_of(fake_side *side, int type, const void *host, ha_cu_pointer device,
                                 size_t x, size_t y, size_t z, size_t pitch, size_t height,
                                 const fake_box *box) {
    const uintptr_t first = type == HA_CU_MEMORY_HOST ? (uintptr_t)host : (uintptr_t)device;
    const int flat = box->rows == 1 && box->planes == 1;
    if (type != HA_CU_MEMORY_HOST && type != HA_CU_MEMORY_DEVICE && type != HA_CU_MEMORY_UNIFIED)
        return HA_CU_INVALID_VALUE; /* arrays are no business of harray's */
    if (type == HA_CU_MEMORY_HOST && fake_device_of(first)) return HA_CU_INVALID_VALUE;
    if (type == HA_CU_MEMORY_DEVICE && !fake_is_known(first)) return HA_CU_INVALID_VALUE;
    if (pitch > fake_most_pitch) return HA_CU_INVALID_VALUE;
    if (!(flat && pitch == 0) && pitch < x + box->bytes) return HA_CU_INVALID_VALUE;
    if (box->planes > 1 && height < y + box->rows) return HA_CU_INVALID_VALUE;
    side->first = first + (z * height + y) * pitch + x;
    side->row = pitch;
    side->plane = pitch * height;
    return HA_CU_SUCCESS;
}

ha_cu_result cuMemcpy3DAsync_v2(const ha_cu_copy3d *copy, ha_cu_stream handle) {
    fake_box box = {0};
    ha_cu_stream stream;
    ha_cu_result result;
    FAKE_BEGIN_STREAM(Memcpy3DAsync, handle, &stream);
    if (copy == NULL || copy->srcLOD || copy->dstLOD || copy->reserved0 || copy->reserved1)
        return fake_end(HA_CU_INVALID_VALUE);
    box.bytes = copy->WidthInBytes;
    box.rows = copy->Height;
    box.planes = copy->Depth;
    result = fake_side_of(&box.from, (int)copy->srcMemoryType, copy->srcHost, copy->srcDevice,
                          copy->srcXInBytes, copy->srcY, copy->srcZ, copy->srcPitch,
                          copy->srcHeight, &box);
    if (result != HA_CU_SUCCESS) return fake_end(result);
    result = fake_side_of(&box.to, (int)copy->dstMemoryType, copy->dstHost, copy->dstDevice,
                          copy->dstXInBytes, copy->dstY, copy->dstZ, copy->dstPitch,
                          copy->dstHeight, &box);
    if (result != HA_CU_SUCCESS) return fake_end(result);
    return fake_end(fake_copy_box(stream, &box));
}

/* ---- memsets ---- */

typedef struct fake_set {
    char *to;
    size_t count, unit;
    unsigned value;
} fake_set;

static void fake_run_set(ha_cu_stream stream, void *data) {
    const fake_set *set = (const fake_set *)data;
    const unsigned short two = (unsigned short)set->value;
    (void)stream;
    if (set->unit == 1) memset(set->to, (int)set->value, set->count);
    for (size_t i = 0; i < set->count && set->unit == 2; i++) memcpy(set->to + 2 * i, &two, 2);
    for (size_t i = 0; i < set->count && set->unit == 4; i++)
        memcpy(set->to + 4 * i, &set->value, 4);
}

static ha_cu_result fake_set_memory(ha_cu_stream stream, ha_cu_pointer to, unsigned value,
                                    size_t unit, size_t count) {
    const uintptr_t first = (uintptr_t)to;
    fake_command *command;
    fake_block *block;
    fake_set *set;
    if (stream->context != fake_current()) return HA_CU_INVALID_HANDLE; /* a kernel does it */
    if (count == 0) return HA_CU_SUCCESS;
    if (first % unit != 0 || !fake_is_known(first)) return HA_CU_INVALID_VALUE;
    if (count > SIZE_MAX / unit) fake_misuse("%zu elements are too many", count);
    block = fake_use_block(first, count * unit);
    if (block->context->failure) return fake_failure(block->context);
    set = (fake_set *)fake_make(sizeof *set);
    *set = (fake_set){(char *)fake_bytes_at(first), count, unit, value};
    command = fake_new_command(FAKE_WORK);
    command->run = fake_run_set;
    command->data = set;
    fake_add_use(command, block);
    fake_enqueue(stream, command);
    return HA_CU_SUCCESS;
}

ha_cu_result cuMemsetD8Async(ha_cu_pointer to, unsigned char value, size_t count,
                             ha_cu_stream handle) {
    ha_cu_stream stream;
    FAKE_BEGIN_STREAM(MemsetD8Async, handle, &stream);
    return fake_end(fake_set_memory(stream, to, value, 1, count));
}

ha_cu_result cuMemsetD16Async(ha_cu_pointer to, unsigned short value, size_t count,
                              ha_cu_stream handle) {
    ha_cu_stream stream;
    FAKE_BEGIN_STREAM(MemsetD16Async, handle, &stream);
    return fake_end(fake_set_memory(stream, to, value, 2, count));
}

ha_cu_result cuMemsetD32Async(ha_cu_pointer to, unsigned value, size_t count, ha_cu_stream handle) {
    ha_cu_stream stream;
    FAKE_BEGIN_STREAM(MemsetD32Async, handle, &stream);
    return fake_end(fake_set_memory(stream, to, value, 4, count));
}

#endif
