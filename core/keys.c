/* keys.c - one table parses, range-checks and documents a set of settings (options, file keys, parameters).
 *
 * Every message starts with the key's name. Fields are written with memcpy at the key's offset, so the table
 * is the only thing that knows the settings struct. */
#include "core/core.h"
#include "core/number.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#define MOST_KEYS 256

/* "1 to 16", "at least 1 ns", ...; empty when any value is allowed. */
static void allowed_range(const struct fc_key *key, char *out, size_t size)
{
    char low[48], high[48];
    out[0] = '\0';
    if (key->low == 0 && key->high == 0) return;
    if (key->unit == FC_NUMBER) {
        snprintf(low, sizeof low, "%.15g", key->low);
        snprintf(high, sizeof high, "%.15g", key->high);
    } else {
        fc_format(low, sizeof low, key->low, key->unit);
        fc_format(high, sizeof high, key->high, key->unit);
    }
    if (isinf(key->high))
        snprintf(out, size, "at least %s", low);
    else if (isinf(key->low))
        snprintf(out, size, "at most %s", high);
    else
        snprintf(out, size, "%s to %s", low, high);
}

static enum fc_code check_range(const struct fc_key *key, double value, const char *text, struct fc_status *why)
{
    if ((key->low == 0 && key->high == 0) || (value >= key->low && value <= key->high)) return FC_OK;
    char range[128];
    allowed_range(key, range, sizeof range);
    return fc_refuse(why, FC_INPUT, "'%.60s' is out of range (allowed: %s)", text, range);
}

/* A plain integer, or a real or quantity that is exactly one ("1e6", "1 KiB" when the key has a unit). */
static enum fc_code parse_int(const struct fc_key *key, const char *text, double clock_hz, long long *value,
                              struct fc_status *why)
{
    size_t length = strlen(text);
    int fits;
    if (length == 0 || fc_scan_int(text, length, value, &fits) != length) {
        double real;
        if (key->unit != FC_NUMBER) {
            if (fc_quantity(text, key->unit, clock_hz, &real, (struct fc_place){0}, why)) return FC_INPUT;
        } else if (length == 0 || fc_scan_real(text, length, &real) != length) {
            return fc_refuse(why, FC_INPUT, "'%.60s' is not an integer", text);
        }
        fits = fabs(real) <= 9e18;
        if (fits && real != floor(real)) return fc_refuse(why, FC_INPUT, "'%.60s' is not a whole number", text);
        *value = fits ? (long long)real : 0;
    }
    if (!fits || *value > 9000000000000000000LL || *value < -9000000000000000000LL)
        return fc_refuse(why, FC_INPUT, "'%.60s' is too large (allowed: up to 9e18)", text);
    return check_range(key, (double)*value, text, why);
}

static enum fc_code parse_quantity(const struct fc_key *key, const char *text, double clock_hz, double *value,
                                   struct fc_status *why)
{
    if (fc_quantity(text, key->unit, clock_hz, value, (struct fc_place){0}, why)) return FC_INPUT;
    return check_range(key, *value, text, why);
}

/* "0.3" or "30%". */
static enum fc_code parse_share(const struct fc_key *key, const char *text, double *value, struct fc_status *why)
{
    size_t length = strlen(text), read = length ? fc_scan_real(text, length, value) : 0;
    bool percent = read > 0 && !strcmp(text + read, "%");
    if (read == 0 || (read != length && !percent))
        return fc_refuse(why, FC_INPUT, "'%.60s' is no share (expected 0.3 or 30%%)", text);
    if (percent) *value /= 100;
    return check_range(key, *value, text, why);
}

static enum fc_code parse_bool(const char *text, bool *value, struct fc_status *why)
{
    static const char *const words[] = {"false", "true", "no", "yes"};
    for (size_t i = 0; i < FC_COUNT(words); i++)
        if (strcasecmp(text, words[i]) == 0) {
            *value = i % 2;
            return FC_OK;
        }
    return fc_refuse(why, FC_INPUT, "'%.60s' is neither true nor false (allowed: true, false, yes, no)", text);
}

