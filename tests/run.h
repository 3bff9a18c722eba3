/* run.h - runs CUnit's active suites side by side (run.c). */
#pragma once
#include <stdbool.h>

struct fc_test_counts {
    unsigned suites, tests, failed_tests, asserts, failed_asserts;
    unsigned failed; /* tests that failed and suites that ended badly: crash, leak, signal */
};

/* Runs each active suite in a process of its own, at most `jobs` at once, or all in this process with jobs 0. Prints
 * what each printed in one piece, as soon as it ended; then the ten slowest and CUnit's summary. */
void fc_run_suites(int jobs, struct fc_test_counts *counts);
/* What such a process does: runs the suite of this number in the registry and writes its counts to the file. */
bool fc_run_one_suite(unsigned index, int counts_file);
