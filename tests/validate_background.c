/* validate_background.c - a job beside a background: the network models of a replay against the flit-level
 * kernel, in which the background is packets. Prints a row a comparison; fails when one leaves its limit.
 * bgl-64, the background a share of its busiest link.
 *
 *     short   messages of one full packet between random pairs, one after the other
 *     long    messages of 128 packets, the same
 *     shift   every node sends 32 packets to the node half the machine away, all at once
 * `inelastic` is the model (network contention): what the background leaves, b - a. `fair` is the same with
 * at least half of each link for the job, as an arbiter that takes turns between the two would give. */
#include "solvers/background.h"
#include "solvers/transit/transit.h"
#include "tests/transit_send.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHORT, LONG, SHIFT, JOBS };
static const char *const job_names[] = {"short", "long", "shift"};

struct bench {
    struct fc_machine machine;
    struct fc_network net;
    struct fc_background background;
    double *half; /* [n_links] at most half of a link */
    struct fc_status st;
};

static void stop(const char *what, const struct fc_status *st)
{
    char text[2048];
    fc_status_text(st, text, sizeof text);
    printf("%s: %s\n", what, text);
    exit(1);
}

/* The next arrival, whenever it is. */
static double arrival(struct bench *b, struct fc_transit *t)
{
    struct fc_arrival a;
    bool found;
    if (fc_transit_next(t, INFINITY, &a, &found) || !found) stop("arrival", &b->st);
    return a.time_s;
}

/* Mean time of a message, or of all. */
static double job_s(struct bench *b, struct fc_transit *t, int job, uint64_t seed)
{
    uint32_t n = b->net.n_nodes, count = job == SHORT ? 2000 : job == LONG ? 60 : 6;
    double bytes = b->background.packet_bytes * (job == SHORT ? 1 : job == LONG ? 128 : 32);
    double sum_s = 0, now_s = 1e-3;
    for (uint32_t i = 0; i < count; i++) {
        double last_s = now_s;
        if (job == SHIFT) {
            for (uint32_t s = 0; s < n; s++)
                if (fc_test_send(t, i * n + s, now_s, s, (s + n / 2) % n, bytes)) stop("send", &b->st);
            for (uint32_t s = 0; s < n; s++) last_s = fmax(last_s, arrival(b, t));
        } else {
            uint32_t src = (uint32_t)fc_random_below(seed, 1, i, n);
            uint32_t dst = (src + 1 + (uint32_t)fc_random_below(seed, 2, i, n - 1)) % n;
            if (fc_test_send(t, i, now_s, src, dst, bytes)) stop("send", &b->st);
            last_s = arrival(b, t);
        }
        sum_s += last_s - now_s;
        now_s = last_s + 5e-6 * (1 + fc_random_real(seed, 3, i));
    }
    return sum_s / count;
}

static double with_model(struct bench *b, enum fc_network_model network, const double *links, int job)
{
    struct fc_transit *t;
    struct fc_transit_settings settings = {.network = network, .background_bytes_per_s = links, .seed = 7};
    if (links) settings.background = &b->background;
    if (fc_transit_open(&b->net, &settings, &t, &b->st)) stop("transit", &b->st);
    double mean_s = job_s(b, t, job, 11);
    fc_transit_close(t);
    return mean_s;
}

static void make_half(struct bench *b)
{
    b->half = malloc(b->net.n_links * sizeof *b->half);
    if (!b->half) exit(1);
    for (uint32_t l = 0; l < b->net.n_links; l++)
        b->half[l] = fmin(b->background.link_bytes_per_s[l], fc_link_bandwidth(&b->net, l) / 2);
}

/* Prints a row; whether it lies within the limits: shifts are slowed as 1 / (1 - a), queueing has the latency
 * of short messages. What the other rows deviate by is information. */
static bool row(struct bench *b, const char *pattern, double share, int job)
{
    if (fc_background_of_pattern(&b->net, pattern, NULL, 0, FC_BACKGROUND_SHARE, share, 1, &b->background, &b->st))
        stop(pattern, &b->st);
    make_half(b);
    const double *links = b->background.link_bytes_per_s;
    double empty = with_model(b, FC_NET_FLIT, NULL, job), kernel = with_model(b, FC_NET_FLIT, links, job),
           inelastic = with_model(b, FC_NET_CONTENTION, links, job),
           fair = with_model(b, FC_NET_CONTENTION, b->half, job), queue = with_model(b, FC_NET_QUEUEING, links, job);
    double slowed = kernel / empty * (1 - share) - 1, queueing = queue / kernel - 1;
    bool good = job == SHIFT ? fabs(slowed) <= (share < 0.7 ? 0.1 : 0.25) : job == LONG || fabs(queueing) <= 0.15;
    printf("| %s %.0f %% | %s | %.2f | %.2f | %.2f | %+.0f %% | %+.0f %% | %+.0f %% |%s\n", pattern, 100 * share,
           job_names[job], 1e6 * empty, 1e6 * kernel, kernel / empty, 100 * (inelastic / kernel - 1),
           100 * (fair / kernel - 1), 100 * queueing, good ? "" : " OUTSIDE");
    fflush(stdout);
    free(b->half);
    fc_background_free(&b->background);
    return good;
}

/* Arguments: of the pattern's name, of the job's. */
int main(int argc, char **argv)
{
    static const char *const patterns[] = {"uniform", "complement"};
    static const double shares[] = {0.2, 0.4, 0.6, 0.8};
    struct bench b = {.st = {0}};
    bool good = true;
    if (fc_machine_load("bgl-64", &b.machine, &b.st) || fc_network_build(&b.machine, &b.net, &b.st))
        stop("bgl-64", &b.st);
    printf("| background | job | kernel empty, us | kernel | times | inelastic | fair | queueing |\n"
           "|---|---|---|---|---|---|---|---|\n");
    for (size_t p = 0; p < FC_COUNT(patterns); p++)
        for (int job = 0; job < JOBS; job++)
            for (size_t s = 0; s < FC_COUNT(shares); s++)
                if ((argc < 2 || strstr(patterns[p], argv[1])) && (argc < 3 || strstr(job_names[job], argv[2])))
                    good = row(&b, patterns[p], shares[s], job) && good;
    fc_network_free(&b.net);
    fc_machine_free(&b.machine);
    return good ? 0 : 1;
}
