/* place_rules.c - which layouts are allowed, whether any is, and if not a least set of rules to blame.
 *
 * Lines: the pair of a dimension on one line along the axis that routes take first (with row-first routes a
 * row), lines distinct. Then what goes straight on in a dimension keeps to its own line, no turn comes back
 * onto it, and mesh channels for injection and ejection of their own suffice against deadlock (sufficient,
 * not necessary; the command asks the certificate). Source: the TMesh paper, sec. 3.1.2, in the form that a
 * mesh of less axes than the torus has dimensions can meet.
 *
 * Whether a set of rules can be met is a matching: interfaces to nodes, or, with lines, dimensions to lines
 * (a line serves a dimension when its two interfaces find two nodes there). A least set of rules that
 * contradict each other comes from leaving out one after the other whatever is not needed for the
 * contradiction (deletion filter; Chinneck, Feasibility and Infeasibility in Optimization, 2008). */
#include "mapping/place/place.h"

#include <stdlib.h>
#include <string.h>

void fc_layout_rules_none(struct fc_layout_rules *rules)
{
    memset(rules, 0, sizeof *rules);
    memset(rules->pinned, 0xff, sizeof rules->pinned);
}

uint32_t fc_layout_lines(const struct fc_place_model *m)
{
    return m->n_mesh / m->chip.side[m->chip.order[0]];
}

uint32_t fc_layout_line(const struct fc_place_model *m, uint32_t node)
{
    uint32_t stride = 1, side = m->chip.side[m->chip.order[0]];
    for (int a = m->chip.n_axes - 1; a > m->chip.order[0]; a--) stride *= m->chip.side[a];
    return node / (stride * side) * stride + node % stride;
}

bool fc_layout_allowed(const struct fc_place_model *m, const struct fc_layout_rules *rules,
                       const struct fc_bridge_layout *layout)
{
    for (int i = 0; i < m->n; i++) {
        uint32_t u = layout->node[i];
        if (u >= m->n_mesh || (rules->taken && rules->taken[u])) return false;
        if (rules->pinned[i] != FC_NONE && rules->pinned[i] != u) return false;
        for (int j = 0; j < i; j++) {
            uint32_t v = layout->node[j];
            if (u == v) return false;
            if (rules->lines && (fc_layout_line(m, u) == fc_layout_line(m, v)) != (i / 2 == j / 2)) return false;
        }
    }
    return true;
}

/* ---- can they be met ---- */

/* Augments the matching from left vertex i: edge[i * n_right + r]; owner[r]: left vertex or -1. */
static bool augment(const uint8_t *edge, int n_right, int i, int *owner, uint8_t *seen)
{
    for (int r = 0; r < n_right; r++) {
        if (!edge[(size_t)i * (size_t)n_right + (size_t)r] || seen[r]) continue;
        seen[r] = 1;
        if (owner[r] < 0 || augment(edge, n_right, owner[r], owner, seen)) {
            owner[r] = i;
            return true;
        }
    }
    return false;
}

static bool matches(const uint8_t *edge, int n_left, int n_right)
{
    int owner[256];
    uint8_t seen[256];
    memset(owner, 0xff, sizeof owner);
    for (int i = 0; i < n_left; i++) {
        memset(seen, 0, sizeof seen);
        if (!augment(edge, n_right, i, owner, seen)) return false;
    }
    return true;
}

static bool may_host(const struct fc_layout_rules *rules, int i, uint32_t u)
{
    return (rules->pinned[i] == FC_NONE || rules->pinned[i] == u) && !(rules->taken && rules->taken[u]);
}

/* Whether a line has two nodes for the interfaces of a dimension. */
static bool line_serves(const struct fc_place_model *m, const struct fc_layout_rules *rules, int d, uint32_t line)
{
    uint32_t either = 0, count[2] = {0, 0};
    for (uint32_t u = 0; u < m->n_mesh; u++) {
        if (fc_layout_line(m, u) != line) continue;
        bool host[2] = {may_host(rules, 2 * d, u), may_host(rules, 2 * d + 1, u)};
        count[0] += host[0];
        count[1] += host[1];
        either += host[0] || host[1];
    }
    return count[0] && count[1] && either > 1;
}

static bool can_be_met(const struct fc_place_model *m, const struct fc_layout_rules *rules)
{
    uint8_t edge[FC_LAYOUT_MOST * 256];
    uint32_t n_right = rules->lines ? fc_layout_lines(m) : m->n_mesh;
    int n_left = rules->lines ? m->chip.n_dims : m->n;
    for (int i = 0; i < n_left; i++)
        for (uint32_t r = 0; r < n_right; r++)
            edge[(size_t)i * n_right + r] = rules->lines ? line_serves(m, rules, i, r) : may_host(rules, i, r);
    return matches(edge, n_left, (int)n_right);
}

/* ---- a least contradiction ---- */

