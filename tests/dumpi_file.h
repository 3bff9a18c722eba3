/* dumpi_file.h - writes small DUMPI files, record by record, for the tests of the reader. */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct dumpi_out {
    uint8_t bytes[1 << 14];
    size_t n;
    int version[3];
    int mask;
    uint32_t ns; /* wall clock; the CPU's is half */
    uint32_t ignored_bcasts, splits;
};

static inline void put(struct dumpi_out *o, int width, int64_t value)
{
    for (int i = width - 1; i >= 0; i--) o->bytes[o->n++] = (uint8_t)((uint64_t)value >> (8 * i));
}

static inline void put_magic(struct dumpi_out *o)
{
    memcpy(o->bytes + o->n, "\xff\xaa\xdd\x44UMPI", 8);
    o->n += 8;
}

static inline void dumpi_begin(struct dumpi_out *o)
{
    memset(o, 0, sizeof *o);
    o->version[0] = 1, o->version[1] = 1;
    o->mask = 0x4f;
    put_magic(o);
    put(o, 4, 0);    /* CPU bias */
    put(o, 4, 1000); /* wall bias */
}

/* A record without its arguments: 10 us after the last, taking 1 us; on the CPU half of both. */
static inline void dumpi_call(struct dumpi_out *o, int function)
{
    put(o, 2, function);
    put(o, 1, o->mask);
    put(o, 2, 0);
    for (int clock = o->mask & 4 ? 2 : 1; clock >= 1; clock--)
        for (int leave = 0; leave < 2; leave++) {
            put(o, 2, 0);
            put(o, 4, (o->ns + 10000 + 1000 * leave) / clock);
        }
    o->ns += 11000;
}

static inline void dumpi_ints(struct dumpi_out *o, int n, const int32_t *values) /* a list */
{
    put(o, 4, n);
    for (int i = 0; i < n; i++) put(o, 4, values[i]);
}

static inline void dumpi_status(struct dumpi_out *o, int bytes, int source, int cancelled, int tag) /* one of a list */
{
    put(o, 4, bytes);
    put(o, 4, source);
    put(o, 1, cancelled);
    put(o, 1, 0);
    if (o->version[0] > 0) put(o, 4, tag);
}

/* END, header, footer, sizes, index. */
static inline void dumpi_end(struct dumpi_out *o)
{
    uint64_t header, footer, sizes;
    put(o, 2, 293);
    header = o->n;
    for (int i = 0; i < 3; i++) put(o, 1, o->version[i]);
    put(o, 8, 1000000000);
    put(o, 2, 4), memcpy(o->bytes + o->n, "host", 4), o->n += 4;
    put(o, 2, 0), put(o, 4, 0);
    footer = o->n;
    put(o, 8, 0xf007fee7);
    for (int f = 0; f < 291; f++) put(o, 4, f == 86 ? o->splits : f == 84);
    for (int f = 0; f < 291; f++) put(o, 4, f == 53 ? o->ignored_bcasts : 0);
    sizes = o->n;
    static const int8_t of[28] = {0, 0,  1, 1, 1, 1, 4, 2, 2, 4,  4,  8, 8, 4,
                                  8, 16, 8, 8, 8, 1, 0, 0, 8, 12, 16, 6, 8, 32};
    put(o, 4, 28);
    for (int t = 0; t < 28; t++) put(o, 4, of[t]);
    put_magic(o);
    if (o->version[0] > 0) put(o, 8, (int64_t)sizes); /* older: not there */
    put(o, 8, 0), put(o, 8, 0);
    put(o, 8, (int64_t)header), put(o, 8, 8), put(o, 8, (int64_t)footer), put(o, 8, 0);
}

static inline void dumpi_save(const struct dumpi_out *o, const char *path)
{
    FILE *out = fopen(path, "wb");
    if (!out || fwrite(o->bytes, 1, o->n, out) != o->n || fclose(out)) abort();
}
