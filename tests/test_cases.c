/* test_cases.c - golden command lines: the .t files of tests/cases and the examples of README.md, run as users do. Each
 * file is a suite of its own: `make test ONLY=cases/flit` runs tests/cases/flit.t, ONLY=cases/README the examples.
 *
 * A case file holds commands and what they print:
 *     $ fabricast list families       run by sh from the top of the source tree, the sanitized program first in PATH
 *     > a line of standard output     exactly; `> ...` stands for any number of lines
 *     ! a line of standard error      exactly, in order; `! ...` as above
 *     ? 2                             exit status (0 when left out)
 * $TMP is a fresh directory. In README.md a console block's "$ fabricast ..." is a command and the lines up to the next
 * command or the fence are its standard output; "..." lines as above.
 *
 * `make cases ONLY=cases/flit` writes what the commands print now into the file. Lines before the first "..." and after
 * the last of an output are renewed by their number; an output with several "..." is left as it is, and said. */
#include "tests/tests.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct text {
    char *data; /* NULL: empty */
    size_t size;
};
struct expectation {
    char command[2048];
    struct text out, err; /* lines, each with \n */
    int exit_status;
    long line;
};
/* A file of cases while it runs. */
struct file {
    const char *path;
    bool readme;
    char program_directory[PATH_MAX], temporary[64];
    int n_commands;
    struct text renewed; /* with --update: the file's new text */
    bool changed;
};

static void append(struct text *t, const char *line, size_t length)
{
    t->data = realloc(t->data, t->size + length + 2);
    memcpy(t->data + t->size, line, length);
    t->size += length;
    t->data[t->size++] = '\n';
    t->data[t->size] = 0;
}

static const char *text_of(const struct text *t) { return t->data ? t->data : ""; }

static struct text read_all(const char *path)
{
    struct text t = {0};
    FILE *stream = fopen(path, "r");
    if (!stream) return t;
    size_t length = 0, capacity = 1 << 16, got;
    t.data = malloc(capacity + 1);
    while ((got = fread(t.data + length, 1, capacity - length, stream)) > 0)
        if ((length += got) == capacity) t.data = realloc(t.data, (capacity *= 2) + 1);
    fclose(stream);
    t.size = length;
    t.data[length] = 0;
    return t;
}

static bool is_gap(const char *line) { return !strncmp(line, "...\n", 4); }

/* Line by line; a line "..." of `expected` swallows lines until the next expected one fits. */
static bool fits(const char *expected, const char *actual)
{
    while (*expected) {
        size_t length = (size_t)(strchr(expected, '\n') - expected);
        const char *next = expected + length + 1;
        if (is_gap(expected)) {
            for (const char *rest = actual;; rest = strchr(rest, '\n') + 1) {
                if (fits(next, rest)) return true;
                if (!*rest || !strchr(rest, '\n')) return false;
            }
        }
        if (strncmp(expected, actual, length + 1)) return false;
        expected = next;
        actual += length + 1;
    }
    return *actual == 0;
}

/* ---- renewing ---- */

static size_t count_lines(const char *text)
{
    size_t n = 0;
    for (; *text; text++) n += *text == '\n';
    return n;
}

/* What `expected` becomes when the command prints `actual`; empty and false when it has several gaps. */
static bool renew(const char *expected, const char *actual, struct text *out)
{
    size_t n = count_lines(expected), n_actual = count_lines(actual), before = n, gaps = 0, i = 0;
    for (const char *e = expected; *e; e = strchr(e, '\n') + 1, i++)
        if (is_gap(e) && gaps++ == 0) before = i;
    if (gaps > 1) return false;
    size_t after = gaps ? n - before - 1 : 0, k = 0;
    if (gaps && before + after > n_actual) gaps = 0;
    for (const char *a = actual; *a; k++) {
        const char *end = strchr(a, '\n');
        size_t length = end ? (size_t)(end - a) : strlen(a);
        if (!gaps || k < before || k >= n_actual - after) append(out, a, length);
        if (gaps && k + 1 == before) append(out, "...", 3);
        a += length + (end != NULL);
    }
    if (gaps && before == 0) {
        struct text with_gap = {0};
        append(&with_gap, "...", 3);
        if (out->data) append(&with_gap, out->data, out->size - 1);
        free(out->data);
        *out = with_gap;
    }
    return true;
}

