/*
 * streams.c - stdio streams, for track.h: a call locks its stream, so it is ordered after what other threads
 * did before their calls.
 *
 * A call may also flush another stream, or transfer data between threads through descriptors, so all streams
 * are one object with all descriptors. Functions that do not lock are here for the latter reason.
 *
 * <stdio.h> is not included: it has other names for some of these functions, and macros for others.
 */
#include <features.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/types.h>

#include "field/intercept.h"

typedef struct _IO_FILE FILE;
typedef unsigned wint;

/* A cancelled call has had the lock, too. */
static void acquire_files(const char *const *files)
{
    if (dh_field_tracks())
        dh_field_track_acquire(*files);
}

#define ACQUIRES(ret, name, params, args)                                            \
    INTERCEPTOR(ret, name, params)                                                   \
    {                                                                                \
        const char *files __attribute__((cleanup(acquire_files))) = &dh_field_files; \
        return real_##name args;                                                     \
    }
#define RELEASES(ret, name, params, args)            \
    INTERCEPTOR(ret, name, params)                   \
    {                                                \
        if (dh_field_tracks())                       \
            dh_field_track_release(&dh_field_files); \
        return real_##name args;                     \
    }
#define USES(ret, name, params, args)                                                \
    INTERCEPTOR(ret, name, params)                                                   \
    {                                                                                \
        if (dh_field_tracks())                                                       \
            dh_field_track_release(&dh_field_files);                                 \
        const char *files __attribute__((cleanup(acquire_files))) = &dh_field_files; \
        return real_##name args;                                                     \
    }

/* ---- The lock ---- */

ACQUIRES(void, flockfile, (FILE * f), (f))
ACQUIRES(int, ftrylockfile, (FILE * f), (f))
RELEASES(void, funlockfile, (FILE * f), (f))

/* ---- Bytes ---- */

USES(int, getc, (FILE * f), (f))
USES(int, fgetc, (FILE * f), (f))
USES(int, getchar, (void), ())
USES(int, getw, (FILE * f), (f))
USES(int, ungetc, (int c, FILE *f), (c, f))
USES(int, putc, (int c, FILE *f), (c, f))
USES(int, fputc, (int c, FILE *f), (c, f))
USES(int, putchar, (int c), (c))
USES(int, putw, (int word, FILE *f), (word, f))
USES(int, puts, (const char *text), (text))
USES(int, fputs, (const char *text, FILE *f), (text, f))
USES(char *, fgets, (char *p, int n, FILE *f), (p, n, f))
USES(char *, __fgets_chk, (char *p, size_t room, int n, FILE *f), (p, room, n, f))
USES(char *, gets, (char *p), (p))
USES(char *, __gets_chk, (char *p, size_t room), (p, room))
USES(ssize_t, getline, (char **line, size_t *n, FILE *f), (line, n, f))
USES(ssize_t, getdelim, (char **line, size_t *n, int end, FILE *f), (line, n, end, f))
USES(ssize_t, __getdelim, (char **line, size_t *n, int end, FILE *f), (line, n, end, f))
USES(size_t, fread, (void *p, size_t size, size_t n, FILE *f), (p, size, n, f))
USES(size_t, __fread_chk, (void *p, size_t room, size_t size, size_t n, FILE *f), (p, room, size, n, f))
USES(size_t, fwrite, (const void *p, size_t size, size_t n, FILE *f), (p, size, n, f))

USES(int, getc_unlocked, (FILE * f), (f))
USES(int, fgetc_unlocked, (FILE * f), (f))
USES(int, getchar_unlocked, (void), ())
USES(int, putc_unlocked, (int c, FILE *f), (c, f))
USES(int, fputc_unlocked, (int c, FILE *f), (c, f))
USES(int, putchar_unlocked, (int c), (c))
USES(int, __uflow, (FILE * f), (f))
USES(int, __overflow, (FILE * f, int c), (f, c))
USES(int, fputs_unlocked, (const char *text, FILE *f), (text, f))
USES(char *, fgets_unlocked, (char *p, int n, FILE *f), (p, n, f))
USES(char *, __fgets_unlocked_chk, (char *p, size_t room, int n, FILE *f), (p, room, n, f))
USES(size_t, fread_unlocked, (void *p, size_t size, size_t n, FILE *f), (p, size, n, f))
USES(size_t, __fread_unlocked_chk, (void *p, size_t room, size_t size, size_t n, FILE *f),
     (p, room, size, n, f))
