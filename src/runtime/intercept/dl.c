/*
 * intercept/dl.c - loading and unloading of modules.
 *
 * Edges: those of libc's loader lock, which is held while constructors and destructors run. What they did
 * happens before every later dlopen and dlclose; what a thread did before dlclose happens before the
 * destructors of the last close. For another thread to find these edges when its own call returns, they must
 * be created before libc lets it continue: so a lock of ours, recursive like libc's, encloses the real call
 * and the edges.
 *
 * The real calls run constructors and destructors, which are program code: they are made outside the
 * runtime, as blocking calls.
 */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <linux/futex.h>

#include "base/runpath.h"
#include "base/sys.h"
#include "runtime/intercept/intercept.h"
#include "runtime/threads/plain.h"

extern DH_HIDDEN void *(*dh_real_dlopen)(const char *, int);

/* Held inside dlopen and dlclose. Also the address that the edges go through. */
static struct {
    u32 word;          /* futex: 0 free, 1 taken, 2 taken and waited for */
    u32 depth;         /* owner only */
    const void *owner; /* __dh_hot of the thread, which a forked child keeps; atomic */
} loader;

static void lock_word(void)
{
    u32 none = 0;
    if (__atomic_compare_exchange_n(&loader.word, &none, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return;
    while (__atomic_exchange_n(&loader.word, 2, __ATOMIC_ACQUIRE) != 0)
        dh_sys6(SYS_futex, (long)&loader.word, FUTEX_WAIT_PRIVATE, 2, 0, 0, 0);
}

/* A constructor may take its time, and may open further libraries. */
static void enter_loader(struct dh_scope *sc)
{
    if (__atomic_load_n(&loader.owner, __ATOMIC_RELAXED) != &__dh_hot) {
        dh_scope_block(sc);
        lock_word();
        dh_scope_unblock(sc);
        __atomic_store_n(&loader.owner, &__dh_hot, __ATOMIC_RELAXED);
    }
    loader.depth++;
    dh_order_acquire(sc->t, &loader);
}

static void leave_loader(struct dh_scope *sc)
{
    dh_modules_changed();
    dh_order_release(sc->t, &loader);
    if (--loader.depth > 0)
        return;
    __atomic_store_n(&loader.owner, NULL, __ATOMIC_RELAXED);
    if (__atomic_exchange_n(&loader.word, 0, __ATOMIC_RELEASE) == 2)
        dh_sys6(SYS_futex, (long)&loader.word, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
}

/* Forked child: if another thread held it, no one does now. */
void dh_intercept_dl_fork_child(void)
{
    if (loader.owner == &__dh_hot)
        return;
    loader.owner = NULL;
    loader.depth = 0;
    loader.word = 0;
}

/* ---- Interceptors ---- */

DH_INTERCEPTOR(void *, dlopen, const char *file, int mode)
{
    DH_ENTER(dlopen, file, mode);
    const void *caller = __builtin_return_address(0);
    enter_loader(&sc);
    void *handle = DH_BLOCKING(dh_runpath_open(REAL(dlopen), file, mode, caller));
    leave_loader(&sc);
    DH_RETURN(handle);
}

DH_INTERCEPTOR(void *, dlmopen, Lmid_t ns, const char *file, int mode)
{
    DH_ENTER(dlmopen, ns, file, mode);
    enter_loader(&sc);
    void *handle = DH_BLOCKING(REAL(dlmopen)(ns, file, mode));
    leave_loader(&sc);
    DH_RETURN(handle);
}

DH_INTERCEPTOR(int, dlclose, void *handle)
{
    DH_ENTER(dlclose, handle);
    enter_loader(&sc);
    int rc = DH_BLOCKING(REAL(dlclose)(handle));
    leave_loader(&sc);
    dh_plain_forget();
    DH_RETURN(rc);
}
