/* manual.c - the man pages and bash's completion, from the table of options and the commands' records. */
#include "cli/manual.h"
#include "cli/version.h"
#include "mapping/launcher.h"

#include <string.h>

/* ---- man pages: groff's man macros ---- */

/* Text as it is: no request at the start of a line, no escape; - is one that can be typed. */
static void put(FILE *out, const char *text)
{
    if (*text == '.' || *text == '\'') fputs("\\&", out);
    for (; *text; text++) {
        if (*text == '\\')
            fputs("\\e", out);
        else if (*text == '-')
            fputs("\\-", out);
        else
            fputc(*text, out);
    }
}

static void put_head(FILE *out, const char *name, const char *summary)
{
    fprintf(out, ".TH %s 1 \"\" \"fabricast %s\" \"User Commands\"\n.nh\n.SH NAME\n", name, FC_VERSION);
    put(out, name);
    fputs(" \\- ", out);
    put(out, summary);
}

static void put_tail(FILE *out)
{
    fputs("\n.SH EXIT STATUS\n.TP\n0\nanswered\n.TP\n1\nanswered \"no\", or could not be done: no memory, a full disk\n"
          ".TP\n2\nwrong usage or wrong input\n.TP\n3\na fault of the program\n",
          out);
}

static void put_option(FILE *out, const struct fc_option *o)
{
    fputs(".TP\n", out);
    if (o->letter) fprintf(out, "\\fB\\-%c\\fR, ", o->letter);
    fputs("\\fB\\-\\-", out);
    put(out, o->name);
    fputs("\\fR", out);
    if (o->value) {
        fputs("=\\fI", out);
        put(out, o->value);
        fputs("\\fR", out);
    }
    fputc('\n', out);
    put(out, o->help);
    fputc('\n', out);
}

/* An argument line each: "info FILE\nconvert FILE -o FILE". */
static void put_synopsis(FILE *out, const struct fc_command *c)
{
    const char *at = c->arguments ? c->arguments : "";
    do {
        size_t n = strcspn(at, "\n");
        char line[512];
        snprintf(line, sizeof line, "%.*s", (int)n, at);
        fprintf(out, "%s.B fabricast %s\n[\\fIOPTION\\fR...] ", at == c->arguments || !c->arguments ? "" : ".br\n",
                c->name);
        put(out, line);
        fputc('\n', out);
        at += n + (at[n] == '\n');
    } while (*at);
}

static void put_command(FILE *out, const struct fc_command *c)
{
    char name[64];
    snprintf(name, sizeof name, "fabricast-%s", c->name);
    put_head(out, name, c->summary);
    fputs("\n.SH SYNOPSIS\n", out);
    put_synopsis(out, c);
    fputs(
        ".SH OPTIONS\nOf an option that is given twice the last one counts. An option that would have no part in the answer is "
        "refused.\n",
        out);
    for (int s = 0; fc_option_sections[s].title; s++) {
        if (!(fc_option_sections[s].groups & c->options)) continue;
        fprintf(out, ".SS %s\n", fc_option_sections[s].title);
        for (size_t i = 0; i < fc_n_options; i++)
            if (fc_option_sections[s].groups >> fc_options[i].group & 1 && fc_takes(c, &fc_options[i]))
                put_option(out, &fc_options[i]);
    }
    fputs(".SS Help\n.TP\n\\fB\\-?\\fR, \\fB\\-\\-help\\fR\nthese options, and an example\n.TP\n\\fB\\-\\-usage\\fR\n"
          "the options in short\n",
          out);
    if (c->example) {
        fputs(".SH EXAMPLE\n.nf\n", out);
        put(out, c->example);
        fputs("\n.fi", out);
    }
    put_tail(out);
    fputs(".SH SEE ALSO\n.BR fabricast (1)\n", out);
}

static void put_overview(FILE *out, const struct fc_command *unused)
{
    (void)unused;
    put_head(out, "fabricast", "predicts how a parallel job will communicate on a machine before it gets it");
    fputs("\n.SH SYNOPSIS\n.B fabricast\n\\fICOMMAND\\fR [\\fIOPTION\\fR...]\n.SH COMMANDS\n", out);
    for (size_t i = 0; fc_commands[i]; i++) {
        fprintf(out, ".TP\n.BR fabricast\\-%s (1)\n", fc_commands[i]->name);
        put(out, fc_commands[i]->summary);
        fputc('\n', out);
    }
    fputs(
        ".SH ENVIRONMENT\n.TP\nFABRICAST_DATA\nthe folder that holds the shipped machines in \\fImachines\\fR\n.TP\nFABRICAST_PMPI\n"
        "the recorder that \\fBtrace capture\\fR uses\n.SH EXAMPLE\n.nf\n",
        out);
    put(out, fc_command_predict.example);
    fputs("\n.fi", out);
    put_tail(out);
}

/* ---- bash's completion ---- */

static bool is_words(const char *value)
{
    return strchr(value, '|') && value[strspn(value, "abcdefghijklmnopqrstuvwxyz0123456789-|")] == 0;
}

/* Names of a list, blanks between them. */
#define PUT_NAMES(out, list)                                                                                           \
    do                                                                                                                 \
        for (size_t i_ = 0; (list)[i_]; i_++) fprintf(out, "%s%s", i_ ? " " : "", (list)[i_]->name);                   \
    while (0)

