/* family.c - what calibrated machines of a family say of one that has no calibration.
 *
 * Relatives are the shipped calibrations of the family of networks, and the one beside the machine's file where that is of
 * another kind of router; those of the machine's routing alone, where there are any. A relative of distance d
 * (family_distance.c: of the routers, and of the network to the nearest that it ran) counts with
 *
 *     w = 1 / (CLOSE + d^2) / relatives of one kind of router with it        (sum of all w: 1)
 *
 * Phases: mean of the logarithms of what each relative's process says of the phase (bulk.c). Replays: their jobs
 * together (replay_error.c), and links lose to mixing what the relatives' mean limit has. Curves: parameters and correction of
 * the nearest (calibrated.c). Limits: a relative of other link speeds or wires stands for the machine as far as the features
 * of phases, jobs and traffic say.
 *
 * A machine whose keys were changed (--set) has its own file for a relative alone, all of whose correction counts: only the error
 * is wider by distance, so that what is changed is compared by one fit. */
#include "solvers/calibration/family.h"
#include "solvers/calibration/calibration_mixing.h"
#include "solvers/calibration/family_distance.h"
#include "solvers/flit/prepared.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define CLOSE 0.25
enum { MOST_RELATIVES = 64, LINES_TO_KIND = 4 };

struct search {
    const struct fc_network *net;
    const char *without;
    struct fc_arena arena; /* the family's calibration's */
    struct fc_likeness self;
    struct fc_calibration *one; /* [n] */
    double router[MOST_RELATIVES], distance[MOST_RELATIVES], weight[MOST_RELATIVES];
    int alike[MOST_RELATIVES]; /* how many have its kind of router */
    int n, nearest;
    bool own; /* only that of the machine before keys were changed */
    struct fc_status *st;
};

/* ---- what is like what ---- */

static enum fc_code describe(struct search *s, char *why, size_t size)
{
    struct fc_status cannot = {0};
    struct fc_flit_settings settings;
    struct fc_flit_net flit;
    char shape[512];
    fc_flit_defaults(&settings);
    if (fc_calibration_kind(s->net, NULL, &s->arena, &s->self.kind, &cannot) ||
        fc_flit_figures(s->net, &settings, &flit, &cannot)) {
        if (cannot.code != FC_INPUT) *s->st = cannot;
        snprintf(why, size, "the kernel cannot run this machine: %.400s", cannot.message);
        return cannot.code;
    }
    s->self.packet_flits = flit.packet_flits_max;
    fc_flit_unprepare(&flit);
    fc_likeness_of_shape(fc_machine_shape(s->net->machine, shape, sizeof shape), &s->self);
    s->self.nodes = s->net->n_nodes;
    return FC_OK;
}

/* Distances of a calibration: of its router, and with its nearest network. */
static void measure(struct search *s, int i)
{
    const struct fc_calibration *c = &s->one[i];
    struct fc_likeness other = {.kind = c->kind, .packet_flits = 1};
    double least = INFINITY;
    for (uint32_t k = 0; k < c->n_cases; k++) other.packet_flits = fmax(other.packet_flits, c->cases[k].flits_max);
    for (uint32_t k = 0; k < c->phases.n_cases; k++) {
        fc_likeness_of_shape(c->phases.cases[k].network, &other);
        other.nodes = (double)c->phases.cases[k].nodes;
        least = fmin(least, fc_network_distance(&s->self, &other));
    }
    bool same = !strcmp(c->kind, s->self.kind);
    s->router[i] = same ? 0 : fmax(1e-3, fc_router_distance(&s->self, &other));
    s->distance[i] = hypot(s->router[i], isfinite(least) ? least : 1);
}

static void weigh(struct search *s)
{
    double sum = 0;
    for (int i = 0; i < s->n; i++) {
        int alike = 0;
        for (int k = 0; k < s->n; k++) alike += !strcmp(s->one[k].kind, s->one[i].kind);
        s->alike[i] = alike;
        s->weight[i] = 1 / (CLOSE + s->distance[i] * s->distance[i]) / alike;
        sum += s->weight[i];
        if (s->distance[i] < s->distance[s->nearest]) s->nearest = i;
    }
    for (int i = 0; i < s->n; i++) s->weight[i] /= sum;
}

/* ---- reading ---- */

