/* version.h - which version this is (version.c). */
#pragma once

#include <stdio.h>

#define FC_VERSION "0.1.0"
/* The version, and what the program was built with and finds. */
void fc_print_version(FILE *stream);
