/* test_cases.c - golden command lines: the .t files of tests/cases and the console blocks of README.md and docs/, run
 * as users do. Each file is a suite of its own: `make test ONLY=cases/flit` runs tests/cases/flit.t, ONLY=cases/README
 * and ONLY=cases/docs/start the pages' commands.
 *
 * A case file holds commands and what they print:
 *     $ fabricast list families       run by sh from the top of the source tree, the sanitized program first in PATH
 *     > a line of standard output     exactly; `> ...` stands for any number of lines
 *     ! a line of standard error      exactly, in order; `! ...` as above
 *     ? 2                             exit status (0 when left out)
 * $TMP is a fresh directory.
 *
 * In a page, a line "$ ..." of a ```console block is a command; the lines up to the next command or the fence are what
 * it prints, standard error included; "..." lines as above. Commands of one page run in one fresh directory, with the
 * source tree's examples, models and traces in it and a home of its own.
 *     ```yaml my.yaml                 a block with a file's name: the file is there for the commands that follow
 *     ```console varies               numbers differ from run to run: only the text about them is compared
 *     $ mpirun ... \                  goes on in the next line
 *     $ make install # needs root     not run; so are "# needs ..." and "# takes minutes" (tests/pages_not_run.txt)
 *     $ echo $?                       the status of the command before, which otherwise has to be 0
 *
 * `make cases ONLY=cases/flit` writes what the commands print now into the file. Lines before the first "..." and after
 * the last of an output are renewed by their number; an output with several "..." is left as it is, and said. */
