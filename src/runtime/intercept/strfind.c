/*
 * intercept/strfind.c - strings: search, split, duplicate, turn into numbers. See intercept/str.c.
 *
 * strtok keeps its position in a hidden variable. Ours is used instead of libc's, so that two threads
 * that call strtok without a lock are reported for what they do.
 */
#define _GNU_SOURCE 1
#include <string.h>

#include "runtime/intercept/touch.h"
#include "runtime/shadow/heap.h"
#include "runtime/threads/scope.h"

extern DH_HIDDEN size_t (*dh_real_strlen)(const char *);
extern DH_HIDDEN size_t (*dh_real_strnlen)(const char *, size_t);
extern DH_HIDDEN void *(*dh_real_memcpy)(void *, const void *, size_t);

static size_t length(const char *s)
{
    DH_RESOLVE(strlen);
    return REAL(strlen)(s);
}

static void read_string(struct dh_thread *t, const char *s)
{
    dh_touch_read(t, s, length(s) + 1);
}

/* A search that found `at`, which ends `more` bytes on; or nothing, and so read to the end. */
static void read_until(struct dh_thread *t, const char *s, const char *at, size_t more)
{
    dh_touch_read(t, s, at != NULL ? (size_t)(at - s) + more : length(s) + 1);
}

/* ---- Search ---------------------------------------------------------------------------------- */

DH_INTERCEPTOR(char *, strchr, const char *s, int c)
{
    DH_ENTER(strchr, s, c);
    char *r = REAL(strchr)(s, c);
    read_until(sc.t, s, r, 1);
    DH_RETURN(r);
}

/* Older names of strchr and strrchr. */

DH_INTERCEPTOR(char *, index, const char *s, int c)
{
    DH_ENTER(index, s, c);
    char *r = REAL(index)(s, c);
    read_until(sc.t, s, r, 1);
    DH_RETURN(r);
}

DH_INTERCEPTOR(char *, rindex, const char *s, int c)
{
    DH_TOUCH_THEN_CALL(rindex, read_string(sc.t, s), s, c);
}

DH_INTERCEPTOR(char *, strchrnul, const char *s, int c)
{
    DH_ENTER(strchrnul, s, c);
    char *r = REAL(strchrnul)(s, c);
    read_until(sc.t, s, r, 1);
    DH_RETURN(r);
}

DH_INTERCEPTOR(char *, strrchr, const char *s, int c)
{
    DH_TOUCH_THEN_CALL(strrchr, read_string(sc.t, s), s, c);
}

#define FIND_TEXT(name)                 \
    DH_ENTER(name, hay, needle);        \
    char *r = REAL(name)(hay, needle);  \
    size_t n = length(needle);          \
    read_until(sc.t, hay, r, n);        \
    dh_touch_read(sc.t, needle, n + 1); \
    DH_RETURN(r)

DH_INTERCEPTOR(char *, strstr, const char *hay, const char *needle)
{
    FIND_TEXT(strstr);
}

DH_INTERCEPTOR(char *, strcasestr, const char *hay, const char *needle)
{
    FIND_TEXT(strcasestr);
}

DH_INTERCEPTOR(char *, strpbrk, const char *s, const char *accept)
{
    DH_ENTER(strpbrk, s, accept);
    char *r = REAL(strpbrk)(s, accept);
    read_until(sc.t, s, r, 1);
    read_string(sc.t, accept);
    DH_RETURN(r);
}

#define SPAN(name)                 \
    DH_ENTER(name, s, set);        \
    size_t n = REAL(name)(s, set); \
    dh_touch_read(sc.t, s, n + 1); \
    read_string(sc.t, set);        \
    DH_RETURN(n)

DH_INTERCEPTOR(size_t, strspn, const char *s, const char *set)
{
    SPAN(strspn);
}

DH_INTERCEPTOR(size_t, strcspn, const char *s, const char *set)
{
    SPAN(strcspn);
}

/* ---- Split ----------------------------------------------------------------------------------- */

/* After the real function: it went from `from` to `now`, found token (or NULL), and put a NUL after
 * the token unless the string ended there. */
static void touch_token(struct dh_thread *t, const char *from, const char *token, const char *now)
{
    const char *end = token != NULL ? token + length(token) : NULL;
    if (end != NULL && end < now) {
        dh_touch_read(t, from, (size_t)(end - from));
        dh_touch_write(t, end, 1);
    } else {
        dh_touch_read(t, from, (size_t)(now - from) + 1);
    }
}

DH_INTERCEPTOR(char *, strtok_r, char *s, const char *delim, char **save)
{
    DH_ENTER(strtok_r, s, delim, save);
    const char *from = s != NULL ? s : *save;
    char *token = REAL(strtok_r)(s, delim, save);
    DH_TOUCH_OUT(sc.t, save);
    read_string(sc.t, delim);
    touch_token(sc.t, from, token, *save);
    DH_RETURN(token);
}

static char *strtok_state;

DH_INTERCEPTOR(char *, strtok, char *s, const char *delim)
{
    DH_RESOLVE(strtok_r);
    struct dh_scope sc;
    if (!dh_scope_begin(&sc, __builtin_return_address(0)))
        return REAL(strtok_r)(s, delim, &strtok_state);
    const char *from = s != NULL ? s : strtok_state;
    dh_touch_write(sc.t, &strtok_state, sizeof strtok_state);
    char *token = REAL(strtok_r)(s, delim, &strtok_state);
    read_string(sc.t, delim);
    touch_token(sc.t, from, token, strtok_state);
    DH_RETURN(token);
}

