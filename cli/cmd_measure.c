/* cmd_measure.c - `measure`: end points of a machine file from what point-to-point benchmarks measured; our own is in
 * measure_site.c. */
#include "answer/benchmark.h"
#include "cli/command.h"
#include "cli/measure_site.h"
#include "cli/print.h"
#include "cli/watch.h"
#include "solvers/timing.h"

#include <string.h>

enum { MOST_TABLES = 3 };

struct answer {
    struct fc_benchmark_fit fit;
    const char *path;       /* NULL: none */
    double known_latency_s; /* of the machine's own network; NaN: not known */
};

/* ---- the network's latency between two neighbours, as the machine file has it ---- */

static enum fc_code latency_of(const struct fc_arguments *arguments, double *latency_s, struct fc_status *st)
{
    FC_SCOPED(fc_session_close) struct fc_session session = {0};
    FC_SCOPED(fc_walk_free) struct fc_walk walk = {0};
    *latency_s = NAN;
    if (!arguments->ask.machine) return FC_OK;
    if (fc_open_machine(arguments, arguments->ask.machine, &session, st)) return st->code;
    const struct fc_routing_ops *routing = session.machine.routing;
    if (session.net.n_nodes < 2) {
        fc_refuse(st, FC_INPUT, "-m: %s has one node (expected two or more)", session.machine.name);
    } else if (!fc_walk_start(&walk, routing->walk_capacity(&session.net), st)) {
        routing->walk(&session.net, 0, 1, 1, &walk);
        *latency_s = 0;
        for (uint32_t i = 0; i < walk.n; i++)
            *latency_s += walk.weight[i] * fc_head_delay_s(&session.net, walk.link[i]);
    }
    return st->code;
}

/* ---- the machine file ---- */

/* Two nodes on a switch, where no machine was named. */
static enum fc_code write_pair(const struct answer *a, struct fc_status *st)
{
    const struct fc_benchmark_fit *f = &a->fit;
    struct fc_output out;
    if (fc_output_open(&out, a->path, st)) return st->code;
    fprintf(out.stream,
            "name: measured-pair\ntitle: two nodes on a switch, as benchmarks measured them\n"
            "confidence: latency, bandwidth and software costs are fitted; the network is not known\n"
            "network: {family: fat-tree, children: [2], parents: [1]}\n"
            "links: {leaf: {bandwidth: %.6g B/s, latency: %.4g s}}\nsoftware: {send: %.4g s, recv: %.4g s, "
            "copy_per_byte: %.4g s/B",
            f->bandwidth_bytes_per_s, f->latency_s / 2, f->overhead_s, f->overhead_s, f->copy_per_byte_s);
    if (!isnan(f->eager_bytes))
        fprintf(out.stream, ", eager: %.0f B, rendezvous: %.4g s", f->eager_bytes, f->rendezvous_s);
    fprintf(out.stream, "}\n");
    if (!fc_output_close(&out, st)) return FC_OK;
    fc_output_abandon(&out);
    return st->code;
}

static enum fc_code write_machine(const struct fc_arguments *arguments, const struct answer *a, struct fc_status *st)
{
    const struct fc_benchmark_fit *f = &a->fit;
    const struct {
        const char *key, *unit;
        double value;
    } keys[] = {{"software.send", " s", f->overhead_s},
                {"software.recv", " s", f->overhead_s},
                {"software.copy_per_byte", " s/B", f->copy_per_byte_s},
                {"node.port_bandwidth", " B/s", f->bandwidth_bytes_per_s},
                {"software.eager", " B", f->eager_bytes},
                {"software.rendezvous", " s", isnan(f->eager_bytes) ? (double)NAN : f->rendezvous_s}};
    char text[FC_COUNT(keys)][80];
    const char *settings[FC_COUNT(keys)];
    size_t n = 0;
    if (!arguments->ask.machine) return write_pair(a, st);
    for (size_t i = 0; i < FC_COUNT(keys); i++) {
        if (isnan(keys[i].value)) continue;
        snprintf(text[n], sizeof text[n], "%s=%.*g%s", keys[i].key, i == 4 ? 15 : 4, keys[i].value, keys[i].unit);
        settings[n] = text[n];
        n++;
    }
    return fc_machine_save(arguments->ask.machine, settings, n, NULL, a->path, st);
}

/* ---- the answer ---- */

