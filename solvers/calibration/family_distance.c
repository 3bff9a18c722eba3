/* family_distance.c - how unlike two machines are, and how much less that makes of a correction.
 *
 *     d^2 = sum over figures of log2(a / b)^2 + sum over words of w^2
 *
 * Figures of the router: virtual channels, packets a buffer (the longest), flits of the longest packet, paths, and, half as
 * much, a flit's time at the injection link over that of the first class. Words: 2 where the routing differs; 1 for rule,
 * flow control and arbitration; 1/2 for every other key of the kind. Figures of the network: nodes, a quarter of it;
 * number of dimensions; aspect ratio, half. The network's part counts for the choice of the nearest only: what size and
 * shape do is in the relatives' own features and their hull. The relatives' mean correction
 * counts with 1 / (1 + (d / half)^2), d that of the nearest router; `half` is that of the least median deviation of the phases of the
 * shipped calibrations, each kind of router predicted from the others (tests/validate_family.c). Limits: few kinds of router stand behind
 * it; that each figure weighs alike is an assumption. */
#include "solvers/calibration/family_distance.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_RATIO (1 / 64.0) /* of flit times: links without a limit have 0 */

bool fc_kind_value(const char *kind, const char *key, const char **value, int *length)
{
    size_t n = strlen(key);
    for (const char *at = kind; *at; at += strcspn(at, " "), at += *at == ' ')
        if (!strncmp(at, key, n) && at[n] == '=') {
            *value = at + n + 1;
            *length = (int)strcspn(*value, " ");
            return true;
        }
    return false;
}

void fc_likeness_of_shape(const char *shape, struct fc_likeness *likeness)
{
    const char *at = strstr(shape, "dims [");
    double longest = 1, shortest = INFINITY;
    likeness->dims = 0;
    for (at = at ? at + strlen("dims [") : NULL; at;) {
        char *end;
        long side = strtol(at, &end, 10);
        if (end == at) break;
        if (side > 1) {
            likeness->dims++;
            longest = fmax(longest, (double)side);
            shortest = fmin(shortest, (double)side);
        }
        at = *end == ',' ? end + 1 : NULL;
    }
    likeness->aspect = likeness->dims ? longest / shortest : 1;
}

static double figure(const struct fc_likeness *l, const char *key)
{
    const char *value;
    int n;
    return fc_kind_value(l->kind, key, &value, &n) ? fmax(1, strtod(value, NULL)) : 1;
}

static double injection(const struct fc_likeness *l)
{
    const char *value;
    int n;
    if (!fc_kind_value(l->kind, "link_times", &value, &n)) return 1;
    const char *at = strstr(value, "injection:");
    return at ? fmax(LEAST_RATIO, strtod(at + strlen("injection:"), NULL)) : 1;
}

static double square(double a, double b)
{
    double d = log2(fmax(a, 1e-9) / fmax(b, 1e-9));
    return d * d;
}

/* Of the words of one kind that the other has not. `missing`: only where it lacks the key. */
static double words(const char *of, const char *other, bool missing)
{
    static const char *const figures[] = {"vcs", "escape_vcs", "buffer_flits", "paths", "link_times", "family"};
    static const char *const one[] = {"rule", "flow_control", "arbitration"};
    double sum = 0;
    for (const char *at = of; *at; at += strcspn(at, " "), at += *at == ' ') {
        char key[64], own[128];
        const char *value;
        int n;
        double weight = 0.5;
        bool skip = sscanf(at, "%63[^= ]=%127[^ ]", key, own) != 2;
        for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) skip = skip || !strcmp(key, figures[i]);
        if (skip) continue;
        bool there = fc_kind_value(other, key, &value, &n);
        if (there && ((size_t)n == strlen(own) && !strncmp(own, value, (size_t)n))) continue;
        if (there == missing) continue;
        for (size_t i = 0; i < sizeof one / sizeof *one; i++)
            if (!strcmp(key, one[i])) weight = 1;
        if (!strcmp(key, "routing")) weight = 2;
        sum += weight * weight;
    }
    return sum;
}

double fc_router_distance(const struct fc_likeness *a, const struct fc_likeness *b)
{
    double sum = square(figure(a, "vcs"), figure(b, "vcs")) + square(figure(a, "paths"), figure(b, "paths")) +
                 square(a->packet_flits, b->packet_flits) +
                 square(figure(a, "buffer_flits") / fmax(1, a->packet_flits),
                        figure(b, "buffer_flits") / fmax(1, b->packet_flits)) +
                 square(injection(a), injection(b)) / 4;
    return sqrt(sum + words(a->kind, b->kind, false) + words(a->kind, b->kind, true) + words(b->kind, a->kind, true));
}

double fc_network_distance(const struct fc_likeness *a, const struct fc_likeness *b)
{
    return sqrt(square(a->nodes, b->nodes) / 16 + square(fmax(1, a->dims), fmax(1, b->dims)) +
                square(a->aspect, b->aspect) / 4);
}

double fc_family_fade(double distance, double half)
{
    return 1 / (1 + distance * distance / (half * half));
}
