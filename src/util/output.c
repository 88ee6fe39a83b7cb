/*
 * output.c - see output.h. Streams with our own write function (fopencookie): stdio itself remembers
 * that a write failed, but not why.
 */
#include "util/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "util/path.h"

enum { BUFFER = 64 << 10, READER_MS = 1000, KILLED_MS = 2000 };

/* ---- Streams ------------------------------------------------------------------------------------------ */

static ssize_t stream_write(void *ctx, const char *bytes, size_t n)
{
    struct dh_output *o = ctx;
    size_t done = 0;
    while (!o->error && done < n) {
        ssize_t k = write(o->fd, bytes + done, n - done);
        if (k < 0 && errno != EINTR)
            o->error = -errno;
        done += k > 0 ? (size_t)k : 0;
    }
    return (ssize_t)done; /* fewer than n: stdio knows that it failed */
}

static FILE *stream_open(struct dh_output *o, int buffering)
{
    FILE *f = fopencookie(o, "w", (cookie_io_functions_t){.write = stream_write});
    if (!f || setvbuf(f, NULL, buffering, BUFFER) != 0)
        dh_util_no_memory();
    return f;
}

/* Sends what is buffered. 0, or the first error. */
static int stream_flush(struct dh_output *o)
{
    if (fflush(o->stream) != 0 && !o->error)
        o->error = -errno;
    return o->error;
}

/* ---- Standard output ---------------------------------------------------------------------------------- */

static struct dh_output standard;

static void exceed(int number)
{
    (void)number;
}

/* Then a write over a file size limit fails, and is reported. A handler, since programs that the command
 * starts would inherit that a signal is ignored. */
static void survive_size_limit(void)
{
    struct sigaction now, handled = {.sa_handler = exceed, .sa_flags = SA_RESTART};
    if (sigaction(SIGXFSZ, NULL, &now) == 0 && now.sa_handler == SIG_DFL)
        sigaction(SIGXFSZ, &handled, NULL);
}

void dh_output_begin_standard(void)
{
    survive_size_limit();
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) >= 0)
            continue;
        /* In the direction that nobody uses, so that reading or writing it fails as it would have. The lowest
         * number that is free is the one wanted. */
        int got = open("/dev/null", (fd == 0 ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
        if (got >= 0 && got != fd)
            close(got);
    }
    standard.fd = STDOUT_FILENO;
    standard.stream = stream_open(&standard, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF);
    stdout = standard.stream;
}

int dh_output_end_standard(void)
{
    return stream_flush(&standard);
}

static bool same_file(const struct stat *a, const struct stat *b)
{
    return S_ISREG(a->st_mode) && a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

bool dh_output_is_standard(const char *path)
{
    struct stat st, out;
    int rc = strcmp(path, "-") == 0 ? fstat(STDIN_FILENO, &st) : stat(path, &st);
    return rc == 0 && fstat(STDOUT_FILENO, &out) == 0 && same_file(&st, &out);
}

/* ---- Files -------------------------------------------------------------------------------------------- */

static int fail(struct dh_output *o, const char *why)
{
    o->why = why;
    if (o->fd >= 0)
        close(o->fd);
    o->fd = -1;
    return -1;
}

/* /dev/stdout and its like name what is open already: opened once more, it would be written from its
 * beginning. -1: it is no such name. */
static int open_descriptor(const char *path)
{
    static const char *const dirs[] = {"/dev/fd/", "/proc/self/fd/"};
    if (strcmp(path, "/dev/stdout") == 0)
        return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0)
        return STDERR_FILENO;
    for (size_t i = 0; i < DH_ARRAY_LEN(dirs); i++) {
        size_t len = strlen(dirs[i]);
        char *end;
        if (strncmp(path, dirs[i], len) != 0 || path[len] < '0' || path[len] > '9')
            continue;
        long fd = strtol(path + len, &end, 10);
        return !*end && fd <= INT_MAX ? (int)fd : -1;
    }
    return -1;
}

/* For writing, without waiting for ever that somebody reads a pipe: a reader that was started at the same
 * time gets a moment. */
static int open_in_place(const char *path, bool truncate)
{
    int flags = O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | (truncate ? O_TRUNC : 0);
    int fd = open(path, flags);
    for (int ms = 0; fd < 0 && errno == ENXIO && ms < READER_MS; ms += 10) {
        nanosleep(&(struct timespec){.tv_nsec = 10 * 1000 * 1000}, NULL);
        fd = open(path, flags);
    }
    if (fd >= 0)
        fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    return fd;
}

