/* Happens-before, checked with vector clocks: whether two uses of the same bytes, one of them a
 * write, are ordered by what was waited for, and not by luck.
 *
 * Whoever acts is an agent: the host (one, for its threads take turns here) or a queue. An agent's
 * clock says, of every agent, how many of its actions have happened before whatever this one does
 * next. Enqueueing, recording, awaiting and finishing join clocks; hb_touch() is an action that
 * uses bytes. Blocks remember, for each byte, the last write and who has read since.
 *
 * A use that is not ordered behind an earlier one is a race, found when it is enqueued: it does not
 * matter when anything really runs. The first complaint is kept in hb.complaint. */
#ifndef HARRAY_TESTS_SUPPORT_HAPPENS_BEFORE_H
#define HARRAY_TESTS_SUPPORT_HAPPENS_BEFORE_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HB_HOST = 0, HB_AGENTS = 8, HB_HUGE = 1 << 20, HB_PAGE = 4096 };

typedef struct hb_clock {
    uint32_t known[HB_AGENTS];
} hb_clock;

/* An action: the number of it among those of its agent, 0: none; and the step of the test. */
typedef struct hb_action {
    uint32_t number, step;
} hb_action;

typedef struct hb_cell {
    uint32_t writer;
    hb_action write;
    hb_action read[HB_AGENTS]; /* since that write */
} hb_cell;

typedef struct hb_block {
    struct hb_block *next;
    uintptr_t first;
    size_t bytes;
    size_t cell_bytes; /* that are looked at as one: a byte, but in a huge block a page */
    const char *memory;
    hb_cell cell[];
} hb_block;

static struct {
    hb_clock clock[HB_AGENTS];
    char name[HB_AGENTS][32];
    hb_block *blocks;
    uint32_t step; /* of the test, for messages */
    char complaint[300];
} hb;

__attribute__((format(printf, 1, 2))) static void hb_complain(const char *format, ...) {
    va_list args;
    if (*hb.complaint) return;
    va_start(args, format);
    vsnprintf(hb.complaint, sizeof hb.complaint, format, args);
    va_end(args);
}

/* What `from` knows, `into` knows, too. */
static void hb_join(hb_clock *into, const hb_clock *from) {
    for (int i = 0; i < HB_AGENTS; i++)
        if (into->known[i] < from->known[i]) into->known[i] = from->known[i];
}

/* ---- blocks -------------------------------------------------------------------------------- */

/* The block with an address, which moves to the front of the list; NULL when there is none. */
static hb_block *hb_block_find(const void *address) {
    const uintptr_t at = (uintptr_t)address;
    for (hb_block **link = &hb.blocks; *link != NULL; link = &(*link)->next) {
        hb_block *block = *link;
        if (at - block->first >= block->bytes) continue;
        *link = block->next;
        block->next = hb.blocks;
        hb.blocks = block;
        return block;
    }
    return NULL;
}

/* Fresh bytes. 0 when there is no memory for the record. */
static int hb_block_add(const void *address, size_t bytes, const char *memory) {
    const size_t cell_bytes = bytes < HB_HUGE ? 1 : HB_PAGE;
    const size_t cells = (bytes + cell_bytes - 1) / cell_bytes;
    hb_block *block = (hb_block *)calloc(1, sizeof *block + cells * sizeof *block->cell);
    if (block == NULL) return 0;
    block->next = hb.blocks;
    block->first = (uintptr_t)address;
    block->bytes = bytes;
    block->cell_bytes = cell_bytes;
    block->memory = memory;
    hb.blocks = block;
    return 1;
}

static void hb_block_forget(const void *address) {
    hb_block *block = hb_block_find(address);
    hb.blocks = block->next;
    free(block);
}

/* ---- uses ---------------------------------------------------------------------------------- */

/* One use of bytes, and what is said about it. */
typedef struct hb_use {
    const hb_block *block;
    uint32_t agent;
    const char *what;
} hb_use;

static void hb_expect(const hb_use *use, size_t cell, uint32_t agent, hb_action earlier,
                      const char *what) {
    const size_t width = use->block->cell_bytes;
    if (hb.clock[use->agent].known[agent] >= earlier.number) return;
    hb_complain("step %u: %s by %s of bytes %zu to %zu of a block of %zu at %s does not come after "
                "the %s by %s in step %u",
                hb.step, use->what, hb.name[use->agent], cell * width, (cell + 1) * width,
                use->block->bytes, use->block->memory, what, hb.name[agent], earlier.step);
}

static void hb_read(const hb_use *use, hb_cell *cell, size_t index, hb_action action) {
    hb_expect(use, index, cell->writer, cell->write, "write");
    cell->read[use->agent] = action;
}

static void hb_write(const hb_use *use, hb_cell *cell, size_t index, hb_action action) {
    hb_expect(use, index, cell->writer, cell->write, "write");
    for (uint32_t i = 0; i < HB_AGENTS; i++) hb_expect(use, index, i, cell->read[i], "read");
    memset(cell->read, 0, sizeof cell->read);
    cell->writer = use->agent;
    cell->write = action;
}

/* `rows` pieces of `bytes` bytes, `row` bytes apart, and that `planes` times, `plane` bytes apart. */
typedef struct hb_pieces {
    size_t bytes, rows, planes, row, plane;
} hb_pieces;

static void hb_touch_piece(const hb_use *use, size_t offset, size_t bytes, int write,
                           hb_action action) {
    hb_cell *cell = (hb_cell *)(uintptr_t)use->block->cell;
    const size_t width = use->block->cell_bytes;
    for (size_t i = offset / width; i * width < offset + bytes; i++)
        (write ? hb_write : hb_read)(use, &cell[i], i, action);
}

/* `agent` uses pieces, now or when what it has enqueued runs; the gaps between them are not used.
 * Unknown addresses are nobody's. */
static void hb_touch_pieces(uint32_t agent, const void *address, const hb_pieces *p, int write,
                            const char *what) {
    const hb_block *block = p->bytes > 0 ? hb_block_find(address) : NULL;
    if (block == NULL) return;
    const hb_use use = {block, agent, what};
    const size_t offset = (uintptr_t)address - block->first;
    const size_t bytes = (p->planes - 1) * p->plane + (p->rows - 1) * p->row + p->bytes;
    if (bytes > block->bytes - offset) {
        hb_complain("step %u: %s by %s: %zu bytes from %zu on, in a block of %zu at %s", hb.step,
                    what, hb.name[agent], bytes, offset, block->bytes, block->memory);
        return;
    }
    const hb_action action = {++hb.clock[agent].known[agent], hb.step};
    for (size_t z = 0; z < p->planes; z++)
        for (size_t y = 0; y < p->rows; y++)
            hb_touch_piece(&use, offset + z * p->plane + y * p->row, p->bytes, write, action);
}

static void hb_touch(uint32_t agent, const void *address, size_t bytes, int write,
                     const char *what) {
    hb_touch_pieces(agent, address, &(hb_pieces){bytes, 1, 1, 0, 0}, write, what);
}

#endif
