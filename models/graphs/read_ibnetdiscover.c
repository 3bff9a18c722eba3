/* read_ibnetdiscover.c - an InfiniBand fabric as ibnetdiscover(8) and ibsim(8) write it: a record a device,
 *
 *     switchguid=0x2c9...                                  (also vendid, devid, sysimgguid, caguid, rtguid)
 *     Switch  36 "S-0002c9..."        # "leaf1" enhanced port 0 lid 48 lmc 0
 *     [1]     "H-0002c9..."[1](2c9...)        # "node018 HCA-1" lid 67 4xEDR
 *
 *     Ca      1 "H-0002c9..."         # "node018 HCA-1"
 *     [1](2c9...)     "S-0002c9..."[1]        # lid 67 lmc 0 "leaf1" lid 48 4xEDR
 *
 * ended by an empty line. ibnetdiscover_graph.c makes the network of it.
 *
 * A link class a width and speed; its bandwidth is the data rate after line coding, of a lane (InfiniBand
 * Architecture Specification vol. 2; InfiniBand Trade Association roadmap): SDR, DDR, QDR 2.5, 5, 10 Gb/s
 * with 8b/10b; FDR10, FDR, EDR 10.3125, 14.0625, 25.78125 Gb/s with 64b/66b; HDR, NDR, XDR 50, 100, 200 Gb/s
 * after coding and error correction. Packet headers are not taken off. An unknown speed must be given in the
 * machine file's links:. */
#include "core/values.h"
#include "models/graphs/ibnetdiscover.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    double lane_bytes_per_s;
} speeds[] = {
    {"SDR", 2.5e9 * 8 / 10 / 8},
    {"DDR", 5e9 * 8 / 10 / 8},
    {"QDR", 10e9 * 8 / 10 / 8},
    {"FDR10", 10.3125e9 * 64 / 66 / 8},
    {"FDR", 14.0625e9 * 64 / 66 / 8},
    {"EDR", 25.78125e9 * 64 / 66 / 8},
    {"HDR", 50e9 / 8},
    {"NDR", 100e9 / 8},
    {"XDR", 200e9 / 8},
};

/* ---- scanning ---- */

struct cursor {
    const char *at, *end;
    long line;
};

static void skip_blanks(struct cursor *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\t')) c->at++;
}

static enum fc_code malformed(const struct fc_ib_fabric *f, const struct cursor *c, const char *expected)
{
    size_t length = (size_t)(c->end - c->at);
    return fc_fail(f->st, FC_INPUT, fc_ib_place(f, c->line), "malformed at '%.*s' (expected %s)",
                   (int)(length < 60 ? length : 60), c->at, expected);
}

/* The number up to `stop`, or up to a blank when stop is 0; moves behind it. */
static enum fc_code read_number(const struct fc_ib_fabric *f, struct cursor *c, char stop, long long high,
                                const char *what, long long *value)
{
    const char *start = c->at;
    while (c->at < c->end && *c->at != stop && *c->at != ' ' && *c->at != '\t') c->at++;
    if (stop && (c->at == c->end || *c->at != stop)) {
        c->at = start;
        return malformed(f, c, "[PORT]");
    }
    if (fc_word_int(start, (size_t)(c->at - start), 1, high, what, value, fc_ib_place(f, c->line), f->st))
        return f->st->code;
    c->at += stop != 0;
    return FC_OK;
}

/* A text between double quotes. False (nothing moved) when there is none here. */
static bool read_quoted(struct cursor *c, const char **text, size_t *length)
{
    const char *close = c->at < c->end && *c->at == '"' ? memchr(c->at + 1, '"', (size_t)(c->end - c->at - 1)) : NULL;
    if (!close) return false;
    *text = c->at + 1;
    *length = (size_t)(close - *text);
    c->at = close + 1;
    return true;
}

/* The first quoted text of the rest, without blanks around it; NULL when there is none. */
static const char *description_of(struct fc_ib_fabric *f, struct cursor c)
{
    const char *text;
    size_t length;
    while (c.at < c.end && *c.at != '"') c.at++;
    if (!read_quoted(&c, &text, &length)) return NULL;
    while (length > 0 && text[0] == ' ') text++, length--;
    while (length > 0 && text[length - 1] == ' ') length--;
    char *copy = fc_alloc(&f->scratch, length + 1, 1, f->st);
    if (copy) memcpy(copy, text, length);
    return copy;
}

/* Bandwidth of "4xEDR"; 0 when the speed is unknown. */
static double bandwidth_of(const char *width_speed)
{
    char *x;
    long lanes = strtol(width_speed, &x, 10);
    for (size_t i = 0; i < FC_COUNT(speeds); i++)
        if (!strcmp(x + 1, speeds[i].name)) return (double)lanes * speeds[i].lane_bytes_per_s;
    return 0;
}

