/* place_report.c - the answer of `place` for people, layouts drawn as small meshes, and for programs. */
#include "cli/place_report.h"
#include "cli/print.h"

#include <string.h>

const char *const fc_place_constraint_names[] = {"six-vc", "lines", "none", NULL};

/* ---- text ---- */

static void print_chip(const struct fc_place_answer *a, FILE *stream)
{
    const struct fc_chip *c = &a->model.chip;
    fprintf(stream, "chip        %u x %u mesh, %d interfaces, %u cores, routes %s; torus", c->side[0], c->side[1],
            a->model.n, a->model.n_cores, c->order[0] == 1 ? "row-first" : "column-first");
    for (int d = 0; d < c->n_dims; d++) fprintf(stream, "%s%u", d ? " x " : " ", c->k[d]);
    fprintf(stream, ", turns %s", fc_chip_turns_names[c->turns]);
    if (c->on_chip > 0) fprintf(stream, ", on-chip traffic %.3g", c->on_chip);
    fprintf(stream, "\nrules       %s\n",
            a->constraint == FC_PLACE_SIX_VC ? "six-vc: any layout; mesh channels for each dimension and dateline side"
            : a->constraint == FC_PLACE_LINES
                ? "lines: a line of the mesh for each dimension; separate channels for injection and ejection"
                : "none: any layout, with the machine's own channels");
    if (a->counted)
        fprintf(stream, "layouts     %.0f allowed, %.0f differ, all evaluated\n", a->n_layouts, a->n_evaluated);
    else
        fprintf(stream, "layouts     %.4g allowed\n", a->n_layouts);
}

static void print_proof(const struct fc_place_best *best, FILE *stream)
{
    if (best->proven)
        fprintf(stream, "proven by %s", best->by);
    else
        fprintf(stream, "at least %.6g by %s, gap %.1f %%", best->bound, best->by, best->gap_percent);
}

static void print_best(const struct fc_place_answer *a, FILE *stream)
{
    static const char *const what[] = {"least hops  ", "weighted    ", "least load  "};
    for (int o = 0; o < FC_PLACE_OBJECTIVES; o++) {
        if (!a->best[o].by) continue;
        fprintf(stream, "%s%.6g, ", what[o], a->best[o].value);
        print_proof(&a->best[o], stream);
        if (a->proof[o].by) {
            fprintf(stream, "; ");
            print_proof(&a->proof[o], stream);
        }
        fprintf(stream, "\n");
    }
}

static void print_number(FILE *stream, int width, const char *format, double value)
{
    char text[32];
    snprintf(text, sizeof text, format, value);
    fprintf(stream, " %*s", width, isnan(value) ? "-" : text);
}

static void print_row(const struct fc_place_answer *a, size_t i, size_t number, FILE *stream)
{
    const struct fc_served_layout *r = &a->rows[i];
    const struct fc_layout_figures *f = &r->figures;
    char letter[16];
    snprintf(letter, sizeof letter, "%zu", number);
    fprintf(stream, "%-3s %8.4f %9.4f %9.4f %8.2f %9.3f %8.4f", letter, f->turn_hops, f->weighted_hops,
            f->greatest_load, 100 * f->utilization, f->fairness, f->passed);
    if (a->served) {
        print_number(stream, 9, "%.1f", r->service.latency_cycles);
        print_number(stream, 6, "%.1f", r->service.latency_percent);
        print_number(stream, 10, "%.4g", r->service.saturation);
        print_number(stream, 6, "%.1f", r->service.saturation_percent);
        fprintf(stream, " %5s", r->service.deadlock_free ? "yes" : "NO");
    }
    fprintf(stream, "  %s%s%s\n", r->front ? "front" : "", r->front && a->name[i][0] ? "; " : "", a->name[i]);
}

static void print_table(const struct fc_place_answer *a, FILE *stream)
{
    fprintf(stream, "\n%-3s %8s %9s %9s %8s %9s %8s", "", "turn", "weighted", "greatest", "of torus", "fairness",
            "bridges");
    if (a->served) fprintf(stream, " %9s %6s %10s %6s %5s", "latency", "+-", "saturation", "+-", "free");
    fprintf(stream, "\n%-3s %8s %9s %9s %8s %9s %8s", "", "hops", "hops", "load", "%", "", "passed");
    if (a->served) fprintf(stream, " %9s %6s %10s %6s", "cycles", "%", "flits/n/c", "%");
    fprintf(stream, "\n");
    for (size_t i = 0, number = 0; i < a->n; i++)
        if (fc_place_shown(a, i)) print_row(a, i, ++number, stream);
}

