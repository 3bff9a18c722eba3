/* request.c - a line of JSON as a question: one table of keys, each checked. */
#include "core/json.h"
#include "serve/serve.h"

#include <string.h>

enum kind { TEXT, LIST, WHOLE, REAL, TRUTH };

static const struct key {
    const char *name;
    enum kind kind;
    size_t offset; /* in struct fc_question */
    double least, most;
} keys[] = {
#define AT(member) offsetof(struct fc_question, member)
    {"machine", TEXT, AT(machine), 0, 0},
    {"routing", TEXT, AT(routing), 0, 0},
    {"without", TEXT, AT(without), 0, 0},
    {"hosts", LIST, AT(hosts), 0, 0},
    {"pattern", TEXT, AT(pattern), 0, 0},
    {"graph", TEXT, AT(graph), 0, 0},
    {"trace", TEXT, AT(trace), 0, 0},
    {"collectives", TEXT, AT(collectives), 0, 0},
    {"flops_per_s", TEXT, AT(flops_per_s), 0, 0},
    {"compute", REAL, AT(compute_s), 0, 1e9},
    {"network", TEXT, AT(network), 0, 0},
    {"loggops", TEXT, AT(loggops), 0, 0},
    {"period", TEXT, AT(period), 0, 0},
    {"map", TEXT, AT(map), 0, 0},
    {"nodes", LIST, AT(nodes), 0, 0},
    {"ranks_per_node", WHOLE, AT(ranks_per_node), 1, 1 << 20},
    {"time", REAL, AT(search_s), 0, 1e9},
    {"background", TEXT, AT(background), 0, 0},
    {"background_nodes", LIST, AT(background_nodes), 0, 0},
    {"sensitivity", TRUTH, AT(sensitivity), 0, 0},
#undef AT
};
static const char *const verbs[] = {"predict", "map", "machine", "version"};

static enum fc_code refuse(struct fc_status *st, const char *key, const char *expected)
{
    return fc_refuse(st, FC_INPUT, "\"%s\" is wrong (expected %s)", key, expected);
}

/* Numbers and texts as one list "0,1,cn7"; NULL with the status filled where an item is neither. */
static const char *join(struct fc_serve_request *r, const char *key, const json_t *list, struct fc_status *st)
{
    struct fc_memory_stream text;
    const char *joined = NULL;
    if (fc_memory_open(&text, st)) return NULL;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        if (i) fputc(',', text.stream);
        if (json_is_integer(item))
            fprintf(text.stream, "%" JSON_INTEGER_FORMAT, json_integer_value(item));
        else if (json_is_string(item) && !strpbrk(json_string_value(item), ",@"))
            fputs(json_string_value(item), text.stream);
        else
            refuse(st, key, "a text, or a list of numbers and names");
    }
    if (!fc_memory_close(&text, st) && !st->code) joined = fc_copy_text(&r->arena, text.text, st);
    free(text.text);
    return joined;
}

static enum fc_code read_key(struct fc_serve_request *r, const struct key *key, const json_t *value,
                             struct fc_status *st)
{
    char *at = (char *)&r->q + key->offset;
    char expected[80];
    double number = json_number_value(value);
    const char *text = json_string_value(value);
    snprintf(expected, sizeof expected, "a %snumber from %.10g to %.10g", key->kind == WHOLE ? "whole " : "",
             key->least, key->most);
    switch (key->kind) {
    case LIST:
        if (json_is_array(value) && json_array_size(value)) {
            if (!(text = join(r, key->name, value, st))) return st->code;
        } else if (!text || !*text) {
            return refuse(st, key->name, "a text, or a list of numbers and names");
        }
        memcpy(at, &text, sizeof text);
        break;
    case TEXT:
        if (!text || !*text) return refuse(st, key->name, "a text that is not empty");
        memcpy(at, &text, sizeof text);
        break;
    case WHOLE:
        if (!json_is_integer(value) || number < key->least || number > key->most)
            return refuse(st, key->name, expected);
        *(int *)at = (int)number;
        break;
    case REAL:
        if (!json_is_number(value) || !(number >= key->least && number <= key->most))
            return refuse(st, key->name, expected);
        *(double *)at = number;
        break;
    case TRUTH:
        if (!json_is_boolean(value)) return refuse(st, key->name, "true or false");
        *(bool *)at = json_is_true(value);
        break;
    }
    return FC_OK;
}

