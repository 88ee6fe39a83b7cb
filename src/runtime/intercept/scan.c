/*
 * intercept/scan.c - scanf in all its forms: what it stores, and where.
 *
 * The format is walked after the real call, whose result says how many conversions were stored. All arguments
 * are pointers, so they are fetched beforehand, as many as the format can name, and a walk may take them by
 * number (%1$d).
 *
 * %n is stored without being counted. It is recorded where it is certain that it was reached: a later
 * conversion was stored, or nothing that can fail to match stands between it and the last one that was.
 * Otherwise it goes unseen.
 */
#define _GNU_SOURCE 1
#define __NO_INLINE__ 1 /* or libc's headers define functions that are defined here */
#include <features.h>
/* Or <stdio.h> gives the names below to the C99 variants, which are other functions here. */
#undef __GLIBC_USE_DEPRECATED_SCANF
#define __GLIBC_USE_DEPRECATED_SCANF 1
#include <stdio.h>
#include <wchar.h>

#include "runtime/intercept/format.h"
#include "runtime/intercept/stream.h"
#include "runtime/intercept/touch.h"
#include "runtime/intercept/variadic.h"
#include "runtime/threads/fd.h"

extern DH_HIDDEN size_t (*dh_real_strlen)(const char *);
extern DH_HIDDEN size_t (*dh_real_wcslen)(const wchar_t *);

/* ---- One conversion ------------------------------------------------------------------------------ */

struct conversion {
    int position;      /* %1$d: 1; 0: the next argument */
    int width;         /* 0: none given */
    unsigned size;     /* of an integer */
    unsigned floating; /* size of a floating-point number */
    bool suppressed;   /* %*d: nothing is stored */
    bool allocates;    /* %ms: the argument is where to put a pointer to the text */
    bool wide;         /* %ls */
    char letter;       /* '[' for a set; 0: the format ended inside */
};

static int parse_number(const char **f)
{
    int n = 0;
    for (; **f >= '0' && **f <= '9'; (*f)++)
        n = n < 1 << 24 ? n * 10 + (**f - '0') : n;
    return n;
}

static void parse_size(const char **f, struct conversion *c)
{
    for (;; (*f)++) {
        switch (**f) {
        case 'h':
            c->size = c->size == sizeof(short) ? sizeof(char) : sizeof(short);
            continue;
        case 'l':
            c->wide = true;
            c->size = sizeof(long);
            c->floating = sizeof(double);
            continue;
        case 'j':
        case 'z':
        case 't':
            c->size = sizeof(long);
            continue;
        case 'L':
        case 'q':
            c->size = sizeof(long long);
            c->floating = sizeof(long double);
            continue;
        default:
            return;
        }
    }
}

/* Leaves *f behind the closing bracket; it stands behind the opening one. */
static void skip_set(const char **f)
{
    if (**f == '^')
        (*f)++;
    if (**f == ']')
        (*f)++;
    while (**f != 0 && **f != ']')
        (*f)++;
    if (**f == ']')
        (*f)++;
}

/* f: behind the %. Leaves *f behind the conversion. old: %as allocates, as it did before C99 gave %a a
 * meaning. */
static struct conversion parse(const char **f, bool old)
{
    struct conversion c = {.size = sizeof(int), .floating = sizeof(float)};
    c.width = parse_number(f);
    if (**f == '$') {
        (*f)++;
        c.position = c.width;
        c.width = 0;
    }
    for (; **f == '*' || **f == '\'' || **f == 'I'; (*f)++)
        c.suppressed |= **f == '*';
    if (c.width == 0)
        c.width = parse_number(f);
    if (**f == 'm' || (old && **f == 'a' && ((*f)[1] == 's' || (*f)[1] == 'S' || (*f)[1] == '['))) {
        c.allocates = true;
        (*f)++;
    }
    parse_size(f, &c);
    c.letter = **f;
    if (c.letter != 0)
        (*f)++;
    if (c.letter == '[')
        skip_set(f);
    if (c.letter == 'S' || c.letter == 'C') {
        c.wide = true;
        c.letter = c.letter == 'S' ? 's' : 'c';
    }
    return c;
}

/* How many bytes a conversion stored at `to`, which is where the text itself is; 0: it is not understood. */
static size_t stored(const struct conversion *c, const void *to)
{
    size_t unit = c->wide ? sizeof(wchar_t) : 1;
    switch (c->letter) {
    case 'd':
    case 'i':
    case 'u':
    case 'x':
    case 'X':
    case 'o':
    case 'n':
        return c->size;
    case 'p':
        return sizeof(void *);
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
    case 'a':
    case 'A':
        return c->floating;
    case 'c':
        return unit * (c->width ? (size_t)c->width : 1);
    case 's':
    case '[':
        return unit * ((c->wide ? REAL(wcslen)(to) : REAL(strlen)(to)) + 1);
    default:
        return 0;
    }
}

static bool touch_stored(struct dh_thread *t, const struct conversion *c, void *to)
{
    if (to == NULL)
        return false;
    if (c->allocates) {
        DH_TOUCH_OUT(t, (void **)to);
        to = *(void **)to;
    }
    size_t n = stored(c, to);
    dh_touch_write(t, to, n);
    return n != 0;
}

/* ---- The walk ------------------------------------------------------------------------------------ */

