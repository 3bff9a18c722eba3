/* test_cases.c - golden command lines: the .t files of tests/cases and the examples of README.md, run as users do.
 *
 * A case file holds commands and what they print:
 *     $ fabricast list families       run by sh from the top of the source tree, the sanitized program first in PATH
 *     > a line of standard output     exactly; `> ...` stands for any number of lines
 *     ! a line of standard error      exactly, in order; `! ...` as above
 *     ? 2                             exit status (0 when left out)
 * $TMP is a fresh directory. In README.md a console block's "$ fabricast ..." is a command and the lines up to the next
 * command or the fence are its standard output; "..." lines as above. */
#include "tests/tests.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct text {
    char *data;
    size_t size;
};
struct expectation {
    char command[2048];
    struct text out, err; /* lines, each with \n */
    int exit_status;
    long line;
};
static struct {
    char program_directory[PATH_MAX], temporary[64];
} setting;

static void append(struct text *t, const char *line, size_t length)
{
    t->data = realloc(t->data, t->size + length + 2);
    memcpy(t->data + t->size, line, length);
    t->size += length;
    t->data[t->size++] = '\n';
    t->data[t->size] = 0;
}

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

/* Line by line; a line "..." of `expected` swallows lines until the next expected one fits. */
static bool fits(const char *expected, const char *actual)
{
    while (*expected) {
        const char *end = strchr(expected, '\n');
        size_t length = (size_t)(end - expected);
        const char *next = end + 1;
        if (length == 3 && !strncmp(expected, "...", 3)) {
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

static void run_case(const char *file, const struct expectation *e)
{
    char command[PATH_MAX * 2 + 4096], out_path[128], err_path[128];
    snprintf(out_path, sizeof out_path, "%s/.stdout", setting.temporary);
    snprintf(err_path, sizeof err_path, "%s/.stderr", setting.temporary);
    snprintf(command, sizeof command, "PATH='%s':\"$PATH\" TMP='%s' LC_ALL=C FABRICAST_DATA=\"$PWD/models\"; export PATH TMP LC_ALL FABRICAST_DATA; { %s\n} >'%s' 2>'%s' </dev/null",
             setting.program_directory, setting.temporary, e->command, out_path, err_path);
    int status = system(command), code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    struct text out = read_all(out_path), err = read_all(err_path);
    const char *expected_out = e->out.data ? e->out.data : "", *expected_err = e->err.data ? e->err.data : "";
    bool good = out.data && err.data && code == e->exit_status && fits(expected_out, out.data) && fits(expected_err, err.data);
    if (!good)
        printf("\n%s:%ld: $ %s\n--- exit %d (expected %d), standard output:\n%s--- expected:\n%s--- standard error:\n%s"
               "--- expected:\n%s---\n", file, e->line, e->command, code, e->exit_status, out.data ? out.data : "",
               expected_out, err.data ? err.data : "", expected_err);
    CU_ASSERT(good);
    free(out.data);
    free(err.data);
}

static void finish(const char *file, struct expectation *e)
{
    if (e->command[0]) run_case(file, e);
    free(e->out.data);
    free(e->err.data);
    memset(e, 0, sizeof *e);
}

/* Runs the commands of a case file; `readme`: of its console blocks. Returns how many. */
static int run_file(const char *path, bool readme)
{
    struct fc_arena arena = {0};
    struct fc_text text;
    struct fc_lines lines;
    struct fc_status st = {0};
    struct expectation e = {0};
    int n = 0;
    bool fenced = false;
    if (fc_read_file(path, &arena, &text, &st)) {
        CU_FAIL("a case file cannot be read");
        return 0;
    }
    fc_lines_start(&lines, &text);
    while (fc_lines_next(&lines)) {
        const char *line = lines.text;
        size_t length = lines.length;
        bool fence = readme && length >= 3 && !strncmp(line, "```", 3);
        if (fence) {
            finish(path, &e);
            fenced = !fenced && length >= 10 && !strncmp(line, "```console", 10);
            continue;
        }
        if (readme && !fenced) continue;
        bool command = length > 2 && !strncmp(line, "$ ", 2);
        if (command) finish(path, &e);
        if (command && (!readme || (length > 12 && !strncmp(line, "$ fabricast ", 12)))) {
            snprintf(e.command, sizeof e.command, "%.*s", (int)length - 2, line + 2);
            e.line = lines.line;
            n++;
        } else if (readme && e.command[0]) {
            append(&e.out, line, length);
        } else if (!readme && length >= 1 && line[0] == '?') {
            e.exit_status = atoi(line + 1);
        } else if (!readme && length >= 1 && (line[0] == '>' || line[0] == '!')) {
            size_t skip = length > 1 ? 2 : 1;
            append(line[0] == '>' ? &e.out : &e.err, line + skip, length - skip);
        } else if (!readme && length > 0 && line[0] != '#') {
            printf("\n%s:%ld: neither $ > ! ? nor #\n", path, lines.line);
            CU_FAIL("a case file has a line of no kind");
        }
    }
    finish(path, &e);
    fc_arena_free(&arena);
    return n;
}

static bool set_up(void)
{
    ssize_t n = readlink("/proc/self/exe", setting.program_directory, sizeof setting.program_directory - 1);
    if (n <= 0) return false;
    setting.program_directory[n] = 0;
    *strrchr(setting.program_directory, '/') = 0;
    char program[PATH_MAX + 16];
    snprintf(program, sizeof program, "%s/fabricast", setting.program_directory);
    strcpy(setting.temporary, "/tmp/fabricast-cases-XXXXXX");
    return access(program, X_OK) == 0 && mkdtemp(setting.temporary);
}

static void clean_up(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", setting.temporary);
    if (system(command)) CU_FAIL("the cases' temporary directory stays");
}

static int by_name(const struct dirent **a, const struct dirent **b) { return strcmp((*a)->d_name, (*b)->d_name); }

static void test_cases(void)
{
    CU_ASSERT_FATAL(set_up());
    struct dirent **entries;
    int n = scandir("tests/cases", &entries, NULL, by_name), commands = 0;
    for (int i = 0; i < n; i++) {
        size_t length = strlen(entries[i]->d_name);
        char path[512];
        snprintf(path, sizeof path, "tests/cases/%s", entries[i]->d_name);
        if (length > 2 && !strcmp(entries[i]->d_name + length - 2, ".t")) commands += run_file(path, false);
        free(entries[i]);
    }
    if (n >= 0) free(entries);
    printf("\n    %d golden commands ", commands);
    CU_ASSERT(commands > 0);
    clean_up();
}

static void test_readme(void)
{
    CU_ASSERT_FATAL(set_up());
    CU_ASSERT(run_file("README.md", true) > 0);
    clean_up();
}

int suite_cases(void)
{
    static const CU_TestInfo tests[] = {
        {"golden command lines", test_cases},
        {"README's examples", test_readme},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("cases", tests);
}
