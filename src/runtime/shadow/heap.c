/*
 * heap.c - the program's heap: glibc's own allocator with 16 bytes of ours in front of every block, and a
 * sparse bit plane that finds the block an address lies in.
 *
 * Why over glibc and not an allocator of our own: the program keeps the allocator it is measured and tested
 * with (arenas, fork handling, trimming, mallopt), and glibc exports its functions under a second name that
 * can be found before dlsym works (libc_heap.c). There is no quarantine: a use after free is found through
 * the history free() leaves behind, until the memory is reused.
 *
 * The header sits right before the pointer the program gets. Its last word is where glibc keeps the size of a
 * chunk it hands out itself; such a size is below 2^48, so the top 16 bits of that word distinguish our
 * blocks from foreign ones without a table.
 *
 * glibc writes into the first 16 bytes of a freed chunk (list pointers), which is our header, and for large
 * chunks into the 16 bytes after them. So free() leaves a copy of the header where glibc does not write (see
 * freed_copy): a report can name the block until its memory is reused.
 *
 * Invariants of the bit plane (one bit for 16 bytes of address space, set at the start of a block):
 *   - a live block's bit is set, and no other bit between its header and its end is (mark_block);
 *   - a bit says "look here", no more: whoever follows it verifies the magic, with a read that cannot
 *     fault, because glibc may have returned a freed block's page to the kernel.
 * Bits are changed by atomic and/or; there is no lock in this file, so fork and signal handlers
 * find it as they find glibc's allocator.
 */
#include "runtime/shadow/heap.h"

#include <errno.h>
#include <sys/uio.h>

#include "base/sys.h"
#include "runtime/shadow/libc_heap.h"
#include "runtime/shadow/region.h"
#include "runtime/sink/sink.h"

/* As linked: for blocks that are not ours, which come from whichever library defines these names
 * (libc_heap.c). */
void *__libc_realloc(void *p, size_t n);
void __libc_free(void *p);

/* ---- The header ------------------------------------------------------------------------------ */

/* word: bits 0-41 the requested size; 42-47 log2 of the distance from glibc's pointer to ours (4, or more for
 * aligned blocks); 48-63 a magic. Larger requests fail with ENOMEM, as they would anyway. */
struct header {
    dh_ctx_t ctx; /* where it was allocated; none: not known */
    dh_uid_t uid; /* by which thread; none: not known */
    u64 word;
};

enum { HEADER = sizeof(struct header), SIZE_BITS = 42, GAP_SHIFT = 42, MAGIC_SHIFT = 48 };
enum { MAGIC_LIVE = 0xDA7A, MAGIC_FREED = 0xF1EE, MAGIC_ASIDE = 0xA51D };
enum { GRAIN = 16 };                /* alignment of every block, and what one bit stands for */
enum { REALLOC_LARGE = 128 << 10 }; /* from this size on glibc may mremap: let it, instead of copying */
enum { FREE_SLICE = 1 << 20 };      /* of a block whose shadow is dropped: slice by slice */
enum { KEPT_SLICE = 64 << 10 };     /* of a large block that stays; smaller ones are marked as a whole */
#define SIZE_MAX_BLOCK (1ull << SIZE_BITS)

_Static_assert(HEADER == 16, "the header keeps malloc's alignment");

DH_INLINE struct header *header_of(const void *p)
{
    return (struct header *)((uptr)p - HEADER);
}

DH_INLINE u64 make_word(u64 magic, size_t gap, size_t size)
{
    return magic << MAGIC_SHIFT | (u64)__builtin_ctzll(gap) << GAP_SHIFT | size;
}

DH_INLINE u64 word_magic(u64 w)
{
    return w >> MAGIC_SHIFT;
}

DH_INLINE size_t word_gap(u64 w)
{
    return (size_t)1 << (w >> GAP_SHIFT & 63);
}

DH_INLINE size_t word_size(u64 w)
{
    return w & (SIZE_MAX_BLOCK - 1);
}