USES(size_t, fwrite_unlocked, (const void *p, size_t size, size_t n, FILE *f), (p, size, n, f))

/* ---- Wide characters ---- */

USES(wint, getwc, (FILE * f), (f))
USES(wint, fgetwc, (FILE * f), (f))
USES(wint, getwchar, (void), ())
USES(wint, ungetwc, (wint c, FILE *f), (c, f))
USES(wint, putwc, (wchar_t c, FILE *f), (c, f))
USES(wint, fputwc, (wchar_t c, FILE *f), (c, f))
USES(wint, putwchar, (wchar_t c), (c))
USES(int, fputws, (const wchar_t *text, FILE *f), (text, f))
USES(wchar_t *, fgetws, (wchar_t * p, int n, FILE *f), (p, n, f))
USES(wchar_t *, __fgetws_chk, (wchar_t * p, size_t room, int n, FILE *f), (p, room, n, f))

USES(wint, getwc_unlocked, (FILE * f), (f))
USES(wint, fgetwc_unlocked, (FILE * f), (f))
USES(wint, getwchar_unlocked, (void), ())
USES(wint, putwc_unlocked, (wchar_t c, FILE *f), (c, f))
USES(wint, fputwc_unlocked, (wchar_t c, FILE *f), (c, f))
USES(wint, putwchar_unlocked, (wchar_t c), (c))
USES(wint, __wuflow, (FILE * f), (f))
USES(wint, __woverflow, (FILE * f, wint c), (f, c))
USES(int, fputws_unlocked, (const wchar_t *text, FILE *f), (text, f))
USES(wchar_t *, fgetws_unlocked, (wchar_t * p, int n, FILE *f), (p, n, f))
USES(wchar_t *, __fgetws_unlocked_chk, (wchar_t * p, size_t room, int n, FILE *f), (p, room, n, f))

/* ---- Formats ---- */

#define LIST(...) __VA_ARGS__

