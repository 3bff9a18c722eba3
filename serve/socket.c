/* socket.c - the socket: one thread looks after all connections, others work out answers.
 *
 * A connection is read while none of its lines is being worked on and its answers are being taken, so that neither what came nor
 * what is to go grows without end; the answers of a connection come in the order of its lines, those of different ones as they
 * are ready. A line that is longer than FC_SERVE_LINE, and a client that goes away, end the connection; so does what all have sent
 * and is not worked on yet, beyond FC_SERVE_INPUT, that of who sent most. Memory that runs out ends the connection that needed it.
 * While no descriptor is left for another connection, new ones wait at the socket, and it is looked at again every PAUSE_S.
 *
 * Stop: when *stop is set no line is begun any more. What is worked on may end within GRACE_S; answers that are there are sent. The
 * socket is removed at once. */
#include "core/array.h"
#include "serve/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define GRACE_S 2.0
#define PAUSE_S 0.2
enum { POLL_MS = 200, READ_BYTES = 1 << 16 };

struct connection {
    int fd; /* -1: free */
    char *in, *out;
    size_t n_in, in_capacity, scanned, n_out, sent; /* scanned: so far there is no end of a line */
    bool busy, ended;                               /* a line of it is worked on; nothing more comes */
};
/* A line on its way to an answer. */
struct task {
    int connection;
    char *line, *answer;
    size_t n;
    struct task *next;
};
struct loop {
    struct fc_server *server;
    struct connection connection[FC_SERVE_CONNECTIONS];
    int listener, woken; /* woken: an answer is there */
    pthread_mutex_t lock;
    pthread_cond_t more;
    struct task *waiting, **last_waiting, *done;
    int n_working; /* tasks that are waiting, in work or done */
    size_t most_input_bytes;
    double accept_from_s; /* none is taken before; 0: at once */
    bool closing;
};

/* ---- threads that answer ---- */

static void *work(void *context)
{
    struct loop *l = context;
    uint64_t one = 1;
    pthread_mutex_lock(&l->lock);
    for (;;) {
        while (!l->waiting && !l->closing) pthread_cond_wait(&l->more, &l->lock);
        struct task *t = l->waiting;
        if (!t) break;
        l->waiting = t->next;
        if (!l->waiting) l->last_waiting = &l->waiting;
        pthread_mutex_unlock(&l->lock);
        t->answer = fc_server_answer(l->server, t->line, t->n);
        pthread_mutex_lock(&l->lock);
        t->next = l->done;
        l->done = t;
        if (write(l->woken, &one, sizeof one) < 0) continue; /* it is full: the loop wakes anyway */
    }
    pthread_mutex_unlock(&l->lock);
    return NULL;
}

/* ---- connections ---- */

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void end_connection(struct connection *c)
{
    close(c->fd);
    free(c->in);
    free(c->out);
    *c = (struct connection){.fd = -1};
}

static void take_connection(struct loop *l)
{
    int fd = accept4(l->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) { /* it may stay at the head of the queue, so that the socket is ready all the time */
        if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) l->accept_from_s = now_s() + PAUSE_S;
        return;
    }
    for (int i = 0; i < FC_SERVE_CONNECTIONS; i++) {
        if (l->connection[i].fd >= 0) continue;
        l->connection[i] = (struct connection){.fd = fd};
        return;
    }
    close(fd);
}

/* The memory of a long line that is not held there any more. */
static void give_back(struct connection *c)
{
    if (c->n_in == 0) {
        free(c->in);
        c->in = NULL;
        c->in_capacity = 0;
    } else if (c->in_capacity > 16 * READ_BYTES && c->n_in < c->in_capacity / 4) {
        char *less = realloc(c->in, c->n_in);
        if (!less) return;
        c->in = less;
        c->in_capacity = c->n_in;
    }
}

/* The next whole line goes to work. */
static void begin_line(struct loop *l, int number)
{
    struct connection *c = &l->connection[number];
    char *end = c->n_in > c->scanned ? memchr(c->in + c->scanned, '\n', c->n_in - c->scanned) : NULL;
    if (!end) {
        c->scanned = c->n_in;
        if (c->n_in > FC_SERVE_LINE) c->ended = true;
        return;
    }
    size_t n = (size_t)(end - c->in);
    struct task *t = calloc(1, sizeof *t);
    if (t) t->line = malloc(n + 1);
    if (!t || !t->line) {
        free(t);
        c->ended = true;
        return;
    }
    memcpy(t->line, c->in, n);
    t->n = n;
    t->connection = number;
    c->n_in -= n + 1;
    memmove(c->in, end + 1, c->n_in);
    c->scanned = 0;
    give_back(c);
    c->busy = true;
    pthread_mutex_lock(&l->lock);
    *l->last_waiting = t;
    l->last_waiting = &t->next;
    l->n_working++;
    pthread_cond_signal(&l->more);
    pthread_mutex_unlock(&l->lock);
}

