/* output.c - output files that appear whole or not at all.
 *
 * Writes go to "<path>.part.<host>.<pid>" beside the target (unfinished.h: a signal that ends the program removes it) and
 * are renamed over it only when every byte has reached the disk; rename within a directory is atomic (POSIX). A symbolic
 * link's target is replaced, not the link.
 * What exists and is no regular file (/dev/null, a fifo) is written itself. Limits: the directory entry is
 * not synced, so after a power failure the old file may be back, whole. */
#include "core/unfinished.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum fc_code unwritable(const char *path, int error, struct fc_status *st)
{
    bool theirs = error == ENOENT || error == ENOTDIR || error == EACCES || error == EPERM || error == EISDIR ||
                  error == ENAMETOOLONG || error == ELOOP;
    const char *why = error == EEXIST ? "something that is no regular file appeared there"
                      : error         ? strerror(error)
                                      : "an earlier write failed";
    if (error == ENOMEM) return fc_out_of_memory(st, "writing %s", path[0] ? path : "standard output");
    if (!path[0]) return fc_refuse(st, FC_NO, "standard output: %s", why);
    return fc_fail(st, theirs ? FC_INPUT : FC_NO, (struct fc_place){path, 0}, "cannot be written: %s", why);
}

static int open_target(struct fc_output *out, const struct stat *info, bool exists)
{
    if (exists && S_ISDIR(info->st_mode)) {
        errno = EISDIR;
        return -1;
    }
    if (exists && !S_ISREG(info->st_mode)) return open(out->path, O_WRONLY | O_CLOEXEC);
    if (exists && access(out->path, W_OK) != 0) return -1; /* rename would replace a write-protected file */
    return fc_unfinished_file(out->path, &out->file);
}

enum fc_code fc_output_open(struct fc_output *out, const char *path, struct fc_status *st)
{
    *out = (struct fc_output){0};
    if (!path || strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0) {
        out->stream = stdout;
        return FC_OK;
    }
    if (!*path) return fc_refuse(st, FC_INPUT, "the output file's name is empty");
    struct stat info;
    bool exists = stat(path, &info) == 0;
    char *real = exists && S_ISREG(info.st_mode) ? realpath(path, NULL) : NULL;
    size_t length = strlen(real ? real : path);
    if (length < sizeof out->path) strcpy(out->path, real ? real : path);
    free(real);
    if (length >= sizeof out->path) return unwritable(path, ENAMETOOLONG, st);

    int fd = open_target(out, &info, exists);
    if (fd >= 0) out->stream = fdopen(fd, "w");
    if (out->stream) return FC_OK;
    int error = errno;
    if (fd >= 0) close(fd);
    fc_unfinished_remove(&out->file);
    *out = (struct fc_output){0};
    return unwritable(path, error, st);
}

/* The error of everything written so far: 0 none, else errno. When the write that failed is long past, one
 * more byte asks the system again what is wrong; the stream is lost anyway. -1: it failed and nobody knows
 * why. */
static int write_error(FILE *stream)
{
    bool failed = ferror(stream) != 0;
    errno = 0;
    if (fflush(stream) != 0) return errno ? errno : -1;
    if (!failed) return 0;
    return write(fileno(stream), "\n", 1) < 0 ? errno : -1;
}

/* Gives the file its final name; 0 or errno. Looks again, whatever open decided: for root, renaming over a device such as
 * /dev/null would succeed and take it from the whole machine. */
static int publish(struct fc_output *out)
{
    struct stat info;
    if (stat(out->path, &info) == 0 && !S_ISREG(info.st_mode)) return EEXIST;
    return fc_unfinished_publish(&out->file, out->path);
}

enum fc_code fc_output_close(struct fc_output *out, struct fc_status *st)
{
    if (!out->stream) return FC_OK;
    if (fc_memory_whole(st)) {
        fc_output_abandon(out);
        return st->code;
    }
    int error = write_error(out->stream);
    bool is_stdout = out->stream == stdout;
    /* pipes and some devices cannot be synced and say EINVAL or the like; a disk that is full says ENOSPC or
     * EIO */
    if (!error && out->file && fsync(fileno(out->stream)) != 0 && (errno == ENOSPC || errno == EDQUOT || errno == EIO))
        error = errno;
    int lock = out->file ? fcntl(fileno(out->stream), F_DUPFD_CLOEXEC, 3) : -1; /* held until it has its name */
    if (!is_stdout && fclose(out->stream) != 0 && !error) error = errno;
    out->stream = NULL;
    if (!error && out->file) error = publish(out);
    enum fc_code code = error ? unwritable(out->path, error > 0 ? error : 0, st) : FC_OK;
    fc_unfinished_remove(&out->file);
    if (lock >= 0) close(lock);
    *out = (struct fc_output){0};
    return code;
}

void fc_output_abandon(struct fc_output *out)
{
    if (out->stream && out->stream != stdout) fclose(out->stream);
    fc_unfinished_remove(&out->file);
    *out = (struct fc_output){0};
}
