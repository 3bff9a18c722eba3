/* page_parts.c - the fixed parts of the page, files of this folder taken in by the assembler as they are. */

#define PART(name, file)                                                                                               \
    __asm__(".pushsection .rodata\n"                                                                                   \
            ".globl fc_part_" #name "\n"                                                                               \
            ".type fc_part_" #name ", @object\n"                                                                       \
            "fc_part_" #name ":\n"                                                                                     \
            ".incbin \"plots/" file "\"\n"                                                                             \
            ".byte 0\n"                                                                                                \
            ".size fc_part_" #name ", . - fc_part_" #name "\n"                                                         \
            ".popsection\n")

PART(html, "report.html");
PART(css, "report.css");
PART(js, "report.js");
PART(inflate_js, "report_inflate.js");
PART(draw_js, "report_draw.js");
