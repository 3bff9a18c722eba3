/* test_core_io.c - input and output: what goes in and out, and one case per refusal. */
#include "tests/tests.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct fc_place here = {"t.txt", 3};

/* A new directory for one test; every test removes what it leaves. */
static void in_new_directory(char *path, size_t size)
{
    const char *top = getenv("TMPDIR");
    snprintf(path, size, "%s/fabricast-test.XXXXXX", top ? top : "/tmp");
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(path));
}

static const char *join(char *out, size_t size, const char *directory, const char *name)
{
    snprintf(out, size, "%s/%s", directory, name);
    return out;
}

static int count_files(const char *directory)
{
    int n = -2; /* . and .. */
    DIR *listing = opendir(directory);
    while (listing && readdir(listing)) n++;
    if (listing) closedir(listing);
    return n;
}

static void put(const char *path, const void *bytes, size_t n)
{
    FILE *file = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    CU_ASSERT_EQUAL(fwrite(bytes, 1, n, file), n);
    fclose(file);
}

static bool holds(const char *path, const char *text)
{
    char got[4096] = "";
    FILE *file = fopen(path, "r");
    if (!file) return false;
    got[fread(got, 1, sizeof got - 1, file)] = '\0';
    fclose(file);
    if (strcmp(got, text) != 0) printf("\n    %s holds \"%s\", expected \"%s\"\n", path, got, text);
    return strcmp(got, text) == 0;
}

/* ---- input ---- */

static void input_reads_files(void)
{
    char directory[200], path[256];
    struct fc_arena arena = {0};
    struct fc_status st = {0};
    struct fc_text text;
    in_new_directory(directory, sizeof directory);
    put(join(path, sizeof path, directory, "a"), "one\0two", 7);
    CU_ASSERT_EQUAL(fc_read_file(path, &arena, &text, &st), FC_OK);
    CU_ASSERT_EQUAL(text.size, 7);
    CU_ASSERT(memcmp(text.data, "one\0two", 8) == 0); /* with its NUL */
    CU_ASSERT(strcmp(text.file, path) == 0 && text.file != path);
    put(path, "", 0);
    CU_ASSERT_EQUAL(fc_read_file(path, &arena, &text, &st), FC_OK);
    CU_ASSERT(text.size == 0 && text.data[0] == '\0');
    CU_ASSERT_EQUAL(fc_read_file("/proc/self/status", &arena, &text, &st), FC_OK); /* says size 0, is not empty */
    CU_ASSERT(text.size > 100 && strlen(text.data) == text.size);
    unlink(path);
    rmdir(directory);
    fc_arena_free(&arena);
}

static void input_reads_pipes(void)
{
    char path[40], chunk[1000];
    int ends[2];
    struct fc_arena arena = {0}, small = {.limit_bytes = 100000};
    struct fc_status st = {0}, endless = {0};
    struct fc_text text;
    CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
    fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);
    for (int i = 0; i < 200; i++) {
        memset(chunk, 'a' + i % 26, sizeof chunk);
        CU_ASSERT_EQUAL_FATAL(write(ends[1], chunk, sizeof chunk), sizeof chunk);
    }
    close(ends[1]);
    snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]);
    CU_ASSERT_EQUAL(fc_read_file(path, &arena, &text, &st), FC_OK);
    close(ends[0]);
    CU_ASSERT_EQUAL(text.size, 200000);
    CU_ASSERT(text.data[65535] == 'a' + 65 % 26 && text.data[199999] == 'a' + 199 % 26);
    CU_ASSERT_EQUAL(fc_read_file("/dev/zero", &small, &text, &endless), FC_NO);
    CU_ASSERT(fc_says(&endless, FC_NO, "out of memory"));
    fc_arena_free(&arena);
    fc_arena_free(&small);
}

