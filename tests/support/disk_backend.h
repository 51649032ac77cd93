/* The file as a device for the tests of arrays, kind "disk": all is backends/file's, but its queues run functions,
 * too, on a mapping of the file. So what the tests do at any device shows what the file does with it.
 *
 * Its file is in /tmp. To be included behind harray.h with HARRAY_IMPLEMENTATION. */
#ifndef HARRAY_TESTS_SUPPORT_DISK_BACKEND_H
#define HARRAY_TESTS_SUPPORT_DISK_BACKEND_H

#include "../../backends/file/file.h"

#include <sys/mman.h>
#include <sys/stat.h>

static ha_queue disk_here; /* the way from an address to the mapping */
static int disk_file;

static inline ha_status disk_open(int number, void **opened, void **memory) {
    const ha_file_options options = {
        .directory = "/tmp", .capacity = (uint64_t)1 << 30, .buffered = 1};
    ha_status status = ha_file_set_options(&options);
    if (status == HA_OK) status = ha_file_open(number, opened, memory);
    if (status != HA_OK) return status;
    const ha_file_device *device = (const ha_file_device *)*opened;
    void *bytes = mmap(NULL, device->bytes, PROT_NONE, MAP_SHARED, device->storage.file, 0);
    if (bytes == MAP_FAILED) {
        ha_file_close(*opened);
        return HA_ERR_MEMORY;
    }
    disk_here = (ha_queue){device->first, device->bytes, (uintptr_t)bytes - device->first};
    disk_file = device->storage.file;
    return HA_OK;
}

static inline void disk_close(void *device) {
    munmap((void *)(disk_here.first + disk_here.shift), disk_here.bytes);
    ha_file_close(device);
    (void)ha_file_set_options(NULL);
}

/* Of the mapping what the file has: valgrind looks at all that can be read, and for each page that is not there it
 * takes a signal, for minutes. */
static inline void disk_show(void) {
    struct stat about;
    if (fstat(disk_file, &about) == 0 && about.st_size > 0)
        (void)mprotect((void *)(disk_here.first + disk_here.shift), (size_t)about.st_size,
                       PROT_READ | PROT_WRITE);
}

static inline int disk_run(ha_file_queue *queue, ha_file_command *command) {
    (void)queue;
    disk_show();
    ha_queue_run(command->f, &disk_here, command->bytes ? command->data : NULL);
    return 0;
}

static inline ha_status disk_call(void *queue, ha_function f, const void *argument, size_t bytes) {
    const ha_file_command call = {.run = disk_run, .f = f};
    return ha_file_enqueue((ha_file_queue *)queue, &call, argument, bytes);
}

static inline int disk_count(void) { return 1; }

static ha_queue_ops disk_queue_ops;
static ha_backend disk_backend;

/* The tables are made at the first call; to be registered. */
static inline const ha_backend *disk_backend_make(void) {
    disk_queue_ops = ha_file_queue_ops;
    disk_queue_ops.call = disk_call;
    disk_backend = ha_backend_file;
    disk_backend.kind = "disk";
    disk_backend.count = disk_count;
    disk_backend.open = disk_open;
    disk_backend.close = disk_close;
    disk_backend.queue = &disk_queue_ops;
    return &disk_backend;
}

#endif
