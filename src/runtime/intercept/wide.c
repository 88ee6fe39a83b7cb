/*
 * intercept/wide.c - reading, scanning and printing of wide characters: what the functions of
 * intercept/stdio.c, intercept/format.c and intercept/scan.c do, for wchar_t.
 *
 * A format is walked as a narrow one would be: its directives are the same ASCII characters, and all others
 * stand for themselves. %s without l names narrow text here too. One that is too long is followed as far as
 * there is room.
 */
#define _GNU_SOURCE 1
#define __NO_INLINE__ 1 /* or libc's headers define functions that are defined here */
#include <features.h>
/* Or <wchar.h> gives the names below to the C99 variants, which are other functions here. */
#undef __GLIBC_USE_DEPRECATED_SCANF
#define __GLIBC_USE_DEPRECATED_SCANF 1
#include <stdio.h>
#include <wchar.h>

#include "runtime/intercept/format.h"
#include "runtime/intercept/stream.h"
#include "runtime/intercept/touch.h"
#include "runtime/intercept/variadic.h"
#include "runtime/threads/fd.h"

extern DH_HIDDEN size_t (*dh_real_wcslen)(const wchar_t *);

static size_t bytes_of(const wchar_t *s)
{
    DH_RESOLVE(wcslen);
    return (REAL(wcslen)(s) + 1) * sizeof *s;
}

struct narrow {
    char text[512];
};

static struct narrow narrowed(const wchar_t *format)
{
    struct narrow n;
    size_t i = 0;
    for (; format[i] != 0 && i + 1 < sizeof n.text; i++)
        n.text[i] = format[i] > 0 && format[i] < 128 ? (char)format[i] : 'x';
    n.text[i] = 0;
    return n;
}

/* ---- Lines and characters ------------------------------------------------------------------------ */

#define READ_LINE(name, ...)                                               \
    DH_ENTER(name, __VA_ARGS__);                                           \
    wchar_t *r = DH_STREAM_CALL(f, DH_STREAM_IN, REAL(name)(__VA_ARGS__)); \
    dh_fd_acquire(sc.t, fileno_unlocked(f));                               \
    if (r != NULL)                                                         \
        dh_touch_write(sc.t, buf, bytes_of(buf));                          \
    DH_RETURN(r)

DH_INTERCEPTOR(wchar_t *, fgetws, wchar_t *buf, int n, FILE *f)
{
    READ_LINE(fgetws, buf, n, f);
}

DH_INTERCEPTOR(wchar_t *, fgetws_unlocked, wchar_t *buf, int n, FILE *f)
{
    READ_LINE(fgetws_unlocked, buf, n, f);
}

DH_INTERCEPTOR(wchar_t *, __fgetws_chk, wchar_t *buf, size_t room, int n, FILE *f)
{
    READ_LINE(__fgetws_chk, buf, room, n, f);
}

#define WRITE_LINE(name)                     \
    DH_ENTER(name, s, f);                    \
    dh_touch_read(sc.t, s, bytes_of(s));     \
    dh_fd_release(sc.t, fileno_unlocked(f)); \
    DH_RETURN(DH_STREAM_CALL(f, DH_STREAM_OUT, REAL(name)(s, f)))

DH_INTERCEPTOR(int, fputws, const wchar_t *s, FILE *f)
{
    WRITE_LINE(fputws);
}

DH_INTERCEPTOR(int, fputws_unlocked, const wchar_t *s, FILE *f)
{
    WRITE_LINE(fputws_unlocked);
}

#define READ_CHARACTER(name, f, ...)                                     \
    DH_ENTER(name, __VA_ARGS__);                                         \
    wint_t r = DH_STREAM_CALL(f, DH_STREAM_IN, REAL(name)(__VA_ARGS__)); \
    dh_fd_acquire(sc.t, fileno_unlocked(f));                             \
    DH_RETURN(r)

#define WRITE_CHARACTER(name, f, ...)        \
    DH_ENTER(name, __VA_ARGS__);             \
    dh_fd_release(sc.t, fileno_unlocked(f)); \
    DH_RETURN(DH_STREAM_CALL(f, DH_STREAM_OUT, REAL(name)(__VA_ARGS__)))

DH_INTERCEPTOR(wint_t, fgetwc, FILE *f)
{
    READ_CHARACTER(fgetwc, f, f);
}

DH_INTERCEPTOR(wint_t, getwc, FILE *f)
{
    READ_CHARACTER(getwc, f, f);
}

DH_INTERCEPTOR(wint_t, getwchar, void)
{
    READ_CHARACTER(getwchar, stdin);
}

DH_INTERCEPTOR(wint_t, fputwc, wchar_t c, FILE *f)
{
    WRITE_CHARACTER(fputwc, f, c, f);
}

DH_INTERCEPTOR(wint_t, putwc, wchar_t c, FILE *f)
{
    WRITE_CHARACTER(putwc, f, c, f);
}

