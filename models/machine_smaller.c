/* machine_smaller.c - a machine of the same routers and links in another, mostly smaller, shape: what can be run in
 * seconds where the machine itself cannot; and shapes in words, by which such machines are told apart.
 *
 * Number of dimensions and nodes a router, links, routers and packets stay; which shapes there are is the family's
 * (`relative` of its record). A relative that equals the machine is skipped by the caller, which compares shapes. */
#include "models/family_parts.h"

#include <string.h>

/* ---- the shape in words ---- */

void fc_words_list(char *out, size_t size, const char *name, const struct fc_ints *list)
{
    size_t n = strlen(out);
    snprintf(out + n, size - n, "%s%s [", n ? ", " : "", name);
    for (int i = 0; i < list->n; i++) {
        n = strlen(out);
        snprintf(out + n, size - n, "%s%lld", i ? ", " : "", list->v[i]);
    }
    n = strlen(out);
    snprintf(out + n, size - n, "]");
}

void fc_words_number(char *out, size_t size, const char *name, long long value)
{
    size_t n = strlen(out);
    snprintf(out + n, size - n, "%s%s %lld", n ? ", " : "", name, value);
}

void fc_words_text(char *out, size_t size, const char *name, const char *value)
{
    size_t n = strlen(out);
    snprintf(out + n, size - n, "%s%s %s", n ? ", " : "", name, value);
}

/* By the family's keys: lists, numbers and choices that are not at their default. */
static void words_of_keys(const struct fc_machine *machine, char *out, size_t size)
{
    const struct fc_family_ops *family = machine->family;
    for (size_t i = 0; i < family->n_keys; i++) {
        const struct fc_key *key = &family->keys[i];
        const char *at = (const char *)machine->shape + key->offset, *preset = key->preset;
        char value[32];
        if (key->kind == FC_KEY_INTS && ((const struct fc_ints *)at)->n > 0) {
            fc_words_list(out, size, key->name, (const struct fc_ints *)at);
        } else if (key->kind == FC_KEY_INT) {
            snprintf(value, sizeof value, "%lld", *(const long long *)at);
            if (!preset || strcmp(value, preset)) fc_words_text(out, size, key->name, value);
        } else if (key->kind == FC_KEY_CHOICE) {
            const char *chosen = key->choices[*(const int *)at];
            if (!preset || strcmp(chosen, preset)) fc_words_text(out, size, key->name, chosen);
        }
    }
}

char *fc_machine_shape(const struct fc_machine *machine, char *out, size_t size)
{
    out[0] = '\0';
    (machine->family->words ? machine->family->words : words_of_keys)(machine, out, size);
    if (machine->nodes_per_router > 1) fc_words_number(out, size, "nodes_per_router", machine->nodes_per_router);
    return out;
}

/* ---- relatives ---- */

void fc_cap_sides(struct fc_ints *dims, long long side, bool first_doubled)
{
    bool doubled = false;
    for (int d = 0; d < dims->n; d++) {
        if (dims->v[d] <= 2) continue;
        dims->v[d] = first_doubled && !doubled ? 2 * side : side;
        doubled = true;
    }
}

/* The link classes of the new shape take the figures of those of the same name; one that the machine lacks, such as
 * another level of a tree, those of its last but injection. */
static enum fc_code take_classes(const struct fc_machine *from, struct fc_machine *to, struct fc_status *st)
{
    to->n_classes++; /* injection: declared by no family */
    for (int c = 0; c < to->n_classes; c++) {
        const char *name = c + 1 < to->n_classes ? to->classes[c].name : "injection";
        int same = 0;
        while (same < from->n_classes && strcmp(from->classes[same].name, name)) same++;
        if (same == from->n_classes) same -= 2;
        if (same < 0)
            return fc_refuse(st, FC_FAULT, "a smaller %s has a link class '%s' that the machine lacks",
                             from->family->name, name);
        char own[sizeof to->classes[c].name];
        memcpy(own, name, strlen(name) + 1);
        to->classes[c] = from->classes[same];
        memcpy(to->classes[c].name, own, sizeof own);
    }
    return FC_OK;
}

enum fc_code fc_machine_smaller(const struct fc_machine *machine, int number, struct fc_machine *smaller, bool *exists,
                                struct fc_status *st)
{
    const struct fc_family_ops *family = machine->family;
    *smaller = *machine;
    smaller->arena = (struct fc_arena){0};
    smaller->hosts = smaller->hosts_file = smaller->slow_hosts = NULL; /* they are as many as the machine's nodes */
    *exists = false;
    if (!family->relative) return FC_OK;
    smaller->shape = fc_alloc(&smaller->arena, 1, family->shape_size, st);
    if (!smaller->shape) return st->code;
    memcpy(smaller->shape, machine->shape, family->shape_size);
    *exists = family->relative(smaller->shape, number);
    struct fc_place where = {machine->file, machine->network_line};
    if (*exists && !family->check(smaller, where, st)) take_classes(machine, smaller, st);
    if (st->code || !*exists) fc_machine_free(smaller);
    return st->code;
}
