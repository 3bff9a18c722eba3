/* server.c - what is kept between questions: open machines, and answers.
 *
 * A machine is asked for by its name or file with everything that changes it (set, routing, without, hosts and the nodes whose
 * they are, ranks_per_node); it is opened at its first question and again when one of its files has another time, size or number
 * (inode). An answer is kept under the whole question but its id, with the stamps of all files that its texts name, so that the
 * same question about the same files has the same bytes at once. Both are found by their text; what was not used longest goes
 * first.
 *
 * Traces that were read are kept too (kept_traces.c), for other questions about the same job.
 *
 * Threads: one lock around the two tables. A machine is opened without it, by the first question that asks for it; others that
 * ask for the same one wait for that, others do not. Answers are worked out without it, too, from a view of the machine (fc_answer_view). A machine in use is closed by its last user. Memory that
 * ran out, also where the work went on without, is told to all whose questions were at work then. */
#include "answer/answer_json.h"
#include "models/family_graph.h"
#include "models/family_two_level.h"
#include "serve/kept_traces.h"
#include "serve/serve.h"
#include "serve/stamp.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FILES = 16 };
struct machine {
    char *key; /* NULL: free */
    char *file[MOST_FILES];
    struct stamp stamp[MOST_FILES];
    int n_files;
    struct fc_session session;
    unsigned users;
    bool unwatched; /* by some file */
    bool stale;     /* not for new questions */
    bool opening;   /* by the question that is its only user yet; session and files are that one's */
    bool open;      /* there is a session to close */
    uint64_t used;
    struct machine *next;
};
struct kept {
    char *key, *text;
    uint64_t hash, used;
};
struct fc_server {
    pthread_mutex_t lock;
    pthread_cond_t opened; /* some machine is open now, or could not be opened */
    struct fc_kept_traces *traces;
    struct machine *machines;
    int n_machines; /* that are not stale */
    struct kept answer[FC_SERVE_ANSWERS];
    int n_answers;
    double bytes;
    uint64_t clock;
    unsigned n_at_work;
    const char *version;
};

struct fc_server *fc_server_open(const char *version, struct fc_status *st)
{
    struct fc_server *server = calloc(1, sizeof *server);
    if (!server || !(server->traces = fc_kept_traces_open(0))) {
        fc_out_of_memory(st, "the server");
        free(server);
        return NULL;
    }
    server->version = version;
    pthread_mutex_init(&server->lock, NULL);
    pthread_cond_init(&server->opened, NULL);
    return server;
}

static void free_machine(struct machine *m)
{
    if (m->open) fc_session_close(&m->session);
    for (int i = 0; i < m->n_files; i++) free(m->file[i]);
    free(m->key);
    free(m);
}

void fc_server_close(struct fc_server *server)
{
    if (!server) return;
    for (struct machine *m = server->machines, *next; m; m = next) {
        next = m->next;
        free_machine(m);
    }
    for (int i = 0; i < server->n_answers; i++) {
        free(server->answer[i].key);
        free(server->answer[i].text);
    }
    fc_kept_traces_close(server->traces);
    pthread_mutex_destroy(&server->lock);
    pthread_cond_destroy(&server->opened);
    free(server);
}

/* ---- files ---- */

static void print_stamp(FILE *stream, const char *path, const struct stamp *s)
{
    if (s->there)
        fprintf(stream, "%s %ju %ju %jd %jd.%09ld\n", path, (uintmax_t)s->device, (uintmax_t)s->number,
                (intmax_t)s->size, (intmax_t)s->changed.tv_sec, s->changed.tv_nsec);
}

static void print_file(FILE *stream, const char *path)
{
    struct stamp s = stamp_of(path);
    print_stamp(stream, path, &s);
}

/* Files that a text may name, as a whole or behind '@', ':' or ','. */
static void print_files(FILE *stream, const char *text)
{
    char piece[PATH_MAX];
    print_file(stream, text);
    for (const char *at = text; *at;) {
        size_t n = strcspn(at, "@:,");
        if (n > 0 && n < sizeof piece && (at > text || at[n])) {
            memcpy(piece, at, n);
            piece[n] = 0;
            print_file(stream, piece);
        }
        at += n + (at[n] != 0);
    }
}

