/* edited.c - a shipped machine file with some of its lines replaced, as papers vary one parameter of a
 * machine. */
#include "reproduce/figure.h"

#include <stdlib.h>
#include <string.h>

#define MOST_EDITS 12

struct edit {
    const char *text; /* "key: value", may go on in further lines */
    size_t key;       /* its length with the colon */
    bool used;
};

static void put_line(const char *line, size_t length, struct edit *edit, int n, FILE *to)
{
    size_t indent = strspn(line, " ");
    for (int i = 0; i < n; i++) {
        if (indent + edit[i].key > length || strncmp(line + indent, edit[i].text, edit[i].key)) continue;
        edit[i].used = true;
        fprintf(to, "%.*s%s\n", (int)indent, line, edit[i].text);
        return;
    }
    fprintf(to, "%.*s\n", (int)length, line);
}

/* Cuts `text` at its semicolons, in place. */
static int cut(char *text, struct edit *edit)
{
    char *save = NULL;
    int n = 0;
    for (char *e = strtok_r(text, ";", &save); e && n < MOST_EDITS; e = strtok_r(NULL, ";", &save)) {
        e += strspn(e, " ");
        if (*e) edit[n++] = (struct edit){e, strcspn(e, ":") + 1, false};
    }
    return n;
}

static enum fc_code load_edited(const char *name, const char *edits, struct fc_machine *machine, struct fc_status *st)
{
    char directory[1024], path[1200], text[1024];
    struct edit edit[MOST_EDITS];
    struct fc_arena arena = {0};
    struct fc_text source;
    struct fc_memory_stream to;
    snprintf(text, sizeof text, "%s", edits);
    int n = cut(text, edit);
    snprintf(path, sizeof path, "%s/%s.yaml", fc_machines_directory(directory, sizeof directory), name);
    if (fc_memory_open(&to, st)) return st->code;
    if (!fc_read_file(path, &arena, &source, st)) {
        struct fc_lines lines;
        fc_lines_start(&lines, &source);
        while (fc_lines_next(&lines)) put_line(lines.text, lines.length, edit, n, to.stream);
    }
    fc_memory_close(&to, st);
    for (int i = 0; i < n && !st->code; i++)
        if (!edit[i].used) fc_refuse(st, FC_FAULT, "%s has no line '%.*s'", path, (int)edit[i].key, edit[i].text);
    if (!st->code) {
        struct fc_text whole = {path, to.text, to.size};
        fc_machine_read(&whole, machine, st);
    }
    fc_arena_free(&arena);
    free(to.text);
    return st->code;
}

/* networks point at their machine: it must not move */
enum fc_code fc_bench_open(struct fc_bench *b, const char *name, const char *edits, struct fc_status *st)
{
    memset(b, 0, sizeof *b);
    bool plain = !edits || !*edits;
    if (plain ? fc_machine_load(name, &b->machine, st) : load_edited(name, edits, &b->machine, st)) return st->code;
    if (fc_network_build(&b->machine, &b->net, st)) fc_machine_free(&b->machine);
    return st->code;
}

void fc_bench_close(struct fc_bench *b)
{
    fc_network_free(&b->net);
    fc_machine_free(&b->machine);
}