static void input_refuses_files(void)
{
    struct fc_arena arena = {0}, small = {.limit_bytes = 256};
    struct fc_status missing = {0}, directory = {0}, full = {0};
    struct fc_text text;
    CU_ASSERT_EQUAL(fc_read_file("/nonexistent/x", &arena, &text, &missing), FC_INPUT);
    CU_ASSERT(fc_says(&missing, FC_INPUT, "/nonexistent/x: cannot be read: No such file or directory"));
    CU_ASSERT_EQUAL(fc_read_file("/tmp", &arena, &text, &directory), FC_INPUT);
    CU_ASSERT(fc_says(&directory, FC_INPUT, "/tmp: cannot be read: Is a directory"));
    CU_ASSERT_EQUAL(fc_read_file("core/core.h", &small, &text, &full), FC_NO);
    CU_ASSERT(fc_says(&full, FC_NO, "out of memory"));
    fc_arena_free(&arena);
    fc_arena_free(&small);
}

static void input_walks_lines(void)
{
    static const struct {
        const char *line;
        long number;
    } want[] = {{"one", 1}, {"", 2}, {"two words", 3}, {"last", 4}};
    const char data[] = "one\r\n\ntwo words\nlast";
    struct fc_text text = {"a.txt", data, sizeof data - 1}, empty = {"b.txt", "", 0}, ended = {"c.txt", "x\n", 2};
    struct fc_lines lines;
    fc_lines_start(&lines, &text);
    for (size_t i = 0; i < FC_COUNT(want); i++) {
        CU_ASSERT_FATAL(fc_lines_next(&lines));
        CU_ASSERT(lines.length == strlen(want[i].line) && memcmp(lines.text, want[i].line, lines.length) == 0);
        CU_ASSERT_EQUAL(fc_lines_place(&lines).line, want[i].number);
    }
    CU_ASSERT_STRING_EQUAL(fc_lines_place(&lines).file, "a.txt");
    CU_ASSERT_FALSE(fc_lines_next(&lines));
    fc_lines_start(&lines, &empty);
    CU_ASSERT_FALSE(fc_lines_next(&lines));
    fc_lines_start(&lines, &ended);
    CU_ASSERT(fc_lines_next(&lines) && !fc_lines_next(&lines)); /* an end of line starts no new one */
}

static void input_cuts_words(void)
{
    const char text[] = "  send\t12 x\r", *at = text, *end = text + sizeof text - 1, *word;
    size_t length;
    CU_ASSERT(fc_next_word(&at, end, &word, &length) && length == 4 && word == text + 2);
    CU_ASSERT(fc_next_word(&at, end, &word, &length) && length == 2 && memcmp(word, "12", 2) == 0);
    CU_ASSERT(fc_next_word(&at, end, &word, &length) && length == 1 && *word == 'x');
    CU_ASSERT(!fc_next_word(&at, end, &word, &length) && length == 0);
    at = text + 2;
    CU_ASSERT(fc_next_word(&at, text + 4, &word, &length) && length == 2); /* `end` is obeyed */
}

