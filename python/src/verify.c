/* HARRAY_VERIFY_READS=1: what was exported for reading has to be at its end what it was at its beginning, for some consumers
 * write to it all the same. What is compared are checksums of the elements, where they were exported. */
#include "binding.h"

#include <stdio.h>
#include <stdlib.h>

int verifies_reads;

void verify_begin(void) {
    const char *text = getenv("HARRAY_VERIFY_READS");
    verifies_reads = text && *text && strcmp(text, "0") != 0;
}

/* ---- checksums -------------------------------------------------------------------------------- */

/* Two that differ in one word have different ones. */
static uint64_t mix(uint64_t sum, uint64_t word) {
    sum = (sum ^ word) * 0x9E3779B97F4A7C15U;
    return sum ^ sum >> 32;
}

static uint64_t sum_of_bytes(uint64_t sum, const char *data, size_t bytes) {
    uint64_t word;
    for (; bytes >= sizeof word; data += sizeof word, bytes -= sizeof word) {
        memcpy(&word, data, sizeof word);
        sum = mix(sum, word);
    }
    word = 0;
    memcpy(&word, data, bytes);
    return bytes ? mix(sum, word) : sum;
}

/* Of dimension d and the following ones; what is repeated counts once. */
static uint64_t sum_of_elements(uint64_t sum, const darray *x, int d, const char *data) {
    const size_t size = dtype_size(x->type);
    if (d == x->rank) return sum_of_bytes(sum, data, size);
    const int64_t count = x->stride[d] ? x->extent[d] : 1;
    if (d == x->rank - 1 && x->stride[d] == 1) return sum_of_bytes(sum, data, (size_t)count * size);
    for (int64_t i = 0; i < count; i++)
        sum = sum_of_elements(sum, x, d + 1, data + i * x->stride[d] * (int64_t)size);
    return sum;
}

/* How many bytes are in front of the first element, and how many there are from there to the end. */
static size_t span_of(const darray *x, size_t *in_front) {
    const int64_t size = (int64_t)dtype_size(x->type);
    int64_t low = 0, high = 0;
    for (int d = 0; d < x->rank; d++) {
        const int64_t last = (x->extent[d] - 1) * x->stride[d];
        if (last < 0)
            low += last;
        else
            high += last;
    }
    *in_front = (size_t)(-low * size);
    return (size_t)((high - low + 1) * size);
}

/* Where the host cannot reach them the bytes come here. */
static ha_status sum_of_device(const held *h, uint64_t *sum) {
    size_t in_front;
    const size_t bytes = span_of(&h->x, &in_front);
    char *here = malloc(bytes);
    if (!here) return HA_ERR_MEMORY;
    const ha_status status = ha_copy_out_(here, h->context, (char *)h->data - in_front, bytes,
                                          h->site);
    if (!status) *sum = sum_of_elements(1, &h->x, 0, here + in_front);
    free(here);
    return status;
}

/* Behind what was enqueued where it is open. Without the GIL. */
static ha_status sum_of(const held *h, uint64_t *sum) {
    *sum = 0;
    if (!darray_size(h->x)) return HA_OK;
    const int is_host = h->context == ha_host();
    if (!is_host && !ha_context_is_zero_copy(h->context)) return sum_of_device(h, sum);
    const ha_status status = is_host ? HA_OK : ha_context_finish(h->context);
    if (!status) *sum = sum_of_elements(1, &h->x, 0, h->data);
    return status;
}

/* ---- exports ---------------------------------------------------------------------------------- */

int verify_export(proof *p, const held *h, const char *kind, const char *site) {
    ha_status status = HA_OK;
    uint64_t sum;
    if (h->how != HA_READ) return 0;
    UNLOCKED(status = sum_of(h, &sum));
    if (status) return raise_status(status), -1;
    *p = (proof){.kind = kind, .site = site, .sum = sum};
    return 0;
}

/* "": it is what it was; or nobody can look, as a queue that runs a function cannot be waited for by it. */
static void judge(const proof *p, const held *h, char *text, size_t bytes) {
    uint64_t sum;
    char name[64];
    text[0] = '\0';
    if (is_on_queue && h->context != ha_host()) return;
    array_called(h->x, name, sizeof name);
    const ha_status status = sum_of(h, &sum);
    if (status) {
        (void)ha_take_error();
        snprintf(text, bytes,
                 "%s was exported for reading (%s at %s); whether it was written to at %s is not "
                 "known: %s",
                 name, p->kind, p->site, ha_context_name(h->context), ha_status_name(status));
    } else if (sum != p->sum)
        snprintf(text, bytes,
                 "%s was exported for reading (%s at %s), and has been written to at %s: other "
                 "copies of it are stale; x.write() is for who writes",
                 name, p->kind, p->site, ha_context_name(h->context));
}

int verify_raise(const proof *p, const held *h) {
    char text[400];
    if (!p->kind || is_forked) return 0;
    UNLOCKED(judge(p, h, text, sizeof text));
    if (!text[0]) return 0;
    PyErr_SetString(PyExc_RuntimeError, text);
    return -1;
}

void verify_tell_unlocked(const proof *p, const held *h) {
    char text[400];
    if (!p->kind || is_forked) return;
    judge(p, h, text, sizeof text);
    if (!text[0]) return;
    if (is_ending) {
        fprintf(stderr, "harray: %s\n", text);
        return;
    }
    const callback c = callback_begin();
    PyErr_SetString(PyExc_RuntimeError, text);
    callback_end(c);
}

void verify_tell(const proof *p, const held *h) {
    if (p->kind) UNLOCKED(verify_tell_unlocked(p, h));
}
