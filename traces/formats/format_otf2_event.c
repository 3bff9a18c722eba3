/* format_otf2_event.c - libotf2's callbacks for a location's records: times in seconds, references looked up,
 * each handed to format_otf2_call.c. */
#include "traces/formats/format_otf2_archive.h"

#include <inttypes.h>
#include <strings.h>

static double seconds(const struct fc_otf2_archive *a, OTF2_TimeStamp time)
{
    return time <= a->offset ? 0 : (double)(time - a->offset) / (double)a->resolution;
}

static OTF2_CallbackCode went(struct fc_otf2_archive *a, enum fc_code code)
{
    a->n_handled++;
    a->rank.n_records++;
    return code || a->st->code ? OTF2_CALLBACK_INTERRUPT : OTF2_CALLBACK_SUCCESS;
}

#define EVENT(name, ...)                                                                                               \
    static OTF2_CallbackCode name(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position, void *user,       \
                                  OTF2_AttributeList *attributes, __VA_ARGS__)
/* Of all callbacks: what is unused, and the time in seconds. */
#define BEGIN                                                                                                          \
    struct fc_otf2_archive *a = user;                                                                                  \
    double t = seconds(a, time);                                                                                       \
    (void)location, (void)position, (void)attributes, (void)t

/* MPI functions by name; Fortran tracers may write small letters. */
static const char *mpi_name(const struct fc_otf2_archive *a, OTF2_RegionRef region)
{
    const struct fc_otf2_region_def *r = fc_otf2_find(&a->regions, region);
    const char *name = r ? fc_otf2_text(a, r->name) : "";
    return strncasecmp(name, "MPI_", 4) == 0 ? name : NULL;
}

EVENT(on_enter, OTF2_RegionRef region)
{
    BEGIN;
    const char *name = mpi_name(a, region);
    return went(a, name ? fc_otf2_enter(&a->rank, name, t) : FC_OK);
}

EVENT(on_leave, OTF2_RegionRef region)
{
    BEGIN;
    return went(a, mpi_name(a, region) ? fc_otf2_leave(&a->rank, t) : FC_OK);
}

EVENT(on_send, uint32_t receiver, OTF2_CommRef comm, uint32_t tag, uint64_t bytes)
{
    BEGIN;
    return went(a, fc_otf2_message(&a->rank, FC_OTF2_SEND, receiver, comm, tag, bytes, 0, t));
}

EVENT(on_isend, uint32_t receiver, OTF2_CommRef comm, uint32_t tag, uint64_t bytes, uint64_t request)
{
    BEGIN;
    return went(a, fc_otf2_message(&a->rank, FC_OTF2_ISEND, receiver, comm, tag, bytes, request, t));
}

EVENT(on_recv, uint32_t sender, OTF2_CommRef comm, uint32_t tag, uint64_t bytes)
{
    BEGIN;
    return went(a, fc_otf2_message(&a->rank, FC_OTF2_RECV, sender, comm, tag, bytes, 0, t));
}

EVENT(on_irecv, uint32_t sender, OTF2_CommRef comm, uint32_t tag, uint64_t bytes, uint64_t request)
{
    BEGIN;
    return went(a, fc_otf2_message(&a->rank, FC_OTF2_IRECV, sender, comm, tag, bytes, request, t));
}

EVENT(on_irecv_request, uint64_t request)
{
    BEGIN;
    return went(a, fc_otf2_request(&a->rank, false, request, t));
}

EVENT(on_isend_complete, uint64_t request)
{
    BEGIN;
    return went(a, fc_otf2_send_done(&a->rank, request, t));
}

EVENT(on_test, uint64_t request)
{
    BEGIN;
    (void)request;
    fc_otf2_tested(&a->rank);
    return went(a, FC_OK);
}

EVENT(on_cancelled, uint64_t request)
{
    BEGIN;
    return went(a, fc_otf2_cancelled(&a->rank, request));
}

EVENT(on_collective, OTF2_CollectiveOp op, OTF2_CommRef comm, uint32_t root, uint64_t sent, uint64_t received)
{
    BEGIN;
    struct fc_otf2_collective c = {op, comm, root, sent, received};
    return went(a, fc_otf2_collective(&a->rank, &c, t));
}

