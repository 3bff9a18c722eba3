/* bench.c - a shipped machine with its network, as papers vary one parameter of a machine. */
#include "reproduce/figure.h"

#include <string.h>

#define MOST_SETTINGS 12

/* networks point at their machine: it must not move */
enum fc_code fc_bench_open(struct fc_bench *b, const char *name, const char *settings, struct fc_status *st)
{
    char text[1024], *save = NULL;
    const char *each[MOST_SETTINGS];
    size_t n = 0;
    memset(b, 0, sizeof *b);
    snprintf(text, sizeof text, "%s", settings ? settings : "");
    for (char *at = strtok_r(text, ";", &save); at && n < MOST_SETTINGS; at = strtok_r(NULL, ";", &save))
        if (at[strspn(at, " ")]) each[n++] = at + strspn(at, " ");
    if (fc_machine_load_changed(name, each, n, &b->machine, st)) return st->code;
    if (fc_network_build(&b->machine, &b->net, st)) fc_machine_free(&b->machine);
    return st->code;
}

void fc_bench_close(struct fc_bench *b)
{
    fc_network_free(&b->net);
    fc_machine_free(&b->machine);
}
