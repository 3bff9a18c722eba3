/* format_dumpi_call.c - what a call means, for all kinds of calls: its event, bytes, communicator, ranks of the world. */
#include "core/array.h"
#include "traces/formats/format_dumpi.h"
#include <inttypes.h>

enum fc_code fc_dumpi_room(struct fc_dumpi_reader *r, size_t n)
{
    if (!FC_GROW(r->list, r->list_capacity, n)) return fc_out_of_memory(r->run->st, "a list of %zu entries", n);
    return FC_OK;
}

struct fc_event fc_dumpi_event(const struct fc_dumpi_reader *r, int op)
{
    return fc_hold_plain(op, r->enter_s, r->leave_s, r->compute_s);
}

enum fc_code fc_dumpi_other(struct fc_dumpi_reader *r, const char *why)
{
    char text[200];
    struct fc_event e = fc_dumpi_event(r, FC_OP_OTHER);
    if (why) {
        snprintf(text, sizeof text, "%s%s: only its time is kept", fc_dumpi_functions[r->record.function].name, why);
        if (fc_sink_note(r->run->sink, text, 1)) return r->run->st->code;
    }
    return fc_hold_event(&r->hold, &e, NULL);
}

enum fc_code fc_dumpi_bytes(const struct fc_dumpi_reader *r, int64_t count, int64_t type, int64_t *bytes)
{
    *bytes = 0;
    if (count < 0) return fc_dumpi_fail(&r->file, "%" PRId64 " elements", count);
    if (count == 0) return FC_OK;
    uint16_t t = (uint16_t)type;
    if (t >= r->n_types || r->type_size[t] < 0)
        return fc_dumpi_fail(
            &r->file,
            "%s uses datatype %d, whose size is not in the file (it was made before recording began, or by "
            "MPI_Type_create_darray)",
            fc_dumpi_functions[r->record.function].name, t);
    if (__builtin_mul_overflow(count, r->type_size[t], bytes))
        return fc_dumpi_fail(&r->file, "%" PRId64 " elements of %" PRId64 " bytes", count, r->type_size[t]);
    return FC_OK;
}

const struct fc_dumpi_comm *fc_dumpi_known_comm(const struct fc_dumpi_reader *r, int64_t handle)
{
    int32_t index = r->comm[(uint16_t)handle];
    return index < 0 ? NULL : &r->run->comm[index];
}

enum fc_code fc_dumpi_comm(struct fc_dumpi_reader *r, int64_t handle, const struct fc_dumpi_comm **comm)
{
    if (handle == FC_DUMPI_SELF && r->comm[FC_DUMPI_SELF] < 0 &&
        fc_dumpi_add_comm(r->run, &r->file.rank, 1, NULL, 0, &r->comm[FC_DUMPI_SELF]))
        return r->run->st->code;
    *comm = fc_dumpi_known_comm(r, handle);
    return *comm ? FC_OK : fc_dumpi_other(r, " on a communicator whose members are unknown");
}

enum fc_code fc_dumpi_world(const struct fc_dumpi_reader *r, const struct fc_dumpi_comm *comm, int64_t rank,
                            int32_t *world)
{
    if (rank < 0 || rank >= comm->n)
        return fc_dumpi_fail(&r->file, "%s names rank %" PRId64 " of a communicator of %" PRIu32 " ranks",
                             fc_dumpi_functions[r->record.function].name, rank, comm->n);
    *world = (int32_t)comm->member[rank];
    return FC_OK;
}