/* What a file's first lines say of it: whether its router is of the family and wanted, and whether it routes as the machine does. */
struct head {
    bool is_family, routes_alike;
};
static bool has_value(const char *kind, const char *key, const char *wanted)
{
    const char *value;
    int n;
    return fc_kind_value(kind, key, &value, &n) && (size_t)n == strlen(wanted) && !strncmp(value, wanted, (size_t)n);
}
static struct head read_head(const struct search *s, const char *path)
{
    const struct fc_machine *machine = s->net->machine;
    char line[1200];
    struct head head = {0};
    const char *kind = NULL, *without = s->without;
    errno = 0;
    FILE *file = fopen(path, "r");
    for (int i = 0; file && i < LINES_TO_KIND && !kind && fgets(line, sizeof line, file); i++)
        if (!strncmp(line, "kind: \"", strlen("kind: \""))) kind = line + strlen("kind: \"");
    if (!kind && errno == ENOMEM) fc_out_of_memory(s->st, "reading %s", path);
    if (file) fclose(file);
    size_t n = kind ? strcspn(kind, "\"\n") : 0;
    bool unwanted = kind && without && strlen(without) == n && !strncmp(kind, without, n);
    head.is_family = kind && !unwanted && has_value(kind, "family", machine->family->name);
    head.routes_alike = head.is_family && has_value(kind, "routing", machine->routing->name);
    return head;
}

/* `alike`: reads those that route as the machine does, else the others. */
static enum fc_code try_file(struct search *s, const char *path, bool alike)
{
    struct fc_calibration *c = &s->one[s->n];
    struct head head = {0};
    if (s->n < MOST_RELATIVES) head = read_head(s, path);
    if (s->st->code) return s->st->code;
    if (!head.is_family || head.routes_alike != alike) return FC_OK;
    for (int i = 0; i < s->n; i++)
        if (!strcmp(s->one[i].file, path)) return FC_OK;
    if (fc_calibration_read(path, c, s->st)) return s->st->code;
    if (strcmp(c->kernel_version, FC_KERNEL_VERSION) || (s->without && !strcmp(c->kind, s->without)) ||
        c->phases.n_cases == 0)
        fc_calibration_free(c);
    else
        measure(s, s->n++);
    return FC_OK;
}

static enum fc_code read_those(struct search *s, const char **names, size_t n, bool alike)
{
    char directory[600], path[1400];
    fc_calibration_path(s->net->machine, path, sizeof path);
    if (access(path, R_OK) == 0 && try_file(s, path, alike)) return s->st->code;
    fc_machines_directory(directory, sizeof directory);
    for (size_t i = 0; i < n; i++) {
        snprintf(path, sizeof path, "%s/%s.calibration.yaml", directory, names[i]);
        if (access(path, R_OK) == 0 && try_file(s, path, alike)) return s->st->code;
    }
    return FC_OK;
}

/* What routes otherwise counts only where nothing routes alike, and is read only then. */
static enum fc_code read_all(struct search *s)
{
    const char **names;
    size_t n;
    struct fc_status none = {0};
    if (fc_machine_names(&s->arena, &names, &n, &none)) {
        if (none.code != FC_INPUT) { /* else no shipped machines: a library alone */
            *s->st = none;
            return none.code;
        }
        n = 0;
    }
    if (read_those(s, names, n, true) || s->n > 0) return s->st->code;
    return read_those(s, names, n, false);
}

/* What the machine's own file says of it before keys were changed stands for it alone: with others' beside it, a changed key
 * would seem to do what other machines do. A file that is not of changed keys, only where no other router is nearer. */
static void keep_own(struct search *s)
{
    char path[1400];
    int own = -1;
    fc_calibration_path(s->net->machine, path, sizeof path);
    for (int i = 0; i < s->n; i++)
        if (!strcmp(s->one[i].file, path) && has_value(s->one[i].kind, "routing", s->net->machine->routing->name))
            own = i;
    bool nearest = own >= 0;
    for (int i = 0; i < s->n; i++) nearest = nearest && s->router[own] <= s->router[i] * (1 + 1e-9);
    if (own < 0 || !(nearest || s->net->machine->changes)) return;
    for (int i = 0; i < s->n; i++)
        if (i != own) fc_calibration_free(&s->one[i]);
    s->one[0] = s->one[own];
    s->router[0] = s->router[own];
    s->distance[0] = s->distance[own];
    s->n = 1;
    s->own = true;
}

/* ---- the family's calibration ---- */

static const char *list_files(struct search *s)
{
    size_t size = 1;
    for (int i = 0; i < s->n; i++) size += strlen(s->one[i].file) + 2;
    char *text = fc_alloc(&s->arena, size, 1, s->st);
    for (int i = 0; text && i < s->n; i++) {
        strcat(text, i ? ", " : "");
        strcat(text, s->one[i].file);
    }
    return text;
}

