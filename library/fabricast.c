/* fabricast.c - the public calls (fabricast.h): each makes a question of what it is given and asks answer/. */
#include "library/fabricast.h"
#include "answer/answer_json.h"
#include "mapping/launcher.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PUBLIC __attribute__((visibility("default")))

struct fabricast_machine {
    struct fc_session session; /* stays where it is: its network points to it */
    struct fc_question opened; /* of one that has lost something (keep_opening); machine NULL: not needed */
};
struct fabricast_job {
    struct fc_arena arena;
    const char *trace, *pattern; /* one of them, or else */
    struct fc_demand traffic;
    uint64_t seed;
    uint32_t n_tasks;
};
struct fabricast_answer {
    struct fc_answer answer;
    fabricast_figures figures;
    uint32_t *allowed; /* [n_allowed], in the answer's arena; NULL: all */
    uint32_t n_allowed;
    char *json; /* NULL: not asked for yet */
};

/* ---- calls ---- */

/* A call under way: numbers are read and written as in C whatever the host program's locale, and memory that ran out in an
 * earlier call is forgotten. */
struct call {
    struct fc_status st;
    locale_t c, before;
};

static void enter(struct call *call)
{
    *call = (struct call){.c = newlocale(LC_ALL_MASK, "C", (locale_t)0)};
    if (call->c) call->before = uselocale(call->c);
    fc_memory_forget();
}

static fabricast_code leave(struct call *call, fabricast_error *error)
{
    if (call->c) {
        uselocale(call->before);
        freelocale(call->c);
    }
    if (!call->st.code || !error) return (fabricast_code)call->st.code;
    *error = (fabricast_error){.code = (fabricast_code)call->st.code, .line = call->st.line};
    memcpy(error->file, call->st.file, sizeof error->file);
    memcpy(error->message, call->st.message, sizeof error->message);
    return error->code;
}

static void *make(size_t size, const char *what, struct call *call)
{
    void *memory = calloc(1, size);
    if (!memory) fc_out_of_memory(&call->st, "%s", what);
    return memory;
}

PUBLIC uint32_t fabricast_version(void)
{
    return FABRICAST_VERSION;
}

/* ---- the machine ---- */

/* Of a machine that has lost something: how it was opened, since nodes in texts are named as in the whole one. */
static enum fc_code keep_opening(const struct fc_question *q, fabricast_machine *machine, struct fc_status *st)
{
    struct fc_arena *arena = &machine->session.arena;
    machine->opened = (struct fc_question){.n_settings = q->n_settings};
    machine->opened.machine = fc_copy_text(arena, q->machine, st);
    machine->opened.settings = fc_alloc(arena, q->n_settings + 1, sizeof *machine->opened.settings, st);
    for (size_t i = 0; !st->code && i < q->n_settings; i++)
        machine->opened.settings[i] = fc_copy_text(arena, q->settings[i], st);
    return st->code;
}

PUBLIC fabricast_code fabricast_machine_open(const char *name, const char *const *settings, fabricast_machine **machine,
                                             fabricast_error *error)
{
    struct call call;
    struct fc_question q = {.machine = name, .settings = (const char **)settings};
    const struct fc_bulk *bulk;
    enter(&call);
    while (settings && settings[q.n_settings]) q.n_settings++;
    *machine = make(sizeof **machine, "a machine", &call);
    if (*machine && fc_session_open(&q, name, &(*machine)->session, &call.st)) {
        free(*machine);
        *machine = NULL;
    }
    if (*machine && (fc_session_calibrate(&(*machine)->session, &bulk, &call.st) ||
                     ((*machine)->session.machine.damaged && keep_opening(&q, *machine, &call.st)))) {
        fabricast_machine_close(*machine);
        *machine = NULL;
    }
    return leave(&call, error);
}

PUBLIC uint32_t fabricast_machine_nodes(const fabricast_machine *machine)
{
    return machine ? machine->session.net.n_nodes : 0;
}

