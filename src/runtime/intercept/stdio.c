/*
 * intercept/stdio.c - streams: the program's buffers they read and fill, and streams over pipes and sockets.
 *
 * A FILE's own lock makes calls atomic but provides no ordering that a program may rely on, so it creates no
 * edges, and the FILE's internals are libc's business. Data sent through a stream over a pipe or a socket
 * does create ordering: an output call releases the descriptor, an input call acquires it. Output is
 * buffered, but the data of a call is sent after the call began, which is all an edge says. Calls without
 * locking (getc_unlocked) are mostly inlined, and make no edges; fflush and fclose release for them.
 *
 * Memory of the program that a stream uses by itself, such as a buffer given by setvbuf, is in
 * intercept/stream.c.
 *
 * flockfile is different: a lock that the program takes explicitly does create ordering.
 */
#define _GNU_SOURCE 1
#define __NO_INLINE__ 1 /* or libc's headers define functions that are defined here */
#include <stdio.h>

#include "runtime/intercept/stream.h"
#include "runtime/intercept/touch.h"
#include "runtime/threads/fd.h"
#include "runtime/threads/scope.h"

extern DH_HIDDEN size_t (*dh_real_strlen)(const char *);

static size_t length(const char *s)
{
    DH_RESOLVE(strlen);
    return REAL(strlen)(s);
}

static void sends(struct dh_thread *t, FILE *f)
{
    dh_fd_release(t, fileno_unlocked(f));
}

static void received(struct dh_thread *t, FILE *f)
{
    dh_fd_acquire(t, fileno_unlocked(f));
}

/* ---- Input ------------------------------------------------------------------------------------- */

#define READ_ITEMS(name, ...)                                            \
    DH_ENTER(name, __VA_ARGS__);                                         \
    size_t r = DH_STREAM_CALL(f, DH_STREAM_IN, REAL(name)(__VA_ARGS__)); \
    received(sc.t, f);                                                   \
    dh_touch_write(sc.t, buf, r *size);                                  \
    DH_RETURN(r)

DH_INTERCEPTOR(size_t, fread, void *buf, size_t size, size_t n, FILE *f)
{
    READ_ITEMS(fread, buf, size, n, f);
}

DH_INTERCEPTOR(size_t, fread_unlocked, void *buf, size_t size, size_t n, FILE *f)
{
    READ_ITEMS(fread_unlocked, buf, size, n, f);
}

DH_INTERCEPTOR(size_t, __fread_chk, void *buf, size_t room, size_t size, size_t n, FILE *f)
{
    READ_ITEMS(__fread_chk, buf, room, size, n, f);
}

DH_INTERCEPTOR(size_t, __fread_unlocked_chk, void *buf, size_t room, size_t size, size_t n, FILE *f)
{
    READ_ITEMS(__fread_unlocked_chk, buf, room, size, n, f);
}

/* A line may hold NULs, so where it ends is looked for as fgets does: the text it left. */
#define READ_LINE(name, ...)                                            \
    DH_ENTER(name, __VA_ARGS__);                                        \
    char *r = DH_STREAM_CALL(f, DH_STREAM_IN, REAL(name)(__VA_ARGS__)); \
    received(sc.t, f);                                                  \
    if (r != NULL)                                                      \
        dh_touch_write(sc.t, buf, length(buf) + 1);                     \
    DH_RETURN(r)

DH_INTERCEPTOR(char *, fgets, char *buf, int n, FILE *f)
{
    READ_LINE(fgets, buf, n, f);
}

DH_INTERCEPTOR(char *, __fgets_chk, char *buf, size_t room, int n, FILE *f)
{
    READ_LINE(__fgets_chk, buf, room, n, f);
}

DH_INTERCEPTOR(char *, fgets_unlocked, char *buf, int n, FILE *f)
{
    READ_LINE(fgets_unlocked, buf, n, f);
}

DH_INTERCEPTOR(char *, __fgets_unlocked_chk, char *buf, size_t room, int n, FILE *f)
{
    READ_LINE(__fgets_unlocked_chk, buf, room, n, f);
}

/* One character at a time: nothing is touched, so over files there is nothing to do, unless their buffer is
 * the program's. */
#define CHARACTER(before, after, way, stream, name, ...)                                \
    DH_RESOLVE(name);                                                                   \
    if (DH_LIKELY(dh_fd_is_plain(fileno_unlocked(stream)) && !dh_stream_known(stream))) \
        return REAL(name)(__VA_ARGS__);                                                 \
    DH_ENTER(name, __VA_ARGS__);                                                        \
    before(sc.t, stream);                                                               \
    int r = DH_STREAM_CALL(stream, way, REAL(name)(__VA_ARGS__));                       \
    after(sc.t, stream);                                                                \
    DH_RETURN(r)

