/* test_sweep.c - sweep files, their points, runs and the journal. The program that a sweep runs is a shell script here that
 * answers with its own words and counts how often it was run. */
#include "sweep/sweep.h"
#include "tests/support.h"
#include "tests/tests.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void make_file(char *path, const char *text)
{
    CU_ASSERT_FATAL(fc_test_file(path, ".sweep", text, strlen(text)));
}

static enum fc_code read_text(const char *text, struct fc_sweep *sweep, struct fc_status *st)
{
    char path[64];
    *st = (struct fc_status){0};
    make_file(path, text);
    enum fc_code code = fc_sweep_read(path, sweep, st);
    unlink(path);
    return code;
}

static void refuses_what_is_wrong(void)
{
    static const struct {
        const char *text, *says;
        long line;
    } cases[] = {
        {"", "not a sweep file", 1},
        {"- a", "not a sweep file", 1},
        {"command: [a", "not YAML", 1},
        {"vary: {a: 1}\ncolumns: [x]\n", "command: is missing", 1},
        {"command: load\ncolumns: [x]\n", "vary: is missing", 1},
        {"command: load\nvary: {a: [1]}\n", "columns: is missing", 1},
        {"command: load\nvaried: {}\n", "unknown key 'varied'", 2},
        {"command: load\ncommand: flit\n", "given twice", 2},
        {"command: -m x\nvary: {a: 1}\ncolumns: x\n", "names no command", 1},
        {"command: load\nvary: {}\n", "varies nothing", 2},
        {"command: load\nvary: {--a: 1}\n", "'--a' is no option", 2},
        {"command: load\nvary: {a: []}\n", "a: is empty", 2},
        {"command: load\nvary: {a: [[1]]}\n", "a: a value is a list", 2},
        {"command: load\nvary: {a: {b: 1}}\n", "neither a value nor a list", 2},
        {"command: load\nvary:\n  a: 1\n  a: 2\n", "a is given twice", 4},
        {"command: load\nvary: {a: 1:2:0}\n", "no range", 2},
        {"command: load\nvary: {a: 2:1:1}\n", "no range", 2},
        {"command: load\nvary: {a: 0:9999:1, b: 0:9999:1}\n", "more than 1000000 points", 2},
    };
    for (size_t i = 0; i < FC_COUNT(cases); i++) {
        struct fc_sweep sweep;
        struct fc_status st;
        CU_ASSERT_EQUAL(read_text(cases[i].text, &sweep, &st), FC_INPUT);
        if (!strstr(st.message, cases[i].says) || st.line != cases[i].line)
            printf("\n    %s: line %ld: %s ", cases[i].text, st.line, st.message);
        CU_ASSERT_PTR_NOT_NULL(strstr(st.message, cases[i].says));
        CU_ASSERT_EQUAL(st.line, cases[i].line);
        fc_sweep_free(&sweep);
    }
}

static const char shape[] =
    "command: answer -p 'a b'\nvary:\n  machine: [m1, m2]\n  links.torus.bandwidth: [1 GB/s, 2 GB/s]\n"
    "  load: \"10%:30%:10%\"\n  json-lines: [true, false]\ncolumns: [words, n]\n";

static void points_are_all_combinations(void)
{
    struct fc_sweep sweep;
    struct fc_status st;
    struct fc_arena arena = {0};
    char **words;
    CU_ASSERT_EQUAL_FATAL(read_text(shape, &sweep, &st), FC_OK);
    CU_ASSERT_EQUAL(sweep.n_points, 2 * 2 * 3 * 2);
    CU_ASSERT_STRING_EQUAL(fc_sweep_value(&sweep, 0, 2), "10%");
    CU_ASSERT_STRING_EQUAL(fc_sweep_value(&sweep, 3, 2), "20%");
    CU_ASSERT_STRING_EQUAL(fc_sweep_value(&sweep, 23, 0), "m2");
    CU_ASSERT_STRING_EQUAL(fc_sweep_value(&sweep, 11, 1), "2 GB/s");
    CU_ASSERT_EQUAL_FATAL(fc_sweep_words(&sweep, "prog", 8, &arena, &words, &st), FC_OK);
    static const char *const expected[] = {
        "prog",       "answer",       "-p",     "'a", "b'", "--machine=m1", "--set=links.torus.bandwidth=2 GB/s",
        "--load=20%", "--json-lines", "--json", "-q"};
    size_t n = 0;
    for (; words[n] && n < FC_COUNT(expected); n++) CU_ASSERT_STRING_EQUAL(words[n], expected[n]);
    CU_ASSERT_EQUAL(n, FC_COUNT(expected));
    CU_ASSERT_PTR_NULL(words[n]);
    fc_arena_free(&arena);
    fc_sweep_free(&sweep);
}

/* ---- runs ---- */

