/* test_serve.c - answers to lines of JSON: what they say, what is refused, what is kept; and the socket. */
#include "answer/answer_json.h"
#include "serve/kept_traces.h"
#include "tests/serve_client.h"
#include "tests/support.h"
#include "tests/tests.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <sys/stat.h>
#include <utime.h>

static struct fc_server *open_server(void)
{
    struct fc_status st = {0};
    struct fc_server *server = fc_server_open("1.2.3", &st);
    CU_ASSERT_PTR_NOT_NULL_FATAL(server);
    return server;
}

/* The answer, parsed; json_decref it. */
static json_t *ask(struct fc_server *server, const char *line)
{
    char *text = fc_server_answer(server, line, strlen(line));
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    CU_ASSERT(text[strlen(text) - 1] == '\n' && !strchr(text, '\n')[1]);
    json_t *json = json_loads(text, 0, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(json);
    free(text);
    return json;
}

static void expect(struct fc_server *server, const char *line, int code, const char *message)
{
    json_t *json = ask(server, line);
    const char *said = json_string_value(json_object_get(json, "message"));
    CU_ASSERT_EQUAL(json_integer_value(json_object_get(json, "code")), code);
    CU_ASSERT((code == 0) == (json_object_get(json, "answer") != NULL));
    if (message && (!said || strcmp(said, message))) {
        fprintf(stderr, "test_serve: %s\n     said: %s\n expected: %s\n", line, said ? said : "-", message);
        CU_FAIL("another message");
    }
    json_decref(json);
}

#define ON "\"machine\":\"bgl-64\""

/* Every key that is wrong, and lines that are no requests. */
static void refused(void)
{
    static const char *const wrong[][2] = {
        {"", "no JSON: '[' or '{' expected near end of file (expected one object a line)"},
        {"[1]", "not an object (expected {\"verb\":..})"},
        {"{\"id\":1}", "\"verb\" is wrong (expected predict, map, machine or version)"},
        {"{\"verb\":\"zap\"}", "\"verb\" is wrong (expected predict, map, machine or version)"},
        {"{\"verb\":\"predict\"}", "\"machine\" is wrong (expected the name of one, or its file)"},
        {"{\"verb\":\"predict\"," ON "}", "no traffic (expected one of -p PATTERN, -g GRAPH, -t TRACE)"},
        {"{\"verb\":\"predict\"," ON ",\"patern\":\"x\"}",
         "\"patern\" is unknown (expected the options of predict, with _ for -)"},
        {"{\"verb\":\"predict\"," ON ",\"pattern\":1}", "\"pattern\" is wrong (expected a text that is not empty)"},
        {"{\"verb\":\"predict\"," ON ",\"pattern\":\"\"}", "\"pattern\" is wrong (expected a text that is not empty)"},
        {"{\"verb\":\"predict\"," ON ",\"set\":\"x\"}", "\"set\" is wrong (expected a list of \"KEY=VALUE\")"},
        {"{\"verb\":\"predict\"," ON ",\"set\":[1]}", "\"set\" is wrong (expected a list of \"KEY=VALUE\")"},
        {"{\"verb\":\"predict\"," ON ",\"seed\":-1}", "\"seed\" is wrong (expected a whole number, 0 or more)"},
        {"{\"verb\":\"predict\"," ON ",\"ranks_per_node\":0}",
         "\"ranks_per_node\" is wrong (expected a whole number from 1 to 1048576)"},
        {"{\"verb\":\"predict\"," ON ",\"time\":\"1s\"}", "\"time\" is wrong (expected a number from 0 to 1000000000)"},
        {"{\"verb\":\"predict\"," ON ",\"sensitivity\":1}", "\"sensitivity\" is wrong (expected true or false)"},
        {"{\"verb\":\"predict\"," ON ",\"nodes\":[]}",
         "\"nodes\" is wrong (expected a text, or a list of numbers and names)"},
        {"{\"verb\":\"predict\"," ON ",\"nodes\":[1.5]}",
         "\"nodes\" is wrong (expected a text, or a list of numbers and names)"},
        {"{\"verb\":\"predict\"," ON ",\"nodes\":[\"a,b\"]}",
         "\"nodes\" is wrong (expected a text, or a list of numbers and names)"},
        {"{\"verb\":\"predict\"," ON ",\"traffic\":{\"tasks\":2,\"src\":[0],\"dst\":[2],\"bytes\":[1]}}",
         "\"traffic\" is wrong (expected {\"tasks\":N,\"src\":[..],\"dst\":[..],\"bytes\":[..]}, lists of one length, tasks "
         "from 0 to N - 1, bytes 0 or more)"},
        {"{\"verb\":\"predict\"," ON ",\"pattern\":\"alltoall\",\"map\":\"def,rnm\"}",
         "\"map\" is wrong (expected one mapping)"},
        {"{\"verb\":\"predict\"," ON ",\"pattern\":\"alltoall\",\"network\":\"ideal\"}",
         "\"network\" is wrong (expected a trace beside it)"},
        {"{\"verb\":\"predict\"," ON ",\"pattern\":\"alltoall\",\"loggops\":\"L=1us\"}",
         "\"loggops\" is wrong (expected a trace beside it)"},
        {"{\"verb\":\"predict\"," ON ",\"trace\":\"x\",\"loggops\":\"L=1us\"}",
         "\"loggops\" is wrong (expected the verb predict and \"network\":\"ideal\")"},
        {"{\"verb\":\"predict\"," ON ",\"trace\":\"x\",\"compute\":1}",
         "\"compute\" is wrong (expected a pattern or a graph: a trace has its own computation)"},
        {"{\"verb\":\"predict\"," ON ",\"compute\":1,\"traffic\":{\"tasks\":2,\"src\":[0],\"dst\":[1],\"bytes\":[1]}}",
         "\"compute\" is wrong (expected a pattern or a graph)"},
        {"{\"verb\":\"predict\"," ON ",\"pattern\":\"alltoall\",\"background_nodes\":\"3\"}",
         "\"background_nodes\" is wrong (expected a background beside it)"},
        {"{\"verb\":\"predict\"," ON ",\"trace\":\"x\",\"network\":\"ideal\",\"background\":\"y\"}",
         "\"background\" is wrong (expected another network than ideal)"},
        {"{\"verb\":\"predict\"," ON ",\"trace\":\"x\",\"period\":\"auto\",\"background\":\"job:y\"}",
         "\"period\" is wrong (expected no job: beside this one)"},
        {"{\"verb\":\"predict\"," ON ",\"trace\":\"x\",\"network\":\"flit\",\"sensitivity\":true}",
         "\"sensitivity\" is wrong (expected another network than flit)"},
        {"{\"verb\":\"predict\"," ON ",\"trace\":\"x\",\"background\":\"job:y\",\"sensitivity\":true}",
         "\"sensitivity\" is wrong (expected no job: beside this one)"},
        {"{\"verb\":\"machine\",\"machine\":\"nope\"}",
         "no shipped machine is called 'nope' (`fabricast machines` lists them; a path contains '/' or ends in .yaml)"},
    };
    struct fc_server *server = open_server();
    for (size_t i = 0; i < FC_COUNT(wrong); i++) expect(server, wrong[i][0], FC_INPUT, wrong[i][1]);
    expect(server, "{\"verb\":\"predict\"," ON ",\"pattern\":\"alltoall\",\"pattern\":\"uniform\"}", FC_INPUT, NULL);
    expect(server, "{\"verb\":\"predict\"," ON ",\"trace\":\"/nowhere.fct\"}", FC_INPUT, NULL);
    expect(server, "{\"verb\":\"version\"}", FC_OK, NULL);
    fc_server_close(server);
}

/* The same as the program answers, with any id. */
static void answered(void)
{
    static const char *const ids[] = {"1", "\"a b\"", "null", "[1,{\"x\":2}]"};
    struct fc_question q = {
        .machine = "bgl-64", .pattern = "stencil3d:grid=4x4x4,bytes=64KiB", .nodes = "0-31", .seed = 3, .threads = 1};
    struct fc_server *server = open_server();
    struct fc_answer own;
    struct fc_status st = {0};
    CU_ASSERT_EQUAL_FATAL(fc_answer_make(&q, &own, &st), FC_OK);
    json_t *expected = fc_answer_json(&own);
    for (size_t i = 0; i < FC_COUNT(ids); i++) {
        char line[400];
        snprintf(line, sizeof line,
                 "{\"id\":%s,\"verb\":\"predict\"," ON ",\"pattern\":\"%s\",\"nodes\":\"0-31\",\"seed\":3}", ids[i],
                 q.pattern);
        json_t *json = ask(server, line), *id = json_loads(ids[i], JSON_DECODE_ANY, NULL);
        CU_ASSERT(json_equal(json_object_get(json, "id"), id));
        const json_t *answer = json_object_get(json, "answer");
        CU_ASSERT_EQUAL(json_object_size(answer), json_object_size(expected));
        CU_ASSERT(fc_near(json_number_value(json_object_get(answer, "time_s")), own.p.time_s, 1e-14));
        CU_ASSERT(json_equal(json_object_get(json_object_get(answer, "bottleneck"), "link"),
                             json_object_get(json_object_get(expected, "bottleneck"), "link")));
        json_decref(id);
        json_decref(json);
    }
    json_decref(expected);
    fc_answer_free(&own);
    json_t *json =
        ask(server, "{\"verb\":\"map\",\"machine\":\"bgl-64\",\"nodes\":[3,1,2],\"ranks_per_node\":1,\"map\":\"def\","
                    "\"traffic\":{\"tasks\":3,\"src\":[0,1],\"dst\":[1,2],\"bytes\":[10,20.5]}}");
    const json_t *node = json_object_get(json_object_get(json, "answer"), "node");
    const int on[] = {3, 1, 2};
    CU_ASSERT_EQUAL(json_array_size(node), 3);
    for (size_t t = 0; t < 3; t++) CU_ASSERT_EQUAL(json_integer_value(json_array_get(node, t)), on[t]);
    json_decref(json);
    fc_server_close(server);
}

/* A machine whose file changes is opened anew, and its answers are not those of before. */
static void kept(void)
{
    static const char yaml[] = "name: two\nnetwork: {family: mesh, dims: [2]}\nlinks: {mesh: {bandwidth: %s}}\n";
    char path[64], text[200], line[300];
    double before_s = 0;
    struct fc_server *server = open_server();
    CU_ASSERT_FATAL(fc_test_file(path, ".yaml", "", 0));
    for (int i = 0; i < 4; i++) {
        FILE *file = fopen(path, "w");
        CU_ASSERT_PTR_NOT_NULL_FATAL(file);
        snprintf(text, sizeof text, yaml, i < 2 ? "1 GB/s" : "2 GB/s");
        fputs(text, file);
        fclose(file);
        struct utimbuf then = {1000000 + i / 2, 1000000 + i / 2}; /* the same file twice, then another */
        utime(path, &then);
        snprintf(
            line, sizeof line,
            "{\"verb\":\"predict\",\"machine\":\"%s\",\"traffic\":{\"tasks\":2,\"src\":[0],\"dst\":[1],\"bytes\":[1e8]}}",
            path);
        json_t *json = ask(server, line);
        double time_s = json_number_value(json_object_get(json_object_get(json, "answer"), "time_s"));
        json_decref(json);
        CU_ASSERT(time_s > 0);
        if (i % 2) CU_ASSERT(time_s == before_s);
        if (i == 2) CU_ASSERT(fc_near(time_s, before_s / 2, 1e-3));
        before_s = time_s;
    }
    for (int i = 0; i < FC_SERVE_MACHINES + 3; i++) { /* more machines than are kept */
        snprintf(line, sizeof line, "{\"verb\":\"machine\",\"machine\":\"bgl-64\",\"set\":[\"node.cores=%d\"]}",
                 1 + i % 18);
        expect(server, line, FC_OK, NULL);
    }
    remove(path);
    expect(server, "{\"verb\":\"version\"}", FC_OK, NULL);
    fc_server_close(server);
}

static void expect_map(struct fc_server *server, const char *line, const char *node, const char *host)
{
    json_t *json = ask(server, line);
    const json_t *answer = json_object_get(json, "answer");
    char *nodes = json_dumps(json_object_get(answer, "node"), JSON_COMPACT | JSON_ENCODE_ANY),
         *hosts = host ? json_dumps(json_object_get(answer, "host"), JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
    CU_ASSERT(nodes && !strcmp(nodes, node) && (!host || (hosts && !strcmp(hosts, host))));
    free(nodes);
    free(hosts);
    json_decref(json);
}

static void write_file(const char *path, const char *text, time_t time)
{
    FILE *file = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    fputs(text, file);
    fclose(file);
    utime(path, &(struct utimbuf){time, time});
}

/* A trace of two ranks: one message of so many bytes. */
static void write_trace(const char *path, int bytes, time_t time)
{
    char text[700];
    snprintf(text, sizeof text,
             "fabricast-trace 1\nranks 2\ncomm 0 0-1\nevents 6\n"
             "rank 0 3\ninit 0 0.001 0\nsend 0.001 0.002 0 comm=0 peer=1 tag=0 bytes=%d\nfinalize 0.003 0.004 0\n"
             "rank 1 3\ninit 0 0.001 0\nrecv 0.001 0.002 0 comm=0 peer=0 tag=0 bytes=%d\nfinalize 0.003 0.004 0\nend\n",
             bytes, bytes);
    write_file(path, text, time);
}
static double predicted(struct fc_server *server, const char *path, const char *rest)
{
    char line[300];
    snprintf(line, sizeof line, "{\"verb\":\"predict\"," ON ",\"ranks_per_node\":1,\"trace\":\"%s\"%s}", path, rest);
    json_t *json = ask(server, line);
    double time_s = json_number_value(json_object_get(json_object_get(json, "answer"), "communication_s"));
    json_decref(json);
    return time_s;
}

/* A trace is read once for several questions; another file of the name, one that is gone and one too many are seen. */
static void kept_traces(void)
{
    struct fc_server *server = open_server(), *other = open_server();
    struct fc_kept_traces *traces = fc_kept_traces_open(0), *few;
    const struct fc_trace *first, *again, *changed;
    struct fc_kept_trace *one, *two, *three;
    char path[64], path2[64], line[200];
    CU_ASSERT_FATAL(traces && fc_test_file(path, ".txt", "", 0) && fc_test_file(path2, ".txt", "", 0));
    write_trace(path, 100000, 1000000);
    double near = predicted(server, path, ""), far = predicted(server, path, ",\"nodes\":[0,42]");
    CU_ASSERT(near > 0 && far > 0 && far != near && far == predicted(other, path, ",\"nodes\":[0,42]"));
    write_trace(path, 1000000, 1000001);
    double longer = predicted(server, path, ",\"nodes\":[0,42]");
    CU_ASSERT(longer > 5 * far && longer < 20 * far);

    one = fc_kept_trace_enter(traces, path, &first);
    two = fc_kept_trace_enter(traces, path, &again);
    CU_ASSERT_PTR_NOT_NULL_FATAL(one);
    /* Written just now, it might change within the resolution of stamps: not kept until a moment has gone. */
    CU_ASSERT(first->n_ranks == 2 && again->n_ranks == 2);
    fc_kept_trace_leave(traces, two);
    nanosleep(&(struct timespec){0, 20000000}, NULL);
    two = fc_kept_trace_enter(traces, path, &again);
    three = fc_kept_trace_enter(traces, path, &changed);
    CU_ASSERT(two && two == three && again == changed);
    fc_kept_trace_leave(traces, three);
    write_trace(path, 5000000, 1000002);
    three = fc_kept_trace_enter(traces, path, &changed);
    CU_ASSERT(three && changed != again && changed->events[1].bytes == 5000000 && again->events[1].bytes == 1000000);
    fc_kept_trace_leave(traces, one);
    fc_kept_trace_leave(traces, two);
    fc_kept_trace_leave(traces, three);

    write_trace(path2, 3, 1000000); /* room for one of the two */
    nanosleep(&(struct timespec){0, 20000000}, NULL);
    few = fc_kept_traces_open(8.0 * 1024);
    one = few ? fc_kept_trace_enter(few, path, &first) : NULL;
    CU_ASSERT_PTR_NOT_NULL_FATAL(one);
    fc_kept_trace_leave(few, one);
    two = fc_kept_trace_enter(few, path2, &again);
    three = fc_kept_trace_enter(few, path2, &changed);
    CU_ASSERT(two && two == three && again->events[1].bytes == 3);
    fc_kept_trace_leave(few, two);
    fc_kept_trace_leave(few, three);
    fc_kept_traces_close(few);
    few = fc_kept_traces_open(64); /* none fits */
    CU_ASSERT_PTR_NULL(fc_kept_trace_enter(few, path, &first));
    fc_kept_traces_close(few);

    remove(path);
    CU_ASSERT_PTR_NULL(fc_kept_trace_enter(traces, path, &first));
    snprintf(line, sizeof line, "{\"verb\":\"predict\"," ON ",\"trace\":\"%s\"}", path);
    expect(server, line, FC_INPUT, NULL);
    remove(path2);
    fc_kept_traces_close(traces);
    fc_server_close(server);
    fc_server_close(other);
}

#define TWO_TASKS "\"ranks_per_node\":1,\"traffic\":{\"tasks\":2,\"src\":[0],\"dst\":[1],\"bytes\":[1e6]}}"

/* Hosts of the nodes that are asked for, from a file that changes; nodes of a machine that has lost a router, as it was. */
static void named(void)
{
    struct fc_server *server = open_server();
    char path[64], graph[64], text[200], line[400];
    CU_ASSERT_FATAL(fc_test_file(path, ".txt", "", 0));
    snprintf(line, sizeof line, "{\"verb\":\"map\"," ON ",\"map\":\"def\",\"hosts\":\"@%s\",\"nodes\":[5,7]," TWO_TASKS,
             path);
    write_file(path, "a\nb\n", 1000000);
    expect_map(server, line, "[5,7]", "[\"a\",\"b\"]");
    write_file(path, "c\nd\n", 1000001);
    expect_map(server, line, "[5,7]", "[\"c\",\"d\"]");
    expect_map(server, "{\"verb\":\"map\"," ON ",\"map\":\"def\",\"without\":\"(0,0,0)\",\"nodes\":[1,3]," TWO_TASKS,
               "[0,2]", NULL);
    remove(path);
    /* What has lost a cable still is of its file of cables. */
    CU_ASSERT_FATAL(fc_test_file(graph, ".txt", "", 0) && fc_test_file(path, ".yaml", "", 0));
    snprintf(text, sizeof text,
             "name: g\nnetwork: {family: graph, file: %s, format: edge-list}\nlinks: {link: {bandwidth: 1 GB/s}}\n",
             graph);
    write_file(path, text, 1000000);
    snprintf(line, sizeof line, "{\"verb\":\"machine\",\"machine\":\"%s\",\"without\":\"A->B\"}", path);
    for (int i = 0; i < 2; i++) {
        snprintf(text, sizeof text,
                 "router A node a\nrouter B node b\nrouter A router B\nrouter A router C\nrouter C "
                 "router B\n%s",
                 i ? "router C node c\n" : "");
        write_file(graph, text, 1000000 + i);
        json_t *json = ask(server, line);
        CU_ASSERT_EQUAL(json_integer_value(json_object_get(json_object_get(json, "answer"), "nodes")), 2 + i);
        json_decref(json);
    }
    remove(graph);
    remove(path);
    fc_server_close(server);
}

/* ---- the socket ---- */

static void over_a_socket(void)
{
    struct served served = {.stop = 0}, second = {.stop = 0};
    struct stat there;
    char path[64], line[4096];
    CU_ASSERT_FATAL(fc_test_file(path, ".sock", "", 0));
    CU_ASSERT(!start_server(&served, path, 1)); /* a file is in the way */
    end_server(&served);
    CU_ASSERT_EQUAL(served.st.code, FC_INPUT);
    remove(path);
    CU_ASSERT_FATAL(start_server(&served, path, 2));
    CU_ASSERT(!stat(path, &there) && S_ISSOCK(there.st_mode) && (there.st_mode & 0777) == 0600);
    CU_ASSERT(!start_server(&second, path, 1));
    end_server(&second);
    CU_ASSERT_PTR_NOT_NULL(strstr(second.st.message, "another server listens"));
    FILE *a = connect_to(path), *b = connect_to(path), *gone = connect_to(path);
    CU_ASSERT_FATAL(a && b && gone);
    fprintf(gone, "{\"verb\":\"predict\"," ON ",\"pattern\":\"alltoall\"}\n"); /* it does not wait for the answer */
    fclose(gone);
    for (int i = 0; i < 50; i++) fprintf(a, "{\"id\":%d,\"verb\":\"%s\"}\n", i, i % 3 ? "version" : "none");
    fprintf(b, "{\"id\":\"b\",\"verb\":\"machine\"," ON "}\n\n");
    CU_ASSERT(hear(b, line, sizeof line) && strstr(line, "\"id\":\"b\",\"code\":0"));
    CU_ASSERT(hear(b, line, sizeof line) && strstr(line, "\"code\":2")); /* an empty line */
    for (int i = 0; i < 50; i++) {                                       /* in their order */
        char start[40];
        snprintf(start, sizeof start, "{\"id\":%d,\"code\":%d,", i, i % 3 ? 0 : 2);
        CU_ASSERT(hear(a, line, sizeof line) && !strncmp(line, start, strlen(start)));
    }
    fclose(b);
    end_server(&served); /* `a` is still connected */
    CU_ASSERT_EQUAL(served.st.code, FC_OK);
    CU_ASSERT(!hear(a, line, sizeof line));
    fclose(a);
    CU_ASSERT(stat(path, &there) != 0);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0); /* what a dead server leaves */
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    snprintf(at.sun_path, sizeof at.sun_path, "%s", path);
    CU_ASSERT_EQUAL(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
    close(fd);
    CU_ASSERT(start_server(&served, path, 1));
    end_server(&served);
    fd = socket(AF_UNIX, SOCK_DGRAM, 0); /* somebody else's, of another kind */
    CU_ASSERT_EQUAL(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
    CU_ASSERT(!start_server(&served, path, 1));
    end_server(&served);
    CU_ASSERT_EQUAL(served.st.code, FC_INPUT);
    CU_ASSERT_EQUAL(stat(path, &there), 0);
    close(fd);
    remove(path);
    memset(line, 'x', 200);
    line[200] = 0;
    served.settings.path = line;
    served.st = (struct fc_status){0};
    CU_ASSERT_EQUAL(fc_serve(&served.settings, &served.st), FC_INPUT);
}

static void *ask_slow(void *server)
{
    return ask(server, "{\"verb\":\"machine\",\"machine\":\"./slow.yaml\"}");
}

/* Whoever asks for a machine whose file takes its time waits, others do not. */
static void slow_to_open(void)
{
    static const char yaml[] = "name: slow\nnetwork: {family: mesh, dims: [3]}\nlinks: {mesh: {bandwidth: 1 GB/s}}\n";
    struct fc_server *server = open_server();
    char folder[] = "/tmp/fabricast-serve-XXXXXX", here[4096];
    pthread_t thread[3];
    CU_ASSERT_FATAL(getcwd(here, sizeof here) && mkdtemp(folder) && !chdir(folder) && !mkfifo("slow.yaml", 0600));
    for (int i = 0; i < 3; i++) CU_ASSERT_EQUAL_FATAL(pthread_create(&thread[i], NULL, ask_slow, server), 0);
    int slow = open("slow.yaml", O_WRONLY); /* opens when somebody reads it: the machine is being opened */
    CU_ASSERT_FATAL(slow >= 0);
    expect(server, "{\"verb\":\"machine\",\"machine\":\"./none.yaml\"}", 2, NULL);
    unlink("slow.yaml"); /* the next one to open it finds a file */
    FILE *file = fopen("slow.yaml", "w");
    CU_ASSERT_FATAL(file && fputs(yaml, file) >= 0 && !fclose(file));
    CU_ASSERT_EQUAL(write(slow, yaml, sizeof yaml - 1), (ssize_t)sizeof yaml - 1);
    close(slow);
    for (int i = 0; i < 3; i++) {
        void *answer = NULL;
        pthread_join(thread[i], &answer);
        CU_ASSERT_EQUAL(json_integer_value(json_object_get(json_object_get(answer, "answer"), "nodes")), 3);
        json_decref(answer);
    }
    unlink("slow.yaml");
    CU_ASSERT_EQUAL(chdir(here), 0);
    rmdir(folder);
    fc_server_close(server);
}

static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A connection that no descriptor is left for waits, and the server with it, not in a circle; then it is answered. */
static void no_descriptors(void)
{
    struct served served = {.stop = 0};
    struct rlimit limit, few;
    char path[64], line[400];
    int taken[64], n = 0;
    CU_ASSERT_FATAL(fc_test_file(path, ".sock", "", 0));
    remove(path);
    CU_ASSERT_FATAL(start_server(&served, path, 1) && !getrlimit(RLIMIT_NOFILE, &limit));
    FILE *first = connect_to(path);
    fprintf(first, "{\"verb\":\"version\"}\n");
    CU_ASSERT(hear(first, line, sizeof line));
    few = limit;
    few.rlim_cur = 64;
    int fd = socket(AF_UNIX, SOCK_STREAM, 0); /* connect_to, but that it must exist before all are taken */
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    snprintf(at.sun_path, sizeof at.sun_path, "%s", path);
    CU_ASSERT_EQUAL_FATAL(setrlimit(RLIMIT_NOFILE, &few), 0);
    while (n < 64 && (taken[n] = dup(0)) >= 0) n++;
    CU_ASSERT_EQUAL(connect(fd, (struct sockaddr *)&at, sizeof at), 0);
    double before_s = cpu_s();
    usleep(500000);
    CU_ASSERT(cpu_s() - before_s < 0.2);
    while (n > 0) close(taken[--n]);
    setrlimit(RLIMIT_NOFILE, &limit);
    FILE *second = fdopen(fd, "r+");
    fprintf(second, "{\"verb\":\"version\"}\n");
    CU_ASSERT(hear(second, line, sizeof line) && strstr(line, "1.2.3"));
    fclose(first);
    fclose(second);
    end_server(&served);
}

/* Of all that send without end the one that sent most goes; the others are answered. */
static void too_much(void)
{
    struct served served = {.stop = 0};
    char path[64], line[400], *spaces = malloc(900000);
    CU_ASSERT_FATAL(spaces && fc_test_file(path, ".sock", "", 0));
    memset(spaces, 32, 900000);
    remove(path);
    served.settings.most_input_bytes = 1000000;
    CU_ASSERT_FATAL(start_server(&served, path, 1));
    FILE *a = connect_to(path), *b = connect_to(path);
    CU_ASSERT_FATAL(a && b);
    signal(SIGPIPE, SIG_IGN);
    fwrite(spaces, 1, 200000, a);
    fflush(a);
    fwrite(spaces, 1, 900000, b);
    fflush(b);
    CU_ASSERT(!hear(b, line, sizeof line));
    fprintf(a, "{\"verb\":\"version\"}\n");
    CU_ASSERT(hear(a, line, sizeof line) && strstr(line, "1.2.3"));
    fclose(a);
    fclose(b);
    free(spaces);
    end_server(&served);
}

int suite_serve(void)
{
    static const CU_TestInfo tests[] = {
        {"what is refused", refused},
        {"the answers are the program's", answered},
        {"machines and answers are kept while their files stay", kept},
        {"traces are kept while their file stays", kept_traces},
        {"hosts, and nodes of what is damaged", named},
        {"over a socket", over_a_socket},
        {"a machine that takes its time", slow_to_open},
        {"no descriptors left", no_descriptors},
        {"more than all may send", too_much},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("serve", tests);
}
