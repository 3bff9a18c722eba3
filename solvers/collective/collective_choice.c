/* collective_choice.c - which algorithm a call takes: a set of rules, and operations that are fixed. */
#include "solvers/collective/collective.h"

#include <string.h>

const struct fc_collective_algorithm *fc_collective_select(const struct fc_collective_choice *choice,
                                                           const struct fc_collective_call *call)
{
    if ((unsigned)call->op >= FC_N_OPS || !fc_collective_named(call->op, NULL)) return NULL;
    if (choice && choice->fixed[call->op]) return choice->fixed[call->op];
    const struct fc_collective_rules *rules = choice ? choice->fixed_rules[call->op] : NULL;
    if (!rules && choice) rules = choice->rules;
    return fc_collective_named(call->op, (rules ? rules : fc_collective_rules)->pick(call));
}

/* ---- reading ---- */

static bool is_word(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && !memcmp(text, word, length);
}

static void append(char *list, size_t size, const char *word)
{
    size_t at = strlen(list);
    snprintf(list + at, size - at, "%s%s", at ? ", " : "", word);
}

static enum fc_code unknown_operation(const char *text, int length, struct fc_status *st)
{
    char known[256] = "";
    for (int op = 0; op < FC_N_OPS; op++)
        if (fc_collective_named((enum fc_op)op, NULL)) append(known, sizeof known, fc_op_names[op]);
    return fc_refuse(st, FC_INPUT, "collectives: unknown operation '%.*s' (known: %s)", length, text, known);
}

static enum fc_code unknown_algorithm(enum fc_op op, const char *text, int length, struct fc_status *st)
{
    char known[400] = "";
    for (const struct fc_collective_algorithm *a = fc_collective_algorithms; a->name; a++)
        if (a->op == op) append(known, sizeof known, a->name);
    return fc_refuse(st, FC_INPUT, "collectives: unknown algorithm '%.*s' of %s (known: %s)", length, text,
                     fc_op_names[op], known);
}

static enum fc_code fix(enum fc_op op, const char *name, size_t length, struct fc_collective_choice *choice,
                        struct fc_status *st)
{
    if (choice->fixed[op] || choice->fixed_rules[op])
        return fc_refuse(st, FC_INPUT, "collectives: %s is given twice", fc_op_names[op]);
    choice->fixed[op] = fc_collective_known_as(op, name, length, &choice->fixed_rules[op]);
    if (choice->fixed[op] || choice->fixed_rules[op]) return FC_OK;
    return unknown_algorithm(op, name, length < 40 ? (int)length : 40, st);
}

static enum fc_code unknown_rules(const char *text, int length, struct fc_status *st)
{
    char known[256] = "";
    for (const struct fc_collective_rules *r = fc_collective_rules; r->name; r++) append(known, sizeof known, r->name);
    return fc_refuse(st, FC_INPUT, "collectives: unknown set '%.*s' (known: %s, hardware, or OP=ALGORITHM)", length,
                     text, known);
}

static enum fc_code read_item(const char *text, size_t length, struct fc_collective_choice *choice,
                              struct fc_status *st)
{
    const char *equal = memchr(text, '=', length);
    int shown = length < 40 ? (int)length : 40;
    if (!equal && is_word(text, length, "hardware"))
        return fix(FC_OP_BARRIER, "hardware", 8, choice, st) || fix(FC_OP_BCAST, "hardware", 8, choice, st) ? st->code
                                                                                                            : FC_OK;
    if (!equal) {
        for (const struct fc_collective_rules *r = fc_collective_rules; r->name; r++)
            if (is_word(text, length, r->name)) return choice->rules = r, FC_OK;
        return unknown_rules(text, shown, st);
    }
    size_t n = (size_t)(equal - text), rest = length - n - 1;
    int op = 0;
    while (op < FC_N_OPS && !(is_word(text, n, fc_op_names[op]) && fc_collective_named((enum fc_op)op, NULL))) op++;
    if (op == FC_N_OPS) return unknown_operation(text, n < 40 ? (int)n : 40, st);
    return fix((enum fc_op)op, equal + 1, rest, choice, st);
}

enum fc_code fc_collective_choice_read(const char *text, struct fc_collective_choice *choice, struct fc_status *st)
{
    memset(choice, 0, sizeof *choice);
    for (bool more = true; more;) {
        size_t length = strcspn(text, ",");
        if (read_item(text, length, choice, st)) return st->code;
        more = text[length] == ',';
        text += length + more;
    }
    return FC_OK;
}

void fc_collective_choice_text(const struct fc_collective_choice *choice, char *text, size_t size)
{
    size_t at = 0;
    int n = snprintf(text, size, "%s", (choice->rules ? choice->rules : fc_collective_rules)->name);
    for (int op = 0; op < FC_N_OPS; op++) {
        const char *name = choice->fixed[op]         ? choice->fixed[op]->name
                           : choice->fixed_rules[op] ? choice->fixed_rules[op]->name
                                                     : NULL;
        at += (size_t)(n > 0 ? n : 0);
        if (at >= size) return;
        n = name ? snprintf(text + at, size - at, ",%s=%s", fc_op_names[op], name) : 0;
    }
}
