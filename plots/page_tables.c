/* page_tables.c - the parts of the page that need no script: times as bars, histograms by class, numbers,
 * inputs. */
#include "plots/page_internal.h"

#include <math.h>
#include <string.h>

static void put_quantity(FILE *out, double value, enum fc_unit unit)
{
    char text[64];
    size_t n = strlen(fc_format(text, sizeof text, value, unit));
    bool micro = n > 3 && !strcmp(text + n - 3, " us");
    if (micro) text[n - 2] = 0;
    fc_html_text(out, text);
    if (micro) fputs("µs", out);
}

/* ---- times ---- */

/* What would help: a bar as long as the time that is left, on one scale, which ends at the time as it is. */
static void put_helps(const struct fc_page *page, FILE *out)
{
    fputs("<h3 id=\"helps\">What would help", out);
    fputs(page->helps_cut ? " <small>as far as the time allowed was enough to look</small>" : "", out);
    fputs(page->n_helps ? "</h3>\n" : "</h3>\n<p>Nothing by 0.05 % or more.</p>\n", out);
    for (int i = 0; i < page->n_helps; i++) {
        const struct fc_page_help *h = &page->helps[i];
        fputs("<div class=\"bar s1\"><div class=\"who\">", out);
        fc_html_text(out, h->change);
        fprintf(
            out,
            "</div><div class=\"track\" aria-hidden=\"true\"><i class=\"fill\" style=\"width:%.3f%%\"></i></div><div "
            "class=\"value\"><b>−%.*f %%</b>%s</div></div>\n",
            100 + h->percent, h->percent > -9.95, -h->percent, h->at_most ? " at most (proven)" : "");
    }
}

/* A bar a mapping: its time, the error as a whisker that ends at the proven bound, the bound as a mark. All on
 * one scale. */
void fc_page_bars(const struct fc_page *page, FILE *out)
{
    double most = 0;
    for (int i = 0; i < 2; i++) {
        const struct fc_page_side *s = &page->side[i];
        most = fmax(most, s->time_s * (1 + (isnan(s->error_percent) ? 0 : s->error_percent / 100)));
    }
    for (int i = 0; i < 2; i++) {
        const struct fc_page_side *s = &page->side[i];
        double scale = most > 0 ? 100 / most : 0, e = isnan(s->error_percent) ? 0 : s->error_percent / 100;
        fprintf(out, "<div class=\"bar s%d\"><div class=\"who\"><b>", i);
        fc_html_text(out, s->label);
        fputs("</b> <span>", out);
        fc_html_text(out, s->note);
        fprintf(out,
                "</span></div><div class=\"track\" aria-hidden=\"true\"><i class=\"fill\" "
                "style=\"width:%.3f%%\"></i>",
                s->time_s * scale);
        double low_s = fmin(s->time_s, fmax(s->bound_s, s->time_s * (1 - e)));
        if (e > 0)
            fprintf(out, "<i class=\"error\" style=\"left:%.3f%%;width:%.3f%%\"></i>", low_s * scale,
                    (s->time_s * (1 + e) - low_s) * scale);
        fprintf(out, "<i class=\"bound\" style=\"left:%.3f%%\"></i></div><div class=\"value\"><b>", s->bound_s * scale);
        put_quantity(out, s->time_s, FC_SECONDS);
        fputs("</b> ", out);
        if (isnan(s->error_percent))
            fputs("error unknown", out);
        else
            fprintf(out, "±%.0f %% %s", s->error_percent, s->against);
        fputs(" · no run is under ", out);
        put_quantity(out, s->bound_s, FC_SECONDS);
        fprintf(out, " · %.1f %% of peak", s->percent_of_peak);
        if (!isnan(s->percent_of_best)) fprintf(out, " · %.1f %% of the best mapping's bound", s->percent_of_best);
        fputs("</div></div>\n", out);
    }
    if (page->helps_asked) put_helps(page, out);
}

/* ---- histograms ---- */

static void put_bins(FILE *out, const struct fc_page *page, int side, int c, uint64_t tallest)
{
    const struct fc_page_class *k = &page->side[side].classes[c];
    double width = page->most_bytes[c] / FC_PAGE_BINS;
    fprintf(out, "<div class=\"bins s%d\" role=\"img\" aria-label=\"", side);
    fc_html_text(out, page->side[side].label);
    fprintf(out, ": %llu of %llu links used, busiest ", (unsigned long long)k->used, (unsigned long long)k->count);
    put_quantity(out, k->max_bytes, FC_BYTES);
    fputs("\">", out);
    for (int b = 0; b < FC_PAGE_BINS; b++) {
        double n = (double)k->bins[b];
        fprintf(out, "<i style=\"height:%.1f%%\" title=\"",
                n > 0 ? 100 * (log10(n) + 0.35) / (log10((double)tallest) + 0.35) : 0);
        if (n > 0) fprintf(out, "%.0f links, ", n);
        put_quantity(out, b * width, FC_BYTES);
        fputs(" to ", out);
        put_quantity(out, (b + 1) * width, FC_BYTES);
        fputs("\"></i>", out);
    }
    fputs("</div>", out);
}

static uint64_t tallest_bin(const struct fc_page *page, int c)
{
    uint64_t most = 1;
    for (int i = 0; i < 2; i++)
        for (int b = 0; b < FC_PAGE_BINS; b++)
            if (page->side[i].classes[c].bins[b] > most) most = page->side[i].classes[c].bins[b];
    return most;
}

