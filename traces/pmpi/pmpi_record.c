/* pmpi_record.c - the recorder's clocks, its lock and the file of its rank.
 *
 * Wall time is CLOCK_MONOTONIC. Computation is CLOCK_THREAD_CPUTIME_ID between calls, which stays true when
 * ranks share cores; the recorder's own work is not in it. Failed polls only raise a counter that the
 * thread's next event carries off. Records are copied into a mapped window of $FABRICAST_TRACE_DIR/RANK, so
 * what a rank recorded is in its file however it ends, by MPI_Abort or SIGKILL; without that variable nothing
 * is recorded. The window's blocks are allocated before it is mapped: a full disk ends the recording, not the
 * program. A rank's file ends with a record that says so: a lost one is missed by the merge, never taken for
 * the whole. */
#include "traces/pmpi/pmpi_record.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { WINDOW_BYTES = 1 << 18, MAX_NOTES = 32 };

static struct {
    pthread_mutex_t lock;
    bool on;
    bool shared; /* threads may call MPI at the same time */
    int file;
    pid_t process;            /* a forked child must not write into the parent's file */
    struct fc_raw_head *head; /* mapped as long as the file is open */
    char *window;             /* [WINDOW_BYTES] of the file from `offset` on; NULL: the disk is full */
    off_t offset;
    size_t used;
    const char *note[MAX_NOTES];
    int n_notes;
    pthread_t first_thread;
    int64_t clock_cost_ns; /* CPU time that reading the clocks adds between two calls */
} recorder = {.lock = PTHREAD_MUTEX_INITIALIZER, .file = -1};

static __thread struct {
    int depth;
    bool known;          /* last_cpu_ns is set */
    int64_t last_cpu_ns; /* when the last call left */
    int64_t compute_ns;  /* gathered for the next event */
    uint64_t polls;
} thread;

static int64_t clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* ---- the file ---- */

static void *map_file(off_t offset, size_t size)
{
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, recorder.file, offset);
    if (at == MAP_FAILED) return NULL;
    madvise(at, size, MADV_DONTFORK);
    return at;
}

static void move_window(off_t offset)
{
    int error;
    if (recorder.window) munmap(recorder.window, WINDOW_BYTES);
    recorder.offset = offset;
    recorder.used = 0;
    do {
        error = posix_fallocate(recorder.file, offset, WINDOW_BYTES);
    } while (error == EINTR);
    recorder.window = error ? NULL : map_file(offset, WINDOW_BYTES);
}

static void put(const void *data, size_t size)
{
    const char *from = data;
    while (size > 0 && recorder.window) {
        size_t room = WINDOW_BYTES - recorder.used, n = size < room ? size : room;
        memcpy(recorder.window + recorder.used, from, n);
        recorder.used += n;
        from += n;
        size -= n;
        if (recorder.used == WINDOW_BYTES) move_window(recorder.offset + WINDOW_BYTES);
    }
}

void fc_pmpi_write(struct fc_raw_event *event, const int64_t *words, uint64_t n_words)
{
    event->n_words = n_words;
    put(event, sizeof *event);
    put(words, n_words * sizeof *words);
    if (recorder.window) recorder.head->size = (uint64_t)recorder.offset + recorder.used;
}

static void write_text(int kind, const char *text)
{
    int64_t words[PATH_MAX / 8 + 1] = {0};
    struct fc_raw_event record = {.kind = (uint8_t)kind};
    size_t length = strlen(text);
    if (length >= PATH_MAX) return;
    memcpy(words, text, length);
    fc_pmpi_write(&record, words, length / 8 + 1);
}

static int write_object(struct dl_phdr_info *object, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    char program[PATH_MAX];
    if (object->dlpi_name && object->dlpi_name[0] == '/') {
        write_text(FC_RAW_OBJECT, object->dlpi_name);
    } else if (!object->dlpi_name || !*object->dlpi_name) { /* the program itself, and the kernel's page */
        ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
        if (n > 0) program[n] = '\0';
        if (n > 0) write_text(FC_RAW_OBJECT, program);
    }
    return 0;
}

void fc_pmpi_note(const char *what)
{
    for (int i = 0; i < recorder.n_notes; i++)
        if (recorder.note[i] == what) return;
    if (recorder.n_notes < MAX_NOTES) recorder.note[recorder.n_notes++] = what;
}

