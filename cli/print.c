/* print.c - what several commands print alike. */
#include "cli/arguments.h"
#include "cli/heartbeat.h"
#include "cli/predictions.h"
#include "cli/print.h"
#include "cli/text.h"
#include "cli/watch.h"

#include <string.h>

json_t *fc_json_links(const struct fc_network *net, const struct fc_load_summary *summary)
{
    json_t *links = json_object();
    for (int c = 0; c < net->machine->n_classes; c++) {
        const struct fc_load_class *k = &summary->classes[c];
        if (k->count == 0) continue;
        json_t *entry = json_object();
        json_object_set_new(entry, "count", json_integer((json_int_t)k->count));
        json_object_set_new(entry, "used", json_integer((json_int_t)k->used));
        json_object_set_new(entry, "min_bytes", fc_json_real(k->min_bytes));
        json_object_set_new(entry, "mean_bytes", fc_json_real(k->mean_bytes));
        json_object_set_new(entry, "max_bytes", fc_json_real(k->max_bytes));
        json_object_set_new(links, net->machine->classes[c].name, entry);
    }
    return links;
}

json_t *fc_json_bottleneck(const struct fc_network *net, uint32_t link, double bytes)
{
    if (link == FC_NONE) return json_null();
    char name[256];
    json_t *bottleneck = json_object();
    json_object_set_new(bottleneck, "class", json_string(net->machine->classes[net->link_class[link]].name));
    json_object_set_new(bottleneck, "link", json_string(fc_link_name(net, link, name, sizeof name)));
    json_object_set_new(bottleneck, "bytes", fc_json_real(bytes));
    return bottleneck;
}

/* What fits over the narrowest figure; cut at a blank, or where its second half has none, not within a letter. */
static int title_length(const char *text)
{
    enum { LONGEST = 96 };
    size_t n = strlen(text), blank = LONGEST;
    if (n <= LONGEST) return (int)n;
    while (blank > LONGEST / 2 && text[blank] != ' ') blank--;
    if (blank > LONGEST / 2) return (int)blank;
    for (n = LONGEST; n > 0 && (text[n] & 0xc0) == 0x80;) n--;
    return (int)n;
}

const char *fc_plot_title(const struct fc_arguments *arguments, struct fc_arena *arena, struct fc_status *st,
                          const char *format, ...)
{
    char text[1024], words[1024], command[1024], title[512];
    va_list rest;
    va_start(rest, format);
    vsnprintf(text, sizeof text, format, rest);
    va_end(rest);
    const char *typed = fc_words_command(arguments, arena, st);
    if (!typed) return NULL;
    fc_visible(words, sizeof words, text, ""); /* a line end in a name is none of the title's */
    fc_visible(command, sizeof command, typed, "");
    int n = title_length(words), k = title_length(command);
    snprintf(title, sizeof title, "%.*s%s\n%.*s%s", n, words, words[n] ? " ..." : "", k, command,
             command[k] ? " ..." : "");
    return fc_copy_text(arena, title, st);
}

void fc_print_plots(const struct fc_arguments *arguments, const char *const *names)
{
    fc_heartbeat_stop();
    if (arguments->quiet || arguments->json) return;
    fc_say(stdout, "\nplot%s: ", names[1] ? "s" : "");
    for (int i = 0; names[i]; i++) fc_say(stdout, "%s%s/%s.png", i ? ", " : "", arguments->plot, names[i]);
    fc_say(stdout, "\n");
}

const char *fc_last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

void fc_print_name(FILE *stream, const char *name, const char *title)
{
    fc_print_visible(stream, name);
    if (*title) fputs(": ", stream);
    fc_print_visible(stream, title);
    fputc('\n', stream);
}

void fc_print_machine(const struct fc_machine *machine, FILE *stream)
{
    fputs("machine     ", stream);
    fc_print_name(stream, machine->name, machine->title);
    if (*machine->confidence) fprintf(stream, "confidence  %s\n", machine->confidence);
}