PUBLIC fabricast_code fabricast_machine_hosts(fabricast_machine *machine, const char *hosts, fabricast_error *error)
{
    struct call call;
    struct fc_session *s = &machine->session;
    const char **host;
    uint32_t n;
    enter(&call);
    if (!fc_hosts_read(hosts, &s->arena, &host, &n, &call.st)) {
        if (n == s->net.n_nodes) {
            s->net.host_name = host;
            machine->opened.machine = NULL; /* these names are those of the nodes that are left */
        } else
            fc_refuse(&call.st, FC_INPUT, "%u hosts (expected one for each of the machine's %u nodes)", n,
                      s->net.n_nodes);
    }
    return leave(&call, error);
}

PUBLIC fabricast_code fabricast_machine_find(const fabricast_machine *machine, size_t n, const char *const *hosts,
                                             uint32_t *node, fabricast_error *error)
{
    struct call call;
    struct fc_arena arena = {0};
    struct fc_host_index index;
    const struct fc_network *net = &machine->session.net;
    enter(&call);
    for (size_t i = 0; i < n && (i || !fc_host_index_start(net, &arena, &index, &call.st)); i++) {
        size_t length = strlen(hosts[i]), domain = strcspn(hosts[i], ".");
        node[i] = fc_host_find(&index, hosts[i], length);
        if (node[i] == FC_NONE) node[i] = fc_host_find(&index, hosts[i], domain);
        if (node[i] == FC_NONE && fc_host_unknown(net, hosts[i], length, (struct fc_place){0}, &call.st)) break;
    }
    fc_arena_free(&arena);
    return leave(&call, error);
}

PUBLIC uint32_t fabricast_machine_links(const fabricast_machine *machine)
{
    return machine ? machine->session.net.n_links : 0;
}

PUBLIC char *fabricast_machine_link(const fabricast_machine *machine, uint32_t link, char *out, size_t size)
{
    if (size) *out = 0;
    if (size && link < fabricast_machine_links(machine)) fc_link_name(&machine->session.net, link, out, size);
    return out;
}

PUBLIC void fabricast_machine_close(fabricast_machine *machine)
{
    if (machine) fc_session_close(&machine->session);
    free(machine);
}

/* ---- the job ---- */

/* Ends a call that made *job. */
static fabricast_code leave_job(struct call *call, fabricast_job **job, fabricast_error *error)
{
    if (call->st.code) {
        fabricast_job_close(*job);
        *job = NULL;
    }
    return leave(call, error);
}

PUBLIC fabricast_code fabricast_job_trace(const char *path, fabricast_job **job, fabricast_error *error)
{
    struct call call;
    struct fc_trace_source source;
    enter(&call);
    *job = make(sizeof **job, "a job", &call);
    if (*job && !fc_source_open(path, NULL, &source, &call.st)) {
        (*job)->n_tasks = source.head->n_ranks;
        (*job)->trace = fc_copy_text(&(*job)->arena, path, &call.st);
        fc_source_close(&source);
    }
    return leave_job(&call, job, error);
}

PUBLIC fabricast_code fabricast_job_pattern(const fabricast_machine *machine, const char *pattern, uint64_t seed,
                                            fabricast_job **job, fabricast_error *error)
{
    struct call call;
    struct fc_demand demand;
    enter(&call);
    *job = make(sizeof **job, "a job", &call);
    if (*job && !fc_demand_from_pattern(&machine->session.net, pattern, seed, &demand, &call.st)) {
        (*job)->n_tasks = demand.n_tasks;
        (*job)->seed = seed;
        (*job)->pattern = fc_copy_text(&(*job)->arena, pattern, &call.st);
        fc_demand_free(&demand);
    }
    return leave_job(&call, job, error);
}

PUBLIC fabricast_code fabricast_job_graph(const char *path, fabricast_job **job, fabricast_error *error)
{
    struct call call;
    enter(&call);
    *job = make(sizeof **job, "a job", &call);
    if (*job && !fc_demand_from_graph(path, &(*job)->traffic, &call.st)) (*job)->n_tasks = (*job)->traffic.n_tasks;
    return leave_job(&call, job, error);
}