struct runs {
    char script[64], counter[64], journal[64];
    struct fc_sweep sweep;
    struct fc_sweep_settings settings;
};

/* `answer`: lines of sh that print the answer; $* are the words. */
static void open_runs(struct runs *r, const char *file, const char *answer)
{
    char text[1024];
    struct fc_status st;
    make_file(r->counter, "");
    make_file(r->journal, "");
    snprintf(text, sizeof text, "#!/bin/sh\necho x >> %s\n%s\n", r->counter, answer);
    make_file(r->script, text);
    CU_ASSERT_EQUAL(chmod(r->script, 0700), 0);
    CU_ASSERT_EQUAL_FATAL(read_text(file, &r->sweep, &st), FC_OK);
    r->settings = (struct fc_sweep_settings){
        .program = r->script, .version = "1", .journal = r->journal, .at_once = 1, .size = 1};
}

static void close_runs(struct runs *r)
{
    unlink(r->script);
    unlink(r->counter);
    unlink(r->journal);
    fc_sweep_free(&r->sweep);
}

static long times_run(const struct runs *r)
{
    struct stat s;
    return stat(r->counter, &s) ? -1 : (long)s.st_size / 2;
}

static const char *text_at(const struct fc_sweep_row *row, size_t column)
{
    const char *text = json_string_value(json_array_get(row->values, column));
    return text ? text : "";
}

static const char words_answer[] = "echo \"{\\\"words\\\": \\\"$*\\\", \\\"n\\\": {\\\"list\\\": [4, $#]}}\"";
static const char two_by_three[] = "command: answer\nvary: {a: [x, y], b: 1:3:1}\ncolumns: [words, n.list.1]\n";

static void rows_stand_in_order(void)
{
    struct runs r;
    open_runs(&r, two_by_three, words_answer);
    for (int at_once = 1; at_once <= 4; at_once += 3) {
        struct fc_sweep_row rows[6] = {0};
        struct fc_status st = {0};
        r.settings.at_once = at_once;
        r.settings.journal = NULL;
        CU_ASSERT_EQUAL(fc_sweep_run(&r.sweep, &r.settings, rows, &st), FC_OK);
        CU_ASSERT_STRING_EQUAL(text_at(&rows[0], 0), "answer --a=x --b=1 --json -q");
        CU_ASSERT_STRING_EQUAL(text_at(&rows[5], 0), "answer --a=y --b=3 --json -q");
        for (size_t i = 0; i < 6; i++) {
            CU_ASSERT(rows[i].done && rows[i].status == FC_OK);
            CU_ASSERT_EQUAL(json_integer_value(json_array_get(rows[i].values, 1)), 5);
        }
        fc_sweep_rows_free(rows, 6);
    }
    CU_ASSERT_EQUAL(times_run(&r), 12);
    close_runs(&r);
}

static void failures_are_rows(void)
{
    struct runs r;
    struct fc_sweep_row rows[6] = {0};
    struct fc_status st = {0};
    open_runs(&r, two_by_three,
              "case \"$*\" in *b=2*) echo 'fabricast: no such thing' >&2; exit 2;; *a=x*b=3*) kill -9 $$;; "
              "*a=y*b=3*) exit 0;; *a=y*b=1*) echo '{\"words\": \"no\", \"n\": null}'; exit 1;; esac\n"
              "echo '{\"words\": \"yes\", \"n\": {\"list\": [1, 2]}}'");
    CU_ASSERT_EQUAL(fc_sweep_run(&r.sweep, &r.settings, rows, &st), FC_OK);
    static const int statuses[] = {FC_OK, FC_INPUT, FC_FAULT, FC_NO, FC_INPUT, FC_FAULT};
    for (size_t i = 0; i < 6; i++) CU_ASSERT_EQUAL(rows[i].status, statuses[i]);
    CU_ASSERT_STRING_EQUAL(rows[1].message ? rows[1].message : "", "no such thing");
    CU_ASSERT_STRING_EQUAL(rows[2].message ? rows[2].message : "", "ended by signal 9");
    CU_ASSERT_STRING_EQUAL(text_at(&rows[3], 0), "no");
    CU_ASSERT(json_is_null(json_array_get(rows[1].values, 0)));
    CU_ASSERT(json_is_null(json_array_get(rows[3].values, 1)));
    fc_sweep_rows_free(rows, 6);
    close_runs(&r);
}

static void refuses_unknown_columns(void)
{
    struct runs r;
    struct fc_sweep_row rows[6] = {0};
    struct fc_status st = {0};
    open_runs(&r, "command: answer\nvary: {a: 1:6:1}\ncolumns: [wrds]\n", words_answer);
    CU_ASSERT_EQUAL(fc_sweep_run(&r.sweep, &r.settings, rows, &st), FC_INPUT);
    CU_ASSERT_PTR_NOT_NULL(strstr(st.message, "'wrds' is not in the answer of answer (it has: words, n)"));
    CU_ASSERT_EQUAL(times_run(&r), 1);
    fc_sweep_rows_free(rows, 6);
    close_runs(&r);
}

