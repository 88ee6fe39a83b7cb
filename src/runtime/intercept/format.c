/*
 * intercept/format.c - printf in all its forms: the strings it reads, the buffer it fills.
 *
 * The format says which arguments are strings. It is walked once before the real call (dh_format_read): %s
 * reads its argument, %n writes to it, everything else is stepped over with its right type, and anything
 * not understood (%m$ positions, extensions) ends the walk: the rest then goes unseen rather than misread.
 * scanf is in intercept/scan.c, wide functions in intercept/wide.c.
 */
#define _GNU_SOURCE 1
#define __NO_INLINE__ 1 /* or libc's headers define functions that are defined here */
#include <stdio.h>
#include <wchar.h>

#include "runtime/intercept/format.h"
#include "runtime/intercept/stream.h"
#include "runtime/intercept/touch.h"
#include "runtime/intercept/variadic.h"
#include "runtime/threads/fd.h"

extern DH_HIDDEN size_t (*dh_real_strlen)(const char *);
extern DH_HIDDEN size_t (*dh_real_strnlen)(const char *, size_t);
extern DH_HIDDEN size_t (*dh_real_wcslen)(const wchar_t *);

/* ---- The walk ---------------------------------------------------------------------------------- */

/* One conversion. size: of the integer it takes, in bytes; precision -1: none given. */
struct conversion {
    int precision;
    unsigned size;
    bool long_double;
    char letter; /* 0: the format ended */
};

static int parse_number(const char **f, va_list *ap)
{
    if (**f == '*') {
        (*f)++;
        return va_arg(*ap, int);
    }
    int n = 0;
    for (; **f >= '0' && **f <= '9'; (*f)++)
        n = n < 1 << 24 ? n * 10 + (**f - '0') : n;
    return n;
}

/* f: behind the %. Leaves *f behind the conversion letter. */
static struct conversion parse(const char **f, va_list *ap)
{
    struct conversion c = {.precision = -1, .size = sizeof(int)};
    while (**f == '-' || **f == '+' || **f == ' ' || **f == '#' || **f == '0' || **f == '\'')
        (*f)++;
    parse_number(f, ap);
    if (**f == '.') {
        (*f)++;
        c.precision = parse_number(f, ap);
    }
    for (;; (*f)++) {
        switch (**f) {
        case 'h':
            c.size = c.size == sizeof(short) ? sizeof(char) : sizeof(short);
            continue;
        case 'l':
        case 'j':
        case 'z':
        case 't':
        case 'q':
            c.size = sizeof(long);
            continue;
        case 'L':
            c.size = sizeof(long);
            c.long_double = true;
            continue;
        default:
            break;
        }
        break;
    }
    c.letter = **f;
    if (c.letter != 0)
        (*f)++;
    return c;
}

static void read_text(struct dh_thread *t, const char *s, int precision)
{
    if (s == NULL)
        return; /* printed as (null) */
    DH_RESOLVE(strlen);
    DH_RESOLVE(strnlen);
    if (precision < 0) {
        dh_touch_read(t, s, REAL(strlen)(s) + 1);
    } else {
        size_t max = (size_t)precision, n = REAL(strnlen)(s, max);
        dh_touch_read(t, s, n < max ? n + 1 : max);
    }
}

/* A precision says how many bytes come out, not how many characters go in: then it is not known. */
static void read_wide_text(struct dh_thread *t, const wchar_t *s, int precision)
{
    DH_RESOLVE(wcslen);
    if (s != NULL && precision < 0)
        dh_touch_read(t, s, (REAL(wcslen)(s) + 1) * sizeof *s);
}

