/* browser.h - a real browser without a window, spoken to by the Chrome DevTools Protocol over two pipes:
 * messages of JSON, each ended by a NUL. Used by validate_report.c. */
#pragma once

#include <jansson.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct browser {
    pid_t child;
    int to, from;
    char profile[64];
    char *session; /* of the page; NULL before there is one */
    char *buffer;  /* received, not yet taken */
    size_t used, capacity;
    int id;
    int n_errors, n_requests; /* console errors and exceptions; requests for anything but the page's own file */
    bool lost;
};

/* Starts Debian's chromium; false where it is not installed. */
static bool browser_start(struct browser *b)
{
    int to[2], from[2];
    *b = (struct browser){.child = -1};
    strcpy(b->profile, "/tmp/fabricast-browser-XXXXXX");
    if (system("command -v chromium >/dev/null 2>&1") != 0 || pipe(to) || pipe(from) || !mkdtemp(b->profile))
        return false;
    b->child = fork();
    if (b->child == 0) {
        char profile[96];
        snprintf(profile, sizeof profile, "--user-data-dir=%s", b->profile);
        int reads = fcntl(to[0], F_DUPFD, 10), writes = fcntl(from[1], F_DUPFD, 10), null = open("/dev/null", O_RDWR);
        dup2(reads, 3);
        dup2(writes, 4);
        dup2(null, 1);
        dup2(null, 2);
        setpgid(0, 0);
        execlp("chromium", "chromium", "--headless", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
               "--remote-debugging-pipe", profile, geteuid() == 0 ? "--no-sandbox" : "about:blank", "about:blank",
               NULL);
        _exit(127);
    }
    close(to[0]);
    close(from[1]);
    b->to = to[1];
    b->from = from[0];
    signal(SIGPIPE, SIG_IGN);
    return b->child > 0;
}

/* The next message, or NULL after half a minute of silence. */
static json_t *browser_receive(struct browser *b)
{
    for (;;) {
        char *end = b->used ? memchr(b->buffer, 0, b->used) : NULL;
        if (end) {
            json_t *message = json_loads(b->buffer, 0, NULL);
            size_t length = (size_t)(end - b->buffer) + 1;
            memmove(b->buffer, b->buffer + length, b->used -= length);
            return message;
        }
        struct pollfd wait = {.fd = b->from, .events = POLLIN};
        if (b->capacity - b->used < 65536) b->buffer = realloc(b->buffer, b->capacity = 2 * b->capacity + 131072);
        ssize_t got = poll(&wait, 1, 30000) > 0 ? read(b->from, b->buffer + b->used, b->capacity - b->used) : 0;
        if (got <= 0) {
            b->lost = true;
            return NULL;
        }
        b->used += (size_t)got;
    }
}

static void browser_note(struct browser *b, const json_t *message)
{
    const char *method = json_string_value(json_object_get(message, "method"));
    const json_t *p = json_object_get(message, "params");
    if (!method) return;
    const char *type = json_string_value(json_object_get(p, "type"));
    const char *level = json_string_value(json_object_get(json_object_get(p, "entry"), "level"));
    const char *url = json_string_value(json_object_get(json_object_get(p, "request"), "url"));
    bool error = !strcmp(method, "Runtime.exceptionThrown") ||
                 (!strcmp(method, "Runtime.consoleAPICalled") && type && !strcmp(type, "error")) ||
                 (!strcmp(method, "Log.entryAdded") && level && !strcmp(level, "error"));
    if (!strcmp(method, "Network.requestWillBeSent") && url && strncmp(url, "file:", 5)) b->n_requests++;
    if (!error) return;
    char *text = json_dumps(p, JSON_COMPACT);
    printf("    the browser says: %.400s\n", text ? text : "");
    free(text);
    b->n_errors++;
}

/* Calls a method; params is taken. The result, a new reference, or NULL. */
static json_t *browser_call(struct browser *b, const char *method, json_t *params)
{
    if (b->lost) {
        json_decref(params);
        return NULL;
    }
    json_t *message =
        json_pack("{s:i, s:s, s:o}", "id", ++b->id, "method", method, "params", params ? params : json_object());
    if (b->session) json_object_set_new(message, "sessionId", json_string(b->session));
    char *text = json_dumps(message, JSON_COMPACT);
    json_decref(message);
    size_t size = strlen(text) + 1, done = 0;
    for (ssize_t n = 1; done < size && n > 0; done += (size_t)n) n = write(b->to, text + done, size - done);
    free(text);
    while ((message = browser_receive(b))) {
        if (json_integer_value(json_object_get(message, "id")) != b->id) {
            browser_note(b, message);
            json_decref(message);
            continue;
        }
        json_t *result = json_incref(json_object_get(message, "result"));
        json_decref(message);
        return result;
    }
    return NULL;
}

static void browser_do(struct browser *b, const char *method, json_t *params)
{
    json_decref(browser_call(b, method, params));
}

