/*
 * intercept/libc.c - other libc functions that fill the program's memory: time, files' data, names,
 * limits, addresses; and qsort, which moves it.
 *
 * Functions that return static storage (localtime, gmtime, ctime) write to it on every call: two threads
 * that use it without a lock race, and are told so.
 */
#define _GNU_SOURCE 1
#define __NO_INLINE__ 1 /* or libc's headers define functions that are defined here */
#include <arpa/inet.h>
#include <dirent.h>
#include <limits.h>
#include <netdb.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/intercept/touch.h"
#include "runtime/threads/scope.h"

extern DH_HIDDEN size_t (*dh_real_strlen)(const char *);

static void wrote_string(struct dh_thread *t, const char *s)
{
    DH_RESOLVE(strlen);
    if (s != NULL)
        dh_touch_write(t, s, REAL(strlen)(s) + 1);
}

/* A body: a call that returns 0 has filled *out. */
#define FILLS(out, name, ...)         \
    DH_ENTER(name, __VA_ARGS__);      \
    int rc = REAL(name)(__VA_ARGS__); \
    if (rc == 0)                      \
        DH_TOUCH_OUT(sc.t, out);      \
    DH_RETURN(rc)

/* A body: the result is a text that was written, or NULL. call: REAL or DH_BLOCKING(REAL). */
#define MAKES_TEXT(call)      \
    char *text = call;        \
    wrote_string(sc.t, text); \
    DH_RETURN(text)

/* ---- Time -------------------------------------------------------------------------------------- */

DH_INTERCEPTOR(time_t, time, time_t *out)
{
    DH_ENTER(time, out);
    time_t now = REAL(time)(out);
    DH_TOUCH_OUT(sc.t, out);
    DH_RETURN(now);
}

DH_INTERCEPTOR(int, gettimeofday, struct timeval *out, void *zone)
{
    FILLS(out, gettimeofday, out, zone);
}

DH_INTERCEPTOR(int, clock_gettime, clockid_t clock, struct timespec *out)
{
    FILLS(out, clock_gettime, clock, out);
}

DH_INTERCEPTOR(int, clock_getres, clockid_t clock, struct timespec *out)
{
    FILLS(out, clock_getres, clock, out);
}

/* All four conversions: reads the time, writes the parts, wherever they are. */
static struct tm *broken_down(struct dh_thread *t, const time_t *in, struct tm *out)
{
    DH_TOUCH_IN(t, in);
    DH_TOUCH_OUT(t, out);
    return out;
}

DH_INTERCEPTOR(struct tm *, localtime_r, const time_t *in, struct tm *out)
{
    DH_ENTER(localtime_r, in, out);
    DH_RETURN(broken_down(sc.t, in, REAL(localtime_r)(in, out)));
}

DH_INTERCEPTOR(struct tm *, gmtime_r, const time_t *in, struct tm *out)
{
    DH_ENTER(gmtime_r, in, out);
    DH_RETURN(broken_down(sc.t, in, REAL(gmtime_r)(in, out)));
}

DH_INTERCEPTOR(struct tm *, localtime, const time_t *in)
{
    DH_ENTER(localtime, in);
    DH_RETURN(broken_down(sc.t, in, REAL(localtime)(in)));
}

DH_INTERCEPTOR(struct tm *, gmtime, const time_t *in)
{
    DH_ENTER(gmtime, in);
    DH_RETURN(broken_down(sc.t, in, REAL(gmtime)(in)));
}

DH_INTERCEPTOR(time_t, mktime, struct tm *parts)
{
    DH_ENTER(mktime, parts);
    DH_TOUCH_OUT(sc.t, parts); /* normalised in place */
    DH_RETURN(REAL(mktime)(parts));
}

DH_INTERCEPTOR(char *, asctime_r, const struct tm *parts, char *buf)
{
    DH_ENTER(asctime_r, parts, buf);
    DH_TOUCH_IN(sc.t, parts);
    MAKES_TEXT(REAL(asctime_r)(parts, buf));
}

DH_INTERCEPTOR(char *, ctime_r, const time_t *in, char *buf)
{
    DH_ENTER(ctime_r, in, buf);
    DH_TOUCH_IN(sc.t, in);
    MAKES_TEXT(REAL(ctime_r)(in, buf));
}

DH_INTERCEPTOR(char *, ctime, const time_t *in)
{
    DH_ENTER(ctime, in);
    DH_TOUCH_IN(sc.t, in);
    MAKES_TEXT(REAL(ctime)(in));
}

DH_INTERCEPTOR(size_t, strftime, char *buf, size_t n, const char *format, const struct tm *parts)
{
    DH_ENTER(strftime, buf, n, format, parts);
    DH_TOUCH_IN(sc.t, parts);
    size_t r = REAL(strftime)(buf, n, format, parts);
    dh_touch_write(sc.t, buf, r != 0 ? r + 1 : 0);
    DH_RETURN(r);
}

/* ---- Files ------------------------------------------------------------------------------------- */

