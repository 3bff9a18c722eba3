/* patterns_hard.h - tests of suite patterns that stand in a file of their own (test_patterns_hard.c). */
#pragma once

void fc_test_hard_permutations(void);
void fc_test_group_shift_to_itself(void);
