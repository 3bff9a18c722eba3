/* collective_alike.c - algorithms in which all members do the same, step by step or as a list of messages. */
#include "solvers/collective/collective.h"

uint32_t fc_alike_less_one(uint32_t n)
{
    return n - 1;
}
uint32_t fc_alike_ahead(uint32_t n, uint32_t member, uint32_t round, uint32_t k)
{
    return (uint32_t)(((uint64_t)member + round + k + 1) % n);
}
uint32_t fc_alike_behind(uint32_t n, uint32_t member, uint32_t round, uint32_t k)
{
    return (uint32_t)(((uint64_t)member + n - round - k - 1) % n);
}
uint32_t fc_alike_far_ahead(uint32_t n, uint32_t member, uint32_t round, uint32_t k)
{
    (void)k;
    return (uint32_t)((member + (UINT64_C(1) << round)) % n);
}
double fc_alike_matrix(const struct fc_schedule *s, uint32_t from, uint32_t to, uint32_t round)
{
    (void)round;
    return s->list ? s->list[(uint64_t)from * s->n + to] : s->bytes;
}

static double bytes_of(const struct fc_collective_alike *a, const struct fc_schedule *s, uint32_t from, uint32_t to,
                       uint32_t round)
{
    return a->bytes ? a->bytes(s, from, to, round) : fc_schedule_blocks(s, a->block(s->n, from, to, round), 1);
}

/* MPI libraries post nothing for an empty block, but a barrier is made of empty messages. */
void fc_collective_alike_build(const struct fc_collective_alike *alike, struct fc_schedule *s)
{
    uint32_t rounds = alike->n_rounds(s->n), sends = alike->n_sends ? alike->n_sends(s->n) : 1;
    bool vector = s->list && !s->before; /* alltoallv */
    enum fc_message_work of_op = s->work;
    for (uint32_t round = 0; round < rounds; round++, s->round++) {
        s->work = fc_alike_work(alike, of_op, s->n, round);
        for (uint32_t member = 0; member < s->n; member++)
            for (uint32_t k = 0; k < sends; k++) {
                uint32_t to = alike->to(s->n, member, round, k);
                double bytes = bytes_of(alike, s, member, to, round);
                if (bytes > 0 || !vector) fc_schedule_add(s, member, to, bytes);
            }
    }
    s->work = of_op;
}
