/* status.c - failures as values: a code, a message and the place in the user's input.
 *
 * Messages quote user input, so they are made visible (visible.c) here, once. Over-long text is cut at a letter's end,
 * never overrun. */
#include "core/core.h"

#include <stdatomic.h>
#include <string.h>

/* Ends text before a UTF-8 letter that snprintf cut in half. */
static void end_whole(char *text)
{
    size_t n = strlen(text), lead = n;
    while (lead > 0 && n - lead < 4 && ((unsigned char)text[lead - 1] & 0xc0) == 0x80) lead--;
    if (lead > 0 && (unsigned char)text[lead - 1] >= 0xc0 && !fc_letter(text + lead - 1)) text[lead - 1] = 0;
}

static enum fc_code vfail(struct fc_status *st, enum fc_code code, struct fc_place where, const char *format,
                          va_list args)
{
    if (st->code != FC_OK) return code; /* the first failure is the cause, later ones are consequences */
    st->code = code;
    st->line = where.file ? where.line : 0;
    fc_visible(st->file, sizeof st->file, where.file ? where.file : "", "");
    char text[sizeof st->message];
    if (vsnprintf(text, sizeof text, format, args) >= (int)sizeof text) end_whole(text);
    fc_visible(st->message, sizeof st->message, text, "\n");
    return code;
}

enum fc_code fc_fail(struct fc_status *st, enum fc_code code, struct fc_place where, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vfail(st, code, where, format, args);
    va_end(args);
    return code;
}

enum fc_code fc_refuse(struct fc_status *st, enum fc_code code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vfail(st, code, (struct fc_place){0}, format, args);
    va_end(args);
    return code;
}

/* The first failure of memory in this process; 1: it is being written. */
static struct {
    atomic_int is;
    char message[sizeof((struct fc_status *)0)->message];
} ran_out;

enum fc_code fc_out_of_memory(struct fc_status *st, const char *format, ...)
{
    char what[768];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    struct fc_status own = {0};
    fc_refuse(&own, FC_NO, "out of memory: %s%s%s", st->doing, *st->doing ? ": " : "", what);
    fc_refuse(st, FC_NO, "%s", own.message);
    int none = 0;
    if (atomic_compare_exchange_strong(&ran_out.is, &none, 1)) {
        memcpy(ran_out.message, own.message, sizeof ran_out.message);
        atomic_store(&ran_out.is, 2);
    }
    return FC_NO;
}

enum fc_code fc_memory_whole(struct fc_status *st)
{
    int is = atomic_load(&ran_out.is);
    return is ? fc_refuse(st, FC_NO, "%s", is == 2 ? ran_out.message : "out of memory") : FC_OK;
}

void fc_memory_forget(void)
{
    atomic_store(&ran_out.is, 0);
}

bool fc_is_out_of_memory(const struct fc_status *st)
{
    static const char begin[] = "out of memory";
    return st->code == FC_NO && !strncmp(st->message, begin, sizeof begin - 1);
}

void fc_doing(struct fc_status *st, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(st->doing, sizeof st->doing, format, args);
    va_end(args);
}

void fc_status_text(const struct fc_status *st, char *out, size_t size)
{
    if (st->file[0] && st->line > 0)
        snprintf(out, size, "%s:%ld: %s", st->file, st->line, st->message);
    else if (st->file[0])
        snprintf(out, size, "%s: %s", st->file, st->message);
    else
        snprintf(out, size, "%s", st->message);
}
