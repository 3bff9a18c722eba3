/* fuzz_seeds.c - what a run starts from; those that are no text are made here: packed traces, DUMPI, OTF2, compressed
 * files. */
#include "tests/dumpi_file.h"
#include "tests/fuzz/fuzz.h"
#include "traces/traces.h"

#include <glob.h>
#include <lzma.h>
#include <otf2/otf2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

/* ---- our packed form ---- */

static void write_packed(const char *folder)
{
    static const char *const target[] = {"fct", "source"};
    struct fc_trace trace;
    struct fc_status st = {0};
    char path[300];
    if (fc_trace_read("tests/fuzz/seeds/text.calls", &trace, &st)) abort();
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s.packed", folder, target[i]);
        if (fc_trace_write(&trace, path, false, &st)) abort();
    }
    fc_trace_free(&trace);
}

/* ---- compressed text ---- */

static void save(const char *folder, const char *name, const void *data, size_t n)
{
    char path[300];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *out = fopen(path, "wb");
    if (!out || fwrite(data, 1, n, out) != n || fclose(out)) abort();
}

static void write_compressed(const char *folder)
{
    static const char text[] = "fabricast-trace 1\nranks 1\ncomm 0 0\nevents 0\nrank 0 0\nend\n";
    uint8_t out[4096];
    size_t n = 0;
    z_stream z = {.next_in = (Bytef *)text, .avail_in = sizeof text - 1, .next_out = out, .avail_out = sizeof out};
    if (deflateInit2(&z, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK ||
        deflate(&z, Z_FINISH) != Z_STREAM_END)
        abort();
    deflateEnd(&z);
    save(folder, "stream.gz", out, sizeof out - z.avail_out);
    save(folder, "text.gz", out, sizeof out - z.avail_out);
    if (lzma_easy_buffer_encode(0, LZMA_CHECK_CRC32, NULL, (const uint8_t *)text, sizeof text - 1, out, &n, sizeof out))
        abort();
    save(folder, "stream.xz", out, n);
    n = ZSTD_compress(out, sizeof out, text, sizeof text - 1, 3);
    save(folder, "stream.zst", out, n);
}

/* ---- DUMPI ---- */

static void write_dumpi(const char *folder)
{
    static struct dumpi_out o;
    static uint8_t bundle[3 * sizeof o.bytes];
    dumpi_begin(&o);
    dumpi_call(&o, 124); /* MPI_Init with no arguments */
    put(&o, 4, 0);
    dumpi_call(&o, 81); /* MPI_Comm_size of the world: 2 */
    put(&o, 2, 2), put(&o, 4, 2);
    dumpi_call(&o, 82);
    put(&o, 2, 2), put(&o, 4, 0);
    dumpi_call(&o, 8); /* MPI_Isend: count, type, to, tag, comm, request */
    put(&o, 4, 3), put(&o, 2, 11), put(&o, 4, 1), put(&o, 4, 5), put(&o, 2, 2), put(&o, 4, 9);
    dumpi_call(&o, 13); /* MPI_Wait */
    put(&o, 4, 9), put(&o, 4, 0);
    dumpi_call(&o, 84); /* MPI_Comm_dup */
    put(&o, 2, 2), put(&o, 2, 4);
    dumpi_call(&o, 52); /* MPI_Barrier */
    put(&o, 2, 4);
    dumpi_call(&o, 125); /* MPI_Finalize */
    dumpi_end(&o);
    save(folder, "dumpi.one", o.bytes, o.n);
    size_t n = 0;
    for (int r = -1; r < 2; r++) {
        n += (size_t)sprintf((char *)bundle + n, "%s",
                             r < 0 ? "@@r.meta\nnumprocs=2"
                             : r   ? "\n@@r-0001.bin\n"
                                   : "\n@@r-0000.bin\n");
        if (r >= 0) memcpy(bundle + n, o.bytes, o.n), n += o.n;
    }
    save(folder, "dumpi-run.two", bundle, n);
}

/* ---- OTF2 ---- */

static OTF2_FlushType before_flush(void *user, OTF2_FileType type, OTF2_LocationRef at, void *caller, bool final)
{
    (void)user, (void)type, (void)at, (void)caller, (void) final;
    return OTF2_FLUSH;
}

static OTF2_TimeStamp after_flush(void *user, OTF2_FileType type, OTF2_LocationRef at)
{
    (void)user, (void)type, (void)at;
    return 0;
}

static void write_definitions(OTF2_Archive *archive)
{
    static const char *const names[] = {"MPI_Init", "MPI_Send", "MPI_Recv", "MPI_Barrier", "MPI_Finalize"};
    static const uint64_t location[] = {0, 1};
    OTF2_GlobalDefWriter *g = OTF2_Archive_GetGlobalDefWriter(archive);
    OTF2_GlobalDefWriter_WriteClockProperties(g, 1000000000, 0, 1000000, OTF2_UNDEFINED_TIMESTAMP);
    OTF2_GlobalDefWriter_WriteString(g, 0, "");
    for (uint32_t i = 0; i < FC_COUNT(names); i++) {
        OTF2_GlobalDefWriter_WriteString(g, 1 + i, names[i]);
        OTF2_GlobalDefWriter_WriteRegion(g, i, 1 + i, 1 + i, 0, OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_MPI,
                                         OTF2_REGION_FLAG_NONE, 0, 0, 0);
    }
    OTF2_GlobalDefWriter_WriteSystemTreeNode(g, 0, 0, 0, OTF2_UNDEFINED_SYSTEM_TREE_NODE);
    for (uint32_t r = 0; r < 2; r++) {
        OTF2_GlobalDefWriter_WriteLocationGroup(g, r, 0, OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
                                                OTF2_UNDEFINED_LOCATION_GROUP);
        OTF2_GlobalDefWriter_WriteLocation(g, r, 0, OTF2_LOCATION_TYPE_CPU_THREAD, 12, r);
    }
    OTF2_GlobalDefWriter_WriteGroup(g, 0, 0, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, 2,
                                    location);
    OTF2_GlobalDefWriter_WriteGroup(g, 1, 0, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, 2,
                                    location);
    OTF2_GlobalDefWriter_WriteComm(g, 0, 0, 1, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
    OTF2_Archive_CloseGlobalDefWriter(archive, g);
}

static void write_events(OTF2_EvtWriter *w, uint32_t rank)
{
    for (uint32_t call = 0; call < 5; call++) {
        uint64_t at = 1000 * (call + 1);
        if ((call == 1 && rank) || (call == 2 && !rank)) continue;
        OTF2_EvtWriter_Enter(w, NULL, at, call);
        if (call == 1) OTF2_EvtWriter_MpiSend(w, NULL, at + 1, 1, 0, 7, 64);
        if (call == 2) OTF2_EvtWriter_MpiRecv(w, NULL, at + 1, 0, 0, 7, 64);
        if (call == 3) {
            OTF2_EvtWriter_MpiCollectiveBegin(w, NULL, at + 1);
            OTF2_EvtWriter_MpiCollectiveEnd(w, NULL, at + 2, OTF2_COLLECTIVE_OP_BARRIER, 0, OTF2_COLLECTIVE_ROOT_NONE,
                                            0, 0);
        }
        OTF2_EvtWriter_Leave(w, NULL, at + 500, call);
    }
}

static size_t add_file(const char *folder, const char *name, uint8_t *bundle, size_t n)
{
    char path[300];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *in = fopen(path, "rb");
    if (!in) return n;
    n += (size_t)sprintf((char *)bundle + n, "%s@@%s\n", n ? "\n" : "", name);
    n += fread(bundle + n, 1, 1 << 16, in);
    fclose(in);
    unlink(path);
    return n;
}

static void write_otf2(const char *to)
{
    static OTF2_FlushCallbacks flush = {.otf2_pre_flush = before_flush, .otf2_post_flush = after_flush};
    static const char *const files[] = {"run.otf2", "run.def", "run/0.evt", "run/1.evt", "run/0.def", "run/1.def"};
    static uint8_t bundle[1 << 20];
    const char *folder = fc_fuzz_folder();
    OTF2_Archive *archive = OTF2_Archive_Open(folder, "run", OTF2_FILEMODE_WRITE, OTF2_CHUNK_SIZE_MIN,
                                              OTF2_CHUNK_SIZE_MIN, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    OTF2_Archive_SetFlushCallbacks(archive, &flush, NULL);
    OTF2_Archive_SetSerialCollectiveCallbacks(archive);
    OTF2_Archive_OpenEvtFiles(archive);
    for (uint32_t r = 0; r < 2; r++) {
        OTF2_EvtWriter *w = OTF2_Archive_GetEvtWriter(archive, r);
        write_events(w, r);
        OTF2_Archive_CloseEvtWriter(archive, w);
    }
    OTF2_Archive_CloseEvtFiles(archive);
    OTF2_Archive_OpenDefFiles(archive);
    for (uint32_t r = 0; r < 2; r++) OTF2_Archive_CloseDefWriter(archive, OTF2_Archive_GetDefWriter(archive, r));
    OTF2_Archive_CloseDefFiles(archive);
    write_definitions(archive);
    OTF2_Archive_Close(archive);
    size_t n = 0;
    for (size_t i = 0; i < FC_COUNT(files); i++) n = add_file(folder, files[i], bundle, n);
    save(to, "otf2.two", bundle, n);
}

/* ---- what lies in the repository ---- */

static void copy_files(const char *folder, const char *target, const char *pattern)
{
    enum { MOST = 1 << 20 };
    char name[200];
    glob_t found;
    if (glob(pattern, 0, NULL, &found)) return;
    uint8_t *data = malloc(MOST);
    if (!data) abort();
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const char *last = strrchr(found.gl_pathv[i], '/') + 1;
        FILE *in = fopen(found.gl_pathv[i], "rb");
        size_t n = in ? fread(data, 1, MOST, in) : 0;
        if (in) fclose(in);
        snprintf(name, sizeof name, "%s%s%s", target ? target : "", target ? "." : "", last);
        save(folder, name, data, n);
    }
    free(data);
    globfree(&found);
}

void fc_fuzz_write_seeds(const char *folder)
{
    copy_files(folder, NULL, "tests/fuzz/seeds/*.*");
    copy_files(folder, NULL, "tests/fuzz/found/*.*");
    for (const struct fc_fuzz_target *t = fc_fuzz_targets; t->name; t++)
        if (t->seeds) copy_files(folder, t->name, t->seeds);
    write_packed(folder);
    write_compressed(folder);
    write_dumpi(folder);
    write_otf2(folder);
}