#include "tests/tests.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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
    bool varies, any_status; /* of a page: compare without numbers; the next command shows the status */
    long line;
};
/* What the lines of a page are part of. */
enum block { PROSE, CONSOLE, SHOWN_FILE, OTHER };
/* A file of cases while it runs. */
struct file {
    const char *path;
    bool page;
    enum block block;
    bool varies;     /* the block's numbers */
    bool goes_on;    /* the command has a line more */
    FILE *shown;     /* the file that a block shows */
    int last_status; /* of the page's last command */
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

static bool starts_with(const char *text, const char *with)
{
    return !strncmp(text, with, strlen(with));
}

static const char *text_of(const struct text *t)
{
    return t->data ? t->data : "";
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

static bool is_gap(const char *line)
{
    return !strncmp(line, "...\n", 4);
}

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

/* Behind a number: a unit of time, and how long it is; else 0. */
static size_t unit_length(const char *text)
{
    static const char *const units[] = {" ns", " us", " ms", " s"};
    for (size_t i = 0; i < FC_COUNT(units); i++) {
        size_t length = strlen(units[i]);
        if (starts_with(text, units[i]) && !isalpha((unsigned char)text[length])) return length;
    }
    return 0;
}

/* The text with N for every number, with its unit of time if it has one, and for the directions x+ to z-, and one
 * blank for several; owned by the caller. */
static char *without_numbers(const char *text)
{
    char *copy = malloc(strlen(text) + 2), *to = copy;
    while (*text) {
        if (*text >= '0' && *text <= '9') {
            text += strspn(text, "0123456789.e");
            text += unit_length(text);
            *to++ = 'N';
        } else if (*text >= 'x' && *text <= 'z' && (text[1] == '+' || text[1] == '-') && text[2] == ' ') {
            text += 2;
            *to++ = 'N';
        } else if (*text == ' ') {
            text += strspn(text, " ");
            *to++ = ' ';
        } else {
            *to++ = *text++;
        }
    }
    *to = 0;
    return copy;
}

static bool fits_but_numbers(const struct text *expected, const struct text *actual)
{
    char *a = without_numbers(text_of(expected)), *b = without_numbers(text_of(actual));
    bool good = fits(a, b);
    free(a);
    free(b);
    return good;
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
    append_prefixed(&f->renewed, f->page ? "" : ">", text_of(&e->out));
    if (f->page) return;
    append_prefixed(&f->renewed, "!", text_of(&e->err));
    char status[32];
    if (e->exit_status) append(&f->renewed, status, (size_t)snprintf(status, sizeof status, "? %d", e->exit_status));
}

static void renew_case(struct file *f, struct expectation *e, int code, const char *out, const char *err)
{
    struct text new_out = {0}, new_err = {0};
    if (renew(text_of(&e->out), out, &new_out) && (f->page || renew(text_of(&e->err), err, &new_err))) {
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
    int n = snprintf(command, sizeof command,
                     "PATH='%s':\"$PATH\" TMP='%s' LC_ALL=C FABRICAST_DATA=\"$PWD/models\"; "
                     "export PATH TMP LC_ALL FABRICAST_DATA; ",
                     f->program_directory, f->temporary);
    if (f->page)
        n += snprintf(command + n, sizeof command - (size_t)n,
                      "PAGE='%s'; . tests/pages.sh; { (exit %d); %s\n} >'%s' 2>&1 </dev/null; code=$?; "
                      ": >'%s'; exit $code",
                      f->path, f->last_status, e->command, out_path, err_path);
    else
        n += snprintf(command + n, sizeof command - (size_t)n, "{ %s\n} >'%s' 2>'%s' </dev/null", e->command, out_path,
                      err_path);
    CU_ASSERT_FATAL((size_t)n < sizeof command);
    int status = system(command), code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    struct text out = read_all(out_path), err = read_all(err_path);
    bool good = out.data && err.data && (code == e->exit_status || e->any_status) && fits(text_of(&e->err), err.data) &&
                (e->varies ? fits_but_numbers(&e->out, &out) : fits(text_of(&e->out), out.data));
    f->last_status = code;
    if (!good && fc_update_cases) {
        renew_case(f, e, code, text_of(&out), text_of(&err));
    } else if (!good) {
        printf("\n%s:%ld: $ %s\n--- exit %d (expected %d), standard output:\n%s--- expected:\n%s--- standard error:\n%s"
               "--- expected:\n%s---\n",
               f->path, e->line, e->command, code, e->exit_status, text_of(&out), text_of(&e->out), text_of(&err),
               text_of(&e->err));
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

/* A fence: what the block is, and the file that it shows. Names of files have no folder, so nothing else is written. */
static void open_block(struct file *f, const char *info, size_t length)
{
    char word[64] = "", rest[128] = "", path[256];
    char line[256];
    snprintf(line, sizeof line, "%.*s", (int)length, info);
    int words = sscanf(line, "%63s %127[^\n]", word, rest);
    f->varies = !strcmp(rest, "varies");
    f->block = !strcmp(word, "console") ? CONSOLE : words == 2 ? SHOWN_FILE : OTHER;
    if (f->block == CONSOLE && words == 2 && !f->varies) CU_FAIL("a console block says something else than varies");
    if (f->block != SHOWN_FILE) return;
    snprintf(path, sizeof path, "%s/page/%s", f->temporary, rest);
    f->shown = strchr(rest, '/') ? NULL : fopen(path, "w");
    if (!f->shown) CU_FAIL("a page's file cannot be written");
}

static void close_block(struct file *f)
{
    if (f->shown && fclose(f->shown)) CU_FAIL("a page's file was not written");
    f->shown = NULL;
    f->block = PROSE;
}

/* Commands that the page's reader runs and the tests do not: they say so themselves. */
static bool is_not_run(const char *command)
{
    return strstr(command, " # needs ") || strstr(command, " # takes minutes");
}

static void begin_in_page(struct file *f, struct expectation *e, const struct fc_lines *lines)
{
    begin(f, e, lines);
    e->varies = f->varies;
    f->goes_on = lines->text[lines->length - 1] == '\\';
    if (is_not_run(e->command)) e->command[0] = 0;
}

static void take_page_line(struct file *f, struct expectation *e, const struct fc_lines *lines)
{
    const char *line = lines->text;
    size_t length = lines->length, filled = strlen(e->command);
    bool fence = length >= 3 && !strncmp(line, "```", 3);
    bool command = f->block == CONSOLE && length > 2 && !strncmp(line, "$ ", 2);
    if (e->command[0] && f->goes_on) {
        snprintf(e->command + filled, sizeof e->command - filled, "\n%.*s", (int)length, line);
        f->goes_on = length > 0 && line[length - 1] == '\\';
        append(&f->renewed, line, length);
        return;
    }
    if (command) e->any_status = length == 9 && !strncmp(line, "$ echo $?", 9);
    if (fence || command) finish(f, e);
    if (command) {
        begin_in_page(f, e, lines);
    } else if (fence) {
        if (f->block == PROSE)
            open_block(f, line + 3, length - 3);
        else
            close_block(f);
        append(&f->renewed, line, length);
    } else if (e->command[0]) {
        append(&e->out, line, length);
    } else {
        append(&f->renewed, line, length);
        if (f->shown) fprintf(f->shown, "%.*s\n", (int)length, line);
    }
}

static void run_lines(struct file *f)
{
    struct fc_arena arena = {0};
    struct fc_text text;
    struct fc_lines lines;
    struct fc_status st = {0};
    struct expectation e = {0};
    if (fc_read_file(f->path, &arena, &text, &st)) {
        CU_FAIL("a case file cannot be read");
        return;
    }
    fc_lines_start(&lines, &text);
    while (fc_lines_next(&lines))
        if (f->page)
            take_page_line(f, &e, &lines);
        else
            take_line(f, &e, &lines);
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
    char program[PATH_MAX + 16], page[80];
    snprintf(program, sizeof program, "%s/fabricast", f->program_directory);
    strcpy(f->temporary, "/tmp/fabricast-cases-XXXXXX");
    if (access(program, X_OK) || !mkdtemp(f->temporary)) return false;
    snprintf(page, sizeof page, "%s/page", f->temporary);
    return !f->page || mkdir(page, 0777) == 0;
}

static void clean_up(struct file *f)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", f->temporary);
    if (system(command)) CU_FAIL("the cases' temporary directory stays");
    free(f->renewed.data);
}

/* The file's name is the suite's: cases/flit, cases/docs/start. */
static void test_file(void)
{
    const char *name = CU_get_current_suite()->pName;
    char path[512];
    bool page = starts_with(name, "cases/README") || starts_with(name, "cases/docs/");
    if (page)
        snprintf(path, sizeof path, "%.400s.md", name + strlen("cases/"));
    else
        snprintf(path, sizeof path, "tests/%.400s.t", name);
    struct file f = {.path = path, .page = page};
    CU_ASSERT_FATAL(set_up(&f));
    run_lines(&f);
    printf("    %d golden commands\n", f.n_commands);
    CU_ASSERT(f.n_commands > 0);
    if (f.changed) write_file(&f);
    clean_up(&f);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* A page is a suite when it has a command. */
static bool has_commands(const char *path)
{
    struct text t = read_all(path);
    bool has = t.data && strstr(t.data, "\n```console");
    free(t.data);
    return has;
}

/* A suite for every file of the folder whose name has that end: PREFIX/NAME. */
static int add_files(const char *folder, const char *end, const char *prefix, const CU_TestInfo *tests)
{
    struct dirent **entries;
    int n = scandir(folder, &entries, NULL, by_name), missing = 0;
    for (int i = 0; i < n; i++) {
        char name[300], path[600];
        size_t length = strlen(entries[i]->d_name), ends = strlen(end);
        if (length > ends && !strcmp(entries[i]->d_name + length - ends, end)) {
            snprintf(name, sizeof name, "%s/%.*s", prefix, (int)(length - ends), entries[i]->d_name);
            snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
            if (!strcmp(end, ".t") || has_commands(path)) missing += fc_add_suite(name, tests);
        }
        free(entries[i]);
    }
    if (n >= 0) free(entries);
    return missing + (n < 0);
}

int suite_cases(void)
{
    static const CU_TestInfo tests[] = {{"golden command lines", test_file}, CU_TEST_INFO_NULL};
    return fc_add_suite("cases/README", tests) + add_files("tests/cases", ".t", "cases", tests) +
           add_files("docs", ".md", "cases/docs", tests);
}
