/* report_words.c - see report_words.h. */
#include "cli/print.h"
#include "cli/report_words.h"

#include <string.h>

const char *fc_words_time(double time_s, struct fc_arena *arena, struct fc_status *st)
{
    char text[64];
    double unit = time_s > 0 ? pow(10, floor(log10(time_s)) - 2) : 1;
    size_t n = strlen(fc_format(text, sizeof text, nearbyint(time_s / unit) * unit, FC_SECONDS));
    if (n > 3 && !strcmp(text + n - 3, " us")) strcpy(text + n - 2, "µs");
    return fc_copy_text(arena, text, st);
}

const char *fc_words_error(const struct fc_prediction *p, struct fc_arena *arena, struct fc_status *st)
{
    char text[96];
    if (isnan(p->error_percent)) return "error unknown";
    snprintf(text, sizeof text, "± %.0f %% %s", p->error_percent, fc_error_against_words(p->error_against));
    return fc_copy_text(arena, text, st);
}

const char *fc_words_unbroken(const char *text, struct fc_arena *arena, struct fc_status *st)
{
    static const char blank[] = "\xc2\xa0"; /* U+00A0 */
    char *out = fc_alloc(arena, 2 * strlen(text) + 1, 1, st), *to = out;
    for (const char *at = text; out && *at; at++) {
        bool inside = at > text && *at == ' ' && at[-1] >= '0' && at[-1] <= '9' && at[1] >= '0' && at[1] <= '9';
        if (inside)
            to = stpcpy(to, blank);
        else
            *to++ = *at;
    }
    return out ? out : "";
}

const char *fc_words_mapping(const char *label)
{
    if (!strcmp(label, "def")) return "tasks in rank order";
    if (!strcmp(label, "optimize")) return "found by the search";
    if (!strcmp(label, "optimize=def")) return "the search found nothing faster than rank order";
    for (int i = 0; fc_strategies[i]; i++) {
        size_t length = strlen(fc_strategies[i]->name);
        if (!strncmp(label, fc_strategies[i]->name, length) && (label[length] == 0 || label[length] == ':'))
            return fc_strategies[i]->help;
    }
    return "a mapping file";
}

const char *fc_words_bottleneck(const struct fc_prediction *p, const char *class_title, struct fc_arena *arena,
                                struct fc_status *st)
{
    char text[96];
    if (!strcmp(p->binds, "link") && class_title)
        snprintf(text, sizeof text, "the %s links are the bottleneck", class_title);
    else if (!strcmp(p->binds, "link"))
        return "a link is the bottleneck";
    else
        snprintf(text, sizeof text, "%s is the bottleneck, no link is", p->binds);
    return fc_copy_text(arena, text, st);
}

/* Whether the intervals of the two times have a point in common; unknown errors: not known to. */
static bool overlap(const struct fc_prediction *a, const struct fc_prediction *b)
{
    const struct fc_prediction *slow = a->time_s > b->time_s ? a : b, *fast = slow == a ? b : a;
    return slow->time_s * (1 - slow->error_percent / 100) <= fast->time_s * (1 + fast->error_percent / 100);
}

const char *fc_words_speedup(const struct fc_answer *before, const struct fc_answer *after, struct fc_arena *arena,
                             struct fc_status *st)
{
    char text[200], name[100];
    if (!strcmp(after->mapping, "optimize=def") && !strcmp(before->mapping, "def"))
        return "the search found no faster mapping";
    if (!strncmp(after->mapping, "optimize", 8))
        snprintf(name, sizeof name, "optimized mapping");
    else
        snprintf(name, sizeof name, "mapping %.80s", fc_last_part(after->mapping));
    double ratio = after->p.time_s > 0 ? before->p.time_s / after->p.time_s : 1;
    const char *word = ratio >= 1 ? "faster" : "slower";
    if (ratio < 1) ratio = 1 / ratio;
    const char *doubt = overlap(&before->p, &after->p) ? " (the errors overlap)" : "";
    if (ratio < 1.02)
        snprintf(text, sizeof text, "%s as fast", name);
    else if (ratio < 1.2)
        snprintf(text, sizeof text, "%s %.0f %% %s%s", name, 100 * (ratio - 1), word, doubt);
    else
        snprintf(text, sizeof text, "%s %.1f× %s%s", name, ratio, word, doubt);
    return fc_copy_text(arena, text, st);
}
