/* collective_alike.c - algorithms in which all members do the same, step by step or as a list of messages. */
#include "solvers/collective/collective.h"

uint32_t fc_collective_rounds(const struct fc_collective_algorithm *algorithm, uint32_t n)
{
    return n > 1 ? algorithm->alike->n_rounds(n) : 0;
}

uint32_t fc_collective_n_steps(const struct fc_collective_algorithm *algorithm, uint32_t n)
{
    return n > 1 ? 2 * algorithm->alike->n_sends(n) : 0;
}

struct fc_collective_step fc_collective_step(const struct fc_collective_algorithm *algorithm,
                                             const struct fc_schedule *s, uint32_t member, uint32_t round, uint32_t k)
{
    const struct fc_collective_alike *a = algorithm->alike;
    uint32_t sends = a->n_sends(s->n);
    bool receives = k >= sends;
    uint32_t peer = receives ? a->from(s->n, member, round, k - sends) : a->to(s->n, member, round, k);
    double bytes = receives ? a->bytes(s, peer, member, round) : a->bytes(s, member, peer, round);
    return (struct fc_collective_step){peer, receives, bytes};
}

/* MPI libraries post nothing for an empty block, but a barrier is made of empty messages. */
void fc_collective_alike_build(const struct fc_collective_alike *alike, struct fc_schedule *s)
{
    uint32_t rounds = alike->n_rounds(s->n), sends = alike->n_sends(s->n);
    bool vector = s->list && !s->before; /* alltoallv */
    enum fc_message_work of_op = s->work;
    for (uint32_t round = 0; round < rounds; round++, s->round++) {
        s->work = fc_alike_work(alike, of_op, s->n, round);
        for (uint32_t member = 0; member < s->n; member++)
            for (uint32_t k = 0; k < sends; k++) {
                uint32_t to = alike->to(s->n, member, round, k);
                double bytes = alike->bytes(s, member, to, round);
                if (bytes > 0 || !vector) fc_schedule_add(s, member, to, bytes);
            }
    }
    s->work = of_op;
}
