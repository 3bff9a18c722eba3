/* test_collective_choice.c - which algorithm a library takes, at the limits of its rules, and how a choice is read. */
#include "solvers/collective/collective.h"
#include "tests/support.h"
#include "tests/tests.h"

#include <string.h>

static bool takes_by(const char *rules, enum fc_op op, uint32_t n, double total, bool uneven, const char *name)
{
    struct fc_collective_choice choice = {.rules = fc_collective_rules_named(rules)};
    struct fc_collective_call call = {op, n, total, uneven};
    const struct fc_collective_algorithm *a = fc_collective_select(&choice, &call);
    if (a && !strcmp(a->name, name)) return true;
    printf("\n    %s: %s, %u members, %g bytes: %s", rules, fc_op_names[op], n, total, a ? a->name : "none");
    return false;
}
static bool takes(enum fc_op op, uint32_t n, double total, bool uneven, const char *name)
{
    return takes_by("openmpi", op, n, total, uneven, name);
}

/* Open MPI 4.1.4's fixed rules on both sides of their limits. */
static void openmpi_choices(void)
{
    CU_ASSERT(takes(FC_OP_BARRIER, 3, 0, false, "doubling") && takes(FC_OP_BARRIER, 4, 0, false, "linear"));
    CU_ASSERT(takes(FC_OP_BARRIER, 8, 0, false, "doubling"));
    CU_ASSERT(takes(FC_OP_BARRIER, 64, 0, false, "dissemination"));
    CU_ASSERT(takes(FC_OP_BARRIER, 256, 0, false, "binomial"));
    CU_ASSERT(takes(FC_OP_BARRIER, 4096, 0, false, "dissemination"));
    CU_ASSERT(takes(FC_OP_BCAST, 7, 8191, false, "binomial-doubling") && takes(FC_OP_BCAST, 7, 8192, false, "linear"));
    CU_ASSERT(takes(FC_OP_BCAST, 7, 1048576, false, "chain"));
    CU_ASSERT(takes(FC_OP_BCAST, 64, 1e9, false, "4-nomial"));
    CU_ASSERT(takes(FC_OP_BCAST, 16, 1048576, false, "scatter+doubling"));
    CU_ASSERT(takes(FC_OP_BCAST, 17, 1048576, false, "scatter+doubling-any"));
    CU_ASSERT(takes(FC_OP_BCAST, 5000, 8192, false, "binary"));
    CU_ASSERT(takes(FC_OP_BCAST, 5000, 8191, false, "4-nomial"));
    CU_ASSERT(takes(FC_OP_GATHER, 4, 4 * 1023, false, "binomial"));
    CU_ASSERT(takes(FC_OP_GATHER, 4, 4096, false, "linear"));
    CU_ASSERT(takes(FC_OP_GATHER, 64, 64 * 1e6, false, "binomial"));
    CU_ASSERT(takes(FC_OP_GATHER, 64, 640, true, "linear"));
    CU_ASSERT(takes(FC_OP_SCATTER, 64, 64 * 511, false, "binomial"));
    CU_ASSERT(takes(FC_OP_SCATTER, 64, 64 * 512, false, "linear"));
    CU_ASSERT(takes(FC_OP_ALLGATHER, 8, 8e6, false, "doubling"));
    CU_ASSERT(takes(FC_OP_ALLGATHER, 9, 9e6, false, "bruck"));
    CU_ASSERT(takes(FC_OP_ALLGATHER, 32, 32 * 1024, false, "neighbor"));
    CU_ASSERT(takes(FC_OP_ALLGATHER, 33, 33 * 1024, false, "ring"));
    CU_ASSERT(takes(FC_OP_ALLGATHER, 32, 32 * 65536, false, "ring"));
    CU_ASSERT(takes(FC_OP_ALLGATHER, 32, 3200, true, "gather+bcast"));
    CU_ASSERT(takes(FC_OP_ALLTOALL, 2, 2 * 32767, false, "shifted"));
    CU_ASSERT(takes(FC_OP_ALLTOALL, 2, 2 * 32768, false, "linear"));
    CU_ASSERT(takes(FC_OP_ALLTOALL, 32, 32 * 511, false, "bruck"));
    CU_ASSERT(takes(FC_OP_ALLTOALL, 32, 32 * 512, false, "linear"));
    CU_ASSERT(takes(FC_OP_ALLTOALL, 64, 64 * 262144, false, "shifted"));
    CU_ASSERT(takes(FC_OP_ALLTOALLV, 63, 0, false, "linear"));
    CU_ASSERT(takes(FC_OP_ALLTOALLV, 64, 0, false, "shifted"));
    CU_ASSERT(takes(FC_OP_REDUCE, 8, 8191, false, "binary"));
    CU_ASSERT(takes(FC_OP_REDUCE, 8, 8192, false, "binomial"));
    CU_ASSERT(takes(FC_OP_REDUCE, 7, 4096, false, "chain") && takes(FC_OP_REDUCE, 3, 7, false, "linear"));
    CU_ASSERT(takes(FC_OP_ALLREDUCE, 8, 8191, false, "doubling"));
    CU_ASSERT(takes(FC_OP_ALLREDUCE, 8, 8192, false, "rabenseifner"));
    CU_ASSERT(takes(FC_OP_ALLREDUCE, 3, 24, false, "doubling"));
    CU_ASSERT(takes(FC_OP_ALLREDUCE, 3, 4096, false, "ring"));
    CU_ASSERT(takes(FC_OP_ALLREDUCE, 16, 8, false, "doubling")); /* a ring of one element is none */
    CU_ASSERT(takes(FC_OP_ALLREDUCE, 32, 128, false, "linear"));
    CU_ASSERT(takes(FC_OP_ALLREDUCE, 32, 256, false, "rabenseifner"));
    CU_ASSERT(takes(FC_OP_ALLREDUCE, 256, 4095, false, "reduce+bcast"));
    CU_ASSERT(takes(FC_OP_REDUCE_SCATTER, 8, 262143, false, "halving"));
    CU_ASSERT(takes(FC_OP_REDUCE_SCATTER, 8, 262144, false, "ring"));
    CU_ASSERT(takes(FC_OP_REDUCE_SCATTER, 64, 255, false, "reduce+scatter"));
    CU_ASSERT(takes(FC_OP_SCAN, 8, 8, false, "linear"));
}

