/* options.h - the one table of options: what --help, the man pages, completion, parsing and sweeps know of them
 * (option_table.c). */
#pragma once

#include "cli/arguments.h"
#include "cli/command.h"
#include "core/core.h"

/* How the value of an option gets into the arguments. */
enum fc_option_kind {
    FC_OPTION_FLAG,     /* no value: bool becomes true */
    FC_OPTION_TEXT,     /* const char *: argv's; its meaning is looked at by who uses it */
    FC_OPTION_INT,      /* int, uint64_t */
    FC_OPTION_QUANTITY, /* double, in base units of .unit */
    FC_OPTION_SHARE     /* double: "0.3" or "30%" */
};

struct fc_option {
    const char *name;
    char letter;         /* -m; 0: none */
    const char *value;   /* what --help calls it; NULL: it has none */
    enum fc_group group; /* commands take groups */
    enum fc_option_kind kind;
    size_t offset, size; /* of the field in struct fc_arguments */
    enum fc_unit unit;
    double low, high; /* allowed, inclusive; both 0: any */
    const char *help;
    /* What else its being there means; NULL: nothing. */
    void (*also)(struct fc_arguments *arguments, const char *value);
    enum { FC_ANSWERS, FC_WRITES, FC_BY_SWEEP } part; /* writes files; is set by a sweep itself */
};
extern const struct fc_option fc_options[];
extern const size_t fc_n_options;

/* A heading of --help and of the man pages, with the groups below it. */
struct fc_option_section {
    const char *title;
    uint64_t groups;
};
extern const struct fc_option_section fc_option_sections[]; /* title NULL ends */

static inline bool fc_takes(const struct fc_command *command, const struct fc_option *option)
{
    return command->options >> option->group & 1;
}
