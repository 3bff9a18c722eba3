/* document.c - the summary in Markdown, kept between two marks of a page, so that no figure there is typed by
 * hand. */
#include "reproduce/figure.h"

#include <string.h>

static const char *budget(const struct fc_reproduction *r)
{
    return r->quick ? "quick runs" : "full runs";
}

static void print_figures(const struct fc_reproduction *list, size_t n, FILE *stream)
{
    fprintf(stream, "| figure | what | kinds | inside | worst |\n|---|---|---|---|---|\n");
    for (size_t i = 0; i < n; i++) {
        const struct fc_reproduction *r = &list[i];
        double worst = fc_reproduction_worst(r);
        fprintf(stream, "| %s | %s | ", r->figure->id, r->figure->title);
        for (int k = 0, any = 0; k < FC_POINT_KINDS; k++) {
            bool has = false;
            for (size_t p = 0; p < r->n_points; p++)
                has = has || (r->points[p].judged && r->points[p].kind == (enum fc_point_kind)k);
            if (has) fprintf(stream, "%s%s", any++ ? ", " : "", fc_point_kinds[k]);
        }
        fprintf(stream, " | %s%zu of %zu%s | ", r->n_inside < r->n_judged ? "**" : "", r->n_inside, r->n_judged,
                r->n_inside < r->n_judged ? "**" : "");
        if (isnan(worst))
            fprintf(stream, "|\n");
        else
            fprintf(stream, "%+.1f %% |\n", worst);
    }
}

static void print_kinds(const struct fc_reproduction *list, size_t n, FILE *stream)
{
    size_t judged[FC_POINT_KINDS + 1] = {0}, inside[FC_POINT_KINDS + 1] = {0};
    double sum[FC_POINT_KINDS + 1] = {0}, with[FC_POINT_KINDS + 1] = {0};
    for (size_t i = 0; i < n; i++)
        for (size_t p = 0; p < list[i].n_points; p++) {
            const struct fc_point *point = &list[i].points[p];
            int all[] = {point->kind, FC_POINT_KINDS};
            if (!point->judged) continue;
            for (int a = 0; a < 2; a++) {
                judged[all[a]]++;
                inside[all[a]] += point->inside;
                if (isnan(point->deviation_percent)) continue;
                sum[all[a]] += fabs(point->deviation_percent);
                with[all[a]]++;
            }
        }
    fprintf(stream, "\n| kind of model | points | inside | with a number | mean deviation |\n|---|---|---|---|---|\n");
    for (int k = 0; k <= FC_POINT_KINDS; k++) {
        if (judged[k] == 0) continue;
        fprintf(stream, "| %s | %zu | %zu (%.0f %%) | %.0f | ", k < FC_POINT_KINDS ? fc_point_kinds[k] : "all",
                judged[k], inside[k], 100.0 * (double)inside[k] / (double)judged[k], with[k]);
        if (with[k] > 0)
            fprintf(stream, "%.2g %% |\n", sum[k] / with[k]);
        else
            fprintf(stream, "|\n");
    }
}

static void print_outside(const struct fc_reproduction *list, size_t n, FILE *stream)
{
    bool any = false;
    for (size_t i = 0; i < n; i++)
        for (size_t p = 0; p < list[i].n_points; p++) {
            const struct fc_point *point = &list[i].points[p];
            char limits[64], published[32] = "-";
            if (!point->judged || point->inside) continue;
            if (!any) fprintf(stream, "\n| outside | published | ours | allowed | why |\n|---|---|---|---|---|\n");
            any = true;
            if (!isnan(point->published)) snprintf(published, sizeof published, "%.4g", point->published);
            fprintf(stream, "| %s: %s | %s | %.4g %s | %s | %s |\n", list[i].figure->id, point->what, published,
                    point->ours, point->unit, fc_point_limits_text(point, limits, sizeof limits),
                    point->reason ? point->reason : "**not known**");
        }
}

/* Machines that were measured: measured.c has the rows. */
static void print_machines(const struct fc_reproduction *list, size_t n, FILE *stream)
{
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        if (!list[i].rows) continue;
        if (!any)
            fprintf(
                stream,
                "\n| machine | job | collective | rows judged | median off, up to 16 KiB | above | within 40 %% | ranked "
                "alike | stated error: median | covers |\n|---|---|---|---|---|---|---|---|---|---|\n");
        any = true;
        fputs(list[i].rows, stream);
    }
}

/* Markdown: the table of figures, counts by kind of model, and every point outside with its reason. */
static void print_markdown(const struct fc_reproduction *list, size_t n, FILE *stream)
{
    fprintf(stream,
            "Written by `fabricast reproduce%s --into`, %s; deviations in percent of the published number, "
            "the worst of "
            "those judged.\n\n",
            n && list[0].quick ? " --quick" : "", n ? budget(&list[0]) : "nothing");
    print_figures(list, n, stream);
    print_kinds(list, n, stream);
    print_outside(list, n, stream);
    print_machines(list, n, stream);
}

/* The start of the line that holds `mark` alone, or NULL. */
static const char *line_of(const char *text, const char *mark)
{
    for (const char *at = strstr(text, mark); at; at = strstr(at + 1, mark))
        if ((at == text || at[-1] == '\n') && (at[strlen(mark)] == '\n' || at[strlen(mark)] == '\0')) return at;
    return NULL;
}

/* The page, and where its marks stand. */
static enum fc_code read_page(const char *path, struct fc_arena *arena, struct fc_text *text, const char **begin,
                              const char **end, struct fc_status *st)
{
    if (fc_read_file(path, arena, text, st)) return st->code;
    *begin = line_of(text->data, FC_REPRODUCE_BEGIN);
    *end = *begin ? line_of(*begin, FC_REPRODUCE_END) : NULL;
    if (*end) return FC_OK;
    return fc_fail(st, FC_INPUT, (struct fc_place){path, 0}, "has no line '%s' before a line '%s'", FC_REPRODUCE_BEGIN,
                   FC_REPRODUCE_END);
}

enum fc_code fc_reproduce_document_check(const char *path, struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena arena = {0};
    struct fc_text text;
    const char *begin = NULL, *end = NULL;
    return read_page(path, &arena, &text, &begin, &end, st);
}

enum fc_code fc_reproduce_document(const char *path, const struct fc_reproduction *list, size_t n, struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena arena = {0};
    struct fc_text text;
    struct fc_output out;
    const char *begin = NULL, *end = NULL;
    if (!read_page(path, &arena, &text, &begin, &end, st) && !fc_output_open(&out, path, st)) {
        fwrite(text.data, 1, (size_t)(begin - text.data), out.stream);
        fprintf(out.stream, "%s\n", FC_REPRODUCE_BEGIN);
        print_markdown(list, n, out.stream);
        fwrite(end, 1, (size_t)(text.data + text.size - end), out.stream);
        fc_output_close(&out, st);
    }
    return st->code;
}
