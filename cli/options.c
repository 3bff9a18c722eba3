/* options.c - a command line by the table of options (option_table.c); argp parses and prints help, core/keys.c checks
 * values. */
#include "cli/option_rules.h"
#include "cli/options.h"
#include "cli/text.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_OPTIONS = 128, NO_LETTER = 1000 };

/* For argp: the letter, or a number of its own. */
static int key_of(const struct fc_option *o)
{
    return o->letter ? o->letter : NO_LETTER + (int)(o - fc_options);
}

/* The option of a command by argp's key; NULL: none. */
static const struct fc_option *find(const struct fc_command *command, int key)
{
    for (size_t i = 0; i < fc_n_options; i++)
        if (key_of(&fc_options[i]) == key && fc_takes(command, &fc_options[i])) return &fc_options[i];
    return NULL;
}

/* The options of a command under their headings, ended by zeros. */
static void list_options(const struct fc_command *command, struct argp_option options[MOST_OPTIONS])
{
    size_t n = 0;
    for (int s = 0; fc_option_sections[s].title; s++) {
        uint64_t groups = fc_option_sections[s].groups;
        if (!(groups & command->options)) continue;
        options[n++] = (struct argp_option){.doc = fc_option_sections[s].title, .group = s + 1};
        for (size_t i = 0; i < fc_n_options && n + 1 < MOST_OPTIONS; i++) {
            const struct fc_option *o = &fc_options[i];
            if (groups >> o->group & 1 && fc_takes(command, o))
                options[n++] = (struct argp_option){o->name, key_of(o), o->value, 0, o->help, s + 1};
        }
    }
    options[n] = (struct argp_option){0};
}

struct parse {
    const struct fc_command *command;
    struct fc_arguments *arguments;
};

/* Each option that is there once, by its long name. */
static void note_given(struct fc_arguments *a, const char *name)
{
    size_t k = 0;
    while (k < a->n_given && strcmp(a->given[k], name)) k++;
    if (k == a->n_given) a->given[a->n_given++] = name;
}

/* A number by the rules of machine files' keys. */
static enum fc_code read_number(const struct fc_option *o, void *field, const char *value, struct fc_status *st)
{
    static const enum fc_kind kinds[] = {
        [FC_OPTION_INT] = FC_KEY_INT, [FC_OPTION_QUANTITY] = FC_KEY_QUANTITY, [FC_OPTION_SHARE] = FC_KEY_SHARE};
    const struct fc_key key = {o->name, kinds[o->kind], o->unit, 0, o->low, o->high, NULL, NULL, NULL};
    struct fc_arena none = {0};
    long long whole;
    if (o->kind != FC_OPTION_INT) return fc_key_set(&key, field, value, 0, &none, (struct fc_place){0}, st);
    if (fc_key_set(&key, &whole, value, 0, &none, (struct fc_place){0}, st)) return st->code;
    if (o->size == sizeof(int))
        *(int *)field = (int)whole;
    else
        *(uint64_t *)field = (uint64_t)whole;
    return FC_OK;
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct parse *p = state->input;
    struct fc_arguments *a = p->arguments;
    struct fc_status st = {0};
    if (key == ARGP_KEY_ARG) {
        if (!p->command->arguments) argp_error(state, "unexpected argument '%s'", value);
        a->words[a->n_words++] = value;
        return 0;
    }
    const struct fc_option *o = find(p->command, key);
    if (!o) return ARGP_ERR_UNKNOWN;
    void *field = (char *)a + o->offset;
    note_given(a, o->name);
    if (o->kind == FC_OPTION_FLAG)
        *(bool *)field = true;
    else if (o->kind == FC_OPTION_TEXT)
        *(const char **)field = value;
    else if (read_number(o, field, value, &st))
        argp_error(state, "--%s", st.message);
    if (o->also) o->also(a, value);
    return 0;
}

static _Noreturn void no_memory(void)
{
    fprintf(stderr, "fabricast: out of memory: reading the command line\n");
    exit(FC_NO);
}

