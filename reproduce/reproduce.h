/* reproduce.h - figures and tables of the five papers, computed with the shipped machines: each published
 * number or statement beside ours, and what a plot in the paper's own form needs. What the papers print
 * stands here and nowhere else. One file a figure or a group of figures that share their runs; the list is in
 * reproduce.c. Knows every room below; draws nothing (plots/paper.h does), prints nothing
 * (cli/cmd_reproduce.c does). docs/reproduce.md */
#pragma once

#include "models/models.h"
#include "plots/paper.h"

/* How ours came about, by the contract's names. */
enum fc_point_kind {
    FC_POINT_CLOSED_FORM,
    FC_POINT_BOUND,
    FC_POINT_QUEUEING,
    FC_POINT_FLIT,
    FC_POINT_TIMING,
    FC_POINT_KINDS
};
extern const char *const fc_point_kinds[];
/* What the number owes to the paper: arithmetic on what it states; a parameter was set so that this point, or
 * a point of this figure, comes out; a setting it leaves open was chosen by this point; none of these. */
enum fc_point_origin { FC_POINT_STATED, FC_POINT_FITTED, FC_POINT_INFERRED, FC_POINT_PREDICTED };
extern const char *const fc_point_origins[];

/* One number or statement of the paper, and ours. In the unit `unit`. */
struct fc_point {
    const char *what, *unit;
    double published;         /* NaN: the paper gives a limit, or nothing */
    double low, high;         /* ours has to lie within; infinite: no limit on that side */
    bool judged;              /* false: for information, the limits mean nothing */
    double ours, half_width;  /* half_width: 95 % interval of ours, or spread over seeds; NaN: unknown or none */
    double deviation_percent; /* 100 (ours - published) / |published|; NaN without a published number */
    double tolerance_percent; /* 100 (high - published) / |published|; NaN without */
    enum fc_point_kind kind;
    enum fc_point_origin origin;
    bool inside;
    const char *reason; /* why it lies outside, where it may; NULL: not known to be */
};

/* A figure or table. */
struct fc_figure {
    const char *id;      /* "percs-fig9" */
    const char *title;   /* "time of a step by mapping" */
    const char *source;  /* "Bhatele et al., SC'11, Figure 9" */
    const char *machine; /* shipped machine */
    const char *command; /* one that shows a point of it; "" where none does */
};

/* One figure, computed. */
struct fc_reproduction {
    const struct fc_figure *figure;
    struct fc_point *points; /* [n_points] */
    size_t n_points, n_judged, n_inside;
    struct fc_paper_plot plot;
    const char *note; /* what a quick run left out or made smaller; "" */
    const char *rows; /* markdown: rows of the summary's table of machines; NULL: none */
    bool quick;
    struct fc_arena arena; /* texts */
    struct fc_status st;   /* first failure while points or series were added */
};

enum fc_reproduce_budget { FC_REPRODUCE_FULL, FC_REPRODUCE_QUICK };
struct fc_reproduce_settings {
    enum fc_reproduce_budget budget;
    int threads;                  /* groups of figures at a time; results do not depend on it */
    uint64_t seed;                /* of what is drawn at random */
    struct fc_progress *progress; /* NULL: silent */
};

/* What a group's function is given: how to run, and a progress for its own work, 0..1. */
struct fc_reproducing {
    bool quick;
    uint64_t seed;
    struct fc_progress *progress; /* for solvers' settings */
};

/* A group: figures that are had from the same runs, in the order of `figures`. make() fills r[n_figures],
 * each of which is empty but for its figure; it fails as solvers do. Seconds: CPU time, for the progress and
 * the order of work. */
struct fc_reproduction_ops {
    const struct fc_figure *figures; /* [n_figures] */
    int n_figures;
    double quick_s, full_s;
    enum fc_code (*make)(const struct fc_reproducing *how, struct fc_reproduction *r, struct fc_status *st);
};
extern const struct fc_reproduction_ops *const fc_reproductions[]; /* NULL-terminated */

/* Computes the named figures ("percs-fig9", or "percs": all whose name starts so), all when n_ids is 0, in
 * the order of the list: list[n], owned by the caller, freed by fc_reproduce_free. FC_INPUT: an unknown name,
 * with the nearest one. Same settings and seed, same points, for any number of threads. */
enum fc_code fc_reproduce(const char *const *ids, size_t n_ids, const struct fc_reproduce_settings *settings,
                          struct fc_reproduction **list, size_t *n, struct fc_status *st);
void fc_reproduce_free(struct fc_reproduction *list, size_t n);
/* Whether all are known: the refusal of fc_reproduce, at once. */
enum fc_code fc_reproduce_known(const char *const *ids, size_t n_ids, struct fc_status *st);

/* The point's limits in words: "+-2 %", "<= 0.7", "12..15". Returns out. */
char *fc_point_limits_text(const struct fc_point *point, char *out, size_t size);
/* Worst deviation of the judged points with a published number, percent; NaN: none. */
double fc_reproduction_worst(const struct fc_reproduction *r);

/* ---- the summary as a document (document.c) ---- */

/* Replaces what stands between the lines FC_REPRODUCE_BEGIN and FC_REPRODUCE_END of the file. FC_INPUT: no
 * such lines, or the file cannot be read or written; then it is as before. */
#define FC_REPRODUCE_BEGIN "<!-- reproduce: begin -->"
#define FC_REPRODUCE_END "<!-- reproduce: end -->"
/* Whether the page has them. */
enum fc_code fc_reproduce_document_check(const char *path, struct fc_status *st);
enum fc_code fc_reproduce_document(const char *path, const struct fc_reproduction *list, size_t n,
                                   struct fc_status *st);
