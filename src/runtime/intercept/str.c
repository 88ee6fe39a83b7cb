/*
 * intercept/str.c - strings: length, copy, compare. intercept/strfind.c has the others.
 *
 * A function that looks at a string reads it up to the place where its contract lets it stop: the end
 * of a match, the first difference, the terminating NUL; never what lies beyond, which another
 * thread may be writing with every right.
 */
#define _GNU_SOURCE 1
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "runtime/intercept/early.h"
#include "runtime/intercept/touch.h"

/* ---- Length ---------------------------------------------------------------------------------- */

DH_INTERCEPTOR(size_t, strlen, const char *s)
{
    DH_EARLY(strlen, dh_early_length(s));
    DH_ENTER(strlen, s);
    size_t n = REAL(strlen)(s);
    dh_touch_read(sc.t, s, n + 1);
    DH_RETURN(n);
}

DH_INTERCEPTOR(size_t, strnlen, const char *s, size_t max)
{
    DH_ENTER(strnlen, s, max);
    size_t n = REAL(strnlen)(s, max);
    dh_touch_read(sc.t, s, n < max ? n + 1 : max);
    DH_RETURN(n);
}

/* For use inside: how long a string is, and how many bytes of at most max finding that out reads. */
static size_t length(const char *s)
{
    DH_RESOLVE(strlen);
    return REAL(strlen)(s);
}

static size_t reach(const char *s, size_t max)
{
    DH_RESOLVE(strnlen);
    size_t n = REAL(strnlen)(s, max);
    return n < max ? n + 1 : max;
}

static void read_string(struct dh_thread *t, const char *s)
{
    dh_touch_read(t, s, length(s) + 1);
}

/* ---- Copy ------------------------------------------------------------------------------------ */

static void touch_copy(struct dh_thread *t, char *dst, const char *src)
{
    size_t n = length(src) + 1;
    dh_touch_read(t, src, n);
    dh_touch_write(t, dst, n);
}

/* The destination is always filled up to n. */
static void touch_ncopy(struct dh_thread *t, char *dst, const char *src, size_t n)
{
    dh_touch_read(t, src, reach(src, n));
    dh_touch_write(t, dst, n);
}

static void touch_cat(struct dh_thread *t, char *dst, const char *src)
{
    size_t at = length(dst), n = length(src) + 1;
    dh_touch_read(t, dst, at);
    dh_touch_read(t, src, n);
    dh_touch_write(t, dst + at, n);
}

static void touch_ncat(struct dh_thread *t, char *dst, const char *src, size_t n)
{
    size_t at = length(dst), seen = reach(src, n);
    bool whole = seen != 0 && src[seen - 1] == 0;
    dh_touch_read(t, dst, at);
    dh_touch_read(t, src, seen);
    dh_touch_write(t, dst + at, seen + (whole ? 0 : 1));
}

DH_INTERCEPTOR(char *, strcpy, char *dst, const char *src)
{
    DH_TOUCH_THEN_CALL(strcpy, touch_copy(sc.t, dst, src), dst, src);
}

DH_INTERCEPTOR(char *, stpcpy, char *dst, const char *src)
{
    DH_TOUCH_THEN_CALL(stpcpy, touch_copy(sc.t, dst, src), dst, src);
}

DH_INTERCEPTOR(char *, strncpy, char *dst, const char *src, size_t n)
{
    DH_TOUCH_THEN_CALL(strncpy, touch_ncopy(sc.t, dst, src, n), dst, src, n);
}

DH_INTERCEPTOR(char *, stpncpy, char *dst, const char *src, size_t n)
{
    DH_TOUCH_THEN_CALL(stpncpy, touch_ncopy(sc.t, dst, src, n), dst, src, n);
}

DH_INTERCEPTOR(char *, strcat, char *dst, const char *src)
{
    DH_TOUCH_THEN_CALL(strcat, touch_cat(sc.t, dst, src), dst, src);
}

DH_INTERCEPTOR(char *, strncat, char *dst, const char *src, size_t n)
{
    DH_TOUCH_THEN_CALL(strncat, touch_ncat(sc.t, dst, src, n), dst, src, n);
}

/* What -D_FORTIFY_SOURCE calls: the real ones end the program if it does not fit. */

DH_INTERCEPTOR(char *, __strcpy_chk, char *dst, const char *src, size_t room)
{
    DH_TOUCH_THEN_CALL(__strcpy_chk, touch_copy(sc.t, dst, src), dst, src, room);
}

