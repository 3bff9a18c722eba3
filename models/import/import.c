/* import.c - from a site's topology file to a machine file.
 *
 * The file is read as a graph by the readers of family `graph`. Where the graph is exactly a torus or a fat-tree, the machine
 * file says so: routing, virtual channels, closed forms and pictures are then the family's. */
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
} kinds[] = {{"slurm", "slurm-topology"}, {"ibnetdiscover", "ibnetdiscover"}, {"edges", "edge-list"}};

struct import {
    const char *format, *file;
    char absolute[4200], name[64], hosts[1200], shown[1200];
    struct fc_machine machine; /* the graph */
    struct fc_network net;
    bool rates_unknown; /* the file names no bandwidth for class `link` */
    struct fc_recognised shape;
};

/* The graph as a machine; class `link`, whose rate no file tells, gets one where it is there. */
static enum fc_code open_graph(struct import *i, struct fc_status *st)
{
    static const char *const links[] = {"", "links: {link: {bandwidth: 1 B/s}}\n"};
    char text[5000];
    const char *slash = strrchr(i->file, '/');
    for (int attempt = 0; attempt < 2; attempt++) {
        struct fc_status why = {0};
        int n =
            snprintf(text, sizeof text, "name: import\nnetwork: {family: graph, format: %s, file: \"%s\"}\n%s",
                     i->format, slash ? slash + 1 : i->file, links[attempt]); /* beside itself: messages name it so */
        if (!fc_machine_read(&(struct fc_text){i->file, text, (size_t)n}, &i->machine, &why)) {
            i->rates_unknown = attempt == 1;
            if (!fc_network_build(&i->machine, &i->net, st)) return FC_OK;
            fc_machine_free(&i->machine);
            return st->code;
        }
        if (attempt == 0 && strstr(why.message, "class 'link' is missing")) continue;
        *st = why;
        return st->code;
    }
    return st->code;
}

static enum fc_code recognise(struct import *i, struct fc_status *st)
{
    if (fc_recognise_fat_tree(&i->net, &i->shape, st) || i->shape.family) return st->code;
    return fc_recognise_torus(&i->net, &i->shape, st);
}

/* ---- the files ---- */

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

static void write_class(const struct import *i, const char *name, int of, FILE *f)
{
    const struct fc_link_class *class = &i->machine.classes[of];
    char bandwidth[32], latency[32];
    bool placeholder = i->rates_unknown && !strcmp(class->name, "link");
    fputs("  ", f);
    quoted(name, f);
    fprintf(f, ": {bandwidth: %s, latency: %s}%s\n",
            placeholder ? "12.5 GB/s"
                        : fc_format(bandwidth, sizeof bandwidth, class->bandwidth_bytes_per_s, FC_BYTES_PER_S),
            class->latency_s > 0 ? fc_format(latency, sizeof latency, class->latency_s, FC_SECONDS) : "50 ns",
            placeholder            ? "   # placeholders: the file tells neither"
            : class->latency_s > 0 ? ""
                                   : "   # latency: a placeholder");
}

static void write_machine(const struct import *i, FILE *f)
{
    const struct fc_recognised *s = &i->shape;
    const char *slash = strrchr(i->hosts, '/');
    bool named = s->family && i->net.host_name;
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
    fprintf(f, "network:\n  family: %s\n", s->family ? s->family : fc_family_graph.name);
    if (s->family) {
        fprintf(f, "  %s", s->keys);
    } else {
        fprintf(f, "  format: %s\n  file: ", i->format);
        quoted(i->absolute, f);
        fputc('\n', f);
    }
    fprintf(f, "links:\n");
    for (int c = 0; c < s->n_classes; c++)
        if (s->class_of[c] >= 0) write_class(i, s->classes[c], s->class_of[c], f);
    for (int c = 0; !s->family && c + 1 < i->machine.n_classes; c++) write_class(i, i->machine.classes[c].name, c, f);
    fprintf(
        f,
        "router: {delay: 130 ns, vcs: %d}\npacket: {max: 4 KiB, header: 64 B}\nnode: {cores: 1}   # all placeholders\n",
        s->family ? 2 : 4);
}

static enum fc_code write_all(const struct import *i, const char *path, struct fc_status *st)
{
    struct fc_output hosts = {0}, machine = {0};
    bool named = i->shape.family && i->net.host_name;
    if ((named && fc_output_open(&hosts, i->hosts, st)) || fc_output_open(&machine, path, st)) goto done;
    for (uint32_t n = 0; named && n < i->net.n_nodes; n++)
        fprintf(hosts.stream, "%s\n", i->net.host_name[i->shape.node[n]]);
    write_machine(i, machine.stream);
    if (named && fc_output_close(&hosts, st)) goto done;
    if (fc_output_close(&machine, st) && named) unlink(i->hosts);
done:
    fc_output_abandon(&hosts);
    fc_output_abandon(&machine);
    return st->code;
}

static void describe(const struct import *i, char *words, size_t size)
{
    int n = i->shape.family ? snprintf(words, size, "%s: %s\n", i->file, i->shape.words)
                            : snprintf(words, size,
                                       "%s: neither a torus nor a fat-tree of equal parts: kept as a graph\n", i->file);
    if (i->rates_unknown && n > 0 && (size_t)n < size)
        n += snprintf(words + n, size - (size_t)n, "the file tells no rates: 12.5 GB/s is a placeholder\n");
    if (n > 0 && (size_t)n < size)
        snprintf(words + n, size - (size_t)n,
                 "delays, packets, cores and software costs are placeholders: look through the file\n");
}

enum fc_code fc_machine_import(const char *kind, const char *file, const char *path, char *words, size_t size,
                               struct fc_status *st)
{
    struct import i = {.file = file};
    for (size_t k = 0; k < FC_COUNT(kinds); k++)
        if (!strcmp(kinds[k].kind, kind)) i.format = kinds[k].format;
    if (!i.format)
        return fc_refuse(st, FC_INPUT,
                         "--import: '%.60s' is no kind of topology file (known: slurm, ibnetdiscover, edges)", kind);
    char *real = realpath(file, NULL);
    if (!real)
        return fc_fail(st, FC_INPUT, (struct fc_place){file, 0}, "cannot be opened (expected a file of kind %s)", kind);
    size_t length = strlen(real);
    if (length < sizeof i.absolute) memcpy(i.absolute, real, length + 1);
    free(real);
    if (length >= sizeof i.absolute || strpbrk(i.absolute, NOT_IN_YAML) || strpbrk(file, NOT_IN_YAML))
        return fc_fail(st, FC_INPUT, (struct fc_place){file, 0}, "a path of this kind cannot stand in a machine file");
    const char *slash = strrchr(file, '/');
    snprintf(i.shown, sizeof i.shown, "%s (%s)", slash ? slash + 1 : file, kind);
    if (fc_machine_new_file(path, "hosts", i.name, sizeof i.name, i.hosts, sizeof i.hosts, st) || open_graph(&i, st))
        return st->code;
    if (!recognise(&i, st) && !write_all(&i, path, st)) describe(&i, words, size);
    fc_arena_free(&i.shape.arena);
    fc_network_free(&i.net);
    fc_machine_free(&i.machine);
    return st->code;
}