static void input_words_as_numbers(void)
{
    static const struct {
        const char *word;
        long long low, high;
        const char *message; /* NULL: fine */
    } ints[] = {
        {"12", 0, 12, NULL},
        {"-9223372036854775808", LLONG_MIN, LLONG_MAX, NULL},
        {"+7", 0, 10, NULL},
        {"13", 0, 12, "t.txt:3: rank: '13' is out of range (allowed: 0 to 12)"},
        {"-1", 0, LLONG_MAX, "rank: '-1' is out of range (allowed: at least 0)"},
        {"9223372036854775808", LLONG_MIN, LLONG_MAX, "rank: '9223372036854775808' is too large"},
        {"9223372036854775808", 0, LLONG_MAX, "out of range"},
        {"1.0", 0, 12, "rank: '1.0' is not an integer"},
        {"0x1", 0, 12, "rank: '0x1' is not an integer"},
        {"", 0, 12, "rank: '' is not an integer"},
        {"-", 0, 12, "rank: '-' is not an integer"},
    };
    static const char *const reals[][2] = {{"ten", "time: 'ten' is not a number"},
                                           {"1e", "time: '1e' is not a number"},
                                           {"nan", "time: 'nan' is not a number"},
                                           {"", "time: '' is not a number"},
                                           {"1e400", "time: '1e400' is too large or too small"}};
    for (size_t i = 0; i < FC_COUNT(ints); i++) {
        struct fc_status st = {0};
        long long value = 0;
        enum fc_code code =
            fc_word_int(ints[i].word, strlen(ints[i].word), ints[i].low, ints[i].high, "rank", &value, here, &st);
        CU_ASSERT_EQUAL(code, ints[i].message ? FC_INPUT : FC_OK);
        CU_ASSERT(ints[i].message ? fc_says(&st, FC_INPUT, ints[i].message) : value == atoll(ints[i].word));
    }
    for (size_t i = 0; i < FC_COUNT(reals); i++) {
        struct fc_status st = {0};
        double value;
        CU_ASSERT_EQUAL(fc_word_real(reals[i][0], strlen(reals[i][0]), "time", &value, here, &st), FC_INPUT);
        CU_ASSERT(fc_says(&st, FC_INPUT, reals[i][1]));
    }
}

/* Bit for bit what strtod reads, on the fast path and off it, and never beyond the word's length. */
static void input_reals_are_exact(void)
{
    static const char *const hard[] = {"9007199254740993",
                                       "1e22",
                                       "1e23",
                                       "4.9e-324",
                                       "1.7976931348623157e308",
                                       "0.1",
                                       "123456789012345678901234567890",
                                       "2.2250738585072011e-308",
                                       "9007199254740991e22",
                                       "-0.0",
                                       "000000000000000000000000000001.5"};
    for (uint64_t i = 0; i < 20000; i++) {
        char text[80];
        if (i < FC_COUNT(hard))
            snprintf(text, sizeof text, "%s", hard[i]);
        else
            snprintf(text, sizeof text, "%s%.*e", i % 2 ? "-" : "", (int)fc_random_below(1, i, 0, 20),
                     fc_random_real(1, i, 1) * pow(10, 60 * fc_random_real(1, i, 2) - 30));
        struct fc_status st = {0};
        size_t length = strlen(text);
        double got = 7, want = strtod(text, NULL);
        strcat(text, "9");
        CU_ASSERT_EQUAL(fc_word_real(text, length, "x", &got, here, &st), FC_OK);
        if (memcmp(&got, &want, sizeof got) != 0) printf("\n    %s: %a, strtod %a\n", text, got, want);
        CU_ASSERT(memcmp(&got, &want, sizeof got) == 0);
    }
}