/* Bit 1 of the size word before a chunk says it is a mapping of its own: freeing it unmaps it. */
DH_INLINE bool is_mmapped(const void *base)
{
    return (((const size_t *)base)[-1] & 2) != 0;
}

/* Where free() leaves the copy: past the list pointers of the chunk, and past the two more that only
 * large chunks (1024 bytes and up) have. Blocks have at least 16 bytes for it. */
DH_INLINE struct header *freed_copy(void *p, size_t size)
{
    return (struct header *)((uptr)p + (size < 2 * HEADER ? 0 : HEADER));
}

/* ---- The bit plane --------------------------------------------------------------------------- */

/*
 * The bits of application address p are in the 64-bit word at PLANE + (p >> 10) * 8, so the plane takes 2^40
 * bytes of address space from 0x380000000000. Neither program memory nor its shadow can be there:
 * docs/design/heap.md. It is mapped in pieces on first use.
 */
#define PLANE DH_HEAP_PLANE
enum { PIECE_SHIFT = 16 };                     /* 64 KiB of plane: 8 MiB of heap */
enum { PIECE_COUNT_SHIFT = 40 - PIECE_SHIFT }; /* all pieces there can be */
enum { WORDS_PER_PIECE = 1 << (PIECE_SHIFT - 3) };

/* One bit a piece, set once it is mapped. 2 MiB of bss of which a program touches a page or two. */
static u64 pieces[(1u << PIECE_COUNT_SHIFT) / 64];

DH_INLINE u64 *plane_word(u64 index)
{
    return (u64 *)(PLANE + index * 8);
}

DH_INLINE bool piece_is_mapped(u64 piece)
{
    return (__atomic_load_n(&pieces[piece / 64], __ATOMIC_ACQUIRE) >> (piece % 64) & 1) != 0;
}

/* Two threads may come here for the same piece: the second gets EEXIST, which is as good. */
static DH_COLD bool piece_map(u64 piece)
{
    int rc = dh_sys_map_at(PLANE + (piece << PIECE_SHIFT), (size_t)1 << PIECE_SHIFT);
    if (rc != 0 && rc != -EEXIST)
        return false;
    __atomic_fetch_or(&pieces[piece / 64], 1ull << (piece % 64), __ATOMIC_RELEASE);
    return true;
}

/* Is the plane mapped (now) for the bit of a block at p? */
DH_INLINE bool piece_ready(uptr p)
{
    u64 piece = p / GRAIN / 64 / WORDS_PER_PIECE;
    return DH_LIKELY(piece_is_mapped(piece)) || piece_map(piece);
}

/* Clear and set bits of one word. A block at the place of an earlier one finds its bit already set: then
 * nothing is written. */
DH_INLINE void word_update(u64 index, u64 clear, u64 set)
{
    u64 *w = plane_word(index);
    u64 now = __atomic_load_n(w, __ATOMIC_RELAXED);
    if ((now & clear) != 0)
        __atomic_fetch_and(w, ~clear, __ATOMIC_RELAXED);
    if ((now & set) != set)
        __atomic_fetch_or(w, set, __ATOMIC_RELEASE);
}

/* Establish the invariant for a block at p that takes the bytes from p - HEADER to end. */
static void mark_block(uptr p, uptr end)
{
    u64 start = p / GRAIN, first = (p - HEADER) / GRAIN, last = (end - 1) / GRAIN;
    if (!piece_ready(p)) {
        dh_runtime_count(DH_COUNT_LOST_MEMORY);
        return;
    }
    for (u64 w = first / 64; w <= last / 64; w++) {
        if (!piece_is_mapped(w / WORDS_PER_PIECE)) { /* never had a bit: on to the next piece */
            w |= WORDS_PER_PIECE - 1;
            continue;
        }
        u64 mask = ~0ull;
        if (w == first / 64)
            mask &= ~0ull << (first % 64);
        if (w == last / 64)
            mask &= ~0ull >> (63 - last % 64);
        u64 set = w == start / 64 ? 1ull << (start % 64) : 0;
        word_update(w, mask & ~set, set);
    }
}

