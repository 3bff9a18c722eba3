/* weakest_print.c - the table of `predict --weakest`. */
#include "cli/weakest_print.h"

#include <string.h>

static int name_width(const struct fc_weakest *w)
{
    int width = 5;
    for (size_t i = 0; i < w->n; i++)
        if ((int)strlen(w->link[i].link) > width) width = (int)strlen(w->link[i].link);
    return width;
}

void fc_print_weakest(FILE *stream, const struct fc_weakest *w)
{
    char time[64];
    int width = name_width(w);
    fprintf(stream,
            "\nfailures       of one cable each; traffic takes the shortest ways left, by which the whole machine "
            "takes %s\n",
            fc_format(time, sizeof time, w->whole_s, FC_SECONDS));
    if (!w->n_loaded)
        fprintf(stream, "               no cable between routers carries any traffic of this job\n");
    else if (w->n_looked_at < w->n_loaded)
        fprintf(stream,
                "               %u of the %u cables that carry this job's traffic were looked at, the busiest "
                "(--time allows more)\n",
                w->n_looked_at, w->n_loaded);
    else
        fprintf(stream, "               all %u cables that carry this job's traffic were looked at\n", w->n_loaded);
    if (w->n_node_cables)
        fprintf(stream, "               left out: %u cables that are their nodes' only ones\n", w->n_node_cables);
    if (!w->n) return;
    fprintf(stream, "\n%-*s %6s %14s %10s\n", width, "cable", "alike", "time without", "more");
    for (size_t i = 0; i < w->n; i++) {
        const struct fc_weak_link *k = &w->link[i];
        fprintf(stream, "%-*s %6u ", width, k->link, k->cables);
        if (k->disconnects)
            fprintf(stream, "%25s\n", "disconnects");
        else
            fprintf(stream, "%14s %8.2f %%\n", fc_format(time, sizeof time, k->time_s, FC_SECONDS),
                    fabs(k->increase_percent) < 0.005 ? 0 : k->increase_percent);
    }
}

void fc_add_weakest(json_t *prediction, const struct fc_weakest *w)
{
    json_t *list = json_array();
    for (size_t i = 0; i < w->n; i++) {
        const struct fc_weak_link *k = &w->link[i];
        json_array_append_new(list,
                              json_pack("{s:s, s:o, s:o, s:b, s:I}", "link", k->link, "time_s", fc_json_real(k->time_s),
                                        "increase_percent", fc_json_real(k->increase_percent), "disconnects",
                                        k->disconnects, "cables_alike", (json_int_t)k->cables));
    }
    json_object_set_new(prediction, "weakest", list);
    json_object_set_new(prediction, "weakest_whole_s", fc_json_real(w->whole_s));
    json_object_set_new(prediction, "weakest_of", json_integer((json_int_t)w->n_loaded));
    json_object_set_new(prediction, "weakest_looked_at", json_integer((json_int_t)w->n_looked_at));
}