static void print_all_files(FILE *stream, const json_t *json)
{
    const char *name;
    json_t *value;
    size_t i;
    if (json_is_string(json)) print_files(stream, json_string_value(json));
    json_object_foreach((json_t *)json, name, value) print_all_files(stream, value);
    json_array_foreach(json, i, value) print_all_files(stream, value);
}

/* ---- machines ---- */

/* With a file too many the machine is not kept. */
static void watch_file(struct machine *m, const char *path)
{
    char *copy = m->n_files < MOST_FILES ? strdup(path) : NULL;
    if (!copy) {
        m->unwatched = true;
        return;
    }
    m->file[m->n_files] = copy;
    m->stamp[m->n_files] = stamp_of(path);
    m->n_files++;
}

/* Files "a,b" that the machine file names, relative to it; NULL: none. */
static void watch_beside(struct machine *m, const char *names)
{
    const char *of = m->session.machine.file, *slash = strrchr(of, '/');
    for (const char *at = names; at && *at; at += strcspn(at, ","), at += *at == ',') {
        char path[4096];
        int folder = *at != '/' && slash ? (int)(slash - of) + 1 : 0, length = (int)strcspn(at, ",");
        if (snprintf(path, sizeof path, "%.*s%.*s", folder, of, length, at) >= (int)sizeof path) m->unwatched = true;
        watch_file(m, path);
    }
}

static void watch_parts(struct machine *m, const struct fc_machine *machine)
{
    const struct fc_graph_shape *graph = fc_machine_graph(machine);
    const struct fc_two_level_shape *two_level = fc_machine_two_level(machine);
    watch_beside(m, machine->hosts_file);
    if (graph) {
        watch_beside(m, graph->file);
        watch_beside(m, graph->routes);
    }
    if (two_level) watch_beside(m, two_level->d_links);
}

/* One that has lost something no longer tells which files the whole one is made of. */
static enum fc_code watch_whole(struct machine *m, const struct fc_question *q, struct fc_status *st)
{
    FC_SCOPED(fc_machine_free) struct fc_machine whole = {0};
    if (!m->session.machine.damaged) {
        watch_parts(m, &m->session.machine);
        return FC_OK;
    }
    if (fc_machine_load_changed(q->machine, q->settings, q->n_settings, &whole, st)) return st->code;
    watch_parts(m, &whole);
    return FC_OK;
}

/* The files behind an open machine. */
static enum fc_code watch_files(struct machine *m, const struct fc_question *q, struct fc_status *st)
{
    const struct fc_machine *machine = &m->session.machine;
    const char *named[] = {q->hosts, q->nodes};
    char path[4096];
    watch_file(m, machine->file);
    watch_file(m, fc_calibration_path(machine, path, sizeof path));
    for (size_t i = 0; i < FC_COUNT(named); i++)
        if (named[i]) watch_file(m, named[i] + (*named[i] == '@')); /* a list is no file, and stays none */
    return watch_whole(m, q, st);
}

/* A file that changed while the machine was opened may have been read before that, and its stamp taken after. */
static bool any_changed_since(const struct machine *m, const struct timespec *then)
{
    for (int i = 0; i < m->n_files; i++)
        if (changed_since(m->file[i], then)) return true;
    return false;
}

static bool is_fresh(const struct machine *m)
{
    for (int i = 0; i < m->n_files; i++) {
        struct stamp now = stamp_of(m->file[i]);
        if (!same_stamp(&now, &m->stamp[i])) return false;
    }
    return !m->unwatched;
}

/* Takes those without a user that no question will ask for out of the list. */
static void sweep_out(struct fc_server *server)
{
    for (struct machine **at = &server->machines, *m; (m = *at);) {
        if (!m->stale || m->users) {
            at = &m->next;
            continue;
        }
        *at = m->next;
        free_machine(m);
    }
}

