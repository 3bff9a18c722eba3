/* fail_allocation.c - a library to preload (LD_PRELOAD): counts the allocations of a program and lets one of them fail.
 *
 * Counted are malloc, calloc, realloc, aligned_alloc, posix_memalign, memalign, mmap, mremap and pthread_create, whoever
 * calls them: the program, its libraries, and libc for itself (fopen, strdup, getline, qsort). Not counted: what happens before
 * main (the dynamic loader, constructors), libc's own mappings behind malloc and of thread stacks, and requests of 0 bytes.
 *
 *   FAIL_AT=N      the Nth allocation after main began fails, once (0 or unset: none)
 *   FAIL_COUNT=F   the number of allocations is written into this file when the process ends
 *   FAIL_CALLER=F  the name of the library or program that asked for the one that fails is written into this file
 *
 * Programs that the program starts are left alone.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static atomic_ulong counted;
static unsigned long fail_at;
static bool started;
static pid_t process; /* children of fork do not count */
static int (*program)(int, char **, char **);

static void *(*next_malloc)(size_t);
static void *(*next_calloc)(size_t, size_t);
static void *(*next_realloc)(void *, size_t);
static void *(*next_aligned_alloc)(size_t, size_t);
static int (*next_posix_memalign)(void **, size_t, size_t);
static void *(*next_memalign)(size_t, size_t);
static void *(*next_mmap)(void *, size_t, int, int, int, off_t);
static void *(*next_mremap)(void *, size_t, size_t, int, ...);
static int (*next_pthread_create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

/* dlsym may allocate while calloc is still unknown. */
static char early[4096];
static size_t early_used;

static void find(void *at, const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    memcpy(at, &found, sizeof found);
}

static void find_all(void)
{
    if (next_mmap) return;
    find(&next_malloc, "malloc");
    find(&next_calloc, "calloc");
    find(&next_realloc, "realloc");
    find(&next_aligned_alloc, "aligned_alloc");
    find(&next_posix_memalign, "posix_memalign");
    find(&next_memalign, "memalign");
    find(&next_pthread_create, "pthread_create");
    find(&next_mremap, "mremap");
    find(&next_mmap, "mmap");
}

static void write_file(const char *path, const char *text)
{
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1;
    if (path && (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))) _exit(99);
    if (fd >= 0) close(fd);
}

static bool fails(void *caller)
{
    Dl_info info;
    if (!started) return false;
    if (atomic_fetch_add(&counted, 1) + 1 != fail_at || getpid() != process) return false;
    started = false; /* dladdr */
    write_file(getenv("FAIL_CALLER"), dladdr(caller, &info) && info.dli_fname ? info.dli_fname : "?");
    started = true;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size)
{
    find_all();
    return size && fails(__builtin_return_address(0)) ? NULL : next_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    if (!next_calloc && n * size <= sizeof early - early_used) { /* from dlsym */
        void *at = early + early_used;
        early_used += (n * size + 15) / 16 * 16;
        return at;
    }
    find_all();
    return n && size && fails(__builtin_return_address(0)) ? NULL : next_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
    find_all();
    return size && fails(__builtin_return_address(0)) ? NULL : next_realloc(old, size);
}

void *aligned_alloc(size_t align, size_t size)
{
    find_all();
    return fails(__builtin_return_address(0)) ? NULL : next_aligned_alloc(align, size);
}

void *memalign(size_t align, size_t size)
{
    find_all();
    return fails(__builtin_return_address(0)) ? NULL : next_memalign(align, size);
}

int posix_memalign(void **at, size_t align, size_t size)
{
    find_all();
    return fails(__builtin_return_address(0)) ? ENOMEM : next_posix_memalign(at, align, size);
}

void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    find_all();
    return fails(__builtin_return_address(0)) ? MAP_FAILED : next_mmap(at, size, protection, flags, fd, offset);
}

void *mmap64(void *, size_t, int, int, int, off_t) __attribute__((alias("mmap")));

void *mremap(void *at, size_t old_size, size_t size, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    void *place = flags & MREMAP_FIXED ? va_arg(more, void *) : NULL;
    va_end(more);
    find_all();
    return fails(__builtin_return_address(0)) ? MAP_FAILED : next_mremap(at, old_size, size, flags, place);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *of)
{
    find_all();
    return fails(__builtin_return_address(0)) ? EAGAIN : next_pthread_create(thread, attributes, run, of);
}

/* ---- main ---- */

static void write_count(void)
{
    char text[32];
    if (getpid() != process) return;
    started = false;
    snprintf(text, sizeof text, "%lu\n", (unsigned long)counted);
    write_file(getenv("FAIL_COUNT"), text);
}

static int counted_main(int argc, char **argv, char **environment)
{
    const char *at = getenv("FAIL_AT");
    fail_at = at ? strtoul(at, NULL, 10) : 0;
    unsetenv("LD_PRELOAD");
    process = getpid();
    atexit(write_count);
    started = true;
    return program(argc, argv, environment);
}

int __libc_start_main(int (*)(int, char **, char **), int, char **, void (*)(void), void (*)(void), void (*)(void),
                      void *);
int __libc_start_main(int (*of_program)(int, char **, char **), int argc, char **argv, void (*begin)(void),
                      void (*end)(void), void (*loader_end)(void), void *stack_end)
{
    int (*next)(int (*)(int, char **, char **), int, char **, void (*)(void), void (*)(void), void (*)(void), void *);
    find(&next, "__libc_start_main");
    program = of_program;
    return next(counted_main, argc, argv, begin, end, loader_end, stack_end);
}