static const char *reason(const char *path, int error)
{
    struct stat st;
    if (error == ENXIO && stat(path, &st) == 0 && S_ISFIFO(st.st_mode))
        return "it is a pipe without a reader";
    return strerror(error);
}

/* What this process reads: a command is one process, and says all its inputs before it has a second thread.
 */
static char **inputs;
static size_t n_inputs, room_for_inputs;

void dh_output_reads(const char *path)
{
    if (!path || !path[0])
        return;
    for (size_t i = 0; i < n_inputs; i++)
        if (strcmp(inputs[i], path) == 0)
            return; /* a command that runs a program again and again says so each time */
    if (n_inputs == room_for_inputs) {
        room_for_inputs = room_for_inputs ? 2 * room_for_inputs : 16;
        inputs = realloc(inputs, room_for_inputs * sizeof(*inputs));
        if (!inputs)
            dh_util_no_memory();
    }
    inputs[n_inputs] = strdup(path);
    if (!inputs[n_inputs++])
        dh_util_no_memory();
}

static bool is_input(const struct stat *st)
{
    struct stat input;
    for (size_t i = 0; i < n_inputs; i++) {
        int rc = strcmp(inputs[i], "-") == 0 ? fstat(STDIN_FILENO, &input) : stat(inputs[i], &input);
        if (rc == 0 && same_file(st, &input))
            return true;
    }
    return false;
}

bool dh_output_is_input(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && is_input(&st);
}

const char *dh_output_appendable(const char *path)
{
    struct stat st;
    if (stat(path, &st) == 0 && S_ISFIFO(st.st_mode))
        return NULL; /* its reader would take a writer that comes and goes for the only one */
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);
    if (fd < 0)
        return strerror(errno);
    close(fd);
    return NULL;
}

/* A part that somebody else left, or is writing: never through a link, never one of another user's. */
static int open_old_part(const char *part)
{
    struct stat st;
    int fd = open(part, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) {
        errno = errno == ELOOP ? EEXIST : errno;
        return -1;
    }
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() && st.st_nlink <= 1)
        return fd;
    close(fd);
    errno = EEXIST;
    return -1;
}

bool dh_output_lock(int fd)
{
    for (int ms = 0; flock(fd, LOCK_EX | LOCK_NB) != 0; ms += 10) {
        if (errno != EWOULDBLOCK || ms >= KILLED_MS)
            return false;
        nanosleep(&(struct timespec){.tv_nsec = 10 * 1000 * 1000}, NULL);
    }
    return true;
}