/* Appends to `out` as far as it fits. */
static void append(char *out, size_t size, const char *before, const char *text)
{
    size_t n = strlen(out);
    snprintf(out + n, size - n, "%s%s", before, text);
}

static enum fc_code parse_choice(const struct fc_key *key, const char *text, int *value, struct fc_status *why)
{
    char known[600] = "";
    size_t n = 0;
    for (; key->choices[n]; n++) {
        if (strcmp(text, key->choices[n]) == 0) {
            *value = (int)n;
            return FC_OK;
        }
        append(known, sizeof known, n ? ", " : "", key->choices[n]);
    }
    const char *near = fc_nearest(text, key->choices, n);
    return fc_refuse(why, FC_INPUT, "'%.60s' is not known (%s%s%sallowed: %s)", text, near ? "did you mean '" : "",
                     near ? near : "", near ? "'? " : "", known);
}

struct pieces {
    char text[512]; /* the list, cut in place */
    char *piece[FC_MAX_LIST];
    int n;
};

static char *trim(char *text)
{
    text += strspn(text, " \t\r\n");
    size_t n = strlen(text);
    while (n > 0 && strchr(" \t\r\n", text[n - 1])) text[--n] = '\0';
    return text;
}

/* Cuts a list, brackets and blanks removed, at its separator: the first of `separators` that occurs in it, so
 * that "4,4x4" is refused as an entry and not guessed. */
static enum fc_code cut_list(const char *text, const char *separators, struct pieces *p, struct fc_status *why)
{
    if (strlen(text) >= sizeof p->text) return fc_refuse(why, FC_INPUT, "'%.60s' is too long for a list", text);
    strcpy(p->text, text);
    char *at = trim(p->text);
    size_t n = strlen(at);
    bool open = n > 0 && at[0] == '[', close = n > 0 && at[n - 1] == ']';
    if (open != close || (open && n == 1)) return fc_refuse(why, FC_INPUT, "'%.60s' lacks a bracket", text);
    if (open) {
        at[n - 1] = '\0';
        at++;
    }
    char *first = strpbrk(at, separators), separator = first ? *first : ',';
    for (p->n = 0;; p->n++) {
        if (p->n == FC_MAX_LIST)
            return fc_refuse(why, FC_INPUT, "'%.60s' has too many entries (at most %d)", text, FC_MAX_LIST);
        char *end = strchr(at, separator);
        if (end) *end = '\0';
        p->piece[p->n] = trim(at);
        if (!*p->piece[p->n]) return fc_refuse(why, FC_INPUT, "'%.60s' has an empty entry", text);
        if (!end) break;
        at = end + 1;
    }
    p->n++;
    return FC_OK;
}

static enum fc_code parse_ints(const struct fc_key *key, const char *text, double clock_hz, struct fc_ints *list,
                               struct fc_status *why)
{
    struct pieces p;
    if (cut_list(text, ",x", &p, why)) return FC_INPUT;
    struct fc_ints got = {.n = p.n};
    for (int i = 0; i < p.n; i++)
        if (parse_int(key, p.piece[i], clock_hz, &got.v[i], why)) return FC_INPUT;
    *list = got;
    return FC_OK;
}

static enum fc_code parse_quantities(const struct fc_key *key, const char *text, double clock_hz, struct fc_reals *list,
                                     struct fc_status *why)
{
    /* "1 MB/s/1 MB/s" cannot be cut: where the unit has a slash, only commas separate. */
    bool slash_in_unit = key->unit == FC_BYTES_PER_S || key->unit == FC_SECONDS_PER_BYTE;
    struct pieces p;
    if (cut_list(text, slash_in_unit ? "," : ",/", &p, why)) return FC_INPUT;
    struct fc_reals got = {.n = p.n};
    for (int i = 0; i < p.n; i++)
        if (parse_quantity(key, p.piece[i], clock_hz, &got.v[i], why)) return FC_INPUT;
    *list = got;
    return FC_OK;
}