static void append_prefixed(struct text *t, const char *prefix, const char *text)
{
    char line[8192];
    for (const char *at = text; *at;) {
        size_t length = strcspn(at, "\n");
        int n = snprintf(line, sizeof line, "%s%s%.*s", prefix, length && *prefix ? " " : "", (int)length, at);
        append(t, line, (size_t)n);
        at += length + (at[length] == '\n');
    }
}

static void write_expectation(struct file *f, const struct expectation *e)
{
    append_prefixed(&f->renewed, f->readme ? "" : ">", text_of(&e->out));
    if (f->readme) return;
    append_prefixed(&f->renewed, "!", text_of(&e->err));
    char status[32];
    if (e->exit_status) append(&f->renewed, status, (size_t)snprintf(status, sizeof status, "? %d", e->exit_status));
}

static void renew_case(struct file *f, struct expectation *e, int code, const char *out, const char *err)
{
    struct text new_out = {0}, new_err = {0};
    if (renew(text_of(&e->out), out, &new_out) && (f->readme || renew(text_of(&e->err), err, &new_err))) {
        free(e->out.data);
        free(e->err.data);
        e->out = new_out;
        e->err = new_err;
        e->exit_status = code;
        f->changed = true;
        return;
    }
    free(new_out.data);
    free(new_err.data);
    printf("\n%s:%ld: several \"...\": renew it by hand\n", f->path, e->line);
}

/* ---- running ---- */

static void run_case(struct file *f, struct expectation *e)
{
    char command[PATH_MAX * 2 + 4096], out_path[128], err_path[128];
    snprintf(out_path, sizeof out_path, "%s/.stdout", f->temporary);
    snprintf(err_path, sizeof err_path, "%s/.stderr", f->temporary);
    snprintf(command, sizeof command,
             "PATH='%s':\"$PATH\" TMP='%s' LC_ALL=C FABRICAST_DATA=\"$PWD/models\"; "
             "export PATH TMP LC_ALL FABRICAST_DATA; { %s\n} >'%s' 2>'%s' </dev/null",
             f->program_directory, f->temporary, e->command, out_path, err_path);
    int status = system(command), code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    struct text out = read_all(out_path), err = read_all(err_path);
    bool good = out.data && err.data && code == e->exit_status && fits(text_of(&e->out), out.data) &&
                fits(text_of(&e->err), err.data);
    if (!good && fc_update_cases) {
        renew_case(f, e, code, text_of(&out), text_of(&err));
    } else if (!good) {
        printf("\n%s:%ld: $ %s\n--- exit %d (expected %d), standard output:\n%s--- expected:\n%s--- standard error:\n%s"
               "--- expected:\n%s---\n", f->path, e->line, e->command, code, e->exit_status, text_of(&out),
               text_of(&e->out), text_of(&err), text_of(&e->err));
    }
    CU_ASSERT(good);
    f->n_commands++;
    free(out.data);
    free(err.data);
}

static void finish(struct file *f, struct expectation *e)
{
    if (e->command[0]) {
        run_case(f, e);
        write_expectation(f, e);
    }
    free(e->out.data);
    free(e->err.data);
    memset(e, 0, sizeof *e);
}

static void begin(struct file *f, struct expectation *e, const struct fc_lines *lines)
{
    snprintf(e->command, sizeof e->command, "%.*s", (int)lines->length - 2, lines->text + 2);
    e->line = lines->line;
    append(&f->renewed, lines->text, lines->length);
}

static void take_line(struct file *f, struct expectation *e, const struct fc_lines *lines)
{
    const char *line = lines->text;
    size_t length = lines->length, skip = length > 1 ? 2 : 1;
    if (length > 2 && !strncmp(line, "$ ", 2)) {
        finish(f, e);
        begin(f, e, lines);
    } else if (e->command[0] && length >= 1 && line[0] == '?') {
        e->exit_status = atoi(line + 1);
    } else if (e->command[0] && length >= 1 && (line[0] == '>' || line[0] == '!')) {
        append(line[0] == '>' ? &e->out : &e->err, line + skip, length - skip);
    } else {
        finish(f, e);
        append(&f->renewed, line, length);
        if (length > 0 && line[0] != '#') {
            printf("\n%s:%ld: not a $ or # line, and no > ! ? line of a command\n", f->path, lines->line);
            CU_FAIL("a case file has a line of no kind");
        }
    }
}

