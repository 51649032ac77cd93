/* Memory of views: whole pages, huge ones where they pay. */
#ifndef HARRAY_LAYOUT_DETAIL_BLOB_H
#define HARRAY_LAYOUT_DETAIL_BLOB_H

#include <stdlib.h>

#include "base.h"
#include "../status.h"

enum {
    HA_BLOB_ALIGN = 64, /* of what this file allocates: a cache line, and any vector */
    HA_HUGE_PAGE_ = 2 * 1024 * 1024,
    HA_HUGE_ADVICE_ = 14 /* MADV_HUGEPAGE */
};

/* By the name in the C library, as a program in strict C sees no declaration of it. */
#ifdef __linux__
#ifdef __cplusplus
extern "C"
#endif
    int
    ha_advise_(void *address, size_t bytes, int advice) __asm__("madvise");
#endif

/* `bytes` zero bytes at a multiple of HA_BLOB_ALIGN, or NULL. From 2 MiB on they are 2 MiB-aligned and
 * advised as huge pages, which makes the first touch several times faster. Freed by ha_blob_free. */
HA_HOST_FN_ void *ha_blob_new_(size_t bytes) {
    const size_t align = bytes >= HA_HUGE_PAGE_ ? HA_HUGE_PAGE_ : HA_BLOB_ALIGN;
    if (bytes > SIZE_MAX - align) return HA_NULL_;
    bytes = bytes == 0 ? align : (bytes + align - 1) / align * align;
    void *memory = aligned_alloc(align, bytes);
    if (memory == HA_NULL_) return HA_NULL_;
#ifdef __linux__
    if (align == HA_HUGE_PAGE_) ha_advise_(memory, bytes, HA_HUGE_ADVICE_);
#endif
    return memset(memory, 0, bytes);
}

HA_HOST_FN_ void ha_blob_free(void *blob) { free(blob); }

#endif