PUBLIC fabricast_code fabricast_job_traffic(uint32_t n_tasks, size_t n, const uint32_t *src, const uint32_t *dst,
                                            const double *bytes, fabricast_job **job, fabricast_error *error)
{
    struct call call;
    enter(&call);
    *job = make(sizeof **job, "a job", &call);
    if (*job) {
        (*job)->n_tasks = n_tasks;
        fc_demand_of_pairs("traffic", n_tasks, n, src, dst, bytes, &(*job)->traffic, &call.st);
    }
    return leave_job(&call, job, error);
}

PUBLIC uint32_t fabricast_job_tasks(const fabricast_job *job)
{
    return job ? job->n_tasks : 0;
}

PUBLIC void fabricast_job_close(fabricast_job *job)
{
    if (job) fc_demand_free(&job->traffic), fc_arena_free(&job->arena);
    free(job);
}

/* ---- the prediction ---- */

PUBLIC fabricast_settings fabricast_defaults(void)
{
    return (fabricast_settings){.size = sizeof(fabricast_settings), .seed = 1, .threads = 1};
}

/* The caller's progress as ours. */
struct watch {
    struct fc_progress progress; /* first: what show() gets */
    struct fc_watcher watcher;
    const fabricast_settings *settings;
    volatile sig_atomic_t stop;
};

static void show(struct fc_progress *self, double done, const char *what)
{
    struct watch *w = (struct watch *)self;
    (void)what;
    if (w->settings->progress(w->settings->context, done)) w->stop = 1;
}

static const volatile sig_atomic_t *search_starts(void *context)
{
    return &((struct watch *)context)->stop;
}

/* The settings as far as the caller's header knows them, the rest by default. */
static enum fc_code read_settings(const fabricast_settings *given, fabricast_settings *settings, struct fc_status *st)
{
    *settings = fabricast_defaults();
    if (!given) return FC_OK;
    if (given->size < offsetof(fabricast_settings, nodes))
        return fc_refuse(st, FC_INPUT, "settings of %u bytes (expected those of fabricast_defaults)", given->size);
    memcpy(settings, given, given->size < sizeof *settings ? given->size : sizeof *settings);
    if (settings->allowed && settings->nodes)
        return fc_refuse(st, FC_INPUT, "allowed nodes are given twice, as numbers and as text");
    if (!(settings->search_s >= 0 && settings->search_s <= 1e9))
        return fc_refuse(st, FC_INPUT, "search_s is %g (expected 0 to 1e9 s)", settings->search_s);
    return FC_OK;
}

static struct fc_question question_of(const fabricast_job *job, const fabricast_settings *s, struct watch *watch)
{
    struct fc_question q = {.trace = job->trace,
                            .pattern = job->pattern,
                            .network = job->trace ? s->network : NULL,
                            .map = s->map,
                            .node_of = s->node_of,
                            .n_node_of = s->node_of ? job->n_tasks : 0,
                            .allowed = s->allowed,
                            .n_allowed = s->n_allowed,
                            .nodes = s->nodes,
                            .background = s->background,
                            .seed = s->seed,
                            .search_s = s->search_s > 0 ? s->search_s : 2,
                            .search_given = s->search_s > 0,
                            .threads = s->threads,
                            .time_only = s->time_only != 0,
                            .split_share = s->time_only && s->search_s > 0 ? fmax(0.1, fmin(1, s->search_s / 4)) : 0,
                            .keep_links = true};
    if (!job->trace && !job->pattern) q.traffic = &job->traffic;
    if (job->pattern) q.seed = job->seed;
    if (s->progress) {
        watch->progress.show = show;
        watch->settings = s;
        watch->watcher = (struct fc_watcher){watch, &watch->progress, search_starts, NULL};
        q.watcher = &watch->watcher;
    }
    return q;
}

static enum fc_code show_figures(fabricast_answer *a, const struct fc_session *s, struct fc_status *st)
{
    const struct fc_answer *of = &a->answer;
    const struct fc_prediction *p = &of->p;
    a->figures = (fabricast_figures){
        p->time_s,      p->communication_s, p->computation_s, p->bound_s,    p->percent_of_peak, p->error_percent,
        p->binds,       of->bottleneck,     p->why,           of->n_tasks,   of->n_links,        of->node,
        of->link_bytes, of->link_busy_s,    of->mapping,      of->hop_bytes, p->waiting_s,       of->best_bound_s};
    if (!s->nodes) return FC_OK;
    a->n_allowed = (uint32_t)s->n_nodes;
    a->allowed = fc_alloc(&a->answer.arena, s->n_nodes, sizeof *a->allowed, st);
    if (a->allowed) memcpy(a->allowed, s->nodes, s->n_nodes * sizeof *a->allowed);
    return st->code;
}