/* Whatever is chosen can do it. */
static void choices_fit(void)
{
    static const double sizes[] = {1, 7, 63, 100, 300, 1500, 3000, 20000, 50000, 3e5, 9e5, 1e7};
    int wrong = 0;
    for (uint32_t n = 1; n <= 5000; n += n < 70 ? 1 : 61)
        for (size_t b = 0; b < FC_COUNT(sizes); b++)
            for (int op = 0; op < 12 * FC_N_OPS; op++) {
                struct fc_collective_choice choice = {.rules = &fc_collective_rules[op % 6]};
                struct fc_collective_call call = {(enum fc_op)(op / 12), n, sizes[b], op / 6 & 1};
                struct fc_status st = {0};
                const struct fc_collective_algorithm *a = fc_collective_select(&choice, &call);
                bool is = fc_collective_named(call.op, NULL) != NULL;
                wrong += is ? !a || fc_collective_fits(a, n, &st) : a != NULL;
            }
    CU_ASSERT_EQUAL(wrong, 0);
}

static struct fc_status reads(const char *text, struct fc_collective_choice *choice)
{
    struct fc_status st = {0};
    fc_collective_choice_read(text, choice, &st);
    return st;
}

static void reading(void)
{
    struct fc_collective_choice c;
    CU_ASSERT(!reads("mpich", &c).code && !strcmp(c.rules->name, "mpich") && !c.fixed[FC_OP_BCAST]);
    CU_ASSERT(!reads("bcast=chain,openmpi,scan=linear", &c).code && !strcmp(c.rules->name, "openmpi"));
    CU_ASSERT(!strcmp(c.fixed[FC_OP_BCAST]->name, "chain") && c.fixed[FC_OP_SCAN]->op == FC_OP_SCAN);
    struct fc_collective_call call = {FC_OP_BCAST, 8, 8, false};
    CU_ASSERT_PTR_EQUAL(fc_collective_select(&c, &call), c.fixed[FC_OP_BCAST]);
    struct fc_status set_ = reads("", &c), none = reads("mpich,", &c), op = reads("sand=linear", &c);
    struct fc_status send = reads("send=linear", &c), name = reads("scan=ring", &c), no = reads("scan=", &c);
    struct fc_status twice = reads("scan=linear,scan=doubling", &c);
    CU_ASSERT(fc_says(&set_, FC_INPUT,
                      "unknown set '' (known: mpich, mpich4, openmpi, openmpi5, cray-mpich, fjmpi, hardware, or "
                      "OP=ALGORITHM)"));
    CU_ASSERT(fc_says(&none, FC_INPUT, "unknown set ''"));
    CU_ASSERT(fc_says(&op, FC_INPUT, "unknown operation 'sand' (known: barrier, bcast, gather, "));
    CU_ASSERT(fc_says(&send, FC_INPUT, "unknown operation 'send'"));
    CU_ASSERT(fc_says(&name, FC_INPUT, "unknown algorithm 'ring' of scan (known: doubling, linear)"));
    CU_ASSERT(fc_says(&no, FC_INPUT, "unknown algorithm '' of scan"));
    CU_ASSERT(fc_says(&twice, FC_INPUT, "scan is given twice"));
}