/* ["KEY=VALUE", ...] */
static enum fc_code read_settings(struct fc_serve_request *r, const json_t *value, struct fc_status *st)
{
    size_t n = json_array_size(value);
    if (!json_is_array(value)) return refuse(st, "set", "a list of \"KEY=VALUE\"");
    r->q.settings = fc_alloc(&r->arena, n + 1, sizeof *r->q.settings, st);
    for (size_t i = 0; !st->code && i < n; i++) {
        r->q.settings[i] = json_string_value(json_array_get(value, i));
        if (!r->q.settings[i]) return refuse(st, "set", "a list of \"KEY=VALUE\"");
        r->q.n_settings++;
    }
    return st->code;
}

static enum fc_code read_traffic(struct fc_serve_request *r, const json_t *value, struct fc_status *st)
{
    static const char expected[] =
        "{\"tasks\":N,\"src\":[..],\"dst\":[..],\"bytes\":[..]}, lists of one length, tasks from 0 to N - 1, bytes 0 or more";
    const json_t *src = json_object_get(value, "src"), *dst = json_object_get(value, "dst"),
                 *bytes = json_object_get(value, "bytes"), *tasks = json_object_get(value, "tasks");
    size_t n = json_array_size(src);
    if (json_object_size(value) != 4 || !json_is_array(src) || !json_is_array(dst) || !json_is_array(bytes) ||
        !json_is_integer(tasks) || json_integer_value(tasks) < 1 || json_integer_value(tasks) > 1 << 26 ||
        json_array_size(dst) != n || json_array_size(bytes) != n)
        return refuse(st, "traffic", expected);
    uint32_t *from = fc_alloc(&r->arena, n + 1, sizeof *from, st), *to = fc_alloc(&r->arena, n + 1, sizeof *to, st);
    double *size = fc_alloc(&r->arena, n + 1, sizeof *size, st);
    for (size_t i = 0; !st->code && i < n; i++) {
        const json_t *a = json_array_get(src, i), *b = json_array_get(dst, i), *c = json_array_get(bytes, i);
        json_int_t last = json_integer_value(tasks) - 1;
        if (!json_is_integer(a) || !json_is_integer(b) || !json_is_number(c) || json_integer_value(a) < 0 ||
            json_integer_value(a) > last || json_integer_value(b) < 0 || json_integer_value(b) > last ||
            !(json_number_value(c) >= 0 && json_number_value(c) <= 1e18))
            return refuse(st, "traffic", expected);
        from[i] = (uint32_t)json_integer_value(a);
        to[i] = (uint32_t)json_integer_value(b);
        size[i] = json_number_value(c);
    }
    if (st->code ||
        fc_demand_of_pairs("traffic", (uint32_t)json_integer_value(tasks), n, from, to, size, &r->traffic, st))
        return st->code;
    r->q.traffic = &r->traffic;
    return FC_OK;
}

static enum fc_code read_member(struct fc_serve_request *r, const char *name, const json_t *value, struct fc_status *st)
{
    if (!strcmp(name, "id") || !strcmp(name, "verb")) return FC_OK;
    if (!strcmp(name, "set")) return read_settings(r, value, st);
    if (!strcmp(name, "traffic")) return read_traffic(r, value, st);
    if (!strcmp(name, "seed")) {
        if (!json_is_integer(value) || json_integer_value(value) < 0)
            return refuse(st, name, "a whole number, 0 or more");
        r->q.seed = (uint64_t)json_integer_value(value);
        return FC_OK;
    }
    for (size_t i = 0; i < FC_COUNT(keys); i++)
        if (!strcmp(name, keys[i].name)) return read_key(r, &keys[i], value, st);
    return fc_refuse(st, FC_INPUT, "\"%s\" is unknown (expected the options of predict, with _ for -)", name);
}

