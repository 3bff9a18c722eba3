/* heartbeat.c - nothing that takes over two seconds is silent at a terminal: where the solvers report no progress for
 * a second, a thread shows that the command is at work and for how long, beside the last bar there was. It draws on
 * standard error, only where that is a terminal, and is gone before anything is printed. */
#include "cli/heartbeat.h"
#include "cli/text.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

enum { WIDTH = 78, BAR = 30 };

/* One for the process, as standard error is. */
static struct {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool runs, stop, drawn; /* drawn: its line is to be seen */
    bool off;               /* no notes */
    double start_s, shown_s;
    double done; /* of the bar shown last; NaN: none */
    char what[32];
    void (*show)(struct fc_progress *self, double done_fraction, const char *what); /* core's */
} beat = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER, .done = NAN};

/* Locked. */
static void clear(void)
{
    if (beat.drawn) fprintf(stderr, "\r%-*s\r", WIDTH, "");
    if (beat.drawn) fflush(stderr);
    beat.drawn = false;
}

/* Locked. A bar that does not move says nothing of the time left, so the time so far is told. */
static void draw(double now_s)
{
    char text[800], bar[BAR + 1];
    for (int i = 0; i < BAR; i++) bar[i] = !isnan(beat.done) && i < (int)(beat.done * BAR) ? '#' : '.';
    bar[BAR] = 0;
    if (isnan(beat.done))
        snprintf(text, sizeof text, "[%s]        working, %.0f s so far", bar, now_s - beat.start_s);
    else
        snprintf(text, sizeof text, "[%s] %3.0f %%  %s, %.0f s so far", bar, floor(100 * beat.done), beat.what,
                 now_s - beat.start_s);
    fprintf(stderr, "\r%-*.*s", WIDTH, WIDTH, text);
    fflush(stderr);
    beat.drawn = true;
}

static void *run(void *nothing)
{
    pthread_mutex_lock(&beat.lock);
    while (!beat.stop) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 250000000;
        if (until.tv_nsec >= 1000000000) until.tv_nsec -= 1000000000, until.tv_sec++;
        pthread_cond_timedwait(&beat.wake, &beat.lock, &until);
        double now_s = fc_wall_s();
        if (!beat.stop && now_s - beat.start_s >= 2 && now_s - beat.shown_s >= 1) draw(now_s);
    }
    clear();
    pthread_mutex_unlock(&beat.lock);
    return nothing;
}

void fc_heartbeat_start(bool quiet)
{
    sigset_t all, before;
    if (quiet || beat.runs || !isatty(STDERR_FILENO)) return;
    beat.start_s = beat.shown_s = fc_wall_s();
    beat.stop = false;
    sigfillset(&all); /* Ctrl-C is the command's */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    beat.runs = pthread_create(&beat.thread, NULL, run, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void fc_heartbeat_stop(void)
{
    if (!beat.runs) return;
    pthread_mutex_lock(&beat.lock);
    beat.stop = true;
    pthread_cond_signal(&beat.wake);
    pthread_mutex_unlock(&beat.lock);
    pthread_join(beat.thread, NULL);
    beat.runs = false;
}

void fc_notes_off(void)
{
    beat.off = true;
}

void fc_note(const char *format, ...)
{
    va_list rest;
    if (beat.off) return;
    pthread_mutex_lock(&beat.lock);
    clear();
    fputs("fabricast: ", stderr);
    va_start(rest, format);
    fc_vsay(stderr, format, rest);
    va_end(rest);
    fputc('\n', stderr);
    pthread_mutex_unlock(&beat.lock);
}

void fc_note_uncalibrated(const char *why)
{
    fc_note("%s; this answer takes it with a wider error, or its family", why);
}

/* core's bar, and what of it the thread repeats. */
static void show(struct fc_progress *self, double done_fraction, const char *what)
{
    pthread_mutex_lock(&beat.lock);
    beat.drawn = false; /* the bar covers it */
    beat.show(self, done_fraction, what);
    beat.shown_s = fc_wall_s();
    beat.done = fmin(fmax(done_fraction, 0), 1);
    snprintf(beat.what, sizeof beat.what, "%s", what ? what : "");
    pthread_mutex_unlock(&beat.lock);
}

void fc_work_start(struct fc_progress *progress, bool quiet)
{
    fc_progress_start(progress, quiet);
    if (!progress->show) return;
    beat.show = progress->show;
    progress->show = show;
}

void fc_work_end(struct fc_progress *progress)
{
    pthread_mutex_lock(&beat.lock);
    clear();
    beat.done = NAN;
    beat.shown_s = fc_wall_s();
    pthread_mutex_unlock(&beat.lock);
    if (progress->show) progress->show = beat.show; /* core takes its own bar away */
    fc_progress_end(progress);
}