/* A function and its variant that takes a va_list: variable arguments cannot be passed on otherwise. */
#define FORMATS(name, vname, params, args)                           \
    USES(int, vname, (LIST params, va_list list), (LIST args, list)) \
    static int intercept_##name(LIST params, ...)                    \
    {                                                                \
        va_list list;                                                \
        va_start(list, format);                                      \
        int rc = intercept_##vname(LIST args, list);                 \
        va_end(list);                                                \
        return rc;                                                   \
    }                                                                \
    DH_FIELD_REDIRECT(name, intercept_##name, vname, &real_##vname, 0)
FORMATS(printf, vprintf, (const char *format), (format))
FORMATS(fprintf, vfprintf, (FILE * f, const char *format), (f, format))
FORMATS(dprintf, vdprintf, (int fd, const char *format), (fd, format))
FORMATS(__printf_chk, __vprintf_chk, (int flag, const char *format), (flag, format))
FORMATS(__fprintf_chk, __vfprintf_chk, (FILE * f, int flag, const char *format), (f, flag, format))
FORMATS(__dprintf_chk, __vdprintf_chk, (int fd, int flag, const char *format), (fd, flag, format))
FORMATS(wprintf, vwprintf, (const wchar_t *format), (format))
FORMATS(fwprintf, vfwprintf, (FILE * f, const wchar_t *format), (f, format))
FORMATS(__wprintf_chk, __vwprintf_chk, (int flag, const wchar_t *format), (flag, format))
FORMATS(__fwprintf_chk, __vfwprintf_chk, (FILE * f, int flag, const wchar_t *format), (f, flag, format))

/* The variants for each language standard that a program may be compiled for. */
#define SCANS(prefix)                                                                     \
    FORMATS(prefix##scanf, prefix##vscanf, (const char *format), (format))                \
    FORMATS(prefix##fscanf, prefix##vfscanf, (FILE * f, const char *format), (f, format)) \
    FORMATS(prefix##wscanf, prefix##vwscanf, (const wchar_t *format), (format))           \
    FORMATS(prefix##fwscanf, prefix##vfwscanf, (FILE * f, const wchar_t *format), (f, format))
SCANS()
SCANS(__isoc99_)
#if __GLIBC_PREREQ(2, 38)
SCANS(__isoc23_)
#endif

/* ---- Messages ---- */

USES(void, perror, (const char *text), (text))
USES(void, psignal, (int number, const char *text), (number, text))
USES(void, psiginfo, (const siginfo_t *info, const char *text), (info, text))

/* Those that end the program do not return. */
#define WARNS(name, vname, params, args)                              \
    USES(void, vname, (LIST params, va_list list), (LIST args, list)) \
    static void intercept_##name(LIST params, ...)                    \
    {                                                                 \
        va_list list;                                                 \
        va_start(list, format);                                       \
        intercept_##vname(LIST args, list);                           \
        va_end(list);                                                 \
    }                                                                 \
    DH_FIELD_REDIRECT(name, intercept_##name, vname, &real_##vname, 0)
WARNS(warn, vwarn, (const char *format), (format))
WARNS(warnx, vwarnx, (const char *format), (format))
WARNS(err, verr, (int status, const char *format), (status, format))
WARNS(errx, verrx, (int status, const char *format), (status, format))

/* ---- Positions, buffers and states ---- */

USES(int, fflush, (FILE * f), (f))
USES(int, fflush_unlocked, (FILE * f), (f))
USES(void, _flushlbf, (void), ())
USES(int, fseek, (FILE * f, long by, int whence), (f, by, whence))
USES(int, fseeko, (FILE * f, off_t by, int whence), (f, by, whence))
USES(int, fseeko64, (FILE * f, off_t by, int whence), (f, by, whence))
USES(long, ftell, (FILE * f), (f))
USES(off_t, ftello, (FILE * f), (f))
USES(off_t, ftello64, (FILE * f), (f))
USES(void, rewind, (FILE * f), (f))
USES(int, fgetpos, (FILE * f, void *place), (f, place))
USES(int, fgetpos64, (FILE * f, void *place), (f, place))
USES(int, fsetpos, (FILE * f, const void *place), (f, place))
USES(int, fsetpos64, (FILE * f, const void *place), (f, place))
USES(void, clearerr, (FILE * f), (f))
USES(int, feof, (FILE * f), (f))
USES(int, ferror, (FILE * f), (f))
USES(int, fwide, (FILE * f, int mode), (f, mode))
USES(int, setvbuf, (FILE * f, char *buffer, int mode, size_t n), (f, buffer, mode, n))
USES(void, setbuf, (FILE * f, char *buffer), (f, buffer))
USES(void, setbuffer, (FILE * f, char *buffer, size_t n), (f, buffer, n))
USES(void, setlinebuf, (FILE * f), (f))

/* ---- Opening and closing ---- */

USES(FILE *, fopen, (const char *path, const char *mode), (path, mode))
USES(FILE *, fopen64, (const char *path, const char *mode), (path, mode))
USES(FILE *, fdopen, (int fd, const char *mode), (fd, mode))
USES(FILE *, freopen, (const char *path, const char *mode, FILE *f), (path, mode, f))
USES(FILE *, freopen64, (const char *path, const char *mode, FILE *f), (path, mode, f))
USES(FILE *, tmpfile, (void), ())
USES(FILE *, tmpfile64, (void), ())
USES(FILE *, popen, (const char *command, const char *mode), (command, mode))
USES(int, fclose, (FILE * f), (f))
USES(int, fcloseall, (void), ())
USES(int, pclose, (FILE * f), (f))
