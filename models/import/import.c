/* import.c - from a site's topology files to a machine file.
 *
 * The file is read as a graph by the readers of family `graph`. Where the graph is exactly of another family, the machine
 * file says so: routing, virtual channels, closed forms and pictures are then the family's. With the switches' own forwarding
 * tables it stays a graph, which follows them. */
#include "models/import/import.h"
#include "models/family_graph.h"
#include "models/machine_files.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What a name in double quotes cannot hold as it is. */
#define NOT_IN_YAML "\"\\\177\1\2\3\4\5\6\7\10\11\12\13\14\15\16\17\20\21\22\23\24\25\26\27\30\31\32\33\34\35\36\37"

static const struct {
    const char *kind, *format;
} kinds[] = {{"slurm", "slurm-topology"},        {"ibnetdiscover", "ibnetdiscover"}, {"edges", "edge-list"},
             {"opensm-routes", "ibnetdiscover"}, {"cray-xname", "cray-xname"},       {"kubernetes", "kubernetes"}};
#define KINDS "slurm, ibnetdiscover, edges, opensm-routes, cray-xname, kubernetes"
enum { FEW = 20 }; /* slow cables are few: one of so many */
static const double PLACEHOLDER_BYTES_PER_S = 12.5e9;

struct import {
    const char *kind, *format, *file;
    const char *const *tables; /* [n_tables] files of forwarding tables */
    size_t n_tables;
    char absolute[4200], name[64], hosts[1200], cables[1200], shown[1200];
    struct fc_arena scratch;
    struct fc_machine machine; /* the graph */
    struct fc_network net;
    const char *unrated[FC_MAX_CLASSES]; /* [n_unrated] classes for which the file names no bandwidth */
    int n_unrated;
    struct fc_recognised shape; /* what it is, also where the machine stays a graph */
};

/* In double quotes of YAML. */
static void quoted(const char *text, FILE *f)
{
    fputc('"', f);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') fputc('\\', f);
        fputc(*text, f);
    }
    fputc('"', f);
}

/* Path of a file of tables, seen from the fabric's file: absolute, but where both were named without a folder. */
static enum fc_code write_path(const struct import *i, const char *file, bool as_given, FILE *f, struct fc_status *st)
{
    char *real = as_given && !strchr(file, '/') && !strchr(i->file, '/') ? NULL : realpath(file, NULL);
    quoted(real ? real : file, f);
    bool good = !strpbrk(real ? real : file, NOT_IN_YAML) && !strchr(real ? real : file, ',');
    free(real);
    return good ? FC_OK
                : fc_fail(st, FC_INPUT, (struct fc_place){file, 0},
                          "a path of this kind cannot stand in a machine file");
}

static enum fc_code write_tables(const struct import *i, bool as_given, FILE *f, struct fc_status *st)
{
    for (size_t t = 0; t < i->n_tables; t++) {
        fputs(t ? ", " : "  routes: [", f);
        if (write_path(i, i->tables[t], as_given, f, st)) return st->code;
    }
    if (i->n_tables) fputs("]\n", f);
    return FC_OK;
}

/* The graph as a machine, in which the classes without a rate have one. */
static enum fc_code describe_graph(const struct import *i, FILE *f, struct fc_status *st)
{
    const char *slash = strrchr(i->file, '/');
    fprintf(f, "name: import\nnetwork:\n  family: graph\n  format: %s\n  file: ", i->format);
    quoted(slash ? slash + 1 : i->file, f); /* beside itself: messages name it so */
    fputc('\n', f);
    if (write_tables(i, true, f, st)) return st->code;
    if (i->n_unrated) fputs("links:\n", f);
    for (int c = 0; c < i->n_unrated; c++) {
        fputs("  ", f);
        quoted(i->unrated[c], f);
        fputs(": {bandwidth: 1 B/s}\n", f);
    }
    return FC_OK;
}

/* The class that the message says is missing, kept; false: it says something else. */
static bool keep_missing(struct import *i, const struct fc_status *why, struct fc_status *st)
{
    static const char begin[] = "links: class '";
    const char *name = strstr(why->message, begin), *end = strstr(why->message, "' is missing");
    if (name != why->message || !end || i->n_unrated == FC_MAX_CLASSES) return false;
    char *copy = fc_copy_text(&i->scratch, name + strlen(begin), st);
    if (!copy) return false;
    copy[end - name - strlen(begin)] = 0;
    i->unrated[i->n_unrated++] = copy;
    return true;
}

