/* A file as a memory: context "file:0", for what no other memory has room for.
 *
 * There is none until a directory is named, by ha_file_configure(), HARRAY_FILE, or the file of HARRAY_MEMORY, which
 * also makes it the next tier of the host (memory.h). Then the blocks of
 * file:0 are ranges of one temporary file in that directory, which has no name: nothing is left there,
 * however the program ends. Its queues read and write that file, and reach the host.
 *
 * It has no processor: functions there are refused (HA_ERR_UNSUPPORTED), and kernels run on the host, or are
 * refused, too, where HARRAY_KERNELS says strict. Arrays are brought there, like anywhere,
 * by opening or prefetching them, and are read again where they are used next:
 *
 *     HA_CHECK(ha_file_configure(&(ha_file_options){.directory = "/scratch/me"}));
 *     ha_context *disk = ha_context_find("file:0");
 *     HA_CHECK(ha_array_prefetch(x.array, disk, 0, HA_END)); // written in the background
 *
 * A block is reserved on the disk when it is made, so a disk that is full is HA_ERR_MEMORY then. What fails
 * later all the same (an error of the disk, a file system that cannot reserve) makes the queue fail, with the
 * system's error number and text: what was to be written is not valid there, and stays valid where it came
 * from. */
#ifndef HARRAY_FILE_H
#define HARRAY_FILE_H

#include "context.h"

/* Zero in a field means its default. */
typedef struct ha_file_options {
    const char *directory; /* copied; NULL or "": there is no file:0. At most 1023 bytes */
    uint64_t capacity; /* bytes that the file may have; default: what the file system has free */
    int buffered; /* nonzero: always through the system's cache of files. Else large transfers go
                              past it, where the file system and their alignment allow (O_DIRECT) */
} ha_file_options;

/* Sets the options for file:0, which is opened later; NULL: there is none. Without a call they come from
 * the environment: HARRAY_FILE="dir=/scratch/me,capacity=500G,buffered=0"; K, M and G are powers of 1024; what is
 * wrong in it is told when file:0 is opened. HA_ERR_STATE when it is open already (ha_shutdown closes it),
 * HA_ERR_ARGUMENT when the capacity is more than 16384G or the directory's name too long, HA_ERR_BACKEND with the
 * system's error number when no file can be made in the directory. A call that fails changes nothing. May
 * be called from any thread. */
HA_API HA_MUST_CHECK ha_status ha_file_configure(const ha_file_options *options);

#endif