static void nothing(struct dh_thread *t, FILE *f)
{
    (void)t;
    (void)f;
}

DH_INTERCEPTOR(int, fgetc, FILE *f)
{
    CHARACTER(nothing, received, DH_STREAM_IN, f, fgetc, f);
}

DH_INTERCEPTOR(int, getc, FILE *f)
{
    CHARACTER(nothing, received, DH_STREAM_IN, f, getc, f);
}

DH_INTERCEPTOR(int, getchar, void)
{
    CHARACTER(nothing, received, DH_STREAM_IN, stdin, getchar);
}

/* libc reallocates the line through our realloc, with the runtime left: that is seen by itself. */
static ssize_t got_line(struct dh_thread *t, char **line, size_t *size, FILE *f, ssize_t r)
{
    received(t, f);
    DH_TOUCH_OUT(t, line);
    DH_TOUCH_OUT(t, size);
    if (r >= 0)
        dh_touch_write(t, *line, (size_t)r + 1);
    return r;
}

DH_INTERCEPTOR(ssize_t, getline, char **line, size_t *size, FILE *f)
{
    DH_ENTER(getline, line, size, f);
    ssize_t r = DH_STREAM_CALL(f, DH_STREAM_IN, REAL(getline)(line, size, f));
    DH_RETURN(got_line(sc.t, line, size, f, r));
}

DH_INTERCEPTOR(ssize_t, getdelim, char **line, size_t *size, int delim, FILE *f)
{
    DH_ENTER(getdelim, line, size, delim, f);
    ssize_t r = DH_STREAM_CALL(f, DH_STREAM_IN, REAL(getdelim)(line, size, delim, f));
    DH_RETURN(got_line(sc.t, line, size, f, r));
}

/* What <stdio.h> makes of getline when optimising. */
DH_INTERCEPTOR(ssize_t, __getdelim, char **line, size_t *size, int delim, FILE *f)
{
    DH_ENTER(__getdelim, line, size, delim, f);
    ssize_t r = DH_STREAM_CALL(f, DH_STREAM_IN, REAL(__getdelim)(line, size, delim, f));
    DH_RETURN(got_line(sc.t, line, size, f, r));
}

/* ---- Output ------------------------------------------------------------------------------------ */

DH_INTERCEPTOR(size_t, fwrite, const void *buf, size_t size, size_t n, FILE *f)
{
    DH_ENTER(fwrite, buf, size, n, f);
    dh_touch_read(sc.t, buf, size * n);
    sends(sc.t, f);
    DH_RETURN(DH_STREAM_CALL(f, DH_STREAM_OUT, REAL(fwrite)(buf, size, n, f)));
}

DH_INTERCEPTOR(size_t, fwrite_unlocked, const void *buf, size_t size, size_t n, FILE *f)
{
    DH_ENTER(fwrite_unlocked, buf, size, n, f);
    dh_touch_read(sc.t, buf, size * n);
    sends(sc.t, f);
    DH_RETURN(DH_STREAM_CALL(f, DH_STREAM_OUT, REAL(fwrite_unlocked)(buf, size, n, f)));
}

DH_INTERCEPTOR(int, fputs, const char *s, FILE *f)
{
    DH_ENTER(fputs, s, f);
    dh_touch_read(sc.t, s, length(s) + 1);
    sends(sc.t, f);
    DH_RETURN(DH_STREAM_CALL(f, DH_STREAM_OUT, REAL(fputs)(s, f)));
}

DH_INTERCEPTOR(int, fputs_unlocked, const char *s, FILE *f)
{
    DH_ENTER(fputs_unlocked, s, f);
    dh_touch_read(sc.t, s, length(s) + 1);
    sends(sc.t, f);
    DH_RETURN(DH_STREAM_CALL(f, DH_STREAM_OUT, REAL(fputs_unlocked)(s, f)));
}

DH_INTERCEPTOR(int, puts, const char *s)
{
    DH_ENTER(puts, s);
    dh_touch_read(sc.t, s, length(s) + 1);
    sends(sc.t, stdout);
    DH_RETURN(DH_STREAM_CALL(stdout, DH_STREAM_OUT, REAL(puts)(s)));
}

DH_INTERCEPTOR(void, perror, const char *s)
{
    DH_ENTER(perror, s);
    dh_touch_in(sc.t, s, s != NULL ? length(s) + 1 : 0);
    sends(sc.t, stderr);
    (void)DH_STREAM_CALL(stderr, DH_STREAM_OUT, (REAL(perror)(s), 0));
    DH_RETURN_VOID;
}

DH_INTERCEPTOR(int, fputc, int c, FILE *f)
{
    CHARACTER(sends, nothing, DH_STREAM_OUT, f, fputc, c, f);
}

DH_INTERCEPTOR(int, putc, int c, FILE *f)
{
    CHARACTER(sends, nothing, DH_STREAM_OUT, f, putc, c, f);
}

