/* calibration_kind.c - the kind of a router in one line, and the calibration beside a machine file.
 *
 * Everything that the equations of queueing.c do not have in them, or have only through fitted parameters, is
 * part of the kind; sizes, shapes and lengths of wires are not. Two machines of one line share their
 * parameters. */
#include "solvers/calibration/calibration.h"
#include "solvers/flit/prepared.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static void add(char *out, size_t size, const char *format, ...) FC_PRINTF(3, 4);
static void add(char *out, size_t size, const char *format, ...)
{
    size_t n = strlen(out);
    va_list list;
    va_start(list, format);
    vsnprintf(out + n, size - n, format, list);
    va_end(list);
}

/* "level1=1 level2=1 injection=0.5": flit times of the classes over that of the first; levels of a fat-tree
 * that are all alike count once, so that trees of any height are of one kind. */
static void add_speeds(const struct fc_flit_net *flit, char *out, size_t size)
{
    const struct fc_machine *m = flit->net->machine;
    add(out, size, " link_times=");
    double before = -1;
    for (int c = 0; c < m->n_classes; c++) {
        double ratio = flit->flit_ticks[0] ? (double)flit->flit_ticks[c] / flit->flit_ticks[0] : 1;
        bool level = !strncmp(m->classes[c].name, "level", 5);
        if (level && ratio == before) continue;
        add(out, size, "%s%s:%.4g", c ? "," : "", level ? "level" : m->classes[c].name, ratio);
        before = level ? ratio : -1;
    }
}

enum fc_code fc_calibration_kind(const struct fc_network *net, const char *vc_rule, struct fc_arena *arena,
                                 const char **kind, struct fc_status *st)
{
    struct fc_flit_settings settings;
    struct fc_flit_net flit;
    char text[1024] = "";
    const struct fc_machine *m = net->machine;
    *kind = NULL;
    fc_flit_defaults(&settings);
    settings.vc_rule = vc_rule;
    settings.packet_flits_min = settings.packet_flits_max = 1;
    if (fc_flit_figures(net, &settings, &flit, st)) return st->code;
    add(text, sizeof text, "family=%s routing=%s rule=%s vcs=%d escape_vcs=%d flow_control=%s arbitration=%s",
        m->family->name, m->routing->name, flit.vc_rule, flit.n_network_vcs, flit.n_escape_vcs,
        flit.cut_through ? "cut-through" : "wormhole", fc_arbitration_names[flit.arbitration]);
    add(text, sizeof text, " buffer_flits=%u paths=%u vc_allocation=%s", flit.buffer_flits, flit.paths,
        flit.vc_stage ? "own-stage" : "combined");
    if (m->family->queueing_by_theory)
        add(text, sizeof text, " shares=last"); /* fc_turns_weight; those from before had others */
    if (m->router.dateline != FC_DATELINE_CROSSED)
        add(text, sizeof text, " dateline=%s", fc_dateline_names[m->router.dateline]);
    if (m->router.arbitration == FC_SLQ || m->router.arbitration == FC_JSQ_SLQ)
        add(text, sizeof text, " slq=%.4g", m->router.slq_percent);
    if (m->router.in_network_percent > 0) add(text, sizeof text, " in_network=%.4g", m->router.in_network_percent);
    if (m->router.injection_fifos > 0) add(text, sizeof text, " injection_fifos=%lld", m->router.injection_fifos);
    if (flit.injection_flits != flit.buffer_flits) add(text, sizeof text, " injection_flits=%u", flit.injection_flits);
    if (m->routing->adaptive && m->routing->detours) /* detours by load: the rule of router.ugal */
        add(text, sizeof text, " ugal=%s,%lld,%.6g", fc_ugal_queue_names[m->router.ugal.queue], m->router.ugal.weight,
            fc_ugal_threshold_flits(m));
    add_speeds(&flit, text, sizeof text);
    fc_flit_unprepare(&flit);
    *kind = fc_copy_text(arena, text, st);
    return st->code;
}

char *fc_calibration_path(const struct fc_machine *machine, char *out, size_t size)
{
    size_t n = strlen(machine->file);
    if (n > 5 && !strcmp(machine->file + n - 5, ".yaml")) n -= 5;
    snprintf(out, size, "%.*s.calibration.yaml", (int)n, machine->file);
    return out;
}

