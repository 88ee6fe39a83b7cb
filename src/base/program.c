/*
 * program.c - see program.h. Calls no libc function: libc may not be ready yet.
 */
#include "base/program.h"

/* By the linker. */
extern DH_HIDDEN const Elf64_Ehdr __ehdr_start;

const Elf64_Phdr *dh_program_headers(u32 *ret_n)
{
    *ret_n = __ehdr_start.e_phnum;
    return (const Elf64_Phdr *)((const char *)&__ehdr_start + __ehdr_start.e_phoff);
}

u64 dh_program_bias(void)
{
    u32 n;
    const Elf64_Phdr *h = dh_program_headers(&n);
    for (u32 i = 0; i < n; i++)
        if (h[i].p_type == PT_LOAD && h[i].p_offset == 0)
            return (u64)&__ehdr_start - h[i].p_vaddr;
    return 0;
}

static bool is_build_id(const Elf64_Nhdr *note, const char *name)
{
    return note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && name[0] == 'G' && name[1] == 'N' &&
           name[2] == 'U' && name[3] == '\0';
}

/* How many bytes it has. */
static u32 read_build_id(const Elf64_Phdr *notes, u64 bias, u8 ret[DH_PROGRAM_BUILD_ID])
{
    u32 n = 0;
    const char *at = (const char *)(notes->p_vaddr + bias), *end = at + notes->p_memsz;
    while ((size_t)(end - at) >= sizeof(Elf64_Nhdr)) {
        const Elf64_Nhdr *note = (const Elf64_Nhdr *)at;
        u64 name = DH_ALIGN_UP((u64)note->n_namesz, 4), desc = DH_ALIGN_UP((u64)note->n_descsz, 4);
        at += sizeof(*note);
        if (name + desc > (u64)(end - at))
            break;
        for (n = is_build_id(note, at) ? 0 : n;
             is_build_id(note, at) && n < note->n_descsz && n < DH_PROGRAM_BUILD_ID; n++)
            ret[n] = (u8)at[name + n];
        at += name + desc;
    }
    return n;
}

u32 dh_program_build_id(u8 ret[DH_PROGRAM_BUILD_ID])
{
    u32 n, length = 0;
    const Elf64_Phdr *h = dh_program_headers(&n);
    for (u32 i = 0; i < n && !length; i++)
        if (h[i].p_type == PT_NOTE)
            length = read_build_id(&h[i], dh_program_bias(), ret);
    return length;
}

bool dh_program_is(const u8 id[DH_PROGRAM_BUILD_ID])
{
    u8 own[DH_PROGRAM_BUILD_ID] = {0}, differ = 0;
    dh_program_build_id(own);
    for (u32 i = 0; i < DH_PROGRAM_BUILD_ID; i++)
        differ |= own[i] ^ id[i];
    return differ == 0;
}
