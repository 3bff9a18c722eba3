/* test_pages.c - the pages as a reader follows them: links between them lead to files and headings that are there,
 * every page can be reached from README.md, and the commands that no test runs are those of tests/pages_not_run.txt.
 * That the other commands print what the pages say is test_cases.c's. */
#include "tests/support.h"
#include "tests/tests.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_PAGES = 256, LONGEST = 200 };
struct page {
    char path[LONGEST];
    struct fc_text text;
    bool reached; /* by links, from README.md */
};
struct pages {
    struct page page[MOST_PAGES];
    int n;
    struct fc_arena arena;
};

static void add_page(struct pages *all, const char *path)
{
    struct fc_status st = {0};
    CU_ASSERT_FATAL(all->n < MOST_PAGES && strlen(path) < LONGEST);
    struct page *page = &all->page[all->n++];
    snprintf(page->path, sizeof page->path, "%s", path);
    if (fc_read_file(path, &all->arena, &page->text, &st)) CU_FAIL_FATAL("a page cannot be read");
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static void add_folder(struct pages *all, const char *folder)
{
    struct dirent **entries;
    int n = scandir(folder, &entries, NULL, by_name);
    CU_ASSERT_FATAL(n >= 0);
    for (int i = 0; i < n; i++) {
        char path[512];
        size_t length = strlen(entries[i]->d_name);
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (length > 3 && !strcmp(entries[i]->d_name + length - 3, ".md")) add_page(all, path);
        free(entries[i]);
    }
    free(entries);
}

static struct pages *open_pages(void)
{
    struct pages *all = calloc(1, sizeof *all);
    CU_ASSERT_FATAL(all != NULL);
    add_page(all, "README.md");
    add_folder(all, "docs");
    add_folder(all, "docs/notes");
    add_page(all, "examples/slurm/README.md");
    add_page(all, "traces/samples/README.md");
    return all;
}

static void close_pages(struct pages *all)
{
    fc_arena_free(&all->arena);
    free(all);
}

/* A heading as browsers' anchors have it (GitHub): letters in lower case, blanks as dashes, other signs left out. */
static void anchor_of(const char *heading, size_t length, char *out)
{
    size_t n = 0;
    for (size_t i = 0; i < length && n + 1 < LONGEST; i++) {
        unsigned char c = (unsigned char)heading[i];
        if (isalnum(c) || c == '-' || c == '_' || c >= 128)
            out[n++] = (char)tolower(c);
        else if (c == ' ')
            out[n++] = '-';
    }
    out[n] = 0;
}

static bool has_anchor(const struct page *page, const char *anchor)
{
    struct fc_lines lines;
    bool fenced = false;
    char own[LONGEST];
    fc_lines_start(&lines, &page->text);
    while (fc_lines_next(&lines)) {
        size_t level = 0;
        if (lines.length >= 3 && !strncmp(lines.text, "```", 3)) fenced = !fenced;
        while (!fenced && level < lines.length && lines.text[level] == '#') level++;
        if (level == 0 || level >= lines.length || lines.text[level] != ' ') continue;
        anchor_of(lines.text + level + 1, lines.length - level - 1, own);
        if (!strcmp(own, anchor)) return true;
    }
    return false;
}

/* Folder of `page` and `target` as one path without ".."; out[2 * LONGEST]. */
static void join(const char *page, const char *target, char *out)
{
    const char *slash = strrchr(page, '/');
    size_t n = slash ? (size_t)(slash - page) + 1 : 0;
    memcpy(out, page, n);
    out[n] = 0;
    while (!strncmp(target, "../", 3)) {
        target += 3;
        if (n > 0) out[n - 1] = 0;
        slash = strrchr(out, '/');
        n = slash ? (size_t)(slash - out) + 1 : 0;
        out[n] = 0;
    }
    snprintf(out + n, 2 * LONGEST - n, "%s", target);
}

static struct page *page_at(struct pages *all, const char *path)
{
    for (int i = 0; i < all->n; i++)
        if (!strcmp(all->page[i].path, path)) return &all->page[i];
    return NULL;
}

static void follow(struct pages *all, const struct page *page, long line, const char *link, bool tell)
{
    char target[LONGEST], path[2 * LONGEST];
    snprintf(target, sizeof target, "%s", link);
    char *anchor = strchr(target, '#');
    if (anchor) *anchor++ = 0;
    if (*target)
        join(page->path, target, path);
    else
        snprintf(path, sizeof path, "%s", page->path);
    struct page *other = page_at(all, path);
    bool good = access(path, R_OK) == 0 && (!anchor || (other && has_anchor(other, anchor)));
    if (!good && tell) printf("\n%s:%ld: the link '%s' leads nowhere\n", page->path, line, link);
    CU_ASSERT(good || !tell);
    if (other && page->reached) other->reached = true;
}

/* An indented block; what hangs below an item of a list is indented less, or begins with a link. */
static bool is_code(const char *line, size_t length)
{
    return length > 4 && !strncmp(line, "    ", 4) && line[4] != ' ' && line[4] != '[';
}

/* Calls follow for every relative link outside of blocks and code; returns how many. tell: those that lead nowhere
 * fail. */
static int follow_all(struct pages *all, const struct page *page, bool tell)
{
    struct fc_lines lines;
    bool fenced = false;
    int n = 0;
    fc_lines_start(&lines, &page->text);
    while (fc_lines_next(&lines)) {
        if (lines.length >= 3 && !strncmp(lines.text, "```", 3)) fenced = !fenced;
        if (fenced || is_code(lines.text, lines.length)) continue;
        for (size_t i = 0; i + 2 < lines.length; i++) {
            char link[LONGEST];
            size_t length = 0;
            if (lines.text[i] != ']' || lines.text[i + 1] != '(') continue;
            const char *at = lines.text + i + 2;
            while (i + 2 + length < lines.length && at[length] != ')') length++;
            if (i + 2 + length == lines.length || length >= LONGEST || memchr(at, ' ', length)) continue;
            snprintf(link, sizeof link, "%.*s", (int)length, at);
            if (strstr(link, "://") || !*link) continue;
            follow(all, page, lines.line, link, tell);
            n++;
        }
    }
    return n;
}

static void test_links(void)
{
    struct pages *all = open_pages();
    int n = 0;
    all->page[0].reached = true;
    for (int round = 0; round < 6; round++) {
        n = 0;
        for (int i = 0; i < all->n; i++) n += follow_all(all, &all->page[i], round == 0);
    }
    printf("    %d links of %d pages\n", n, all->n);
    CU_ASSERT(n > 50);
    for (int i = 0; i < all->n; i++) {
        if (!all->page[i].reached) printf("\n%s: no way of links leads here from README.md\n", all->page[i].path);
        CU_ASSERT(all->page[i].reached);
    }
    close_pages(all);
}

/* Commands of console blocks that say themselves that the tests do not run them, as "PAGE: COMMAND" lines. */
static void append_not_run(const struct page *page, FILE *to)
{
    struct fc_lines lines;
    bool fenced = false;
    fc_lines_start(&lines, &page->text);
    while (fc_lines_next(&lines)) {
        char line[1024];
        snprintf(line, sizeof line, "%.*s", (int)lines.length, lines.text);
        if (!strncmp(line, "```", 3)) fenced = !fenced && !strncmp(line, "```console", 10);
        if (fenced && !strncmp(line, "$ ", 2) && (strstr(line, " # needs ") || strstr(line, " # takes minutes")))
            fprintf(to, "%s: %s\n", page->path, line);
    }
}

static void test_not_run(void)
{
    static const char list[] = "tests/pages_not_run.txt";
    struct pages *all = open_pages();
    struct fc_text expected;
    struct fc_status st = {0};
    char *found = NULL;
    size_t size;
    FILE *to = open_memstream(&found, &size);
    CU_ASSERT_FATAL(to != NULL);
    for (int i = 0; i < all->n; i++) append_not_run(&all->page[i], to);
    fclose(to);
    CU_ASSERT_FATAL(fc_read_file(list, &all->arena, &expected, &st) == FC_OK);
    bool same = expected.size == size && !memcmp(expected.data, found, size);
    if (!same && fc_update_cases) {
        to = fopen(list, "w");
        CU_ASSERT_FATAL(to != NULL);
        fwrite(found, 1, size, to);
        CU_ASSERT(fclose(to) == 0);
    }
    if (!same) printf("\n%s is not what the pages have:\n%s", list, found);
    CU_ASSERT(same);
    free(found);
    close_pages(all);
}

/* Pages for users show no command but in blocks that test_cases.c runs, or that say they are not run. */
static void test_user_pages(void)
{
    static const char *const pages[] = {"start",   "operator", "performance-engineer", "architect", "researcher",
                                        "library", "trust",    "your-machine"};
    struct pages *all = open_pages();
    for (size_t p = 0; p < FC_COUNT(pages); p++) {
        char path[LONGEST];
        snprintf(path, sizeof path, "docs/%s.md", pages[p]);
        const struct page *page = page_at(all, path);
        struct fc_lines lines;
        bool fenced = false;
        int n = 0;
        CU_ASSERT_FATAL(page != NULL);
        fc_lines_start(&lines, &page->text);
        while (fc_lines_next(&lines)) {
            bool command = lines.length > 14 && !strncmp(lines.text, "    fabricast ", 14);
            if (lines.length >= 3 && !strncmp(lines.text, "```", 3)) fenced = !fenced;
            n += fenced && lines.length > 2 && !strncmp(lines.text, "$ ", 2);
            if (!fenced && command) printf("\n%s:%ld: a command that nothing runs\n", path, lines.line);
            CU_ASSERT(fenced || !command);
        }
        CU_ASSERT(n > 0);
    }
    close_pages(all);
}

/* A path that looks like one of this source tree, or of a module there (`solvers/load`), and is none. */
static bool is_wrong_path(const char *name)
{
    static const char *const rooms[] = {"answer/",  "cli/",    "core/",  "examples/", "library/",
                                        "mapping/", "models/", "plots/", "sweep/",    "reproduce/",
                                        "solvers/", "tests/",  "traces/"};
    static const char *const ends[] = {"", ".c", ".h"};
    bool ours = false;
    for (size_t i = 0; i < FC_COUNT(rooms); i++) ours = ours || !strncmp(name, rooms[i], strlen(rooms[i]));
    if (!ours || strpbrk(name, "*{ :,") || strstr(name, "NAME") || strstr(name, "_X.")) return false;
    for (size_t i = 0; i < FC_COUNT(ends); i++) {
        char path[LONGEST + 4];
        snprintf(path, sizeof path, "%s%s", name, ends[i]);
        if (access(path, F_OK) == 0) return false;
    }
    return true;
}

/* Files that a page names are there; the notes tell of their day. */
static void test_named_files(void)
{
    struct pages *all = open_pages();
    int n = 0;
    for (int i = 0; i < all->n; i++) {
        struct fc_lines lines;
        if (strstr(all->page[i].path, "notes/")) continue;
        fc_lines_start(&lines, &all->page[i].text);
        while (fc_lines_next(&lines)) {
            const char *end = lines.text + lines.length, *from = memchr(lines.text, '`', lines.length), *to;
            for (; from && (to = memchr(from + 1, '`', (size_t)(end - from - 1))) != NULL;
                 from = memchr(to + 1, '`', (size_t)(end - to - 1))) {
                char name[LONGEST];
                snprintf(name, sizeof name, "%.*s", (int)(to - from - 1), from + 1);
                bool wrong = is_wrong_path(name);
                if (wrong) printf("\n%s:%ld: '%s' is not there\n", all->page[i].path, lines.line, name);
                CU_ASSERT(!wrong);
                n++;
            }
        }
    }
    CU_ASSERT(n > 1000);
    close_pages(all);
}

/* The checks themselves: what they must find. */
static void test_checks(void)
{
    char out[2 * LONGEST];
    anchor_of("`--set KEY=VALUE` and 2 more", 28, out);
    CU_ASSERT_STRING_EQUAL(out, "--set-keyvalue-and-2-more");
    join("docs/notes/place.md", "../place.md", out);
    CU_ASSERT_STRING_EQUAL(out, "docs/place.md");
    join("docs/place.md", "../README.md", out);
    CU_ASSERT_STRING_EQUAL(out, "README.md");
    struct page page = {.path = "x", .text = {.data = "# A b\n```\n# c\n```\n", .size = 18}};
    CU_ASSERT(is_wrong_path("solvers/none.c") && !is_wrong_path("solvers/load") && !is_wrong_path("solvers/*.c"));
    CU_ASSERT(has_anchor(&page, "a-b") && !has_anchor(&page, "c") && !has_anchor(&page, "b"));
}

int suite_pages(void)
{
    static const CU_TestInfo tests[] = {
        {"links lead somewhere", test_links},  {"commands that are not run are listed", test_not_run},
        {"users' pages run", test_user_pages}, {"files that pages name", test_named_files},
        {"anchors and paths", test_checks},    CU_TEST_INFO_NULL};
    return fc_add_suite("pages", tests);
}
