/* calibration_kind.c - the kind of a router in one line, and the calibration beside a machine file.
 *
 * Everything that the equations of queueing.c do not have in them, or have only through fitted parameters, is
 * part of the kind; sizes, shapes and lengths of wires are not. Two machines of one line share their
 * parameters. */
#include "solvers/calibration/calibration.h"
#include "solvers/flit/kernel.h"

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
    if (fc_flit_prepare(net, &settings, &flit, st)) return st->code;
    add(text, sizeof text, "family=%s routing=%s rule=%s vcs=%d escape_vcs=%d flow_control=%s arbitration=%s",
        m->family->name, m->routing->name, flit.vc_rule, flit.n_network_vcs, flit.n_escape_vcs,
        flit.cut_through ? "cut-through" : "wormhole", fc_arbitration_names[flit.arbitration]);
    add(text, sizeof text, " buffer_flits=%u paths=%u vc_allocation=%s", flit.buffer_flits, flit.paths,
        flit.vc_stage ? "stage" : "combined");
    if (m->router.dateline != FC_DATELINE_CROSSED)
        add(text, sizeof text, " dateline=%s", fc_dateline_names[m->router.dateline]);
    if (m->router.arbitration == FC_SLQ || m->router.arbitration == FC_JSQ_SLQ)
        add(text, sizeof text, " slq=%.4g", m->router.slq_percent);
    if (m->router.in_network_percent > 0)
        add(text, sizeof text, " in_network=%.4g", m->router.in_network_percent);
    if (m->router.injection_fifos > 0)
        add(text, sizeof text, " injection_fifos=%lld", m->router.injection_fifos);
    if (flit.injection_flits != flit.buffer_flits)
        add(text, sizeof text, " injection_flits=%u", flit.injection_flits);
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

/* Where the routing is not the file's, or the machine was changed, another kind, or one that the kernel cannot run, is no
 * mistake. */
static enum fc_code check_kind(const struct fc_network *net, const struct fc_calibration *c, bool *same,
                               struct fc_status *st)
{
    struct fc_arena arena = {0};
    struct fc_status why = {0};
    const struct fc_machine *m = net->machine;
    const char *kind, *file_routing = m->router.routing ? m->router.routing : m->family->default_routing;
    bool as_in_file = !strcmp(file_routing, m->routing->name) && !m->changes;
    *same = false;
    if (!fc_calibration_kind(net, NULL, &arena, &kind, &why)) {
        *same = !strcmp(kind, c->kind);
        if (!*same && as_in_file)
            fc_fail(&why, FC_INPUT, (struct fc_place){c->file, 0},
                    "made for another kind of router: %s (this machine: %s); `fabricast calibrate` makes a "
                    "new one",
                    c->kind, kind);
    }
    fc_arena_free(&arena);
    if (why.code && (as_in_file || why.code != FC_INPUT)) *st = why;
    return st->code;
}

enum fc_code fc_calibration_find(const struct fc_network *net, struct fc_calibration *calibration,
                                 bool *found, struct fc_status *st)
{
    char path[1200];
    bool same;
    *found = false;
    memset(calibration, 0, sizeof *calibration);
    fc_calibration_path(net->machine, path, sizeof path);
    if (access(path, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR)) return FC_OK;
    if (fc_calibration_read(path, calibration, st)) return st->code;
    if (strcmp(calibration->kernel_version, FC_KERNEL_VERSION))
        fc_fail(st, FC_INPUT, (struct fc_place){path, 0},
                "made by kernel version %s (this is %s); `fabricast calibrate` makes a new one",
                calibration->kernel_version, FC_KERNEL_VERSION);
    if (!st->code && !check_kind(net, calibration, &same, st) && same) *found = true;
    if (!*found) fc_calibration_free(calibration);
    return st->code;
}
