/* progress.c - clocks, and a bar on standard error for long work.
 *
 * The one place of the library that writes to a terminal, and only through the function that
 * fc_progress_start put into the struct: a program that wants no bar, or a bar of its own, sets `show`
 * itself. One thread reports. */
#include "core/core.h"

#include <math.h>
#include <time.h>
#include <unistd.h>

#define WIDTH 78
#define BAR 30

/* "  12 s left", by the pace so far; nothing before two seconds and two hundredths. A fraction that falls is that of
 * another part of the work. */
static void time_left(struct fc_progress *p, double done, char *text, size_t size)
{
    double now_s = fc_wall_s();
    if (done < p->last_fraction) p->since_s = now_s;
    p->last_fraction = done;
    double spent_s = now_s - p->since_s, left_s = spent_s * (1 - done) / done;
    if (spent_s < 2 || done < 0.02)
        text[0] = '\0';
    else if (left_s < 100)
        snprintf(text, size, ", %.0f s left", ceil(left_s));
    else if (left_s < 6000)
        snprintf(text, size, ", %.0f min left", ceil(left_s / 60));
    else
        snprintf(text, size, ", %.1f h left", left_s / 3600);
}

/* last_shown_s is negative (minus the start) until something has been drawn, so short work leaves no trace. */
static void draw(struct fc_progress *self, double done_fraction, const char *what)
{
    double done = done_fraction >= 0 && done_fraction <= 1 ? done_fraction : done_fraction > 1 ? 1 : 0;
    char bar[BAR + 1], left[32], text[WIDTH + 1];
    for (int i = 0; i < BAR; i++) bar[i] = i < (int)(done * BAR) ? '#' : '.';
    bar[BAR] = '\0';
    time_left(self, done, left, sizeof left);
    snprintf(text, sizeof text, "[%s] %3.0f %%  %s%s", bar, floor(100 * done), what ? what : "", left);
    fprintf(stderr, "\r%-*s", WIDTH, text);
    fflush(stderr);
}

void fc_progress_start(struct fc_progress *progress, bool quiet)
{
    progress->show = !quiet && isatty(STDERR_FILENO) ? draw : NULL;
    progress->since_s = fc_wall_s();
    progress->last_shown_s = -progress->since_s;
    progress->last_fraction = 0;
}

void fc_progress_end(struct fc_progress *progress)
{
    if (progress->show == draw && progress->last_shown_s > 0) {
        fprintf(stderr, "\r%-*s\r", WIDTH, "");
        fflush(stderr);
    }
    progress->show = NULL;
}

void fc_progress_show(struct fc_progress *progress, double done_fraction, const char *what)
{
    if (!progress || !progress->show) return;
    double now_s = fc_wall_s();
    if (now_s - fabs(progress->last_shown_s) < 0.1) return;
    progress->last_shown_s = now_s;
    progress->show(progress, done_fraction, what);
}

static double clock_s(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double fc_wall_s(void)
{
    return clock_s(CLOCK_MONOTONIC);
}

double fc_cpu_s(void)
{
    return clock_s(CLOCK_PROCESS_CPUTIME_ID);
}