DH_INTERCEPTOR(int, stat, const char *path, struct stat *out)
{
    FILLS(out, stat, path, out);
}

DH_INTERCEPTOR(int, stat64, const char *path, struct stat64 *out)
{
    FILLS(out, stat64, path, out);
}

DH_INTERCEPTOR(int, lstat, const char *path, struct stat *out)
{
    FILLS(out, lstat, path, out);
}

DH_INTERCEPTOR(int, lstat64, const char *path, struct stat64 *out)
{
    FILLS(out, lstat64, path, out);
}

DH_INTERCEPTOR(int, fstat, int fd, struct stat *out)
{
    FILLS(out, fstat, fd, out);
}

DH_INTERCEPTOR(int, fstat64, int fd, struct stat64 *out)
{
    FILLS(out, fstat64, fd, out);
}

DH_INTERCEPTOR(int, fstatat, int dir, const char *path, struct stat *out, int flags)
{
    FILLS(out, fstatat, dir, path, out, flags);
}

DH_INTERCEPTOR(int, fstatat64, int dir, const char *path, struct stat64 *out, int flags)
{
    FILLS(out, fstatat64, dir, path, out, flags);
}

/* The two that may allocate do it with the runtime left, so that the block is seen. */

DH_INTERCEPTOR(char *, getcwd, char *buf, size_t n)
{
    DH_ENTER(getcwd, buf, n);
    MAKES_TEXT(DH_BLOCKING(REAL(getcwd)(buf, n)));
}

DH_INTERCEPTOR(char *, realpath, const char *path, char *buf)
{
    DH_ENTER(realpath, path, buf);
    MAKES_TEXT(DH_BLOCKING(REAL(realpath)(path, buf)));
}

/* -D_FORTIFY_SOURCE's. */

DH_INTERCEPTOR(char *, __getcwd_chk, char *buf, size_t n, size_t room)
{
    DH_ENTER(__getcwd_chk, buf, n, room);
    MAKES_TEXT(DH_BLOCKING(REAL(__getcwd_chk)(buf, n, room)));
}

DH_INTERCEPTOR(char *, __realpath_chk, const char *path, char *buf, size_t room)
{
    DH_ENTER(__realpath_chk, path, buf, room);
    MAKES_TEXT(DH_BLOCKING(REAL(__realpath_chk)(path, buf, room)));
}

DH_INTERCEPTOR(ssize_t, __readlink_chk, const char *path, char *buf, size_t n, size_t room)
{
    DH_ENTER(__readlink_chk, path, buf, n, room);
    ssize_t r = REAL(__readlink_chk)(path, buf, n, room);
    dh_touch_write(sc.t, buf, r > 0 ? (size_t)r : 0);
    DH_RETURN(r);
}

DH_INTERCEPTOR(ssize_t, __readlinkat_chk, int dir, const char *path, char *buf, size_t n, size_t room)
{
    DH_ENTER(__readlinkat_chk, dir, path, buf, n, room);
    ssize_t r = REAL(__readlinkat_chk)(dir, path, buf, n, room);
    dh_touch_write(sc.t, buf, r > 0 ? (size_t)r : 0);
    DH_RETURN(r);
}

DH_INTERCEPTOR(int, __gethostname_chk, char *buf, size_t n, size_t room)
{
    DH_ENTER(__gethostname_chk, buf, n, room);
    int r = REAL(__gethostname_chk)(buf, n, room);
    if (r == 0)
        wrote_string(sc.t, buf);
    DH_RETURN(r);
}

DH_INTERCEPTOR(ssize_t, readlink, const char *path, char *buf, size_t n)
{
    DH_ENTER(readlink, path, buf, n);
    ssize_t r = REAL(readlink)(path, buf, n);
    dh_touch_write(sc.t, buf, r > 0 ? (size_t)r : 0);
    DH_RETURN(r);
}

DH_INTERCEPTOR(ssize_t, readlinkat, int dir, const char *path, char *buf, size_t n)
{
    DH_ENTER(readlinkat, dir, path, buf, n);
    ssize_t r = REAL(readlinkat)(dir, path, buf, n);
    dh_touch_write(sc.t, buf, r > 0 ? (size_t)r : 0);
    DH_RETURN(r);
}

/* The entry lies in the directory's own buffer until the next call. */
DH_INTERCEPTOR(struct dirent *, readdir, DIR *dir)
{
    DH_ENTER(readdir, dir);
    struct dirent *d = REAL(readdir)(dir);
    dh_touch_out(sc.t, d, d != NULL ? d->d_reclen : 0);
    DH_RETURN(d);
}

DH_INTERCEPTOR(struct dirent64 *, readdir64, DIR *dir)
{
    DH_ENTER(readdir64, dir);
    struct dirent64 *d = REAL(readdir64)(dir);
    dh_touch_out(sc.t, d, d != NULL ? d->d_reclen : 0);
    DH_RETURN(d);
}

/* ---- System ------------------------------------------------------------------------------------ */

