/* text.c - text for people on its way out: names in it come from files that anyone may have written, so all of it passes
 * through a stream that lets letters, line ends and tabs through and writes the rest as core's fc_visible does. */
#include "cli/text.h"

#include <string.h>

/* The letter that the stream is in; what is at hand of it. */
struct filter {
    FILE *to;
    char held[5];
    size_t n;
    bool own; /* what the program itself says to a terminal passes */
};

/* One each for the process, as standard output and error are. */
static struct {
    FILE *stream;
    struct filter filter;
} text, errors;

/* Could the letter end with what is still to come? */
static bool unfinished(const struct filter *f)
{
    unsigned char first = (unsigned char)f->held[0];
    size_t all = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 1;
    for (size_t i = 1; i < f->n; i++)
        if (((unsigned char)f->held[i] & 0xc0) != 0x80) return false;
    return f->n < all;
}

static void pass(struct filter *f, bool all)
{
    char letter[5];
    while (f->n && (all || !unfinished(f))) {
        f->held[f->n] = 0;
        size_t used = fc_visible_letter(letter, f->held, "\n\t");
        fputs(letter, f->to);
        f->n -= used;
        memmove(f->held, f->held + used, f->n);
    }
}

static ssize_t filter_write(void *cookie, const char *bytes, size_t n)
{
    struct filter *f = cookie;
    for (size_t i = 0; i < n; i++) {
        if (f->own) {
            fputc(bytes[i], f->to);
        } else if (bytes[i]) {
            f->held[f->n++] = bytes[i];
            pass(f, false);
        } else {
            pass(f, true);
            fputs("\\x00", f->to);
        }
    }
    return (ssize_t)n; /* what goes wrong is seen at the stream behind */
}

static int filter_close(void *cookie)
{
    pass(cookie, true);
    return 0;
}

static FILE *open_filter(FILE *to, struct filter *filter)
{
    static const cookie_io_functions_t calls = {.write = filter_write, .close = filter_close};
    *filter = (struct filter){.to = to};
    return fopencookie(filter, "w", calls);
}

/* Made once, with a buffer of its own, so that an answer whose files are written is not lost for want of memory. */
static FILE *reserved;

bool fc_text_reserve(void)
{
    static char buffer[BUFSIZ];
    if (reserved) return true;
    reserved = open_filter(NULL, &text.filter);
    if (reserved) setvbuf(reserved, buffer, _IOFBF, sizeof buffer);
    return reserved != NULL;
}

FILE *fc_text_open(FILE *to)
{
    if (!fc_text_reserve()) return NULL;
    text.filter = (struct filter){.to = to};
    return text.stream = reserved;
}

void fc_text_close(void)
{
    fflush(text.stream);
    pass(&text.filter, true);
    text.stream = NULL;
}

FILE *fc_text_behind(FILE *stream)
{
    return stream && stream == text.stream ? text.filter.to : stream;
}

void fc_text_own(FILE *stream, const char *bytes)
{
    if (stream != text.stream) {
        fputs(bytes, stream);
        return;
    }
    fflush(stream);
    text.filter.own = true;
    fputs(bytes, stream);
    fflush(stream);
    text.filter.own = false;
}

void fc_say(FILE *to, const char *format, ...)
{
    va_list rest;
    va_start(rest, format);
    fc_vsay(to, format, rest);
    va_end(rest);
}

void fc_vsay(FILE *to, const char *format, va_list rest)
{
    char line[4096], visible[4 * sizeof line];
    vsnprintf(line, sizeof line, format, rest);
    fputs(fc_visible(visible, sizeof visible, line, "\n\t"), to);
}

/* Standard error is unbuffered, and so is what stands for it. */
FILE *fc_text_errors(void)
{
    errors.stream = open_filter(stderr, &errors.filter);
    if (errors.stream) setvbuf(errors.stream, NULL, _IONBF, 0);
    return errors.stream;
}
