/* generate.c - from "hyperx:dims=10x10" to a machine file. */
#include "models/generate/generate.h"
#include "models/machine_files.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* X(record): declared and listed. */
#define GENERATORS(X)                                                                                                  \
    X(hyperx)                                                                                                          \
    X(slimfly)                                                                                                         \
    X(dragonfly)                                                                                                       \
    X(dragonfly_plus)                                                                                                  \
    X(megafly)                                                                                                         \
    X(jellyfish)                                                                                                       \
    X(fat_tree)
#define DECLARE(name) extern const struct fc_generator_ops fc_generator_##name;
#define LIST(name) &fc_generator_##name,
GENERATORS(DECLARE)
const struct fc_generator_ops *const fc_generators[] = {GENERATORS(LIST) NULL};

enum fc_code fc_generated_graph(struct fc_generated *g, uint64_t n_routers, uint64_t nodes_per_router,
                                uint64_t capacity, struct fc_status *st)
{
    enum { MOST = 1 << 26 };
    if (n_routers > MOST || nodes_per_router * n_routers > MOST || capacity > MOST)
        return fc_refuse(st, FC_INPUT, "%llu routers with %llu links and %llu nodes each are too many (at most %d)",
                         (unsigned long long)n_routers, (unsigned long long)(2 * capacity / n_routers),
                         (unsigned long long)nodes_per_router, MOST);
    g->n_routers = (uint32_t)n_routers;
    g->nodes_per_router = (uint32_t)nodes_per_router;
    g->capacity = (uint32_t)capacity;
    g->cable = fc_alloc(&g->arena, capacity ? capacity : 1, sizeof *g->cable, st);
    return st->code;
}

void fc_generated_cable(struct fc_generated *g, uint32_t a, uint32_t b)
{
    if (g->n_cables == g->capacity) {
        g->too_many = true;
        return;
    }
    g->cable[g->n_cables][0] = a;
    g->cable[g->n_cables++][1] = b;
}

static enum fc_code unknown(const char *name, size_t length, struct fc_status *st)
{
    char known[300] = "";
    for (const struct fc_generator_ops *const *g = fc_generators; *g; g++) {
        size_t n = strlen(known);
        snprintf(known + n, sizeof known - n, "%s%s", n ? ", " : "", (*g)->name);
    }
    return fc_refuse(st, FC_INPUT, "--generate: no network is called '%.*s' (known: %s)",
                     (int)(length < 60 ? length : 60), name, known);
}

static enum fc_code make(const struct fc_generator_ops *o, const char *arguments, struct fc_generated *g,
                         struct fc_status *st)
{
    struct fc_status why = {0};
    void *settings = fc_alloc(&g->arena, 1, o->settings_size, &why);
    if (settings && !fc_keys_preset(o->keys, o->n_keys, settings, &g->arena, &why) &&
        !fc_keys_parse(o->keys, o->n_keys, settings, arguments, 0, &g->arena, (struct fc_place){0}, &why)) {
        memcpy(&g->rates, settings, sizeof g->rates);
        if (!o->make(settings, g, &why) && g->too_many)
            fc_refuse(&why, FC_FAULT, "more cables than the rule announced");
    }
    return why.code ? fc_refuse(st, why.code, "--generate %s: %s", o->name, why.message) : FC_OK;
}

/* ---- the files ---- */

static void write_edges(const struct fc_generated *g, const char *text, FILE *f)
{
    fprintf(f, "# %s\n# made by `fabricast machines --generate %s`\n", g->title, text);
    for (uint32_t i = 0; i < g->n_cables; i++) fprintf(f, "router %u router %u\n", g->cable[i][0], g->cable[i][1]);
    for (uint32_t n = 0; n < g->n_routers * g->nodes_per_router; n++)
        fprintf(f, "router %u node %u\n", n / g->nodes_per_router, n);
}

