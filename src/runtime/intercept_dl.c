/*
 * intercept_dl.c - loading and unloading of modules.
 *
 * Edges: what constructors did happens before every later dlopen returns, since libc's loader lock orders
 * them; what a thread did before dlclose happens before the destructors of the last close.
 *
 * The real calls run constructors and destructors, which are program code: they are made outside the
 * runtime, as blocking calls.
 */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include "runtime/intercept.h"

extern DH_HIDDEN void *(*dh_real_dlopen)(const char *, int);

static char loader; /* stands for the loader lock */

enum { SEARCH_MAX = 16 << 10, PATH_LEN = 4096 };

static void loaded(struct dh_scope *sc)
{
    dh_modules_changed();
    dh_sync_release(sc->t, &loader);
    dh_sync_acquire(sc->t, &loader);
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
    void *handle = DH_BLOCKING(open_for(file, mode, caller));
    if (handle != NULL)
        loaded(&sc);
    DH_RETURN(handle);
}

DH_INTERCEPTOR(void *, dlmopen, Lmid_t ns, const char *file, int mode)
{
    DH_ENTER(dlmopen, ns, file, mode);
    void *handle = DH_BLOCKING(REAL(dlmopen)(ns, file, mode));
    if (handle != NULL)
        loaded(&sc);
    DH_RETURN(handle);
}

DH_INTERCEPTOR(int, dlclose, void *handle)
{
    DH_ENTER(dlclose, handle);
    dh_sync_release(sc.t, &loader);
    dh_sync_acquire(sc.t, &loader);
    int rc = DH_BLOCKING(REAL(dlclose)(handle));
    dh_modules_changed();
    DH_RETURN(rc);
}
