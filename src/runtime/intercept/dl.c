/*
 * intercept/dl.c - loading and unloading of modules.
 *
 * Edges: those of libc's loader lock, which is held while constructors and destructors run. What they did
 * happens before every later dlopen and dlclose; what a thread did before dlclose happens before the
 * destructors of the last close. For another thread to find these edges when its own call returns, they must
 * be made before libc lets it go on: so a lock of ours, recursive as libc's is, stands around the real call
 * and the edges.
 *
 * The real calls run constructors and destructors, which are program code: they are made outside the
 * runtime, as blocking calls.
 */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <link.h>
#include <linux/futex.h>
#include <unistd.h>

#include "base/sys.h"
#include "runtime/intercept/intercept.h"
#include "runtime/threads/plain.h"

extern DH_HIDDEN void *(*dh_real_dlopen)(const char *, int);

/* Taken by whoever is inside dlopen or dlclose. Also the address that the edges go through. */
static struct {
    u32 word;          /* futex: 0 free, 1 taken, 2 taken and waited for */
    u32 depth;         /* owner only */
    const void *owner; /* __dh_hot of the thread, which a forked child keeps; atomic */
} loader;

enum { SEARCH_MAX = 16 << 10, PATH_LEN = 4096 };

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

/* Forked child: if another thread was inside, nobody is now. */
void dh_intercept_dl_fork_child(void)
{
    if (loader.owner == &__dh_hot)
        return;
    loader.owner = NULL;
    loader.depth = 0;
    loader.word = 0;
}

/* ---- The caller's search path ---- */

/* dir/file in buf, or false if it does not fit. */
static bool join_path(char *buf, const char *dir, const char *file)
{
    size_t n = 0;
    for (; *dir && n < PATH_LEN - 1; dir++)
        buf[n++] = *dir;
    buf[n++] = '/';
    for (; *file && n < PATH_LEN; file++)
        buf[n++] = *file;
    if (n >= PATH_LEN)
        return false;
    buf[n] = 0;
    return true;
}

static bool has_run_path(const struct link_map *map)
{
    const ElfW(Dyn) *d = map->l_ld;
    while (d && d->d_tag != DT_NULL && d->d_tag != DT_RUNPATH && d->d_tag != DT_RPATH)
        d++;
    return d && d->d_tag != DT_NULL;
}

static bool is_bare(const char *file)
{
    if (file == NULL || *file == 0)
        return false;
    while (*file && *file != '/')
        file++;
    return *file == 0;
}

/*
 * libc looks for a bare name along the run path of the module that calls dlopen; called from here that would
 * be the executable's. So a library with a run path of its own gets the search done for it.
 */
static void *open_along_run_path(const char *file, int mode, const void *caller)
{
    Dl_info info;
    struct link_map *map = NULL;
    Dl_serinfo size;
    if (!is_bare(file) || !dladdr1(caller, &info, (void **)&map, RTLD_DL_LINKMAP) || map == NULL ||
        map->l_name[0] == 0 || !has_run_path(map))
        return NULL;
    void *handle = REAL(dlopen)(file, mode | RTLD_NOLOAD);
    if (handle != NULL || (mode & RTLD_NOLOAD))
        return handle;
    if (dlinfo(map, RTLD_DI_SERINFOSIZE, &size) != 0 || size.dls_size > SEARCH_MAX)
        return NULL;
    Dl_serinfo *search = __builtin_alloca(size.dls_size);
    *search = size;
    if (dlinfo(map, RTLD_DI_SERINFOSIZE, search) != 0 || dlinfo(map, RTLD_DI_SERINFO, search) != 0)
        return NULL;
    for (unsigned i = 0; handle == NULL && i < search->dls_cnt; i++) {
        char path[PATH_LEN];
        if (join_path(path, search->dls_serpath[i].dls_name, file) && access(path, R_OK) == 0)
            handle = REAL(dlopen)(path, mode);
    }
    return handle;
}

/* ---- Interceptors ---- */

static void *open_for(const char *file, int mode, const void *caller)
{
    void *handle = open_along_run_path(file, mode, caller);
    /* Otherwise, or when all that failed, also for the message dlerror gives. */
    return handle ? handle : REAL(dlopen)(file, mode);
}

DH_INTERCEPTOR(void *, dlopen, const char *file, int mode)
{
    DH_ENTER(dlopen, file, mode);
    const void *caller = __builtin_return_address(0);
    enter_loader(&sc);
    void *handle = DH_BLOCKING(open_for(file, mode, caller));
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
