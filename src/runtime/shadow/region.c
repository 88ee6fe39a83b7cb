/*
 * region.c - see region.h; docs/design/shadow.md for the layout.
 *
 * The write plane is mapped when memory appears (the interceptors report it) and, as a safety net, when an
 * access faults in it. So is the read plane of the class of the thread that gets the memory; those of other
 * classes are mapped where they first read, when the inlined check faults there. Nothing is reserved in
 * advance: the address space in use is twice the program's own, plus a read plane for each class of threads
 * where it reads.
 */
#include "runtime/shadow/region.h"

#include <errno.h>
#include <link.h>

#include "base/lock.h"
#include "base/pool.h"
#include "base/sys.h"
#include "runtime/init.h"
#include "runtime/shadow/heap.h"
#include "runtime/sink/sink.h"

#define ADDR_BITS 47
_Static_assert(DH_READ_RUN % DH_REGION_SIZE == 0 && DH_WRITE_RUN % DH_REGION_SIZE == 0,
               "the shadow of a region is contiguous in every plane");
#define LEAF_BITS 14 /* regions per leaf */
#define TOP_BITS (ADDR_BITS - DH_REGION_SHIFT - LEAF_BITS)
#define USER_END (((uptr)1 << ADDR_BITS) - 4096) /* the kernel maps nothing from here on */

struct leaf {
    u64 mapped[(1u << LEAF_BITS) / 64];
    u64 refused[(1u << LEAF_BITS) / 64]; /* their place was taken when last checked */
    u8 classes[1u << LEAF_BITS];         /* bit c: read plane c is mapped too */
    u8 classes_refused[1u << LEAF_BITS]; /* bit c: the place of read plane c is taken */
};
_Static_assert(DH_READ_CLASSES <= 8, "the read planes of a piece are one u8");

/* Leaves are set once, bits are set under `lock` and read without it. */
static struct dh_lock lock = DH_LOCK_INIT(DH_RANK_REGION);
static struct leaf *top[1u << TOP_BITS];

static bool is_mapped(uptr region)
{
    const struct leaf *l = __atomic_load_n(&top[region >> LEAF_BITS], __ATOMIC_ACQUIRE);
    u32 i = region & ((1u << LEAF_BITS) - 1);
    return l && (__atomic_load_n(&l->mapped[i / 64], __ATOMIC_ACQUIRE) >> (i % 64) & 1);
}

static bool is_refused(uptr region)
{
    const struct leaf *l = __atomic_load_n(&top[region >> LEAF_BITS], __ATOMIC_ACQUIRE);
    u32 i = region & ((1u << LEAF_BITS) - 1);
    return l && (__atomic_load_n(&l->refused[i / 64], __ATOMIC_ACQUIRE) >> (i % 64) & 1);
}

bool dh_region_has(uptr addr)
{
    return addr < (uptr)1 << ADDR_BITS && is_mapped(addr >> DH_REGION_SHIFT);
}

/* The mapped read planes of a piece, as bits. */
static u8 classes_of(uptr region)
{
    const struct leaf *l = __atomic_load_n(&top[region >> LEAF_BITS], __ATOMIC_ACQUIRE);
    return l ? __atomic_load_n(&l->classes[region & ((1u << LEAF_BITS) - 1)], __ATOMIC_ACQUIRE) : 0;
}

bool dh_region_has_plane(uptr addr, u32 plane)
{
    if (addr >= (uptr)1 << ADDR_BITS)
        return false;
    return plane == DH_NTH_WRITE ? is_mapped(addr >> DH_REGION_SHIFT)
                                 : classes_of(addr >> DH_REGION_SHIFT) >> plane & 1;
}

/* Under `lock`. NULL: no memory. */
static struct leaf *leaf_of(uptr region)
{
    struct leaf **l = &top[region >> LEAF_BITS];
    if (!*l)
        __atomic_store_n(l, dh_pool_alloc(sizeof(**l)), __ATOMIC_RELEASE);
    return *l;
}

static bool set_mapped(uptr region)
{
    struct leaf *l = leaf_of(region);
    u32 i = region & ((1u << LEAF_BITS) - 1);
    if (l)
        __atomic_fetch_or(&l->mapped[i / 64], 1ull << (i % 64), __ATOMIC_RELEASE);
    return l != NULL;
}