static void put_machines(FILE *out)
{
    FC_SCOPED(fc_arena_free) struct fc_arena arena = {0};
    struct fc_status none = {0};
    const char **names;
    size_t n;
    if (!fc_machine_names(&arena, &names, &n, &none))
        for (size_t i = 0; i < n; i++) fprintf(out, "%s%s", i ? " " : "", names[i]);
}

/* What the value of an option may be, as arguments of compgen. */
static void put_values(FILE *out, const struct fc_option *o)
{
    bool map = !strcmp(o->name, "map") || !strcmp(o->name, "strategy") || !strcmp(o->name, "versus");
    if (is_words(o->value)) {
        fputs("-W '", out);
        for (const char *c = o->value; *c; c++) fputc(*c == '|' ? ' ' : *c, out);
        fputc('\'', out);
    } else if (!strcmp(o->name, "machine")) {
        fputs("-f -W '", out);
        put_machines(out);
        fputc('\'', out);
    } else if (map || !strcmp(o->name, "pattern") || !strcmp(o->name, "routing") || !strcmp(o->name, "vc-rule")) {
        fputs(map ? "-f -W '" : "-W '", out);
        if (map)
            PUT_NAMES(out, fc_strategies);
        else if (*o->name == 'p')
            PUT_NAMES(out, fc_patterns);
        else if (*o->name == 'r')
            PUT_NAMES(out, fc_routings);
        else
            PUT_NAMES(out, fc_vc_rules);
        fputc('\'', out);
    } else if (o->group == FC_LAUNCH) {
        fputs("-W 'cores ", out);
        PUT_NAMES(out, fc_launcher_formats);
        fputc('\'', out);
    } else {
        fputs(strstr(o->value, "FILE") || strchr(o->value, '@') ? "-f" : strstr(o->value, "DIR") ? "-d" : "-W ''", out);
    }
}

static void put_completion(FILE *out, const struct fc_command *unused)
{
    (void)unused;
    fputs("# bash completion of fabricast; made from its table of options\n_fabricast()\n{\n"
          "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} options= values=-f\n"
          "    [ \"$cur\" = = ] && cur= && COMP_CWORD=$((COMP_CWORD + 1))\n"
          "    [ \"${COMP_WORDS[COMP_CWORD-1]}\" = = ] && prev=${COMP_WORDS[COMP_CWORD-2]}\n"
          "    if [ \"$COMP_CWORD\" -le 1 ]; then\n        COMPREPLY=($(compgen -W '",
          out);
    PUT_NAMES(out, fc_commands);
    fputs(" --help --version' -- \"$cur\"))\n        return\n    fi\n    case ${COMP_WORDS[1]} in\n", out);
    for (size_t c = 0; fc_commands[c]; c++) {
        fprintf(out, "    %s)\n        options='--help --usage", fc_commands[c]->name);
        for (size_t i = 0; i < fc_n_options; i++) {
            const struct fc_option *o = &fc_options[i];
            if (!fc_takes(fc_commands[c], o)) continue;
            fprintf(out, " --%s", o->name);
            if (o->letter) fprintf(out, " -%c", o->letter);
        }
        fputs("'\n        case $prev in\n", out);
        for (size_t i = 0; i < fc_n_options; i++) {
            const struct fc_option *o = &fc_options[i];
            if (!fc_takes(fc_commands[c], o) || !o->value) continue;
            fprintf(out, "        --%s", o->name);
            if (o->letter) fprintf(out, "|-%c", o->letter);
            fputs(") options= values=\"", out);
            put_values(out, o);
            fputs("\";;\n", out);
        }
        fputs("        esac;;\n", out);
    }
    fputs("    esac\n    case $options:$cur in\n    --help*:-*) COMPREPLY=($(compgen -W \"$options\" -- \"$cur\"));;\n"
          "    *) COMPREPLY=($(eval compgen \"$values\" -- '\"$cur\"'));;\n    esac\n}\n"
          "complete -o filenames -F _fabricast fabricast\n",
          out);
}

/* ---- files ---- */

static enum fc_code write_one(const char *directory, const char *name,
                              void (*put_all)(FILE *, const struct fc_command *), const struct fc_command *command,
                              struct fc_status *st)
{
    struct fc_output out;
    char path[sizeof out.path];
    if (snprintf(path, sizeof path, "%s/%s", directory, name) >= (int)sizeof path)
        return fc_refuse(st, FC_INPUT, "%s: the path is too long", directory);
    if (fc_output_open(&out, path, st)) return st->code;
    put_all(out.stream, command);
    return fc_output_close(&out, st);
}

enum fc_code fc_write_manual(const char *directory, struct fc_status *st)
{
    write_one(directory, "fabricast.1", put_overview, NULL, st);
    write_one(directory, "fabricast", put_completion, NULL, st);
    for (size_t i = 0; fc_commands[i] && !st->code; i++) {
        char name[64];
        snprintf(name, sizeof name, "fabricast-%s.1", fc_commands[i]->name);
        write_one(directory, name, put_command, fc_commands[i], st);
    }
    return st->code;
}