static void write_machine(const struct fc_generated *g, const struct fc_generator_ops *o, const char *text,
                          const char *edges, FILE *f)
{
    char bandwidth[32], latency[32], delay[32];
    fc_format(bandwidth, sizeof bandwidth, g->rates.bandwidth_bytes_per_s, FC_BYTES_PER_S);
    fc_format(latency, sizeof latency, g->rates.latency_s, FC_SECONDS);
    fc_format(delay, sizeof delay, g->rates.delay_s, FC_SECONDS);
    fprintf(f, "# made by `fabricast machines --generate %s`\n", text);
    fprintf(f, "name: %s\ntitle: \"%s\"\nsource: \"%s (the network)\"\n", g->name, g->title, o->source);
    fprintf(f, "confidence: the network is its paper's; rates, delays, packets and software costs are placeholders\n");
    fprintf(f, "network:\n  %s", g->n_routers ? "family: graph\n  format: edge-list\n" : g->network);
    if (g->n_routers) fprintf(f, "  file: %s\n", edges);
    fprintf(f, "links:\n");
    for (int c = 0; !g->n_routers && c < (int)FC_COUNT(g->classes) && g->classes[c]; c++)
        fprintf(f, "  %s: {bandwidth: %s, latency: %s}\n", g->classes[c], bandwidth, latency);
    if (g->n_routers) fprintf(f, "  link: {bandwidth: %s, latency: %s}\n", bandwidth, latency);
    fprintf(f, "  injection: {bandwidth: %s, latency: %s}\n", bandwidth, latency);
    fprintf(f, "router: {delay: %s, vcs: %d", delay, g->vcs);
    if (g->n_routers) fprintf(f, ", escape: hops");
    if (g->routing) fprintf(f, ", routing: %s", g->routing);
    fprintf(f, "}\npacket: {max: 256 B, header: 16 B}\nnode: {cores: %lld}\n", g->rates.cores);
}

/* What a family refuses (sizes, cables that do not fit) is refused before anything is written. */
static enum fc_code check(const struct fc_memory_stream *text, const char *path, struct fc_status *st)
{
    FC_SCOPED(fc_machine_free) struct fc_machine machine = {0};
    struct fc_status why = {0};
    if (!fc_machine_read(&(struct fc_text){path, text->text, text->size}, &machine, &why)) return FC_OK;
    return fc_refuse(st, why.code, "--generate: %s", why.message);
}

/* Both files or none. */
static enum fc_code write_all(const struct fc_generated *g, const struct fc_generator_ops *o, const char *text,
                              const char *path, const char *edges, struct fc_status *st)
{
    struct fc_output list = {0}, machine = {0};
    struct fc_memory_stream file = {0};
    const char *slash = strrchr(edges, '/');
    bool graph = g->n_routers > 0;
    if (fc_memory_open(&file, st)) return st->code;
    write_machine(g, o, text, slash ? slash + 1 : edges, file.stream);
    if (fc_memory_close(&file, st) || (!graph && check(&file, path, st)) ||
        (graph && fc_output_open(&list, edges, st)) || fc_output_open(&machine, path, st))
        goto done;
    if (graph) write_edges(g, text, list.stream);
    fputs(file.text, machine.stream);
    if (graph && fc_output_close(&list, st)) goto done;
    if (fc_output_close(&machine, st) && graph) unlink(edges);
done:
    free(file.text);
    fc_output_abandon(&list);
    fc_output_abandon(&machine);
    return st->code;
}

enum fc_code fc_machine_generate(const char *text, const char *path, struct fc_status *st)
{
    size_t length = strcspn(text, ":");
    char edges[1200];
    const struct fc_generator_ops *const *o = fc_generators;
    for (const char *c = text; *c; c++) /* it stands in a comment of the file */
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            return fc_refuse(st, FC_INPUT,
                             "--generate: a character that cannot be printed (expected NETWORK:KEY=VALUE,...)");
    while (*o && (strlen((*o)->name) != length || strncmp((*o)->name, text, length))) o++;
    if (!*o) return unknown(text, length, st);
    struct fc_generated g = {0};
    if (!fc_machine_new_file(path, "edges", g.name, sizeof g.name, edges, sizeof edges, st) &&
        !make(*o, text[length] ? text + length + 1 : "", &g, st))
        write_all(&g, *o, text, path, edges, st);
    fc_arena_free(&g.arena);
    return st->code;
}