static void set_refused(uptr region)
{
    struct leaf *l = leaf_of(region);
    u32 i = region & ((1u << LEAF_BITS) - 1);
    if (l)
        __atomic_fetch_or(&l->refused[i / 64], 1ull << (i % 64), __ATOMIC_RELEASE);
}

static int map_plane(uptr addr, size_t n, u32 plane)
{
    uptr at = dh_plane_nth(addr, plane);
    return at + n > USER_END ? -EEXIST : dh_sys_map_at(at, n);
}

/* Regions [first, last) are not mapped; under `lock`. 0 or a negative errno. */
static int map_run(uptr first, uptr last)
{
    uptr addr = first << DH_REGION_SHIFT, n = (last - first) << DH_REGION_SHIFT;
    int rc = map_plane(addr, n, DH_NTH_WRITE);
    if (rc < 0)
        return rc;
    bool ok = true;
    for (uptr r = first; r < last; r++)
        ok &= set_mapped(r);
    return ok ? 0 : -ENOMEM;
}

/* The same, but if something is in the way of one piece, the others still get their shadow. */
static int map_pieces(uptr first, uptr last)
{
    int rc = map_run(first, last);
    if (rc != -EEXIST)
        return rc;
    for (uptr r = first; r < last; r++) {
        int one = last - first > 1 ? map_run(r, r + 1) : rc;
        if (one == -EEXIST)
            set_refused(r);
        else if (one < 0)
            return one;
    }
    return rc;
}

/* The read plane of a class for a piece of memory. 0 or a negative errno. */
static int map_class(uptr region, u32 class)
{
    if (classes_of(region) >> class & 1)
        return 0;
    dh_lock_take(&lock);
    struct leaf *l = leaf_of(region);
    int rc = l ? 0 : -ENOMEM;
    if (rc == 0 && !(classes_of(region) >> class & 1))
        rc = map_plane(region << DH_REGION_SHIFT, DH_REGION_SIZE, class);
    u32 i = region & ((1u << LEAF_BITS) - 1);
    if (rc == 0)
        __atomic_fetch_or(&l->classes[i], (u8)(1u << class), __ATOMIC_RELEASE);
    else if (rc == -EEXIST)
        __atomic_fetch_or(&l->classes_refused[i], (u8)(1u << class), __ATOMIC_RELEASE);
    dh_lock_drop(&lock);
    return rc;
}

static bool is_class_refused(uptr region, u32 class)
{
    const struct leaf *l = __atomic_load_n(&top[region >> LEAF_BITS], __ATOMIC_ACQUIRE);
    return l &&
           (__atomic_load_n(&l->classes_refused[region & ((1u << LEAF_BITS) - 1)], __ATOMIC_ACQUIRE) >> class
            & 1);
}

bool dh_region_map(const volatile void *p, size_t n)
{
    return dh_region_try(p, n) == 0;
}

int dh_region_try(const volatile void *p, size_t n)
{
    uptr first = (uptr)p >> DH_REGION_SHIFT;
    uptr last = ((uptr)p + (n ? n : 1) - 1) >> DH_REGION_SHIFT;
    if (last >= (uptr)1 << (ADDR_BITS - DH_REGION_SHIFT))
        return -ENOMEM;
    uptr r = first;
    while (r <= last && is_mapped(r) && (classes_of(r) >> dh_plane_own_class() & 1))
        r++;
    if (r > last)
        return 0;
    int rc = 0;
    dh_lock_take(&lock);
    while (r <= last) {
        if (is_mapped(r)) {
            r++;
            continue;
        }
        uptr end = r + 1;
        /* Runs stay inside one power-of-two part of the address space, so that flipping the plane's bits
         * keeps them contiguous. */
        while (end <= last && !is_mapped(end) && (end << DH_REGION_SHIFT & (DH_WRITE_RUN - 1)))
            end++;
        int one = map_pieces(r, end);
        if (one < 0 && rc != -ENOMEM)
            rc = one;
        r = end;
    }
    dh_lock_drop(&lock);
    /* A thread that gets memory will most likely read it. If that plane's place is taken, its accesses will
     * find out. */
    for (r = first; r <= last && rc == 0; r++)
        if (map_class(r, dh_plane_own_class()) == -ENOMEM)
            rc = -ENOMEM;
    return rc;
}

