/* trace_oracles.h - what tests ask of a trace beside what the library tells. */
#pragma once

#include "traces/trace_format.h"

/* Matches sends with receives (communicator, source, destination, tag; in order). match[e] of a SEND/ISEND is the
 * event index (global) of its RECV/IRECV and vice versa; UINT64_MAX for events that are neither. match is
 * [first_event[n_ranks]], owned by the arena. FC_INPUT names the first unmatched receive or send with file:line. O(n). */
enum fc_code fc_trace_match(const struct fc_trace *trace, struct fc_arena *arena, uint64_t **match,
                            struct fc_status *st);

/* Totals of a trace in memory, counted in the simplest way. */
void fc_trace_summarise(const struct fc_trace *trace, struct fc_trace_summary *summary);

/* Point-to-point bytes between ranks as a demand. Entries unique and sorted. */
enum fc_code fc_demand_from_trace(const struct fc_trace *trace, struct fc_demand *demand, struct fc_status *st);

/* Writes version 1 of the packed form, which fc_trace_write wrote once. */
enum fc_code fc_write_trace_packed(const struct fc_trace *trace, FILE *out, struct fc_status *st);
