/* print_sensitivity.c - the table of `predict --sensitivity`. */
#include "cli/print_sensitivity.h"

#include <string.h>

enum { MOST_LINES = 8 };

static const char *signed_percent(char *out, size_t size, double percent)
{
    if (isnan(percent))
        snprintf(out, size, "-");
    else if (fabs(percent) < 0.005)
        snprintf(out, size, "0 %%");
    else
        snprintf(out, size, fabs(percent) < 9.95 ? "%+.2g %%" : "%+.0f %%", percent);
    return out;
}

static const char *value_text(char *out, size_t size, const struct fc_sensitivity_row *r)
{
    enum fc_unit unit = !strcmp(r->unit, "s")     ? FC_SECONDS
                        : !strcmp(r->unit, "B/s") ? FC_BYTES_PER_S
                        : !strcmp(r->unit, "B")   ? FC_BYTES
                                                  : FC_NUMBER;
    if (unit != FC_NUMBER) return fc_format(out, size, r->value, unit);
    if (!strcmp(r->unit, "1"))
        snprintf(out, size, "x%.4g", r->value);
    else
        snprintf(out, size, "%.4g %s", r->value, r->unit);
    return out;
}

/* What part of the time goes with the parameter: percent of it that a percent of the parameter moves, by the derivative. */
static const char *share_text(char *out, size_t size, const struct fc_sensitivity_row *r, double time_s)
{
    double percent = 100 * r->derivative * r->value / time_s * (strcmp(r->unit, "B/s") ? 1 : -1);
    const char *text = signed_percent(out, size, r->value == 0 ? (double)NAN : percent);
    return text + (*text == '+');
}

static void print_row(FILE *stream, const struct fc_sensitivity_row *r, double time_s, int width)
{
    char value[64], share[32], twice[32], half[32], worse[3][32];
    bool rate = !strcmp(r->unit, "B/s");
    for (int k = 0; k < 3; k++) {
        double x = r->tolerance_percent[k];
        signed_percent(worse[k], sizeof worse[k], rate ? -x : x);
    }
    fprintf(stream, "  %-*s %12s %8s %9s %9s %9s %9s %9s\n", width, r->parameter, value_text(value, sizeof value, r),
            share_text(share, sizeof share, r, time_s), signed_percent(twice, sizeof twice, r->if_doubled_percent),
            signed_percent(half, sizeof half, r->if_halved_percent), worse[0], worse[1], worse[2]);
}

void fc_print_sensitivity(FILE *stream, const struct fc_answer *a)
{
    const struct fc_sensitivity *s = a->sensitivity;
    struct fc_help help[FC_MOST_HELPS];
    int width = 9, n = fc_answer_helps(a, help);
    for (size_t i = 0; i < s->n; i++)
        if ((int)strlen(s->rows[i].parameter) > width) width = (int)strlen(s->rows[i].parameter);
    fprintf(
        stream,
        "sensitivity    each parameter's share of the time; the time with it doubled and halved; its change until the "
        "time is longer by\n");
    fprintf(stream, "  %-*s %12s %8s %9s %9s %9s %9s %9s\n", width, "parameter", "value", "share", "doubled", "halved",
            "1 %", "5 %", "10 %");
    for (size_t i = 0; i < s->n; i++) print_row(stream, &s->rows[i], s->time_s, width);
    if (s->cut) fprintf(stream, "  not all changes were looked for: more work is allowed by --time\n");
    fprintf(stream, "would help     ");
    if (n == 0) fprintf(stream, "nothing of all this by 0.05 %% or more\n");
    for (int i = 0; i < n && i < MOST_LINES; i++) {
        char percent[32];
        signed_percent(percent, sizeof percent, help[i].percent);
        fprintf(stream, "%s%s: %s%s\n", i ? "               " : "", help[i].change,
                help[i].at_most ? "at most (proven) " : "", percent);
    }
}
