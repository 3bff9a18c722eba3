/* prediction_error.c - how the error of an answer is stated. */
#include "solvers/solvers.h"

const char *fc_error_against_name(enum fc_error_against against)
{
    static const char *const names[] = {NULL, "kernel", "family", "measured"};
    return names[against];
}

const char *fc_error_against_words(enum fc_error_against against)
{
    static const char *const words[] = {"", "against the kernel", "against the kernel on its family",
                                        "against measured times"};
    return words[against];
}

void fc_prediction_error(struct fc_prediction *p, double error_percent, enum fc_error_against against)
{
    bool over = error_percent > FC_MOST_ERROR_PERCENT;
    char why[sizeof p->why];
    p->error_percent = over ? (double)NAN : error_percent;
    p->error_against = isnan(p->error_percent) ? FC_AGAINST_NOTHING : against;
    if (!over) return;
    snprintf(why, sizeof why, "%s", p->why);
    snprintf(p->why, sizeof p->why, "over 100 %%%s%.140s", *why ? ": " : "", why);
}