/* Ends the file: what the program could call, what was not recorded fully, and that it is whole. */
static void close_file(void)
{
    struct fc_raw_event end = {.kind = FC_RAW_END};
    if (recorder.file < 0 || getpid() != recorder.process) return;
    dl_iterate_phdr(write_object, NULL);
    for (int i = 0; i < recorder.n_notes; i++) write_text(FC_RAW_NOTE, recorder.note[i]);
    fc_pmpi_write(&end, NULL, 0);
    if (recorder.window) {
        munmap(recorder.window, WINDOW_BYTES);
        if (ftruncate(recorder.file, recorder.offset + (off_t)recorder.used) != 0) recorder.head->size = 0;
    }
    recorder.window = NULL;
    munmap(recorder.head, sizeof *recorder.head);
    close(recorder.file);
    recorder.file = -1;
    recorder.on = false;
}

static void leave_mark(const char *name)
{
    const char *directory = getenv(FC_RAW_DIRECTORY);
    char path[PATH_MAX];
    if (!directory) return;
    snprintf(path, sizeof path, "%s/%s", directory, name);
    int mark = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (mark >= 0) close(mark);
}

/* A program that ends without MPI_Finalize. */
__attribute__((destructor)) static void at_exit(void)
{
    if (recorder.file < 0 || getpid() != recorder.process) return;
    leave_mark(FC_RAW_LEFT);
    close_file();
}

static void in_child(void)
{
    recorder.on = false;
    recorder.file = -1;
}

static uint64_t hash_text(const char *text, uint64_t h)
{
    for (; *text; text++) h = (h ^ (unsigned char)*text) * 0x100000001b3u;
    return h;
}

/* Ranks with one value share the monotonic clock. */
static uint64_t host_hash(void)
{
    char host[256] = "", boot[64] = "";
    gethostname(host, sizeof host - 1);
    int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
        ssize_t n = read(file, boot, sizeof boot - 1);
        boot[n > 0 ? n : 0] = '\0';
        close(file);
    }
    return hash_text(boot, hash_text(host, 0xcbf29ce484222325u));
}

static void open_file(const char *directory, int rank)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%d", directory, rank);
    recorder.file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (recorder.file < 0 && errno == EEXIST) leave_mark(FC_RAW_AGAIN);
}

static bool was_spawned(void)
{
    MPI_Comm parent = MPI_COMM_NULL;
    PMPI_Comm_get_parent(&parent);
    return parent != MPI_COMM_NULL;
}

static bool start_file(void)
{
    const char *directory = getenv(FC_RAW_DIRECTORY);
    struct fc_raw_head head = {.host = host_hash()};
    char library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length;
    if (!directory || !*directory || recorder.file >= 0 || was_spawned()) return false;
    memcpy(head.magic, FC_RAW_MAGIC, sizeof head.magic);
    PMPI_Comm_rank(MPI_COMM_WORLD, &head.rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &head.n_ranks);
    PMPI_Get_library_version(library, &length);
    library[strcspn(library, "\n")] = '\0';
    for (char *at = library; *at; at++)
        if (*at == '\t') *at = ' ';
    memcpy(head.library, library, sizeof head.library - 1);
    head.clock_offset_ns = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC);
    open_file(directory, head.rank);
    if (recorder.file < 0) return false;
    recorder.process = getpid();
    pthread_atfork(NULL, NULL, in_child);
    move_window(0);
    recorder.head = recorder.window ? map_file(0, sizeof head) : NULL;
    if (!recorder.head) { /* its empty file is refused by the merge */
        close(recorder.file);
        recorder.file = -1;
        return false;
    }
    head.size = sizeof head;
    put(&head, sizeof head);
    return true;
}

/* ---- calls ---- */

void fc_pmpi_enter(struct fc_pmpi_call *call)
{
    call->on = thread.depth++ == 0;
    if (!call->on) return;
    call->enter_ns = clock_ns(CLOCK_MONOTONIC);
    if (!recorder.on || !thread.known) return;
    int64_t spent_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - thread.last_cpu_ns - recorder.clock_cost_ns;
    if (spent_ns > 0) thread.compute_ns += spent_ns;
}

/* What an empty computation would measure: the smallest of many tries. */
static int64_t measure_clocks(void)
{
    int64_t least = INT64_MAX;
    for (int i = 0; i < 200; i++) {
        int64_t before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
        clock_ns(CLOCK_MONOTONIC);
        int64_t cost = clock_ns(CLOCK_THREAD_CPUTIME_ID) - before;
        if (cost < least) least = cost;
    }
    return least;
}