static void input_ranges(void)
{
    static const uint32_t want[] = {9, 10, 0, 1, 2, 3, 7};
    struct fc_arena arena = {0};
    struct fc_status st = {0};
    uint32_t *list;
    size_t n;
    CU_ASSERT_EQUAL(fc_parse_ranges("9-10, 0-3 ,7", 11, &arena, &list, &n, &st), FC_OK);
    CU_ASSERT(n == FC_COUNT(want) && memcmp(list, want, sizeof want) == 0);
    CU_ASSERT_EQUAL(fc_parse_ranges("5-5", 6, &arena, &list, &n, &st), FC_OK);
    CU_ASSERT(n == 1 && list[0] == 5);
    static const char *const wrong[][2] = {
        {"", "'' is not a number or range (expected e.g. 0-3,7)"},
        {"0,,1", "'' is not a number or range"},
        {"0-3,", "'' is not a number or range"},
        {"a", "'a' is not a number or range"},
        {"-1", "'-1' is not a number or range"},
        {"1-", "'1-' is not a number or range"},
        {"1--2", "'1--2' is not a number or range"},
        {"1 2", "'1 2' is not a number or range"},
        {"11", "'11' is out of range (allowed: 0 to 10)"},
        {"0-11", "'0-11' is out of range"},
        {"0-99999999999999999999", "is out of range"},
        {"3-0", "'3-0' runs backwards (expected 0-3)"},
        {"0-3,7,2", "2 is listed twice"},
        {"5,5", "5 is listed twice"},
    };
    for (size_t i = 0; i < FC_COUNT(wrong); i++) {
        struct fc_status refusal = {0};
        CU_ASSERT_EQUAL(fc_parse_ranges(wrong[i][0], 11, &arena, &list, &n, &refusal), FC_INPUT);
        CU_ASSERT(fc_says(&refusal, FC_INPUT, wrong[i][1]));
    }
    struct fc_status none = {0}, large = {0};
    CU_ASSERT_EQUAL(fc_parse_ranges("0", 0, &arena, &list, &n, &none), FC_INPUT);
    CU_ASSERT(fc_says(&none, FC_INPUT, "'0' is out of range (none exist)"));
    arena.limit_bytes = 1 << 20;
    CU_ASSERT_EQUAL(fc_parse_ranges("0-4000000000", UINT64_MAX, &arena, &list, &n, &large), FC_NO);
    CU_ASSERT(fc_says(&large, FC_NO, "out of memory: 16 GB more needed"));
    fc_arena_free(&arena);
}

/* ---- output ---- */

static void output_appears_whole(void)
{
    char directory[200], path[256], link_path[256];
    struct fc_output out;
    struct fc_status st = {0};
    struct stat info;
    in_new_directory(directory, sizeof directory);
    join(path, sizeof path, directory, "a.json");
    mode_t mask = umask(027);
    CU_ASSERT_EQUAL_FATAL(fc_output_open(&out, path, &st), FC_OK);
    umask(mask);
    fputs("new", out.stream);
    fflush(out.stream);
    CU_ASSERT(access(path, F_OK) != 0); /* not yet */
    CU_ASSERT_EQUAL(fc_output_close(&out, &st), FC_OK);
    CU_ASSERT(holds(path, "new"));
    CU_ASSERT(stat(path, &info) == 0 && (info.st_mode & 0777) == 0640);

    CU_ASSERT_EQUAL_FATAL(fc_output_open(&out, path, &st), FC_OK); /* abandoned: the old one stays */
    fputs("half", out.stream);
    fc_output_abandon(&out);
    fc_output_abandon(&out);
    CU_ASSERT(holds(path, "new") && count_files(directory) == 1);

    CU_ASSERT_EQUAL(symlink("a.json", join(link_path, sizeof link_path, directory, "link")), 0);
    CU_ASSERT_EQUAL_FATAL(fc_output_open(&out, link_path, &st), FC_OK); /* through a link: the link stays one */
    fputs("linked", out.stream);
    CU_ASSERT_EQUAL(fc_output_close(&out, &st), FC_OK);
    fc_output_abandon(&out); /* safe after close */
    CU_ASSERT(holds(path, "linked") && lstat(link_path, &info) == 0 && S_ISLNK(info.st_mode));
    CU_ASSERT_EQUAL(count_files(directory), 2);
    unlink(link_path);
    unlink(path);
    rmdir(directory);
    CU_ASSERT_EQUAL(st.code, FC_OK);
}

static void output_two_at_once(void)
{
    char directory[200], path[256];
    struct fc_output one, two;
    struct fc_status st = {0};
    in_new_directory(directory, sizeof directory);
    join(path, sizeof path, directory, "a");
    CU_ASSERT_EQUAL_FATAL(fc_output_open(&one, path, &st), FC_OK);
    CU_ASSERT_EQUAL_FATAL(fc_output_open(&two, path, &st), FC_OK);
    fputs("one", one.stream);
    fputs("second", two.stream);
    CU_ASSERT_EQUAL(fc_output_close(&one, &st), FC_OK);
    CU_ASSERT(holds(path, "one"));
    CU_ASSERT_EQUAL(fc_output_close(&two, &st), FC_OK);
    CU_ASSERT(holds(path, "second") && count_files(directory) == 1);
    unlink(path);
    rmdir(directory);
}