/* The width and speed ("4xEDR") behind the last quote of a comment, as a class. */
static enum fc_code read_speed(struct fc_ib_fabric *f, struct cursor c, uint8_t *link_class)
{
    const char *word;
    size_t length;
    *link_class = FC_IB_NO_SPEED;
    for (const char *p = c.at; p < c.end; p++)
        if (*p == '"') c.at = p + 1;
    while (fc_next_word(&c.at, c.end, &word, &length)) {
        size_t digits = 0;
        char name[24];
        while (digits < length && fc_is_digit(word[digits])) digits++;
        if (digits == 0 || digits > 2 || digits + 1 >= length || word[digits] != 'x' || length >= sizeof name) continue;
        snprintf(name, sizeof name, "%.*s", (int)length, word);
        return fc_graph_class(f->reader, name, bandwidth_of(name), 0, link_class, fc_ib_place(f, c.line), f->st);
    }
    return FC_OK;
}

/* The number behind the word "lid" in [at, end); 0: there is none. */
static uint32_t lid_in(const char *at, const char *end)
{
    const char *word;
    size_t length;
    while (fc_next_word(&at, end, &word, &length)) {
        if (length != 3 || memcmp(word, "lid", 3) || !fc_next_word(&at, end, &word, &length)) continue;
        uint32_t lid = 0;
        for (size_t i = 0; i < length && i < 6 && fc_is_digit(word[i]); i++) lid = 10 * lid + (uint32_t)(word[i] - '0');
        return lid <= UINT16_MAX ? lid : 0;
    }
    return 0;
}

/* An adapter's line tells its own LID before the description of what it is cabled to, every line that one's behind it. */
static void read_lids(struct cursor c, struct fc_ib_end *end)
{
    const char *quote = memchr(c.at, '"', (size_t)(c.end - c.at)), *last = quote;
    for (const char *p = c.at; p < c.end; p++)
        if (*p == '"') last = p;
    end->lid = lid_in(c.at, quote ? quote : c.end);
    end->remote_lid = last ? lid_in(last + 1, c.end) : 0;
}

/* ---- lines ---- */

static enum fc_code find_device(struct fc_ib_fabric *f, const char *id, size_t length, long line, uint32_t *device)
{
    uint32_t before = f->ids.n;
    if (fc_graph_names_add(&f->ids, &f->scratch, id, length, device, fc_ib_place(f, line), f->st)) return f->st->code;
    if (f->ids.n == before) return FC_OK;
    if (f->n_devices == f->capacity) {
        uint32_t capacity = f->capacity ? 2 * f->capacity : 256;
        struct fc_ib_device *devices = fc_alloc(&f->scratch, capacity, sizeof *devices, f->st);
        if (!devices) return f->st->code;
        if (f->n_devices) memcpy(devices, f->devices, f->n_devices * sizeof *devices);
        f->devices = devices;
        f->capacity = capacity;
    }
    bool prefix = length > 2 && id[1] == '-';
    enum fc_ib_kind kind = prefix && id[0] == 'H'                     ? FC_IB_ADAPTER
                           : prefix && (id[0] == 'S' || id[0] == 'R') ? FC_IB_SWITCH
                                                                      : FC_IB_UNKNOWN;
    f->devices[f->n_devices++] = (struct fc_ib_device){.kind = kind, .first_line = line, .vertex = FC_NONE};
    return FC_OK;
}

/* Switch|Ca|Hca|Rt PORTS "ID" [# "DESCRIPTION" ...] */
static enum fc_code read_header(struct fc_ib_fabric *f, struct cursor *c, enum fc_ib_kind kind)
{
    const char *id;
    size_t length;
    long long ports;
    uint32_t number;
    skip_blanks(c);
    if (read_number(f, c, 0, 255, "number of ports", &ports)) return f->st->code;
    skip_blanks(c);
    if (!read_quoted(c, &id, &length)) return malformed(f, c, "a device in quotes");
    skip_blanks(c);
    if (c->at < c->end && *c->at != '#') return malformed(f, c, "# or the end of the line");
    if (find_device(f, id, length, c->line, &number)) return f->st->code;
    struct fc_ib_device *d = &f->devices[number];
    if (d->line)
        return fc_fail(f->st, FC_INPUT, fc_ib_place(f, c->line), "device '%.*s' has a record already on line %ld",
                       (int)length, id, d->line);
    const char *description = description_of(f, *c);
    if (description) d->description = description;
    d->kind = kind;
    d->line = c->line;
    d->ports = ports;
    f->current = number;
    return f->st->code;
}

