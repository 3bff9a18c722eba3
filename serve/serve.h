/* serve.h - answers for programs that ask often: machines stay open between questions, answers are kept.
 *
 *     request.c  a line of JSON as a question
 *     server.c   what is kept, and the answer as a line of JSON
 *     kept_traces.c  traces in memory
 *     socket.c   a Unix socket, its connections and the threads that answer */
#pragma once

#include "answer/answer.h"

#include <jansson.h>
#include <signal.h>

/* ---- a request (request.c) ---- */

enum fc_verb { FC_VERB_PREDICT, FC_VERB_MAP, FC_VERB_MACHINE, FC_VERB_VERSION };

struct fc_serve_request {
    json_t *json; /* all texts are its own */
    json_t *id;   /* borrowed of it; NULL: none was given */
    enum fc_verb verb;
    struct fc_question q;
    struct fc_demand traffic; /* in the arena of its own */
    struct fc_arena arena;
};
/* Reads {"id":1,"verb":"predict","machine":"bgl-64","trace":"job.fct"|"pattern":..|"graph":..|"traffic":{"tasks":N,"src":[..],
 * "dst":[..],"bytes":[..]},"map":..,"nodes":"0-31"|[..],...}: keys are the options of `predict` with _ for -. FC_INPUT tells
 * which key is wrong and what was expected; request->id is there if it could be read. Free it in any case. */
enum fc_code fc_request_read(const char *line, size_t n, struct fc_serve_request *request, struct fc_status *st);
void fc_request_free(struct fc_serve_request *request);

/* ---- the server (server.c) ---- */

enum { FC_SERVE_MACHINES = 16, FC_SERVE_ANSWERS = 4096 };
#define FC_SERVE_ANSWER_BYTES (64.0 * 1024 * 1024)

struct fc_server; /* opaque; used by any number of threads */
/* `version`: what the verb of that name tells; borrowed. */
struct fc_server *fc_server_open(const char *version, struct fc_status *st);
void fc_server_close(struct fc_server *server);
/* The answer to a line, {"id":1,"code":0,"answer":{..}} or {"id":1,"code":2,"message":".."}, with the end of the line; free() it.
 * NULL: out of memory. Machines are opened once, while their files stay as they are; the same question about the same files is
 * answered from memory. Keeps at most FC_SERVE_MACHINES machines, FC_SERVE_ANSWERS answers of FC_SERVE_ANSWER_BYTES. */
char *fc_server_answer(struct fc_server *server, const char *line, size_t n);

/* ---- the socket (socket.c) ---- */

struct fc_serve_settings {
    const char *path, *version;
    int threads;                       /* questions that are worked on at a time */
    size_t most_input_bytes;           /* instead of FC_SERVE_INPUT; 0: that */
    const volatile sig_atomic_t *stop; /* nonzero: no more questions; those at hand have two seconds */
    void (*ready)(void *context);      /* it listens; may be NULL */
    void *context;
};
enum { FC_SERVE_CONNECTIONS = 256 };
#define FC_SERVE_LINE ((size_t)64 << 20) /* longer requests end their connection */
/* Bytes of requests that have come in, of all connections; beyond them the connection with most of them ends. */
#define FC_SERVE_INPUT ((size_t)256 << 20)
/* Listens until *stop, then removes the socket. The socket is the user's alone (mode 600). FC_INPUT: the path cannot be one,
 * or another server listens there, or something else is in the way; one that a dead server left is replaced. */
enum fc_code fc_serve(const struct fc_serve_settings *settings, struct fc_status *st);
