/* trace_columns.c - events to columns of numbers and back (layout: trace_columns.h).
 *
 * Reading believes sizes only as far as bytes back them: an entry of a list costs a byte. Numbers that do not fit
 * their field make their column bad; what only other records show is left to trace_check.c. */
#include "core/array.h"
#include "traces/trace_columns.h"

#include <string.h>

const char *const fc_column_names[FC_N_COLUMNS] = {"calls",       "polls",         "communicators", "peers",
                                                   "tags",        "bytes",         "lists",         "enter times",
                                                   "leave times", "compute times", "processors"};

/* ---- bytes ---- */

bool fc_bytes_reserve(struct fc_bytes *b, size_t more)
{
    return FC_GROW(b->data, b->capacity, b->size + more);
}

bool fc_bytes_put(struct fc_bytes *b, uint64_t value)
{
    if (!fc_bytes_reserve(b, 10)) return false;
    for (; value >= 0x80; value >>= 7) b->data[b->size++] = (unsigned char)(value | 0x80);
    b->data[b->size++] = (unsigned char)value;
    return true;
}

static bool put_signed(struct fc_bytes *b, int64_t value)
{
    return fc_bytes_put(b, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

bool fc_bytes_put_block(struct fc_bytes *b, const void *data, size_t size)
{
    if (!fc_bytes_put(b, size) || !fc_bytes_reserve(b, size)) return false;
    if (size) memcpy(b->data + b->size, data, size);
    b->size += size;
    return true;
}

/* ---- writing ---- */

/* Positive: so many events back, which must have finished; negative: must have started. */
static int64_t reach(int64_t number, int64_t before)
{
    return before >= 0 ? number - before : ~before - number;
}

static bool put_list(struct fc_bytes *b, const struct fc_event *e, const int64_t *list, int fields,
                     const struct fc_column_base *base)
{
    bool ok = fc_bytes_put(b, e->n_list);
    for (uint32_t i = 0; ok && i < e->n_list; i++)
        ok = fields & FC_IN_GRAPH    ? put_signed(b, reach(base->number, list[i]))
             : fields & FC_HAS_SIZES ? fc_bytes_put(b, (uint64_t)list[i])
             : i == 0                ? put_signed(b, base->made - list[0])
                                     : put_signed(b, list[i] - list[i - 1] - 1);
    return ok;
}

static bool put_times(struct fc_bytes *column, const struct fc_event *e, struct fc_column_base *base)
{
    int64_t enter = fc_to_ns(e->enter_s), leave = fc_to_ns(e->leave_s), compute = fc_to_ns(e->compute_s);
    bool ok = put_signed(&column[FC_COL_ENTER], enter - base->leave_ns) &&
              fc_bytes_put(&column[FC_COL_LEAVE], (uint64_t)(leave - enter)) &&
              put_signed(&column[FC_COL_COMPUTE], enter - base->leave_ns - compute);
    base->leave_ns = leave;
    return ok;
}

bool fc_columns_put(struct fc_bytes *column, uint32_t rank, bool graph, const struct fc_event *e, const int64_t *list,
                    struct fc_column_base *base)
{
    int fields = fc_event_fields(graph, e->op);
    int kind = e->op | e->mode << FC_KIND_MODE | (e->polls ? FC_KIND_POLLS : 0);
    bool ok = fc_bytes_reserve(&column[FC_COL_KIND], 1);
    if (ok) column[FC_COL_KIND].data[column[FC_COL_KIND].size++] = (unsigned char)kind;
    if (e->polls) ok = ok && fc_bytes_put(&column[FC_COL_POLLS], e->polls);
    if (fields & FC_HAS_COMM) ok = ok && fc_bytes_put(&column[FC_COL_COMM], (uint64_t)(e->comm + 1));
    if (fields & FC_HAS_PEER) ok = ok && put_signed(&column[FC_COL_PEER], (int64_t)e->peer - rank);
    if (fields & (FC_HAS_ROOT | FC_HAS_PARENT)) ok = ok && put_signed(&column[FC_COL_PEER], e->peer);
    if (fields & FC_HAS_TAG) ok = ok && put_signed(&column[FC_COL_TAG], (int64_t)e->tag - base->tag);
    if (fields & FC_HAS_TAG) base->tag = e->tag;
    if (fields & FC_HAS_BYTES) ok = ok && fc_bytes_put(&column[FC_COL_BYTES], (uint64_t)e->bytes);
    if (fields & (FC_HAS_REQUESTS | FC_HAS_SIZES | FC_IN_GRAPH))
        ok = ok && put_list(&column[FC_COL_LIST], e, list, fields, base);
    if (graph)
        ok = ok && fc_bytes_put(&column[FC_COL_CPU], (uint64_t)e->request);
    else
        base->made += fc_makes_request(e->op, e->mode);
    base->number++;
    return ok && put_times(column, e, base);
}

/* ---- reading ---- */

bool fc_column_get_block(struct fc_column_in *from, struct fc_column_in *block)
{
    uint64_t size = fc_column_get(from);
    if (from->bad || size > (size_t)(from->end - from->at)) {
        from->bad = true;
        return false;
    }
    *block = (struct fc_column_in){from->at, from->at + size, false};
    from->at += size;
    return true;
}

/* Differences of hostile numbers must not overflow: sums wrap and the range check behind refuses them. */
static inline int64_t add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}
static inline int64_t subtract(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

static int64_t get_before(struct fc_column_in *in, int64_t number)
{
    int64_t back = fc_column_get_signed(in), before = back > 0 ? subtract(number, back) : add(number, back);
    if (back == 0 || before < 0) in->bad = true;
    return back > 0 ? before : ~before;
}

/* A list's entries from its column. */
static void get_list(struct fc_column_in *in, struct fc_event *e, int fields, struct fc_lists_in *lists,
                     const struct fc_column_base *base)
{
    uint64_t n = fc_column_get(in);
    int64_t *list = lists->list + lists->next;
    e->list = lists->next;
    if (n > lists->n - lists->next || n > (size_t)(in->end - in->at)) {
        in->bad = true;
        return;
    }
    e->n_list = (uint32_t)n;
    lists->next += n;
    for (uint64_t i = 0; i < n; i++)
        list[i] = fields & FC_IN_GRAPH    ? get_before(in, base->number)
                  : fields & FC_HAS_SIZES ? (int64_t)fc_column_get(in)
                  : i == 0                ? subtract(base->made, fc_column_get_signed(in))
                                          : add(add(list[i - 1], 1), fc_column_get_signed(in));
}

/* A number for an int32_t field; what does not fit makes the column bad. */
static inline int32_t fit(struct fc_column_in *in, int64_t value)
{
    if (value < -1 || value > INT32_MAX) in->bad = true;
    return (int32_t)value;
}

static inline uint16_t get_polls(struct fc_column_in *in)
{
    uint64_t polls = fc_column_get(in);
    if (polls > UINT16_MAX) in->bad = true;
    return (uint16_t)polls;
}

/* A time in range, else the column is bad: the text form refuses the same. */
static inline int64_t fit_time(struct fc_column_in *in, int64_t ns)
{
    if (ns < 0 || ns > FC_MAX_TIME_NS) in->bad = true;
    return ns;
}

static inline void get_times(struct fc_column_in *column, struct fc_event *e, struct fc_column_base *base)
{
    int64_t gap = fc_column_get_signed(&column[FC_COL_ENTER]);
    int64_t enter = fit_time(&column[FC_COL_ENTER], add(base->leave_ns, gap));
    int64_t leave = fit_time(&column[FC_COL_LEAVE], add(enter, (int64_t)fc_column_get(&column[FC_COL_LEAVE])));
    int64_t other = fc_column_get_signed(&column[FC_COL_COMPUTE]);
    int64_t compute = fit_time(&column[FC_COL_COMPUTE], subtract(gap, other));
    e->enter_s = fc_from_ns(enter);
    e->leave_s = fc_from_ns(leave);
    e->compute_s = fc_from_ns(compute);
    base->leave_ns = leave;
}

bool fc_columns_get(struct fc_column_in *in, uint32_t rank, bool graph, struct fc_event *e, struct fc_lists_in *lists,
                    struct fc_column_base *base)
{
    int kind = in[FC_COL_KIND].at < in[FC_COL_KIND].end ? *in[FC_COL_KIND].at++ : 0;
    *e = (struct fc_event){.op = kind & 0x1f, .mode = kind >> FC_KIND_MODE & 3, .peer = -1, .request = -1};
    if (e->op >= FC_N_OPS) return false;
    int fields = fc_event_fields(graph, e->op);
    if (kind & FC_KIND_POLLS) e->polls = get_polls(&in[FC_COL_POLLS]);
    if (fields & FC_HAS_COMM) e->comm = fit(&in[FC_COL_COMM], add((int64_t)fc_column_get(&in[FC_COL_COMM]), -1));
    if (fields & FC_HAS_PEER) e->peer = fit(&in[FC_COL_PEER], add(fc_column_get_signed(&in[FC_COL_PEER]), rank));
    if (fields & (FC_HAS_ROOT | FC_HAS_PARENT)) e->peer = fit(&in[FC_COL_PEER], fc_column_get_signed(&in[FC_COL_PEER]));
    if (fields & FC_HAS_TAG)
        e->tag = base->tag = fit(&in[FC_COL_TAG], add(fc_column_get_signed(&in[FC_COL_TAG]), base->tag));
    if (fields & FC_HAS_BYTES) e->bytes = (int64_t)fc_column_get(&in[FC_COL_BYTES]);
    if (fields & (FC_HAS_REQUESTS | FC_HAS_SIZES | FC_IN_GRAPH)) get_list(&in[FC_COL_LIST], e, fields, lists, base);
    if (graph)
        e->request = fit(&in[FC_COL_CPU], (int64_t)fc_column_get(&in[FC_COL_CPU]));
    else if (fc_makes_request(e->op, e->mode))
        e->request = (int32_t)base->made++;
    base->number++;
    get_times(in, e, base);
    return true;
}
