/*
 * intercept/mmap.c - memory that comes from and goes back to the kernel.
 *
 * Order matters, because the kernel may give an address that one thread unmaps to another at once. So history
 * is forgotten before the real munmap, started after the real mmap, and moved before the real mremap; a
 * failed munmap only costs the history. munmap is a write to all it covers, as free is, but only where the
 * program can have touched it before: nothing is recorded for memory without shadow. What is mapped or moved
 * over other memory with MAP_FIXED or MREMAP_FIXED, and what brk and sbrk take back, is unmapped first.
 *
 * madvise is a write where it empties memory. mprotect does not change what the program's accesses mean.
 */
#define _GNU_SOURCE 1
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/sys.h"
#include "runtime/shadow/region.h"
#include "runtime/sink/sink.h"
#include "runtime/threads/scope.h"

static size_t whole_pages(size_t n)
{
    return DH_ALIGN_UP(n, 4096);
}

/* Mappings beyond this size are reserves of which a part is used: their shadow comes by fault. */
#define MAP_EAGER ((size_t)1 << 30)

/* 0, or why there is no shadow (dh_region_try). */
static int appeared(struct dh_thread *t, void *p, size_t n)
{
    n = whole_pages(n);
    int rc = n > MAP_EAGER ? 0 : dh_region_try(p, n);
    dh_sink_clear(t, p, n);
    dh_sink_forget(p, n);
    return rc;
}

static void *mapped_elsewhere(struct dh_thread *t, void *p, void *wish, size_t n, int prot, int flags, int fd,
                              off_t offset, int why);

/* False: it is not an address range at all, as the kernel will say. */
static bool is_range(const char *p, size_t n)
{
    return (uptr)p % 4096 == 0 && n <= 1ull << 47 && (uptr)p + whole_pages(n) <= 1ull << 47;
}

static size_t in_region(const char *p, const char *end)
{
    size_t n = DH_REGION_SIZE - ((uptr)p & (DH_REGION_SIZE - 1));
    return n < (size_t)(end - p) ? n : (size_t)(end - p);
}

/* Where nothing is recorded there is nothing to check or forget. */
static bool is_recorded(const char *p, size_t n)
{
    bool any = dh_sink_wants_all();
    for (const char *end = p + n; !any && p < end; p += in_region(p, end))
        any = dh_region_touched((uptr)p, in_region(p, end));
    return any;
}

/* A small mapping is one access, which is reported with its size wherever it lies. A large one is written
 * region by region, so that this does not fill shadow for all of it at once. */
static void vanishes(struct dh_thread *t, char *p, size_t n)
{
    if (!is_range(p, n))
        return;
    n = whole_pages(n);
    dh_sink_forget(p, n);
    for (char *end = p + n; p < end;) {
        size_t slice = n <= DH_REGION_SIZE ? n : in_region(p, end);
        if (is_recorded(p, slice)) {
            dh_sink_access(t, p, slice, DH_WRITE | DH_FREE | DH_RANGE);
            dh_region_unmap(p, slice);
        }
        p += slice;
    }
}

#define MAP(name)                                                            \
    DH_ENTER(name, addr, n, prot, flags, fd, offset);                        \
    if ((flags & MAP_FIXED) && n != 0)                                       \
        vanishes(sc.t, addr, n);                                             \
    void *p = REAL(name)(addr, n, prot, flags, fd, offset);                  \
    int rc = p != MAP_FAILED ? appeared(sc.t, p, n) : 0;                     \
    if (rc < 0)                                                              \
        p = mapped_elsewhere(sc.t, p, addr, n, prot, flags, fd, offset, rc); \
    DH_RETURN(p)

DH_INTERCEPTOR(void *, mmap, void *addr, size_t n, int prot, int flags, int fd, off_t offset)
{
    MAP(mmap);
}

DH_INTERCEPTOR(void *, mmap64, void *addr, size_t n, int prot, int flags, int fd, off64_t offset)
{
    MAP(mmap64);
}

DH_INTERCEPTOR(int, munmap, void *p, size_t n)
{
    DH_ENTER(munmap, p, n);
    vanishes(sc.t, p, n);
    DH_RETURN(REAL(munmap)(p, n));
}

/* There is no shadow for what the kernel returned. If the address was only a hint, another place may do. If
 * not, and there is no address space for shadow, the program could not touch it: report no memory. If only
 * the place of the shadow is taken, the memory can be used unchecked. */
static void *mapped_elsewhere(struct dh_thread *t, void *p, void *wish, size_t n, int prot, int flags, int fd,
                              off_t offset, int why)
{
    if (flags & (MAP_FIXED | MAP_FIXED_NOREPLACE))
        return p; /* it may have replaced something: what is done is done */
    if (!wish && why == -EEXIST)
        return p;
    REAL(munmap)(p, n);
    if (wish) {
        p = REAL(mmap)(NULL, n, prot, flags, fd, offset);
        if (p == MAP_FAILED || appeared(t, p, n) != -ENOMEM)
            return p;
        REAL(munmap)(p, n);
    }
    errno = ENOMEM;
    return MAP_FAILED;
}