static void read_some(struct connection *c)
{
    if (!FC_GROW(c->in, c->in_capacity, c->n_in + READ_BYTES)) {
        c->ended = true;
        return;
    }
    ssize_t n = recv(c->fd, c->in + c->n_in, READ_BYTES, 0);
    if (n > 0)
        c->n_in += (size_t)n;
    else if (n == 0 || (errno != EAGAIN && errno != EINTR))
        c->ended = true;
}

static void send_some(struct connection *c)
{
    ssize_t n = send(c->fd, c->out + c->sent, c->n_out - c->sent, MSG_NOSIGNAL);
    if (n > 0) {
        c->sent += (size_t)n;
    } else if (n < 0 && errno != EAGAIN && errno != EINTR) {
        c->ended = true;
        c->sent = c->n_out;
        c->n_in = c->scanned = 0; /* nobody takes the answers to the rest */
    }
    if (c->sent < c->n_out) return;
    free(c->out);
    c->out = NULL;
    c->n_out = c->sent = 0;
}

/* Ends who has sent most where all together have sent too much. */
static void bound_input(struct loop *l)
{
    size_t sum = 0, most = 0;
    for (int i = 0; i < FC_SERVE_CONNECTIONS; i++) {
        const struct connection *c = &l->connection[i];
        if (c->fd < 0) continue;
        sum += c->n_in;
        if (c->n_in > l->connection[most].n_in || l->connection[most].fd < 0) most = (size_t)i;
    }
    if (sum <= l->most_input_bytes) return;
    struct connection *c = &l->connection[most];
    free(c->in);
    c->in = NULL;
    c->n_in = c->in_capacity = c->scanned = 0;
    c->ended = true;
}

/* Answers that are ready go to their connections. */
static void hand_out(struct loop *l)
{
    uint64_t count;
    if (read(l->woken, &count, sizeof count) < 0) count = 0;
    pthread_mutex_lock(&l->lock);
    struct task *done = l->done;
    l->done = NULL;
    for (struct task *t = done; t; t = t->next) l->n_working--;
    pthread_mutex_unlock(&l->lock);
    for (struct task *t = done, *next; t; t = next) {
        struct connection *c = &l->connection[t->connection];
        next = t->next;
        c->busy = false;
        c->out = t->answer;
        c->n_out = t->answer ? strlen(t->answer) : 0;
        c->sent = 0;
        if (!t->answer) c->ended = true;
        free(t->line);
        free(t);
    }
}

/* Waits for something to happen, at most POLL_MS. */
static void look_around(struct loop *l, bool accepts)
{
    struct pollfd of[FC_SERVE_CONNECTIONS + 2];
    int number[FC_SERVE_CONNECTIONS + 2], n = 0;
    of[n++] = (struct pollfd){l->woken, POLLIN, 0};
    of[n++] = (struct pollfd){accepts && now_s() >= l->accept_from_s ? l->listener : -1, POLLIN, 0};
    for (int i = 0; i < FC_SERVE_CONNECTIONS; i++) {
        const struct connection *c = &l->connection[i];
        if (c->fd < 0 || (c->busy && !c->out)) continue;
        number[n] = i;
        of[n++] = (struct pollfd){c->fd, c->out ? POLLOUT : POLLIN, 0};
    }
    if (poll(of, (nfds_t)n, POLL_MS) <= 0) return;
    if (of[1].revents) take_connection(l);
    for (int k = 2; k < n; k++) {
        struct connection *c = &l->connection[number[k]];
        if (!of[k].revents) continue;
        if (c->out)
            send_some(c);
        else
            read_some(c);
    }
}

static bool owes_answers(const struct loop *l)
{
    if (l->n_working) return true; /* only this thread makes it more */
    for (int i = 0; i < FC_SERVE_CONNECTIONS; i++)
        if (l->connection[i].fd >= 0 && l->connection[i].out) return true;
    return false;
}

/* Until it is stopped, and what is at hand then is answered or late. False: late. */
static bool turn(struct loop *l, const volatile sig_atomic_t *stop, const char *path)
{
    double end_s = INFINITY;
    for (;;) {
        bool stopped = *stop != 0;
        if (stopped && end_s == INFINITY) {
            end_s = now_s() + GRACE_S;
            unlink(path);
        }
        if (stopped && !owes_answers(l)) return true;
        if (stopped && now_s() > end_s) return l->n_working == 0;
        look_around(l, !stopped);
        hand_out(l);
        bound_input(l);
        for (int i = 0; i < FC_SERVE_CONNECTIONS; i++) {
            struct connection *c = &l->connection[i];
            if (c->fd < 0 || c->busy || c->out) continue;
            if (!stopped) begin_line(l, i);
            if (!c->busy && (c->ended || stopped)) end_connection(c);
        }
    }
}