static enum fc_code read_verb(struct fc_serve_request *r, struct fc_status *st)
{
    const char *verb = json_string_value(json_object_get(r->json, "verb"));
    for (size_t i = 0; verb && i < FC_COUNT(verbs); i++)
        if (!strcmp(verb, verbs[i])) {
            r->verb = (enum fc_verb)i;
            return FC_OK;
        }
    return refuse(st, "verb", "predict, map, machine or version");
}

/* What a key would not matter without, or beside. */
static const struct rule {
    const char *key, *other;
    bool needed; /* `other` must be there; else it must not */
    const char *expected;
} rules[] = {
    {"network", "trace", true, "a trace beside it"},
    {"collectives", "trace", true, "a trace beside it"},
    {"flops_per_s", "trace", true, "a trace beside it"},
    {"period", "trace", true, "a trace beside it"},
    {"loggops", "trace", true, "a trace beside it"},
    {"loggops", "routing", false, "no routing beside it: there is no network"},
    {"loggops", "map", false, "no map beside it: there is no network"},
    {"loggops", "nodes", false, "no nodes beside it: there is no network"},
    {"loggops", "ranks_per_node", false, "no ranks_per_node beside it: there is no network"},
    {"compute", "trace", false, "a pattern or a graph: a trace has its own computation"},
    {"compute", "traffic", false, "a pattern or a graph"},
    {"background_nodes", "background", true, "a background beside it"},
};

static enum fc_code check_together(const struct fc_serve_request *r, struct fc_status *st)
{
    const struct fc_question *q = &r->q;
    bool ideal = q->network && !strcmp(q->network, "ideal"), flit = q->network && !strcmp(q->network, "flit");
    bool job = q->background && !strncmp(q->background, "job:", 4);
    for (size_t i = 0; i < FC_COUNT(rules); i++)
        if (json_object_get(r->json, rules[i].key) &&
            (json_object_get(r->json, rules[i].other) != NULL) != rules[i].needed)
            return refuse(st, rules[i].key, rules[i].expected);
    if (q->map && strchr(q->map, ',') && strncmp(q->map, "bsm:", 4)) return refuse(st, "map", "one mapping");
    if (q->loggops && (!ideal || r->verb == FC_VERB_MAP))
        return refuse(st, "loggops", "the verb predict and \"network\":\"ideal\"");
    if (q->background && ideal) return refuse(st, "background", "another network than ideal");
    if (q->sensitivity && flit) return refuse(st, "sensitivity", "another network than flit");
    if (q->sensitivity && job) return refuse(st, "sensitivity", "no job: beside this one");
    if (q->period && job) return refuse(st, "period", "no job: beside this one");
    return FC_OK;
}

enum fc_code fc_request_read(const char *line, size_t n, struct fc_serve_request *r, struct fc_status *st)
{
    json_error_t error;
    const char *name;
    json_t *value;
    *r = (struct fc_serve_request){.q = {.seed = 1, .threads = 1}};
    r->json = fc_json_text(line, n, JSON_REJECT_DUPLICATES, &error, st);
    if (st->code) return st->code;
    if (!r->json) return fc_refuse(st, FC_INPUT, "no JSON: %s (expected one object a line)", error.text);
    if (!json_is_object(r->json)) return fc_refuse(st, FC_INPUT, "not an object (expected {\"verb\":..})");
    r->id = json_object_get(r->json, "id");
    if (read_verb(r, st)) return st->code;
    json_object_foreach(r->json, name, value)
    {
        if (read_member(r, name, value, st)) return st->code;
    }
    r->q.search_given = json_object_get(r->json, "time") != NULL;
    if (!r->q.search_given) r->q.search_s = 2;
    if (r->verb == FC_VERB_MAP && !r->q.map) r->q.map = "optimize";
    if (r->verb != FC_VERB_VERSION && !r->q.machine) return refuse(st, "machine", "the name of one, or its file");
    return check_together(r, st);
}

void fc_request_free(struct fc_serve_request *r)
{
    fc_demand_free(&r->traffic);
    fc_arena_free(&r->arena);
    json_decref(r->json);
}
