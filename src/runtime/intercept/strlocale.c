/*
 * intercept/strlocale.c - strings under a locale that is given, and texts that libc makes: errors, numbers,
 * dates.
 *
 * The functions ending in _l are those of intercept/str.c and intercept/strfind.c with one argument more.
 * Where the real function does not say how far it read, the end is looked for the way its contract has it.
 */
#define _GNU_SOURCE 1
#include <ctype.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/intercept/touch.h"

extern DH_HIDDEN size_t (*dh_real_strlen)(const char *);

static size_t length(const char *s)
{
    DH_RESOLVE(strlen);
    return REAL(strlen)(s);
}

static void read_string(struct dh_thread *t, const char *s)
{
    dh_touch_read(t, s, length(s) + 1);
}

/* ---- Compare --------------------------------------------------------------------------------- */

/* Both up to the first difference, the end, or max. */
static void read_equal(struct dh_thread *t, const char *a, const char *b, size_t max, locale_t l)
{
    size_t n = 0;
    while (n < max && a[n] != 0 && tolower_l((unsigned char)a[n], l) == tolower_l((unsigned char)b[n], l))
        n++;
    n = n < max ? n + 1 : max;
    dh_touch_read(t, a, n);
    dh_touch_read(t, b, n);
}

DH_INTERCEPTOR(int, strcasecmp_l, const char *a, const char *b, locale_t l)
{
    DH_TOUCH_THEN_CALL(strcasecmp_l, read_equal(sc.t, a, b, SIZE_MAX, l), a, b, l);
}

DH_INTERCEPTOR(int, strncasecmp_l, const char *a, const char *b, size_t n, locale_t l)
{
    DH_TOUCH_THEN_CALL(strncasecmp_l, read_equal(sc.t, a, b, n, l), a, b, n, l);
}

DH_INTERCEPTOR(int, strcoll_l, const char *a, const char *b, locale_t l)
{
    DH_ENTER(strcoll_l, a, b, l);
    read_string(sc.t, a);
    read_string(sc.t, b);
    DH_RETURN(REAL(strcoll_l)(a, b, l));
}

DH_INTERCEPTOR(size_t, strxfrm_l, char *dst, const char *src, size_t n, locale_t l)
{
    DH_ENTER(strxfrm_l, dst, src, n, l);
    read_string(sc.t, src);
    size_t need = REAL(strxfrm_l)(dst, src, n, l);
    dh_touch_write(sc.t, dst, need < n ? need + 1 : n);
    DH_RETURN(need);
}

/* ---- Numbers --------------------------------------------------------------------------------- */

/* As in intercept/strfind.c: through the first character that is not part of the number. */
static void touch_number(struct dh_thread *t, const char *s, const char *end, char **ret_end)
{
    dh_touch_read(t, s, (size_t)(end - s) + 1);
    if (ret_end != NULL) {
        dh_touch_write(t, ret_end, sizeof *ret_end);
        *ret_end = (char *)end;
    }
}

#define TO_INTEGER(name, ret_type)              \
    DH_ENTER(name, s, end, base, l);            \
    char *stop;                                 \
    ret_type r = REAL(name)(s, &stop, base, l); \
    touch_number(sc.t, s, stop, end);           \
    DH_RETURN(r)

#define TO_FLOATING(name, ret_type)       \
    DH_ENTER(name, s, end, l);            \
    char *stop;                           \
    ret_type r = REAL(name)(s, &stop, l); \
    touch_number(sc.t, s, stop, end);     \
    DH_RETURN(r)

DH_INTERCEPTOR(long, strtol_l, const char *s, char **end, int base, locale_t l)
{
    TO_INTEGER(strtol_l, long);
}

DH_INTERCEPTOR(unsigned long, strtoul_l, const char *s, char **end, int base, locale_t l)
{
    TO_INTEGER(strtoul_l, unsigned long);
}

DH_INTERCEPTOR(long long, strtoll_l, const char *s, char **end, int base, locale_t l)
{
    TO_INTEGER(strtoll_l, long long);
}

DH_INTERCEPTOR(unsigned long long, strtoull_l, const char *s, char **end, int base, locale_t l)
{
    TO_INTEGER(strtoull_l, unsigned long long);
}

DH_INTERCEPTOR(float, strtof_l, const char *s, char **end, locale_t l)
{
    TO_FLOATING(strtof_l, float);
}

DH_INTERCEPTOR(double, strtod_l, const char *s, char **end, locale_t l)
{
    TO_FLOATING(strtod_l, double);
}

DH_INTERCEPTOR(long double, strtold_l, const char *s, char **end, locale_t l)
{
    TO_FLOATING(strtold_l, long double);
}

/* The result is how long the text would be. */
#define FROM_FLOATING(name)                                                   \
    DH_ENTER(name, buf, n, format, value);                                    \
    int r = REAL(name)(buf, n, format, value);                                \
    read_string(sc.t, format);                                                \
    dh_touch_write(sc.t, buf, r < 0 ? 0 : (size_t)r < n ? (size_t)r + 1 : n); \
    DH_RETURN(r)

DH_INTERCEPTOR(int, strfromf, char *buf, size_t n, const char *format, float value)
{
    FROM_FLOATING(strfromf);
}

DH_INTERCEPTOR(int, strfromd, char *buf, size_t n, const char *format, double value)
{
    FROM_FLOATING(strfromd);
}

DH_INTERCEPTOR(int, strfroml, char *buf, size_t n, const char *format, long double value)
{
    FROM_FLOATING(strfroml);
}

/* ---- Dates and errors ------------------------------------------------------------------------ */

DH_INTERCEPTOR(size_t, strftime_l, char *buf, size_t n, const char *format, const struct tm *parts,
               locale_t l)
{
    DH_ENTER(strftime_l, buf, n, format, parts, l);
    DH_TOUCH_IN(sc.t, parts);
    size_t r = REAL(strftime_l)(buf, n, format, parts, l);
    dh_touch_write(sc.t, buf, r != 0 ? r + 1 : 0);
    DH_RETURN(r);
}

/* How far it looked is known when it found all it wanted. */
DH_INTERCEPTOR(char *, strptime, const char *s, const char *format, struct tm *parts)
{
    DH_ENTER(strptime, s, format, parts);
    char *end = REAL(strptime)(s, format, parts);
    read_string(sc.t, format);
    if (end != NULL) {
        dh_touch_read(sc.t, s, (size_t)(end - s));
        DH_TOUCH_OUT(sc.t, parts);
    }
    DH_RETURN(end);
}

/* GNU's may return a constant text and leave the buffer alone. */
DH_INTERCEPTOR(char *, strerror_r, int error, char *buf, size_t n)
{
    DH_ENTER(strerror_r, error, buf, n);
    char *text = REAL(strerror_r)(error, buf, n);
    if (text == buf && n != 0)
        dh_touch_write(sc.t, buf, length(buf) + 1);
    DH_RETURN(text);
}

/* POSIX's. */
int __xpg_strerror_r(int error, char *buf, size_t n);
DH_INTERCEPTOR(int, __xpg_strerror_r, int error, char *buf, size_t n)
{
    DH_ENTER(__xpg_strerror_r, error, buf, n);
    int rc = REAL(__xpg_strerror_r)(error, buf, n);
    if (n != 0)
        dh_touch_write(sc.t, buf, length(buf) + 1);
    DH_RETURN(rc);
}
