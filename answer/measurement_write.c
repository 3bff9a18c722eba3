/* measurement_write.c - the machine file of a measurement: the user's own with its end points and links changed, or all nodes on
 * one switch. Figures stand in comments with their intervals: at the head, since a file that is changed loses its own. */
#include "answer/measurement.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_SETTINGS = 64 };

struct writer {
    const struct fc_measurement *m;
    const struct fc_measurement_fit *fit;
    const struct fc_measured_links *links;
    const struct fc_network *net;
    struct fc_arena arena;
    const char **setting; /* [n], of most */
    size_t n, most;
    FILE *heading;
    struct fc_status *st;
};

static const struct {
    const char *key, *unit;
    enum fc_unit kind;
    bool always; /* 0 is written, too */
} keys[FC_NUMBERS] = {
    [FC_NUMBER_SEND] = {"software.send", "s", FC_SECONDS, true},
    [FC_NUMBER_RECV] = {"software.recv", "s", FC_SECONDS, true},
    [FC_NUMBER_LATENCY] = {NULL, "s", FC_SECONDS, false},
    [FC_NUMBER_GAP] = {"software.gap", "s", FC_SECONDS, true},
    [FC_NUMBER_PER_BYTE] = {"software.per_byte", "s/B", FC_SECONDS_PER_BYTE, true},
    [FC_NUMBER_COPY] = {"software.copy_per_byte", "s/B", FC_SECONDS_PER_BYTE, true},
    [FC_NUMBER_RENDEZVOUS] = {"software.rendezvous", "s", FC_SECONDS, true},
    [FC_NUMBER_G] = {NULL, "s/B", FC_SECONDS_PER_BYTE, false},
    [FC_NUMBER_LOCAL] = {"software.local", "s", FC_SECONDS, false},
    [FC_NUMBER_MEMORY] = {NULL, "s/B", FC_SECONDS_PER_BYTE, false},
    [FC_NUMBER_REDUCE] = {"software.reduce_per_byte", "s/B", FC_SECONDS_PER_BYTE, false},
};

static void set(struct writer *w, const char *key, const char *value)
{
    if (!value) return; /* no memory, as the status says */
    size_t size = strlen(key) + strlen(value) + 2;
    char *text = fc_alloc(&w->arena, size, 1, w->st);
    if (!text || w->n == w->most) return;
    snprintf(text, size, "%s=%s", key, value);
    w->setting[w->n++] = text;
}

static void set_number(struct writer *w, const char *key, double value, const char *unit)
{
    char text[64];
    snprintf(text, sizeof text, "%.4g %s", value, unit);
    set(w, key, text);
}

static void comment(struct writer *w, const char *what, struct fc_interval v, enum fc_unit kind)
{
    char x[3][32];
    if (isnan(v.value)) return;
    fprintf(w->heading, "# %-24s %s (%s to %s)\n", what, fc_format(x[0], sizeof x[0], v.value, kind),
            fc_format(x[1], sizeof x[1], v.low, kind), fc_format(x[2], sizeof x[2], v.high, kind));
}

/* Bytes/s of seconds a byte. */
static struct fc_interval rate_of(struct fc_interval per_byte)
{
    return (struct fc_interval){1 / per_byte.value, 1 / per_byte.high, 1 / per_byte.low};
}

/* The interval of the rate of one pair about another rate. */
static struct fc_interval like(struct fc_interval rate, double value)
{
    return (struct fc_interval){value, value * rate.low / rate.value, value * rate.high / rate.value};
}