/* Step over one argument. False: not understood. */
static bool touch_argument(struct dh_thread *t, const struct conversion *c, va_list *ap)
{
    switch (c->letter) {
    case '%':
    case 'm':
        return true;
    case 'd':
    case 'i':
    case 'u':
    case 'x':
    case 'X':
    case 'o':
    case 'c':
    case 'C':
        if (c->size == sizeof(long))
            (void)va_arg(*ap, long);
        else
            (void)va_arg(*ap, int);
        return true;
    case 'p':
        (void)va_arg(*ap, void *);
        return true;
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
    case 'a':
    case 'A':
        if (c->long_double)
            (void)va_arg(*ap, long double);
        else
            (void)va_arg(*ap, double);
        return true;
    case 's':
        if (c->size == sizeof(long))
            read_wide_text(t, va_arg(*ap, const wchar_t *), c->precision);
        else
            read_text(t, va_arg(*ap, const char *), c->precision);
        return true;
    case 'S':
        read_wide_text(t, va_arg(*ap, const wchar_t *), c->precision);
        return true;
    case 'n':
        dh_touch_write(t, va_arg(*ap, void *), c->size);
        return true;
    default:
        return false;
    }
}

void dh_format_read(struct dh_thread *t, const char *format, va_list args)
{
    va_list ap;
    va_copy(ap, args);
    for (const char *f = format; *f != 0;) {
        if (*f++ != '%')
            continue;
        struct conversion c = parse(&f, &ap);
        if (!touch_argument(t, &c, &ap))
            break;
    }
    va_end(ap);
}

/* ---- To a buffer ------------------------------------------------------------------------------- */

/* r: the length of the whole text, of which at most room bytes with the NUL went to the buffer. */
static int filled(struct dh_thread *t, char *buf, size_t room, int r)
{
    if (r >= 0 && room != 0)
        dh_touch_write(t, buf, (size_t)r < room ? (size_t)r + 1 : room);
    return r;
}

static int to_room(const void *pc, char *buf, size_t n, const char *format, va_list ap);

DH_INTERCEPTOR(int, vsnprintf, char *buf, size_t n, const char *format, va_list ap)
{
    return to_room(DH_CALLER, buf, n, format, ap);
}

static int to_room(const void *pc, char *buf, size_t n, const char *format, va_list ap)
{
    DH_ENTER_AT(pc, vsnprintf, buf, n, format, ap);
    dh_format_read(sc.t, format, ap);
    DH_RETURN(filled(sc.t, buf, n, REAL(vsnprintf)(buf, n, format, ap)));
}

DH_INTERCEPTOR(int, snprintf, char *buf, size_t n, const char *format, ...)
{
    DH_WITH_ARGUMENTS(format, to_room(DH_CALLER, buf, n, format, ap));
}

static int to_buffer(const void *pc, char *buf, const char *format, va_list ap);

DH_INTERCEPTOR(int, vsprintf, char *buf, const char *format, va_list ap)
{
    return to_buffer(DH_CALLER, buf, format, ap);
}

static int to_buffer(const void *pc, char *buf, const char *format, va_list ap)
{
    DH_ENTER_AT(pc, vsprintf, buf, format, ap);
    dh_format_read(sc.t, format, ap);
    DH_RETURN(filled(sc.t, buf, SIZE_MAX, REAL(vsprintf)(buf, format, ap)));
}

DH_INTERCEPTOR(int, sprintf, char *buf, const char *format, ...)
{
    DH_WITH_ARGUMENTS(format, to_buffer(DH_CALLER, buf, format, ap));
}

static int to_room_chk(const void *pc, char *buf, size_t n, int flag, size_t room, const char *format,
                       va_list ap);

DH_INTERCEPTOR(int, __vsnprintf_chk, char *buf, size_t n, int flag, size_t room, const char *format,
               va_list ap)
{
    return to_room_chk(DH_CALLER, buf, n, flag, room, format, ap);
}

static int to_room_chk(const void *pc, char *buf, size_t n, int flag, size_t room, const char *format,
                       va_list ap)
{
    DH_ENTER_AT(pc, __vsnprintf_chk, buf, n, flag, room, format, ap);
    dh_format_read(sc.t, format, ap);
    DH_RETURN(filled(sc.t, buf, n, REAL(__vsnprintf_chk)(buf, n, flag, room, format, ap)));
}

