/* support.h - small things that several test files need. */
#ifndef FC_TEST_SUPPORT_H
#define FC_TEST_SUPPORT_H

#include "models/models.h"

/* A new file of `n` bytes whose name ends in `suffix`; path[64]. False when it cannot be written. */
bool fc_test_file(char *path, const char *suffix, const char *text, size_t n);
/* Writes the text of a machine file to a private temporary file and loads it; the file is gone afterwards. */
enum fc_code fc_test_machine(const char *yaml, struct fc_machine *machine, struct fc_status *st);
/* fc_test_machine + network; on failure the test fails with the message and false is returned. */
bool fc_test_network(const char *yaml, struct fc_machine *machine, struct fc_network *net);
void fc_test_close(struct fc_machine *machine, struct fc_network *net);
/* |a - b| <= tolerance * max(|a|, |b|, tiny). */
bool fc_near(double a, double b, double tolerance);

#endif
