/* file:0: its addresses and blocks, and what is configured.
 *
 * Users get addresses of a range that nobody can touch; the bytes are at the same distance from the
 * beginning of the file. */
#ifndef HARRAY_BACKENDS_FILE_DEVICE_H
#define HARRAY_BACKENDS_FILE_DEVICE_H

#include "../backend.h"
#include "../common/arena.h"
#include "../../harray/detail/locks.h"
#include "options.h"
#include "storage.h"

#include <string.h>
#include <sys/mman.h>

typedef struct ha_file_device {
    uintptr_t first; /* of the addresses */
    size_t bytes;
    ha_arena arena;
    ha_file_storage storage;
    char directory[HA_FILE_NAME_];
} ha_file_device;

HA_STATE_ struct {
    pthread_mutex_t lock;
    int known; /* the settings were set, or read from the environment */
    ha_file_settings settings;
    ha_option_text wrong; /* with HARRAY_FILE */
    int opened;
} ha_file_shared = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Reports an error of the system. */
HA_IN_ void ha_file_report(int error, const char *what) {
    char text[200];
    snprintf(text, sizeof text, "%s: %s", what, strerror(error));
    ha_backend_report(error, text);
}

HA_IN_ void ha_file_report_directory(int error, const char *directory) {
    char text[160];
    snprintf(text, sizeof text, "file: no file can be made in '%.100s'", directory);
    ha_file_report(error, text);
}

/* ---- options ---- */

/* Reads HARRAY_MEMORY, or if that has no place for the file HARRAY_FILE, unless settings are known. A wrong text
 * gives a message that whoever opens the device gets. */
HA_IN_ void ha_file_know_settings(void) HA_REQUIRES_(ha_file_shared.lock) {
    ha_option_text *wrong = &ha_file_shared.wrong;
    const char *text = getenv("HARRAY_FILE");
    size_t length;
    const char *place = ha_file_place_in(getenv("HARRAY_MEMORY"), &length);
    if (ha_file_shared.known) return;
    if (place != NULL && !ha_file_parse_place(place, length, &ha_file_shared.settings))
        snprintf(wrong->text, sizeof wrong->text, "HARRAY_MEMORY: \"file=%.*s\" %s",
                 (int)(length < 60 ? length : 60), place, HA_FILE_PLACE_);
    if (place == NULL && text != NULL) (void)ha_file_parse(text, &ha_file_shared.settings, wrong);
    ha_file_shared.known = 1;
}

/* What ha_file_configure() does. */
HA_IN_ HA_UNUSED ha_status ha_file_set_options(const ha_file_options *options) {
    static const ha_file_options none;
    ha_file_settings settings;
    ha_option_text wrong;
    int file, error, is_open;
    if (!ha_file_settings_of(options != NULL ? options : &none, &settings, &wrong)) {
        ha_backend_report(0, wrong.text);
        return HA_ERR_ARGUMENT;
    }
    error = settings.directory[0] != '\0' ? ha_file_make(settings.directory, &file) : 0;
    if (error) {
        ha_file_report_directory(error, settings.directory);
        return HA_ERR_BACKEND;
    }
    if (settings.directory[0] != '\0') close(file);
    pthread_mutex_lock(&ha_file_shared.lock);
    is_open = ha_file_shared.opened;
    if (!is_open) {
        ha_file_shared.settings = settings;
        ha_file_shared.wrong.text[0] = '\0';
        ha_file_shared.known = 1;
    }
    pthread_mutex_unlock(&ha_file_shared.lock);
    if (is_open) ha_backend_report(0, "file: file:0 is open already");
    return is_open ? HA_ERR_STATE : HA_OK;
}

/* One where a directory is named, or something is wrong that is to be told. */
HA_IN_ int ha_file_count(void) {
    int count;
    pthread_mutex_lock(&ha_file_shared.lock);
    ha_file_know_settings();
    count = ha_file_shared.settings.directory[0] != '\0' || ha_file_shared.wrong.text[0] != '\0';
    pthread_mutex_unlock(&ha_file_shared.lock);
    return count;
}

HA_IN_ const char *ha_file_missing(void) {
    return "no directory is named: HARRAY_FILE=\"dir=/scratch\", or ha_file_configure()";
}

/* ---- opening and closing ---- */

HA_IN_ ha_status ha_file_reserve_addresses(ha_file_device *device, uint64_t capacity) {
    void *mapping;
    if (capacity > HA_FILE_MOST_) capacity = HA_FILE_MOST_;
    if (capacity > SIZE_MAX / 4) capacity = SIZE_MAX / 4;
    if (capacity == 0) capacity = 1; /* a disk that is full now need not be later */
    device->bytes = ha_round_up((size_t)capacity, HA_FILE_UNIT_);
    mapping = mmap(NULL, device->bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                   0);
    if (mapping == MAP_FAILED) {
        ha_file_report(errno, "file: cannot reserve address space");
        return HA_ERR_MEMORY;
    }
    device->first = (uintptr_t)mapping;
    return HA_OK;
}

HA_IN_ ha_status ha_file_device_fill(ha_file_device *device, const ha_file_settings *settings) {
    ha_status status;
    const int error = ha_file_storage_create(&device->storage, settings->directory,
                                             settings->buffered);
    if (error) {
        ha_file_report_directory(error, settings->directory);
        return HA_ERR_BACKEND;
    }
    memcpy(device->directory, settings->directory, sizeof device->directory);
    status = ha_file_reserve_addresses(device, settings->capacity != 0
                                                   ? settings->capacity
                                                   : ha_file_free_bytes(&device->storage));
    if (status == HA_OK) {
        status = ha_arena_create(&device->arena, device->bytes, HA_FILE_UNIT_);
        if (status == HA_OK) return status;
        munmap((void *)device->first, device->bytes);
    }
    ha_file_storage_destroy(&device->storage);
    return status;
}