static enum fc_code open_graph(struct import *i, struct fc_status *st)
{
    for (;;) {
        struct fc_status why = {0};
        char *text = NULL;
        size_t size;
        FILE *f = open_memstream(&text, &size);
        if (!f) return fc_refuse(st, FC_NO, "out of memory");
        describe_graph(i, f, st);
        fclose(f);
        if (!st->code) fc_machine_read(&(struct fc_text){i->file, text, size}, &i->machine, &why);
        free(text);
        if (st->code) return st->code;
        if (!why.code) break;
        if (keep_missing(i, &why, st)) continue;
        if (!st->code) *st = why;
        return st->code;
    }
    if (fc_network_build(&i->machine, &i->net, st)) fc_machine_free(&i->machine);
    return st->code;
}

static enum fc_code recognise(struct import *i, struct fc_status *st)
{
    if (fc_recognise_fat_tree(&i->net, &i->shape, st) || i->shape.family) return st->code;
    if (fc_recognise_torus(&i->net, &i->shape, st) || i->shape.family) return st->code;
    return fc_recognise_dragonfly(&i->net, &i->shape, st);
}

/* ---- the files ---- */

/* A rate for a class that has none: that of the fastest is the placeholder, Slurm's speeds are in proportion. */
static double speed_of(const char *name)
{
    return strncmp(name, "speed ", 6) ? 0 : strtod(name + 6, NULL);
}
static double rate_of(const struct import *i, const struct fc_link_class *class, bool *placeholder)
{
    double fastest = 0;
    *placeholder = false;
    for (int c = 0; c < i->n_unrated; c++) {
        fastest = fmax(fastest, speed_of(i->unrated[c]));
        *placeholder = *placeholder || !strcmp(i->unrated[c], class->name);
    }
    if (!*placeholder) return class->bandwidth_bytes_per_s;
    double speed = speed_of(class->name);
    return speed > 0 ? PLACEHOLDER_BYTES_PER_S * speed / fastest : PLACEHOLDER_BYTES_PER_S;
}

/* `times` parallel cables are one link. */
static void write_class(const struct import *i, const char *name, int of, uint32_t times, FILE *f)
{
    const struct fc_link_class *class = &i->machine.classes[of];
    char latency[32];
    bool placeholder;
    double rate = rate_of(i, class, &placeholder) * (times ? times : 1);
    fputs("  ", f);
    quoted(name, f);
    snprintf(latency, sizeof latency, "%.10g ns", class->latency_s * 1e9);
    fprintf(f, ": {bandwidth: %.10g GB/s, latency: %s}%s\n", rate / 1e9, class->latency_s > 0 ? latency : "50 ns",
            placeholder            ? "   # placeholders: the file tells neither"
            : class->latency_s > 0 ? ""
                                   : "   # latency: a placeholder");
}

/* Tables are a graph's. */
static bool stays_graph(const struct import *i)
{
    return !i->shape.family || i->n_tables;
}

static enum fc_code write_machine(const struct import *i, FILE *f, struct fc_status *st)
{
    const struct fc_recognised *s = &i->shape;
    bool graph = stays_graph(i);
    const char *slash = strrchr(i->hosts, '/');
    bool named = !graph && i->net.host_name;
    fprintf(f, "name: %s\ntitle: ", i->name);
    quoted(s->family ? s->words : "a fabric", f);
    fprintf(f, "\nsource: ");
    quoted(i->shown, f);
    fprintf(
        f,
        "\nconfidence: switches, cables and hosts from the fabric's own file; delays, buffers, packets and software costs "
        "are placeholders\n");
    if (named) {
        fprintf(f, "hosts_file: ");
        quoted(slash ? slash + 1 : i->hosts, f);
        fputc('\n', f);
    }
    fprintf(f, "network:\n  family: %s\n", graph ? fc_family_graph.name : s->family);
    if (!graph) {
        fprintf(f, "  %s", s->keys);
        if (s->cables) fprintf(f, "  %s: %s.cables\n", s->cables_key, i->name);
    } else {
        fprintf(f, "  format: %s\n  file: ", i->format);
        quoted(i->absolute, f);
        fputc('\n', f);
        if (write_tables(i, false, f, st)) return st->code;
    }
    fprintf(f, "links:\n");
    for (int c = 0; !graph && c < s->n_classes; c++)
        if (s->class_of[c] >= 0) write_class(i, s->classes[c], s->class_of[c], s->times[c], f);
    for (int c = 0; graph && c + 1 < i->machine.n_classes; c++) write_class(i, i->machine.classes[c].name, c, 1, f);
    fprintf(f,
            "router: {delay: 130 ns, %s}   # queues: output where packets wait for their own, as in most IP switches\n"
            "packet: {max: 4 KiB, header: 64 B}\nnode: {cores: 1}   # all placeholders\n",
            graph       ? "vcs: 4"
            : s->router ? s->router
                        : "vcs: 2");
    return FC_OK;
}