DH_INTERCEPTOR(int, __snprintf_chk, char *buf, size_t n, int flag, size_t room, const char *format, ...)
{
    DH_WITH_ARGUMENTS(format, to_room_chk(DH_CALLER, buf, n, flag, room, format, ap));
}

static int to_buffer_chk(const void *pc, char *buf, int flag, size_t room, const char *format, va_list ap);

DH_INTERCEPTOR(int, __vsprintf_chk, char *buf, int flag, size_t room, const char *format, va_list ap)
{
    return to_buffer_chk(DH_CALLER, buf, flag, room, format, ap);
}

static int to_buffer_chk(const void *pc, char *buf, int flag, size_t room, const char *format, va_list ap)
{
    DH_ENTER_AT(pc, __vsprintf_chk, buf, flag, room, format, ap);
    dh_format_read(sc.t, format, ap);
    DH_RETURN(filled(sc.t, buf, SIZE_MAX, REAL(__vsprintf_chk)(buf, flag, room, format, ap)));
}

DH_INTERCEPTOR(int, __sprintf_chk, char *buf, int flag, size_t room, const char *format, ...)
{
    DH_WITH_ARGUMENTS(format, to_buffer_chk(DH_CALLER, buf, flag, room, format, ap));
}

/* libc allocates through our malloc, with the runtime left, so that the block is seen. */
static int made(struct dh_thread *t, char **ret_text, int r)
{
    if (r >= 0) {
        DH_TOUCH_OUT(t, ret_text);
        dh_touch_write(t, *ret_text, (size_t)r + 1);
    }
    return r;
}

static int to_block(const void *pc, char **ret_text, const char *format, va_list ap);

DH_INTERCEPTOR(int, vasprintf, char **ret_text, const char *format, va_list ap)
{
    return to_block(DH_CALLER, ret_text, format, ap);
}

static int to_block(const void *pc, char **ret_text, const char *format, va_list ap)
{
    DH_ENTER_AT(pc, vasprintf, ret_text, format, ap);
    dh_format_read(sc.t, format, ap);
    DH_RETURN(made(sc.t, ret_text, DH_BLOCKING(REAL(vasprintf)(ret_text, format, ap))));
}

DH_INTERCEPTOR(int, asprintf, char **ret_text, const char *format, ...)
{
    DH_WITH_ARGUMENTS(format, to_block(DH_CALLER, ret_text, format, ap));
}

static int to_block_chk(const void *pc, char **ret_text, int flag, const char *format, va_list ap);

DH_INTERCEPTOR(int, __vasprintf_chk, char **ret_text, int flag, const char *format, va_list ap)
{
    return to_block_chk(DH_CALLER, ret_text, flag, format, ap);
}

static int to_block_chk(const void *pc, char **ret_text, int flag, const char *format, va_list ap)
{
    DH_ENTER_AT(pc, __vasprintf_chk, ret_text, flag, format, ap);
    dh_format_read(sc.t, format, ap);
    DH_RETURN(made(sc.t, ret_text, DH_BLOCKING(REAL(__vasprintf_chk)(ret_text, flag, format, ap))));
}

DH_INTERCEPTOR(int, __asprintf_chk, char **ret_text, int flag, const char *format, ...)
{
    DH_WITH_ARGUMENTS(format, to_block_chk(DH_CALLER, ret_text, flag, format, ap));
}

/* ---- To a stream or descriptor ----------------------------------------------------------------- */

static void prints(struct dh_thread *t, FILE *f, const char *format, va_list ap)
{
    dh_format_read(t, format, ap);
    dh_fd_release(t, fileno_unlocked(f));
}

static int to_stream(const void *pc, FILE *f, const char *format, va_list ap);

DH_INTERCEPTOR(int, vfprintf, FILE *f, const char *format, va_list ap)
{
    return to_stream(DH_CALLER, f, format, ap);
}