bool dh_region_get_plane(uptr addr, u32 plane)
{
    if (dh_region_has_plane(addr, plane))
        return true;
    /* After a refusal, retry only when memory newly appears there: this function is called for every
     * access. */
    uptr region = addr >> DH_REGION_SHIFT;
    if (addr >= USER_END || (!is_mapped(region) && is_refused(region)))
        return false;
    if (plane == DH_NTH_WRITE)
        return dh_region_map((const void *)addr, 1);
    return !is_class_refused(region, plane) && dh_region_map((const void *)addr, 1) &&
           map_class(region, plane) == 0;
}

void dh_region_unmap(const volatile void *p, size_t n)
{
    dh_sink_clear(NULL, p, n);
}

bool dh_region_touched(uptr addr, size_t n)
{
    uptr lo = DH_ALIGN_DOWN(addr, 4096), hi = DH_ALIGN_UP(addr + n, 4096);
    u8 resident[DH_REGION_SIZE / 4096 + 1];
    if (!dh_region_has(addr))
        return false;
    for (u32 plane = 0; plane < DH_PLANES; plane++) {
        if (!dh_region_has_plane(addr, plane))
            continue;
        if (!dh_sys_resident(dh_plane_nth(lo, plane), hi - lo, resident))
            return true;
        for (uptr i = 0; i < (hi - lo) / 4096; i++)
            if (resident[i] & 1)
                return true;
    }
    return false;
}

bool dh_region_covers(uptr addr)
{
    u32 top_byte = (u32)(addr >> 40);
    return top_byte == 0 || top_byte == 0x2A || top_byte == 0x2B || top_byte == 0x55 || top_byte == 0x56 ||
           top_byte == 0x7E || top_byte == 0x7F;
}

/* Memory that the runtime has mapped at a place of its own choice. */
static bool is_ours(uptr addr)
{
    for (u32 plane = 0; plane < DH_PLANES; plane++)
        if (dh_region_has_plane(dh_plane_nth(addr, plane), plane))
            return true;
    return addr - DH_HEAP_PLANE < DH_HEAP_PLANE_SIZE || addr - DH_SYS_OWN < DH_SYS_OWN_SIZE;
}

/*
 * The application address whose missing cell is at `cell`, and the plane that cell is in; 0 if there is none.
 * Of the candidates, memory that has shadow in the write plane or at least exists comes first, wherever it
 * is. If there is none, a candidate in the usual address ranges is taken for a wild pointer: its cells are
 * mapped too, so that the access itself faults, at the address the program used.
 */
static uptr behind(uptr cell, u32 *ret_plane)
{
    /* A thread only touches its own two planes, and those that it knows to be mapped. */
    const u32 candidates[] = {dh_plane_own_class(), DH_NTH_WRITE};
    uptr wild = 0;
    for (u32 i = 0; i < DH_ARRAY_LEN(candidates); i++) {
        u32 plane = candidates[i];
        uptr app = dh_plane_nth(cell, plane);
        if (app >= USER_END || dh_region_has_plane(app, plane))
            continue;
        bool real = dh_region_has(app) || (dh_sys_exists(app) && !is_ours(app));
        if (real || (!wild && dh_region_covers(app))) {
            *ret_plane = plane;
            wild = app;
        }
        if (real)
            break;
    }
    return wild;
}

/* Is this a cell that the calling thread may check, for memory that exists? */
static bool is_cell(uptr addr)
{
    const u32 own = dh_plane_own_class();
    return dh_region_has_plane(dh_plane_nth(addr, own), own) ||
           dh_region_has_plane(dh_plane_nth(addr, DH_NTH_WRITE), DH_NTH_WRITE);
}

bool dh_region_fault(uptr addr)
{
    u32 plane = DH_NTH_WRITE;
    if (addr < USER_END && is_cell(addr))
        return true; /* another thread faulted there at the same time, and was first */
    uptr app = addr < USER_END ? behind(addr, &plane) : 0;
    if (!app)
        return false;
    int rc = dh_region_try((void *)app, 1);
    if (rc == 0 && plane != DH_NTH_WRITE)
        rc = map_class(app >> DH_REGION_SHIFT, plane);
    /* The piece of shadow cannot be mapped as a whole. Map just this page, so that inlined code can read it:
     * nothing is written there, because writers call dh_region_get_plane first (touched.h). */
    if (rc == -EEXIST)
        return dh_sys_map_at(DH_ALIGN_DOWN(addr, 4096), 4096) == 0;
    if (rc < 0)
        dh_runtime_no_shadow();
    dh_runtime_count(DH_COUNT_SEGV_MAPPED);
    return true;
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
