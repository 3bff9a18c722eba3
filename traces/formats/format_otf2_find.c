/* format_otf2_find.c - definitions of an archive by their numbers, in lists sorted by them. */
#include "core/values.h"
#include "traces/formats/format_otf2_archive.h"

#include <stdlib.h>

const void *fc_otf2_find(const struct fc_otf2_list *list, uint32_t ref)
{
    return list->n ? bsearch(&ref, list->at, list->n, list->size, fc_by_number) : NULL;
}

const char *fc_otf2_text(const struct fc_otf2_archive *a, uint32_t ref)
{
    const struct fc_otf2_string *s = fc_otf2_find(&a->strings, ref);
    return s ? s->text : "";
}