/* ---- the journal ---- */

static void run_again(struct runs *r, long runs_expected)
{
    struct fc_sweep_row rows[6] = {0};
    struct fc_status st = {0};
    long before = times_run(r);
    CU_ASSERT_EQUAL(fc_sweep_run(&r->sweep, &r->settings, rows, &st), FC_OK);
    CU_ASSERT_EQUAL(times_run(r) - before, runs_expected);
    CU_ASSERT_STRING_EQUAL(text_at(&rows[4], 0), "answer --a=y --b=2 --json -q");
    fc_sweep_rows_free(rows, 6);
}

static void goes_on_where_it_was(void)
{
    struct runs r;
    struct stat s;
    open_runs(&r, two_by_three, words_answer);
    run_again(&r, 6);
    run_again(&r, 0); /* all is in the journal */
    CU_ASSERT_EQUAL_FATAL(stat(r.journal, &s), 0);
    CU_ASSERT_EQUAL(truncate(r.journal, s.st_size - 5), 0); /* a crash in the middle of a line */
    run_again(&r, 1);
    run_again(&r, 0);
    r.settings.version = "2"; /* answers of another version are not ours */
    run_again(&r, 6);
    FILE *journal = fopen(r.journal, "a");
    CU_ASSERT_PTR_NOT_NULL_FATAL(journal);
    fputs("{\"key\": 3}\nnot JSON\n", journal);
    fclose(journal);
    run_again(&r, 0);
    close_runs(&r);
}

/* The answer depends on a file that the command names: another one is another point. */
static void looks_at_files(void)
{
    struct runs r;
    char input[64], file[256];
    make_file(input, "1");
    snprintf(file, sizeof file, "command: answer -t %s\nvary: {a: [x, y], b: 1:3:1}\ncolumns: [n]\n", input);
    open_runs(&r, file, "echo '{\"n\": 1}'");
    struct fc_sweep_row rows[6] = {0};
    struct fc_status st = {0};
    CU_ASSERT_EQUAL(fc_sweep_run(&r.sweep, &r.settings, rows, &st), FC_OK);
    fc_sweep_rows_free(rows, 6);
    FILE *other = fopen(input, "a");
    CU_ASSERT_PTR_NOT_NULL_FATAL(other);
    fputs("2", other);
    fclose(other);
    CU_ASSERT_EQUAL(fc_sweep_run(&r.sweep, &r.settings, rows, &st), FC_OK);
    CU_ASSERT_EQUAL(times_run(&r), 12);
    fc_sweep_rows_free(rows, 6);
    unlink(input);
    close_runs(&r);
}

static void journal_is_held_by_one(void)
{
    struct runs r;
    struct fc_sweep_row rows[6] = {0};
    struct fc_status st = {0};
    struct fc_sweep_journal journal;
    size_t found;
    open_runs(&r, two_by_three, words_answer);
    CU_ASSERT_EQUAL(fc_sweep_journal_open(&journal, &r.sweep, &r.settings, rows, &found, &st), FC_OK);
    CU_ASSERT_EQUAL(fc_sweep_run(&r.sweep, &r.settings, rows, &st), FC_NO);
    CU_ASSERT_PTR_NOT_NULL(strstr(st.message, "another run of this sweep is under way"));
    CU_ASSERT_EQUAL(times_run(&r), 0);
    fc_sweep_journal_close(&journal);
    st = (struct fc_status){0};
    r.settings.journal = "/nowhere/at/all";
    CU_ASSERT_EQUAL(fc_sweep_run(&r.sweep, &r.settings, rows, &st), FC_NO);
    CU_ASSERT_PTR_NOT_NULL(strstr(st.message, "the journal cannot be written"));
    close_runs(&r);
}