/* The value behind "key=" in a kind and its length; NULL: not there. */
static const char *value_of(const char *kind, const char *key, size_t key_length, size_t *length)
{
    for (const char *at = kind; *at; at += strcspn(at, " "), at += *at == ' ')
        if (!strncmp(at, key, key_length) && at[key_length] == '=') {
            *length = strcspn(at + key_length + 1, " ");
            return at + key_length + 1;
        }
    return NULL;
}

/* "vcs=4 (expected vcs=3)" for a key of one kind whose value in the other differs. `missing`: only those the other lacks. */
static void add_differences(const char *of, const char *other, bool missing, char *out, size_t size)
{
    for (const char *at = of; *at; at += strcspn(at, " "), at += *at == ' ') {
        size_t key = strcspn(at, "= "), all = strcspn(at, " "), n;
        const char *value = value_of(other, at, key, &n);
        bool same = value && all - key - 1 == n && !strncmp(at + key + 1, value, n);
        if (same || (missing && value)) continue;
        add(out, size, "%s", *out ? ", " : "");
        if (missing)
            add(out, size, "no %.*s (expected %.*s)", (int)key, at, (int)all, at);
        else if (value)
            add(out, size, "%.*s (expected %.*s=%.*s)", (int)all, at, (int)key, at, (int)n, value);
        else
            add(out, size, "%.*s (expected no %.*s)", (int)all, at, (int)key, at);
    }
}

/* Fills the misfit where the calibration is of another kind than the network; FC_INPUT of the kernel is one too. */
static enum fc_code compare_kinds(const struct fc_network *net, const struct fc_calibration *c,
                                  struct fc_calibration_misfit *misfit, struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena arena = {0};
    struct fc_status why = {0};
    const char *kind;
    char keys[600] = "";
    if (fc_calibration_kind(net, NULL, &arena, &kind, &why)) {
        if (why.code == FC_INPUT)
            snprintf(misfit->text, sizeof misfit->text, "the kernel cannot run this machine: %.800s", why.message);
        else
            *st = why;
    } else if (strcmp(kind, c->kind)) {
        add_differences(c->kind, kind, false, keys, sizeof keys);
        add_differences(kind, c->kind, true, keys, sizeof keys);
        snprintf(misfit->text, sizeof misfit->text,
                 "%.200s: made for another kind of router: %s; `fabricast calibrate` makes a new one", c->file, keys);
    }
    return st->code;
}

enum fc_code fc_calibration_find(const struct fc_network *net, struct fc_calibration *calibration, bool *found,
                                 struct fc_calibration_misfit *misfit, struct fc_status *st)
{
    const struct fc_machine *m = net->machine;
    struct fc_calibration_misfit own;
    char path[1200];
    *found = false;
    if (!misfit) misfit = &own;
    *misfit = (struct fc_calibration_misfit){.text = ""};
    memset(calibration, 0, sizeof *calibration);
    if (m->damaged) {
        snprintf(misfit->text, sizeof misfit->text, "no calibration is of what is left of a machine");
        return FC_OK;
    }
    fc_calibration_path(m, path, sizeof path);
    if (access(path, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR)) {
        snprintf(misfit->text, sizeof misfit->text, "no calibration of this machine (`fabricast calibrate` makes one)");
        return FC_OK;
    }
    if (fc_calibration_read(path, calibration, st)) return st->code;
    if (strcmp(calibration->kernel_version, FC_KERNEL_VERSION))
        snprintf(misfit->text, sizeof misfit->text,
                 "%.400s: made by kernel version %.40s (expected %s); `fabricast calibrate` makes a new one", path,
                 calibration->kernel_version, FC_KERNEL_VERSION);
    else
        compare_kinds(net, calibration, misfit, st);
    *found = !st->code && !*misfit->text;
    const char *file_routing = m->router.routing ? m->router.routing : fc_default_routing(m);
    misfit->mistake = *misfit->text && !strcmp(file_routing, m->routing->name) && !m->changes;
    if (!*found) fc_calibration_free(calibration);
    return st->code;
}
