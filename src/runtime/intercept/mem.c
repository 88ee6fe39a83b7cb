/*
 * intercept/mem.c - memcpy and its relatives.
 *
 * Where the answer decides how much was read (memchr), the real call comes first.
 *
 * What counts as touched is the contract of the function, not what glibc's vector code happens to load:
 * memcmp compares n bytes and so reads n; memchr is specified as a sequential search and stops at its
 * find.
 */
#define _GNU_SOURCE 1
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "runtime/intercept/early.h"
#include "runtime/intercept/touch.h"

bool dh_early_busy;

static void copies(struct dh_thread *t, void *dst, const void *src, size_t n)
{
    dh_touch_read(t, src, n);
    dh_touch_write(t, dst, n);
}

static void compares(struct dh_thread *t, const void *a, const void *b, size_t n)
{
    dh_touch_read(t, a, n);
    dh_touch_read(t, b, n);
}

DH_INTERCEPTOR(void *, memcpy, void *dst, const void *src, size_t n)
{
    DH_EARLY(memcpy, dh_early_copy(dst, src, n));
    DH_TOUCH_THEN_CALL(memcpy, copies(sc.t, dst, src, n), dst, src, n);
}

DH_INTERCEPTOR(void *, memmove, void *dst, const void *src, size_t n)
{
    DH_EARLY(memmove, dh_early_copy(dst, src, n));
    DH_TOUCH_THEN_CALL(memmove, copies(sc.t, dst, src, n), dst, src, n);
}

DH_INTERCEPTOR(void *, mempcpy, void *dst, const void *src, size_t n)
{
    DH_EARLY(mempcpy, (char *)dh_early_copy(dst, src, n) + n);
    DH_TOUCH_THEN_CALL(mempcpy, copies(sc.t, dst, src, n), dst, src, n);
}

DH_INTERCEPTOR(void, bcopy, const void *src, void *dst, size_t n)
{
    DH_TOUCH_THEN_CALL(bcopy, copies(sc.t, dst, src, n), src, dst, n);
}

DH_INTERCEPTOR(void *, memset, void *dst, int c, size_t n)
{
    DH_EARLY(memset, dh_early_set(dst, c, n));
    DH_TOUCH_THEN_CALL(memset, dh_touch_write(sc.t, dst, n), dst, c, n);
}

DH_INTERCEPTOR(void, bzero, void *dst, size_t n)
{
    DH_EARLY(bzero, (void)dh_early_set(dst, 0, n));
    DH_TOUCH_THEN_CALL(bzero, dh_touch_write(sc.t, dst, n), dst, n);
}

DH_INTERCEPTOR(void, explicit_bzero, void *dst, size_t n)
{
    DH_TOUCH_THEN_CALL(explicit_bzero, dh_touch_write(sc.t, dst, n), dst, n);
}

DH_INTERCEPTOR(int, memcmp, const void *a, const void *b, size_t n)
{
    DH_EARLY(memcmp, dh_early_compare(a, b, n));
    DH_TOUCH_THEN_CALL(memcmp, compares(sc.t, a, b, n), a, b, n);
}

DH_INTERCEPTOR(int, bcmp, const void *a, const void *b, size_t n)
{
    DH_EARLY(bcmp, dh_early_compare(a, b, n));
    DH_TOUCH_THEN_CALL(bcmp, compares(sc.t, a, b, n), a, b, n);
}

static void *early_find(const void *p, int c, size_t n)
{
    for (const unsigned char *s = p; n-- > 0; s++)
        if (*s == (unsigned char)c)
            return (void *)s;
    return NULL;
}

DH_INTERCEPTOR(void *, memchr, const void *p, int c, size_t n)
{
    DH_EARLY(memchr, early_find(p, c, n));
    DH_ENTER(memchr, p, c, n);
    void *r = REAL(memchr)(p, c, n);
    dh_touch_read(sc.t, p, r != NULL ? (size_t)((char *)r - (const char *)p) + 1 : n);
    DH_RETURN(r);
}

DH_INTERCEPTOR(void *, rawmemchr, const void *p, int c)
{
    DH_ENTER(rawmemchr, p, c);
    void *r = REAL(rawmemchr)(p, c);
    dh_touch_read(sc.t, p, (size_t)((char *)r - (const char *)p) + 1);
    DH_RETURN(r);
}

