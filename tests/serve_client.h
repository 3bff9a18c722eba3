/* serve_client.h - a server in a thread of its own, and a client, for tests of serve/. */
#pragma once

#include "serve/serve.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

struct served {
    char path[64];
    volatile sig_atomic_t stop;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool ready, over;
    struct fc_serve_settings settings;
    struct fc_status st;
};

static inline void served_is(struct served *s, bool ready, bool over)
{
    pthread_mutex_lock(&s->lock);
    s->ready |= ready;
    s->over |= over;
    pthread_cond_signal(&s->changed);
    pthread_mutex_unlock(&s->lock);
}
static inline void served_ready(void *context)
{
    served_is(context, true, false);
}
static inline void *served_run(void *context)
{
    struct served *s = context;
    fc_serve(&s->settings, &s->st);
    served_is(s, false, true);
    return NULL;
}

/* False: it could not start, s->st says why. end_server in any case. */
static inline bool start_server(struct served *s, const char *path, int threads)
{
    size_t most = s->settings.most_input_bytes;
    *s = (struct served){.stop = 0};
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    snprintf(s->path, sizeof s->path, "%s", path);
    s->settings = (struct fc_serve_settings){.path = s->path,
                                             .version = "1.2.3",
                                             .threads = threads,
                                             .stop = &s->stop,
                                             .ready = served_ready,
                                             .context = s,
                                             .most_input_bytes = most};
    if (pthread_create(&s->thread, NULL, served_run, s)) return false;
    pthread_mutex_lock(&s->lock);
    while (!s->ready && !s->over) pthread_cond_wait(&s->changed, &s->lock);
    bool ready = s->ready;
    pthread_mutex_unlock(&s->lock);
    return ready;
}
static inline void end_server(struct served *s)
{
    s->stop = 1;
    pthread_join(s->thread, NULL);
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->changed);
}

/* NULL: nobody listens there. */
static inline FILE *connect_to(const char *path)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    snprintf(at.sun_path, sizeof at.sun_path, "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (fd >= 0 && !connect(fd, (struct sockaddr *)&at, sizeof at)) return fdopen(fd, "r+");
    if (fd >= 0) close(fd);
    return NULL;
}
/* The next line that comes, without its end; false: the connection has ended. */
static inline bool hear(FILE *stream, char *line, size_t size)
{
    fflush(stream);
    if (!fgets(line, (int)size, stream)) return false;
    line[strcspn(line, "\n")] = 0;
    return true;
}
