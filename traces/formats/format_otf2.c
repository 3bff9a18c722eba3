/* format_otf2.c - OTF2 archives (Score-P, TAU, EZTrace, lo2s) through libotf2: definitions, then location by
 * location.
 *
 * A rank is the position of its location in the group of MPI's locations; communicators are groups of such
 * positions. Local readers are used, one open at a time, so memory is one location's chunks and what is open
 * at its rank; the local definitions are read before, so that the library maps references and corrects
 * clocks. Every file is looked through before the library reads it (format_otf2_check.c). Locations that are
 * no MPI rank (threads, GPUs) are not read. The library reports errors through one callback of the process:
 * two archives must not be read at the same time. Library: OTF2 3.0 (otf2 documentation, vi-hps.org). */
#include "core/array.h"
#include "core/values.h"
#include "traces/formats/format_otf2_archive.h"

#include "core/stream.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_RANKS = 1 << 26 };

static enum fc_code fail(struct fc_otf2_archive *a, const char *what)
{
    if (a->st->code) return a->st->code;
    return fc_fail(a->st, FC_INPUT, (struct fc_place){a->path, 0}, "%s%s%s", what, a->message[0] ? ": " : "",
                   a->message);
}

/* What the library would print. */
static OTF2_ErrorCode keep_error(void *user, const char *file, uint64_t line, const char *function, OTF2_ErrorCode code,
                                 const char *format, va_list arguments)
{
    struct fc_otf2_archive *a = user;
    char text[400];
    (void)file, (void)line, (void)function;
    if (code == OTF2_SUCCESS || (int)code < 0 || a->message[0]) return code; /* warnings and debugging are negative */
    vsnprintf(text, sizeof text, format, arguments);
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < ' ') *c = ' ';
    snprintf(a->message, sizeof a->message, "%s%s%s", OTF2_Error_GetDescription(code), text[0] ? ": " : "", text);
    return code;
}

/* ---- files ---- */

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* The path of a file beside the anchor NAME.otf2: NAME and what is printed, valid until the next call. */
static const char *beside(struct fc_otf2_archive *a, const char *format, ...) FC_PRINTF(2, 3);
static const char *beside(struct fc_otf2_archive *a, const char *format, ...)
{
    size_t n = strlen(a->path) - strlen(".otf2");
    va_list arguments;
    memcpy(a->file, a->path, n);
    va_start(arguments, format);
    vsnprintf(a->file + n, sizeof a->file - n, format, arguments);
    va_end(arguments);
    return a->file;
}

static enum fc_code check_definitions(struct fc_otf2_archive *a)
{
    if (!ends_with(a->path, ".otf2") || strlen(a->path) > FC_OTF2_PATH - 32)
        return fc_fail(a->st, FC_INPUT, (struct fc_place){a->path, 0},
                       "is an OTF2 anchor of another name (expected: NAME.otf2, at most 4064 bytes)");
    return fc_otf2_check_file(beside(a, ".def"), FC_OTF2_GLOBAL, &a->chunks, a->st);
}

/* The files of a location; it may have no definitions. */
static enum fc_code check_location(struct fc_otf2_archive *a, OTF2_LocationRef location, bool *defined)
{
    const char *path = beside(a, "/%" PRIu64 ".def", location);
    *defined = access(path, F_OK) == 0;
    if (*defined && fc_otf2_check_file(path, FC_OTF2_LOCAL, &a->chunks, a->st)) return a->st->code;
    return fc_otf2_check_file(beside(a, "/%" PRIu64 ".evt", location), FC_OTF2_EVENTS, &a->chunks, a->st);
}

/* ---- definitions ---- */

static void *add(struct fc_otf2_archive *a, struct fc_otf2_list *list)
{
    if (list->n == list->capacity &&
        !fc_array_grow(&list->at, &list->capacity, sizeof list->capacity, list->n + 1, list->size))
        return fc_out_of_memory(a->st, "definitions"), NULL;
    return (char *)list->at + list->size * list->n++;
}