static void unmark_block(uptr p)
{
    u64 index = p / GRAIN / 64;
    if (piece_is_mapped(index / WORDS_PER_PIECE))
        word_update(index, 1ull << (p / GRAIN % 64), 0);
}

/* The nearest marked address at or below addr; 0 if there is none. */
static uptr find_mark(uptr addr)
{
    u64 index = addr / GRAIN / 64;
    u64 mask = ~0ull >> (63 - addr / GRAIN % 64);
    for (;;) {
        u64 piece = index / WORDS_PER_PIECE;
        if (!piece_is_mapped(piece)) {
            /* Step over whole words of the table: most of the address space was never used. */
            do {
                piece = pieces[piece / 64] == 0 ? DH_ALIGN_DOWN(piece, 64) : piece;
                if (piece == 0)
                    return 0;
                piece--;
            } while (!piece_is_mapped(piece));
            index = piece * WORDS_PER_PIECE + (WORDS_PER_PIECE - 1);
            mask = ~0ull;
        }
        u64 bits = __atomic_load_n(plane_word(index), __ATOMIC_ACQUIRE) & mask;
        if (bits != 0)
            return (index * 64 + (63 - (u64)__builtin_clzll(bits))) * GRAIN;
        if (index == 0)
            return 0;
        index--;
        mask = ~0ull;
    }
}

/* Read memory that may be unmapped. The kernel refuses with EFAULT instead of a signal. */
static bool read_header(uptr at, struct header *ret_header)
{
    struct iovec to = {ret_header, sizeof *ret_header};
    struct iovec from = {(void *)at, sizeof *ret_header};
    long self = dh_sys3(SYS_getpid, 0, 0, 0);
    return dh_sys6(SYS_process_vm_readv, self, (long)&to, 1, (long)&from, 1, 0) == (long)sizeof *ret_header;
}

/* The header of the block at p, or the copy that free() left of it; false: there is none. */
static bool find_header(uptr p, struct header *ret_header)
{
    const uptr places[] = {p - HEADER, p, p + HEADER};
    for (unsigned i = 0; i < DH_ARRAY_LEN(places); i++) {
        if (!read_header(places[i], ret_header))
            continue;
        u64 magic = word_magic(ret_header->word);
        if (magic == MAGIC_FREED || (magic == MAGIC_LIVE && i == 0))
            return true;
    }
    return false;
}

bool dh_heap_find(uptr addr, struct dh_heap_block *ret_block)
{
    struct header h;
    uptr p = addr < 1ull << 47 ? find_mark(addr) : 0;
    /* One byte more than was asked for: the byte past an array is worth naming. */
    if (p == 0 || !find_header(p, &h) || addr - p > word_size(h.word))
        return false;
    *ret_block = (struct dh_heap_block){.start = p,
                                        .size = word_size(h.word),
                                        .ctx = h.ctx,
                                        .uid = h.uid,
                                        .freed = word_magic(h.word) == MAGIC_FREED};
    return true;
}

/* ---- History --------------------------------------------------------------------------------- */

/* Rounded up to whole grains: the bytes past the end belong to nobody, and whole cells are faster. Before the
 * runtime is up dh_region_map fails, and there is no history to forget. */
void dh_heap_new(struct dh_thread *t, void *p, size_t n)
{
    size_t whole = DH_ALIGN_UP(n, GRAIN);
    if (whole != 0 && dh_region_map(p, whole))
        dh_sink_block(t, p, n);
}

void dh_heap_free(struct dh_thread *t, void *p, size_t n)
{
    if (n == 0)
        return;
    dh_sink_access(t, p, n, DH_WRITE | DH_FREE | DH_RANGE);
    dh_sink_forget(p, n);
}

/* A large block, in slices: a slice with no record anywhere in it is left alone. Uninstrumented libraries
 * have large workspaces, and filling their shadow costs more than everything else they do. `gone`: the memory
 * is returned to the kernel, so its shadow is too, before the next slice is filled. */
