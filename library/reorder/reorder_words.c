/* reorder_words.c - every call that takes a communicator: MPI_COMM_WORLD is what FABRICAST_MAP made of it, and messages that
 * still use it after a topology call has reordered ranks are counted.
 *
 * The calls are listed by names.awk from the MPI's own mpi.h, so none is forgotten. As in pmpi_pick.c arguments pass as words:
 * integers and addresses, each in a register or a stack slot of its own on 64-bit Linux. In Fortran a communicator is the
 * address of an integer, in mpi_f08 of a struct of one: the argument becomes the address of another.
 *
 * Open MPI's Fortran calls C by the PMPI names, so its Fortran names are wrapped too; MPICH's calls C by the MPI names, but for
 * most of mpi_f08, which is wrapped. A function that an MPI does not have is weak, and nobody calls its wrapper. */
#include "library/reorder/reorder.h"

#define WORDS                                                                                                          \
    long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k, long l, long m, long n
typedef long function(WORDS);

struct fc_world fc_world;

static inline bool is_world(long word)
{
    return fc_is_world((uintptr_t)word);
}

enum { PLAIN, TALK, ATTRIBUTE, ERRORS };

/* A C handle. */
static inline long now(long word, int what, long second)
{
    if (!is_world(word)) return word;
    if (what == TALK && fc_world.reordered) __atomic_fetch_add(&fc_world.messages, 1, __ATOMIC_RELAXED);
    if (what == ATTRIBUTE && fc_is_predefined((int)second)) return word; /* MPI_TAG_UB: only the real one has them */
    return fc_world.renumbered ? (long)fc_world.now : word;
}

static inline long now_fortran(long word, int what, long second)
{
    if (*(const int *)word != fc_world.real_fortran) return word;
    if (what == TALK && fc_world.reordered) __atomic_fetch_add(&fc_world.messages, 1, __ATOMIC_RELAXED);
    if (what == ATTRIBUTE && fc_is_predefined(*(const int *)second)) return word;
    return fc_world.renumbered ? (long)&fc_world.now_fortran : word;
}

#define ARGUMENT(of, x, at, mask, what) ((mask) >> (at)&1 ? of(x, what, b) : (x))
#define PASS(of, x, mask, what)                                                                                        \
    x(ARGUMENT(of, a, 0, mask, what), ARGUMENT(of, b, 1, mask, what), ARGUMENT(of, c, 2, mask, what),                  \
      ARGUMENT(of, d, 3, mask, what), ARGUMENT(of, e, 4, mask, what), ARGUMENT(of, f, 5, mask, what),                  \
      ARGUMENT(of, g, 6, mask, what), ARGUMENT(of, h, 7, mask, what), ARGUMENT(of, i, 8, mask, what),                  \
      ARGUMENT(of, j, 9, mask, what), ARGUMENT(of, k, 10, mask, what), l, m, n)

/* Errors of no communicator go to the handler of the real MPI_COMM_WORLD: it gets it, too. */
#define WRAP(name, real, of, mask, what)                                                                               \
    function real __attribute__((weak));                                                                               \
    function name;                                                                                                     \
    long name(WORDS)                                                                                                   \
    {                                                                                                                  \
        if (what == ERRORS && fc_world.renumbered && of(a, what, b) != a)                                              \
            real(a, b, c, d, e, f, g, h, i, j, k, l, m, n);                                                            \
        return PASS(of, real, mask, what);                                                                             \
    }
#define ALIAS(name, of) function name __attribute__((alias(#of)));

#define C_CALL(name, mask, what) WRAP(name, P##name, now, mask, what)
#define CALL(name, small, mask, what) C_CALL(name, mask, what)
#include "reorder_names.h"
#undef CALL
#undef C_CALL

#define C_CALL(name, mask, what)
#ifdef FC_MPI_openmpi
#define CALL(name, small, mask, what)                                                                                  \
    WRAP(mpi_##small##_, pmpi_##small##_, now_fortran, mask, what)                                                     \
    ALIAS(mpi_##small, mpi_##small##_)                                                                                 \
    ALIAS(mpi_##small##__, mpi_##small##_)                                                                             \
    WRAP(mpi_##small##_f08_, pmpi_##small##_f08_, now_fortran, mask, what)
#else
#define CALL(name, small, mask, what) WRAP(mpi_##small##_f08_, pmpir_##small##_f08_, now_fortran, mask, what)
#endif
#include "reorder_names.h"