static void say(char *out, size_t size, const char *format, ...) FC_PRINTF(3, 4);
static void say(char *out, size_t size, const char *format, ...)
{
    size_t n = strlen(out);
    va_list list;
    va_start(list, format);
    vsnprintf(out + n, size - n, format, list);
    va_end(list);
}

/* "pins x-=0, y+=3; keep-free 0, 1; lines (...)"; returns how many. */
static int list_rules(const struct fc_layout_rules *rules, const uint8_t *taken, const struct fc_place_model *m,
                      char *out, size_t size)
{
    char name[8];
    int pins = 0, nodes = 0;
    *out = '\0';
    for (int i = 0; i < m->n; i++)
        if (rules->pinned[i] != FC_NONE)
            say(out, size, "%s%s=%u", pins++ ? ", " : "pins ", fc_interface_name(i, name, sizeof name),
                rules->pinned[i]);
    for (uint32_t u = 0; u < m->n_mesh; u++)
        if (taken[u]) say(out, size, "%s%u", nodes++ ? ", " : pins ? "; keep-free " : "keep-free ", u);
    if (rules->lines)
        say(out, size, "%slines (for each of %d dimensions one of %u %s of %u node%s)", *out ? "; " : "",
            m->chip.n_dims, fc_layout_lines(m),
            m->chip.n_axes != 2     ? "lines"
            : m->chip.order[0] == 1 ? "rows"
                                    : "columns",
            m->chip.side[m->chip.order[0]], m->chip.side[m->chip.order[0]] == 1 ? "" : "s");
    return pins + nodes + rules->lines;
}

static void filter_pins(const struct fc_place_model *m, struct fc_layout_rules *left)
{
    for (int i = 0; i < m->n; i++) {
        uint32_t node = left->pinned[i];
        left->pinned[i] = FC_NONE;
        if (can_be_met(m, left)) left->pinned[i] = node;
    }
}

static void filter_taken(const struct fc_place_model *m, struct fc_layout_rules *left, uint8_t *taken)
{
    for (uint32_t u = m->n_mesh; u-- > 0;) {
        if (!taken[u]) continue;
        taken[u] = 0;
        taken[u] = can_be_met(m, left);
    }
}

enum fc_code fc_layout_rules_check(const struct fc_place_model *m, const struct fc_layout_rules *rules,
                                   struct fc_status *st)
{
    char text[2][1200];
    int n[2];
    if (can_be_met(m, rules)) return FC_OK;
    for (int pins_first = 0; pins_first < 2; pins_first++) { /* either may leave the shorter list */
        struct fc_layout_rules left = *rules;
        uint8_t taken[256] = {0};
        if (rules->taken) memcpy(taken, rules->taken, m->n_mesh);
        left.taken = taken;
        left.lines = false;
        if (can_be_met(m, &left)) left.lines = rules->lines;
        if (pins_first) filter_pins(m, &left);
        filter_taken(m, &left, taken);
        filter_pins(m, &left);
        n[pins_first] = list_rules(&left, taken, m, text[pins_first], sizeof text[0]);
    }
    int shorter = n[1] < n[0];
    return fc_refuse(
        st, FC_INPUT, "no layout is allowed by %s%s (%d interfaces, one a node, on %u nodes)", text[shorter],
        n[shorter] > 1 ? ", which contradict each other: without any one of them there is one" : "", m->n, m->n_mesh);
}

/* ---- words ---- */

static const char letters[] = "xyzabcde";

char *fc_interface_name(int interface, char *out, size_t size)
{
    snprintf(out, size, "%c%c", letters[interface / 2], interface % 2 == FC_TMESH_PLUS ? '+' : '-');
    return out;
}

enum fc_code fc_layout_read(const char *text, const char *what, const struct fc_place_model *m, uint32_t *pinned,
                            struct fc_status *st)
{
    struct fc_place nowhere = {NULL, 0};
    for (const char *at = text, *end = NULL; !end || *end; at = end + 1) {
        size_t length = strcspn(at, ",");
        const char *letter = length > 3 ? memchr(letters, at[0], (size_t)m->chip.n_dims) : NULL;
        long long node;
        end = at + length;
        if (!letter || (at[1] != '+' && at[1] != '-') || at[2] != '=')
            return fc_refuse(st, FC_INPUT,
                             "%s: '%.*s' names no interface of a torus of %d dimensions and its node "
                             "(expected x-=0,%c+=5,...)",
                             what, (int)length, at, m->chip.n_dims, letters[m->chip.n_dims - 1]);
        int i = 2 * (int)(letter - letters) + (at[1] == '+' ? FC_TMESH_PLUS : FC_TMESH_MINUS);
        if (fc_word_int(at + 3, length - 3, 0, m->n_mesh - 1, what, &node, nowhere, st)) return st->code;
        if (pinned[i] != FC_NONE) return fc_refuse(st, FC_INPUT, "%s: %c%c is given twice", what, at[0], at[1]);
        pinned[i] = (uint32_t)node;
    }
    return FC_OK;
}