static void retire(struct fc_server *server, struct machine *m)
{
    m->stale = true;
    server->n_machines--;
}

/* Also where more were opened at a time than are kept. */
static void make_room(struct fc_server *server)
{
    while (server->n_machines >= FC_SERVE_MACHINES) {
        struct machine *oldest = NULL;
        for (struct machine *m = server->machines; m; m = m->next)
            if (!m->stale && !m->opening && (!oldest || m->used < oldest->used)) oldest = m;
        if (!oldest) return;
        retire(server, oldest);
    }
}

/* What of a question makes the machine, as text; hosts may be those of the nodes. free() it. */
static char *machine_key(const struct fc_serve_request *r)
{
    static const char *const names[] = {"machine", "set", "routing", "without", "ranks_per_node", "hosts", "nodes"};
    json_t *part = json_object();
    for (size_t i = 0; part && i < FC_COUNT(names) - !r->q.hosts; i++) {
        json_t *value = json_object_get(r->json, names[i]);
        if (value) json_object_set(part, names[i], value);
    }
    char *key = part ? json_dumps(part, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    json_decref(part);
    return key;
}

/* Into a machine that has its key. */
static enum fc_code open_machine(const struct fc_question *q, struct machine *m, struct fc_status *st)
{
    struct fc_question bare = *q;
    const struct fc_bulk *bulk;
    struct timespec begun;
    if (!q->hosts) bare.nodes = NULL;
    bare.background = bare.background_nodes = NULL;
    clock_gettime(CLOCK_REALTIME_COARSE, &begun); /* as files are stamped */
    if (fc_session_open(&bare, q->machine, &m->session, st)) return st->code;
    m->open = true;
    if (watch_files(m, &bare, st) || fc_session_calibrate(&m->session, &bulk, st)) return st->code;
    m->unwatched |= any_changed_since(m, &begun);
    return FC_OK;
}

/* That one of the list, fresh, open or being opened; NULL: none. */
static struct machine *find(struct fc_server *server, const char *key)
{
    struct machine *m = server->machines;
    while (m && (m->stale || strcmp(m->key, key))) m = m->next;
    if (!m || m->opening || is_fresh(m)) return m;
    retire(server, m);
    return NULL;
}

/* The machine of a question, in use until leave(); NULL with the status filled. */
static struct machine *enter(struct fc_server *server, const struct fc_serve_request *r, struct fc_status *st)
{
    char *key = machine_key(r);
    struct machine *m;
    if (!key) return fc_out_of_memory(st, "a question"), NULL;
    pthread_mutex_lock(&server->lock);
    while ((m = find(server, key)) && m->opening) pthread_cond_wait(&server->opened, &server->lock);
    if (m) {
        m->users++;
        free(key);
    } else if (!(m = calloc(1, sizeof *m))) {
        fc_out_of_memory(st, "a machine");
        free(key);
    } else {
        make_room(server);
        *m = (struct machine){.key = key, .users = 1, .opening = true, .next = server->machines};
        server->machines = m;
        server->n_machines++;
        pthread_mutex_unlock(&server->lock);
        open_machine(&r->q, m, st);
        pthread_mutex_lock(&server->lock);
        m->opening = false;
        if (st->code) {
            retire(server, m);
            m->users--;
            m = NULL;
        }
        pthread_cond_broadcast(&server->opened);
    }
    if (m) m->used = ++server->clock;
    sweep_out(server);
    pthread_mutex_unlock(&server->lock);
    return m;
}

static void leave(struct fc_server *server, struct machine *m)
{
    pthread_mutex_lock(&server->lock);
    m->users--;
    sweep_out(server);
    pthread_mutex_unlock(&server->lock);
}

/* ---- answers that are kept ---- */

static uint64_t hash_of(const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    for (; *text; text++) hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return hash;
}

/* The whole question but its id, and the files that it is about: those of the machine as they were when it was opened; free() it. */
static char *answer_key(const struct fc_serve_request *r, const struct machine *m)
{
    struct fc_memory_stream text;
    struct fc_status st = {0};
    json_t *rest = json_copy(r->json);
    if (rest) json_object_del(rest, "id");
    char *question = rest ? json_dumps(rest, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    if (!question || fc_memory_open(&text, &st)) {
        free(question);
        json_decref(rest);
        return NULL;
    }
    fprintf(text.stream, "%s\n", question);
    for (int i = 0; i < m->n_files; i++) print_stamp(text.stream, m->file[i], &m->stamp[i]);
    print_all_files(text.stream, rest);
    free(question);
    json_decref(rest);
    if (!fc_memory_close(&text, &st)) return text.text;
    free(text.text);
    return NULL;
}

/* A copy of the answer; NULL: none is kept. */
static char *recall(struct fc_server *server, const char *key)
{
    uint64_t hash = key ? hash_of(key) : 0;
    char *text = NULL;
    pthread_mutex_lock(&server->lock);
    for (int i = 0; key && i < server->n_answers; i++) {
        struct kept *k = &server->answer[i];
        if (k->hash != hash || strcmp(k->key, key)) continue;
        k->used = ++server->clock;
        text = strdup(k->text);
        break;
    }
    pthread_mutex_unlock(&server->lock);
    return text;
}

static void forget(struct fc_server *server, int i)
{
    struct kept *k = &server->answer[i];
    server->bytes -= (double)(strlen(k->key) + strlen(k->text));
    free(k->key);
    free(k->text);
    *k = server->answer[--server->n_answers];
}

/* Takes the key. */
static void keep(struct fc_server *server, char *key, const char *text)
{
    double bytes = key ? (double)(strlen(key) + strlen(text)) : 0;
    char *copy = key && bytes < FC_SERVE_ANSWER_BYTES / 16 ? strdup(text) : NULL;
    if (!copy) {
        free(key);
        return;
    }
    pthread_mutex_lock(&server->lock);
    while (server->n_answers > 0 &&
           (server->n_answers == FC_SERVE_ANSWERS || server->bytes + bytes > FC_SERVE_ANSWER_BYTES)) {
        int oldest = 0;
        for (int i = 1; i < server->n_answers; i++)
            if (server->answer[i].used < server->answer[oldest].used) oldest = i;
        forget(server, oldest);
    }
    server->answer[server->n_answers++] = (struct kept){key, copy, hash_of(key), ++server->clock};
    server->bytes += bytes;
    pthread_mutex_unlock(&server->lock);
}

/* ---- a question ---- */

static json_t *placement_json(const struct fc_answer *a, const struct fc_network *net)
{
    json_t *nodes = json_array();
    for (uint32_t t = 0; t < a->n_tasks; t++) json_array_append_new(nodes, json_integer(a->node[t]));
    if (!net->host_name) return json_pack("{s:o}", "node", nodes);
    json_t *hosts = json_array();
    for (uint32_t t = 0; t < a->n_tasks; t++) {
        const char *host = net->host_name[a->node[t]];
        json_array_append_new(hosts, host ? json_string(host) : json_null());
    }
    return json_pack("{s:o, s:o}", "node", nodes, "host", hosts);
}

static json_t *machine_json(const struct fc_session *s)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:I}", "machine", s->machine.name, "title", s->machine.title,
                     "family", s->machine.family->name, "routing", s->machine.routing->name, "nodes",
                     (json_int_t)s->net.n_nodes, "cores", (json_int_t)fc_machine_cores(&s->net), "routers",
                     (json_int_t)s->net.n_routers, "links", (json_int_t)s->net.n_links);
}

