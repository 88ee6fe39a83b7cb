/*
 * program.c - see program.h.
 */
#include "field/escape/program.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/auxv.h>

/* Defined by the linker. */
extern DH_HIDDEN const Elf64_Ehdr __ehdr_start;

/* ---- The allocator ---- */

extern __attribute__((weak)) void *__libc_malloc(size_t n);
extern __attribute__((weak)) void *_Znwm(size_t n);      /* operator new */
extern __attribute__((weak)) void _ZSt9terminatev(void); /* any other symbol of the C++ library */

static const void *object_of(const void *function)
{
    Dl_info info;
    return dladdr(function, &info) ? info.dli_fbase : NULL;
}

bool dh_esc_program_has_glibc_heap(void)
{
    if (!__libc_malloc || (const void *)malloc != (const void *)__libc_malloc)
        return false;
    if (!_Znwm)
        return true;
    const void *library = object_of((const void *)_Znwm);
    return library && library != &__ehdr_start && _ZSt9terminatev &&
           library == object_of((const void *)_ZSt9terminatev);
}

/* ---- The environment ---- */

static const char *value_in(const char *setting, const char *name)
{
    while (*name && *setting == *name)
        setting++, name++;
    return *name == 0 && *setting == '=' ? setting + 1 : NULL;
}

const char *dh_esc_program_setting(char **environment, const char *name)
{
    const char *path = NULL;
    for (; *environment; environment++)
        if (value_in(*environment, name))
            path = value_in(*environment, name);
    return getauxval(AT_SECURE) ? NULL : path;
}
