/* The fake driver's modules and kernels: any image is accepted, and has the kernels that tests made
 * known; one that names it has that of harray itself. */
#ifndef HARRAY_TESTS_BACKENDS_FAKE_CUDA_KERNEL_H
#define HARRAY_TESTS_BACKENDS_FAKE_CUDA_KERNEL_H

#include "fake_cuda_ptx.h"
#include "fake_cuda_strides.h"

struct CUfunc_st {
    ha_cu_function next;
    ha_cu_module module;
    const fake_kernel *kernel;
};

static const fake_kernel fake_strides_kernel = {
    .name = (char *)(uintptr_t)fake_strides_name,
    .body = fake_strides_body,
    .check = fake_check_strides,
    .count = 1,
    .sizes = (size_t *)(uintptr_t)&fake_strides_size,
};

/* One with the same name is found first; functions of the older one stay as they are. */
static fake_kernel *fake_add_kernel(const char *name, fake_cuda_body body, size_t count,
                                    const size_t *sizes) {
    fake_kernel *kernel = (fake_kernel *)fake_make(sizeof *kernel);
    kernel->name = (char *)fake_make(strlen(name) + 1);
    strcpy(kernel->name, name);
    kernel->body = body;
    kernel->count = count;
    kernel->sizes = (size_t *)fake_make((count + 1) * sizeof *sizes);
    if (count > 0) memcpy(kernel->sizes, sizes, count * sizeof *sizes);
    kernel->next = fake.kernels;
    return fake.kernels = kernel;
}

/* NULL: there is none. */
static const fake_kernel *fake_find_kernel(ha_cu_module module, const char *name) {
    size_t sizes[FAKE_CUDA_MOST_SIZES];
    fake_cuda_body body;
    for (const fake_kernel *k = fake.kernels; k; k = k->next)
        if (!strcmp(k->name, name)) return k;
    if (module->has_strides && !strcmp(name, fake_strides_name)) return &fake_strides_kernel;
    const int count = fake.find ? fake.find(name, &body, sizes) : -1;
    return count < 0 ? NULL : fake_add_kernel(name, body, (size_t)count, sizes);
}

static void fake_free_module(ha_cu_module module) {
    while (module->functions) {
        ha_cu_function function = module->functions;
        module->functions = function->next;
        free(function);
    }
    free(module->text);
    free(module);
    fake.statistics.modules--;
}

static ha_cu_module *fake_find_module(ha_cu_module module) {
    ha_cu_module *place = &fake.modules;
    while (*place && *place != module) place = &(*place)->next;
    if (module == NULL || *place == NULL) fake_misuse("%p is no module", (void *)module);
    return place;
}

static void fake_check_function(ha_cu_function wanted) {
    for (ha_cu_module module = fake.modules; module; module = module->next)
        for (ha_cu_function function = module->functions; function; function = function->next)
            if (function == wanted) return;
    fake_misuse("%p is no function", (void *)wanted);
}

ha_cu_result cuModuleLoadData(ha_cu_module *module, const void *image) {
    FAKE_BEGIN(ModuleLoadData, NULL, FAKE_SOUND);
    if (module == NULL || image == NULL) return fake_end(HA_CU_INVALID_VALUE);
    *module = (ha_cu_module)fake_make(sizeof **module);
    (*module)->context = fake_current();
    (*module)->has_strides = strstr((const char *)image, fake_strides_name) != NULL;
    if (strstr((const char *)image, ".entry ha_entry_")) {
        (*module)->text = (char *)fake_make(strlen((const char *)image) + 1);
        strcpy((*module)->text, (const char *)image);
    }
    (*module)->next = fake.modules;
    fake.modules = *module;
    fake.statistics.modules++;
    return fake_end(HA_CU_SUCCESS);
}

ha_cu_result cuModuleUnload(ha_cu_module module) {
    ha_cu_module *place;
    FAKE_BEGIN(ModuleUnload, NULL, FAKE_CURRENT);
    place = fake_find_module(module);
    if (module->context != fake_current()) return fake_end(HA_CU_INVALID_HANDLE);
    *place = module->next;
    fake_free_module(module);
    return fake_end(fake_failure(fake_current()));
}

/* The same function each time. */
ha_cu_result cuModuleGetFunction(ha_cu_function *function, ha_cu_module module, const char *name) {
    const fake_kernel *kernel;
    ha_cu_function found;
    FAKE_BEGIN(ModuleGetFunction, NULL, FAKE_SOUND);
    (void)fake_find_module(module);
    if (function == NULL || name == NULL) return fake_end(HA_CU_INVALID_VALUE);
    kernel = fake_find_kernel(module, name);
    if (kernel == NULL) return fake_end(HA_CU_NOT_FOUND);
    fake_ptx_check(module->text, kernel);
    for (found = module->functions; found && found->kernel != kernel;) found = found->next;
    if (found == NULL) {
        found = (ha_cu_function)fake_make(sizeof *found);
        *found = (struct CUfunc_st){module->functions, module, kernel};
        module->functions = found;
    }
    *function = found;
    return fake_end(HA_CU_SUCCESS);
}