/* Nodes of a machine that has lost something are named as in the whole one: such a question opens it for itself. */
static json_t *predict(struct fc_server *server, const struct fc_serve_request *r, const struct fc_session *session,
                       struct fc_status *st)
{
    struct fc_question q = r->q;
    struct fc_session view;
    struct fc_answer answer = {0};
    json_t *json = NULL;
    bool own = (session->nodes_lost || session->machine.damaged) && q.nodes;
    bool readable = q.trace && !q.flops_per_s && !q.phase; /* our forms have times, which no speed changes */
    struct fc_kept_trace *kept = readable ? fc_kept_trace_enter(server->traces, q.trace, &q.read) : NULL;
    q.keep_links = r->verb == FC_VERB_MAP;
    if (own)
        fc_answer_make(&q, &answer, st);
    else
        fc_answer_view(&q, session, &view, &answer, st);
    if (!st->code) {
        json = fc_answer_json(&answer);
        json_t *where = json && q.keep_links ? placement_json(&answer, &session->net) : NULL;
        if (where) json_object_update(json, where);
        json_decref(where);
        if (!json) fc_out_of_memory(st, "the answer's JSON");
    }
    fc_answer_free(&answer);
    if (!own) fc_answer_view_close(session, &view);
    fc_kept_trace_leave(server->traces, kept);
    return json;
}

