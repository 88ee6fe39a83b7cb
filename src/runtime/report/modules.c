/*
 * modules.c - see modules.h. Entries are never removed: a report may name code that is unloaded by then.
 */
#include "runtime/report/modules.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/pool.h"
#include "base/sys.h"
#include "runtime/compat/compat.h"
#include "runtime/sink/sink.h"
#include "runtime/threads/openmp.h"
#include "runtime/threads/thread.h"

enum { MAX = 4096 };

static struct dh_lock lock = DH_LOCK_INIT(DH_RANK_MODULES);
static struct dh_module *modules[MAX]; /* all under `lock` */
static int modules_n;
static int initial_n; /* how many were there from the start; 0 until they are all known */

void dh_modules_take(void)
{
    dh_lock_take(&lock);
}

void dh_modules_drop(void)
{
    dh_lock_drop(&lock);
}

struct dh_module *dh_modules_find(uptr addr)
{
    struct dh_module *gone = NULL;
    for (int i = modules_n; i-- > 0;) {
        struct dh_module *m = modules[i];
        if (addr < m->lo || addr >= m->hi)
            continue;
        if (m->loaded)
            return m;
        gone = gone ? gone : m;
    }
    return gone;
}

struct dh_module *dh_modules_find_tls(uptr below, u64 *ret_offset)
{
    for (int i = 0; i < modules_n; i++) {
        struct dh_module *m = modules[i];
        if (m->loaded && m->tls_below && below <= m->tls_below && m->tls_below - below < m->tls_size) {
            *ret_offset = m->tls_below - below;
            return m;
        }
    }
    return NULL;
}

uptr dh_modules_tls_depth(void)
{
    uptr depth = 0;
    for (int i = 0; i < modules_n; i++) {
        if (modules[i]->loaded && modules[i]->tls_below > depth)
            depth = modules[i]->tls_below;
    }
    return depth;
}

/* The thread may be replacing its vector by a longer one at this moment, so read it with care.
 *
 * The ABI of thread-local storage: the second word at the thread pointer is the vector; its entries are two
 * words, the first of them the address of the segment; the number of entries is in the one before the first.
 */
struct dh_module *dh_modules_find_dynamic_tls(uptr tp, uptr addr, u64 *ret_offset)
{
    enum { ENTRY = 2 * sizeof(uptr) };
    uptr vector, entries, start;
    if (!dh_sys_peek(tp + sizeof(uptr), &vector, sizeof(vector)) ||
        !dh_sys_peek(vector - ENTRY, &entries, sizeof(entries)))
        return NULL;
    for (int i = 0; i < modules_n; i++) {
        struct dh_module *m = modules[i];
        if (!m->loaded || !m->tls_index || m->tls_index > entries ||
            !dh_sys_peek(vector + m->tls_index * ENTRY, &start, sizeof(start)))
            continue;
        if (addr >= start && addr - start < m->tls_size) {
            *ret_offset = addr - start;
            return m;
        }
    }
    return NULL;
}

void dh_modules_unreport(void)
{
    for (int i = 0; i < modules_n; i++)
        modules[i]->reported = false;
}

void dh_modules_each(void (*fn)(const struct dh_module *m, void *ctx), void *ctx)
{
    for (int i = 0; i < modules_n; i++)
        fn(modules[i], ctx);
}

static void find_build_id(struct dh_module *m, const struct dl_phdr_info *info)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
        if (ph->p_type != PT_NOTE)
            continue;
        const char *at = (const char *)(info->dlpi_addr + ph->p_vaddr), *end = at + ph->p_memsz;
        while (at + sizeof(ElfW(Nhdr)) <= end) {
            const ElfW(Nhdr) *n = (const void *)at;
            const char *name = at + sizeof(*n);
            const unsigned char *desc = (const unsigned char *)name + DH_ALIGN_UP(n->n_namesz, 4);
            at = (const char *)desc + DH_ALIGN_UP(n->n_descsz, 4);
            if (at > end || n->n_type != NT_GNU_BUILD_ID || n->n_namesz != 4 || n->n_descsz > 20)
                continue;
            for (u32 k = 0; k < n->n_descsz; k++) {
                m->build_id[2 * k] = "0123456789abcdef"[desc[k] >> 4];
                m->build_id[2 * k + 1] = "0123456789abcdef"[desc[k] & 15];
            }
            return;
        }
    }
}

/* The linker reports the name that the program gave, which may mean another file after the next chdir. A name
 * without a slash is the linker's own, such as the vdso's. */
