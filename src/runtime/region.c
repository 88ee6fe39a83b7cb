/*
 * region.c - see region.h; docs/design/shadow.md for the layout.
 *
 * Shadow is mapped when memory appears (interceptors say so) and, as a safety net, when an access faults in a
 * plane. Nothing is reserved in advance: address-space limits see three times the program's own
 * use and no more.
 */
#include "runtime/region.h"

#include <link.h>

#include "base/lock.h"
#include "base/pool.h"
#include "base/sys.h"
#include "runtime/init.h"

#define ADDR_BITS 47
#define LEAF_BITS 14 /* regions per leaf */
#define TOP_BITS (ADDR_BITS - DH_REGION_SHIFT - LEAF_BITS)

struct leaf {
    u64 mapped[(1u << LEAF_BITS) / 64];
};

/* Leaves are set once, bits are set under `lock` and read without it. */
static struct dh_lock lock = DH_LOCK_INIT(DH_RANK_REGION);
static struct leaf *top[1u << TOP_BITS];

static bool is_mapped(uptr region)
{
    const struct leaf *l = __atomic_load_n(&top[region >> LEAF_BITS], __ATOMIC_ACQUIRE);
    u32 i = region & ((1u << LEAF_BITS) - 1);
    return l && (__atomic_load_n(&l->mapped[i / 64], __ATOMIC_ACQUIRE) >> (i % 64) & 1);
}

bool dh_region_has(uptr addr)
{
    return addr < (uptr)1 << ADDR_BITS && is_mapped(addr >> DH_REGION_SHIFT);
}

static bool set_mapped(uptr region)
{
    struct leaf **l = &top[region >> LEAF_BITS];
    if (!*l) {
        struct leaf *fresh = dh_pool_alloc(sizeof(**l));
        if (!fresh)
            return false;
        __atomic_store_n(l, fresh, __ATOMIC_RELEASE);
    }
    u32 i = region & ((1u << LEAF_BITS) - 1);
    __atomic_fetch_or(&(*l)->mapped[i / 64], 1ull << (i % 64), __ATOMIC_RELEASE);
    return true;
}

/* Regions [first, last) are not mapped; under `lock`. */
static bool map_run(uptr first, uptr last)
{
    uptr addr = first << DH_REGION_SHIFT, n = (last - first) << DH_REGION_SHIFT;
    if (dh_sys_map_at(dh_plane_of(addr, DH_PLANE_READ), n) < 0)
        return false;
    if (dh_sys_map_at(dh_plane_of(addr, DH_PLANE_WRITE), n) < 0) {
        dh_sys_unmap((void *)dh_plane_of(addr, DH_PLANE_READ), n);
        return false;
    }
    bool ok = true;
    for (uptr r = first; r < last; r++)
        ok &= set_mapped(r);
    return ok;
}

bool dh_region_map(const volatile void *p, size_t n)
{
    uptr first = (uptr)p >> DH_REGION_SHIFT;
    uptr last = ((uptr)p + (n ? n : 1) - 1) >> DH_REGION_SHIFT;
    if (last >= (uptr)1 << (ADDR_BITS - DH_REGION_SHIFT))
        return false;
    uptr r = first;
    while (r <= last && is_mapped(r))
        r++;
    if (r > last)
        return true;
    bool ok = true;
    dh_lock_take(&lock);
    while (r <= last) {
        if (is_mapped(r)) {
            r++;
            continue;
        }
        uptr end = r + 1;
        /* Runs stay inside one power-of-two part of the address space, so that flipping the plane bit keeps
         * them contiguous. */
        while (end <= last && !is_mapped(end) && (end << DH_REGION_SHIFT & (DH_WRITE_FLIP - 1)))
            end++;
        ok &= map_run(r, end);
        r = end;
    }
    dh_lock_drop(&lock);
    return ok;
}

void dh_region_unmap(const volatile void *p, size_t n)
{
    dh_engine_clear(NULL, p, n);
}

bool dh_region_touched(uptr addr, size_t n)
{
    uptr lo = DH_ALIGN_DOWN(addr, 4096), hi = DH_ALIGN_UP(addr + n, 4096);
    u8 resident[DH_REGION_SIZE / 4096 + 1];
    if (!dh_region_has(addr))
        return false;
    for (int plane = DH_PLANE_READ; plane <= DH_PLANE_WRITE; plane++) {
        if (!dh_sys_resident(dh_plane_of(lo, (enum dh_plane)plane), hi - lo, resident))
            return true;
        for (uptr i = 0; i < (hi - lo) / 4096; i++)
            if (resident[i] & 1)
                return true;
    }
    return false;
}

bool dh_region_fault(uptr addr)
{
    /* An application address has one of four patterns in bits 45 and 44 (docs/design/shadow.md); undoing
     * each plane's flip gives at most one that is not mapped yet and is an address Linux hands out. */
    if (addr >= (uptr)1 << ADDR_BITS)
        return false;
    for (int plane = DH_PLANE_READ; plane <= DH_PLANE_WRITE; plane++) {
        uptr app = dh_plane_undo(addr, (enum dh_plane)plane);
        u32 top_byte = (u32)(app >> 40);
        bool plausible = top_byte == 0 || top_byte == 0x2A || top_byte == 0x2B || top_byte == 0x55 ||
                         top_byte == 0x56 || top_byte == 0x7E || top_byte == 0x7F;
        if (plausible && !dh_region_has(app)) {
            if (!dh_region_map((void *)app, 1))
                dh_runtime_no_shadow();
            dh_count(DH_COUNT_SEGV_MAPPED);
            return true;
        }
    }
    return false;
}

void dh_region_each(void (*fn)(void *ctx, uptr lo, uptr hi), void *ctx)
{
    for (uptr t = 0; t < DH_ARRAY_LEN(top); t++) {
        const struct leaf *l = __atomic_load_n(&top[t], __ATOMIC_ACQUIRE);
        for (uptr w = 0; l && w < DH_ARRAY_LEN(l->mapped); w++) {
            u64 bits = __atomic_load_n(&l->mapped[w], __ATOMIC_ACQUIRE);
            while (bits) {
                u32 from = (u32)__builtin_ctzll(bits);
                u64 rest = ~bits & (~0ull << from);
                u32 to = rest ? (u32)__builtin_ctzll(rest) : 64;
                uptr base = t << LEAF_BITS | w << 6;
                fn(ctx, (base + from) << DH_REGION_SHIFT, (base + to) << DH_REGION_SHIFT);
                bits = to < 64 ? bits & (~0ull << to) : 0;
            }
        }
    }
}

static int map_module(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
        if (ph->p_type == PT_LOAD)
            dh_region_map((void *)(info->dlpi_addr + ph->p_vaddr), ph->p_memsz);
    }
    return 0;
}

void dh_region_init(void)
{
    dl_iterate_phdr(map_module, NULL);
}

static int measure_tls(struct dl_phdr_info *info, size_t size, void *ret_max)
{
    uptr tp = (uptr)__builtin_thread_pointer();
    uptr at = size > offsetof(struct dl_phdr_info, dlpi_tls_data) ? (uptr)info->dlpi_tls_data : 0;
    size_t *max = ret_max;
    if (at && at < tp && tp - at < (64u << 20) && tp - at > *max)
        *max = tp - at;
    return 0;
}

size_t dh_region_static_tls(void)
{
    size_t max = 0;
    dl_iterate_phdr(measure_tls, &max);
    return max;
}

void dh_region_each_lock(dh_lock_fn *fn)
{
    fn(&lock);
}