/* What may follow a port: "(guid)" and "[ext 3]". */
static enum fc_code skip_details(const struct fc_ib_fabric *f, struct cursor *c)
{
    for (;;) {
        skip_blanks(c);
        bool guid = c->at < c->end && *c->at == '(';
        bool ext = c->end - c->at > 4 && !memcmp(c->at, "[ext", 4);
        if (!guid && !ext) return FC_OK;
        const char *close = memchr(c->at, guid ? ')' : ']', (size_t)(c->end - c->at));
        if (!close) return malformed(f, c, guid ? "(GUID)" : "[ext PORT]");
        c->at = close + 1;
    }
}

/* [PORT](guid) "REMOTE"[PORT](guid) # "DESCRIPTION" lid 3 4xEDR */
static enum fc_code read_port(struct fc_ib_fabric *f, struct cursor *c)
{
    struct fc_ib_end end = {.device = f->current, .line = c->line};
    long long port, remote_port;
    const char *id;
    size_t length;
    if (f->current == FC_NONE) return malformed(f, c, "a Switch, Ca or Hca line before its ports");
    c->at++;
    if (read_number(f, c, ']', 255, "port", &port) || skip_details(f, c)) return f->st->code;
    if (!read_quoted(c, &id, &length)) return malformed(f, c, "a device in quotes");
    if (c->at == c->end || *c->at != '[') return malformed(f, c, "[PORT]");
    c->at++;
    if (read_number(f, c, ']', 255, "remote port", &remote_port) || skip_details(f, c)) return f->st->code;
    if (c->at < c->end && *c->at != '#') return malformed(f, c, "# or the end of the line");
    if (port > f->devices[f->current].ports)
        return fc_fail(f->st, FC_INPUT, fc_ib_place(f, c->line), "port %lld of a device of %lld ports", port,
                       f->devices[f->current].ports);
    if (find_device(f, id, length, c->line, &end.remote) || read_speed(f, *c, &end.link_class)) return f->st->code;
    read_lids(*c, &end);
    if (!f->devices[end.remote].description) f->devices[end.remote].description = description_of(f, *c);
    end.port = (uint16_t)port;
    end.remote_port = (uint16_t)remote_port;
    f->ends[f->n_ends++] = end;
    return f->st->code;
}

static bool word_is(const char *word, size_t length, const char *text)
{
    return length == strlen(text) && !memcmp(word, text, length);
}

static enum fc_code read_line(struct fc_ib_fabric *f, struct cursor *c)
{
    static const char *const ids[] = {
        "vendid=", "devid=", "sysimgguid=", "switchguid=", "caguid=", "rtguid=", "Chassis", "Hostname:"};
    static const struct {
        const char *word;
        enum fc_ib_kind kind;
    } heads[] = {{"Switch", FC_IB_SWITCH}, {"Ca", FC_IB_ADAPTER}, {"Hca", FC_IB_ADAPTER}, {"Rt", FC_IB_SWITCH}};
    const char *word;
    size_t length;
    skip_blanks(c);
    if (c->at == c->end) { /* a record ends at an empty line */
        f->current = FC_NONE;
        return FC_OK;
    }
    if (*c->at == '#') return FC_OK;
    if (*c->at == '[') return read_port(f, c);
    for (size_t i = 0; i < FC_COUNT(ids); i++)
        if ((size_t)(c->end - c->at) >= strlen(ids[i]) && !memcmp(c->at, ids[i], strlen(ids[i]))) return FC_OK;
    const char *at = c->at;
    fc_next_word(&at, c->end, &word, &length);
    for (size_t i = 0; i < FC_COUNT(heads); i++)
        if (word_is(word, length, heads[i].word)) {
            c->at = at;
            return read_header(f, c, heads[i].kind);
        }
    return malformed(f, c, "Switch, Ca, [PORT] or KEY=VALUE");
}

enum fc_code fc_read_ibnetdiscover(struct fc_graph_reader *reader, struct fc_status *st)
{
    struct fc_ib_fabric f = {.reader = reader, .st = st, .current = FC_NONE};
    struct fc_lines lines;
    size_t n_lines = 1;
    for (size_t i = 0; i < reader->text.size; i++) n_lines += reader->text.data[i] == '\n';
    if (n_lines >= UINT32_MAX) return fc_refuse(st, FC_NO, "%s: %zu lines are too many", reader->text.file, n_lines);
    f.ends = fc_alloc(&f.scratch, n_lines, sizeof *f.ends, st);
    fc_lines_start(&lines, &reader->text);
    while (!st->code && fc_lines_next(&lines)) {
        struct cursor c = {lines.text, lines.text + lines.length, lines.line};
        read_line(&f, &c);
    }
    if (!st->code) fc_ib_graph(&f);
    fc_arena_free(&f.scratch);
    return st->code;
}
