/*
 * loader.c - loading and unloading of modules, for track.h and redirect.h.
 *
 * A library being opened calls libc directly until dlopen returns, so synchronisation in its constructors is
 * not seen: if it imports anything that would be tracked, the window ends.
 */
#include <dlfcn.h>

#include "base/runpath.h"
#include "field/intercept.h"

static void opened(void *module)
{
    if (module && dh_field_redirect_opened(module) && dh_field_tracks())
        dh_field_track_lose();
}

INTERCEPTOR(void *, dlopen, (const char *file, int mode))
{
    void *module = dh_runpath_open(real_dlopen, file, mode, __builtin_return_address(0));
    opened(module);
    return module;
}

INTERCEPTOR(void *, dlmopen, (Lmid_t space, const char *file, int mode))
{
    void *module = real_dlmopen(space, file, mode);
    opened(module);
    return module;
}

/* The command checks which modules are loaded when two threads have met; it does not see one unloaded by
 * then. */
INTERCEPTOR(int, dlclose, (void *module))
{
    if (dh_field_tracks())
        dh_field_track_lose();
    return real_dlclose(module);
}

/* ---- Functions looked up by name ---- */

/* libc must answer other requests as if made by the caller, because the lookup depends on where it is called
 * from. */
#if __has_attribute(musttail)
#define IN_ITS_PLACE __attribute__((musttail))
#else
#define IN_ITS_PLACE
#endif

INTERCEPTOR(void *, dlsym, (void *restrict module, const char *restrict name))
{
    void *found = module == RTLD_NEXT ? NULL : real_dlsym(module, name);
    void *ours = dh_field_redirect_found(name, found);
    if (ours != found)
        return ours;
    IN_ITS_PLACE return real_dlsym(module, name);
}

INTERCEPTOR(void *, dlvsym, (void *restrict module, const char *restrict name, const char *restrict version))
{
    void *found = module == RTLD_NEXT ? NULL : real_dlvsym(module, name, version);
    void *ours = dh_field_redirect_found(name, found);
    if (ours != found)
        return ours;
    IN_ITS_PLACE return real_dlvsym(module, name, version);
}
