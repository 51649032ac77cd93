/* The objects of a store: what its functions are called for. All of this is the store's thread's.
 *
 * A piece that is written whole is put from where it is. One that is written in parts is brought into a buffer,
 * changed there, and put when another one's turn comes, or the command ends. An object that was read or put by
 * a buffer stays there until the next one: keys never stand for other bytes. */
#ifndef HARRAY_BACKENDS_STORE_OBJECTS_H
#define HARRAY_BACKENDS_STORE_OBJECTS_H

#include "device.h"
#include "../common/strided_copy.h"

/* ---- calling the program ------------------------------------------------------------------------- */

typedef struct ha_store_call {
    const ha_store *store;
    uint64_t key;
    const void *from; /* of a put */
    void *to;         /* of a get; with neither it is removed */
    size_t bytes;
    ptrdiff_t result;
} ha_store_call;

HA_IN_ void ha_store_call_now(const ha_queue *here, void *argument) {
    ha_store_call *call = (ha_store_call *)argument;
    const ha_store *store = call->store;
    (void)here;
    if (call->from != NULL)
        call->result = store->put(store->user, call->key, call->from, call->bytes);
    else if (call->to != NULL)
        call->result = store->get(store->user, call->key, call->to, call->bytes);
    else
        store->remove(store->user, call->key);
}

/* As a function on a queue, in which arrays cannot be opened: whoever did that would wait for itself. */
HA_IN_ ptrdiff_t ha_store_call_make(ha_store_call call) {
    static const ha_queue nowhere = {0, 0, 0};
    ha_queue_run(ha_store_call_now, &nowhere, &call);
    return call.result;
}

HA_IN_ void ha_store_remove(const ha_store_device *device, uint64_t key) {
    if (key > 0) (void)ha_store_call_make((ha_store_call){.store = &device->store, .key = key});
}

/* The piece becomes these bytes; when that fails it is as it was. */
HA_IN_ int ha_store_put(ha_store_device *device, ha_store_piece *piece, const void *from,
                        size_t bytes) {
    const ha_store_piece fresh = {++device->keys, bytes};
    const ha_store_call call = {
        .store = &device->store, .key = fresh.key, .from = from, .bytes = bytes};
    const ptrdiff_t error = ha_store_call_make(call);
    ha_store_remove(device, error ? fresh.key : piece->key);
    if (!error) *piece = fresh;
    if (error)
        snprintf(device->why, sizeof device->why,
                 "store:%d: the put of %zu bytes under key %llu has failed", device->number, bytes,
                 (unsigned long long)fresh.key);
    return (int)error;
}

/* All bytes of a piece that has a key. */
HA_IN_ int ha_store_get(ha_store_device *device, const ha_store_piece *piece, void *to) {
    const ha_store_call call = {
        .store = &device->store, .key = piece->key, .to = to, .bytes = piece->bytes};
    const ptrdiff_t got = ha_store_call_make(call);
    if (got >= 0 && (size_t)got == piece->bytes) return 0;
    if (got < 0)
        snprintf(device->why, sizeof device->why,
                 "store:%d: the get of key %llu, of %zu bytes, has failed", device->number,
                 (unsigned long long)piece->key, piece->bytes);
    else
        snprintf(device->why, sizeof device->why,
                 "store:%d: the get of key %llu has given %zu of %zu bytes", device->number,
                 (unsigned long long)piece->key, (size_t)got, piece->bytes);
    return got < 0 ? (int)-got : EIO;
}

/* ---- buffers ------------------------------------------------------------------------------------- */

/* Has at least so many bytes; what nobody has written is 0. */
HA_IN_ void ha_store_page_reach(ha_store_page *page, size_t bytes) {
    if (page->bytes >= bytes) return;
    memset(page->data + page->bytes, 0, bytes - page->bytes);
    page->bytes = bytes;
}

HA_IN_ int ha_store_page_load(ha_store_device *device, ha_store_page *page,
                              const ha_store_piece *piece) {
    int error = 0;
    if (piece->key > 0 && page->key == piece->key) return 0;
    page->key = 0;
    if (piece->key > 0) error = ha_store_get(device, piece, page->data);
    if (error) return error;
    *page = (ha_store_page){page->data, piece->key, piece->bytes};
    return 0;
}

/* What was changed is put. */
HA_IN_ int ha_store_flush(ha_store_device *device) {
    ha_store_page *page = &device->changed;
    ha_store_piece *piece = device->changing;
    if (piece == NULL) return 0;
    device->changing = NULL;
    page->key = 0;
    const int error = ha_store_put(device, piece, page->data, page->bytes);
    if (!error) page->key = piece->key;
    return error;
}

