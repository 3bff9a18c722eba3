/* launcher_erf.c - jsrun's explicit resource file (LSF's Job Step Manager, on POWER):
 *
 *     cpu_index_using: logical
 *     rank: 0: { hostname: cn2; cpu: {0-3} }
 *
 * Slot s is core s of the node: its logical CPUs 4 s to 4 s + 3, since a core of these machines has four threads (SMT4, the
 * default). Logical numbers leave out the cores that the system keeps. Read are hosts by `hostname`, or by `host`, which counts
 * those of the allocation from 1, and CPUs that begin with a core's first; other settings, gpu and mem are passed over. Source:
 * IBM Spectrum LSF, Job Step Manager, Explicit Resource File format; OLCF, ERF CPU Indexing. Limits: one core a rank; one
 * program (app lines are refused). */
#include "core/values.h"
#include "mapping/launcher.h"

#include <string.h>

enum { THREADS = 4 };

static enum fc_code write_ranks(const struct fc_launch *job, FILE *out, struct fc_status *st)
{
    (void)st;
    fprintf(out, "cpu_index_using: logical\n");
    for (uint32_t r = 0; r < job->n_tasks; r++)
        fprintf(out, "rank: %u: { hostname: %s; cpu: {%u-%u} }\n", r, job->host[job->place[r]], THREADS * job->slot[r],
                THREADS * job->slot[r] + THREADS - 1);
    return FC_OK;
}

/* What stands between `from` and `to`, without blanks at its ends. */
static size_t trimmed(const char **from, const char *to)
{
    while (*from < to && strchr(" \t\r", **from)) ++*from;
    while (to > *from && strchr(" \t\r", to[-1])) to--;
    return (size_t)(to - *from);
}

static bool is(const char *word, size_t length, const char *what)
{
    return length == strlen(what) && !memcmp(word, what, length);
}

/* Settings that stand for themselves, and do not move a rank. */
static bool is_setting(const char *word, size_t length)
{
    static const char *const settings[] = {"overlapping_rs",    "overlapping-rs",    "oversubscribe_cpu",
                                           "oversubscribe_gpu", "oversubscribe_mem", "skip_missing_cpu",
                                           "skip_missing_gpu",  "skip_missing_mem",  "launch_distribution"};
    for (size_t i = 0; i < FC_COUNT(settings); i++)
        if (is(word, length, settings[i])) return true;
    return false;
}

/* One "KEY: VALUE" of a rank. */
static enum fc_code read_field(const char *key, const char *end, const struct fc_launch *job, uint32_t *place,
                               long long *slot, struct fc_place where, struct fc_status *st)
{
    const char *colon = memchr(key, ':', (size_t)(end - key)), *value = colon ? colon + 1 : end;
    size_t length = trimmed(&key, colon ? colon : end), n = trimmed(&value, end);
    long long number;
    if (!colon || n == 0) return fc_fail(st, FC_INPUT, where, "expected KEY: VALUE between { and }");
    if (is(key, length, "gpu") || is(key, length, "mem")) return FC_OK;
    bool host = is(key, length, "hostname") || is(key, length, "host");
    if ((host && *place != FC_NONE) || (is(key, length, "cpu") && *slot >= 0))
        return fc_fail(st, FC_INPUT, where, "a second %s of one rank", host ? "host" : "cpu");
    if (is(key, length, "hostname")) return fc_launched_host(job, value, n, place, where, st);
    if (host) {
        if (fc_word_int(value, n, 1, job->n_places, "host", &number, where, st)) return st->code;
        *place = (uint32_t)number - 1;
        return FC_OK;
    }
    if (!is(key, length, "cpu"))
        return fc_fail(st, FC_INPUT, where, "'%.*s' (expected hostname, host, cpu, gpu or mem)",
                       (int)(length < 40 ? length : 40), key);
    size_t digits = 0;
    if (*value == '{') value++, n--;
    n = trimmed(&value, value + n);
    while (digits < n && fc_is_digit(value[digits])) digits++;
    for (size_t i = digits; i < n; i++)
        if (!value[i] || !strchr("0123456789-,:{} \t", value[i]))
            return fc_fail(st, FC_INPUT, where, "cpu: '%.*s' (expected {FIRST-LAST})", (int)(n < 40 ? n : 40), value);
    if (fc_word_int(value, digits, 0, (long long)THREADS * job->slots - 1, "cpu", &number, where, st)) return st->code;
    if (number % THREADS)
        return fc_fail(st, FC_INPUT, where, "cpu %lld is not the first of a core (expected a multiple of %d)", number,
                       THREADS);
    *slot = number / THREADS;
    return FC_OK;
}

