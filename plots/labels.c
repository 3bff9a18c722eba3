/* labels.c - labels of points, greedily: each takes the first of eight places around its point (above to the right, right, left,
 * above, below, the other corners, near and far) that lies in the frame, on nothing, and nearer to its own point than to any
 * other, else the least bad one. Source of the eight places: Imhof, The American Cartographer 2(2), 1975. Limit: greedy, so a
 * label may end up on another where a search would find places for all. */
#include "plots/labels.h"

#include <math.h>
#include <stdbool.h>

struct box {
    double left, right, low, high;
};

static double overlap(struct box a, struct box b)
{
    double x = fmin(a.right, b.right) - fmax(a.left, b.left), y = fmin(a.high, b.high) - fmax(a.low, b.low);
    return x > 0 && y > 0 ? x * y : 0;
}

static struct box box_of(const struct fc_label *l, double letter, double line)
{
    double width = (double)l->letters * letter, left = l->at_x - (l->align + 1) * width / 2;
    return (struct box){left, left + width, l->at_y - line / 2, l->at_y + line / 2};
}

/* From a point to a box, in gaps. */
static double away(const struct fc_label *point, struct box b, double gap_x, double gap_y)
{
    double x = fmax(0, fmax(b.left - point->x, point->x - b.right));
    double y = fmax(0, fmax(b.low - point->y, point->y - b.high));
    return hypot(x / gap_x, y / gap_y);
}

/* What is wrong with a label where it is: areas of others under it, what is out of the frame, and its whole area where it would be
 * read as another point's. */
static double badness(const struct fc_label *labels, size_t n, size_t which, double letter, double line, double gap_x,
                      double gap_y)
{
    struct box own = box_of(&labels[which], letter, line);
    double bad = (own.right - own.left) * (own.high - own.low) - overlap(own, (struct box){0, 1, 0, 1});
    if (bad < 1e-12) bad = 0;
    double near = away(&labels[which], own, gap_x, gap_y);
    bool astray = false;
    for (size_t i = 0; i < n; i++) {
        struct box point = {labels[i].x - gap_x / 2, labels[i].x + gap_x / 2, labels[i].y - gap_y / 2,
                            labels[i].y + gap_y / 2};
        bad += 10 * overlap(own, point); /* a hidden point is worse than a touched label */
        if (i < which) bad += overlap(own, box_of(&labels[i], letter, line));
        astray |= i != which && away(&labels[i], own, gap_x, gap_y) < near * (1 - 1e-9);
    }
    return astray ? bad + (own.right - own.left) * (own.high - own.low) : bad;
}

void fc_labels_place(struct fc_label *labels, size_t n, double letter, double line, double gap_x, double gap_y)
{
    static const struct {
        double x, y;
        int align;
    } places[] = {{1, 1, -1}, {1, 0, -1}, {-1, 0, 1}, {0, 1, 0}, {0, -1, 0}, {1, -1, -1}, {-1, 1, 1}, {-1, -1, 1}};
    enum { PLACES = sizeof places / sizeof *places, RINGS = 3 };
    for (size_t i = 0; i < n; i++) {
        struct fc_label *l = &labels[i], best = *l;
        double least = INFINITY;
        for (int p = 0; p < PLACES * RINGS && least > 0; p++) {
            int at = p % PLACES;
            double far = p / PLACES * line * (places[at].y < 0 ? -1 : 1);
            l->align = places[at].align;
            l->at_x = l->x + places[at].x * gap_x;
            l->at_y = l->y + places[at].y * (gap_y + line / 2) + (p < PLACES ? 0 : far);
            double bad = badness(labels, n, i, letter, line, gap_x, gap_y);
            if (bad < least) {
                least = bad;
                best = *l;
            }
        }
        *l = best;
    }
}

const char *fc_label_side(const struct fc_label *label)
{
    return label->align < 0 ? "left" : label->align > 0 ? "right" : "center";
}