/* As many as there are: no more conversions than percent signs, and none beyond the highest position. */
void dh_scan_fetch(const char *format, va_list args, bool old, struct dh_scan *ret)
{
    va_list ap;
    int in_turn = 0, highest = 0;
    for (const char *f = format; *f != 0;) {
        if (*f++ != '%')
            continue;
        struct conversion c = parse(&f, old);
        highest = c.position > highest ? c.position : highest;
        in_turn += c.letter != 0 && c.letter != '%' && !c.suppressed && c.position == 0;
    }
    ret->n = in_turn > highest ? in_turn : highest;
    ret->n = ret->n < DH_SCAN_MAX ? ret->n : DH_SCAN_MAX;
    va_copy(ap, args);
    for (int i = 0; i < ret->n; i++)
        ret->at[i] = va_arg(ap, void *);
    va_end(ap);
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

void dh_scan_store(struct dh_thread *t, const char *format, bool old, const struct dh_scan *args,
                   int assigned)
{
    int next = 0;
    bool certain = true; /* whatever stands here was reached */
    DH_RESOLVE(strlen);
    DH_RESOLVE(wcslen);
    for (const char *f = format; *f != 0;) {
        char directive = *f++;
        if (directive != '%') {
            certain &= assigned > 0 || is_space(directive);
            continue;
        }
        struct conversion c = parse(&f, old);
        if (c.letter == '%' || c.suppressed)
            certain &= assigned > 0;
        if (c.letter == '%' || c.suppressed)
            continue;
        int i = c.position ? c.position - 1 : next++;
        bool counted = c.letter != 'n';
        if ((counted && assigned <= 0) || i >= args->n)
            return;
        if ((counted || certain) && !touch_stored(t, &c, args->at[i]))
            return;
        assigned -= counted;
    }
}

/* ---- The functions -------------------------------------------------------------------------------- */

/* libc allocates through our malloc, with the runtime left, so that the block is seen. */
#define SCAN_STREAM(real, old)                                          \
    struct dh_scan args;                                                \
    DH_ENTER_AT(pc, real, f, format, ap);                               \
    dh_scan_fetch(format, ap, old, &args);                              \
    int r = DH_STREAM_CALL(f, DH_STREAM_IN, REAL(real)(f, format, ap)); \
    dh_fd_acquire(sc.t, fileno_unlocked(f));                            \
    dh_scan_store(sc.t, format, old, &args, r);                         \
    DH_RETURN(r)

#define SCAN_STRING(real, old)                      \
    struct dh_scan args;                            \
    DH_ENTER_AT(pc, real, s, format, ap);           \
    DH_RESOLVE(strlen);                             \
    dh_touch_read(sc.t, s, REAL(strlen)(s) + 1);    \
    dh_scan_fetch(format, ap, old, &args);          \
    int r = DH_BLOCKING(REAL(real)(s, format, ap)); \
    dh_scan_store(sc.t, format, old, &args, r);     \
    DH_RETURN(r)

static int from_stream_old(const void *pc, FILE *f, const char *format, va_list ap);
static int from_stream(const void *pc, FILE *f, const char *format, va_list ap);
static int from_string_old(const void *pc, const char *s, const char *format, va_list ap);
static int from_string(const void *pc, const char *s, const char *format, va_list ap);

DH_INTERCEPTOR(int, vfscanf, FILE *f, const char *format, va_list ap)
{
    return from_stream_old(DH_CALLER, f, format, ap);
}

static int from_stream_old(const void *pc, FILE *f, const char *format, va_list ap)
{
    SCAN_STREAM(vfscanf, true);
}

/* What <stdio.h> makes of the names above in every dialect but the oldest. */
DH_INTERCEPTOR(int, __isoc99_vfscanf, FILE *f, const char *format, va_list ap)
{
    return from_stream(DH_CALLER, f, format, ap);
}

static int from_stream(const void *pc, FILE *f, const char *format, va_list ap)
{
    SCAN_STREAM(__isoc99_vfscanf, false);
}

DH_INTERCEPTOR(int, vsscanf, const char *s, const char *format, va_list ap)
{
    return from_string_old(DH_CALLER, s, format, ap);
}

static int from_string_old(const void *pc, const char *s, const char *format, va_list ap)
{
    SCAN_STRING(vsscanf, true);
}

DH_INTERCEPTOR(int, __isoc99_vsscanf, const char *s, const char *format, va_list ap)
{
    return from_string(DH_CALLER, s, format, ap);
}

static int from_string(const void *pc, const char *s, const char *format, va_list ap)
{
    SCAN_STRING(__isoc99_vsscanf, false);
}

DH_INTERCEPTOR(int, vscanf, const char *format, va_list ap)
{
    return from_stream_old(DH_CALLER, stdin, format, ap);
}

DH_INTERCEPTOR(int, __isoc99_vscanf, const char *format, va_list ap)
{
    return from_stream(DH_CALLER, stdin, format, ap);
}

DH_INTERCEPTOR(int, fscanf, FILE *f, const char *format, ...)
{
    DH_WITH_ARGUMENTS(format, from_stream_old(DH_CALLER, f, format, ap));
}

DH_INTERCEPTOR(int, __isoc99_fscanf, FILE *f, const char *format, ...)
{
    DH_WITH_ARGUMENTS(format, from_stream(DH_CALLER, f, format, ap));
}

DH_INTERCEPTOR(int, scanf, const char *format, ...)
{
    DH_WITH_ARGUMENTS(format, from_stream_old(DH_CALLER, stdin, format, ap));
}

DH_INTERCEPTOR(int, __isoc99_scanf, const char *format, ...)
{
    DH_WITH_ARGUMENTS(format, from_stream(DH_CALLER, stdin, format, ap));
}

DH_INTERCEPTOR(int, sscanf, const char *s, const char *format, ...)
{
    DH_WITH_ARGUMENTS(format, from_string_old(DH_CALLER, s, format, ap));
}

DH_INTERCEPTOR(int, __isoc99_sscanf, const char *s, const char *format, ...)
{
    DH_WITH_ARGUMENTS(format, from_string(DH_CALLER, s, format, ap));
}