static enum fc_code read_rank(const char *at, const char *end, const struct fc_launch *job, struct fc_launched *back,
                              struct fc_place where, struct fc_status *st)
{
    const char *colon = memchr(at, ':', (size_t)(end - at)), *open = memchr(at, '{', (size_t)(end - at)), *close = end;
    long long rank, slot = -1;
    uint32_t place = FC_NONE;
    while (close > at && close[-1] != '}') close--;
    if (!colon || !open || colon > open || close == at || open >= close)
        return fc_fail(st, FC_INPUT, where, "expected rank: N: { hostname: HOST; cpu: {FIRST-LAST} }");
    size_t digits = trimmed(&at, colon);
    if (fc_word_int(at, digits, 0, job->n_tasks - 1, "rank", &rank, where, st)) return st->code;
    for (const char *field = open + 1, *next; field < close - 1; field = next + 1) {
        next = memchr(field, ';', (size_t)(close - 1 - field));
        if (!next) next = close - 1;
        if (read_field(field, next, job, &place, &slot, where, st)) return st->code;
    }
    if (place == FC_NONE || slot < 0)
        return fc_fail(st, FC_INPUT, where, "rank %lld: no %s", rank, slot < 0 ? "cpu" : "hostname or host");
    return fc_launched_put(job, back, rank, place, slot, where, st);
}

static enum fc_code read_ranks(const struct fc_text *text, const struct fc_launch *job, struct fc_launched *back,
                               struct fc_status *st)
{
    struct fc_lines lines;
    for (fc_lines_start(&lines, text); fc_lines_next(&lines);) {
        struct fc_place where = fc_lines_place(&lines);
        const char *comment = memchr(lines.text, '#', lines.length), *at = lines.text;
        const char *end = comment ? comment : at + lines.length, *colon = memchr(at, ':', (size_t)(end - at));
        if (trimmed(&at, end) == 0) continue;
        size_t length = trimmed(&at, colon ? colon : end);
        if (colon && is(at, length, "rank")) {
            if (read_rank(colon + 1, end, job, back, where, st)) return st->code;
        } else if (colon && is(at, length, "cpu_index_using")) {
            const char *value = colon + 1;
            size_t n = trimmed(&value, end);
            if (!is(value, n, "logical"))
                return fc_fail(st, FC_INPUT, where, "CPUs by their physical numbers are not read (expected logical)");
        } else if (!colon || !is_setting(at, length)) {
            return fc_fail(st, FC_INPUT, where, "'%.*s' (expected rank: N: {...} or a setting of jsrun)",
                           (int)(length < 40 ? length : 40), at);
        }
    }
    return FC_OK;
}

const struct fc_launcher_format fc_launcher_erf = {
    .name = "erf",
    .what = "jsrun explicit resource file: rank: N: { hostname: HOST; cpu: {FIRST-LAST} }",
    .source = "IBM Spectrum LSF, Job Step Manager, Explicit Resource File format",
    .start = "jsrun --erf_input FILE PROGRAM",
    .names_hosts = true,
    .tells_slots = true,
    .write = write_ranks,
    .read = read_ranks,
};
