/* cmd_serve.c - `serve`: answers over a Unix socket, until SIGTERM, SIGINT or SIGHUP. */
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/version.h"
#include "serve/serve.h"

#include <unistd.h>

static volatile sig_atomic_t stop; /* a handler reaches nothing but globals */

static void note_stop(int number)
{
    stop = number;
}

static void say_ready(void *context)
{
    const struct fc_arguments *arguments = context;
    if (arguments->quiet) return;
    fprintf(stderr, "fabricast: serving at %s, one JSON object a line; SIGTERM ends it\n", arguments->socket);
}

static enum fc_code run(const struct fc_arguments *arguments, struct fc_status *st)
{
    struct sigaction action = {.sa_handler = note_stop};
    struct fc_serve_settings settings = {.path = arguments->socket,
                                         .version = FC_VERSION,
                                         .threads = arguments->ask.threads,
                                         .stop = &stop,
                                         .ready = say_ready,
                                         .context = (void *)arguments};
    if (!arguments->socket) return fc_refuse(st, FC_INPUT, "no socket (expected --socket PATH)");
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    fc_serve(&settings, st);
    if (st->code != FC_NO || !stop) return st->code;
    fprintf(stderr, "fabricast: %s\n", st->message); /* not waited for: nothing of it is on disk */
    fflush(NULL);
    _exit(FC_OK);
}

const struct fc_command fc_command_serve = {
    .name = "serve",
    .summary = "predictions for other programs: one JSON object a line over a Unix socket, machines stay open",
    .example = "fabricast serve --socket /run/user/1000/fabricast.sock",
    .options = FC_GROUPS(FC_SOCKET, FC_THREADS, FC_COMMON),
    .run = run,
};
