/* terminal.c - what only people at a terminal see: bars of an eighth's width, sparklines, colours. In a file or a pipe
 * everything is plain ASCII; so are bars where the locale is not UTF-8, and nothing is coloured where TERM is dumb or
 * NO_COLOR is set (no-color.org). A colour never says anything that the words do not. */
#include "cli/terminal.h"
#include "cli/text.h"

#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool at_terminal(FILE *stream)
{
    return isatty(fileno(fc_text_behind(stream))) == 1;
}

static bool utf8(FILE *stream)
{
    if (!at_terminal(stream)) return false;
    locale_t users = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    bool is = users && !strcmp(nl_langinfo_l(CODESET, users), "UTF-8");
    if (users) freelocale(users);
    return is;
}

static bool coloured(FILE *stream)
{
    const char *off = getenv("NO_COLOR"), *term = getenv("TERM");
    return at_terminal(stream) && !(off && *off) && term && *term && strcmp(term, "dumb");
}

void fc_print_coloured(FILE *stream, enum fc_colour colour, const char *text)
{
    static const char *const codes[] = {[FC_COLOUR_GOOD] = "32", [FC_COLOUR_BAD] = "1;31", [FC_COLOUR_BAR] = "34"};
    bool shown = coloured(stream);
    char start[16];
    snprintf(start, sizeof start, "\033[%sm", codes[colour]);
    if (shown) fc_text_own(stream, start);
    fputs(text, stream);
    if (shown) fc_text_own(stream, "\033[0m");
}

void fc_print_bar(FILE *stream, double share, int width)
{
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    char bar[3 * 80 + 4] = "";
    width = width < 80 ? width : 80;
    double length = fmin(fmax(share, 0), 1) * width;
    if (!utf8(stream)) {
        int n = (int)ceil(length - 1e-9);
        memset(bar, '#', (size_t)n);
        bar[n] = 0;
    } else {
        int parts = (int)ceil(8 * length - 1e-9);
        for (int i = 0; i < parts / 8; i++) strcat(bar, "█");
        strcat(bar, eighths[parts % 8]);
    }
    fc_print_coloured(stream, FC_COLOUR_BAR, bar);
}

void fc_print_sparkline(FILE *stream, const char *before, const double *value, size_t n, double top, const char *after)
{
    static const char *const steps[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    if (!utf8(stream) || n == 0 || !(top > 0)) return;
    char line[3 * FC_SPARKLINE + 1];
    size_t length = 0;
    for (size_t i = 0; i < n && i < FC_SPARKLINE; i++) {
        int step = isnan(value[i]) ? -1 : (int)floor(8 * fmin(fmax(value[i] / top, 0), 1));
        length += (size_t)sprintf(line + length, "%s", step < 0 || value[i] == 0 ? " " : steps[step < 8 ? step : 7]);
    }
    fputs(before, stream);
    fc_print_coloured(stream, FC_COLOUR_BAR, line);
    fputs(after, stream);
}
