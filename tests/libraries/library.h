/* A library that has harray inside and does not show it: with a prefix, or with hidden visibility.
 * It owns one array, which it works on at its own simulated device. */
#ifndef LIBRARY_H
#define LIBRARY_H

/* Those that return int return how many of their checks failed. */
typedef struct library {
    int (*start)(int devices); /* so many simulated ones; the array's elements begin with it */
    int (*enqueue)(void);      /* adds 1 to every element, on the device, which is held: later */
    int (*finish)(void);       /* lets the device go on; the values have to be right */
    void (*cause_error)(void); /* causes an error, which stays where errors are kept */
    int (*has_failed)(void);   /* whether one is kept; forgets it */
    const void *(*host)(void); /* its ha_host() */
    int (*end)(void);          /* frees and shuts down */
} library;

typedef const library *library_get(void);

__attribute__((visibility("default"))) library_get one_library, two_library, own_library;

#endif
