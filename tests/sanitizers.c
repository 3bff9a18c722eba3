/* sanitizers.c - what the checked programs ask of the sanitizers. */

const char *__asan_default_options(void);

/* Undefined behaviour ends a checked program by an instruction that is none (-fsanitize-undefined-trap-on-error: a call with
 * a description of every check doubled the program and its start). The report of that signal has the source line. What is freed
 * is kept from use for 16 MiB more of it instead of 256, and reports tell eight callers of an allocation: half as many pages. New memory
 * is filled with a pattern at its begin only: byte by byte, 4 KiB of it took a tenth of the time of many small commands. */
__attribute__((visibility("default"), no_sanitize_address)) const char *__asan_default_options(void)
{
    return "handle_sigill=1:quarantine_size_mb=16:malloc_context_size=8:max_malloc_fill_size=256";
}
