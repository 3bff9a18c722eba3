/* visible.c - text of others as people may see it.
 *
 * Names, titles and paths come from files that anyone may have written. A terminal obeys the control characters in them
 * (ESC and, as U+009B, its one-letter form: colours, the window's title, text sent back as if typed), so none passes: a
 * control character, and a byte that is not UTF-8, is written as \x1b in its place. All else passes as it is, so what is
 * made visible once stays as it is. */
#include "core/core.h"

#include <string.h>

size_t fc_letter(const char *text)
{
    const unsigned char *c = (const unsigned char *)text;
    if (c[0] < 0x80) return c[0] >= 0x20 && c[0] != 0x7f;
    size_t n = c[0] >= 0xc2 && c[0] <= 0xdf ? 2 : (c[0] & 0xf0) == 0xe0 ? 3 : c[0] >= 0xf0 && c[0] <= 0xf4 ? 4 : 0;
    for (size_t i = 1; i < n; i++) /* ends at the text's end too */
        if ((c[i] & 0xc0) != 0x80) return 0;
    bool none = (c[0] == 0xc2 && c[1] < 0xa0) ||                                  /* control characters */
                (c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xf0 && c[1] < 0x90) || /* longer than need be */
                (c[0] == 0xed && c[1] >= 0xa0) || (c[0] == 0xf4 && c[1] >= 0x90); /* surrogates; above U+10FFFF */
    return none ? 0 : n;
}

size_t fc_visible_letter(char out[5], const char *text, const char *keep)
{
    size_t n = *text && strchr(keep, *text) ? 1 : fc_letter(text);
    if (!n) {
        snprintf(out, 5, "\\x%02x", (unsigned char)*text);
        return 1;
    }
    memcpy(out, text, n);
    out[n] = 0;
    return n;
}

char *fc_visible(char *out, size_t size, const char *text, const char *keep)
{
    size_t length = 0;
    char letter[5];
    while (*text) {
        text += fc_visible_letter(letter, text, keep);
        if (length + strlen(letter) >= size) break;
        strcpy(out + length, letter);
        length += strlen(letter);
    }
    out[length] = 0;
    return out;
}

void fc_print_visible(FILE *stream, const char *text)
{
    char letter[5];
    while (*text) {
        text += fc_visible_letter(letter, text, "");
        fputs(letter, stream);
    }
}