static size_t put_directory(struct dh_module *m, const char *name)
{
    if (name[0] == '/' || !strchr(name, '/'))
        return 0;
    long n = dh_sys3(SYS_getcwd, (long)m->path, sizeof(m->path) - 1, 0); /* counts the final zero */
    if (n <= 1 || m->path[0] != '/')
        return 0; /* too long, or no longer reachable */
    size_t at = (size_t)n - 1;
    if (m->path[at - 1] != '/')
        m->path[at++] = '/';
    return at;
}

static void find_path(struct dh_module *m, const char *name)
{
    const char *from = name;
    if (!name[0]) { /* the program itself */
        long n = dh_sys3(SYS_readlink, (long)"/proc/self/exe", (long)m->path, sizeof(m->path) - 1);
        if (n > 0) {
            m->path[n] = '\0';
            return;
        }
        from = (const char *)getauxval(AT_EXECFN);
    }
    size_t at = from ? put_directory(m, from) : 0;
    for (size_t i = 0; from && from[i] && at + 1 < sizeof(m->path); i++)
        m->path[at++] = from[i];
    m->path[at] = '\0';
}

/* The relocation tables of a module. */
struct relocations {
    const ElfW(Rela) * table[2]; /* at once, and of calls */
    size_t n[2];
    const ElfW(Sym) * symbols;
};

static void find_relocations(const struct dl_phdr_info *info, struct relocations *ret)
{
    *ret = (struct relocations){0};
    const ElfW(Dyn) *d = NULL;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            d = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    }
    for (; d && d->d_tag != DT_NULL; d++) {
        /* The linker has already relocated the addresses, where it could write. */
        uptr at = d->d_un.d_ptr < info->dlpi_addr ? info->dlpi_addr + d->d_un.d_ptr : d->d_un.d_ptr;
        if (d->d_tag == DT_RELA)
            ret->table[0] = (const void *)at;
        else if (d->d_tag == DT_RELASZ)
            ret->n[0] = d->d_un.d_val / sizeof(ElfW(Rela));
        else if (d->d_tag == DT_JMPREL)
            ret->table[1] = (const void *)at;
        else if (d->d_tag == DT_PLTRELSZ)
            ret->n[1] = d->d_un.d_val / sizeof(ElfW(Rela));
        else if (d->d_tag == DT_SYMTAB)
            ret->symbols = (const void *)at;
    }
}

/*
 * A library that is opened later has its segment on the heap, or else in the linker's reserve below every
 * thread pointer, if its code was compiled to expect that (-ftls-model=initial-exec) or to profit from it
 * (-mtls-dialect=gnu2). The linker does not tell where, but has written into the library the distance of some
 * of its variables from the thread pointer. 0: not in the reserve.
 */
static uptr find_reserved_tls(const struct dl_phdr_info *info, uptr tls_size)
{
    struct relocations r;
    find_relocations(info, &r);
    for (int k = 0; k < 2; k++) {
        for (size_t i = 0; i < (r.table[k] && r.symbols ? r.n[k] : 0); i++) {
            const ElfW(Rela) *rel = &r.table[k][i];
            u32 type = ELF64_R_TYPE(rel->r_info);
            if (type != R_X86_64_TPOFF64 && type != R_X86_64_TLSDESC)
                continue;
            const ElfW(Sym) *symbol = &r.symbols[ELF64_R_SYM(rel->r_info)];
            uptr offset = rel->r_addend + (ELF64_R_SYM(rel->r_info) ? symbol->st_value : 0);
            /* The second word of a descriptor is such a distance, or the address of something else. */
            const long *word = (const long *)(info->dlpi_addr + rel->r_offset) + (type == R_X86_64_TLSDESC);
            bool own = !ELF64_R_SYM(rel->r_info) || symbol->st_shndx != SHN_UNDEF;
            if (own && offset < tls_size && *word < 0)
                return offset - (uptr)*word;
        }
    }
    return 0;
}

/* The segment of a module loaded at start has the same place in every thread. */
static void find_tls(struct dh_module *m, const struct dl_phdr_info *info)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type != PT_TLS)
            continue;
        m->tls_index = info->dlpi_tls_modid;
        m->tls_size = info->dlpi_phdr[i].p_memsz;
        if (initial_n && m->id >= initial_n)
            m->tls_below = find_reserved_tls(info, m->tls_size);
        else if (!initial_n && info->dlpi_tls_data)
            m->tls_below = (uptr)__builtin_thread_pointer() - (uptr)info->dlpi_tls_data;
    }
}

