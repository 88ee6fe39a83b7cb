/*
 * libc_heap.c - finds glibc's own allocator, even if another library defines its names.
 *
 * glibc exports its allocator a second time, as __libc_malloc and so on. Allocators in shared libraries
 * define these too, and a plain reference would reach theirs. heap.c cannot work over one of them: it reads
 * the size words of glibc's chunks, and it calls the allocator inside the runtime, where the atomics of an
 * instrumented allocator would go unseen. So the functions are looked up in libc's own symbol table.
 *
 * The table is read directly and not by dlsym, which may allocate, and whose locks may be held: the first
 * block is requested before start-up, for instance by the dynamic loader. Only the initial thread exists
 * then, so no lock is needed; a second search would store the same values.
 */
#define _GNU_SOURCE 1
#include "runtime/shadow/libc_heap.h"

#include <link.h>
#include <string.h>

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t count, size_t n);
void *__libc_realloc(void *p, size_t n);
void *__libc_memalign(size_t align, size_t n);
void __libc_free(void *p);

/* Used if libc's own cannot be found. */
static struct dh_libc_heap heap = {__libc_malloc, __libc_calloc, __libc_realloc, __libc_memalign,
                                   __libc_free};
static bool searched;

/* The parts of a module needed for a lookup by name. */
struct symbols {
    uptr base;
    const ElfW(Sym) * table;
    const char *strings;
    const u32 *hash; /* of DT_GNU_HASH: four numbers, the filter, the buckets, the chains */
};

static uptr address(uptr base, uptr ptr)
{
    return ptr < base ? base + ptr : ptr; /* the loader has relocated it, unless it could not write there */
}

static bool read_dynamic(struct symbols *s, const ElfW(Dyn) * d)
{
    for (; d->d_tag != DT_NULL; d++) {
        uptr at = address(s->base, d->d_un.d_ptr);
        if (d->d_tag == DT_SYMTAB)
            s->table = (const ElfW(Sym) *)at;
        else if (d->d_tag == DT_STRTAB)
            s->strings = (const char *)at;
        else if (d->d_tag == DT_GNU_HASH)
            s->hash = (const u32 *)at;
    }
    return s->table && s->strings && s->hash;
}

static int find_libc(struct dl_phdr_info *info, size_t size, void *ret_symbols)
{
    (void)size;
    const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
    const char *name = slash ? slash + 1 : info->dlpi_name;
    if (name == NULL || strcmp(name, "libc.so.6") != 0)
        return 0;
    struct symbols s = {.base = info->dlpi_addr};
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC &&
            read_dynamic(&s, (const ElfW(Dyn) *)(s.base + info->dlpi_phdr[i].p_vaddr)))
            memcpy(ret_symbols, &s, sizeof(s));
    return 1;
}

/* Puts the function into *ret_function if there is one. */
static void look_up(const struct symbols *s, const char *name, void *ret_function)
{
    const u32 n_buckets = s->hash[0], first = s->hash[1], filter_words = s->hash[2];
    const u32 *buckets = s->hash + 4 + (size_t)filter_words * 2;
    const u32 *chains = buckets + n_buckets;
    u32 h = 5381;
    for (const char *c = name; *c; c++)
        h = h * 33 + (unsigned char)*c;
    u32 i = n_buckets ? buckets[h % n_buckets] : 0;
    if (i < first)
        return;
    /* The last of a chain has the lowest bit of its hash set; in the others it is clear. */
    for (u32 seen = 0; !(seen & 1); i++) {
        seen = chains[i - first];
        const ElfW(Sym) *sym = &s->table[i];
        if ((seen | 1) == (h | 1) && strcmp(s->strings + sym->st_name, name) == 0 && sym->st_value != 0) {
            uptr at = s->base + sym->st_value;
            memcpy(ret_function, &at, sizeof(at));
            return;
        }
    }
}

static void search(void)
{
    struct symbols s = {0};
    dl_iterate_phdr(find_libc, &s);
    if (s.hash != NULL) {
        look_up(&s, "__libc_malloc", &heap.malloc);
        look_up(&s, "__libc_calloc", &heap.calloc);
        look_up(&s, "__libc_realloc", &heap.realloc);
        look_up(&s, "__libc_memalign", &heap.memalign);
        look_up(&s, "__libc_free", &heap.free);
    }
    __atomic_store_n(&searched, true, __ATOMIC_RELEASE);
}

const struct dh_libc_heap *dh_libc_heap(void)
{
    if (DH_UNLIKELY(!__atomic_load_n(&searched, __ATOMIC_ACQUIRE)))
        search();
    return &heap;
}