static void print(FILE *stream, const void *what)
{
    const struct answer *a = what;
    const struct fc_benchmark_fit *f = &a->fit;
    char x[4][32];
    fprintf(stream, "latency     %s = 2 x %s at the ends (o) + %s of the network (L)%s\n",
            fc_format(x[0], sizeof x[0], 2 * f->overhead_s + f->latency_s, FC_SECONDS),
            fc_format(x[1], sizeof x[1], f->overhead_s, FC_SECONDS),
            fc_format(x[2], sizeof x[2], f->latency_s, FC_SECONDS),
            f->overhead_is_bound         ? ": not told apart, o is at most this (osu_bw or -m would tell)"
            : !isnan(a->known_latency_s) ? ", which is the machine's"
                                         : "");
    fprintf(stream, "bandwidth   %s of one message at a time\n",
            fc_format(x[0], sizeof x[0], f->bandwidth_bytes_per_s, FC_BYTES_PER_S));
    if (!isnan(f->pairs_bytes_per_s))
        fprintf(stream, "pairs       %u together %s: %.2f times one\n", f->pairs,
                fc_format(x[0], sizeof x[0], f->pairs_bytes_per_s, FC_BYTES_PER_S),
                f->pairs_bytes_per_s / f->bandwidth_bytes_per_s);
    if (isnan(f->eager_bytes))
        fprintf(stream, "eager       no step is seen\n");
    else
        fprintf(stream, "eager       up to %.0f B; beyond, a rendezvous costs %s at either end\n", f->eager_bytes,
                fc_format(x[1], sizeof x[1], f->rendezvous_s, FC_SECONDS));
    fprintf(stream, "copies      %.3g ns a byte at either end of an eager message\n", 1e9 * f->copy_per_byte_s);
    fprintf(stream, "off         %.1f %% in the median of the latencies\n", f->off_percent);
    if (a->path) fprintf(stream, "written     %s\n", a->path);
}

static json_t *to_json(const struct answer *a)
{
    const struct fc_benchmark_fit *f = &a->fit;
    return json_pack("{s:o, s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:i, s:o, s:s?}", "overhead_s",
                     fc_json_real(f->overhead_s), "latency_s", fc_json_real(f->latency_s), "overhead_is_bound",
                     f->overhead_is_bound, "bandwidth_bytes_per_s", fc_json_real(f->bandwidth_bytes_per_s),
                     "eager_bytes", fc_json_real(f->eager_bytes), "rendezvous_s",
                     fc_json_real(isnan(f->eager_bytes) ? (double)NAN : f->rendezvous_s), "copy_per_byte_s",
                     fc_json_real(f->copy_per_byte_s), "pairs_bytes_per_s", fc_json_real(f->pairs_bytes_per_s), "pairs",
                     (int)f->pairs, "off_percent", fc_json_real(f->off_percent), "machine_file", a->path);
}

static enum fc_code run(const struct fc_arguments *arguments, struct fc_status *st)
{
    FC_SCOPED(fc_arena_free) struct fc_arena arena = {0};
    struct fc_benchmark table[MOST_TABLES];
    struct answer a = {.path = arguments->output};
    struct fc_arguments shown = *arguments;
    int n = arguments->n_words;
    if (arguments->program || (arguments->from && !strcmp(arguments->from, "fabricast")))
        return fc_measure_site(arguments, st);
    if (!arguments->from || n == 0)
        return fc_refuse(
            st, FC_INPUT,
            "nothing to measure or to read (expected `measure -o FILE -- mpirun -n 4 ...`, or `measure --from "
            "osu|netpipe FILE...`, what osu_latency, osu_bw, osu_mbw_mr or NPmpi printed)");
    if (n > MOST_TABLES)
        return fc_refuse(st, FC_INPUT, "%d files (expected at most one of latencies, one of bandwidths, one of pairs)",
                         n);
    for (int i = 0; i < n && !st->code; i++)
        fc_benchmark_read(arguments->from, arguments->words[i], &arena, &table[i], st);
    if (!st->code && !latency_of(arguments, &a.known_latency_s, st) &&
        !fc_benchmark_fit_tables(table, n, a.known_latency_s, &a.fit, st) &&
        (!a.path || !write_machine(arguments, &a, st))) {
        shown.output = NULL;
        fc_deliver(&shown, arguments->json ? to_json(&a) : NULL, print, &a, st);
    }
    return st->code;
}

const struct fc_command fc_command_measure = {
    .name = "measure",
    .arguments = "-o FILE -- mpirun -n 4 ...\n--from osu|netpipe|fabricast FILE...",
    .summary =
        "measures a machine under its launcher, or reads benchmarks: writes end points and link rates into a machine file",
    .example = "fabricast measure -m site.yaml -o measured.yaml -- mpirun -n 4 --hostfile hosts",
    .options = FC_GROUPS(FC_MACHINE, FC_BENCHMARKS, FC_OUTPUT, FC_COMMON),
    .run = run,
    .swept = "",
};
