/* Plots that are written into a file that may be there already. */
#define _XOPEN_SOURCE 700 /* POSIX 2008, and realpath */
#include "plot_file.h"

#include "../complain.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool plot_file_begin(plot_file *p) {
    struct stat status;
    if (!p->path) return true;
    const bool is_new = stat(p->path, &status) != 0;
    p->file = open(p->path, O_WRONLY | (is_new ? O_CREAT : 0), 0666);
    if (p->file < 0) return complain("%s: %s", p->path, strerror(errno));
    if (is_new) p->made = realpath(p->path, NULL);
    p->drawing = open_memstream(&p->text, &p->length);
    if (p->drawing) return true;
    if (p->made) (void)remove(p->made);
    free(p->made);
    (void)close(p->file);
    return complain("no memory");
}

/* Room for the plot, before anything of what was there is lost. What is no regular file is only
 * written to, and so is one of a file system that cannot say. */
static bool has_room(const plot_file *p, const struct stat *before) {
    if (!S_ISREG(before->st_mode) || p->length == 0) return true;
    const int error = posix_fallocate(p->file, 0, (off_t)p->length);
    if (error != ENOSPC && error != EDQUOT && error != EFBIG) return true;
    const bool kept = ftruncate(p->file, before->st_size) == 0;
    return complain("%s: %s", p->path, strerror(kept ? error : errno));
}

static bool write_all(const plot_file *p) {
    struct stat before;
    bool good = fstat(p->file, &before) == 0;
    if (good && !has_room(p, &before)) return false;
    for (size_t done = 0; good && done < p->length;) {
        const ssize_t wrote = write(p->file, p->text + done, p->length - done);
        if (wrote > 0) done += (size_t)wrote;
        good = wrote > 0 || (wrote < 0 && errno == EINTR);
    }
    if (good && S_ISREG(before.st_mode)) good = ftruncate(p->file, (off_t)p->length) == 0;
    return good || complain("%s: %s", p->path, strerror(errno));
}

bool plot_file_end(plot_file *p, bool good) {
    if (!p->drawing) return good;
    if (fclose(p->drawing) != 0 && good) good = complain("no memory");
    good = good && write_all(p);
    if (close(p->file) != 0 && good) good = complain("%s: %s", p->path, strerror(errno));
    if (!good && p->made) (void)remove(p->made);
    free(p->made);
    free(p->text);
    return good;
}