/* A write that fails half-way (here a size limit; a full disk fails the same way) leaves the old file and no
 * other. */
static void output_fails_whole(void)
{
    char directory[200], path[256], bytes[20000] = {0};
    struct fc_output out;
    struct fc_status st = {0};
    struct rlimit old, small;
    in_new_directory(directory, sizeof directory);
    put(join(path, sizeof path, directory, "a"), "old", 3);
    CU_ASSERT_EQUAL_FATAL(fc_output_open(&out, path, &st), FC_OK);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    small = old;
    small.rlim_cur = 8192;
    setrlimit(RLIMIT_FSIZE, &small);
    memset(bytes, 'x', sizeof bytes);
    fwrite(bytes, 1, sizeof bytes, out.stream);
    enum fc_code code = fc_output_close(&out, &st);
    setrlimit(RLIMIT_FSIZE, &old);
    signal(SIGXFSZ, handler);
    CU_ASSERT_EQUAL(code, FC_NO);
    CU_ASSERT(fc_says(&st, FC_NO, "cannot be written: File too large"));
    CU_ASSERT(holds(path, "old") && count_files(directory) == 1);
    unlink(path);
    rmdir(directory);
}

/* Devices are reached as /proc/self/fd/N, beside which nothing can be created: should the code under test
 * wrongly make a temporary and rename it, a run by root still cannot replace the machine's device. */
