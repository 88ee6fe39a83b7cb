/*
 * intercept.c - finding the real functions.
 *
 * An interceptor is a function of libc's name exported by the executable, so every module of the process
 * binds to it; the real one is the next definition in the search order. All are resolved at
 * start-up; what a library opened later brings along is resolved on first use.
 */
#define _GNU_SOURCE 1
#include "runtime/intercept/intercept.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/sys.h"
#include "runtime/report/modules.h"
#include "runtime/report/place.h"
#include "runtime/threads/plain.h"

extern struct dh_intercept_entry __start_dh_intercepts[] DH_HIDDEN;
extern struct dh_intercept_entry __stop_dh_intercepts[] DH_HIDDEN;
extern struct dh_intercept_inside __start_dh_insides[] DH_HIDDEN;
extern struct dh_intercept_inside __stop_dh_insides[] DH_HIDDEN;

/* libc keeps two implementations of condition variables. Programs built since 2003 use this one; an
 * unversioned look-up could find the other, whose object is laid out differently. */
static const char COND_PREFIX[] = "pthread_cond_";
static const char COND_VERSION[] = "GLIBC_2.3.2";

static void *find(const char *name)
{
    void *p = NULL;
    if (strncmp(name, COND_PREFIX, sizeof(COND_PREFIX) - 1) == 0)
        p = dlvsym(RTLD_NEXT, name, COND_VERSION);
    return p ? p : dlsym(RTLD_NEXT, name);
}

void *dh_intercept_resolve(const char *name)
{
    void *p = find(name);
    if (p == NULL) {
        dh_sys_say("cannot continue: the program calls a function that no loaded library has:");
        dh_sys_say(name);
        abort();
    }
    return p;
}

bool dh_intercept_for_plain(void)
{
    const void *pc = __dh_hot.sp[-1].pc;
    return dh_plain_may(pc) && dh_modules_is_plain((uptr)pc);
}

void dh_intercept_init(void)
{
    for (struct dh_intercept_entry *e = __start_dh_intercepts; e < __stop_dh_intercepts; e++) {
        void *p = find(e->name);
        if (p != NULL) /* else: a library that is not loaded, or a libc that is too old, has it */
            memcpy(e->real, &p, sizeof(p));
    }
    for (struct dh_intercept_inside *e = __start_dh_insides; e < __stop_dh_insides; e++) {
        if (e->holder != NULL && e->holder != e->ours)
            memcpy(e->real, &e->holder, sizeof(e->holder));
    }
    dlerror(); /* the program shall not find our misses there */
    dh_intercept_thread_init();
    dh_intercept_process_init();
    dh_intercept_exit_init();
    dh_intercept_malloc_init();
    dh_place_init();
}