DH_INTERCEPTOR(char *, strsep, char **save, const char *delim)
{
    DH_ENTER(strsep, save, delim);
    char *from = *save;
    char *token = REAL(strsep)(save, delim);
    DH_TOUCH_OUT(sc.t, save);
    read_string(sc.t, delim);
    if (from != NULL)
        touch_token(sc.t, from, token, *save != NULL ? *save : from + length(from));
    DH_RETURN(token);
}

/* ---- Duplicate ------------------------------------------------------------------------------- */

/* Done here and not by libc, so that the block's allocation stack ends in the caller. */
static char *duplicate(struct dh_thread *t, const char *s, size_t n, size_t seen)
{
    dh_touch_read(t, s, seen);
    char *p = dh_heap_alloc(t, n + 1, 0, false);
    if (p != NULL) {
        DH_RESOLVE(memcpy);
        REAL(memcpy)(p, s, n);
        p[n] = 0;
        dh_touch_write(t, p, n + 1);
    }
    return p;
}

DH_INTERCEPTOR(char *, strdup, const char *s)
{
    if (dh_malloc_replaced()) {
        DH_RESOLVE(strdup);
        return REAL(strdup)(s);
    }
    DH_ENTER(strdup, s);
    size_t n = length(s);
    DH_RETURN(duplicate(sc.t, s, n, n + 1));
}

DH_INTERCEPTOR(char *, strndup, const char *s, size_t max)
{
    if (dh_malloc_replaced()) {
        DH_RESOLVE(strndup);
        return REAL(strndup)(s, max);
    }
    DH_ENTER(strndup, s, max);
    DH_RESOLVE(strnlen);
    size_t n = REAL(strnlen)(s, max);
    DH_RETURN(duplicate(sc.t, s, n, n < max ? n + 1 : max));
}

/* ---- Numbers --------------------------------------------------------------------------------- */

/* Reads through the first character that is not part of the number. When there is no number at all,
 * how far it looked is not known: the first byte stands for the string. */
static void touch_number(struct dh_thread *t, const char *s, const char *end, char **ret_end)
{
    dh_touch_read(t, s, (size_t)(end - s) + 1);
    if (ret_end != NULL) {
        dh_touch_write(t, ret_end, sizeof *ret_end);
        *ret_end = (char *)end;
    }
}

#define NUMBER_BODY(name, ret_type, ...)  \
    char *stop;                           \
    ret_type r = REAL(name)(__VA_ARGS__); \
    touch_number(sc.t, s, stop, end);     \
    DH_RETURN(r)

#define TO_INTEGER(name, ret_type) \
    DH_ENTER(name, s, end, base);  \
    NUMBER_BODY(name, ret_type, s, &stop, base)

#define TO_FLOATING(name, ret_type) \
    DH_ENTER(name, s, end);         \
    NUMBER_BODY(name, ret_type, s, &stop)

/* The ato* functions are specified by the strto* ones, which say where they stopped. */
#define BY_WAY_OF(real, name, ret_type, ...) \
    DH_ENTER(name, s);                       \
    DH_RESOLVE(real);                        \
    char **end = NULL;                       \
    NUMBER_BODY(real, ret_type, s, &stop __VA_OPT__(, ) __VA_ARGS__)

DH_INTERCEPTOR(long, strtol, const char *s, char **end, int base)
{
    TO_INTEGER(strtol, long);
}

DH_INTERCEPTOR(unsigned long, strtoul, const char *s, char **end, int base)
{
    TO_INTEGER(strtoul, unsigned long);
}

DH_INTERCEPTOR(long long, strtoll, const char *s, char **end, int base)
{
    TO_INTEGER(strtoll, long long);
}

DH_INTERCEPTOR(unsigned long long, strtoull, const char *s, char **end, int base)
{
    TO_INTEGER(strtoull, unsigned long long);
}

/* BSD's names of the two before. */

DH_INTERCEPTOR(long long, strtoq, const char *s, char **end, int base)
{
    TO_INTEGER(strtoq, long long);
}

DH_INTERCEPTOR(unsigned long long, strtouq, const char *s, char **end, int base)
{
    TO_INTEGER(strtouq, unsigned long long);
}

DH_INTERCEPTOR(intmax_t, strtoimax, const char *s, char **end, int base)
{
    TO_INTEGER(strtoimax, intmax_t);
}

DH_INTERCEPTOR(uintmax_t, strtoumax, const char *s, char **end, int base)
{
    TO_INTEGER(strtoumax, uintmax_t);
}

DH_INTERCEPTOR(float, strtof, const char *s, char **end)
{
    TO_FLOATING(strtof, float);
}

DH_INTERCEPTOR(double, strtod, const char *s, char **end)
{
    TO_FLOATING(strtod, double);
}

DH_INTERCEPTOR(long double, strtold, const char *s, char **end)
{
    TO_FLOATING(strtold, long double);
}

DH_INTERCEPTOR(int, atoi, const char *s)
{
    BY_WAY_OF(strtol, atoi, int, 10);
}

DH_INTERCEPTOR(long, atol, const char *s)
{
    BY_WAY_OF(strtol, atol, long, 10);
}

DH_INTERCEPTOR(long long, atoll, const char *s)
{
    BY_WAY_OF(strtoll, atoll, long long, 10);
}

DH_INTERCEPTOR(double, atof, const char *s)
{
    BY_WAY_OF(strtod, atof, double);
}