/* Searches from the end, so what it reads is the tail. */
DH_INTERCEPTOR(void *, memrchr, const void *p, int c, size_t n)
{
    DH_ENTER(memrchr, p, c, n);
    void *r = REAL(memrchr)(p, c, n);
    const char *from = r != NULL ? r : p;
    dh_touch_read(sc.t, from, (size_t)((const char *)p + n - from));
    DH_RETURN(r);
}

DH_INTERCEPTOR(void *, memmem, const void *hay, size_t n, const void *needle, size_t m)
{
    DH_ENTER(memmem, hay, n, needle, m);
    void *r = REAL(memmem)(hay, n, needle, m);
    dh_touch_read(sc.t, hay, r != NULL ? (size_t)((char *)r - (const char *)hay) + m : n);
    dh_touch_read(sc.t, needle, m);
    DH_RETURN(r);
}

DH_INTERCEPTOR(void *, memccpy, void *dst, const void *src, int c, size_t n)
{
    DH_ENTER(memccpy, dst, src, c, n);
    void *r = REAL(memccpy)(dst, src, c, n);
    size_t copied = r != NULL ? (size_t)((char *)r - (char *)dst) : n;
    dh_touch_read(sc.t, src, copied);
    dh_touch_write(sc.t, dst, copied);
    DH_RETURN(r);
}

/* What -D_FORTIFY_SOURCE calls. The real ones end the program when n > room: then nothing is touched. */

DH_INTERCEPTOR(void *, __memcpy_chk, void *dst, const void *src, size_t n, size_t room)
{
    DH_TOUCH_THEN_CALL(__memcpy_chk, copies(sc.t, dst, src, n <= room ? n : 0), dst, src, n, room);
}

DH_INTERCEPTOR(void *, __memmove_chk, void *dst, const void *src, size_t n, size_t room)
{
    DH_TOUCH_THEN_CALL(__memmove_chk, copies(sc.t, dst, src, n <= room ? n : 0), dst, src, n, room);
}

DH_INTERCEPTOR(void *, __mempcpy_chk, void *dst, const void *src, size_t n, size_t room)
{
    DH_TOUCH_THEN_CALL(__mempcpy_chk, copies(sc.t, dst, src, n <= room ? n : 0), dst, src, n, room);
}

DH_INTERCEPTOR(void *, __memset_chk, void *dst, int c, size_t n, size_t room)
{
    DH_TOUCH_THEN_CALL(__memset_chk, dh_touch_write(sc.t, dst, n <= room ? n : 0), dst, c, n, room);
}

DH_INTERCEPTOR(void, __explicit_bzero_chk, void *dst, size_t n, size_t room)
{
    DH_TOUCH_THEN_CALL(__explicit_bzero_chk, dh_touch_write(sc.t, dst, n <= room ? n : 0), dst, n, room);
}

DH_INTERCEPTOR(void, swab, const void *src, void *dst, ssize_t n)
{
    DH_TOUCH_THEN_CALL(swab, copies(sc.t, dst, src, n > 1 ? (size_t)n & ~(size_t)1 : 0), src, dst, n);
}

DH_INTERCEPTOR(void *, memfrob, void *p, size_t n)
{
    DH_TOUCH_THEN_CALL(memfrob, dh_touch_write(sc.t, p, n), p, n);
}

/* Wide characters: the four that the compiler and libstdc++ use to move text. */

DH_INTERCEPTOR(wchar_t *, wmemcpy, wchar_t *dst, const wchar_t *src, size_t n)
{
    DH_TOUCH_THEN_CALL(wmemcpy, copies(sc.t, dst, src, n * sizeof *dst), dst, src, n);
}

DH_INTERCEPTOR(wchar_t *, wmemmove, wchar_t *dst, const wchar_t *src, size_t n)
{
    DH_TOUCH_THEN_CALL(wmemmove, copies(sc.t, dst, src, n * sizeof *dst), dst, src, n);
}

DH_INTERCEPTOR(wchar_t *, wmemset, wchar_t *dst, wchar_t c, size_t n)
{
    DH_TOUCH_THEN_CALL(wmemset, dh_touch_write(sc.t, dst, n * sizeof *dst), dst, c, n);
}

DH_INTERCEPTOR(size_t, wcslen, const wchar_t *s)
{
    DH_ENTER(wcslen, s);
    size_t n = REAL(wcslen)(s);
    dh_touch_read(sc.t, s, (n + 1) * sizeof *s);
    DH_RETURN(n);
}