/* A library's name has that library's meaning. */
static bool means(enum fc_op op, const char *text, const char *name)
{
    const struct fc_collective_rules *rules;
    const struct fc_collective_algorithm *a = fc_collective_known_as(op, text, strlen(text), &rules);
    const char *found = a ? a->name : rules ? rules->name : "nothing";
    if (!strcmp(found, name)) return true;
    printf("\n    %s of %s: %s", text, fc_op_names[op], found);
    return false;
}
static void aliases(void)
{
    for (const struct fc_collective_alias *a = fc_collective_aliases; a->alias; a++)
        CU_ASSERT(fc_collective_named(a->op, a->name) != NULL && !strchr(a->alias, '_'));
    CU_ASSERT(means(FC_OP_BCAST, "binomial", "binomial") && means(FC_OP_BCAST, "binomial_mpich", "binomial"));
    CU_ASSERT(means(FC_OP_BCAST, "binomial_ompi", "binomial-doubling"));
    CU_ASSERT(means(FC_OP_BCAST, "default-binomial", "binomial-doubling"));
    CU_ASSERT(means(FC_OP_BCAST, "chain", "chain") && means(FC_OP_BCAST, "chain_ompi", "4-chains"));
    CU_ASSERT(means(FC_OP_BCAST, "default-chain", "3-chains") && means(FC_OP_BCAST, "pipeline_ompi", "chain"));
    CU_ASSERT(means(FC_OP_ALLGATHER, "recursive_doubling_ompi", "doubling"));
    CU_ASSERT(means(FC_OP_ALLGATHER, "recursive-doubling_mpich", "doubling-any"));
    CU_ASSERT(means(FC_OP_ALLGATHER, "k_bruck_over", "bruck") && means(FC_OP_ALLGATHER, "sparbit_over", "sparbit"));
    CU_ASSERT(means(FC_OP_ALLREDUCE, "rabenseifner_mpich", "rabenseifner"));
    CU_ASSERT(means(FC_OP_ALLREDUCE, "rabenseifner_over", "rabenseifner-halves"));
    CU_ASSERT(means(FC_OP_ALLTOALL, "pairwise_ompi", "shifted") && means(FC_OP_ALLTOALL, "pairwise", "pairwise"));
    CU_ASSERT(means(FC_OP_REDUCE_SCATTER, "recursive_doubling_mpich", "doubling"));
    CU_ASSERT(means(FC_OP_BCAST, "default_ompi", "openmpi") && means(FC_OP_BCAST, "default-default", "fjmpi"));
    CU_ASSERT(means(FC_OP_BCAST, "non_blocking_mpich", "mpich4") && means(FC_OP_BCAST, "fjmpi", "fjmpi"));
    CU_ASSERT(means(FC_OP_BCAST, "default", "nothing") && means(FC_OP_BCAST, "", "nothing"));
    CU_ASSERT(means(FC_OP_BCAST, "trinaryx3", "nothing") && means(FC_OP_BCAST, "_ompi", "nothing"));
    CU_ASSERT(means(FC_OP_BCAST, "a-name-that-is-longer-than-any-that-is-known-here", "nothing"));
}