/* What stands in the journal's place and is none stays as it is. */
static void takes_no_other_file(void)
{
    static const char precious[] = "not to be lost\n";
    struct runs r;
    char link[80], got[sizeof precious] = "";
    open_runs(&r, two_by_three, words_answer);
    snprintf(link, sizeof link, "%s.link", r.journal);
    CU_ASSERT_EQUAL_FATAL(symlink(r.journal, link), 0);
    FILE *file = fopen(r.journal, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    fputs(precious, file);
    fclose(file);
    const char *const places[] = {r.journal, link};
    static const char *const says[] = {"is not the journal of a sweep", "is a symbolic link"};
    for (int i = 0; i < 2; i++) {
        struct fc_sweep_row rows[6] = {0};
        struct fc_status st = {0};
        r.settings.journal = places[i];
        CU_ASSERT_EQUAL(fc_sweep_run(&r.sweep, &r.settings, rows, &st), FC_INPUT);
        CU_ASSERT_PTR_NOT_NULL(strstr(st.message, says[i]));
    }
    file = fopen(r.journal, "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    CU_ASSERT(fread(got, 1, sizeof got, file) == sizeof precious - 1 && !strcmp(got, precious));
    fclose(file);
    CU_ASSERT_EQUAL(times_run(&r), 0);
    unlink(link);
    close_runs(&r);
}

/* A point that a signal ended is a row, and is run again when the sweep goes on: what ended it was about to end the sweep. */
static void runs_ended_points_again(void)
{
    struct runs r;
    char how[400];
    open_runs(&r, two_by_three, "");
    snprintf(how, sizeof how,
             "#!/bin/sh\necho x >> %s\ncase \"$*\" in *b=2*) [ -e %s.again ] || kill -TERM $$;; esac\n%s\n", r.counter,
             r.counter, words_answer);
    FILE *script = fopen(r.script, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(script);
    fputs(how, script);
    fclose(script);
    struct fc_sweep_row rows[6] = {0};
    struct fc_status st = {0};
    CU_ASSERT_EQUAL(fc_sweep_run(&r.sweep, &r.settings, rows, &st), FC_OK);
    CU_ASSERT(rows[1].status == FC_FAULT && rows[1].signal == SIGTERM);
    fc_sweep_rows_free(rows, 6);
    snprintf(how, sizeof how, "%s.again", r.counter);
    fclose(fopen(how, "w"));
    run_again(&r, 2);
    run_again(&r, 0);
    unlink(how);
    close_runs(&r);
}

/* A journal that held nothing is not left. */
static void leaves_no_empty_journal(void)
{
    struct runs r;
    struct fc_sweep_row rows[6] = {0};
    struct fc_status st = {0};
    open_runs(&r, "command: answer\nvary: {a: 1:6:1}\ncolumns: [wrds]\n", words_answer);
    CU_ASSERT_EQUAL(fc_sweep_run(&r.sweep, &r.settings, rows, &st), FC_INPUT);
    CU_ASSERT_NOT_EQUAL(access(r.journal, F_OK), 0);
    fc_sweep_rows_free(rows, 6);
    close_runs(&r);
}

/* Three ranks write the bytes that one writes, under each MPI; so does a sweep that goes on after a rank of it was killed. */
static void ranks_under(const char *mpi)
{
    static const char compare[] =
        "printf 'command: load -p uniform\\nvary: {machine: [bgl-64, qsnet-64], seed: 1:4:1}\\n' >$d/sweep\n"
        "printf 'columns: [bound_s, hop_bytes]\\n' >>$d/sweep\n"
        "$program sweep $d/sweep -o $d/one.tsv &&\n"
        "$run -n 3 $program sweep $d/sweep -o $d/three.tsv >$d/out 2>&1 &&\n"
        "cmp $d/one.tsv $d/three.tsv && [ $(wc -l <$d/one.tsv) = 9 ] || { cat $d/out; exit 1; }\n"
        "[ $mpi = openmpi ] || exit 0\n"
        "printf '[ $OMPI_COMM_WORLD_RANK != 2 ] || (while kill -0 $$; do [ ! -s %s.part ] || kill -9 $$; sleep 0.02; done) &\\n' "
        "$d/again.tsv >$d/dies\n"
        "printf 'exec %s sweep %s -o %s\\n' $program $d/sweep $d/again.tsv >>$d/dies\n"
        "over 30 $run -n 3 sh $d/dies; [ $? != 124 ] && "
        "{ [ -e $d/again.tsv ] || $program sweep $d/sweep -o $d/again.tsv; } && cmp $d/one.tsv $d/again.tsv || "
        "{ cat $d/out; exit 1; }";
    fc_under_mpirun(mpi, compare);
}

static void ranks_change_nothing(void)
{
    ranks_under("openmpi");
    ranks_under("mpich");
}

int suite_sweep(void)
{
    static const CU_TestInfo tests[] = {
        {"refuses what is wrong", refuses_what_is_wrong},
        {"points are all combinations", points_are_all_combinations},
        {"rows stand in order", rows_stand_in_order},
        {"failures are rows", failures_are_rows},
        {"refuses unknown columns", refuses_unknown_columns},
        {"goes on where it was", goes_on_where_it_was},
        {"looks at files", looks_at_files},
        {"the journal is held by one", journal_is_held_by_one},
        {"takes no other file for its journal", takes_no_other_file},
        {"runs ended points again", runs_ended_points_again},
        {"leaves no empty journal", leaves_no_empty_journal},
        {"ranks change nothing", ranks_change_nothing},
        CU_TEST_INFO_NULL,
    };
    return fc_add_suite("sweep", tests);
}