/* Is to be changed from now on. */
HA_IN_ int ha_store_change(ha_store_device *device, ha_store_piece *piece) {
    int error = 0;
    if (device->changing == piece) return 0;
    error = ha_store_flush(device);
    if (!error) error = ha_store_page_load(device, &device->changed, piece);
    if (!error) device->changing = piece;
    return error;
}

/* ---- parts of pieces ----------------------------------------------------------------------------- */

HA_IN_ int ha_store_write(ha_store_device *device, ha_store_piece *piece, size_t at,
                          const char *from, size_t bytes) {
    if (at == 0 && bytes >= piece->bytes && device->changing != piece)
        return ha_store_put(device, piece, from, bytes);
    const int error = ha_store_change(device, piece);
    if (error) return error;
    ha_store_page_reach(&device->changed, at + bytes);
    memcpy(device->changed.data + at, from, bytes);
    return 0;
}

HA_IN_ int ha_store_read(ha_store_device *device, const ha_store_piece *piece, size_t at, char *to,
                         size_t bytes) {
    ha_store_page *page = &device->read;
    if (at == 0 && bytes == piece->bytes && page->key != piece->key)
        return ha_store_get(device, piece, to);
    const int error = ha_store_page_load(device, page, piece);
    if (error) return error;
    ha_store_page_reach(page, at + bytes);
    memcpy(to, page->data + at, bytes);
    return 0;
}

/* From one piece to another one, by both buffers. */
HA_IN_ int ha_store_write_read(ha_store_device *device, ha_store_piece *to, size_t to_at,
                               const ha_store_piece *from, size_t from_at, size_t bytes) {
    ha_store_page *page = &device->read;
    const int error = ha_store_page_load(device, page, from);
    if (error) return error;
    ha_store_page_reach(page, from_at + bytes);
    return ha_store_write(device, to, to_at, page->data + from_at, bytes);
}

/* ---- copies --------------------------------------------------------------------------------------- */

/* The blocks of both sides; NULL: the host. */
typedef struct ha_store_sides {
    ha_store_block *to, *from;
} ha_store_sides;

/* Where an address of a block is in its piece. *piece = which one that is, *bytes at most what it has from there on. */
HA_IN_ size_t ha_store_find(const ha_store_device *device, ha_store_block *block,
                            const void *pointer, ha_store_piece **piece, size_t *bytes) {
    const size_t offset = (uintptr_t)pointer - device->first - block->first;
    const size_t at = offset % device->store.piece, left = device->store.piece - at;
    *piece = &block->piece[offset / device->store.piece];
    if (*bytes > left) *bytes = left;
    return at;
}

/* Bytes that follow each other on both sides. */
HA_IN_ int ha_store_move(ha_store_device *device, ha_store_sides sides, char *to, const char *from,
                         size_t bytes) {
    int error = 0;
    for (size_t now; bytes > 0 && !error; to += now, from += now, bytes -= now) {
        ha_store_piece *into = NULL, *of = NULL;
        size_t to_at = 0, from_at = 0;
        now = bytes;
        if (sides.to != NULL) to_at = ha_store_find(device, sides.to, to, &into, &now);
        if (sides.from != NULL) from_at = ha_store_find(device, sides.from, from, &of, &now);
        if (of == NULL)
            error = ha_store_write(device, into, to_at, from, now);
        else if (into == NULL)
            error = ha_store_read(device, of, from_at, to, now);
        else
            error = ha_store_write_read(device, into, to_at, of, from_at, now);
    }
    return error;
}

HA_IN_ int ha_store_run_copy(ha_store_device *device, ha_store_command *command) {
    const ha_strided_copy *copy = &command->copy;
    const ha_store_sides sides = {ha_store_block_of(device, copy->to),
                                  ha_store_block_of(device, copy->from)};
    ha_strided_cursor c = ha_strided_seek(copy, 0);
    int error = 0;
    for (size_t n = ha_strided_total(copy) / copy->bytes; n > 0 && !error; n--) {
        error = ha_store_move(device, sides, c.to, c.from, copy->bytes);
        ha_strided_advance(&c, 1);
    }
    if (!error) return ha_store_flush(device);
    device->changing = NULL; /* what the copy was to change is not valid */
    device->changed.key = 0;
    return error;
}

/* What a block has left. */
HA_IN_ int ha_store_run_end(ha_store_device *device, ha_store_command *command) {
    const ha_store_block *block = (const ha_store_block *)(void *)command;
    for (size_t i = 0; i < block->pieces; i++) ha_store_remove(device, block->piece[i].key);
    return 0;
}

#endif