union field {
    long long integer;
    double real;
    const char *text;
    bool flag;
    int choice;
    struct fc_ints ints;
    struct fc_reals reals;
};

/* Parses into `field` and gives its size; nothing of the settings is touched unless all is well. */
static enum fc_code parse(const struct fc_key *key, const char *text, double clock_hz, struct fc_arena *arena,
                          union field *field, size_t *size, struct fc_status *why)
{
    switch (key->kind) {
    case FC_KEY_INT: *size = sizeof field->integer; return parse_int(key, text, clock_hz, &field->integer, why);
    case FC_KEY_QUANTITY: *size = sizeof field->real; return parse_quantity(key, text, clock_hz, &field->real, why);
    case FC_KEY_SHARE: *size = sizeof field->real; return parse_share(key, text, &field->real, why);
    case FC_KEY_BOOL: *size = sizeof field->flag; return parse_bool(text, &field->flag, why);
    case FC_KEY_CHOICE: *size = sizeof field->choice; return parse_choice(key, text, &field->choice, why);
    case FC_KEY_INTS: *size = sizeof field->ints; return parse_ints(key, text, clock_hz, &field->ints, why);
    case FC_KEY_QUANTITIES:
        *size = sizeof field->reals;
        return parse_quantities(key, text, clock_hz, &field->reals, why);
    case FC_KEY_TEXT:
        *size = sizeof field->text;
        if (!arena) return fc_refuse(why, FC_FAULT, "a text needs an arena");
        field->text = fc_copy_text(arena, text, why);
        return field->text ? FC_OK : FC_NO;
    }
    return fc_refuse(why, FC_FAULT, "unknown kind of key");
}

enum fc_code fc_key_set(const struct fc_key *key, void *settings, const char *text, double clock_hz,
                        struct fc_arena *arena, struct fc_place where, struct fc_status *st)
{
    struct fc_status why = {0};
    union field field;
    size_t size = 0;
    char trimmed[512];
    if (key->kind != FC_KEY_TEXT && strlen(text) < sizeof trimmed) text = trim(strcpy(trimmed, text));
    enum fc_code code = parse(key, text, clock_hz, arena, &field, &size, &why);
    if (code) return fc_fail(st, code, where, "%s: %s", key->name, why.message);
    memcpy((char *)settings + key->offset, &field, size);
    return FC_OK;
}

enum fc_code fc_keys_preset(const struct fc_key *keys, size_t n_keys, void *settings, struct fc_arena *arena,
                            struct fc_status *st)
{
    for (size_t i = 0; i < n_keys; i++) {
        struct fc_status why = {0};
        if (!keys[i].preset) continue;
        enum fc_code code = fc_key_set(&keys[i], settings, keys[i].preset, 0, arena, (struct fc_place){0}, &why);
        if (code == FC_NO) return fc_refuse(st, FC_NO, "%s", why.message);
        if (code) return fc_refuse(st, FC_FAULT, "preset of %s", why.message);
    }
    return FC_OK;
}

const struct fc_key *fc_key_find(const struct fc_key *keys, size_t n_keys, const char *name)
{
    for (size_t i = 0; i < n_keys; i++)
        if (strcmp(keys[i].name, name) == 0) return &keys[i];
    return NULL;
}

enum fc_code fc_key_unknown(const struct fc_key *keys, size_t n_keys, const char *name, struct fc_place where,
                            struct fc_status *st)
{
    char known[800] = "";
    const char *names[MOST_KEYS] = {0};
    size_t n = n_keys < MOST_KEYS ? n_keys : MOST_KEYS;
    for (size_t i = 0; i < n; i++) {
        names[i] = keys[i].name;
        append(known, sizeof known, i ? ", " : "", names[i]);
    }
    const char *near = fc_nearest(name, names, n);
    return fc_fail(st, FC_INPUT, where, "unknown key '%.60s' (%s%s%sknown: %s)", name, near ? "did you mean '" : "",
                   near ? near : "", near ? "'? " : "", n ? known : "none");
}