void fc_parse_arguments(const struct fc_command *command, int argc, char **argv, struct fc_arguments *arguments)
{
    static struct argp_option options[MOST_OPTIONS];
    static char name[64], doc[2048];
    memset(arguments, 0, sizeof *arguments);
    arguments->command = command->name;
    arguments->ask.seed = 1;
    arguments->ask.search_s = 2;
    arguments->ask.threads = 1;
    arguments->iterations = 10;
    list_options(command, options);
    snprintf(name, sizeof name, "fabricast %s", command->name);
    snprintf(doc, sizeof doc,
             "%s\vOf an option that is given twice the last one counts. An option that would have no part in "
             "the answer is refused.%s%s",
             command->summary, command->example ? "\n\nExample:\n  " : "", command->example ? command->example : "");
    argv[0] = name;
    arguments->argc = argc;
    arguments->argv = argv;
    for (int i = 1; i < argc; i++) /* what follows -- is a command line of its own */
        if (!strcmp(argv[i], "--")) {
            arguments->program = argv + i + 1;
            argc = i;
            break;
        }
    arguments->words = calloc((size_t)argc + 1, sizeof *arguments->words);
    arguments->node_lists = calloc((size_t)argc + 1, sizeof *arguments->node_lists);
    arguments->others = calloc((size_t)argc + 1, sizeof *arguments->others);
    arguments->ask.settings = calloc((size_t)argc + 1, sizeof *arguments->ask.settings);
    arguments->given = calloc(fc_n_options, sizeof *arguments->given);
    if (!arguments->words || !arguments->node_lists || !arguments->others || !arguments->ask.settings ||
        !arguments->given)
        no_memory();
    struct argp argp = {options, parse_option, command->arguments, doc, NULL, NULL, NULL};
    struct parse parse = {command, arguments};
    argp_err_exit_status = FC_INPUT;
    FILE *errors = stderr, *shown = fc_text_errors(); /* argp quotes what was typed */
    if (shown) stderr = shown;
    error_t failed = argp_parse(&argp, argc, argv, 0, NULL, &parse);
    stderr = errors;
    if (shown) fclose(shown);
    if (failed) no_memory();
}

void fc_free_arguments(struct fc_arguments *arguments)
{
    free(arguments->words);
    free(arguments->node_lists);
    free(arguments->others);
    free(arguments->ask.settings);
    free(arguments->given);
}

/* ---- in a sweep ---- */

struct swept {
    const struct fc_command *command;
    const struct fc_option *refused; /* the first one; NULL: none */
    const char *verb;                /* the first word that is no option */
    int next;                        /* the word that is looked at next */
};

static error_t look_at(int key, char *value, struct argp_state *state)
{
    struct swept *s = state->input;
    if (key == ARGP_KEY_ARG) {
        s->next = state->next;
        if (!s->verb) s->verb = value;
        return 0;
    }
    const struct fc_option *o = find(s->command, key);
    if (!o) return ARGP_ERR_UNKNOWN;
    s->next = state->next;
    if (!s->refused && o->part != FC_ANSWERS) s->refused = o;
    return 0;
}

enum fc_code fc_check_swept(const struct fc_command *command, int n_words, const char *const *words,
                            struct fc_status *st)
{
    struct argp_option options[MOST_OPTIONS];
    struct argp argp = {.options = options, .parser = look_at, .args_doc = command->arguments};
    struct swept s = {.command = command, .next = 1};
    char *copy[n_words + 1]; /* argp wants them writable */
    for (int i = 0; i <= n_words; i++) copy[i] = i < n_words ? (char *)words[i] : NULL;
    list_options(command, options);
    if (argp_parse(&argp, n_words, copy, ARGP_IN_ORDER | ARGP_NO_ERRS | ARGP_NO_HELP | ARGP_NO_EXIT, NULL, &s))
        return fc_refuse(st, FC_INPUT, "'%s': %s has no such option, or it lacks its value",
                         words[s.next < n_words ? s.next : n_words - 1], command->name);
    if (s.refused && s.refused->part == FC_WRITES)
        return fc_refuse(st, FC_INPUT,
                         "--%s writes files, and points would write over each other's (a sweep's points only "
                         "answer; its own -o takes the table of them)",
                         s.refused->name);
    if (s.refused) return fc_refuse(st, FC_INPUT, "--%s is set by the sweep itself", s.refused->name);
    if (*command->swept && (!s.verb || strcmp(s.verb, command->swept)))
        return fc_refuse(st, FC_INPUT, "`%s%s%s` does not only answer (in a sweep: `%s %s`)", command->name,
                         s.verb ? " " : "", s.verb ? s.verb : "", command->name, command->swept);
    for (int i = 1; i < n_words; i++)
        if (!strcmp(words[i], "--"))
            return fc_refuse(st, FC_INPUT, "'--': another program's command line, and a sweep runs none");
    return FC_OK;
}
