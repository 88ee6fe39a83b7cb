/*
 * compat/options.c - options and suppressions that a program provides for ThreadSanitizer by defining two
 * functions: __tsan_default_options and __tsan_default_suppressions.
 *
 * They are called once, when the runtime starts, before anything of the program has run. Options that mean
 * the same here are adopted and the rest, which concern ThreadSanitizer's internals, are ignored;
 * DEADHEAT_OPTIONS takes precedence. Suppressions are passed to the reporter in its environment, since it
 * knows the names.
 */
#include <string.h>

#include "base/pool.h"
#include "runtime/compat/compat.h"

extern __attribute__((weak)) const char *__tsan_default_options(void);
extern __attribute__((weak)) const char *__tsan_default_suppressions(void);

/* `value` "": the one given. A value that is not the one named here leaves everything as it is. */
static const struct {
    const char *name, *value, *ours;
} known[] = {
    {"exitcode=", "", "exitcode="},
    {"atexit_sleep_ms=", "", "exit_wait="},
    {"suppressions=", "", "suppressions="},
    {"color=", "", "color="},
    {"halt_on_error=", "1", "on_race=stop"},
    {"halt_on_error=", "true", "on_race=stop"},
    {"report_bugs=", "0", "report=0:exitcode=0"},
    {"report_bugs=", "false", "report=0:exitcode=0"},
};

static void add(char *to, const char *text, size_t n)
{
    size_t at = strlen(to);
    memcpy(to + at, text, n);
    to[at + n] = '\0';
}

/* One setting, name=value, in our words. */
static void translate(char *to, const char *one, size_t n)
{
    for (size_t i = 0; i < DH_ARRAY_LEN(known); i++) {
        size_t name = strlen(known[i].name), value = strlen(known[i].value);
        if (n < name || memcmp(one, known[i].name, name) != 0)
            continue;
        if (value && (n != name + value || memcmp(one + name, known[i].value, value) != 0))
            continue;
        add(to, known[i].ours, strlen(known[i].ours));
        if (!value)
            add(to, one + name, n - name);
        add(to, ":", 1);
    }
}

const char *dh_compat_options(const char *own)
{
    const char *theirs = __tsan_default_options ? __tsan_default_options() : NULL;
    if (!theirs || !*theirs)
        return own;
    /* A setting of theirs becomes one of ours of at most this length more. */
    char *all = dh_pool_alloc(strlen(theirs) * 8 + 64 + (own ? strlen(own) : 0));
    if (!all)
        return own;
    for (const char *at = theirs; *at;) {
        size_t n = strcspn(at, ": ,\t\r\n");
        translate(all, at, n);
        at += n;
        at += strspn(at, ": ,\t\r\n");
    }
    if (own)
        add(all, own, strlen(own));
    return all;
}

char *dh_compat_suppressions(void)
{
    static const char name[] = DH_COMPAT_SUPPRESSIONS "=";
    const char *theirs = __tsan_default_suppressions ? __tsan_default_suppressions() : NULL;
    char *text = theirs && *theirs ? dh_pool_alloc(sizeof(name) + strlen(theirs)) : NULL;
    if (text) {
        strcpy(text, name);
        strcat(text, theirs);
    }
    return text;
}