static void head(struct writer *w)
{
    const struct fc_measurement *m = w->m;
    fprintf(w->heading, "# Measured by fabricast measure: %u ranks on %u node%s", m->n_ranks, m->n_nodes,
            m->n_nodes > 1 ? "s" : "");
    fprintf(w->heading, m->one_host ? ", all on one host, each taken as a node.\n" : ".\n");
    fprintf(w->heading, "# Medians, and where 95 %% of such medians lie by the scatter of the rows.\n");
    for (int i = 0; i < FC_NUMBERS; i++) {
        if (i == FC_NUMBER_G)
            comment(w, "one pair of ranks", rate_of(w->fit->number[i]), FC_BYTES_PER_S);
        else if (i == FC_NUMBER_MEMORY)
            comment(w, "node.memory_bandwidth", rate_of(w->fit->number[i]), FC_BYTES_PER_S);
        else
            comment(w, keys[i].key ? keys[i].key : "latency of the near pair", w->fit->number[i], keys[i].kind);
    }
    if (m->eager_is_bound)
        fprintf(w->heading, "# %-24s all sizes up to %.0f B were eager\n", "software.eager", m->eager_bytes);
    else
        fprintf(w->heading, "# %-24s %.0f B, exactly\n", "software.eager", m->eager_bytes);
    if (!isnan(w->fit->across))
        fprintf(w->heading, "# %-24s %.2f of what a pair has alone\n", "all across the middle", w->fit->across);
}

static void software(struct writer *w)
{
    char text[64];
    for (int i = 0; i < FC_NUMBERS; i++)
        if (keys[i].key && !isnan(w->fit->number[i].value) && (keys[i].always || w->fit->number[i].value > 0))
            set_number(w, keys[i].key, w->fit->number[i].value, keys[i].unit);
    snprintf(text, sizeof text, "%.0f B", w->m->eager_bytes);
    set(w, "software.eager", text);
    if (!isnan(w->fit->number[FC_NUMBER_MEMORY].value))
        set_number(w, "node.memory_bandwidth", 1 / w->fit->number[FC_NUMBER_MEMORY].value, "B/s");
}

/* What one rank can have, where its node can have more. */
static void ports(struct writer *w, bool needed)
{
    const double message = 1 << 20; /* ports move what the links do: headers, too */
    double wire = w->net ? fc_wire_bytes(w->net->machine, message) / message : 1;
    double one = wire / w->fit->number[FC_NUMBER_G].value, all = wire / w->fit->node_s_per_byte;
    bool several = all > 1.1 * one;
    char text[32];
    if (!several && !needed) return;
    set_number(w, "node.port_bandwidth", one, "B/s");
    snprintf(text, sizeof text, "%.0f", several ? ceil(all / one - 0.1) : 1);
    set(w, "node.ports", text);
}

static void link_classes(struct writer *w)
{
    const struct fc_machine *machine = w->net->machine;
    struct fc_interval one = rate_of(w->fit->number[FC_NUMBER_G]);
    char key[64];
    for (int c = 0; c < machine->n_classes; c++) {
        const struct fc_measured_class *l = &w->links->class[c];
        const char *name = machine->classes[c].name;
        double given = machine->classes[c].bandwidth_bytes_per_s;
        snprintf(key, sizeof key, "links.%s.bandwidth", name);
        if (isnan(l->bytes_per_s)) {
            if (machine->classes[c].given) fprintf(w->heading, "# %-24s not crossed: the file's\n", key);
            continue;
        }
        bool keep = !l->binds && given >= l->bytes_per_s;
        if (l->binds)
            comment(w, key, like(one, l->bytes_per_s), FC_BYTES_PER_S);
        else {
            char x[32];
            fprintf(w->heading, "# %-24s at least %s%s\n", key, fc_format(x, sizeof x, l->bytes_per_s, FC_BYTES_PER_S),
                    keep ? ": the file's is more, and kept" : "");
        }
        if (!keep) set_number(w, key, l->bytes_per_s, "B/s");
        if (isnan(l->latency_s)) continue;
        snprintf(key, sizeof key, "links.%s.latency", name);
        set_number(w, key, l->latency_s, "s");
    }
    set_number(w, "router.delay", w->links->delay_s, "s");
    fprintf(w->heading, "# Latencies of links and routers: of all pairs the worst is off by %.1f %%.\n",
            w->links->off_percent);
    ports(w, !w->links->class[w->links->node_class].binds || machine->port_bytes_per_s < INFINITY);
}

