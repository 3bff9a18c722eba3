/* adjoint_pages.c - the memory of a tape: arrays that grow, on huge pages where the system has some.
 *
 * A page of 4 KB costs a microsecond or two of the system, which clears it, one of 2 MB as much as forty: half of what a tape costs
 * would else be its pages. Arrays below 2 MB are pieces of 2 MB blocks, powers of two, and are copied as they grow; what they leave
 * is the next ones'. Larger ones lie alone and are moved without being copied. */
#include "solvers/adjoint/adjoint.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#define HUGE_PAGE ((size_t)1 << 21)
#define PIECE ((size_t)1 << 14) /* the least */
_Static_assert(HUGE_PAGE / PIECE == 1 << FC_ADJOINT_PIECES, "a list of pieces for each size below a huge page");

static size_t bytes_of(size_t capacity, size_t size)
{
    size_t bytes = PIECE;
    while (bytes < capacity * size) bytes *= 2;
    return bytes;
}

/* A multiple of a huge page, aligned; all 0. NULL: refused. */
static void *map(size_t bytes)
{
    char *at = mmap(NULL, bytes + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) return NULL;
    size_t head = -(uintptr_t)at % HUGE_PAGE;
    if (head > 0) munmap(at, head);
    munmap(at + head + bytes, HUGE_PAGE - head);
    madvise(at + head, bytes, MADV_HUGEPAGE); /* a wish: nothing is lost when it is refused */
    return at + head;
}

static void *move(void *old, size_t old_bytes, size_t bytes)
{
    if (mremap(old, old_bytes, bytes, 0) == old) return old;
    void *place = map(bytes);
    if (!place) return NULL;
    if (mremap(old, old_bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, place) == place) return place;
    munmap(place, bytes);
    return NULL;
}

/* ---- pieces ---- */

static void give_piece(struct fc_adjoint_pages *pages, void *piece, size_t bytes)
{
    int k = __builtin_ctzll(bytes / PIECE);
    *(void **)piece = pages->spare[k];
    pages->spare[k] = piece;
}

/* One more block, whose first piece holds the one before; what was left of that is spare. */
static bool add_block(struct fc_adjoint_pages *pages)
{
    void *block = map(HUGE_PAGE);
    if (!block) return false;
    while (pages->left > 0) {
        size_t bytes = PIECE << (63 - __builtin_clzll(pages->left / PIECE));
        give_piece(pages, pages->block + HUGE_PAGE - pages->left, bytes);
        pages->left -= bytes;
    }
    *(void **)block = pages->block;
    pages->block = block;
    pages->left = HUGE_PAGE - PIECE;
    return true;
}

static void *take_piece(struct fc_adjoint_pages *pages, size_t bytes)
{
    void **spare = &pages->spare[__builtin_ctzll(bytes / PIECE)], *piece = *spare;
    if (piece) return *spare = *(void **)piece, piece;
    if (pages->left < bytes && !add_block(pages)) return NULL;
    piece = pages->block + HUGE_PAGE - pages->left;
    pages->left -= bytes;
    return piece;
}

/* ---- arrays ---- */

bool fc_adjoint_more(struct fc_adjoint_pages *pages, void **array, size_t *capacity, size_t need, size_t size)
{
    size_t old_bytes = *array ? bytes_of(*capacity, size) : 0, bytes = old_bytes ? 2 * old_bytes : PIECE;
    while (bytes / size < need) bytes *= 2;
    bool moves = old_bytes >= HUGE_PAGE;
    void *larger = moves ? move(*array, old_bytes, bytes) : bytes < HUGE_PAGE ? take_piece(pages, bytes) : map(bytes);
    if (!larger) return false;
    if (*array && !moves) {
        memcpy(larger, *array, *capacity * size);
        give_piece(pages, *array, old_bytes);
    }
    *array = larger;
    *capacity = bytes / size;
    return true;
}

void fc_adjoint_release(void *array, size_t capacity, size_t size)
{
    if (array && bytes_of(capacity, size) >= HUGE_PAGE) munmap(array, bytes_of(capacity, size));
}

void fc_adjoint_close_pages(struct fc_adjoint_pages *pages)
{
    while (pages->block) {
        void *before = *(void **)pages->block;
        munmap(pages->block, HUGE_PAGE);
        pages->block = before;
    }
}
