/* Which SYCL devices there are: those of dpctl, each in the context of its own queues, and behind them one for each other
 * context that a queue of the caller's was in. Called one at a time, as count, open and close are. */
#ifndef HARRAY_BACKENDS_SYCL_FIND_H
#define HARRAY_BACKENDS_SYCL_FIND_H

#include "load.h"

/* A device in a context: references of the library's. */
typedef struct ha_sycl_place {
    void *device, *context;
} ha_sycl_place;

/* Places of callers' queues. Each keeps its number, so where one has gone there is a gap until the next one comes. */
typedef struct ha_sycl_added {
    struct ha_sycl_added *next;
    ha_sycl_place place; /* without a context: a gap */
} ha_sycl_added;
HA_STATE_ ha_sycl_added *ha_sycl_first_added;

HA_IN_ void ha_sycl_place_end(const ha_sycl_place *p) {
    if (p->context != NULL) ha_sycl.Context_Delete(p->context);
    if (p->device != NULL) ha_sycl.Device_Delete(p->device);
}

HA_IN_ int ha_sycl_place_is(const ha_sycl_place *a, const ha_sycl_place *b) {
    return ha_sycl.Context_AreEq(a->context, b->context) &&
           ha_sycl.Device_AreEq(a->device, b->device);
}

/* ---- dpctl's ------------------------------------------------------------------------------------ */

/* How many devices have memory of their own; that with the number goes to *wanted, the caller's to delete. */
HA_IN_ int ha_sycl_look(int number, void **wanted) {
    int count = 0;
    void *devices = ha_sycl.DeviceMgr_GetDevices(HA_SYCL_ALL_DEVICES);
    const size_t n = devices != NULL ? ha_sycl.DeviceVector_Size(devices) : 0;
    for (size_t i = 0; i < n; i++) {
        void *device = ha_sycl.DeviceVector_GetAt(devices, i);
        if (device == NULL) continue;
        const int usable = ha_sycl.Device_HasAspect(device, HA_SYCL_USM_DEVICE_ALLOCATIONS);
        if (usable && count++ == number)
            *wanted = device;
        else
            ha_sycl.Device_Delete(device);
    }
    if (devices != NULL) ha_sycl.DeviceVector_Delete(devices);
    return count;
}

/* ---- all ---------------------------------------------------------------------------------------- */

HA_IN_ int ha_sycl_count(void) {
    const int found = ha_sycl_load();
    if (found <= 0) return found;
    int count = ha_sycl_look(-1, NULL);
    for (const ha_sycl_added *a = ha_sycl_first_added; a != NULL; a = a->next) count++;
    snprintf(ha_sycl_why.text, sizeof ha_sycl_why.text, "%s",
             count ? "" : "no SYCL device has memory of its own (usm_device_allocations)");
    return count;
}

HA_IN_ const char *ha_sycl_missing(void) { return ha_sycl_why.text; }

/* NULL: it is one of dpctl's, or none. */
HA_IN_ ha_sycl_added *ha_sycl_added_at(int number) {
    const int own = ha_sycl_look(-1, NULL);
    ha_sycl_added *a = number >= own ? ha_sycl_first_added : NULL;
    for (int i = own; i < number && a != NULL; i++) a = a->next;
    return a;
}

/* The place of that number, the caller's to end; without a context there is none. */
HA_IN_ ha_sycl_place ha_sycl_place_at(int number) {
    ha_sycl_place p = {NULL, NULL};
    const ha_sycl_added *a = ha_sycl_added_at(number);
    if (a != NULL && a->place.context != NULL)
        return (ha_sycl_place){ha_sycl.Device_Copy(a->place.device),
                               ha_sycl.Context_Copy(a->place.context)};
    (void)ha_sycl_look(number, &p.device);
    if (p.device != NULL) p.context = ha_sycl.DeviceMgr_GetCachedContext(p.device);
    return p;
}

/* Negative: none of them is. */
HA_IN_ int ha_sycl_number_of(const ha_sycl_place *p) {
    const int count = ha_sycl_count();
    int found = -1;
    for (int i = 0; i < count && found < 0; i++) {
        const ha_sycl_place here = ha_sycl_place_at(i);
        if (here.context != NULL && ha_sycl_place_is(&here, p)) found = i;
        ha_sycl_place_end(&here);
    }
    return found;
}

/* ---- of callers ---------------------------------------------------------------------------------- */

HA_IN_ int ha_sycl_is_in_order(void *queue) {
    if (ha_sycl.Queue_IsInOrder(queue)) return 1;
    ha_backend_report(
        0, "sycl: the queue is out of order; one in order of the same context is needed");
    return 0;
}

/* Takes the place over: into the first gap, or behind the last one. */
HA_IN_ ha_status ha_sycl_add(const ha_sycl_place *p, int *number) {
    ha_sycl_added **link = &ha_sycl_first_added;
    *number = ha_sycl_look(-1, NULL);
    for (; *link != NULL && (*link)->place.context != NULL; link = &(*link)->next) ++*number;
    if (*link == NULL) {
        ha_sycl_added *a = (ha_sycl_added *)HARRAY_MALLOC(sizeof *a);
        if (a == NULL) return HA_ERR_MEMORY;
        *a = (ha_sycl_added){NULL, {NULL, NULL}};
        *link = a;
    }
    (*link)->place = *p;
    return HA_OK;
}

/* Gaps at the end are none. */
HA_IN_ void ha_sycl_trim(void) {
    ha_sycl_added **end = &ha_sycl_first_added;
    for (ha_sycl_added **link = end; *link != NULL; link = &(*link)->next)
        if ((*link)->place.context != NULL) end = &(*link)->next;
    for (ha_sycl_added *a = *end, *next; a != NULL; a = next) {
        next = a->next;
        HARRAY_FREE(a);
    }
    *end = NULL;
}

/* Nothing where it is one of dpctl's. */
HA_IN_ void ha_sycl_take_away(int number) {
    ha_sycl_added *a = ha_sycl_added_at(number);
    if (a == NULL) return;
    ha_sycl_place_end(&a->place);
    a->place = (ha_sycl_place){NULL, NULL};
    ha_sycl_trim();
}

/* What nobody can use is refused before it is one of them. */
HA_IN_ ha_status ha_sycl_add_of_queue(void *queue, const ha_sycl_place *p, int *number) {
    if (!ha_sycl_is_in_order(queue)) return HA_ERR_ARGUMENT;
    if (ha_sycl.Device_HasAspect(p->device, HA_SYCL_USM_DEVICE_ALLOCATIONS))
        return ha_sycl_add(p, number);
    ha_backend_report(0, "sycl: the device has no memory of its own (usm_device_allocations)");
    return HA_ERR_UNSUPPORTED;
}

/* The number of the device that a caller's queue is of. In another context than all so far it is a new one: to be taken
 * away if it cannot be opened. */
HA_UNUSED HA_IN_ ha_status ha_sycl_number_of_queue(void *queue, int *number) {
    const ha_sycl_place p = {ha_sycl.Queue_GetDevice(queue), ha_sycl.Queue_GetContext(queue)};
    const int is_there = p.device != NULL && p.context != NULL;
    ha_status status = is_there ? HA_OK : HA_ERR_BACKEND;
    *number = is_there ? ha_sycl_number_of(&p) : -1;
    if (is_there && *number < 0) {
        status = ha_sycl_add_of_queue(queue, &p, number);
        if (status == HA_OK) return status;
    }
    ha_sycl_place_end(&p);
    return status;
}

#endif