/* ---- the socket ---- */

/* Why the socket that is there may not be replaced; NULL: nobody listens there any more. */
static const char *in_use(const struct sockaddr_un *at)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int why = fd >= 0 && connect(fd, (const struct sockaddr *)at, sizeof *at) == 0 ? 0 : errno;
    if (fd >= 0) close(fd);
    if (why == ECONNREFUSED) return NULL;
    return why == 0 || why == EAGAIN ? "another server listens there" : strerror(why); /* EAGAIN: its queue is full */
}

static int listen_at(const char *path, struct fc_status *st)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    struct stat there;
    if (!*path || strlen(path) >= sizeof at.sun_path) {
        fc_refuse(st, FC_INPUT, "--socket: a path of %zu characters (expected 1 to %zu)", strlen(path),
                  sizeof at.sun_path - 1);
        return -1;
    }
    strcpy(at.sun_path, path);
    if (!lstat(path, &there)) {
        if (!S_ISSOCK(there.st_mode)) {
            fc_refuse(st, FC_INPUT, "--socket: %s is there and is no socket", path);
            return -1;
        }
        const char *why = in_use(&at);
        if (why) {
            fc_refuse(st, FC_INPUT, "--socket: %s: %s", path, why);
            return -1;
        }
        unlink(path);
    }
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    mode_t before = umask(0177); /* from the first moment nobody else may connect */
    bool bound = fd >= 0 && bind(fd, (const struct sockaddr *)&at, sizeof at) == 0;
    umask(before);
    if (bound && listen(fd, 128) == 0) return fd;
    fc_refuse(st, FC_INPUT, "--socket: %s: %s", path, strerror(errno));
    if (fd >= 0) close(fd);
    return -1;
}

static enum fc_code run(struct loop *l, const struct fc_serve_settings *settings, struct fc_status *st)
{
    pthread_t *thread = calloc((size_t)settings->threads, sizeof *thread);
    int n = 0;
    if (!thread) return fc_out_of_memory(st, "threads");
    while (n < settings->threads && !pthread_create(&thread[n], NULL, work, l)) n++;
    if (n == 0) {
        unlink(settings->path);
        fc_refuse(st, FC_NO, "no thread could be started");
    }
    if (n > 0 && settings->ready) settings->ready(settings->context);
    bool all = n == 0 || turn(l, settings->stop, settings->path);
    pthread_mutex_lock(&l->lock);
    l->closing = true;
    pthread_cond_broadcast(&l->more);
    pthread_mutex_unlock(&l->lock);
    for (int i = 0; i < n && all; i++) pthread_join(thread[i], NULL);
    free(thread);
    /* Late ones cannot be waited for: the caller ends, and they with it. */
    return st->code ? st->code : all ? FC_OK : fc_refuse(st, FC_NO, "stopped while answers were worked on");
}

enum fc_code fc_serve(const struct fc_serve_settings *settings, struct fc_status *st)
{
    struct loop *l = calloc(1, sizeof *l);
    if (!l) return fc_out_of_memory(st, "the server");
    l->listener = listen_at(settings->path, st);
    l->woken = l->listener >= 0 ? eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC) : -1;
    l->last_waiting = &l->waiting;
    l->most_input_bytes = settings->most_input_bytes ? settings->most_input_bytes : FC_SERVE_INPUT;
    for (int i = 0; i < FC_SERVE_CONNECTIONS; i++) l->connection[i].fd = -1;
    pthread_mutex_init(&l->lock, NULL);
    pthread_cond_init(&l->more, NULL);
    if (!st->code && !(l->server = fc_server_open(settings->version, st))) unlink(settings->path);
    if (!st->code) run(l, settings, st); /* removes the socket, once: the next server may have its own there by now */
    if (l->listener >= 0) close(l->listener);
    for (int i = 0; i < FC_SERVE_CONNECTIONS; i++)
        if (l->connection[i].fd >= 0) end_connection(&l->connection[i]);
    if (st->code == FC_NO && l->n_working) return st->code; /* threads still use the rest */
    if (l->woken >= 0) close(l->woken);
    fc_server_close(l->server);
    pthread_mutex_destroy(&l->lock);
    pthread_cond_destroy(&l->more);
    free(l);
    return st->code;
}