static void free_large(struct dh_thread *t, char *p, size_t n, bool gone)
{
    const size_t most = gone ? FREE_SLICE : KEPT_SLICE;
    while (n != 0) {
        size_t slice = most - ((uptr)p & (most - 1));
        slice = slice < n ? slice : n;
        if (dh_sink_wants_all() || dh_region_touched((uptr)p, slice)) {
            if (t != NULL)
                dh_heap_free(t, p, slice);
            if (gone)
                dh_region_unmap(p, slice);
        } else {
            dh_sink_forget(p, slice); /* locks leave no traces in the shadow either */
        }
        p += slice;
        n -= slice;
    }
}

static void free_block(struct dh_thread *t, char *p, size_t n, bool gone)
{
    if (gone || n >= 4 * KEPT_SLICE)
        free_large(t, p, n, gone);
    else if (t != NULL)
        dh_heap_free(t, p, n);
}

/* ---- Allocation ------------------------------------------------------------------------------ */

/* Give a chunk from glibc its header and announce it. */
static void *block_init(struct dh_thread *t, char *base, size_t gap, size_t n)
{
    char *p = base + gap;
    struct header *h = header_of(p);
    h->ctx = t != NULL ? dh_thread_current_ctx(t) : DH_CTX_NONE;
    h->uid = t != NULL ? dh_thread_uid(t) : DH_UID_NONE;
    __atomic_store_n(&h->word, make_word(MAGIC_LIVE, gap, n), __ATOMIC_RELEASE);
    mark_block((uptr)p, (uptr)p + (n < HEADER ? HEADER : n));
    dh_heap_new(t, p, n);
    return p;
}

static _Thread_local struct dh_heap_aside *aside __attribute__((tls_model("initial-exec")));

void dh_heap_aside_begin(struct dh_heap_aside *a)
{
    a->used = 0;
    aside = a;
}

void dh_heap_aside_end(void)
{
    aside = NULL;
}

/* NULL: the buffer is full; use the heap. */
static void *aside_alloc(size_t n, bool zero)
{
    size_t left = sizeof(aside->room) - aside->used;
    if (n > left || DH_ALIGN_UP(n, GRAIN) + HEADER > left)
        return NULL;
    char *p = aside->room + aside->used + HEADER;
    aside->used += DH_ALIGN_UP(n, GRAIN) + HEADER;
    *header_of(p) = (struct header){.word = make_word(MAGIC_ASIDE, HEADER, n)};
    if (zero)
        __builtin_memset(p, 0, n);
    return p;
}

void *dh_heap_alloc(struct dh_thread *t, size_t n, size_t align, bool zero)
{
    if (DH_UNLIKELY(t == NULL && aside != NULL && align <= GRAIN)) {
        void *p = aside_alloc(n, zero);
        if (p != NULL)
            return p;
    }
    size_t gap = align > HEADER ? align : HEADER;
    size_t room = n < HEADER ? HEADER : n;
    if (n >= SIZE_MAX_BLOCK || gap >= SIZE_MAX_BLOCK) {
        errno = ENOMEM;
        return NULL;
    }
    char *base;
    if (gap > HEADER)
        base = dh_libc_heap()->memalign(gap, room + gap);
    else if (zero)
        base = dh_libc_heap()->calloc(1, room + HEADER);
    else
        base = dh_libc_heap()->malloc(room + HEADER);
    /* Out of address space for the shadow counts as out of memory. (If only the place of the shadow is taken,
     * the memory can be used unchecked.) */
    if (base != NULL && (dh_region_try(base, gap + room) == -ENOMEM || !piece_ready((uptr)base + gap))) {
        dh_libc_heap()->free(base);
        errno = ENOMEM;
        return NULL;
    }
    return base != NULL ? block_init(t, base, gap, n) : NULL;
}

