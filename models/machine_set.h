/* machine_set.h - one key of a machine changed from outside its file. */
#pragma once

#include "core/core.h"

#include <yaml.h>

/* What is set has these lines and above, in the order of the settings: nothing in a file has them. */
#define FC_LINE_OF_SET 1000000000l

/* Sets "section.key=VALUE", "links.CLASS.key=VALUE" or "key=VALUE" in the document, whose top is a mapping: VALUE is YAML
 * (a scalar, [a, b], {k: v}); what the file does not give is added. Keys are checked where the machine is decoded.
 * FC_INPUT: no such form, no YAML, or a section that is no mapping. `number` counts settings from 0. */
enum fc_code fc_machine_set(yaml_document_t *document, const char *setting, size_t number, struct fc_status *st);