HA_IN_ ha_status ha_file_open_configured(ha_file_device **made) HA_REQUIRES_(ha_file_shared.lock) {
    ha_status status;
    ha_file_know_settings();
    if (ha_file_shared.wrong.text[0] != '\0') {
        ha_backend_report(EINVAL, ha_file_shared.wrong.text);
        return HA_ERR_BACKEND;
    }
    *made = (ha_file_device *)HARRAY_MALLOC(sizeof **made);
    if (*made == NULL) return HA_ERR_MEMORY;
    status = ha_file_device_fill(*made, &ha_file_shared.settings);
    if (status != HA_OK) HARRAY_FREE(*made);
    return status;
}

HA_IN_ ha_status ha_file_open(int number, void **device, void **memory) {
    ha_file_device *fresh = NULL;
    ha_status status;
    (void)number;
    pthread_mutex_lock(&ha_file_shared.lock);
    status = ha_file_open_configured(&fresh);
    if (status == HA_OK) {
        ha_file_shared.opened = 1;
        *device = *memory = fresh;
    }
    pthread_mutex_unlock(&ha_file_shared.lock);
    return status;
}

HA_IN_ void ha_file_close(void *handle) {
    ha_file_device *device = (ha_file_device *)handle;
    pthread_mutex_lock(&ha_file_shared.lock);
    ha_file_shared.opened = 0;
    pthread_mutex_unlock(&ha_file_shared.lock);
    munmap((void *)device->first, device->bytes);
    ha_arena_destroy(&device->arena);
    ha_file_storage_destroy(&device->storage);
    HARRAY_FREE(device);
}

HA_IN_ void ha_file_describe(void *device, char *text, size_t bytes) {
    snprintf(text, bytes, "a file in %s", ((ha_file_device *)device)->directory);
}

/* ---- memory ---- */

HA_IN_ int ha_file_has(const ha_file_device *device, const void *pointer) {
    return (uintptr_t)pointer - device->first < device->bytes;
}

HA_IN_ ha_status ha_file_no_room(ha_file_device *device, size_t bytes) {
    char text[160];
    snprintf(text, sizeof text, "file:0: no room for %zu bytes, %zu of %zu are in use", bytes,
             ha_arena_used(&device->arena), device->arena.capacity);
    ha_backend_report(0, text);
    return HA_ERR_MEMORY;
}

HA_IN_ int ha_file_is_full(int error) {
    return error == ENOSPC || error == EDQUOT || error == EFBIG;
}

HA_IN_ ha_status ha_file_allocate(void *memory, size_t bytes, void **block) {
    ha_file_device *device = (ha_file_device *)memory;
    size_t first;
    int error;
    if (ha_arena_take(&device->arena, bytes, &first) != HA_OK)
        return ha_file_no_room(device, bytes);
    error = ha_file_reserve(&device->storage, first, ha_round_up(bytes, HA_FILE_UNIT_));
    if (!error) {
        *block = (void *)(device->first + first);
        return HA_OK;
    }
    ha_arena_give(&device->arena, first, bytes);
    ha_file_report(error, "file:0: a block cannot be reserved");
    return ha_file_is_full(error) ? HA_ERR_MEMORY : HA_ERR_BACKEND;
}

/* The pages go first: nobody else can have the block until then. */
HA_IN_ void ha_file_release(void *memory, void *block, size_t bytes) {
    ha_file_device *device = (ha_file_device *)memory;
    const size_t first = (uintptr_t)block - device->first;
    ha_file_punch(&device->storage, first, ha_round_up(bytes, HA_FILE_UNIT_));
    ha_arena_give(&device->arena, first, bytes);
}

HA_IN_ int ha_file_reaches(void *memory, const ha_place *other) {
    (void)memory;
    return strcmp(other->backend->kind, "host") == 0;
}

/* Nanoseconds for 1 MiB: the last that anyone copies from, until it is measured. */
HA_IN_ uint64_t ha_file_cost(void *memory, const ha_place *other) {
    (void)memory, (void)other;
    return 10000000;
}

HA_IN_ int ha_file_knows(void *memory, const void *pointer, ha_memory_kind *kind) {
    if (!ha_file_has((const ha_file_device *)memory, pointer)) return 0;
    *kind = HA_MEMORY_DEVICE;
    return 1;
}

HA_IN_ ha_status ha_file_capacity(void *memory, uint64_t *total, uint64_t *unused) {
    ha_file_device *device = (ha_file_device *)memory;
    const uint64_t on_disk = ha_file_free_bytes(&device->storage);
    *total = device->arena.capacity;
    *unused = *total - ha_arena_used(&device->arena);
    if (*unused > on_disk) *unused = on_disk;
    return HA_OK;
}

static const ha_memory_ops ha_file_memory_ops = {
    .bytes = sizeof(ha_memory_ops),
    .version = HA_BACKEND_VERSION,
    .allocate = ha_file_allocate,
    .release = ha_file_release,
    .reaches = ha_file_reaches,
    .cost = ha_file_cost,
    .knows = ha_file_knows,
    .capacity = ha_file_capacity,
};

#endif
