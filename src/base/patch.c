/*
 * patch.c - see patch.h. The program has one thread then, and none of the code that is changed is running.
 */
#include "base/patch.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "base/program.h"
#include "base/sys.h"

enum { PAGE = 4096 };

static const u8 nop[DH_PATCH_NOP] = {0x0f, 0x1f, 0x44, 0x00, 0x00};

static u64 address_of(const int32_t *distance)
{
    return (u64)distance + (u64)(int64_t)*distance;
}

static bool is_wanted(const struct dh_patch *p, const struct dh_patch_point *q)
{
    return q->group < p->n_groups && p->wanted[q->group] != 0;
}

/* Checks that the compiler's nop is there, or the same jump for another point, and that the target is within
 * reach. */
static bool make_jump(const struct dh_patch_point *q, u8 ret_jump[DH_PATCH_NOP])
{
    u64 at = address_of(&q->nop);
    int64_t far = (int64_t)(address_of(&q->to) - (at + DH_PATCH_NOP));
    int32_t distance = (int32_t)far;
    u8 jump[DH_PATCH_NOP] = {0xe9};
    memcpy(jump + 1, &distance, sizeof(distance));
    if (distance != far || (memcmp((const void *)at, nop, sizeof(nop)) != 0 &&
                            memcmp((const void *)at, jump, sizeof(jump)) != 0))
        return false;
    memcpy(ret_jump, jump, sizeof(jump));
    return true;
}

/* The pages of one part of the program's code that have to be changed. */
static bool find_span(const struct dh_patch *p, u64 from, u64 to, u64 *ret_from, u64 *ret_to)
{
    u64 low = to, high = from;
    for (const struct dh_patch_point *q = p->points; q < p->end; q++) {
        u64 at = address_of(&q->nop);
        if (at < from || at >= to || to - at < DH_PATCH_NOP || !is_wanted(p, q))
            continue;
        low = at < low ? at : low;
        high = at + DH_PATCH_NOP > high ? at + DH_PATCH_NOP : high;
    }
    if (low >= high)
        return false;
    *ret_from = DH_ALIGN_DOWN(low, PAGE);
    *ret_to = DH_ALIGN_UP(high, PAGE);
    return true;
}

/* mem: of /proc/self/mem, or -1: the memory is writable. */
static bool write_jumps(const struct dh_patch *p, u64 from, u64 to, int mem)
{
    bool done = true;
    for (const struct dh_patch_point *q = p->points; q < p->end; q++) {
        u8 jump[DH_PATCH_NOP];
        u64 at = address_of(&q->nop);
        if (at < from || at >= to || to - at < DH_PATCH_NOP || !is_wanted(p, q))
            continue;
        if (!make_jump(q, jump))
            done = false;
        else if (mem < 0)
            memcpy((void *)at, jump, sizeof(jump));
        else
            done &=
                dh_sys6(SYS_pwrite64, mem, (long)jump, sizeof(jump), (long)at, 0, 0) == (long)sizeof(jump);
    }
    return done;
}

/* In the code at [from, to). */
static bool patch_part(const struct dh_patch *p, u64 from, u64 to)
{
    u64 low = 0, high = 0;
    if (!find_span(p, from, to, &low, &high))
        return true;
    /* This code is in the same pages, so it stays executable. */
    if (dh_sys3(SYS_mprotect, (long)low, (long)(high - low), PROT_READ | PROT_WRITE | PROT_EXEC) == 0) {
        bool done = write_jumps(p, from, to, -1);
        return dh_sys3(SYS_mprotect, (long)low, (long)(high - low), PROT_READ | PROT_EXEC) == 0 && done;
    }
    int mem = (int)dh_sys3(SYS_open, (long)"/proc/self/mem", O_RDWR | O_CLOEXEC, 0);
    if (mem < 0)
        return false;
    bool done = write_jumps(p, from, to, mem);
    dh_sys3(SYS_close, mem, 0, 0);
    return done;
}

bool dh_patch_program(const struct dh_patch *p)
{
    bool done = true;
    u32 n;
    const Elf64_Phdr *h = dh_program_headers(&n);
    u64 bias = dh_program_bias();
    for (u32 i = 0; i < n; i++)
        if (h[i].p_type == PT_LOAD && (h[i].p_flags & PF_X) != 0)
            done &= patch_part(p, h[i].p_vaddr + bias, h[i].p_vaddr + bias + h[i].p_memsz);
    return done;
}
