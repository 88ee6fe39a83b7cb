/*
 * loader.c - modules that come and go, for track.h and redirect.h.
 *
 * A library that is opened calls libc until dlopen returns, so what its constructors order is not seen: if it
 * calls anything that would be followed, the window ends.
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

/* The command looks at what is loaded when two have met; what is gone by then it does not see. */
INTERCEPTOR(int, dlclose, (void *module))
{
    if (dh_field_tracks())
        dh_field_track_lose();
    return real_dlclose(module);
}

/* ---- Functions by their names ---- */

/* What is not ours libc must answer as if it had been asked by the caller, from whose place it looks. */
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
