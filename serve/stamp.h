/* stamp.h - private to serve/: whether a file is still the one that was read. */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>
#include <time.h>

/* A file as it was; `there` false: there was none. */
struct stamp {
    bool there;
    dev_t device;
    ino_t number;
    off_t size;
    struct timespec changed;
};

static inline struct stamp stamp_of(const char *path)
{
    struct stat s;
    if (stat(path, &s)) return (struct stamp){.there = false};
    return (struct stamp){true, s.st_dev, s.st_ino, s.st_size, s.st_mtim};
}

static inline bool same_stamp(const struct stamp *a, const struct stamp *b)
{
    return a->there == b->there &&
           (!a->there || (a->device == b->device && a->number == b->number && a->size == b->size &&
                          a->changed.tv_sec == b->changed.tv_sec && a->changed.tv_nsec == b->changed.tv_nsec));
}

/* Whether the file may have changed at or after `then` (of CLOCK_REALTIME_COARSE, as files are stamped). */
static inline bool changed_since(const char *path, const struct timespec *then)
{
    struct stat s;
    return !stat(path, &s) && (s.st_ctim.tv_sec > then->tv_sec ||
                               (s.st_ctim.tv_sec == then->tv_sec && s.st_ctim.tv_nsec >= then->tv_nsec));
}