static char *host_list(struct writer *w)
{
    struct fc_memory_stream out;
    char *copy = NULL;
    if (fc_memory_open(&out, w->st)) return NULL;
    for (uint32_t i = 0; i < w->m->n_nodes; i++) fprintf(out.stream, "%s%s", i ? "," : "", w->m->host[i]);
    if (fc_memory_close(&out, w->st)) return NULL;
    copy = (char *)fc_copy_text(&w->arena, out.text, w->st);
    free(out.text);
    return copy;
}

static uint32_t most_ranks(const struct fc_measurement *m)
{
    uint32_t most = 1;
    for (uint32_t i = 0; i < m->n_nodes; i++) {
        uint32_t n = 0;
        for (uint32_t r = 0; r < m->n_ranks; r++) n += m->node[r] == i;
        if (n > most) most = n;
    }
    return most;
}

/* "section.key=value" as lines of YAML, sections together. */
static void sections(const struct writer *w, FILE *stream)
{
    static const char *const section[] = {"node", "software"};
    for (size_t s = 0; s < FC_COUNT(section); s++) {
        size_t length = strlen(section[s]);
        bool any = false;
        for (size_t i = 0; i < w->n; i++) {
            const char *at = w->setting[i];
            if (strncmp(at, section[s], length) || at[length] != '.') continue;
            if (!any) fprintf(stream, "%s:\n", section[s]);
            any = true;
            size_t key = strcspn(at + length + 1, "=");
            fprintf(stream, "  %.*s: %s\n", (int)key, at + length + 1, at + length + 2 + key);
        }
    }
}

static void write_switch(struct writer *w, const char *heading, const char *path)
{
    const struct fc_measurement *m = w->m;
    struct fc_output out;
    char cores[16], *hosts = m->one_host ? NULL : host_list(w);
    if (w->st->code || fc_output_open(&out, path, w->st)) return;
    snprintf(cores, sizeof cores, "%u", most_ranks(m));
    set(w, "node.cores", cores);
    ports(w, false);
    fprintf(out.stream, "%s", heading);
    fprintf(out.stream,
            "name: measured\ntitle: %u nodes on one switch, as fabricast measured them\n"
            "confidence: end points, rate and latency are measured; the network between the nodes is not known\n"
            "network: {family: fat-tree, children: [%u], parents: [1]}\n"
            "router: {delay: 0 s}\nlinks: {leaf: {bandwidth: %.4g B/s, latency: %.4g s}}\n",
            m->n_nodes, m->n_nodes, 1 / w->fit->node_s_per_byte, w->fit->number[FC_NUMBER_LATENCY].value / 2);
    if (hosts) fprintf(out.stream, "hosts: \"%s\"\n", hosts);
    sections(w, out.stream);
    if (!fc_output_close(&out, w->st)) return;
    fc_output_abandon(&out);
}

enum fc_code fc_measurement_write(const struct fc_measurement *m, const struct fc_measurement_fit *fit,
                                  const struct fc_measured_links *links, const struct fc_network *net,
                                  const struct fc_question *q, const char *path, struct fc_status *st)
{
    struct writer w = {.m = m, .fit = fit, .links = links, .net = net, .st = st};
    struct fc_memory_stream heading;
    w.setting = fc_alloc(&w.arena, q->n_settings + MOST_SETTINGS, sizeof *w.setting, st);
    if (!w.setting) return st->code;
    for (; w.n < q->n_settings; w.n++) w.setting[w.n] = q->settings[w.n];
    w.most = w.n + MOST_SETTINGS;
    if (fc_memory_open(&heading, st)) {
        fc_arena_free(&w.arena);
        return st->code;
    }
    w.heading = heading.stream;
    head(&w);
    software(&w);
    if (net) {
        link_classes(&w);
        if (!m->one_host && !net->host_name && m->n_nodes == net->n_nodes) set(&w, "hosts", host_list(&w));
    }
    if (!fc_memory_close(&heading, st)) {
        if (net)
            fc_machine_save(q->machine, w.setting, w.n, heading.text, path, st);
        else
            write_switch(&w, heading.text, path);
        free(heading.text);
    }
    fc_arena_free(&w.arena);
    return st->code;
}