/* Opens an empty page and listens to it. */
static bool browser_page(struct browser *b)
{
    json_t *made = browser_call(b, "Target.createTarget", json_pack("{s:s}", "url", "about:blank"));
    const char *target = json_string_value(json_object_get(made, "targetId"));
    json_t *attached =
        target ? browser_call(b, "Target.attachToTarget", json_pack("{s:s, s:b}", "targetId", target, "flatten", 1))
               : NULL;
    const char *session = json_string_value(json_object_get(attached, "sessionId"));
    if (session) b->session = strdup(session);
    json_decref(made);
    json_decref(attached);
    static const char *const domains[] = {"Page.enable", "Runtime.enable", "Log.enable", "Network.enable"};
    for (int i = 0; i < 4 && b->session; i++) browser_do(b, domains[i], NULL);
    if (b->session) browser_do(b, "Performance.enable", json_pack("{s:s}", "timeDomain", "threadTicks"));
    return b->session != NULL;
}

/* The value of an expression, a new reference; promises are waited for. NULL: it threw, or has none. */
static json_t *browser_value(struct browser *b, const char *expression)
{
    json_t *result =
        browser_call(b, "Runtime.evaluate",
                     json_pack("{s:s, s:b, s:b}", "expression", expression, "returnByValue", 1, "awaitPromise", 1));
    json_t *value = json_incref(json_object_get(json_object_get(result, "result"), "value"));
    if (json_object_get(result, "exceptionDetails")) printf("    threw: %.200s\n", expression);
    json_decref(result);
    return value;
}

static void browser_run(struct browser *b, const char *statement)
{
    json_decref(browser_call(b, "Runtime.evaluate", json_pack("{s:s}", "expression", statement)));
}

static double browser_number(struct browser *b, const char *expression)
{
    json_t *value = browser_value(b, expression);
    double number = json_is_number(value)  ? json_number_value(value)
                    : json_is_true(value)  ? 1
                    : json_is_false(value) ? 0
                                           : -1;
    json_decref(value);
    return number;
}

/* The text of an expression into out. */
static char *browser_text(struct browser *b, const char *expression, char *out, size_t size)
{
    json_t *value = browser_value(b, expression);
    const char *text = json_string_value(value);
    snprintf(out, size, "%s", text ? text : "");
    json_decref(value);
    return out;
}

static void browser_screen(struct browser *b, int width, int height, bool dark)
{
    json_t *scheme = json_pack("[{s:s, s:s}]", "name", "prefers-color-scheme", "value", dark ? "dark" : "light");
    browser_do(b, "Emulation.setDeviceMetricsOverride",
               json_pack("{s:i, s:i, s:i, s:b}", "width", width, "height", height, "deviceScaleFactor", 1, "mobile",
                         width < 500));
    browser_do(b, "Emulation.setEmulatedMedia", json_pack("{s:o}", "features", scheme));
}

/* Loads a file; milliseconds until it is drawn, or -1. */
static double browser_open(struct browser *b, const char *path)
{
    char url[600];
    snprintf(url, sizeof url, "file://%s", path);
    browser_do(b, "Page.navigate", json_pack("{s:s}", "url", url));
    for (int i = 0; i < 200 && !b->lost; i++) {
        double ready_ms = browser_number(b, "Number(document.documentElement?.dataset.ready || -1)");
        if (ready_ms >= 0) return ready_ms;
        usleep(50000);
    }
    return -1;
}

/* CPU milliseconds of the page's main thread since it was opened. */
static double browser_cpu_ms(struct browser *b)
{
    json_t *result = browser_call(b, "Performance.getMetrics", NULL), *metric;
    double cpu_ms = -1;
    size_t i;
    json_array_foreach(json_object_get(result, "metrics"), i, metric)
    {
        const char *name = json_string_value(json_object_get(metric, "name"));
        if (name && !strcmp(name, "TaskDuration")) cpu_ms = 1e3 * json_number_value(json_object_get(metric, "value"));
    }
    json_decref(result);
    return cpu_ms;
}

static void browser_key(struct browser *b, const char *key, int code)
{
    static const char *const types[] = {"rawKeyDown", "keyUp"};
    for (int i = 0; i < 2; i++)
        browser_do(b, "Input.dispatchKeyEvent",
                   json_pack("{s:s, s:s, s:s, s:i}", "type", types[i], "key", key, "code", *key == ' ' ? "Space" : key,
                             "windowsVirtualKeyCode", code));
}

static void browser_mouse(struct browser *b, const char *type, double x, double y)
{
    browser_do(b, "Input.dispatchMouseEvent",
               json_pack("{s:s, s:f, s:f, s:s, s:i}", "type", type, "x", x, "y", y, "button",
                         strcmp(type, "mouseMoved") ? "left" : "none", "clickCount", 1));
}

/* Ends the browser by its own command, and its process when it does not answer. */
static void browser_end(struct browser *b)
{
    char command[128];
    if (b->child <= 0) return;
    free(b->session);
    b->session = NULL;
    browser_do(b, "Browser.close", NULL);
    close(b->to);
    for (int i = 0; i < 100 && waitpid(b->child, NULL, WNOHANG) == 0; i++) {
        if (i == 99) kill(-b->child, SIGKILL);
        usleep(50000);
    }
    close(b->from);
    free(b->buffer);
    snprintf(command, sizeof command, "rm -rf '%s'", b->profile);
    if (system(command)) printf("    %s stays\n", b->profile);
}