/* Length of the piece up to the next comma outside brackets. */
static size_t piece_length(const char *text)
{
    size_t n = 0;
    for (int depth = 0; text[n] && (text[n] != ',' || depth > 0); n++) depth += (text[n] == '[') - (text[n] == ']');
    return n;
}

enum fc_code fc_keys_parse(const struct fc_key *keys, size_t n_keys, void *settings, const char *text, double clock_hz,
                           struct fc_arena *arena, struct fc_place where, struct fc_status *st)
{
    bool given[MOST_KEYS] = {false};
    if (n_keys > MOST_KEYS) return fc_fail(st, FC_FAULT, where, "more than %d keys in a table", MOST_KEYS);
    if (!text || !text[strspn(text, " \t\r\n")]) return FC_OK;
    for (const char *at = text;; at++) {
        char piece[512];
        size_t n = piece_length(at);
        if (n >= sizeof piece) return fc_fail(st, FC_INPUT, where, "'%.60s...' is too long", at);
        memcpy(piece, at, n);
        piece[n] = '\0';
        char *equal = strchr(piece, '=');
        if (!equal) return fc_fail(st, FC_INPUT, where, "'%.60s' is not name=value", piece);
        *equal = '\0';
        const char *name = trim(piece);
        const struct fc_key *key = fc_key_find(keys, n_keys, name);
        if (!key) return fc_key_unknown(keys, n_keys, name, where, st);
        if (given[key - keys]) return fc_fail(st, FC_INPUT, where, "%s: given twice", name);
        given[key - keys] = true;
        enum fc_code code = fc_key_set(key, settings, trim(equal + 1), clock_hz, arena, where, st);
        if (code) return code;
        at += n;
        if (!*at) return FC_OK;
    }
}

#define LONGEST_NAME 63

static int least(int a, int b)
{
    return a < b ? a : b;
}

static int lower(char c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

/* Optimal string alignment distance (Levenshtein plus swaps of neighbours), case ignored, both at most
 * LONGEST_NAME. */
static int edit_distance(const char *a, int n_a, const char *b, int n_b)
{
    int row[3][LONGEST_NAME + 1]; /* rows i - 2, i - 1, i of the table, in turn */
    for (int j = 0; j <= n_b; j++) row[0][j] = j;
    for (int i = 1; i <= n_a; i++) {
        int *now = row[i % 3], *before = row[(i + 2) % 3], *earlier = row[(i + 1) % 3];
        now[0] = i;
        for (int j = 1; j <= n_b; j++) {
            int differ = lower(a[i - 1]) != lower(b[j - 1]);
            now[j] = least(least(before[j] + 1, now[j - 1] + 1), before[j - 1] + differ);
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]))
                now[j] = least(now[j], earlier[j - 2] + 1);
        }
    }
    return row[n_a % 3][n_b];
}

const char *fc_nearest(const char *name, const char *const *names, size_t n_names)
{
    size_t length = strlen(name);
    const char *best = NULL;
    if (length == 0 || length > LONGEST_NAME) return NULL;
    int limit = length / 3 > 2 ? (int)length / 3 : 2;
    for (size_t i = 0; i < n_names; i++) {
        size_t other = strlen(names[i]);
        if (other > LONGEST_NAME) continue;
        int distance = edit_distance(name, (int)length, names[i], (int)other);
        if (distance >= (int)(length > other ? length : other)) continue; /* nothing in common */
        if (distance < limit || (distance == limit && !best)) {
            best = names[i];
            limit = distance;
        }
    }
    return best;
}
