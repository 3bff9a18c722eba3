/* page_html.c - text as a page holds it. */
#include "plots/page_internal.h"

void fc_html_text(FILE *out, const char *text)
{
    char letter[5];
    while (*text) {
        text += fc_visible_letter(letter, text, "\n");
        switch (*letter) {
        case '&': fputs("&amp;", out); break;
        case '<': fputs("&lt;", out); break;
        case '>': fputs("&gt;", out); break;
        case '"': fputs("&quot;", out); break;
        case '\'': fputs("&#39;", out); break;
        default: fputs(letter, out);
        }
    }
}