/* What a trace's library takes, and the text that says it. */
static void libraries(void)
{
    static const struct {
        const char *recorded, *rules;
    } known[] = {{"Open MPI v4.1.4; 4 ranks on 1 host", "openmpi"},
                 {"Open MPI v5.0.3, package: Debian", "openmpi5"},
                 {"MPICH 4.0.2; 2 ranks", "mpich4"},
                 {"CRAY MPICH version 8.1.29.31 (ANL base 3.4a2)", "cray-mpich"},
                 {"FUJITSU MPI Library 4.0.1", "fjmpi"},
                 {"MPICH 3.3.2", "mpich"}};
    struct fc_collective_choice choice;
    char text[64], few[8];
    for (size_t i = 0; i < FC_COUNT(known); i++)
        CU_ASSERT_STRING_EQUAL(fc_collective_rules_of(known[i].recorded)->name, known[i].rules);
    CU_ASSERT_PTR_NULL(fc_collective_rules_of("Intel MPI 2021"));
    CU_ASSERT_PTR_NULL(fc_collective_rules_of(NULL));
    CU_ASSERT(!reads("openmpi,bcast=pipeline_ompi,scan=default-default", &choice).code);
    fc_collective_choice_text(&choice, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "openmpi,bcast=chain,scan=fjmpi");
    struct fc_collective_choice again;
    CU_ASSERT(!reads(text, &again).code && !memcmp(&again, &choice, sizeof again));
    fc_collective_choice_text(&choice, few, sizeof few);
    CU_ASSERT_STRING_EQUAL(few, "openmpi");
    struct fc_collective_call call = {FC_OP_SCAN, 8, 8, false};
    CU_ASSERT_STRING_EQUAL(fc_collective_select(&choice, &call)->name, "linear"); /* FJMPI's */
}

/* Both sides of the limits that MPICH 4, Cray and FJMPI have of their own. */
static void other_choices(void)
{
    CU_ASSERT(takes_by("mpich4", FC_OP_ALLREDUCE, 8, 8, false, "doubling"));
    CU_ASSERT(takes_by("mpich4", FC_OP_ALLREDUCE, 8, 63, false, "doubling")); /* fewer elements than members */
    CU_ASSERT(takes_by("mpich4", FC_OP_ALLREDUCE, 8, 64, false, "rabenseifner"));
    CU_ASSERT(takes_by("mpich4", FC_OP_ALLREDUCE, 63, 1e6, false, "rabenseifner"));
    CU_ASSERT(takes_by("mpich4", FC_OP_BCAST, 8, 12288, false, "binomial"));
    CU_ASSERT(takes_by("mpich4", FC_OP_BCAST, 8, 524288, false, "scatter+doubling"));
    CU_ASSERT(takes_by("mpich4", FC_OP_BCAST, 8, 524289, false, "scatter+ring"));
    CU_ASSERT(takes_by("mpich4", FC_OP_GATHER, 8, 800, true, "linear"));
    CU_ASSERT(takes_by("mpich4", FC_OP_ALLTOALLV, 33, 800, false, "linear"));
    CU_ASSERT(takes_by("mpich4", FC_OP_ALLTOALLV, 34, 800, false, "scattered"));
    CU_ASSERT(takes_by("mpich4", FC_OP_ALLTOALL, 34, 34 * 257, false, "scattered"));
    CU_ASSERT(takes_by("cray-mpich", FC_OP_BCAST, 64, 1e7, false, "4-nomial"));
    CU_ASSERT(takes_by("cray-mpich", FC_OP_ALLREDUCE, 64, 1e7, false, "rabenseifner"));
    CU_ASSERT(takes_by("fjmpi", FC_OP_ALLGATHER, 8, 49999, false, "doubling"));
    CU_ASSERT(takes_by("fjmpi", FC_OP_ALLGATHER, 8, 50000, false, "neighbor"));
    CU_ASSERT(takes_by("fjmpi", FC_OP_ALLGATHER, 9, 50000, false, "ring"));
    CU_ASSERT(takes_by("fjmpi", FC_OP_ALLREDUCE, 8, 65536, false, "ring"));
    CU_ASSERT(takes_by("fjmpi", FC_OP_REDUCE_SCATTER, 8, 262144, false, "halving"));
    CU_ASSERT(takes_by("fjmpi", FC_OP_REDUCE_SCATTER, 9, 262144, false, "ring"));
    CU_ASSERT(takes(FC_OP_BCAST, 512, 20000, false, "split-binary"));
    CU_ASSERT(takes(FC_OP_REDUCE, 300, 10000, false, "in-order-binary"));
    CU_ASSERT(takes(FC_OP_REDUCE_SCATTER, 32, 4096, false, "butterfly"));
    CU_ASSERT(takes(FC_OP_ALLREDUCE, 6, 1e6, false, "rabenseifner-halves"));
}

int suite_collective_choice(void)
{
    static const CU_TestInfo tests[] = {
        {"Open MPI's choices at their limits", openmpi_choices},
        {"what is chosen fits", choices_fit},
        {"reading a choice, refusals", reading},
        {"names of libraries", aliases},
        {"a trace's library, a choice as text", libraries},
        {"choices of MPICH 4, Cray MPICH, FJMPI", other_choices},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("collective choice", tests);
}