DH_INTERCEPTOR(int, putchar, int c)
{
    CHARACTER(sends, nothing, DH_STREAM_OUT, stdout, putchar, c);
}

DH_INTERCEPTOR(int, fflush, FILE *f)
{
    DH_ENTER(fflush, f);
    if (f != NULL)
        sends(sc.t, f);
    int rc = DH_STREAM_CALL(f, DH_STREAM_FLUSH, REAL(fflush)(f));
    if (f == NULL)
        dh_stream_all_flushed(sc.t);
    DH_RETURN(rc);
}

/* ---- The lock of a stream, taken by the program ------------------------------------------------- */

DH_INTERCEPTOR(void, flockfile, FILE *f)
{
    DH_ENTER(flockfile, f);
    dh_scope_block(&sc);
    REAL(flockfile)(f);
    dh_scope_unblock(&sc);
    dh_order_lock(sc.t, f, DH_LOCK_RECURSIVE);
    DH_RETURN_VOID;
}

DH_INTERCEPTOR(int, ftrylockfile, FILE *f)
{
    DH_ENTER(ftrylockfile, f);
    int rc = REAL(ftrylockfile)(f);
    if (rc == 0)
        dh_order_lock(sc.t, f, DH_LOCK_RECURSIVE | DH_LOCK_TRY);
    DH_RETURN(rc);
}

DH_INTERCEPTOR(void, funlockfile, FILE *f)
{
    DH_ENTER(funlockfile, f);
    dh_order_unlock(sc.t, f, false);
    REAL(funlockfile)(f);
    DH_RETURN_VOID;
}

/* ---- Streams come and go ----------------------------------------------------------------------- */

static FILE *opened(FILE *f)
{
    if (f != NULL && fileno_unlocked(f) >= 0)
        dh_fd_unknown(fileno_unlocked(f));
    return f;
}

static void read_name(struct dh_thread *t, const char *s)
{
    dh_touch_in(t, s, s != NULL ? length(s) + 1 : 0);
}

DH_INTERCEPTOR(FILE *, fopen, const char *path, const char *mode)
{
    DH_ENTER(fopen, path, mode);
    read_name(sc.t, path);
    DH_RETURN(opened(DH_BLOCKING(REAL(fopen)(path, mode))));
}

DH_INTERCEPTOR(FILE *, fopen64, const char *path, const char *mode)
{
    DH_ENTER(fopen64, path, mode);
    read_name(sc.t, path);
    DH_RETURN(opened(DH_BLOCKING(REAL(fopen64)(path, mode))));
}

DH_INTERCEPTOR(FILE *, tmpfile, void)
{
    DH_ENTER(tmpfile);
    DH_RETURN(opened(DH_BLOCKING(REAL(tmpfile)())));
}

DH_INTERCEPTOR(FILE *, popen, const char *command, const char *mode)
{
    DH_ENTER(popen, command, mode);
    read_name(sc.t, command);
    DH_RETURN(opened(DH_BLOCKING(REAL(popen)(command, mode))));
}

static void closes(struct dh_thread *t, FILE *f)
{
    sends(t, f);
    if (fileno_unlocked(f) >= 0)
        dh_fd_close(t, fileno_unlocked(f));
}

/* What a stream used of the program's memory is the program's again when it is closed. */
#define CLOSE(name)                                 \
    DH_ENTER(name, f);                              \
    closes(sc.t, f);                                \
    struct dh_stream *s = dh_stream_closes(&sc, f); \
    int rc = DH_BLOCKING(REAL(name)(f));            \
    dh_stream_closed(sc.t, s);                      \
    DH_RETURN(rc)

DH_INTERCEPTOR(int, fclose, FILE *f)
{
    CLOSE(fclose);
}

DH_INTERCEPTOR(int, pclose, FILE *f)
{
    CLOSE(pclose);
}

/* Another file under the same number. Without a path it is the same file in another mode. */
static void reopens(struct dh_thread *t, const char *path, FILE *f)
{
    if (path != NULL) {
        read_name(t, path);
        closes(t, f);
    }
}

#define REOPEN(name)                                      \
    DH_ENTER(name, path, mode, f);                        \
    reopens(sc.t, path, f);                               \
    struct dh_stream *s = dh_stream_closes(&sc, f);       \
    FILE *again = DH_BLOCKING(REAL(name)(path, mode, f)); \
    dh_stream_closed(sc.t, s);                            \
    DH_RETURN(again)

DH_INTERCEPTOR(FILE *, freopen, const char *path, const char *mode, FILE *f)
{
    REOPEN(freopen);
}

DH_INTERCEPTOR(FILE *, freopen64, const char *path, const char *mode, FILE *f)
{
    REOPEN(freopen64);
}
