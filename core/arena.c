/* arena.c - memory that one stage builds and that is freed at once.
 *
 * Small things come from 64 KiB chunks, big ones get a block of their own, whose pages the kernel maps lazily: a block
 * costs physical memory only where it is touched. Blocks of HUGE bytes and more are mapped on a boundary of 2 MiB and the
 * kernel is asked for huge pages: filling the arrays of a large network is mostly page faults otherwise. An arena belongs to one thread at a
 * time. Invariants: every pointer handed out is 64-byte aligned and zero; used_bytes is the sum of the
 * rounded requests and never exceeds the limit. */
#include "core/core.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define ALIGN ((size_t)64)
#define CHUNK ((size_t)64 * 1024)
#define HUGE ((size_t)1 << 20)
#define HUGE_PAGE ((size_t)2 << 20)

struct fc_arena_block {
    struct fc_arena_block *next;
    char *data; /* aligned start inside this block */
    size_t size, used;
    void *mapped; /* blocks of HUGE and more: what to unmap */
    size_t mapped_bytes;
};

static struct fc_arena_block *map_block(size_t size)
{
    struct fc_arena_block *block = calloc(1, sizeof *block);
    if (!block) return NULL;
    block->mapped_bytes = size + HUGE_PAGE;
    block->mapped = mmap(NULL, block->mapped_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block->mapped == MAP_FAILED) {
        free(block);
        return NULL;
    }
    uintptr_t start = (uintptr_t)block->mapped;
    block->data = (char *)block->mapped + ((start + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE - start);
    block->size = size;
    madvise(block->mapped, block->mapped_bytes, MADV_HUGEPAGE); /* a wish: nothing is lost when it is refused */
    return block;
}

static struct fc_arena_block *new_block(size_t size)
{
    if (size >= HUGE) return map_block(size);
    struct fc_arena_block *block = calloc(1, sizeof *block + ALIGN + size);
    if (!block) return NULL;
    uintptr_t start = (uintptr_t)(block + 1);
    block->data = (char *)block + ((start + ALIGN - 1) / ALIGN * ALIGN - (uintptr_t)block);
    block->size = size;
    return block;
}

/* The newest chunk stays first in the list: blocks of one thing go behind it, and it goes on being filled. */
static void link_block(struct fc_arena *arena, struct fc_arena_block *block, bool behind)
{
    if (behind && arena->blocks) {
        block->next = arena->blocks->next;
        arena->blocks->next = block;
    } else {
        block->next = arena->blocks;
        arena->blocks = block;
    }
}

/* A limit is a refusal; where the system fails it is remembered. */
static void *out_of_memory(const struct fc_arena *arena, double need_bytes, bool failed, struct fc_status *st)
{
    char need[32], used[32], limit[32];
    fc_format(need, sizeof need, need_bytes, FC_BYTES);
    fc_format(used, sizeof used, (double)arena->used_bytes, FC_BYTES);
    fc_format(limit, sizeof limit, (double)arena->limit_bytes, FC_BYTES);
    if (failed)
        fc_out_of_memory(st, "%s more needed, %s in use, %s allowed", need, used, limit);
    else
        fc_refuse(st, FC_NO, "out of memory: %s%s%s more needed, %s in use, %s allowed", st->doing,
                  *st->doing ? ": " : "", need, used, limit);
    return NULL;
}

void *fc_alloc(struct fc_arena *arena, size_t count, size_t size, struct fc_status *st)
{
    if (arena->limit_bytes == 0) arena->limit_bytes = fc_memory_bytes();
    size_t need;
    if (__builtin_mul_overflow(count, size, &need) || need > SIZE_MAX / 2)
        return out_of_memory(arena, (double)count * (double)size, false, st);
    need = need ? (need + ALIGN - 1) / ALIGN * ALIGN : ALIGN;
    if (need > arena->limit_bytes || arena->used_bytes > arena->limit_bytes - need)
        return out_of_memory(arena, (double)need, false, st);

    struct fc_arena_block *block = arena->blocks;
    if (!block || block->size - block->used < need) {
        bool alone = need > CHUNK / 4;
        block = new_block(alone ? need : CHUNK);
        if (!block) return out_of_memory(arena, (double)need, true, st);
        link_block(arena, block, alone);
    }
    void *thing = block->data + block->used;
    block->used += need;
    arena->used_bytes += need;
    return thing;
}

char *fc_copy_text(struct fc_arena *arena, const char *text, struct fc_status *st)
{
    size_t size = strlen(text) + 1;
    char *copy = fc_alloc(arena, size, 1, st);
    if (copy) memcpy(copy, text, size);
    return copy;
}

void fc_arena_free(struct fc_arena *arena)
{
    for (struct fc_arena_block *block = arena->blocks, *next; block; block = next) {
        next = block->next;
        if (block->mapped) munmap(block->mapped, block->mapped_bytes);
        free(block);
    }
    arena->blocks = NULL;
    arena->used_bytes = 0;
}

/* The start of a small file of the kernel, without a stream, which would allocate; "" when it cannot be read. */
static char *kernel_text(const char *path, char *text, size_t size)
{
    size_t n = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    for (ssize_t got; fd >= 0 && n < size - 1 && (got = read(fd, text + n, size - 1 - n)) > 0;) n += (size_t)got;
    if (fd >= 0) close(fd);
    text[n] = '\0';
    return text;
}

/* The first number behind `label` at the start of a line; `label` "" means the file's start. 0: not there. */
static uint64_t kernel_number(const char *path, const char *label)
{
    char text[4096];
    for (char *line = kernel_text(path, text, sizeof text); line && *line;
         line = strchr(line, '\n'), line += line != NULL) {
        uint64_t value = 0;
        if (strncmp(line, label, strlen(label)) != 0) continue;
        return sscanf(line + strlen(label), "%" SCNu64, &value) == 1 ? value : 0; /* "max": no limit */
    }
    return 0;
}

/* The least limit of a control group and all groups above it; cuts `group` down. 0: none. */
static uint64_t group_bytes(const char *top, char *group, const char *name)
{
    char path[1400];
    for (uint64_t least = 0;;) {
        snprintf(path, sizeof path, "%s%s/%s", top, group, name);
        uint64_t limit = kernel_number(path, "");
        if (limit && (!least || limit < least)) least = limit;
        char *last = strrchr(group, '/');
        if (!last) return least;
        *last = '\0';
    }
}

/* The memory limit that a batch system or container sets, by control groups of version 2 or 1; 0: none. */
static uint64_t cgroup_bytes(void)
{
    char text[4096];
    uint64_t least = 0;
    kernel_text("/proc/self/cgroup", text, sizeof text);
    for (char *line = text, *end; *line; line = end) {
        end = line + strcspn(line, "\n");
        if (*end) *end++ = '\0';
        char *memory = strstr(line, ":memory:");
        if (strlen(line) >= 1024) continue;
        uint64_t limit = strncmp(line, "0::/", 4) == 0 ? group_bytes("/sys/fs/cgroup", line + 3, "memory.max")
                         : memory ? group_bytes("/sys/fs/cgroup/memory", memory + 8, "memory.limit_in_bytes")
                                  : 0;
        if (limit && (!least || limit < least)) least = limit;
    }
    return least;
}

/* The machine's memory, or its part that this process's group may use: read once, as every arena asks. */
static size_t granted_bytes;

static void read_granted_bytes(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    uint64_t group = cgroup_bytes();
    granted_bytes = pages > 0 && page > 0 ? (size_t)pages * (size_t)page : SIZE_MAX / 2;
    if (group && group < granted_bytes) granted_bytes = (size_t)group;
}

size_t fc_memory_bytes(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_granted_bytes);
    size_t bytes = granted_bytes;
    struct rlimit space;
    if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY && space.rlim_cur < bytes)
        bytes = (size_t)space.rlim_cur;
    return bytes;
}

/* VmHWM and not getrusage: ru_maxrss survives exec, so a small program started by a big one would look big.
 */
size_t fc_peak_rss_bytes(void)
{
    uint64_t kib = kernel_number("/proc/self/status", "VmHWM:");
    if (kib) return (size_t)kib * 1024;
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (size_t)usage.ru_maxrss * 1024 : 0;
}