/* {"id":..,"code":0,"answer":TEXT} with TEXT as it is; NULL: out of memory. */
static char *reply(const struct fc_serve_request *r, const char *answer, const struct fc_status *st)
{
    struct fc_memory_stream text;
    struct fc_status none = {0};
    char *id = r->id ? json_dumps(r->id, JSON_COMPACT | JSON_ENCODE_ANY) : NULL, place[600] = "";
    if (fc_memory_open(&text, &none)) return free(id), NULL;
    fprintf(text.stream, "{\"id\":%s,\"code\":%d,", id ? id : "null", st->code);
    if (st->code) {
        char whole[sizeof st->message + sizeof place];
        if (*st->file) snprintf(place, sizeof place, st->line ? "%s:%ld: " : "%s: ", st->file, st->line);
        snprintf(whole, sizeof whole, "%s%s", place, st->message);
        json_t *message = json_string(whole);
        char *dumped = message ? json_dumps(message, JSON_ENCODE_ANY) : NULL;
        fprintf(text.stream, "\"message\":%s}\n", dumped ? dumped : "\"a text that is no UTF-8 is wrong\"");
        free(dumped);
        json_decref(message);
    } else {
        fprintf(text.stream, "\"answer\":%s}\n", answer);
    }
    free(id);
    if (!fc_memory_close(&text, &none)) return text.text;
    free(text.text);
    return NULL;
}

/* One question more (1) or less (-1) is at work. */
static void count_work(struct fc_server *server, int more)
{
    pthread_mutex_lock(&server->lock);
    if (more > 0 && server->n_at_work == 0) fc_memory_forget();
    server->n_at_work += (unsigned)more;
    pthread_mutex_unlock(&server->lock);
}

static char *work_out(struct fc_server *server, const struct fc_serve_request *r, struct fc_status *st)
{
    struct machine *m = enter(server, r, st);
    if (!m) return NULL;
    char *key = m->unwatched ? NULL : answer_key(r, m), *text = recall(server, key);
    if (!text) {
        json_t *json = r->verb == FC_VERB_MACHINE ? machine_json(&m->session) : predict(server, r, &m->session, st);
        text = json ? json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;
        json_decref(json);
        if (!text && !st->code) fc_out_of_memory(st, "an answer");
        if (text && fc_memory_whole(st)) {
            free(text);
            text = NULL;
        }
        if (text) {
            keep(server, key, text);
            key = NULL;
        }
    }
    free(key);
    leave(server, m);
    return text;
}

static char *version_text(const struct fc_server *server)
{
    json_t *json = json_pack("{s:s}", "fabricast", server->version);
    char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;
    json_decref(json);
    return text;
}

char *fc_server_answer(struct fc_server *server, const char *line, size_t n)
{
    struct fc_serve_request request;
    struct fc_status st = {0};
    char *answer = NULL;
    if (!fc_request_read(line, n, &request, &st)) {
        count_work(server, 1);
        answer = request.verb == FC_VERB_VERSION ? version_text(server) : work_out(server, &request, &st);
        count_work(server, -1);
        if (!answer && !st.code) fc_out_of_memory(&st, "an answer");
    }
    char *text = reply(&request, answer, &st);
    free(answer);
    fc_request_free(&request);
    return text;
}