PUBLIC fabricast_code fabricast_predict(const fabricast_machine *machine, const fabricast_job *job,
                                        const fabricast_settings *given, fabricast_answer **answer,
                                        fabricast_error *error)
{
    struct call call;
    fabricast_settings settings;
    struct watch watch = {.stop = 0};
    struct fc_session view;
    enter(&call);
    *answer = make(sizeof **answer, "an answer", &call);
    if (*answer && !read_settings(given, &settings, &call.st)) {
        struct fc_question q = question_of(job, &settings, &watch);
        const struct fc_session *session = &machine->session;
        struct fc_session own;
        bool opens = q.nodes && machine->opened.machine;
        if (opens) {
            struct fc_question whole = machine->opened;
            const struct fc_bulk *bulk;
            whole.nodes = q.nodes;
            q.nodes = NULL;
            opens = !fc_session_open(&whole, whole.machine, &own, &call.st);
            if (opens) fc_session_calibrate(&own, &bulk, &call.st);
            session = &own;
        }
        if (!call.st.code) {
            if (!fc_answer_view(&q, session, &view, &(*answer)->answer, &call.st))
                show_figures(*answer, &view, &call.st);
            fc_answer_view_close(session, &view);
        }
        if (opens) fc_session_close(&own);
    }
    if (call.st.code) {
        fabricast_answer_close(*answer);
        *answer = NULL;
    }
    return leave(&call, error);
}

PUBLIC const fabricast_figures *fabricast_answer_figures(const fabricast_answer *answer)
{
    return answer ? &answer->figures : NULL;
}

PUBLIC const char *fabricast_answer_json(fabricast_answer *answer)
{
    struct call call;
    struct fc_memory_stream text;
    if (!answer || answer->json) return answer ? answer->json : NULL;
    enter(&call);
    json_t *json = fc_answer_json(&answer->answer);
    if (!json) fc_out_of_memory(&call.st, "the answer's JSON");
    if (json && !fc_memory_open(&text, &call.st)) {
        fc_json_print(json, text.stream);
        if (!fc_memory_close(&text, &call.st)) answer->json = text.text;
    }
    json_decref(json);
    leave(&call, NULL);
    return answer->json;
}

PUBLIC fabricast_code fabricast_answer_launcher(const fabricast_answer *answer, const fabricast_machine *machine,
                                                const char *format, const char *path, fabricast_error *error)
{
    struct call call;
    struct fc_launch job;
    const struct fc_answer *a = &answer->answer;
    struct fc_demand tasks = {.n_tasks = a->n_tasks};
    struct fc_map_problem problem = {
        .net = &machine->session.net, .demand = &tasks, .nodes = answer->allowed, .n_nodes = answer->n_allowed};
    struct fc_mapping mapping = {.n_tasks = a->n_tasks, .core = a->core, .node = a->node, .strategy = a->mapping};
    const struct fc_launcher_format *writer = fc_launcher_find(format);
    enter(&call);
    if (a->n_links != machine->session.net.n_links) {
        fc_refuse(&call.st, FC_INPUT, "the answer is of another machine");
    } else if (!strcmp(format, "cores")) {
        fc_mapping_write(&mapping, path, &call.st);
    } else if (!writer) {
        fc_launcher_unknown(format, &call.st);
    } else {
        if (!fc_launch_start(&problem, &mapping, &job, &call.st)) fc_launch_write(&job, writer, path, &call.st);
        fc_launch_free(&job);
    }
    return leave(&call, error);
}

PUBLIC void fabricast_answer_close(fabricast_answer *answer)
{
    if (!answer) return;
    fc_answer_free(&answer->answer);
    free(answer->json);
    free(answer);
}