EVENT(on_collective_request, uint64_t request)
{
    BEGIN;
    return went(a, fc_otf2_request(&a->rank, true, request, t));
}

EVENT(on_collective_complete, OTF2_CollectiveOp op, OTF2_CommRef comm, uint32_t root, uint64_t sent, uint64_t received,
      uint64_t request)
{
    BEGIN;
    struct fc_otf2_collective c = {op, comm, root, sent, received};
    return went(a, fc_otf2_collective_done(&a->rank, &c, request, t));
}

static OTF2_CallbackCode moved(struct fc_otf2_archive *a, int mode, OTF2_RmaWinRef win, uint32_t remote, uint64_t bytes,
                               double t)
{
    const struct fc_otf2_window_def *w = fc_otf2_find(&a->windows, win);
    if (!w) return went(a, fc_otf2_fail(&a->rank, "window %" PRIu32 " is not defined", win));
    return went(a, fc_otf2_move(&a->rank, mode, w->comm, remote, bytes, t));
}

EVENT(on_put, OTF2_RmaWinRef win, uint32_t remote, uint64_t bytes, uint64_t id)
{
    BEGIN;
    (void)id;
    return moved(a, 0, win, remote, bytes, t);
}

EVENT(on_get, OTF2_RmaWinRef win, uint32_t remote, uint64_t bytes, uint64_t id)
{
    BEGIN;
    (void)id;
    return moved(a, 1, win, remote, bytes, t);
}

EVENT(on_atomic, OTF2_RmaWinRef win, uint32_t remote, OTF2_RmaAtomicType type, uint64_t sent, uint64_t received,
      uint64_t id)
{
    BEGIN;
    (void)type, (void)id;
    return moved(a, 2, win, remote, sent > received ? sent : received, t);
}

EVENT(on_comm_create, OTF2_CommRef comm)
{
    BEGIN;
    fc_otf2_comm_made(&a->rank, comm);
    return went(a, FC_OK);
}

EVENT(on_measurement, OTF2_MeasurementMode mode)
{
    BEGIN;
    return went(a, fc_otf2_switch(&a->rank, mode == OTF2_MEASUREMENT_ON, t));
}

static OTF2_CallbackCode on_collective_begin(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position,
                                             void *user, OTF2_AttributeList *attributes)
{
    BEGIN;
    return went(a, FC_OK);
}

OTF2_EvtReaderCallbacks *fc_otf2_event_callbacks(void)
{
    OTF2_EvtReaderCallbacks *on = OTF2_EvtReaderCallbacks_New();
    if (!on) return NULL;
    OTF2_EvtReaderCallbacks_SetEnterCallback(on, on_enter);
    OTF2_EvtReaderCallbacks_SetLeaveCallback(on, on_leave);
    OTF2_EvtReaderCallbacks_SetMpiSendCallback(on, on_send);
    OTF2_EvtReaderCallbacks_SetMpiIsendCallback(on, on_isend);
    OTF2_EvtReaderCallbacks_SetMpiIsendCompleteCallback(on, on_isend_complete);
    OTF2_EvtReaderCallbacks_SetMpiRecvCallback(on, on_recv);
    OTF2_EvtReaderCallbacks_SetMpiIrecvCallback(on, on_irecv);
    OTF2_EvtReaderCallbacks_SetMpiIrecvRequestCallback(on, on_irecv_request);
    OTF2_EvtReaderCallbacks_SetMpiRequestTestCallback(on, on_test);
    OTF2_EvtReaderCallbacks_SetMpiRequestCancelledCallback(on, on_cancelled);
    OTF2_EvtReaderCallbacks_SetMpiCollectiveBeginCallback(on, on_collective_begin);
    OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(on, on_collective);
    OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveRequestCallback(on, on_collective_request);
    OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback(on, on_collective_complete);
    OTF2_EvtReaderCallbacks_SetRmaPutCallback(on, on_put);
    OTF2_EvtReaderCallbacks_SetRmaGetCallback(on, on_get);
    OTF2_EvtReaderCallbacks_SetRmaAtomicCallback(on, on_atomic);
    OTF2_EvtReaderCallbacks_SetCommCreateCallback(on, on_comm_create);
    OTF2_EvtReaderCallbacks_SetMeasurementOnOffCallback(on, on_measurement);
    return on;
}