DH_INTERCEPTOR(wint_t, putwchar, wchar_t c)
{
    WRITE_CHARACTER(putwchar, stdout, c);
}

/* ---- scanf ------------------------------------------------------------------------------------------ */

#define SCAN(old, real, source, before, call, after) \
    struct dh_scan args;                             \
    DH_ENTER_AT(pc, real, source, format, ap);       \
    struct narrow n = narrowed(format);              \
    before;                                          \
    dh_scan_fetch(n.text, ap, old, &args);           \
    int r = call;                                    \
    after;                                           \
    dh_scan_store(sc.t, n.text, old, &args, r);      \
    DH_RETURN(r)

#define SCAN_STREAM(old, real)                                                       \
    SCAN(old, real, f, , DH_STREAM_CALL(f, DH_STREAM_IN, REAL(real)(f, format, ap)), \
         dh_fd_acquire(sc.t, fileno_unlocked(f)))

#define SCAN_STRING(old, real) \
    SCAN(old, real, s, dh_touch_read(sc.t, s, bytes_of(s)), DH_BLOCKING(REAL(real)(s, format, ap)), )

static int from_stream_old(const void *pc, FILE *f, const wchar_t *format, va_list ap);
static int from_stream(const void *pc, FILE *f, const wchar_t *format, va_list ap);
static int from_string_old(const void *pc, const wchar_t *s, const wchar_t *format, va_list ap);
static int from_string(const void *pc, const wchar_t *s, const wchar_t *format, va_list ap);

DH_INTERCEPTOR(int, vfwscanf, FILE *f, const wchar_t *format, va_list ap)
{
    return from_stream_old(DH_CALLER, f, format, ap);
}

static int from_stream_old(const void *pc, FILE *f, const wchar_t *format, va_list ap)
{
    SCAN_STREAM(true, vfwscanf);
}

DH_INTERCEPTOR(int, __isoc99_vfwscanf, FILE *f, const wchar_t *format, va_list ap)
{
    return from_stream(DH_CALLER, f, format, ap);
}

static int from_stream(const void *pc, FILE *f, const wchar_t *format, va_list ap)
{
    SCAN_STREAM(false, __isoc99_vfwscanf);
}

DH_INTERCEPTOR(int, vswscanf, const wchar_t *s, const wchar_t *format, va_list ap)
{
    return from_string_old(DH_CALLER, s, format, ap);
}

static int from_string_old(const void *pc, const wchar_t *s, const wchar_t *format, va_list ap)
{
    SCAN_STRING(true, vswscanf);
}

DH_INTERCEPTOR(int, __isoc99_vswscanf, const wchar_t *s, const wchar_t *format, va_list ap)
{
    return from_string(DH_CALLER, s, format, ap);
}

static int from_string(const void *pc, const wchar_t *s, const wchar_t *format, va_list ap)
{
    SCAN_STRING(false, __isoc99_vswscanf);
}

DH_INTERCEPTOR(int, vwscanf, const wchar_t *format, va_list ap)
{
    return from_stream_old(DH_CALLER, stdin, format, ap);
}

DH_INTERCEPTOR(int, __isoc99_vwscanf, const wchar_t *format, va_list ap)
{
    return from_stream(DH_CALLER, stdin, format, ap);
}

DH_INTERCEPTOR(int, fwscanf, FILE *f, const wchar_t *format, ...)
{
    DH_WITH_ARGUMENTS(format, from_stream_old(DH_CALLER, f, format, ap));
}

DH_INTERCEPTOR(int, __isoc99_fwscanf, FILE *f, const wchar_t *format, ...)
{
    DH_WITH_ARGUMENTS(format, from_stream(DH_CALLER, f, format, ap));
}

DH_INTERCEPTOR(int, wscanf, const wchar_t *format, ...)
{
    DH_WITH_ARGUMENTS(format, from_stream_old(DH_CALLER, stdin, format, ap));
}

DH_INTERCEPTOR(int, __isoc99_wscanf, const wchar_t *format, ...)
{
    DH_WITH_ARGUMENTS(format, from_stream(DH_CALLER, stdin, format, ap));
}

DH_INTERCEPTOR(int, swscanf, const wchar_t *s, const wchar_t *format, ...)
{
    DH_WITH_ARGUMENTS(format, from_string_old(DH_CALLER, s, format, ap));
}

DH_INTERCEPTOR(int, __isoc99_swscanf, const wchar_t *s, const wchar_t *format, ...)
{
    DH_WITH_ARGUMENTS(format, from_string(DH_CALLER, s, format, ap));
}

/* ---- printf ----------------------------------------------------------------------------------------- */

static int to_stream(const void *pc, FILE *f, const wchar_t *format, va_list ap);

DH_INTERCEPTOR(int, vfwprintf, FILE *f, const wchar_t *format, va_list ap)
{
    return to_stream(DH_CALLER, f, format, ap);
}

