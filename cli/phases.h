/* phases.h - phases as a table and as JSON (phases.c). */
#pragma once

#include "solvers/solvers.h"

#include <jansson.h>

/* The phases in rows, as people read them (texts in the arena), and for JSON (a new reference). */
enum fc_code fc_table_phases(const struct fc_job_phases *phases, struct fc_arena *arena, struct fc_table *table,
                             struct fc_status *st);
json_t *fc_json_phases(const struct fc_job_phases *phases);
