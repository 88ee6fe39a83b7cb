/*
 * redirect.h - how functions of the library replace those of libc, in a program that it is linked into.
 *
 * A field build calls libc as any program does. Only when it is started by a command, and before any
 * constructor runs, its modules' imports of the names in the table are redirected to the library.
 */
#ifndef DH_FIELD_REDIRECT_H
#define DH_FIELD_REDIRECT_H

#include "base/base.h"

struct dh_field_redirect {
    const char *name;
    void *fn;
    const char *real; /* the function that it calls; NULL: the same. Some take a va_list instead */
    void **next;      /* where it finds that; set before it is called */
    u64 always;       /* 0: only if the program's synchronisation is tracked */
};

/* An entry of the table, which the linker assembles. Every pointer in it costs each start of the program some
 * instructions in the loader. */
#define DH_FIELD_REDIRECT(symbol, function, real, next, when)                                              \
    static const struct dh_field_redirect redirect_##symbol                                                \
        __attribute__((section("dh_field_redirects"), used, retain)) = {                                   \
            #symbol, (void *)(function), __builtin_strcmp(#symbol, #real) ? #real : NULL, (void **)(next), \
            (when)};

/* Called once, before the program has a second thread. False: some of its memory cannot be changed. */
bool dh_field_redirect_begin(bool follows);

/* The same for a module that dlopen returned, and its dependencies. True: it called libc until now. */
bool dh_field_redirect_opened(void *module);

/* The replacement for a function that dlsym found by this name; `found` itself if there is none. */
void *dh_field_redirect_found(const char *name, void *found);

#endif