static void print_kernel(const struct fc_place_answer *a, FILE *stream)
{
    double cpu_s = 0, window = 0;
    if (!a->arguments->confirm) return;
    fprintf(stream, "\nkernel      latency    +-    throughput         +-  of ideal %%  seeds\n");
    for (size_t i = 0, number = 0; i < a->n; i++) {
        const struct fc_layout_kernel *k = &a->kernel[i];
        number += fc_place_shown(a, i);
        if (!k->runs) continue;
        fprintf(stream, "%-9zu", number);
        print_number(stream, 9, "%.1f", k->latency_cycles);
        print_number(stream, 5, "%.1f", k->latency_half_width);
        fprintf(stream, " %13.5g %10.2g %11.1f %6d\n", k->throughput, k->throughput_half_width,
                100 * k->throughput / a->ideal, k->runs);
        cpu_s += k->cpu_s;
        window = k->window_cycles;
    }
    fprintf(stream,
            "            %.1f s of the kernel; most accepted at any offered load in windows of %.0f cycles, 95 %%\n",
            cpu_s, window);
}

static const char *cell(const struct fc_place_answer *a, const struct fc_bridge_layout *layout, uint32_t node,
                        char *name, size_t size)
{
    for (int i = 0; i < a->model.n; i++)
        if (layout->node[i] == node) return fc_interface_name(i, name, size);
    return ".";
}

/* The layouts from row `from` on that fit beside each other, at most `most`; returns the row after them. */
static size_t draw_some(const struct fc_place_answer *a, size_t from, size_t *number, int most, FILE *stream)
{
    const struct fc_chip *c = &a->model.chip;
    size_t list[16], end = from, n = 0;
    char name[8];
    int width = (int)(3 * c->side[1] + 3);
    for (; end < a->n && n < (size_t)most; end++)
        if (fc_place_shown(a, end)) list[n++] = end;
    if (!n) return end;
    fprintf(stream, "\n");
    for (size_t i = 0; i < n; i++) fprintf(stream, "%-*zu", i + 1 < n ? width : 1, *number + i + 1);
    fprintf(stream, "\n");
    for (uint32_t r = 0; r < c->side[0]; r++) {
        for (size_t i = 0; i < n; i++)
            for (uint32_t x = 0; x < c->side[1]; x++) {
                const char *text = cell(a, &a->rows[list[i]].layout, r * c->side[1] + x, name, sizeof name);
                bool last = x + 1 == c->side[1];
                fprintf(stream, "%-*s", !last ? 3 : i + 1 < n ? 6 : (int)strlen(text), text);
            }
        fprintf(stream, "\n");
    }
    *number += n;
    return end;
}

void fc_place_print(FILE *stream, const void *answer)
{
    const struct fc_place_answer *a = answer;
    fc_print_machine(&a->session->machine, stream);
    print_chip(a, stream);
    print_best(a, stream);
    if (a->served)
        fprintf(stream,
                "model       queueing, latencies at %.4g flits/node/cycle, %.1f %% of the ideal throughput; "
                "%zu layouts\n",
                a->load, 100 * a->load / a->ideal, a->n);
    print_table(a, stream);
    print_kernel(a, stream);
    int most = (int)(110 / (3 * a->model.chip.side[1] + 3));
    size_t from = 0, number = 0;
    while (from < a->n) from = draw_some(a, from, &number, most < 1 ? 1 : most > 16 ? 16 : most, stream);
    if (a->served && a->rows[0].service.why[0])
        fprintf(stream, "\n%s %s\n", "* errors of the model:", a->rows[0].service.why);
}

/* ---- JSON ---- */

static json_t *bridges_json(const struct fc_place_answer *a, const struct fc_bridge_layout *layout)
{
    char name[8];
    json_t *bridges = json_object();
    for (int i = 0; i < a->model.n; i++)
        json_object_set_new(bridges, fc_interface_name(i, name, sizeof name), json_integer(layout->node[i]));
    return bridges;
}

static json_t *kernel_json(const struct fc_layout_kernel *k)
{
    if (!k->runs) return json_null();
    return json_pack("{s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "runs", k->runs, "latency_cycles",
                     fc_json_real(k->latency_cycles), "latency_half_width_cycles", fc_json_real(k->latency_half_width),
                     "throughput", fc_json_real(k->throughput), "throughput_half_width",
                     fc_json_real(k->throughput_half_width), "offered", fc_json_real(k->offered), "window_cycles",
                     fc_json_real(k->window_cycles), "cpu_s", fc_json_real(k->cpu_s));
}