static int to_stream(const void *pc, FILE *f, const char *format, va_list ap)
{
    DH_ENTER_AT(pc, vfprintf, f, format, ap);
    prints(sc.t, f, format, ap);
    DH_RETURN(DH_STREAM_CALL(f, DH_STREAM_OUT, REAL(vfprintf)(f, format, ap)));
}

DH_INTERCEPTOR(int, fprintf, FILE *f, const char *format, ...)
{
    DH_WITH_ARGUMENTS(format, to_stream(DH_CALLER, f, format, ap));
}

static int to_stream_chk(const void *pc, FILE *f, int flag, const char *format, va_list ap);

DH_INTERCEPTOR(int, __vfprintf_chk, FILE *f, int flag, const char *format, va_list ap)
{
    return to_stream_chk(DH_CALLER, f, flag, format, ap);
}

static int to_stream_chk(const void *pc, FILE *f, int flag, const char *format, va_list ap)
{
    DH_ENTER_AT(pc, __vfprintf_chk, f, flag, format, ap);
    prints(sc.t, f, format, ap);
    DH_RETURN(DH_STREAM_CALL(f, DH_STREAM_OUT, REAL(__vfprintf_chk)(f, flag, format, ap)));
}

DH_INTERCEPTOR(int, __fprintf_chk, FILE *f, int flag, const char *format, ...)
{
    DH_WITH_ARGUMENTS(format, to_stream_chk(DH_CALLER, f, flag, format, ap));
}

DH_INTERCEPTOR(int, vprintf, const char *format, va_list ap)
{
    return to_stream(DH_CALLER, stdout, format, ap);
}

DH_INTERCEPTOR(int, printf, const char *format, ...)
{
    DH_WITH_ARGUMENTS(format, to_stream(DH_CALLER, stdout, format, ap));
}

DH_INTERCEPTOR(int, __vprintf_chk, int flag, const char *format, va_list ap)
{
    return to_stream_chk(DH_CALLER, stdout, flag, format, ap);
}

DH_INTERCEPTOR(int, __printf_chk, int flag, const char *format, ...)
{
    DH_WITH_ARGUMENTS(format, to_stream_chk(DH_CALLER, stdout, flag, format, ap));
}

static int to_descriptor(const void *pc, int fd, const char *format, va_list ap);

DH_INTERCEPTOR(int, vdprintf, int fd, const char *format, va_list ap)
{
    return to_descriptor(DH_CALLER, fd, format, ap);
}

static int to_descriptor(const void *pc, int fd, const char *format, va_list ap)
{
    DH_ENTER_AT(pc, vdprintf, fd, format, ap);
    dh_format_read(sc.t, format, ap);
    dh_fd_release(sc.t, fd);
    DH_RETURN(DH_BLOCKING(REAL(vdprintf)(fd, format, ap)));
}

DH_INTERCEPTOR(int, dprintf, int fd, const char *format, ...)
{
    DH_WITH_ARGUMENTS(format, to_descriptor(DH_CALLER, fd, format, ap));
}

static int to_descriptor_chk(const void *pc, int fd, int flag, const char *format, va_list ap);

DH_INTERCEPTOR(int, __vdprintf_chk, int fd, int flag, const char *format, va_list ap)
{
    return to_descriptor_chk(DH_CALLER, fd, flag, format, ap);
}

static int to_descriptor_chk(const void *pc, int fd, int flag, const char *format, va_list ap)
{
    DH_ENTER_AT(pc, __vdprintf_chk, fd, flag, format, ap);
    dh_format_read(sc.t, format, ap);
    dh_fd_release(sc.t, fd);
    DH_RETURN(DH_BLOCKING(REAL(__vdprintf_chk)(fd, flag, format, ap)));
}

DH_INTERCEPTOR(int, __dprintf_chk, int fd, int flag, const char *format, ...)
{
    DH_WITH_ARGUMENTS(format, to_descriptor_chk(DH_CALLER, fd, flag, format, ap));
}