/* The block is live: this is the first free. */
static void release_live(struct dh_thread *t, void *p, u64 word)
{
    size_t size = word_size(word);
    void *base = (char *)p - word_gap(word);
    if (is_mmapped(base)) {
        free_block(t, p, size, true);
        unmark_block((uptr)p); /* only now, so that a race with the free can name it */
    } else {
        struct header *h = header_of(p);
        free_block(t, p, size, false);
        h->word = make_word(MAGIC_FREED, word_gap(word), size);
        header_of((char *)p + HEADER)->word = 0; /* so that no older copy is mistaken for ours */
        *freed_copy(p, size) = *h;
    }
    dh_libc_heap()->free(base);
}

/* Was p freed before? glibc has put its key or a list pointer where the size of one of its own chunks would
 * be; so the copy that we find is not a leftover of an earlier block in memory now in use. */
static bool was_freed(const void *p, u64 word, struct header *ret_header)
{
    return word >= SIZE_MAX_BLOCK && find_mark((uptr)p) == (uptr)p && find_header((uptr)p, ret_header) &&
           word_magic(ret_header->word) == MAGIC_FREED;
}

/* A foreign block, or a double free. The latter is a race if another thread freed it first; then glibc's own
 * check prints its familiar message and aborts. */
static void release_other(struct dh_thread *t, void *p, u64 word)
{
    struct header h;
    if (word_magic(word) == MAGIC_ASIDE)
        return;
    if (!was_freed(p, word, &h)) {
        __libc_free(p);
        return;
    }
    if (t != NULL)
        dh_heap_free(t, p, word_size(h.word));
    dh_libc_heap()->free((char *)p - word_gap(h.word));
}

void dh_heap_release(struct dh_thread *t, void *p)
{
    if (p == NULL)
        return;
    int saved = errno;
    u64 word = header_of(p)->word;
    if (DH_LIKELY(word_magic(word) == MAGIC_LIVE))
        release_live(t, p, word);
    else
        release_other(t, p, word);
    errno = saved;
}

/* Large blocks without a special alignment: glibc moves pages instead of bytes. */
static void *realloc_large(struct dh_thread *t, char *p, size_t n)
{
    size_t size = word_size(header_of(p)->word);
    char *base = p - HEADER;
    free_block(t, p, size, is_mmapped(base));
    unmark_block((uptr)p);
    char *grown = dh_libc_heap()->realloc(base, (n < HEADER ? HEADER : n) + HEADER);
    if (grown == NULL) { /* the old block stays, without its history */
        mark_block((uptr)p, (uptr)p + size);
        dh_heap_new(t, p, size);
        return NULL;
    }
    return block_init(t, grown, HEADER, n);
}

void *dh_heap_realloc(struct dh_thread *t, void *p, size_t n)
{
    if (p == NULL)
        return dh_heap_alloc(t, n, 0, false);
    if (n == 0) { /* glibc's choice among what the standard allows */
        dh_heap_release(t, p);
        return NULL;
    }
    u64 word = header_of(p)->word;
    if (word_magic(word) == MAGIC_FREED) /* glibc aborts */
        return dh_libc_heap()->realloc((char *)p - word_gap(word), n);
    if (word_magic(word) != MAGIC_LIVE && word_magic(word) != MAGIC_ASIDE)
        return __libc_realloc(p, n);
    if (n >= SIZE_MAX_BLOCK) {
        errno = ENOMEM;
        return NULL;
    }
    size_t size = word_size(word);
    if (word_gap(word) == HEADER && (size >= REALLOC_LARGE || n >= REALLOC_LARGE))
        return realloc_large(t, p, n);
    void *fresh = dh_heap_alloc(t, n, 0, false);
    if (fresh == NULL)
        return NULL;
    size_t kept = size < n ? size : n;
    __builtin_memcpy(fresh, p, kept);
    if (t != NULL && kept != 0)
        dh_sink_access(t, fresh, kept, DH_WRITE | DH_RANGE);
    dh_heap_release(t, p);
    return fresh;
}

bool dh_heap_size(const void *p, size_t *ret_size)
{
    u64 word = header_of(p)->word;
    if (word_magic(word) != MAGIC_LIVE)
        return false;
    *ret_size = word_size(word);
    return true;
}