static void put_bin_numbers(FILE *out, const struct fc_page *page, int c)
{
    fputs("<details><summary>in numbers</summary><table><thead><tr><th>bytes of a link</th>", out);
    for (int i = 0; i < 2; i++) {
        fputs("<th class=\"n\">", out);
        fc_html_text(out, page->side[i].label);
        fputs("</th>", out);
    }
    fputs("</tr></thead><tbody>", out);
    fputs("<tr><td>none</td>", out);
    for (int i = 0; i < 2; i++)
        fprintf(out, "<td class=\"n\">%llu</td>",
                (unsigned long long)(page->side[i].classes[c].count - page->side[i].classes[c].used));
    fputs("</tr>", out);
    for (int b = 0; b < FC_PAGE_BINS; b++) {
        if (page->side[0].classes[c].bins[b] + page->side[1].classes[c].bins[b] == 0) continue;
        fputs("<tr><td>", out);
        put_quantity(out, b * page->most_bytes[c] / FC_PAGE_BINS, FC_BYTES);
        fputs(" to ", out);
        put_quantity(out, (b + 1) * page->most_bytes[c] / FC_PAGE_BINS, FC_BYTES);
        for (int i = 0; i < 2; i++)
            fprintf(out, "</td><td class=\"n\">%llu", (unsigned long long)page->side[i].classes[c].bins[b]);
        fputs("</td></tr>", out);
    }
    fputs("</tbody></table></details>", out);
}

void fc_page_histograms(const struct fc_page *page, FILE *out)
{
    for (int c = 0; c < page->picture->n_classes; c++) {
        if (page->side[0].classes[c].used + page->side[1].classes[c].used == 0) continue;
        fprintf(out, "<figure class=\"hist\" data-class=\"%d\"><h3>", c);
        fc_html_text(out, page->picture->class_title[c]);
        fprintf(out, " <span>%llu links</span></h3>", (unsigned long long)page->side[0].classes[c].count);
        for (int i = 0; i < 2; i++) {
            const struct fc_page_class *k = &page->side[i].classes[c];
            fprintf(out, "<p class=\"key s%d\"><b>", i);
            fc_html_text(out, page->side[i].label);
            fprintf(out, "</b> %llu used, busiest ", (unsigned long long)k->used);
            put_quantity(out, k->max_bytes, FC_BYTES);
            fputs("</p>", out);
            put_bins(out, page, i, c, tallest_bin(page, c));
        }
        fputs("<div class=\"axis\"><span>0</span><span>bytes of a link</span><span>", out);
        put_quantity(out, page->most_bytes[c], FC_BYTES);
        fprintf(out, "</span></div><figcaption>Links, on a log scale; the tallest bar is %llu.</figcaption>",
                (unsigned long long)tallest_bin(page, c));
        put_bin_numbers(out, page, c);
        fputs("</figure>\n", out);
    }
}

/* ---- numbers ---- */

void fc_page_numbers(const struct fc_page *page, FILE *out)
{
    fputs("<thead><tr><th>class</th><th>mapping</th><th class=\"n\">links</th><th class=\"n\">used</th><th "
          "class=\"n\">mean</th>"
          "<th class=\"n\">busiest</th><th class=\"n\">busy for</th></tr></thead><tbody>\n",
          out);
    for (int c = 0; c < page->picture->n_classes; c++)
        for (int i = 0; i < 2; i++) {
            const struct fc_page_class *k = &page->side[i].classes[c];
            if (k->count == 0) continue;
            fprintf(out, "<tr class=\"s%d\"><th>", i);
            if (i == 0) fc_html_text(out, page->picture->class_title[c]);
            fputs("</th><td>", out);
            fc_html_text(out, page->side[i].label);
            fprintf(out, "</td><td class=\"n\">%llu</td><td class=\"n\">%llu</td><td class=\"n\">",
                    (unsigned long long)k->count, (unsigned long long)k->used);
            put_quantity(out, k->mean_bytes, FC_BYTES);
            fputs("</td><td class=\"n\">", out);
            put_quantity(out, k->max_bytes, FC_BYTES);
            fputs("</td><td class=\"n\">", out);
            put_quantity(out, k->max_busy_s, FC_SECONDS);
            fputs("</td></tr>\n", out);
        }
    fputs("</tbody>", out);
}

void fc_page_hottest(const struct fc_page *page, FILE *out)
{
    for (int i = 0; i < 2; i++) {
        fprintf(out, "<div class=\"scroll\"><table class=\"s%d\"><caption><b>", i);
        fc_html_text(out, page->side[i].label);
        fputs("</b></caption><thead><tr><th>link</th><th class=\"n\">carries</th><th class=\"n\">busy "
              "for</th></tr></thead>"
              "<tbody>\n",
              out);
        for (int k = 0; k < page->side[i].n_hot; k++) {
            const struct fc_page_link *hot = &page->side[i].hot[k];
            fputs("<tr><td>", out);
            fc_html_text(out, hot->name);
            fputs("</td><td class=\"n\">", out);
            put_quantity(out, hot->bytes, FC_BYTES);
            fputs("</td><td class=\"n\">", out);
            put_quantity(out, hot->busy_s, FC_SECONDS);
            fputs("</td></tr>\n", out);
        }
        fputs("</tbody></table></div>\n", out);
    }
}

void fc_page_inputs(const struct fc_page *page, int bits, FILE *out)
{
    for (int i = 0; i < page->n_inputs; i++) {
        fputs("<dt>", out);
        fc_html_text(out, page->inputs[i].name);
        fputs("</dt><dd>", out);
        fc_html_text(out, page->inputs[i].value);
        fputs("</dd>\n", out);
    }
    if (bits < 53)
        fprintf(out,
                "<dt>pictures</dt><dd>Loads in the maps are rounded to %d bits, by at most %.2g %%, to keep "
                "the page small; "
                "all other numbers are exact.</dd>\n",
                bits, 100 * ldexp(1, -bits));
}