/* Opens and locks the part. 0, or an errno; EWOULDBLOCK: it is being written. */
static int open_part(struct dh_output *o)
{
    for (;;) {
        struct stat opened, named;
        o->fd = open(o->part, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (o->fd < 0 && errno == EEXIST)
            o->fd = open_old_part(o->part);
        if (o->fd < 0 && errno == ENOENT && access(o->part, F_OK) == 0)
            continue; /* it went away in between, and another came */
        if (o->fd < 0)
            return errno;
        if (!dh_output_lock(o->fd) && errno == EWOULDBLOCK)
            return EWOULDBLOCK; /* where files cannot be locked at all, they are not */
        /* Whoever had it before may have given it its name before it was ours. */
        if (fstat(o->fd, &opened) == 0 && lstat(o->part, &named) == 0 && same_file(&opened, &named))
            return ftruncate(o->fd, 0) == 0 ? 0 : errno;
        close(o->fd);
    }
}

/* What a file that may have to be made is called, without links; it need not exist yet. */
static char *resolve(struct dh_arena *arena, const char *path)
{
    char full[PATH_MAX], link[PATH_MAX];
    if (realpath(path, full))
        return dh_arena_strdup(arena, full);
    ssize_t n = readlink(path, link, sizeof(link) - 1);
    if (n <= 0)
        return dh_arena_strdup(arena, path);
    link[n] = 0;
    const char *slash = strrchr(path, '/'); /* a link to what is not there yet */
    int dir = slash && link[0] != '/' ? (int)(slash + 1 - path) : 0;
    return dh_arena_printf(arena, "%.*s%s", dir, path, link);
}

/* The part will take the place of an old file for all who may use that. 0, or an errno. */
static int succeed(struct dh_output *o, const struct stat *old)
{
    if ((old->st_uid == geteuid() || fchown(o->fd, old->st_uid, old->st_gid) == 0) &&
        fchmod(o->fd, old->st_mode & 0777) == 0)
        return 0;
    int error = errno;
    unlink(o->part);
    close(o->fd);
    o->fd = -1;
    return error;
}

static int open_beside(struct dh_output *o, struct dh_arena *arena, const char *path, bool over_input)
{
    struct stat st, part;
    bool replaces = stat(path, &st) == 0;
    if (replaces && !over_input && is_input(&st))
        return fail(o, "this command reads it");
    if (replaces && access(path, W_OK) != 0)
        return fail(o, strerror(errno));
    o->target = resolve(arena, path);
    o->part = dh_arena_printf(arena, "%s.part", o->target);
    if (stat(o->part, &part) == 0 && is_input(&part))
        return fail(
            o, dh_arena_printf(arena, "it would be written as %s, and this command reads that", o->part));
    int error = open_part(o);
    if (error == EWOULDBLOCK)
        return fail(o, dh_arena_printf(arena, "another process is writing it (%s)", o->part));
    if (error == EEXIST)
        return fail(o, dh_arena_printf(arena, "%s is in the way", o->part));
    if (!error && replaces)
        error = succeed(o, &st);
    if (!error)
        return 0;
    o->part = NULL;
    if (!replaces || (error != EACCES && error != EPERM && error != EROFS))
        return fail(o, strerror(error));
    o->fd = open_in_place(path, true); /* it may be changed, but nothing can take its place */
    return o->fd < 0 ? fail(o, strerror(errno)) : 0;
}

static int open_output(struct dh_output *o, struct dh_arena *arena, const char *path, bool over_input)
{
    struct stat st;
    *o = (struct dh_output){.fd = -1};
    int rc = 0, already = open_descriptor(path);
    if (!path[0])
        return fail(o, "its name is empty");
    if (already >= 0) {
        if (fstat(already, &st) == 0 && !over_input && is_input(&st))
            return fail(o, "this command reads it");
        o->fd = fcntl(already, F_DUPFD_CLOEXEC, 3);
        rc = o->fd < 0 ? fail(o, strerror(errno)) : 0;
    } else if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
        o->fd = open_in_place(path, false);
        rc = o->fd < 0 ? fail(o, reason(path, errno)) : 0;
    } else {
        rc = open_beside(o, arena, path, over_input);
    }
    if (!rc)
        o->stream = stream_open(o, _IOFBF);
    return rc;
}

int dh_output_open(struct dh_output *o, struct dh_arena *arena, const char *path)
{
    return open_output(o, arena, path, false);
}

int dh_output_replace(struct dh_output *o, struct dh_arena *arena, const char *path)
{
    return open_output(o, arena, path, true);
}

/* The directory that the file is, or would be, in. */
static bool stat_directory(const char *path, struct stat *ret)
{
    char name[PATH_MAX];
    const char *slash = strrchr(path, '/');
    int len = snprintf(name, sizeof(name), "%.*s.", slash ? (int)(slash + 1 - path) : 0, path);
    return len > 0 && (size_t)len < sizeof(name) && stat(name, ret) == 0;
}

bool dh_output_same(const char *a, const char *b)
{
    struct stat first, second;
    if (!a || !b || !a[0] || !b[0])
        return false;
    if (stat(a, &first) == 0)
        return stat(b, &second) == 0 && same_file(&first, &second);
    return strcmp(dh_path_base(a), dh_path_base(b)) == 0 && stat_directory(a, &first) &&
           stat_directory(b, &second) && first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

int dh_output_commit(struct dh_output *o)
{
    DH_ASSERT(o->stream);
    int error = -stream_flush(o);
    if (!error && o->part && rename(o->part, o->target) != 0)
        error = errno;
    if (error) {
        dh_output_abandon(o, false);
        o->why = strerror(error);
        return -1;
    }
    fclose(o->stream);
    error = close(o->fd) == 0 ? 0 : errno; /* some file systems tell only now */
    o->stream = NULL;
    o->fd = -1;
    o->why = error ? strerror(error) : NULL;
    return error ? -1 : 0;
}

void dh_output_abandon(struct dh_output *o, bool keep)
{
    if (!o->stream)
        return;
    fclose(o->stream);
    if (o->part && !keep)
        unlink(o->part);
    close(o->fd);
    o->stream = NULL;
    o->fd = -1;
}