static int to_stream(const void *pc, FILE *f, const wchar_t *format, va_list ap)
{
    DH_ENTER_AT(pc, vfwprintf, f, format, ap);
    struct narrow n = narrowed(format);
    dh_format_read(sc.t, n.text, ap);
    dh_fd_release(sc.t, fileno_unlocked(f));
    DH_RETURN(DH_STREAM_CALL(f, DH_STREAM_OUT, REAL(vfwprintf)(f, format, ap)));
}

DH_INTERCEPTOR(int, vwprintf, const wchar_t *format, va_list ap)
{
    return to_stream(DH_CALLER, stdout, format, ap);
}

DH_INTERCEPTOR(int, fwprintf, FILE *f, const wchar_t *format, ...)
{
    DH_WITH_ARGUMENTS(format, to_stream(DH_CALLER, f, format, ap));
}

DH_INTERCEPTOR(int, wprintf, const wchar_t *format, ...)
{
    DH_WITH_ARGUMENTS(format, to_stream(DH_CALLER, stdout, format, ap));
}

/* Unlike snprintf it says nothing of what did not fit: then it may have filled all of the room. */
static int to_room(const void *pc, wchar_t *buf, size_t n, const wchar_t *format, va_list ap);

DH_INTERCEPTOR(int, vswprintf, wchar_t *buf, size_t n, const wchar_t *format, va_list ap)
{
    return to_room(DH_CALLER, buf, n, format, ap);
}

static int to_room(const void *pc, wchar_t *buf, size_t n, const wchar_t *format, va_list ap)
{
    DH_ENTER_AT(pc, vswprintf, buf, n, format, ap);
    struct narrow walk = narrowed(format);
    dh_format_read(sc.t, walk.text, ap);
    int r = REAL(vswprintf)(buf, n, format, ap);
    dh_touch_write(sc.t, buf, (r >= 0 ? (size_t)r + 1 : n) * sizeof *buf);
    DH_RETURN(r);
}

DH_INTERCEPTOR(int, swprintf, wchar_t *buf, size_t n, const wchar_t *format, ...)
{
    DH_WITH_ARGUMENTS(format, to_room(DH_CALLER, buf, n, format, ap));
}

/* What -D_FORTIFY_SOURCE calls. */

static int to_stream_chk(const void *pc, FILE *f, int flag, const wchar_t *format, va_list ap);

DH_INTERCEPTOR(int, __vfwprintf_chk, FILE *f, int flag, const wchar_t *format, va_list ap)
{
    return to_stream_chk(DH_CALLER, f, flag, format, ap);
}

static int to_stream_chk(const void *pc, FILE *f, int flag, const wchar_t *format, va_list ap)
{
    DH_ENTER_AT(pc, __vfwprintf_chk, f, flag, format, ap);
    struct narrow n = narrowed(format);
    dh_format_read(sc.t, n.text, ap);
    dh_fd_release(sc.t, fileno_unlocked(f));
    DH_RETURN(DH_STREAM_CALL(f, DH_STREAM_OUT, REAL(__vfwprintf_chk)(f, flag, format, ap)));
}

DH_INTERCEPTOR(int, __vwprintf_chk, int flag, const wchar_t *format, va_list ap)
{
    return to_stream_chk(DH_CALLER, stdout, flag, format, ap);
}

DH_INTERCEPTOR(int, __fwprintf_chk, FILE *f, int flag, const wchar_t *format, ...)
{
    DH_WITH_ARGUMENTS(format, to_stream_chk(DH_CALLER, f, flag, format, ap));
}

DH_INTERCEPTOR(int, __wprintf_chk, int flag, const wchar_t *format, ...)
{
    DH_WITH_ARGUMENTS(format, to_stream_chk(DH_CALLER, stdout, flag, format, ap));
}

static int to_room_chk(const void *pc, wchar_t *buf, size_t n, int flag, size_t room, const wchar_t *format,
                       va_list ap);

DH_INTERCEPTOR(int, __vswprintf_chk, wchar_t *buf, size_t n, int flag, size_t room, const wchar_t *format,
               va_list ap)
{
    return to_room_chk(DH_CALLER, buf, n, flag, room, format, ap);
}

static int to_room_chk(const void *pc, wchar_t *buf, size_t n, int flag, size_t room, const wchar_t *format,
                       va_list ap)
{
    DH_ENTER_AT(pc, __vswprintf_chk, buf, n, flag, room, format, ap);
    struct narrow walk = narrowed(format);
    dh_format_read(sc.t, walk.text, ap);
    int r = REAL(__vswprintf_chk)(buf, n, flag, room, format, ap);
    dh_touch_write(sc.t, buf, (r >= 0 ? (size_t)r + 1 : n) * sizeof *buf);
    DH_RETURN(r);
}

DH_INTERCEPTOR(int, __swprintf_chk, wchar_t *buf, size_t n, int flag, size_t room, const wchar_t *format, ...)
{
    DH_WITH_ARGUMENTS(format, to_room_chk(DH_CALLER, buf, n, flag, room, format, ap));
}
