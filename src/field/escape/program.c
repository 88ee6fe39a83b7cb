/*
 * program.c - see program.h.
 */
#include "field/escape/program.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

/* By the linker. */
extern DH_HIDDEN const Elf64_Ehdr __ehdr_start;

const Elf64_Phdr *dh_esc_program_headers(u32 *ret_n)
{
    *ret_n = __ehdr_start.e_phnum;
    return (const Elf64_Phdr *)((const char *)&__ehdr_start + __ehdr_start.e_phoff);
}

u64 dh_esc_program_bias(void)
{
    u32 n;
    const Elf64_Phdr *h = dh_esc_program_headers(&n);
    for (u32 i = 0; i < n; i++)
        if (h[i].p_type == PT_LOAD && h[i].p_offset == 0)
            return (u64)&__ehdr_start - h[i].p_vaddr;
    return 0;
}

static void read_build_id(const Elf64_Phdr *notes, u64 bias, u8 ret[DH_CAPER_BUILD_ID])
{
    const char *at = (const char *)(notes->p_vaddr + bias), *end = at + notes->p_memsz;
    while ((size_t)(end - at) >= sizeof(Elf64_Nhdr)) {
        const Elf64_Nhdr *note = (const Elf64_Nhdr *)at;
        u64 name = DH_ALIGN_UP((u64)note->n_namesz, 4), desc = DH_ALIGN_UP((u64)note->n_descsz, 4);
        at += sizeof(*note);
        if (name + desc > (u64)(end - at))
            return;
        if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && memcmp(at, "GNU", 4) == 0)
            memcpy(ret, at + name, note->n_descsz < DH_CAPER_BUILD_ID ? note->n_descsz : DH_CAPER_BUILD_ID);
        at += name + desc;
    }
}

bool dh_esc_program_is(const u8 id[DH_CAPER_BUILD_ID])
{
    u8 own[DH_CAPER_BUILD_ID] = {0};
    u32 n;
    const Elf64_Phdr *h = dh_esc_program_headers(&n);
    for (u32 i = 0; i < n; i++)
        if (h[i].p_type == PT_NOTE)
            read_build_id(&h[i], dh_esc_program_bias(), own);
    return memcmp(own, id, sizeof(own)) == 0;
}

/* ---- The allocator ---- */

extern __attribute__((weak)) void *__libc_malloc(size_t n);
extern __attribute__((weak)) void *_Znwm(size_t n);      /* operator new */
extern __attribute__((weak)) void _ZSt9terminatev(void); /* something else of the library of C++ */

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
