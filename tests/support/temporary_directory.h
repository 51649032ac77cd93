/* A directory for the files of one test. */
#ifndef HARRAY_TESTS_SUPPORT_TEMPORARY_DIRECTORY_H
#define HARRAY_TESTS_SUPPORT_TEMPORARY_DIRECTORY_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char directory[] = "/tmp/harray-test-XXXXXX";

static void make_directory(void) {
    strcpy(directory + sizeof directory - 7, "XXXXXX");
    if (mkdtemp(directory)) return;
    perror(directory);
    abort();
}

static int delete_one(const char *path, const struct stat *is, int type, struct FTW *where) {
    (void)is, (void)type, (void)where;
    return remove(path);
}

/* With all that is in it. */
static void delete_directory(void) { (void)nftw(directory, delete_one, 16, FTW_DEPTH | FTW_PHYS); }

#endif