static OTF2_CallbackCode on_clock(void *user, uint64_t resolution, uint64_t offset, uint64_t length, uint64_t realtime)
{
    struct fc_otf2_archive *a = user;
    (void)length, (void)realtime;
    a->resolution = resolution;
    a->offset = offset;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_string(void *user, OTF2_StringRef self, const char *text)
{
    struct fc_otf2_archive *a = user;
    struct fc_otf2_string *s = add(a, &a->strings);
    if (!s) return OTF2_CALLBACK_INTERRUPT;
    *s = (struct fc_otf2_string){self, fc_copy_text(&a->arena, text, a->st)};
    return s->text ? OTF2_CALLBACK_SUCCESS : OTF2_CALLBACK_INTERRUPT;
}

static OTF2_CallbackCode on_group(void *user, OTF2_GroupRef self, OTF2_StringRef name, OTF2_GroupType type,
                                  OTF2_Paradigm paradigm, OTF2_GroupFlag flags, uint32_t n, const uint64_t *members)
{
    struct fc_otf2_archive *a = user;
    (void)name, (void)flags;
    if (type != OTF2_GROUP_TYPE_COMM_LOCATIONS && type != OTF2_GROUP_TYPE_COMM_GROUP &&
        type != OTF2_GROUP_TYPE_COMM_SELF && type != OTF2_GROUP_TYPE_LOCATIONS)
        return OTF2_CALLBACK_SUCCESS;
    struct fc_otf2_group *g = add(a, &a->groups);
    uint64_t *copy = g ? fc_alloc(&a->arena, n, sizeof *copy, a->st) : NULL;
    if (!g) return OTF2_CALLBACK_INTERRUPT;
    *g = (struct fc_otf2_group){self, type, paradigm, copy ? n : 0, copy};
    if (!copy) return OTF2_CALLBACK_INTERRUPT;
    if (n) memcpy(copy, members, n * sizeof *copy);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode add_comm(struct fc_otf2_archive *a, struct fc_otf2_comm_def c)
{
    struct fc_otf2_comm_def *at = add(a, &a->comms);
    if (!at) return OTF2_CALLBACK_INTERRUPT;
    *at = c;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_comm(void *user, OTF2_CommRef self, OTF2_StringRef name, OTF2_GroupRef group,
                                 OTF2_CommRef parent, OTF2_CommFlag flags)
{
    (void)parent, (void)flags;
    return add_comm(user, (struct fc_otf2_comm_def){self, name, group, true});
}

static OTF2_CallbackCode on_intercomm(void *user, OTF2_CommRef self, OTF2_StringRef name, OTF2_GroupRef left,
                                      OTF2_GroupRef right, OTF2_CommRef common, OTF2_CommFlag flags)
{
    (void)right, (void)common, (void)flags;
    return add_comm(user, (struct fc_otf2_comm_def){self, name, left, false});
}

static OTF2_CallbackCode on_region(void *user, OTF2_RegionRef self, OTF2_StringRef name, OTF2_StringRef canonical,
                                   OTF2_StringRef description, OTF2_RegionRole role, OTF2_Paradigm paradigm,
                                   OTF2_RegionFlag flags, OTF2_StringRef file, uint32_t begin, uint32_t end)
{
    struct fc_otf2_archive *a = user;
    struct fc_otf2_region_def *r = add(a, &a->regions);
    (void)canonical, (void)description, (void)role, (void)paradigm, (void)flags, (void)file, (void)begin, (void)end;
    if (!r) return OTF2_CALLBACK_INTERRUPT;
    *r = (struct fc_otf2_region_def){self, name};
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_window(void *user, OTF2_RmaWinRef self, OTF2_StringRef name, OTF2_CommRef comm,
                                   OTF2_RmaWinFlag flags)
{
    struct fc_otf2_archive *a = user;
    struct fc_otf2_window_def *w = add(a, &a->windows);
    (void)name, (void)flags;
    if (!w) return OTF2_CALLBACK_INTERRUPT;
    *w = (struct fc_otf2_window_def){self, comm};
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_location(void *user, OTF2_LocationRef self, OTF2_StringRef name, OTF2_LocationType type,
                                     uint64_t n_events, OTF2_LocationGroupRef group)
{
    struct fc_otf2_archive *a = user;
    (void)self, (void)name, (void)type, (void)group;
    a->n_other_locations += n_events > 0;
    return OTF2_CALLBACK_SUCCESS;
}

static enum fc_code read_definitions(struct fc_otf2_archive *a)
{
    OTF2_GlobalDefReader *reader = OTF2_Reader_GetGlobalDefReader(a->reader);
    OTF2_GlobalDefReaderCallbacks *on = OTF2_GlobalDefReaderCallbacks_New();
    uint64_t n;
    if (!reader || !on) {
        OTF2_GlobalDefReaderCallbacks_Delete(on);
        return fail(a, "its definitions cannot be read");
    }
    OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(on, on_clock);
    OTF2_GlobalDefReaderCallbacks_SetStringCallback(on, on_string);
    OTF2_GlobalDefReaderCallbacks_SetGroupCallback(on, on_group);
    OTF2_GlobalDefReaderCallbacks_SetCommCallback(on, on_comm);
    OTF2_GlobalDefReaderCallbacks_SetInterCommCallback(on, on_intercomm);
    OTF2_GlobalDefReaderCallbacks_SetRegionCallback(on, on_region);
    OTF2_GlobalDefReaderCallbacks_SetRmaWinCallback(on, on_window);
    OTF2_GlobalDefReaderCallbacks_SetLocationCallback(on, on_location);
    OTF2_Reader_RegisterGlobalDefCallbacks(a->reader, reader, on, a);
    OTF2_GlobalDefReaderCallbacks_Delete(on);
    bool good = OTF2_Reader_ReadAllGlobalDefinitions(a->reader, reader, &n) == OTF2_SUCCESS;
    if (!good || a->st->code) return fail(a, "its definitions cannot be read");
    struct fc_otf2_list *lists[] = {&a->strings, &a->groups, &a->comms, &a->regions, &a->windows};
    for (int i = 0; i < 5; i++)
        if (lists[i]->n) qsort(lists[i]->at, lists[i]->n, lists[i]->size, fc_by_number);
    if (!a->resolution) return fail(a, "has no clock (timer resolution 0)");
    return FC_OK;
}

/* ---- ranks and communicators ---- */

/* MPI's locations, or the only such group that there is. */
static enum fc_code find_world(struct fc_otf2_archive *a)
{
    const struct fc_otf2_group *g = a->groups.at;
    for (size_t i = 0; i < a->groups.n; i++)
        if (g[i].type == OTF2_GROUP_TYPE_COMM_LOCATIONS && (!a->world || g[i].paradigm == OTF2_PARADIGM_MPI) &&
            !(a->world && a->world->paradigm == OTF2_PARADIGM_MPI))
            a->world = &g[i];
    if (!a->world || !a->world->n) return fail(a, "has no MPI ranks (no group of communicating locations)");
    if (a->world->n > MOST_RANKS) return fail(a, "has too many ranks (allowed: 67108864)");
    for (uint32_t i = 0; i < a->world->n; i++)
        if (a->world->member[i] == OTF2_UNDEFINED_LOCATION) return fail(a, "has a rank without a location");
    return FC_OK;
}

/* A group's members as ranks; groups of plain locations by their position in the world. */
static enum fc_code members_of(struct fc_otf2_archive *a, const struct fc_otf2_group *g, uint32_t *member)
{
    uint32_t next = 0;
    for (uint32_t i = 0; i < g->n; i++) {
        uint64_t rank = g->type == OTF2_GROUP_TYPE_COMM_LOCATIONS ? i : g->member[i];
        if (g->type == OTF2_GROUP_TYPE_LOCATIONS) {
            uint32_t n = a->world->n, tried = 0;
            while (tried < n && a->world->member[(next + tried) % n] != g->member[i]) tried++;
            rank = tried < n ? (next + tried) % n : n;
            next = (uint32_t)rank + 1; /* most groups are in order */
        }
        if (rank >= a->world->n)
            return fc_fail(a->st, FC_INPUT, (struct fc_place){a->path, 0},
                           "group %" PRIu32 " has member %" PRIu64 ", but there are %" PRIu32 " ranks", g->ref,
                           g->member[i], a->world->n);
        member[i] = (uint32_t)rank;
    }
    return FC_OK;
}

static bool is_world(const struct fc_otf2_archive *a, const struct fc_otf2_group *g, const uint32_t *member)
{
    if (g->n != a->world->n) return false;
    for (uint32_t i = 0; i < g->n; i++)
        if (member[i] != i) return false;
    return true;
}

/* The first communicator of all ranks in order is communicator 0. */
static enum fc_code define_comm(struct fc_otf2_archive *a, const struct fc_otf2_comm_def *from, bool *world_seen,
                                struct fc_otf2_comm *to)
{
    const struct fc_otf2_group *g = fc_otf2_find(&a->groups, from->group);
    *to = (struct fc_otf2_comm){.ref = from->ref, .number = -1};
    if (!from->known || !g) return FC_OK;
    to->known = true;
    to->self = g->type == OTF2_GROUP_TYPE_COMM_SELF;
    if (to->self) return FC_OK;
    uint32_t *member = fc_alloc(&a->arena, g->n, sizeof *member, a->st);
    if (!member || members_of(a, g, member)) return a->st->code;
    to->n = g->n;
    to->member = member;
    to->known = g->n > 0;
    if (!to->known) return FC_OK;
    if (!*world_seen && is_world(a, g, member)) {
        *world_seen = true;
        to->number = 0;
        return FC_OK;
    }
    return fc_sink_comm(a->sink, member, g->n, &to->number);
}

static enum fc_code start(struct fc_otf2_archive *a)
{
    char recorded[300], *creator = NULL, *machine = NULL;
    const struct fc_otf2_comm_def *from = a->comms.at;
    OTF2_Reader_GetCreator(a->reader, &creator);
    OTF2_Reader_GetMachineName(a->reader, &machine);
    bool world_seen = false, on_machine = machine && machine[0];
    snprintf(recorded, sizeof recorded, "OTF2 by %.100s; %" PRIu32 " ranks%s%.100s",
             creator && creator[0] ? creator : "?", a->world->n, on_machine ? " on " : "", on_machine ? machine : "");
    free(creator);
    free(machine);
    a->sink->bytes = fc_file_bytes(beside(a, ".def")); /* every rank has its definitions there */
    if (fc_sink_start(a->sink, a->world->n, "", recorded)) return a->st->code;
    a->rank = (struct fc_otf2_rank){.sink = a->sink, .st = a->st, .path = a->path};
    a->rank.comms = fc_alloc(&a->arena, a->comms.n, sizeof *a->rank.comms, a->st);
    if (!a->rank.comms) return FC_NO;
    a->rank.n_comms = a->comms.n;
    for (size_t i = 0; i < a->comms.n; i++)
        if (define_comm(a, &from[i], &world_seen, &a->rank.comms[i])) return a->st->code;
    return FC_OK;
}

/* ---- reading ---- */

/* Local definitions: how references and clocks of the location become those of the archive. */
static enum fc_code read_location(struct fc_otf2_archive *a, uint32_t rank, const OTF2_EvtReaderCallbacks *on)
{
    OTF2_LocationRef location = a->world->member[rank];
    uint64_t n = 0;
    bool defined;
    if (check_location(a, location, &defined)) return a->st->code;
    if (defined) {
        OTF2_DefReader *definitions = OTF2_Reader_GetDefReader(a->reader, location);
        if (!definitions) return fail(a, "definitions of a location cannot be read");
        bool read = OTF2_Reader_ReadAllLocalDefinitions(a->reader, definitions, &n) == OTF2_SUCCESS;
        OTF2_Reader_CloseDefReader(a->reader, definitions);
        if (!read) return fail(a, "definitions of a location cannot be read");
    }
    OTF2_EvtReader *events = OTF2_Reader_GetEvtReader(a->reader, location);
    if (!events) return fail(a, "events of a location cannot be read");
    OTF2_Reader_RegisterEvtCallbacks(a->reader, events, on, a);
    fc_otf2_start(&a->rank, rank);
    a->n_handled = n = 0;
    OTF2_ErrorCode read = OTF2_Reader_ReadAllLocalEvents(a->reader, events, &n);
    OTF2_Reader_CloseEvtReader(a->reader, events);
    if (read != OTF2_SUCCESS || a->st->code) {
        char text[80];
        snprintf(text, sizeof text, "rank %" PRIu32 ", record %" PRIu64 ": events cannot be read", rank, a->n_handled);
        return fail(a, text);
    }
    if (n > a->n_handled &&
        fc_sink_note(a->sink, "records that are no calls of MPI (threads, metrics ...): skipped", n - a->n_handled))
        return a->st->code;
    return fc_otf2_end(&a->rank);
}

static enum fc_code read_ranks(struct fc_otf2_archive *a)
{
    for (uint32_t r = 0; r < a->world->n; r++)
        if (OTF2_Reader_SelectLocation(a->reader, a->world->member[r]) != OTF2_SUCCESS)
            return fail(a, "a location of MPI is not in it");
    if (OTF2_Reader_OpenDefFiles(a->reader) != OTF2_SUCCESS) a->message[0] = 0; /* there may be none */
    if (OTF2_Reader_OpenEvtFiles(a->reader) != OTF2_SUCCESS) return fail(a, "its events cannot be read");
    OTF2_EvtReaderCallbacks *on = fc_otf2_event_callbacks();
    if (!on) return fail(a, "its events cannot be read");
    for (uint32_t r = 0; !a->st->code && r < a->world->n; r++) read_location(a, r, on);
    OTF2_EvtReaderCallbacks_Delete(on);
    return a->st->code;
}

/* ---- the archive ---- */

/* The anchor of a folder: its one .otf2 file. */
static bool find_anchor(const char *folder, char *path, size_t size, bool *several)
{
    DIR *dir = opendir(folder);
    unsigned n = 0;
    for (struct dirent *d; dir && (d = readdir(dir));)
        if (ends_with(d->d_name, ".otf2") && ++n == 1 && snprintf(path, size, "%s/%s", folder, d->d_name) >= (int)size)
            n = 0;
    if (dir) closedir(dir);
    *several = n > 1;
    return n > 0;
}

static bool is_otf2(const struct fc_trace_probe *probe)
{
    char path[FC_OTF2_PATH];
    bool several;
    if (probe->folder) return find_anchor(probe->path, path, sizeof path, &several);
    return ends_with(probe->path, ".otf2") || (probe->n_head > 6 && memcmp(probe->head + 2, "OTF2", 4) == 0);
}

static enum fc_code read_archive(struct fc_otf2_archive *a)
{
    if (fc_otf2_check_anchor(a->path, &a->chunks, a->st) || check_definitions(a)) return a->st->code;
    a->reader = OTF2_Reader_Open(a->path);
    if (!a->reader) return fail(a, "is no OTF2 archive that can be read");
    if (OTF2_Reader_SetSerialCollectiveCallbacks(a->reader) != OTF2_SUCCESS) return fail(a, "cannot be read");
    if (read_definitions(a) || find_world(a) || start(a)) return a->st->code;
    uint64_t others = a->n_other_locations > a->world->n ? a->n_other_locations - a->world->n : 0;
    if (others && fc_sink_note(a->sink, "locations that are no MPI rank (threads, GPUs): not read", others))
        return a->st->code;
    return read_ranks(a);
}

static enum fc_code read_otf2(const char *path, const struct fc_trace_options *options, struct fc_trace_sink *sink)
{
    char anchor[FC_OTF2_PATH];
    bool several = false;
    struct fc_otf2_archive a = {.sink = sink,
                                .st = sink->st,
                                .path = path,
                                .strings.size = sizeof(struct fc_otf2_string),
                                .groups.size = sizeof(struct fc_otf2_group),
                                .comms.size = sizeof(struct fc_otf2_comm_def),
                                .regions.size = sizeof(struct fc_otf2_region_def),
                                .windows.size = sizeof(struct fc_otf2_window_def)};
    (void)options;
    struct stat info;
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
        if (!find_anchor(path, anchor, sizeof anchor, &several)) return fail(&a, "has no .otf2 file");
        if (several) return fail(&a, "holds several OTF2 archives: name the .otf2 file of one");
        a.path = anchor;
    }
    OTF2_ErrorCallback before = OTF2_Error_RegisterCallback(keep_error, &a);
    enum fc_code code = read_archive(&a);
    if (a.reader) OTF2_Reader_Close(a.reader);
    OTF2_Error_RegisterCallback(before, NULL);
    fc_otf2_free(&a.rank);
    struct fc_otf2_list *lists[] = {&a.strings, &a.groups, &a.comms, &a.regions, &a.windows};
    for (int i = 0; i < 5; i++) free(lists[i]->at);
    fc_arena_free(&a.arena);
    return code;
}

const struct fc_trace_format fc_format_otf2 = {
    .name = "otf2",
    .what = "OTF2 archive (Score-P, TAU, EZTrace, lo2s): its .otf2 file or the folder",
    .is = is_otf2,
    .read = read_otf2,
};
