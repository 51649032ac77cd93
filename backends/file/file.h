/* A file as a memory, as harray/file.h promises it.
 *
 *     options.h         HARRAY_FILE, and the same set by a call
 *     storage.h         the temporary file: reserving parts of it, reading and writing
 *     device.h          its addresses and blocks; opening and closing
 *     queue.h           commands and the threads that run them; events; failing
 *
 * It installs nothing global: no signal handler, nothing at fork or exit. */
#ifndef HARRAY_BACKENDS_FILE_FILE_H
#define HARRAY_BACKENDS_FILE_FILE_H

/* Of programs that only see it, all warnings have been given where it was compiled (tests/support/linked.h). */
#ifdef HA_INSIDE_IS_LINKED_
#pragma GCC system_header
#endif

#include "../backend.h"
#include "device.h"
#include "queue.h"

HA_STATE_ const ha_backend ha_backend_file HA_UNUSED = {
    .bytes = sizeof(ha_backend),
    .version = HA_BACKEND_VERSION,
    .kind = "file",
    .only_if_named = 1,
    .count = ha_file_count,
    .open = ha_file_open,
    .close = ha_file_close,
    .memory = &ha_file_memory_ops,
    .queue = &ha_file_queue_ops,
    .missing = ha_file_missing,
    .describe = ha_file_describe,
};

#endif
