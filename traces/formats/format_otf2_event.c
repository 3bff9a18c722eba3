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

/* A callback whose work is `does`, with the archive a and the time in seconds t; the rest are its own parameters. */
#define EVENT(name, does, ...)                                                                                         \
    static OTF2_CallbackCode name(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position, void *user,       \
                                  OTF2_AttributeList *attributes __VA_OPT__(, ) __VA_ARGS__)                           \
    {                                                                                                                  \
        struct fc_otf2_archive *a = user;                                                                              \
        double t = seconds(a, time);                                                                                   \
        (void)location, (void)position, (void)attributes, (void)t;                                                     \
        return went(a, does);                                                                                          \
    }

/* MPI functions by name; Fortran tracers may write small letters. */
static const char *mpi_name(const struct fc_otf2_archive *a, OTF2_RegionRef region)
{
    const struct fc_otf2_region_def *r = fc_otf2_find(&a->regions, region);
    const char *name = r ? fc_otf2_text(a, r->name) : "";
    return strncasecmp(name, "MPI_", 4) == 0 ? name : NULL;
}

static enum fc_code enter(struct fc_otf2_archive *a, OTF2_RegionRef region, double t)
{
    const char *name = mpi_name(a, region);
    return name ? fc_otf2_enter(&a->rank, name, t) : FC_OK;
}

static enum fc_code moved(struct fc_otf2_archive *a, int mode, OTF2_RmaWinRef win, uint32_t remote, uint64_t bytes,
                          double t)
{
    const struct fc_otf2_window_def *w = fc_otf2_find(&a->windows, win);
    if (!w) return fc_otf2_fail(&a->rank, "window %" PRIu32 " is not defined", win);
    return fc_otf2_move(&a->rank, mode, w->comm, remote, bytes, t);
}

#define MESSAGE(kind, request) fc_otf2_message(&a->rank, kind, peer, comm, tag, bytes, request, t)
#define COLLECTIVE                                                                                                     \
    &(struct fc_otf2_collective)                                                                                       \
    {                                                                                                                  \
        op, comm, root, sent, received                                                                                 \
    }
EVENT(on_enter, enter(a, region, t), OTF2_RegionRef region)
EVENT(on_leave, mpi_name(a, region) ? fc_otf2_leave(&a->rank, t) : FC_OK, OTF2_RegionRef region)
EVENT(on_send, MESSAGE(FC_OTF2_SEND, 0), uint32_t peer, OTF2_CommRef comm, uint32_t tag, uint64_t bytes)
EVENT(on_isend, MESSAGE(FC_OTF2_ISEND, request), uint32_t peer, OTF2_CommRef comm, uint32_t tag, uint64_t bytes,
      uint64_t request)
EVENT(on_recv, MESSAGE(FC_OTF2_RECV, 0), uint32_t peer, OTF2_CommRef comm, uint32_t tag, uint64_t bytes)
EVENT(on_irecv, MESSAGE(FC_OTF2_IRECV, request), uint32_t peer, OTF2_CommRef comm, uint32_t tag, uint64_t bytes,
      uint64_t request)
EVENT(on_irecv_request, fc_otf2_request(&a->rank, false, request, t), uint64_t request)
EVENT(on_isend_complete, fc_otf2_send_done(&a->rank, request, t), uint64_t request)
EVENT(on_test, (fc_otf2_tested(&a->rank), (void)request, FC_OK), uint64_t request)
EVENT(on_cancelled, fc_otf2_cancelled(&a->rank, request), uint64_t request)
EVENT(on_collective_begin, FC_OK)
EVENT(on_collective, fc_otf2_collective(&a->rank, COLLECTIVE, t), OTF2_CollectiveOp op, OTF2_CommRef comm,
      uint32_t root, uint64_t sent, uint64_t received)
EVENT(on_collective_request, fc_otf2_request(&a->rank, true, request, t), uint64_t request)
EVENT(on_collective_complete, fc_otf2_collective_done(&a->rank, COLLECTIVE, request, t), OTF2_CollectiveOp op,
      OTF2_CommRef comm, uint32_t root, uint64_t sent, uint64_t received, uint64_t request)
EVENT(on_put, ((void)id, moved(a, 0, win, remote, bytes, t)), OTF2_RmaWinRef win, uint32_t remote, uint64_t bytes,
      uint64_t id)
EVENT(on_get, ((void)id, moved(a, 1, win, remote, bytes, t)), OTF2_RmaWinRef win, uint32_t remote, uint64_t bytes,
      uint64_t id)
EVENT(on_atomic, ((void)type, (void)id, moved(a, 2, win, remote, sent > received ? sent : received, t)),
      OTF2_RmaWinRef win, uint32_t remote, OTF2_RmaAtomicType type, uint64_t sent, uint64_t received, uint64_t id)
EVENT(on_comm_create, (fc_otf2_comm_made(&a->rank, comm), FC_OK), OTF2_CommRef comm)
EVENT(on_measurement, fc_otf2_switch(&a->rank, mode == OTF2_MEASUREMENT_ON, t), OTF2_MeasurementMode mode)

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
