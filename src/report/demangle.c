/*
 * demangle.c - C++ names, using the demangler of the installed C++ library.
 *
 * __cxa_demangle is part of the platform's C++ ABI, and every program with such names depends on a library
 * that has it. It is loaded when the first such name turns up: reports on C programs pay nothing, and without
 * the library names simply stay as they are.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "report/symbol.h"

typedef char *demangle_fn(const char *name, char *buffer, size_t *len, int *status);

static demangle_fn *find_demangler(void)
{
    static const char *const libraries[] = {"libstdc++.so.6", "libc++abi.so.1"};
    for (size_t i = 0; i < DH_ARRAY_LEN(libraries); i++) {
        void *lib = dlopen(libraries[i], RTLD_LAZY | RTLD_LOCAL); /* kept until exit */
        void *fn = lib ? dlsym(lib, "__cxa_demangle") : NULL;
        if (fn)
            return (demangle_fn *)fn;
    }
    return NULL;
}

const char *dh_symbol_demangle(struct dh_arena *arena, const char *name)
{
    static demangle_fn *demangle;
    static bool looked;
    if (strncmp(name, "_Z", 2) != 0)
        return name;
    if (!looked) {
        looked = true;
        demangle = find_demangler();
    }
    int status = 0;
    char *text = demangle ? demangle(name, NULL, NULL, &status) : NULL;
    if (!text)
        return name;
    const char *copy = dh_arena_strdup(arena, text);
    free(text);
    return copy;
}
