/*
 * redirect.h - how functions of the library come to stand before those of libc, in a program that it is
 * linked into.
 *
 * A field build calls libc as any program does. Only when it is started by a command, and before any
 * constructor, what its modules import under the names of the table is led to the library.
 */
#ifndef DH_FIELD_REDIRECT_H
#define DH_FIELD_REDIRECT_H

#include "base/base.h"

struct dh_field_redirect {
    const char *name;
    void *fn;
    const char *real; /* the function that it calls: mostly the same, but some take a va_list */
    void **next;      /* where it finds that; set before it is called */
    u64 always;       /* 0: only if the program's synchronisation is followed */
};

/* An entry of the table, which the linker puts together. */
#define DH_FIELD_REDIRECT(symbol, function, real, next, when)                                               \
    static const struct dh_field_redirect redirect_##symbol                                                 \
        __attribute__((section("dh_field_redirects"), used, retain)) = {#symbol, (void *)(function), #real, \
                                                                        (void **)(next), (when)};

/* Once, before there is a second thread of the program. False: some of its memory cannot be changed. */
bool dh_field_redirect_begin(bool follows);

/* The same for a module that dlopen has returned, and for what it needs. True: it called libc until now. */
bool dh_field_redirect_opened(void *module);

/* What takes the place of a function that dlsym has found by this name; that itself if nothing does. */
void *dh_field_redirect_found(const char *name, void *found);

#endif
