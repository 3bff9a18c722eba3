/* format_pairs.c - a trace as lines "SENDER RECEIVER BYTES" below "pairs RANKS": messages one after the other. */
#include "traces/trace_formats.h"

#include <string.h>

enum { MOST_RANKS = 1 << 20 };

static enum fc_code numbers(const struct fc_lines *lines, const char *at, long long *number, int n,
                            struct fc_status *st)
{
    const char *end = lines->text + lines->length, *word;
    size_t length;
    for (int i = 0; i < n; i++)
        if (!fc_next_word(&at, end, &word, &length))
            return fc_fail(st, FC_INPUT, fc_lines_place(lines), "%d numbers (expected %d)", i, n);
        else if (fc_word_int(word, length, 0, 1 << 30, "number", &number[i], fc_lines_place(lines), st))
            return st->code;
    return FC_OK;
}

static enum fc_code add(struct fc_trace_sink *sink, int op, long long rank, long long peer, long long bytes,
                        double at_s)
{
    struct fc_event e = {.op = (uint8_t)op, .peer = (int32_t)peer, .bytes = bytes, .request = -1};
    e.enter_s = e.leave_s = at_s;
    return fc_sink_event(sink, (uint32_t)rank, &e, NULL);
}

static enum fc_code read_lines(struct fc_lines *lines, struct fc_trace_sink *sink)
{
    long long ranks, n[3];
    double at_s = 0;
    fc_lines_next(lines);
    if (numbers(lines, lines->text + strlen("pairs"), &ranks, 1, sink->st)) return sink->st->code;
    if (ranks < 1 || ranks > MOST_RANKS)
        return fc_fail(sink->st, FC_INPUT, fc_lines_place(lines), "%lld ranks (expected 1 to %d)", ranks, MOST_RANKS);
    if (fc_sink_start(sink, (uint32_t)ranks, NULL, NULL)) return sink->st->code;
    while (fc_lines_next(lines)) {
        if (numbers(lines, lines->text, n, 3, sink->st)) return sink->st->code;
        if (n[0] >= ranks || n[1] >= ranks)
            return fc_fail(sink->st, FC_INPUT, fc_lines_place(lines), "no such rank (there are %lld)", ranks);
        at_s += 1e-6;
        if (add(sink, FC_OP_SEND, n[0], n[1], n[2], at_s) || add(sink, FC_OP_RECV, n[1], n[0], n[2], at_s))
            return sink->st->code;
    }
    return FC_OK;
}

static enum fc_code read_pairs(const char *path, const struct fc_trace_options *options, struct fc_trace_sink *sink)
{
    struct fc_arena arena = {0};
    struct fc_text text;
    struct fc_lines lines;
    (void)options;
    if (!fc_read_file(path, &arena, &text, sink->st)) {
        sink->bytes = text.size;
        fc_lines_start(&lines, &text);
        read_lines(&lines, sink);
    }
    fc_arena_free(&arena);
    return sink->st->code;
}

static bool is_pairs(const struct fc_trace_probe *probe)
{
    return probe->n_head > 6 && !memcmp(probe->head, "pairs ", 6);
}

const struct fc_trace_format fc_format_pairs = {
    .name = "pairs",
    .what = "a line a message",
    .is = is_pairs,
    .read = read_pairs,
};