static json_t *row_json(const struct fc_place_answer *a, size_t i)
{
    const struct fc_served_layout *r = &a->rows[i];
    double none = NAN;
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:s, s:s, s:o}",
                     "bridges", bridges_json(a, &r->layout), "mean_turn_hops", fc_json_real(r->figures.turn_hops),
                     "latency_cycles", fc_json_real(a->served ? r->service.latency_cycles : none), "saturation",
                     fc_json_real(a->served ? r->service.saturation : none), "latency_error_percent",
                     fc_json_real(a->served ? r->service.latency_percent : none), "saturation_error_percent",
                     fc_json_real(a->served ? r->service.saturation_percent : none), "deadlock_free",
                     a->served ? json_boolean(r->service.deadlock_free) : json_null(), "name", a->name[i], "front",
                     r->front, "weighted_hops", fc_json_real(r->figures.weighted_hops), "greatest_load",
                     fc_json_real(r->figures.greatest_load), "mesh_of_torus_utilization",
                     fc_json_real(r->figures.utilization), "fairness", fc_json_real(r->figures.fairness),
                     "passed_bridges", fc_json_real(r->figures.passed), "ideal_throughput",
                     fc_json_real(a->served ? r->service.ideal : none), "extrapolated", r->service.extrapolated, "tier",
                     r->service.tier, "why", r->service.why, "flit", kernel_json(&a->kernel[i]));
}

static json_t *best_json(const struct fc_place_best *b)
{
    if (!b->by) return json_null();
    return json_pack("{s:o, s:o, s:b, s:o, s:s, s:I}", "value", fc_json_real(b->value), "bound", fc_json_real(b->bound),
                     "proven", b->proven, "gap_percent", fc_json_real(b->gap_percent), "by", b->by, "steps",
                     (json_int_t)b->steps);
}

/* The allowed row with the least latency, or the most saturation; n: none. */
static size_t best_of(const struct fc_place_answer *a, bool latency)
{
    size_t best = a->n;
    for (size_t i = 0; i < a->n && a->served; i++) {
        const struct fc_layout_service *s = &a->rows[i].service, *b = best < a->n ? &a->rows[best].service : NULL;
        if (!a->rows[i].allowed || (latency && isnan(s->latency_cycles))) continue;
        if (!b || (latency ? s->latency_cycles < b->latency_cycles : s->saturation > b->saturation)) best = i;
    }
    return best;
}

json_t *fc_place_json(const struct fc_place_answer *a)
{
    json_t *placements = json_array(), *table1 = json_array(), *proofs = json_object();
    for (size_t i = 0; i < a->n; i++) {
        bool safe = !a->served || a->rows[i].allowed;
        if (i < a->n_table1) json_array_append_new(table1, row_json(a, i));
        if (safe && fc_place_shown(a, i)) json_array_append_new(placements, row_json(a, i));
    }
    for (int o = 0; o < FC_PLACE_OBJECTIVES; o++)
        json_object_set_new(
            proofs, fc_place_objective_names[o],
            json_pack("{s:o, s:o}", "search", best_json(&a->best[o]), "integer_program", best_json(&a->proof[o])));
    size_t latency = best_of(a, true), throughput = best_of(a, false);
    return json_pack("{s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:b, s:I, s:o, s:o, s:o, s:o, s:o, s:o}", "machine",
                     a->session->machine.name, "objective",
                     a->objective == FC_PLACE_PARETO ? "pareto" : fc_place_objective_names[a->objective], "constraint",
                     fc_place_constraint_names[a->constraint], "turns", fc_chip_turns_names[a->model.chip.turns],
                     "load_flits_per_node_cycle", fc_json_real(a->load), "layouts", fc_json_real(a->n_layouts),
                     "evaluated", fc_json_real(a->counted ? a->n_evaluated : (double)NAN), "all_evaluated", a->counted,
                     "served", (json_int_t)(a->served ? a->n : 0), "best", proofs, "placements", placements, "table1",
                     table1, "best_latency", latency < a->n ? row_json(a, latency) : json_null(), "best_throughput",
                     throughput < a->n ? row_json(a, throughput) : json_null(), "elapsed_s",
                     fc_json_real(a->elapsed_s));
}
