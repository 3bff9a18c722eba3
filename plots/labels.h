/* labels.h - where the labels of points go so that they lie on no other label and no point (labels.c). */
#pragma once

#include <stddef.h>

struct fc_label {
    double x, y;       /* of its point, 0 .. 1 of the frame */
    size_t letters;    /* of its text */
    double at_x, at_y; /* out: where the text begins (align -1), has its middle (0) or ends (1); its middle in height */
    int align;
};
/* The labels in their order; one for which no place is free takes the least bad. `letter`, `line`: a letter's width and a line's
 * height in the frame's; `gap_x`, `gap_y`: what stays between a point and its label. O(n^2). */
void fc_labels_place(struct fc_label *labels, size_t n, double letter, double line, double gap_x, double gap_y);
/* For a script: "left", "center", "right". */
const char *fc_label_side(const struct fc_label *label);