static enum fc_code write_all(const struct import *i, const char *path, struct fc_status *st)
{
    struct fc_output hosts = {0}, cables = {0}, machine = {0};
    bool named = !stays_graph(i) && i->net.host_name, listed = !stays_graph(i) && i->shape.cables;
    bool written[2] = {false, false};
    if ((named && fc_output_open(&hosts, i->hosts, st)) || (listed && fc_output_open(&cables, i->cables, st)) ||
        fc_output_open(&machine, path, st))
        goto done;
    for (uint32_t n = 0; named && n < i->net.n_nodes; n++)
        fprintf(hosts.stream, "%s\n", i->net.host_name[i->shape.node[n]]);
    if (listed) fprintf(cables.stream, "# links between groups: GROUP.MEMBER GROUP.MEMBER\n%s", i->shape.cables);
    if (write_machine(i, machine.stream, st)) goto done;
    if (named && fc_output_close(&hosts, st)) goto done;
    written[0] = named;
    if (listed && fc_output_close(&cables, st)) goto done;
    written[1] = listed;
    fc_output_close(&machine, st);
done:
    if (st->code && written[0]) unlink(i->hosts);
    if (st->code && written[1]) unlink(i->cables);
    fc_output_abandon(&hosts);
    fc_output_abandon(&cables);
    fc_output_abandon(&machine);
    return st->code;
}

/* A few cables between switches that are slower than all others: one of them, and how many there are. */
static void describe_slow(const struct import *i, FILE *f)
{
    const struct fc_machine *m = &i->machine;
    const struct fc_graph_shape *s = m->shape;
    uint32_t n[FC_MAX_CLASSES] = {0}, first[FC_MAX_CLASSES] = {0};
    int usual = 0;
    for (uint32_t k = 0; k < s->n_cables; k++)
        if (!s->cables[k].to_node && n[s->cables[k].link_class]++ == 0) first[s->cables[k].link_class] = k;
    for (int c = 1; c + 1 < m->n_classes; c++)
        if (n[c] > n[usual]) usual = c;
    for (int c = 0; c + 1 < m->n_classes; c++) {
        bool slower = m->classes[c].bandwidth_bytes_per_s < m->classes[usual].bandwidth_bytes_per_s;
        if (n[c] == 0 || !slower || FEW * n[c] > n[usual]) continue;
        const struct fc_cable *one = &s->cables[first[c]];
        fprintf(f, "%s is the rate of %u of the cables between switches, %s that of %u: fallen back? %s - %s%s\n",
                m->classes[c].name, n[c], m->classes[usual].name, n[usual], s->router_name[one->router],
                s->router_name[one->other], n[c] > 1 ? ", ..." : "");
    }
}

static void describe(const struct import *i, char *words, size_t size)
{
    FILE *f = fmemopen(words, size, "w");
    if (!f) return;
    bool given = false, placeholder;
    double rate = 0;
    for (int c = 0; c + 1 < i->machine.n_classes; c++) {
        rate_of(i, &i->machine.classes[c], &placeholder);
        given = given || !placeholder;
        if (placeholder) rate = fmax(rate, 1);
    }
    fprintf(f, "%s: %s%s\n", i->file,
            i->shape.family ? i->shape.words : "no torus, fat-tree or dragonfly of equal parts: kept as a graph",
            i->shape.family && i->n_tables ? ": kept as a graph, which follows the tables" : "");
    if (rate > 0)
        fprintf(f, "the file tells no rates%s: 12.5 GB/s is a placeholder\n",
                given                         ? " of some cables"
                : speed_of(i->unrated[0]) > 0 ? ", but how they compare"
                                              : "");
    if (!i->shape.family) describe_slow(i, f);
    fprintf(f, "delays, packets, cores and software costs are placeholders: look through the file\n");
    fclose(f);
    words[size - 1] = 0; /* where it did not fit */
}

/* Whether a file has arrows: a list of tiles, not of names. */
static bool has_arrows(const char *file)
{
    FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
    struct fc_text text;
    struct fc_status none = {0};
    bool arrows = !fc_read_file(file, &scratch, &text, &none) && memmem(text.data, text.size, "->", 2);
    return arrows;
}