DH_INTERCEPTOR(char *, __stpcpy_chk, char *dst, const char *src, size_t room)
{
    DH_TOUCH_THEN_CALL(__stpcpy_chk, touch_copy(sc.t, dst, src), dst, src, room);
}

DH_INTERCEPTOR(char *, __strncpy_chk, char *dst, const char *src, size_t n, size_t room)
{
    DH_TOUCH_THEN_CALL(__strncpy_chk, touch_ncopy(sc.t, dst, src, n <= room ? n : 0), dst, src, n, room);
}

DH_INTERCEPTOR(char *, __stpncpy_chk, char *dst, const char *src, size_t n, size_t room)
{
    DH_TOUCH_THEN_CALL(__stpncpy_chk, touch_ncopy(sc.t, dst, src, n <= room ? n : 0), dst, src, n, room);
}

DH_INTERCEPTOR(char *, __strcat_chk, char *dst, const char *src, size_t room)
{
    DH_TOUCH_THEN_CALL(__strcat_chk, touch_cat(sc.t, dst, src), dst, src, room);
}

DH_INTERCEPTOR(char *, __strncat_chk, char *dst, const char *src, size_t n, size_t room)
{
    DH_TOUCH_THEN_CALL(__strncat_chk, touch_ncat(sc.t, dst, src, n), dst, src, n, room);
}

/* Shuffles the characters where they are. */
DH_INTERCEPTOR(char *, strfry, char *s)
{
    DH_TOUCH_THEN_CALL(strfry, dh_touch_write(sc.t, s, length(s)), s);
}

/* ---- Compare --------------------------------------------------------------------------------- */

/* The comparisons are done here: the real ones do not say where they stopped. */
static int compare(struct dh_thread *t, const char *a, const char *b, size_t max, bool fold)
{
    size_t i = 0;
    int x = 0, y = 0;
    for (; i < max; i++) {
        x = (unsigned char)a[i];
        y = (unsigned char)b[i];
        if (fold) {
            x = tolower(x);
            y = tolower(y);
        }
        if (x != y || x == 0)
            break;
    }
    size_t seen = i < max ? i + 1 : max;
    dh_touch_read(t, a, seen);
    dh_touch_read(t, b, seen);
    return x - y;
}

DH_INTERCEPTOR(int, strcmp, const char *a, const char *b)
{
    DH_EARLY(strcmp, dh_early_compare(a, b, dh_early_length(a) + 1));
    DH_ENTER(strcmp, a, b);
    DH_RETURN(compare(sc.t, a, b, SIZE_MAX, false));
}

static int early_compare_n(const char *a, const char *b, size_t n)
{
    size_t m = dh_early_length(a) + 1;
    return dh_early_compare(a, b, n < m ? n : m);
}

DH_INTERCEPTOR(int, strncmp, const char *a, const char *b, size_t n)
{
    DH_EARLY(strncmp, early_compare_n(a, b, n));
    DH_ENTER(strncmp, a, b, n);
    DH_RETURN(compare(sc.t, a, b, n, false));
}

DH_INTERCEPTOR(int, strcasecmp, const char *a, const char *b)
{
    DH_ENTER(strcasecmp, a, b);
    DH_RETURN(compare(sc.t, a, b, SIZE_MAX, true));
}

DH_INTERCEPTOR(int, strncasecmp, const char *a, const char *b, size_t n)
{
    DH_ENTER(strncasecmp, a, b, n);
    DH_RETURN(compare(sc.t, a, b, n, true));
}

DH_INTERCEPTOR(int, strcoll, const char *a, const char *b)
{
    DH_ENTER(strcoll, a, b);
    read_string(sc.t, a);
    read_string(sc.t, b);
    DH_RETURN(REAL(strcoll)(a, b));
}

DH_INTERCEPTOR(int, strverscmp, const char *a, const char *b)
{
    DH_ENTER(strverscmp, a, b);
    read_string(sc.t, a);
    read_string(sc.t, b);
    DH_RETURN(REAL(strverscmp)(a, b));
}

DH_INTERCEPTOR(size_t, strxfrm, char *dst, const char *src, size_t n)
{
    DH_ENTER(strxfrm, dst, src, n);
    read_string(sc.t, src);
    size_t need = REAL(strxfrm)(dst, src, n);
    dh_touch_write(sc.t, dst, need < n ? need + 1 : n);
    DH_RETURN(need);
}