void fc_print_error(FILE *stream, const char *calibration, const char *from, const struct fc_prediction *p)
{
    const char *why = p->why;
    static const char over[] = "over 100 %";
    size_t n = strlen(over);
    if (isnan(p->error_percent)) {
        bool is_over = !strncmp(why, over, n);
        fprintf(stream, is_over ? "unknown (%s)%s\n" : "unknown: %s%s\n", is_over ? over : why, is_over ? why + n : "");
        return;
    }
    if (p->error_percent == 0 && *why) {
        fprintf(stream, "none: %s\n", why);
        return;
    }
    fprintf(stream, "+-%.0f %% %s", p->error_percent, fc_error_against_words(p->error_against));
    if (from)
        fprintf(stream, ", from %s", from);
    else if (calibration)
        fprintf(stream, ", calibrated by %s", fc_last_part(calibration));
    fprintf(stream, "%s%s\n", p->extrapolated ? "; extrapolated: " : "", p->extrapolated ? why : "");
}

const char *fc_format_percent(char *out, size_t size, double percent)
{
    if (isnan(percent))
        snprintf(out, size, "unknown");
    else
        snprintf(out, size, "%.1f", percent);
    return out;
}

const char *fc_format_error(char *out, size_t size, double percent)
{
    if (isnan(percent))
        snprintf(out, size, "unknown");
    else if (percent == 0)
        snprintf(out, size, "none");
    else
        snprintf(out, size, "+-%.0f %%", percent);
    return out;
}

void fc_print_best_bound(FILE *stream, const struct fc_answer *a)
{
    char text[64];
    if (isnan(a->best_bound_s))
        fprintf(stream, "unknown: %s\n", a->best_bound_why);
    else
        fprintf(stream, "%s: no mapping of this job is faster (%s)\n",
                fc_format(text, sizeof text, a->best_bound_s, FC_SECONDS), a->best_bound_by);
}

void fc_note_answer(const struct fc_arguments *arguments, const struct fc_answer *a, const struct fc_answer *before)
{
    fc_note_search(arguments, "optimize", a->stopped, a->unsearched);
    if (a->misfit && !(before && before->misfit && !strcmp(before->uncalibrated, a->uncalibrated)))
        fc_note_uncalibrated(a->uncalibrated);
}

enum fc_code fc_deliver(const struct fc_arguments *arguments, json_t *json,
                        void (*print)(FILE *stream, const void *what), const void *what, struct fc_status *st)
{
    struct fc_output out;
    json_auto_t *own = json;
    fc_heartbeat_stop();
    if (st->code || !fc_speaks(arguments) || fc_memory_whole(st) || fc_output_open(&out, arguments->output, st))
        return st->code;
    FILE *text = arguments->json ? NULL : fc_text_open(out.stream);
    if (!arguments->json && !text) {
        fc_output_abandon(&out);
        return fc_out_of_memory(st, "the text of the answer");
    }
    if (arguments->json)
        fc_json_print(own, out.stream);
    else
        print(text, what), fc_text_close();
    enum fc_code code = fc_output_close(&out, st);
    if (!code && arguments->plot) fc_heartbeat_start(arguments->quiet); /* figures are still to be drawn */
    return code;
}

const char *fc_words_command(const struct fc_arguments *arguments, struct fc_arena *arena, struct fc_status *st)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=:,./+%@";
    struct fc_memory_stream memory;
    if (fc_memory_open(&memory, st)) return NULL;
    FILE *out = memory.stream;
    for (int i = 0; i < arguments->argc; i++) {
        const char *word = arguments->argv[i];
        bool bare = i == 0 || (*word && word[strspn(word, plain)] == 0);
        fprintf(out, "%s%s", i ? " " : "", bare ? "" : "'");
        for (; *word; word++) fputs(*word == '\'' ? "'\\''" : (char[2]){*word, 0}, out);
        fputs(bare ? "" : "'", out);
    }
    const char *copy = fc_memory_close(&memory, st) ? NULL : fc_copy_text(arena, memory.text, st);
    free(memory.text);
    return copy;
}