/* A machine of names alone. */
static enum fc_code import_names(const struct import *i, const char *path, char *words, size_t size,
                                 struct fc_status *st)
{
    struct fc_output hosts = {0}, machine = {0};
    const char *slash = strrchr(i->hosts, '/');
    char head[1400];
    snprintf(head, sizeof head, "name: %s\nsource: \"%s\"\n", i->name, i->shown);
    bool written = false;
    if (fc_output_open(&hosts, i->hosts, st) || fc_output_open(&machine, path, st) ||
        fc_import_xnames(i->file, slash ? slash + 1 : i->hosts, head, machine.stream, hosts.stream, words, size, st) ||
        fc_output_close(&hosts, st))
        goto done;
    written = true;
    fc_output_close(&machine, st);
done:
    if (st->code && written) unlink(i->hosts);
    fc_output_abandon(&hosts);
    fc_output_abandon(&machine);
    return st->code;
}

/* The fabric among the files, and the tables. */
static enum fc_code sort_files(struct import *i, const char *const *files, size_t n, struct fc_status *st)
{
    const char **table = fc_alloc(&i->scratch, n, sizeof *table, st);
    if (!table) return st->code;
    for (size_t k = 0; k < n; k++) {
        FC_SCOPED(fc_arena_free) struct fc_arena scratch = {0};
        struct fc_text text;
        bool is_table = false;
        if (n > 1 && !fc_read_file(files[k], &scratch, &text, st)) is_table = fc_are_routes(&text);
        if (st->code) return st->code;
        if (is_table)
            table[i->n_tables++] = files[k];
        else if (i->file)
            return fc_fail(st, FC_INPUT, (struct fc_place){files[k], 0},
                           "holds no forwarding tables, and %.200s is the fabric already", i->file);
        else
            i->file = files[k];
    }
    i->tables = table;
    bool wanted = !strcmp(i->kind, "opensm-routes");
    if (!i->file)
        return fc_refuse(st, FC_INPUT, "--import %s: no file of the fabric (expected what ibnetdiscover prints)",
                         i->kind);
    if (wanted && !i->n_tables)
        return fc_refuse(st, FC_INPUT,
                         "--import %s: no forwarding tables (expected files of dump_lfts, ibroute or opensm.fdbs)",
                         i->kind);
    return FC_OK;
}

static enum fc_code name_files(struct import *i, struct fc_status *st)
{
    const char *slash = strrchr(i->file, '/');
    char *real = realpath(i->file, NULL);
    if (!real)
        return fc_fail(st, FC_INPUT, (struct fc_place){i->file, 0}, "cannot be opened (expected a file of kind %s)",
                       i->kind);
    size_t length = strlen(real);
    if (length < sizeof i->absolute) memcpy(i->absolute, real, length + 1);
    free(real);
    if (length >= sizeof i->absolute || strpbrk(i->absolute, NOT_IN_YAML) || strpbrk(i->file, NOT_IN_YAML))
        return fc_fail(st, FC_INPUT, (struct fc_place){i->file, 0},
                       "a path of this kind cannot stand in a machine file");
    snprintf(i->shown, sizeof i->shown, "%s (%s)", slash ? slash + 1 : i->file, i->kind);
    return FC_OK;
}

enum fc_code fc_machine_import(const char *kind, const char *const *files, size_t n, const char *path, char *words,
                               size_t size, struct fc_status *st)
{
    struct import i = {.kind = kind};
    for (size_t k = 0; k < FC_COUNT(kinds); k++)
        if (!strcmp(kinds[k].kind, kind)) i.format = kinds[k].format;
    if (!i.format)
        return fc_refuse(st, FC_INPUT, "--import: '%.60s' is no kind of topology file (known: " KINDS ")", kind);
    if (!sort_files(&i, files, n, st) && !name_files(&i, st) &&
        !fc_machine_new_file(path, "hosts", i.name, sizeof i.name, i.hosts, sizeof i.hosts, st) &&
        !fc_machine_new_file(path, "cables", i.name, sizeof i.name, i.cables, sizeof i.cables, st)) {
        if (!strcmp(kind, "cray-xname") && !i.n_tables && !has_arrows(i.file)) {
            import_names(&i, path, words, size, st);
        } else if (!open_graph(&i, st)) {
            if (!recognise(&i, st) && !write_all(&i, path, st)) describe(&i, words, size);
            fc_arena_free(&i.shape.arena);
            fc_network_free(&i.net);
            fc_machine_free(&i.machine);
        }
    }
    fc_arena_free(&i.scratch);
    return st->code;
}