static int add(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    uptr lo = UINTPTR_MAX, hi = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
        if (ph->p_type != PT_LOAD)
            continue;
        uptr at = info->dlpi_addr + ph->p_vaddr;
        lo = at < lo ? at : lo;
        hi = at + ph->p_memsz > hi ? at + ph->p_memsz : hi;
        dh_region_map((void *)at, ph->p_memsz);
    }
    if (hi == 0)
        return 0;
    dh_lock_take(&lock);
    struct dh_module *m = dh_modules_find(lo);
    if (m && m->lo == lo && m->hi == hi && !m->loaded) {
        struct dh_module probe = {0};
        find_path(&probe, info->dlpi_name);
        m = strcmp(probe.path, m->path) == 0 ? m : NULL;
    } else if (m && (m->lo != lo || m->hi != hi)) {
        m = NULL;
    }
    if (!m && modules_n < MAX && (m = dh_pool_alloc(sizeof(*m)))) {
        m->id = modules_n;
        m->lo = lo;
        m->hi = hi;
        m->bias = info->dlpi_addr;
        find_path(m, info->dlpi_name);
        find_build_id(m, info);
        modules[modules_n++] = m;
    }
    if (m) {
        m->loaded = true;
        find_tls(m, info);
    }
    dh_lock_drop(&lock);
    return 0;
}

/* Under `lock`. */
static void tell_openmp(void)
{
    struct dh_openmp_range ranges[DH_OPENMP_MAX];
    u32 n = 0;
    bool tool;
    for (int i = 0; i < modules_n && n < DH_OPENMP_MAX; i++)
        if (modules[i]->loaded && dh_openmp_is(modules[i]->path, &tool))
            ranges[n++] = (struct dh_openmp_range){modules[i]->lo, modules[i]->hi, tool};
    dh_openmp_set(ranges, n);
}

void dh_modules_changed(void)
{
    dh_lock_take(&lock);
    for (int i = 0; i < modules_n; i++)
        modules[i]->loaded = false;
    dh_lock_drop(&lock);
    dl_iterate_phdr(add, NULL);
    dh_lock_take(&lock);
    initial_n = initial_n ? initial_n : modules_n;
    tell_openmp();
    dh_lock_drop(&lock);
    if (__dh_hot.self)
        dh_sink_modules();
}

static void announce(const void *marker)
{
    dh_lock_take(&lock);
    struct dh_module *m = dh_modules_find((uptr)marker);
    bool known = m && m->loaded;
    dh_lock_drop(&lock);
    if (!known)
        dh_modules_changed(); /* this runs inside dlopen, which holds the linker's (recursive) lock */
    dh_lock_take(&lock);
    m = dh_modules_find((uptr)marker);
    if (m)
        m->instrumented = true;
    dh_lock_drop(&lock);
}

void __dh_module_init_v3(const void *marker)
{
    dh_runtime_init();
    struct dh_thread *t = __dh_hot.self;
    if (!t || !dh_thread_enter_any(t))
        return;
    announce(marker);
    dh_thread_leave(t);
}

/* The program itself is the first; parts of it may be plain, which cannot be determined. Nor can it for any
 * library if another compiler does the instrumentation (compat/abi.c). */
bool dh_modules_is_plain(uptr pc)
{
    if (dh_compat_modules)
        return false;
    dh_lock_take(&lock);
    const struct dh_module *m = dh_modules_find(pc);
    bool plain = m && m->id > 0 && !m->instrumented;
    dh_lock_drop(&lock);
    return plain;
}

/* Was the file counted before? One that is opened again may have got another address and so another entry. */
static bool is_again(int at)
{
    for (int i = 0; i < at; i++) {
        if (strcmp(modules[i]->path, modules[at]->path) == 0)
            return true;
    }
    return false;
}

u32 dh_modules_blind(void)
{
    /* The C library and what the compiler adds are covered by interceptors. */
    static const char *const covered[] = {"/libc.so",  "/libc-",      "/ld-linux", "/libm.so",
                                          "/libm-",    "/libpthread", "/libdl",    "/librt",
                                          "/libgcc_s", "/libstdc++",  "linux-vdso"};
    u32 n = 0;
    dh_lock_take(&lock);
    for (int i = 0; i < modules_n; i++) {
        bool skip = modules[i]->instrumented || is_again(i);
        for (size_t k = 0; k < DH_ARRAY_LEN(covered) && !skip; k++)
            skip = strstr(modules[i]->path, covered[k]) != NULL;
        n += !skip && modules[i]->path[0];
    }
    dh_lock_drop(&lock);
    return n;
}

void dh_modules_each_lock(dh_lock_fn *fn)
{
    fn(&lock);
}