DH_INTERCEPTOR(int, uname, struct utsname *out)
{
    FILLS(out, uname, out);
}

DH_INTERCEPTOR(int, gethostname, char *buf, size_t n)
{
    DH_ENTER(gethostname, buf, n);
    int r = REAL(gethostname)(buf, n);
    if (r == 0)
        wrote_string(sc.t, buf);
    DH_RETURN(r);
}

DH_INTERCEPTOR(int, getrlimit, __rlimit_resource_t what, struct rlimit *out)
{
    FILLS(out, getrlimit, what, out);
}

DH_INTERCEPTOR(int, getrlimit64, __rlimit_resource_t what, struct rlimit64 *out)
{
    FILLS(out, getrlimit64, what, out);
}

DH_INTERCEPTOR(int, getrusage, __rusage_who_t who, struct rusage *out)
{
    FILLS(out, getrusage, who, out);
}

DH_INTERCEPTOR(ssize_t, getrandom, void *buf, size_t n, unsigned flags)
{
    DH_ENTER(getrandom, buf, n, flags);
    ssize_t r = DH_BLOCKING(REAL(getrandom)(buf, n, flags));
    dh_touch_write(sc.t, buf, r > 0 ? (size_t)r : 0);
    DH_RETURN(r);
}

DH_INTERCEPTOR(int, rand_r, unsigned *seed)
{
    DH_ENTER(rand_r, seed);
    DH_TOUCH_OUT(sc.t, seed);
    DH_RETURN(REAL(rand_r)(seed));
}

DH_INTERCEPTOR(pid_t, wait, int *status)
{
    DH_ENTER(wait, status);
    pid_t r = DH_BLOCKING(REAL(wait)(status));
    if (r > 0)
        DH_TOUCH_OUT(sc.t, status);
    DH_RETURN(r);
}

DH_INTERCEPTOR(pid_t, waitpid, pid_t pid, int *status, int options)
{
    DH_ENTER(waitpid, pid, status, options);
    pid_t r = DH_BLOCKING(REAL(waitpid)(pid, status, options));
    if (r > 0)
        DH_TOUCH_OUT(sc.t, status);
    DH_RETURN(r);
}

/* ---- Names and addresses ------------------------------------------------------------------------ */

DH_INTERCEPTOR(const char *, inet_ntop, int family, const void *in, char *buf, socklen_t n)
{
    DH_ENTER(inet_ntop, family, in, buf, n);
    dh_touch_read(sc.t, in, family == AF_INET ? sizeof(struct in_addr) : sizeof(struct in6_addr));
    const char *r = REAL(inet_ntop)(family, in, buf, n);
    wrote_string(sc.t, r);
    DH_RETURN(r);
}

DH_INTERCEPTOR(int, inet_pton, int family, const char *text, void *out)
{
    DH_ENTER(inet_pton, family, text, out);
    int r = REAL(inet_pton)(family, text, out);
    if (r == 1)
        dh_touch_write(sc.t, out, family == AF_INET ? sizeof(struct in_addr) : sizeof(struct in6_addr));
    DH_RETURN(r);
}

/* The list is allocated inside; its nodes lose their old history there, and are written here. */
DH_INTERCEPTOR(int, getaddrinfo, const char *node, const char *service, const struct addrinfo *hints,
               struct addrinfo **out)
{
    DH_ENTER(getaddrinfo, node, service, hints, out);
    int r = DH_BLOCKING(REAL(getaddrinfo)(node, service, hints, out));
    if (r == 0) {
        DH_TOUCH_OUT(sc.t, out);
        for (const struct addrinfo *a = *out; a != NULL; a = a->ai_next) {
            DH_TOUCH_OUT(sc.t, a);
            dh_touch_out(sc.t, a->ai_addr, a->ai_addrlen);
        }
    }
    DH_RETURN(r);
}

/* ---- Sorting ----------------------------------------------------------------------------------- */

/* libc moves the elements unseen: the whole array counts as written. The comparison is the program's own
 * code, so the runtime is left while it runs; our frame stays, and the callback's stack shows the caller. */

DH_INTERCEPTOR(void, qsort, void *base, size_t n, size_t size, __compar_fn_t compare)
{
    DH_ENTER(qsort, base, n, size, compare);
    dh_touch_write(sc.t, base, n > 1 ? n * size : 0);
    dh_scope_block(&sc);
    REAL(qsort)(base, n, size, compare);
    dh_scope_unblock(&sc);
    DH_RETURN_VOID;
}

DH_INTERCEPTOR(void, qsort_r, void *base, size_t n, size_t size, __compar_d_fn_t compare, void *arg)
{
    DH_ENTER(qsort_r, base, n, size, compare, arg);
    dh_touch_write(sc.t, base, n > 1 ? n * size : 0);
    dh_scope_block(&sc);
    REAL(qsort_r)(base, n, size, compare, arg);
    dh_scope_unblock(&sc);
    DH_RETURN_VOID;
}
