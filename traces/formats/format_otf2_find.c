/* format_otf2_find.c - definitions of an archive by their numbers, in lists sorted by them. */
#include "traces/formats/format_otf2_archive.h"

#include <stdlib.h>

static int by_ref(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

const void *fc_otf2_find(const struct fc_otf2_list *list, uint32_t ref)
{
    return list->n ? bsearch(&ref, list->at, list->n, list->size, by_ref) : NULL;
}

const char *fc_otf2_text(const struct fc_otf2_archive *a, uint32_t ref)
{
    const struct fc_otf2_string *s = fc_otf2_find(&a->strings, ref);
    return s ? s->text : "";
}