/* ---- launching ---- */

typedef struct fake_launch {
    fake_cuda_body body;
    fake_cuda_launch launch;
    void **parameters; /* they and their values are behind this */
    _Alignas(max_align_t) unsigned char data[];
} fake_launch;

static void fake_run_kernel(ha_cu_stream stream, void *data) {
    fake_launch *launch = (fake_launch *)data;
    (void)stream;
    launch->body(launch->parameters, &launch->launch);
}

/* Blocks that the parameters point to, as far as one can see. */
static void fake_use_parameters(fake_command *command, const fake_launch *launch,
                                const fake_kernel *kernel) {
    for (size_t i = 0; i < kernel->count; i++) {
        uintptr_t address;
        fake_block *block;
        if (kernel->sizes[i] != sizeof address) continue;
        memcpy(&address, launch->parameters[i], sizeof address);
        block = fake_find_block(address);
        if (block && block->freeing)
            fake_misuse("%#zx was given to cuMemFreeAsync", (size_t)address);
        fake_add_use(command, block);
    }
}

static fake_launch *fake_new_launch(ha_cu_stream stream, const fake_kernel *kernel,
                                    void **parameters) {
    const size_t unit = sizeof(max_align_t);
    size_t bytes = fake_round_up((kernel->count + 1) * sizeof(void *), unit), at = bytes;
    fake_launch *launch;
    for (size_t i = 0; i < kernel->count; i++) bytes += fake_round_up(kernel->sizes[i], unit);
    launch = (fake_launch *)fake_make(sizeof *launch + bytes);
    launch->body = kernel->body;
    launch->parameters = (void **)(void *)launch->data;
    for (size_t i = 0; i < kernel->count; i++) {
        launch->parameters[i] = memcpy(launch->data + at, parameters[i], kernel->sizes[i]);
        at += fake_round_up(kernel->sizes[i], unit);
    }
    launch->launch.own = fake.devices[stream->context->device].here;
    for (int i = 0; i < FAKE_CUDA_MOST_DEVICES; i++)
        if (stream->context->may_reach[i]) launch->launch.peers[i] = fake.devices[i].here;
    return launch;
}

static int fake_is_shape(const unsigned grid[3], const unsigned block[3], unsigned shared_bytes) {
    const unsigned long long threads = (unsigned long long)block[0] * block[1] * block[2];
    return grid[0] > 0 && grid[1] > 0 && grid[2] > 0 && grid[0] <= 0x7fffffff && grid[1] <= 65535 &&
           grid[2] <= 65535 && threads > 0 && threads <= 1024 && block[0] <= 1024 &&
           block[1] <= 1024 && block[2] <= 64 && shared_bytes <= 49152;
}

ha_cu_result cuLaunchKernel(ha_cu_function function, unsigned grid_x, unsigned grid_y,
                            unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
                            unsigned shared_bytes, ha_cu_stream handle, void **parameters,
                            void **extra) {
    const unsigned grid[3] = {grid_x, grid_y, grid_z}, block[3] = {block_x, block_y, block_z};
    ha_cu_stream stream;
    fake_command *command;
    fake_launch *launch;
    FAKE_BEGIN_STREAM(LaunchKernel, handle, &stream);
    fake_check_function(function);
    if (extra != NULL) return fake_end(HA_CU_NOT_SUPPORTED);
    if (!fake_is_shape(grid, block, shared_bytes)) return fake_end(HA_CU_INVALID_VALUE);
    if (function->module->context != stream->context || stream->context != fake_current())
        return fake_end(HA_CU_INVALID_HANDLE);
    launch = fake_new_launch(stream, function->kernel, parameters);
    memcpy(launch->launch.grid, grid, sizeof grid);
    memcpy(launch->launch.block, block, sizeof block);
    launch->launch.shared_bytes = shared_bytes;
    launch->launch.name = function->kernel->name;
    command = fake_new_command(FAKE_WORK);
    command->run = fake_run_kernel;
    command->data = launch;
    fake_use_parameters(command, launch, function->kernel);
    if (function->kernel->check)
        function->kernel->check(command, stream, launch->parameters, &launch->launch);
    fake_enqueue(stream, command);
    return fake_end(HA_CU_SUCCESS);
}

#endif
