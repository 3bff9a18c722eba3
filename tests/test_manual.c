/* test_manual.c - what is made from the table of options: a man page a command that holds all of it, bash's completion as bash
 * runs it, and the version. */
#include "cli/manual.h"
#include "cli/version.h"
#include "tests/support.h"
#include "tests/tests.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64];

static bool make_manual(void)
{
    struct fc_status st = {0};
    strcpy(folder, "/tmp/fabricast-manual-XXXXXX");
    return mkdtemp(folder) && fc_write_manual(folder, &st) == FC_OK;
}

static void remove_manual(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    CU_ASSERT_EQUAL(system(command), 0);
}

/* What a shell command prints, up to size - 1 bytes; FOLDER is in its environment. */
static void run(const char *command, char *out, size_t size)
{
    setenv("FOLDER", folder, 1);
    FILE *stream = popen(command, "r");
    size_t n = stream ? fread(out, 1, size - 1, stream) : 0;
    out[n] = 0;
    CU_ASSERT(stream != NULL && pclose(stream) == 0);
}

static void test_pages(void)
{
    static char page[1 << 16];
    CU_ASSERT_FATAL(make_manual());
    for (size_t c = 0; fc_commands[c]; c++) {
        char path[128], word[64];
        struct fc_arena arena = {0};
        struct fc_text text = {0};
        struct fc_status st = {0};
        snprintf(path, sizeof path, "%s/fabricast-%s.1", folder, fc_commands[c]->name);
        CU_ASSERT_EQUAL_FATAL(fc_read_file(path, &arena, &text, &st), FC_OK);
        size_t n = 0; /* without groff's backslashes */
        for (const char *at = text.data; *at && n + 1 < sizeof page; at++)
            if (*at != '\\') page[n++] = *at;
        page[n] = 0;
        CU_ASSERT(strstr(page, fc_commands[c]->summary) != NULL);
        for (size_t i = 0; i < fc_n_options; i++) {
            const struct fc_option *o = &fc_options[i];
            snprintf(word, sizeof word, "fB--%s%s", o->name, o->value ? "fR=fI" : "fR\n");
            bool there = strstr(page, word) && strstr(page, o->help);
            if (there != fc_takes(fc_commands[c], o) && !fc_takes(fc_commands[c], o))
                for (size_t k = 0; k < fc_n_options; k++) /* another one of that name and help */
                    there =
                        there && !(fc_takes(fc_commands[c], &fc_options[k]) && !strcmp(fc_options[k].name, o->name));
            if (there != fc_takes(fc_commands[c], o)) printf("\n    %s --%s\n", fc_commands[c]->name, o->name);
            CU_ASSERT_EQUAL(there, fc_takes(fc_commands[c], o));
        }
        fc_arena_free(&arena);
    }
    remove_manual();
}

/* Every option stands in a section of --help. */
static void test_sections(void)
{
    uint64_t all = 0;
    for (int s = 0; fc_option_sections[s].title; s++) {
        CU_ASSERT_EQUAL(all & fc_option_sections[s].groups, 0);
        all |= fc_option_sections[s].groups;
    }
    for (size_t i = 0; i < fc_n_options; i++) CU_ASSERT(all >> fc_options[i].group & 1);
}

static void test_completion(void)
{
    static const struct {
        const char *typed, *offered;
    } cases[] = {
        {"fabricast pre", "predict"},
        {"fabricast map --str", "--strategy"},
        {"fabricast map --strategy opt", "optimize"},
        {"fabricast map --strategy = opt", "optimize"},
        {"fabricast predict -m bgl-51", "bgl-512"},
        {"fabricast predict --network q", "queueing"},
        {"fabricast predict --network = ''", "ideal contention queueing flit"},
        {"fabricast predict -p stencil2", "stencil2d"},
        {"fabricast map --format rankfile-", "rankfile-relative"},
        {"fabricast load --plot tes", "tests"},
        {"fabricast trace info READM", "README.md"},
        {"fabricast load --seed ''", ""},
    };
    CU_ASSERT_FATAL(make_manual());
    for (size_t i = 0; i < FC_COUNT(cases); i++) {
        char command[512], out[512];
        snprintf(
            command, sizeof command,
            "bash -c '. $FOLDER/fabricast; eval \"COMP_WORDS=($TYPED)\"; COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _fabricast; "
            "echo \"${COMPREPLY[*]}\"'");
        setenv("TYPED", cases[i].typed, 1);
        run(command, out, sizeof out);
        out[strcspn(out, "\n")] = 0;
        if (strcmp(out, cases[i].offered)) printf("\n    %s: %s\n", cases[i].typed, out);
        CU_ASSERT_STRING_EQUAL(out, cases[i].offered);
    }
    unsetenv("TYPED");
    remove_manual();
}

static void test_version(void)
{
    static const char *const parts[] = {"built with  ", "OpenMP",   "GSL ",        "GLPK ",
                                        "Scotch ",      "jansson ", "recorders   "};
    struct fc_memory_stream memory;
    struct fc_status st = {0};
    CU_ASSERT_EQUAL_FATAL(fc_memory_open(&memory, &st), FC_OK);
    fc_print_version(memory.stream);
    CU_ASSERT_EQUAL_FATAL(fc_memory_close(&memory, &st), FC_OK);
    CU_ASSERT_EQUAL(strncmp(memory.text, "fabricast " FC_VERSION "\n", sizeof "fabricast " FC_VERSION), 0);
    for (size_t i = 0; i < FC_COUNT(parts); i++) CU_ASSERT(strstr(memory.text, parts[i]) != NULL);
    free(memory.text);
}

static const CU_TestInfo tests[] = {
    {"a man page a command, an entry an option", test_pages},
    {"every option has a heading", test_sections},
    {"completion in bash", test_completion},
    {"the version", test_version},
    CU_TEST_INFO_NULL,
};
int suite_manual(void)
{
    return fc_add_suite("manual", tests);
}