extern DH_HIDDEN void *(*dh_real_mremap)(void *, size_t, size_t, int, ...);

/* The history of what is to be at `to` after the data moved there; `from` belongs to anybody then. */
static void move_history(struct dh_thread *t, char *to, size_t has, char *from, size_t had)
{
    dh_region_map(to, has);
    dh_sink_move(t, to, from, had < has ? had : has);
    dh_region_unmap(from, had);
}

/* Where the data goes is known before it goes: what it leaves may be another thread's mapping before the
 * kernel returns to us. So the history goes first, and comes back if the data could not follow. */
static void *move_to(struct dh_thread *t, char *old, size_t had, size_t n, int flags, char *to)
{
    size_t has = whole_pages(n);
    move_history(t, to, has, old, had);
    void *p = REAL(mremap)(old, had, n, flags | MREMAP_FIXED, to);
    int saved = errno;
    if (p == MAP_FAILED) {
        move_history(t, old, had, to, has);
        errno = saved;
    }
    return p;
}

/* To a place reserved beforehand. If that is refused, as for huge pages, to one that the kernel chooses, and
 * the history follows. */
static void *move_anywhere(struct dh_thread *t, char *old, size_t had, size_t n, int flags)
{
    char *to = REAL(mmap)(NULL, n, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    void *p = to != MAP_FAILED ? move_to(t, old, had, n, flags, to) : MAP_FAILED;
    if (p != MAP_FAILED)
        return p;
    if (to != MAP_FAILED)
        REAL(munmap)(to, n);
    p = REAL(mremap)(old, had, n, flags);
    if (p != MAP_FAILED && p != old)
        move_history(t, p, whole_pages(n), old, had);
    return p;
}

static void *remap(struct dh_thread *t, char *old, size_t old_n, size_t n, int flags, char *wanted)
{
    size_t had = whole_pages(old_n), has = whole_pages(n);
    if (flags & MREMAP_FIXED) {
        if (old < wanted + has && wanted < old + had)
            return REAL(mremap)(old, old_n, n, flags, wanted); /* refused: they overlap */
        vanishes(t, wanted, n);
        if (has < had)
            vanishes(t, old + has, had - has);
    }
    if (old_n == 0 || (flags & ~(MREMAP_MAYMOVE | MREMAP_FIXED))) {
        /* A second view of the same pages; or the old place stays, without its contents: nobody gets it. */
        void *p = REAL(mremap)(old, old_n, n, flags, wanted);
        if (p != MAP_FAILED && p != old && old_n) {
            dh_region_map(p, has);
            dh_sink_move(t, p, old, had < has ? had : has);
            dh_sink_clear(t, old, had);
        }
        return p;
    }
    if (flags & MREMAP_FIXED)
        return move_to(t, old, had, n, flags, wanted);
    if (has < had)
        vanishes(t, old + has, had - has);
    void *p = REAL(mremap)(old, old_n, n, 0); /* what the kernel tries first in any case */
    return p == MAP_FAILED && errno == ENOMEM && (flags & MREMAP_MAYMOVE)
               ? move_anywhere(t, old, had, n, flags)
               : p;
}

DH_INTERCEPTOR(void *, mremap, void *old, size_t old_n, size_t n, int flags, ...)
{
    va_list ap;
    va_start(ap, flags);
    void *wanted = flags & MREMAP_FIXED ? va_arg(ap, void *) : NULL;
    va_end(ap);
    DH_ENTER(mremap, old, old_n, n, flags, wanted);
    const uptr end = 1ull << 47;
    bool sane = (uptr)old % 4096 == 0 && (uptr)wanted % 4096 == 0 && n != 0 && n < end && old_n < end &&
                (uptr)old < end - old_n && (uptr)wanted < end - n &&
                (flags & (MREMAP_FIXED | MREMAP_MAYMOVE)) != MREMAP_FIXED;
    void *p = sane ? remap(sc.t, old, old_n, n, flags, wanted) : REAL(mremap)(old, old_n, n, flags, wanted);
    size_t had = whole_pages(old_n), has = whole_pages(n);
    if (p != MAP_FAILED && has > had)
        appeared(sc.t, (char *)p + had, has - had);
    DH_RETURN(p);
}

/* ---- The end of the data segment --------------------------------------------------------------- */

/* Whole pages come and go; the one that holds the end stays, with its history. libc's malloc moves the end as
 * well, unseen, so that what comes may have a past. */
static char *page_above(const char *end)
{
    return (char *)DH_ALIGN_UP((uptr)end, 4096);
}

static void end_falls(struct dh_thread *t, const char *from, const char *to)
{
    if (page_above(to) < page_above(from))
        vanishes(t, page_above(to), (size_t)(page_above(from) - page_above(to)));
}

static void end_rose(struct dh_thread *t, const char *from, const char *to)
{
    if (page_above(from) < page_above(to))
        appeared(t, page_above(from), (size_t)(page_above(to) - page_above(from)));
}

DH_INTERCEPTOR(void *, sbrk, intptr_t n)
{
    DH_ENTER(sbrk, n);
    if (n < 0) {
        const char *now = REAL(sbrk)(0);
        end_falls(sc.t, now, now + n);
    }
    char *was = REAL(sbrk)(n);
    if (was != (void *)-1)
        end_rose(sc.t, was, was + n);
    DH_RETURN((void *)was);
}

DH_INTERCEPTOR(int, brk, void *to)
{
    DH_ENTER(brk, to);
    DH_RESOLVE(sbrk);
    const char *now = REAL(sbrk)(0);
    if (dh_sys_exists((uptr)to)) /* else it rises, or is refused */
        end_falls(sc.t, now, to);
    int rc = REAL(brk)(to);
    if (rc == 0)
        end_rose(sc.t, now, to);
    DH_RETURN(rc);
}

/* ---- Advice that changes what is there ---------------------------------------------------------- */

/*
 * Emptied are pages that belong to this process alone and to no file. The kernel knows which they are, and
 * tells by taking MADV_FREE for them and no others; nothing is lost by asking, since what is in the page is
 * about to go. One page stands for all: ranges that go over several mappings are rare.
 */
extern DH_HIDDEN int (*dh_real_madvise)(void *, size_t, int);

static bool is_anonymous(void *p)
{
    int saved = errno;
    bool yes = REAL(madvise)(p, 4096, MADV_FREE) == 0;
    errno = saved;
    return yes;
}

/* A write to the pages that are there: the others are empty already. */
static void is_emptied(struct dh_thread *t, char *p, size_t n)
{
    u8 there[DH_REGION_SIZE / 4096];
    for (char *end = p + whole_pages(n); p < end;) {
        size_t left = (size_t)(end - p) / 4096, pages = left < sizeof there ? left : sizeof there;
        bool known = dh_sys_resident((uptr)p, pages * 4096, there);
        if (!known)
            dh_sink_access(t, p, pages * 4096, DH_WRITE | DH_RANGE);
        for (size_t i = 0, len; known && i < pages; i += len) {
            for (len = 1; i + len < pages && ((there[i + len] ^ there[i]) & 1) == 0;)
                len++;
            if (there[i] & 1)
                dh_sink_access(t, p + i * 4096, len * 4096, DH_WRITE | DH_RANGE);
        }
        p += pages * 4096;
    }
}

DH_INTERCEPTOR(int, madvise, void *p, size_t n, int advice)
{
    DH_ENTER(madvise, p, n, advice);
    bool empties = advice == MADV_DONTNEED || advice == MADV_FREE;
    if (empties && n != 0 && is_range(p, n) && is_anonymous(p))
        is_emptied(sc.t, p, n);
    DH_RETURN(REAL(madvise)(p, n, advice));
}

/* ---- Segments of System V ----------------------------------------------------------------------- */

/*
 * What is attached where, because shmdt names the place only. A slot is taken and released by exchanging
 * `at`: NULL is free, BUSY belongs to the thread that set it. Segments beyond the last slot are not
 * remembered; their history is then forgotten when the memory is reused.
 */
#define BUSY ((const void *)1)
static struct {
    const void *volatile at;
    size_t n;
} attached[256];

static void remember(const void *p, size_t n)
{
    for (size_t i = 0; i < DH_ARRAY_LEN(attached); i++) {
        if (attached[i].at == NULL && __sync_bool_compare_and_swap(&attached[i].at, NULL, BUSY)) {
            attached[i].n = n;
            __atomic_store_n(&attached[i].at, p, __ATOMIC_RELEASE);
            return;
        }
    }
}

/* The size of what was attached at p; 0 if that is not known. */
static size_t forget(const void *p)
{
    for (size_t i = 0; p != NULL && p != BUSY && i < DH_ARRAY_LEN(attached); i++) {
        if (attached[i].at == p && __sync_bool_compare_and_swap(&attached[i].at, p, BUSY)) {
            size_t n = attached[i].n;
            __atomic_store_n(&attached[i].at, NULL, __ATOMIC_RELEASE);
            return n;
        }
    }
    return 0;
}

static size_t segment_size(int id)
{
    struct shmid_ds ds;
    return shmctl(id, IPC_STAT, &ds) == 0 ? ds.shm_segsz : 0;
}

DH_INTERCEPTOR(void *, shmat, int id, const void *addr, int flags)
{
    DH_ENTER(shmat, id, addr, flags);
    void *p = REAL(shmat)(id, addr, flags);
    if (p != (void *)-1) {
        int saved = errno;
        size_t n = segment_size(id);
        if (n != 0)
            appeared(sc.t, p, n);
        remember(p, n);
        errno = saved;
    }
    DH_RETURN(p);
}

DH_INTERCEPTOR(int, shmdt, const void *p)
{
    DH_ENTER(shmdt, p);
    size_t n = forget(p);
    if (n != 0)
        vanishes(sc.t, (char *)(uptr)p, n);
    DH_RETURN(REAL(shmdt)(p));
}