static enum fc_code compose(struct search *s, struct fc_calibration *c)
{
    struct fc_bulk_relative *phases = fc_alloc(&s->arena, (size_t)s->n, sizeof *phases, s->st);
    struct fc_replays_relative *replays = fc_alloc(&s->arena, (size_t)s->n, sizeof *replays, s->st);
    char from[300];
    double log_mixing = 0, weights = 0;
    uint32_t n_replays = 0;
    if (!phases || !replays) return s->st->code;
    for (int i = 0; i < s->n; i++) {
        const struct fc_replays *jobs = &s->one[i].replays;
        phases[i] = (struct fc_bulk_relative){&s->one[i].phases, s->router[i], s->weight[i]};
        if (jobs->n_cases == 0) continue;
        replays[n_replays++] = (struct fc_replays_relative){jobs, s->router[i], 1.0 / s->alike[i]};
        log_mixing += s->weight[i] * log(jobs->mixing > 0 ? jobs->mixing : 1);
        weights += s->weight[i];
    }
    const struct fc_calibration *nearest = &s->one[s->nearest];
    snprintf(from, sizeof from, "%d calibrated %s machine%s (nearest %.100s), not from this machine", s->n,
             s->net->machine->family->name, s->n > 1 ? "s" : "", nearest->machine);
    const char *slash = strrchr(nearest->file, '/');
    if (s->own)
        snprintf(from, sizeof from, "%.200s, made for other keys of its router", slash ? slash + 1 : nearest->file);
    *c = *nearest; /* parameters, correction and cases stay those of the nearest, which lives as long */
    c->arena = (struct fc_arena){0};
    c->phases = (struct fc_bulk){.n_relatives = (uint32_t)s->n, .relatives = phases, .before_changes = s->own};
    c->replays = (struct fc_replays){.n_relatives = n_replays, .relatives = replays};
    double prior = n_replays > 0 && !s->own ? weights / n_replays : 0; /* it counts like one more relative */
    log_mixing += prior * log(FC_MIXING_PRIOR);
    c->replays.mixing = weights > 0 ? exp(log_mixing / (weights + prior)) : 1;
    c->phases.mixing = c->replays.mixing;
    c->replays.mixing_low = c->replays.mixing_high = c->replays.mixing;
    c->relatives = s->one;
    c->n_relatives = (uint32_t)s->n;
    c->distance = s->router[s->nearest];
    c->file = list_files(s);
    c->from = fc_copy_text(&s->arena, from, s->st);
    return s->st->code;
}

enum fc_code fc_family_find(const struct fc_network *net, const char *without, struct fc_calibration *calibration,
                            bool *found, char *why, size_t why_size, struct fc_status *st)
{
    struct search s = {.net = net, .without = without, .st = st};
    *found = false;
    memset(calibration, 0, sizeof *calibration);
    s.one = fc_alloc(&s.arena, MOST_RELATIVES, sizeof *s.one, st);
    if (s.one && !describe(&s, why, why_size) && !read_all(&s)) {
        keep_own(&s);
        weigh(&s);
        snprintf(why, why_size, "no machine of its family (%s) is calibrated", net->machine->family->name);
        if (s.n > 0) *found = !compose(&s, calibration);
    }
    if (*found) {
        calibration->arena = s.arena;
        return FC_OK;
    }
    for (int i = 0; i < s.n; i++) fc_calibration_free(&s.one[i]);
    fc_arena_free(&s.arena);
    memset(calibration, 0, sizeof *calibration);
    return st->code;
}

enum fc_code fc_family_stand_by(const struct fc_network *net, struct fc_calibration *c, struct fc_status *st)
{
    char why[600];
    bool found;
    if (c->replays.n_cases == 0 || c->replays.n_cases >= FC_ENOUGH_REPLAYS) return FC_OK;
    struct fc_calibration *family = fc_alloc(&c->arena, 1, sizeof *family, st);
    if (!family || fc_family_find(net, c->kind, family, &found, why, sizeof why, st) || !found) return st->code;
    c->aside = family;
    c->replays.n_relatives = family->replays.n_relatives;
    c->replays.relatives = family->replays.relatives;
    return FC_OK;
}

enum fc_code fc_calibration_of(const struct fc_network *net, struct fc_calibration *calibration, bool *found,
                               struct fc_calibration_misfit *misfit, struct fc_status *st)
{
    struct fc_calibration_misfit own;
    char why[600] = "";
    if (!misfit) misfit = &own;
    if (fc_calibration_find(net, calibration, found, misfit, st)) return st->code;
    if (*found) return fc_family_stand_by(net, calibration, st);
    if (fc_family_find(net, NULL, calibration, found, why, sizeof why, st) || *found) return st->code;
    size_t n = strlen(misfit->text);
    snprintf(misfit->text + n, sizeof misfit->text - n, "%s%s", n ? "; " : "", why);
    return FC_OK;
}
