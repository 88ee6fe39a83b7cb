/*
 * intercept/malloc.c - the malloc family.
 *
 * Unlike other interceptors these never fall back to the real function: every block gets our header, even if
 * the thread is not attached or libc allocates inside another interceptor, so that free() can always
 * recognise it. heap.c does the work; here are the contracts of the entry points. A program with its own
 * malloc keeps it (dh_malloc_replaced): its blocks are then memory like any other.
 */
#define _GNU_SOURCE 1
#include <link.h>
#include <sys/auxv.h>

#include "runtime/intercept/intercept.h"
#include "runtime/shadow/heap.h"
#include "runtime/sink/sink.h"

enum { PAGE = 4096 };

/* Run `call` with t: the attached thread, or NULL. */
#define WITH_THREAD(call)                                               \
    do {                                                                \
        struct dh_scope sc;                                             \
        bool inside = dh_scope_begin(&sc, __builtin_return_address(0)); \
        struct dh_thread *t = inside ? sc.t : NULL;                     \
        call;                                                           \
        if (inside)                                                     \
            dh_scope_end(&sc);                                          \
    } while (0)

DH_INTERCEPTOR(void *, malloc, size_t n)
{
    void *p;
    WITH_THREAD(p = dh_heap_alloc(t, n, 0, false));
    return p;
}

/* What malloc is called when it is certainly ours. */
DH_HIDDEN void *dh_malloc_own(size_t n) __attribute__((alias("malloc")));

bool dh_malloc_replaced(void)
{
    return malloc != dh_malloc_own;
}

/*
 * The dynamic loader. It frees the thread-local variables of threads that have ended, when the stack that led
 * to them is used again or is one too many: in pthread_join of another thread, for example. Nothing orders
 * that after what the thread did, nor has it to.
 */
static struct {
    uptr lo, size;
} loader;

static int find_loader(struct dl_phdr_info *info, size_t size, void *base)
{
    (void)size;
    if (info->dlpi_addr != (uptr)base)
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && p->p_vaddr + p->p_memsz > loader.size)
            loader.size = p->p_vaddr + p->p_memsz;
    }
    loader.lo = info->dlpi_addr;
    return 1;
}

void dh_intercept_malloc_init(void)
{
    void *base = (void *)getauxval(AT_BASE);
    if (base != NULL) /* else it was started as a program, and is not to be told from one */
        dl_iterate_phdr(find_loader, base);
}

DH_INTERCEPTOR(void, free, void *p)
{
    if (p == NULL)
        return;
    if (DH_UNLIKELY((uptr)__builtin_return_address(0) - loader.lo < loader.size)) {
        dh_heap_release(NULL, p);
        return;
    }
    dh_sink_before_free(p, __builtin_return_address(0));
    WITH_THREAD(dh_heap_release(t, p));
}

DH_INTERCEPTOR(void *, calloc, size_t count, size_t n)
{
    size_t total;
    if (__builtin_mul_overflow(count, n, &total)) {
        errno = ENOMEM;
        return NULL;
    }
    void *p;
    WITH_THREAD(p = dh_heap_alloc(t, total, 0, true));
    return p;
}

DH_INTERCEPTOR(void *, realloc, void *old, size_t n)
{
    void *p;
    WITH_THREAD(p = dh_heap_realloc(t, old, n));
    return p;
}

DH_INTERCEPTOR(void *, reallocarray, void *old, size_t count, size_t n)
{
    size_t total;
    if (__builtin_mul_overflow(count, n, &total)) {
        errno = ENOMEM;
        return NULL;
    }
    void *p;
    WITH_THREAD(p = dh_heap_realloc(t, old, total));
    return p;
}

/* glibc takes any alignment here and rounds it up to a power of two; beyond half the address space
 * there is none. */
static bool round_alignment(size_t *align)
{
    if (*align > SIZE_MAX / 2 + 1) {
        errno = EINVAL;
        return false;
    }
    if ((*align & (*align - 1)) != 0)
        *align = (size_t)1 << (64 - __builtin_clzll(*align));
    return true;
}

DH_INTERCEPTOR(void *, memalign, size_t align, size_t n)
{
    if (!round_alignment(&align))
        return NULL;
    void *p;
    WITH_THREAD(p = dh_heap_alloc(t, n, align, false));
    return p;
}

DH_INTERCEPTOR(void *, aligned_alloc, size_t align, size_t n)
{
    if (!round_alignment(&align))
        return NULL;
    void *p;
    WITH_THREAD(p = dh_heap_alloc(t, n, align, false));
    return p;
}

/* Says what went wrong by its result; errno stays. */
DH_INTERCEPTOR(int, posix_memalign, void **ret_p, size_t align, size_t n)
{
    if (align < sizeof(void *) || (align & (align - 1)) != 0)
        return EINVAL;
    int saved = errno;
    void *p;
    WITH_THREAD({
        p = dh_heap_alloc(t, n, align, false);
        if (p != NULL && t != NULL)
            dh_sink_access(t, ret_p, sizeof *ret_p, DH_WRITE);
    });
    errno = saved;
    if (p == NULL)
        return ENOMEM;
    *ret_p = p;
    return 0;
}

DH_INTERCEPTOR(void *, valloc, size_t n)
{
    void *p;
    WITH_THREAD(p = dh_heap_alloc(t, n, PAGE, false));
    return p;
}

DH_INTERCEPTOR(void *, pvalloc, size_t n)
{
    if (n > SIZE_MAX - PAGE) {
        errno = ENOMEM;
        return NULL;
    }
    void *p;
    WITH_THREAD(p = dh_heap_alloc(t, DH_ALIGN_UP(n, PAGE), PAGE, false));
    return p;
}

/* The size asked for and no more: bytes beyond it have no history to be checked against. */
DH_INTERCEPTOR(size_t, malloc_usable_size, void *p)
{
    if (p == NULL)
        return 0;
    size_t n;
    if (dh_heap_size(p, &n))
        return n;
    DH_RESOLVE(malloc_usable_size);
    return REAL(malloc_usable_size)(p);
}