bool fc_pmpi_left(struct fc_pmpi_call *call)
{
    if (call->on) call->leave_ns = clock_ns(CLOCK_MONOTONIC);
    if (!call->on || !recorder.on) {
        thread.depth--;
        return false;
    }
    pthread_mutex_lock(&recorder.lock);
    if (!pthread_equal(pthread_self(), recorder.first_thread)) {
        fc_pmpi_note("(MPI calls of several threads: one sequence a rank, their computation added up)");
        if (recorder.shared && recorder.window) recorder.head->threads = 1;
    }
    return true;
}

bool fc_pmpi_ahead(const struct fc_pmpi_call *call)
{
    if (!call->on || !recorder.on) return false;
    pthread_mutex_lock(&recorder.lock);
    return true;
}

bool fc_pmpi_shared(const struct fc_pmpi_call *call)
{
    return recorder.shared && fc_pmpi_ahead(call);
}

void fc_pmpi_unlock(void)
{
    pthread_mutex_unlock(&recorder.lock);
}

void fc_pmpi_done(void)
{
    pthread_mutex_unlock(&recorder.lock);
    thread.last_cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    thread.known = true;
    thread.depth--;
}

void fc_pmpi_fold_poll(void)
{
    thread.polls++;
}

struct fc_raw_event fc_pmpi_event(const struct fc_pmpi_call *call, int kind)
{
    struct fc_raw_event event = {.peer = -1,
                                 .request = -1,
                                 .enter_ns = call->enter_ns,
                                 .leave_ns = call->leave_ns,
                                 .compute_ns = thread.compute_ns};
    while (thread.polls > UINT16_MAX) { /* what the counter cannot hold goes ahead */
        struct fc_raw_event polls = {.kind = FC_OP_POLL,
                                     .polls = UINT16_MAX,
                                     .peer = -1,
                                     .request = -1,
                                     .enter_ns = call->enter_ns,
                                     .leave_ns = call->enter_ns};
        fc_pmpi_write(&polls, NULL, 0);
        thread.polls -= UINT16_MAX;
    }
    event.kind = (uint8_t)kind;
    event.polls = (uint16_t)thread.polls;
    thread.polls = 0;
    thread.compute_ns = 0;
    return event;
}

void fc_pmpi_write_plain(const struct fc_pmpi_call *call, int kind)
{
    struct fc_raw_event event = fc_pmpi_event(call, kind);
    fc_pmpi_write(&event, NULL, 0);
}

void fc_log_other(struct fc_pmpi_call *call)
{
    if (!fc_pmpi_left(call)) return;
    fc_pmpi_write_plain(call, FC_OP_OTHER);
    fc_pmpi_done();
}

/* The real MPI_Init has returned: recording starts here. */
void fc_pmpi_start(struct fc_pmpi_call *call)
{
    int level = MPI_THREAD_SINGLE;
    call->leave_ns = clock_ns(CLOCK_MONOTONIC);
    if (!call->on || call->rc != MPI_SUCCESS || !start_file()) {
        thread.depth--;
        return;
    }
    pthread_mutex_lock(&recorder.lock);
    recorder.first_thread = pthread_self();
    PMPI_Query_thread(&level);
    recorder.shared = level == MPI_THREAD_MULTIPLE;
    recorder.clock_cost_ns = measure_clocks();
    recorder.on = true;
    fc_comm_start();
    fc_pmpi_write_plain(call, FC_OP_INIT);
    dl_iterate_phdr(write_object, NULL); /* now, for a program that does not come to its end */
    fc_pmpi_done();
}

void fc_pmpi_finish(struct fc_pmpi_call *call)
{
    if (!fc_pmpi_left(call)) return;
    fc_pmpi_write_plain(call, FC_OP_FINALIZE);
    close_file();
    fc_pmpi_done();
}

/* About to call MPI_Abort: nothing comes after. */
void fc_pmpi_abort(void)
{
    if (!recorder.on) return;
    pthread_mutex_lock(&recorder.lock);
    for (int i = 0; i < recorder.n_notes; i++) write_text(FC_RAW_NOTE, recorder.note[i]);
    write_text(FC_RAW_NOTE, "(MPI_Abort was called)");
    leave_mark(FC_RAW_LEFT);
    pthread_mutex_unlock(&recorder.lock);
}