static void take_readme_line(struct file *f, struct expectation *e, const struct fc_lines *lines, bool *fenced)
{
    const char *line = lines->text;
    size_t length = lines->length;
    bool fence = length >= 3 && !strncmp(line, "```", 3), command = length > 2 && !strncmp(line, "$ ", 2);
    if (fence || (*fenced && command)) finish(f, e);
    if (fence) *fenced = !*fenced && length >= 10 && !strncmp(line, "```console", 10);
    if (*fenced && length > 12 && !strncmp(line, "$ fabricast ", 12)) begin(f, e, lines);
    else if (e->command[0]) append(&e->out, line, length);
    else append(&f->renewed, line, length);
}

static void run_lines(struct file *f)
{
    struct fc_arena arena = {0};
    struct fc_text text;
    struct fc_lines lines;
    struct fc_status st = {0};
    struct expectation e = {0};
    bool fenced = false;
    if (fc_read_file(f->path, &arena, &text, &st)) {
        CU_FAIL("a case file cannot be read");
        return;
    }
    fc_lines_start(&lines, &text);
    while (fc_lines_next(&lines))
        if (f->readme) take_readme_line(f, &e, &lines, &fenced);
        else take_line(f, &e, &lines);
    finish(f, &e);
    fc_arena_free(&arena);
}

static void write_file(const struct file *f)
{
    FILE *stream = fopen(f->path, "w");
    bool good = stream && fwrite(f->renewed.data, 1, f->renewed.size, stream) == f->renewed.size;
    if (stream) good = fclose(stream) == 0 && good;
    if (!good) CU_FAIL("a case file could not be renewed");
}

static bool set_up(struct file *f)
{
    ssize_t n = readlink("/proc/self/exe", f->program_directory, sizeof f->program_directory - 1);
    if (n <= 0) return false;
    f->program_directory[n] = 0;
    *strrchr(f->program_directory, '/') = 0;
    char program[PATH_MAX + 16];
    snprintf(program, sizeof program, "%s/fabricast", f->program_directory);
    strcpy(f->temporary, "/tmp/fabricast-cases-XXXXXX");
    return access(program, X_OK) == 0 && mkdtemp(f->temporary);
}

static void clean_up(struct file *f)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", f->temporary);
    if (system(command)) CU_FAIL("the cases' temporary directory stays");
    free(f->renewed.data);
}

/* The file's name is the suite's: cases/flit. */
static void test_file(void)
{
    const char *name = CU_get_current_suite()->pName;
    char path[512];
    bool readme = !strcmp(name, "cases/README");
    if (readme) strcpy(path, "README.md");
    else snprintf(path, sizeof path, "tests/%.400s.t", name);
    struct file f = {.path = path, .readme = readme};
    CU_ASSERT_FATAL(set_up(&f));
    run_lines(&f);
    printf("    %d golden commands\n", f.n_commands);
    CU_ASSERT(f.n_commands > 0);
    if (f.changed) write_file(&f);
    clean_up(&f);
}

static int by_name(const struct dirent **a, const struct dirent **b) { return strcmp((*a)->d_name, (*b)->d_name); }

int suite_cases(void)
{
    static const CU_TestInfo tests[] = {{"golden command lines", test_file}, CU_TEST_INFO_NULL};
    struct dirent **entries;
    int n = scandir("tests/cases", &entries, NULL, by_name), missing = fc_add_suite("cases/README", tests);
    for (int i = 0; i < n; i++) {
        char name[300];
        size_t length = strlen(entries[i]->d_name);
        snprintf(name, sizeof name, "cases/%.*s", (int)length - 2, entries[i]->d_name);
        if (length > 2 && !strcmp(entries[i]->d_name + length - 2, ".t")) missing += fc_add_suite(name, tests);
        free(entries[i]);
    }
    if (n >= 0) free(entries);
    return missing + (n < 0);
}
