/* print.h - what all commands print alike: links, titles, provenance, the answer itself (print.c). */
#pragma once

#include "answer/answer_json.h"
#include "cli/arguments.h"

#include <jansson.h>

/* The contract's keys for loads: bottleneck, links. New references. */
json_t *fc_json_links(const struct fc_network *net, const struct fc_load_summary *summary);
json_t *fc_json_bottleneck(const struct fc_network *net, uint32_t link, double bytes);
/* A figure's title: the words, and below them the command, in the arena; cut where it is long. NULL: out of memory. */
const char *fc_plot_title(const struct fc_arguments *arguments, struct fc_arena *arena, struct fc_status *st,
                          const char *format, ...) FC_PRINTF(4, 5);
/* "plots: DIR/a.png, DIR/b.png" on standard output, where people read it; names end with NULL. */
void fc_print_plots(const struct fc_arguments *arguments, const char *const *names);
/* The file's name without the folders before it, which differ from place to place. */
const char *fc_last_part(const char *path);
/* The command line, quoted for sh where it must be. */
const char *fc_words_command(const struct fc_arguments *arguments, struct fc_arena *arena, struct fc_status *st);
/* The rest of a line: the machine's name, and its title where the file gives one. */
void fc_print_name(FILE *stream, const char *name, const char *title);
/* One line: name, title. And the provenance every prediction carries. */
void fc_print_machine(const struct fc_machine *machine, FILE *stream);
/* "1.2 ms: no mapping of this job is faster (grid surface, nodes)", or that it is not known and why; ends the line. */
void fc_print_best_bound(FILE *stream, const struct fc_answer *answer);
/* "12.3", or "unknown". */
const char *fc_format_percent(char *out, size_t size, double percent);
/* A stated error for a table: "+-12 %"; "none" where nothing crosses a network, "unknown" where it is not known. */
const char *fc_format_error(char *out, size_t size, double percent);
/* "+-4 % against the kernel, calibrated by FILE", "+-31 % against the kernel on its family, from 6 calibrated torus machines
 * (nearest bgl-512), not from this machine", "unknown: WHY", "unknown (over 100 %)", with what is extrapolated; ends the line. `calibration`: file, or NULL. `from`: what else the
 * error is from, in words; NULL: that file. */
void fc_print_error(FILE *stream, const char *calibration, const char *from, const struct fc_prediction *prediction);
/* Writes json, which it frees, or calls print(stream, what), to -o or standard output. */
enum fc_code fc_deliver(const struct fc_arguments *arguments, json_t *json,
                        void (*print)(FILE *stream, const void *what), const void *what, struct fc_status *st);