static void output_devices(void)
{
    struct fc_output out;
    char path[40];
    static const int amounts[] = {10, 100000}; /* fails at the flush, and long before it */
    int full = open("/dev/full", O_WRONLY);
    CU_ASSERT_FATAL(full >= 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", full);
    for (size_t i = 0; i < FC_COUNT(amounts); i++) {
        struct fc_status st = {0};
        CU_ASSERT_EQUAL_FATAL(fc_output_open(&out, path, &st), FC_OK);
        for (int n = 0; n < amounts[i]; n++) fputc('x', out.stream);
        CU_ASSERT_EQUAL(fc_output_close(&out, &st), FC_NO);
        CU_ASSERT(fc_says(&st, FC_NO, "cannot be written: No space left on device"));
    }
    close(full);
}

static void output_pipes(void)
{
    char directory[200], path[256], got[20] = "";
    struct fc_output out;
    struct fc_status st = {0};
    struct stat info;
    in_new_directory(directory, sizeof directory);
    CU_ASSERT_EQUAL_FATAL(mkfifo(join(path, sizeof path, directory, "fifo"), 0600), 0);
    int reader = open(path, O_RDONLY | O_NONBLOCK);
    CU_ASSERT_EQUAL_FATAL(fc_output_open(&out, path, &st), FC_OK);
    CU_ASSERT_EQUAL(count_files(directory), 1); /* no temporary */
    fputs("through", out.stream);
    CU_ASSERT_EQUAL(fc_output_close(&out, &st), FC_OK);
    CU_ASSERT(read(reader, got, sizeof got - 1) == 7 && strcmp(got, "through") == 0);
    CU_ASSERT(stat(path, &info) == 0 && S_ISFIFO(info.st_mode));
    close(reader);
    unlink(path);

    CU_ASSERT_EQUAL_FATAL(fc_output_open(&out, path, &st), FC_OK); /* appears while we write: is not replaced */
    CU_ASSERT_EQUAL_FATAL(mkfifo(path, 0600), 0);
    CU_ASSERT_EQUAL(fc_output_close(&out, &st), FC_NO);
    CU_ASSERT(fc_says(&st, FC_NO, "cannot be written: something that is no regular file appeared there"));
    CU_ASSERT(stat(path, &info) == 0 && S_ISFIFO(info.st_mode) && count_files(directory) == 1);
    unlink(path);
    rmdir(directory);
}

/* Writes `n` bytes to standard output while it is /dev/full. */
static enum fc_code to_full_stdout(int n, struct fc_status *st)
{
    struct fc_output out;
    fflush(stdout);
    int saved = dup(STDOUT_FILENO), full = open("/dev/full", O_WRONLY);
    dup2(full, STDOUT_FILENO);
    enum fc_code code = fc_output_open(&out, NULL, st);
    for (int i = 0; i < n; i++) fputc('x', out.stream);
    if (!code) code = fc_output_close(&out, st);
    __fpurge(stdout);
    clearerr(stdout);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    close(full);
    return code;
}

static void output_stdout(void)
{
    static const int amounts[] = {10, 100000};
    for (size_t i = 0; i < FC_COUNT(amounts); i++) {
        struct fc_status st = {0};
        CU_ASSERT_EQUAL(to_full_stdout(amounts[i], &st), FC_NO);
        CU_ASSERT(fc_says(&st, FC_NO, "standard output: No space left on device"));
    }
    static const char *const names[] = {NULL, "-", "/dev/stdout"};
    for (size_t i = 0; i < FC_COUNT(names); i++) {
        struct fc_output out;
        struct fc_status st = {0};
        CU_ASSERT_EQUAL(fc_output_open(&out, names[i], &st), FC_OK);
        CU_ASSERT_PTR_EQUAL(out.stream, stdout);
        CU_ASSERT_EQUAL(fc_output_close(&out, &st), FC_OK);
        CU_ASSERT(ferror(stdout) == 0 && fileno(stdout) == STDOUT_FILENO);
    }
}

static void output_refuses(void)
{
    struct fc_output out;
    struct fc_status nowhere = {0}, directory = {0}, empty = {0}, tall = {0};
    char long_path[700];
    CU_ASSERT_EQUAL(fc_output_open(&out, "/nonexistent/a", &nowhere), FC_INPUT);
    CU_ASSERT(fc_says(&nowhere, FC_INPUT, "/nonexistent/a: cannot be written: No such file or directory"));
    CU_ASSERT_PTR_NULL(out.stream);
    CU_ASSERT_EQUAL(fc_output_open(&out, "/tmp", &directory), FC_INPUT);
    CU_ASSERT(fc_says(&directory, FC_INPUT, "/tmp: cannot be written: Is a directory"));
    CU_ASSERT_EQUAL(fc_output_open(&out, "", &empty), FC_INPUT);
    CU_ASSERT(fc_says(&empty, FC_INPUT, "the output file's name is empty"));
    memset(long_path, 'a', sizeof long_path);
    long_path[sizeof long_path - 1] = '\0';
    CU_ASSERT_EQUAL(fc_output_open(&out, long_path, &tall), FC_INPUT);
    CU_ASSERT(fc_says(&tall, FC_INPUT, "cannot be written: File name too long"));
    fc_output_abandon(&(struct fc_output){0});
    CU_ASSERT_EQUAL(fc_output_close(&(struct fc_output){0}, &(struct fc_status){0}), FC_OK);
}

#define TEST(function)                                                                                                 \
    {                                                                                                                  \
#function, function                                                                                            \
    }
int suite_core_io(void)
{
    static const CU_TestInfo input[] = {
        TEST(input_reads_files),     TEST(input_reads_pipes), TEST(input_refuses_files),
        TEST(input_walks_lines),     TEST(input_cuts_words),  TEST(input_words_as_numbers),
        TEST(input_reals_are_exact), TEST(input_ranges),      CU_TEST_INFO_NULL};
    static const CU_TestInfo output[] = {TEST(output_appears_whole), TEST(output_two_at_once), TEST(output_fails_whole),
                                         TEST(output_devices),       TEST(output_pipes),       TEST(output_stdout),
                                         TEST(output_refuses),       CU_TEST_INFO_NULL};
    return fc_add_suite("core/input", input) || fc_add_suite("core/output", output);
}
