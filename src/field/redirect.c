/*
 * redirect.c - see redirect.h. A module's imports are words that the loader has filled in, and that its
 * relocations name (R_X86_64_JUMP_SLOT, _GLOB_DAT and _64). Those for one of our names get the address of our
 * function; a word that would be bound lazily no longer is.
 *
 * Names are compared without their versions. A function that the program defines itself is not touched: it
 * takes precedence over libc's for all modules. Neither is one that a library opened later has bound to a
 * definition of its own (RTLD_DEEPBIND).
 */
#include "field/redirect.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "base/sys.h"

enum { PAGE = 4096, TABLE = 1024, OPENED = 256, BEGINNING = 4, BEGINNINGS = 1 << 16 };

extern DH_HIDDEN const struct dh_field_redirect __start_dh_field_redirects[], __stop_dh_field_redirects[];

/* What is to be redirected, by the hash of the name. Written before there are threads. */
static struct entry {
    const struct dh_field_redirect *redirect; /* NULL: the end of a search */
    bool own;                                 /* the program defines it itself */
    void *target;                             /* the function it replaces; atomic; NULL: not known */
} table[TABLE];
static u64 begins[BEGINNINGS / 64];  /* bits, by the hash of the first characters of the names in the table */
static u64 program_from, program_to; /* the range of its segments */
static u32 n_first;                  /* modules that it started with; they stay first */

/* libc's own. The program's imports by these names will be ours, in this file too; volatile, or the compiler
 * would know which function is stored here and call it by name. */
static void *(*volatile libc_dlsym)(void *, const char *);
static void *(*volatile libc_dlvsym)(void *, const char *, const char *);

/* NULL: there is none. That must not show as an error in the program. */
static void *look_up(void *module, const char *name)
{
    void *fn = libc_dlsym(module, name);
    if (!fn)
        dlerror();
    return fn;
}

/* The next function of that name after the program's own. dlsym may find the condition variables of an older
 * ABI. */
static void *next_of(const char *name)
{
    void *fn = strncmp(name, "pthread_cond_", 13) == 0 ? libc_dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2") : NULL;
    return fn ? fn : look_up(RTLD_NEXT, name);
}

/* ---- The table ---- */

static u64 hash_of(const char *name, size_t most)
{
    u64 hash = 0;
    for (size_t i = 0; i < most && name[i]; i++)
        hash = hash * 31 + (u8)name[i];
    return dh_hash64(hash);
}

/* Nearly all names in C++ libraries share a handful of beginnings, and one of those that had its place in
 * common with a name in the table would cost as much as all others: so there are many more places than names.
 */
static u64 beginning_of(const char *name)
{
    return hash_of(name, BEGINNING) % BEGINNINGS;
}

/* Does a name in the table begin like this one? C++ libraries have thousands of long names that do not. */
static bool begins_alike(const char *name)
{
    u64 at = beginning_of(name);
    return begins[at / 64] >> at % 64 & 1;
}

static struct entry *place_of(const char *name)
{
    u64 hash = hash_of(name, SIZE_MAX);
    struct entry *e;
    for (; (e = &table[hash % TABLE])->redirect; hash++)
        if (strcmp(e->redirect->name, name) == 0)
            break;
    return e;
}

/* NULL: it is not redirected. */
static struct entry *find(const char *name)
{
    struct entry *e = begins_alike(name) ? place_of(name) : NULL;
    return e && e->redirect && !e->own ? e : NULL;
}

/* A library that came with the module, not with the program, is found through the module. */
static void *find_target(void *module, const char *name)
{
    void *fn = next_of(name);
    return fn || !module ? fn : look_up(module, name);
}

/* Finds the function that is replaced and the one to call, if not known yet. Not at the first call, since
 * dlsym itself frees memory, and clears what dlerror would return. */
static bool know(struct entry *e, void *module)
{
    const struct dh_field_redirect *r = e->redirect;
    if (__atomic_load_n(&e->target, __ATOMIC_ACQUIRE))
        return true;
    void *target = find_target(module, r->name);
    void *real = !target || !r->real ? target : find_target(module, r->real);
    if (!real)
        return false;
    __atomic_store_n(r->next, real, __ATOMIC_RELEASE);
    __atomic_store_n(&e->target, target, __ATOMIC_RELEASE);
    return true;
}

void *dh_field_redirect_found(const char *name, void *found)
{
    struct entry *e = found ? find(name) : NULL;
    return e && know(e, NULL) && e->target == found ? e->redirect->fn : found;
}

static void fill_table(bool follows)
{
    DH_CHECK(__stop_dh_field_redirects - __start_dh_field_redirects < TABLE / 2);
    for (const struct dh_field_redirect *r = __start_dh_field_redirects; r < __stop_dh_field_redirects; r++)
        if (r->always || follows) {
            place_of(r->name)->redirect = r;
            u64 at = beginning_of(r->name);
            begins[at / 64] |= 1ull << at % 64;
        }
}

/* ---- One module ---- */

struct module {
    const struct dl_phdr_info *info;
    u64 base;
    const Elf64_Sym *symbols;
    const char *names;
    const Elf64_Rela *tables[2];
    u64 sizes[2];               /* bytes */
    u64 n_relative;             /* so many at the beginning of the first table name no symbol */
    const u32 *hash, *gnu_hash; /* one of them, or both */
    const Elf64_Dyn *dynamic;
    const char *soname;       /* NULL: none */
    u64 relro_from, relro_to; /* read-only after relocation */
};

/* The loader adds the base to most of these; where it cannot write, it does not. */
static const void *pointer_in(const struct module *m, const Elf64_Dyn *d)
{
    return (const void *)(uptr)(d->d_un.d_ptr < m->base ? m->base + d->d_un.d_ptr : d->d_un.d_ptr);
}

static void read_dynamic(struct module *m)
{
    u64 soname = 0;
    for (const Elf64_Dyn *d = m->dynamic; d && d->d_tag != DT_NULL; d++)
        switch (d->d_tag) {
        case DT_SYMTAB:
            m->symbols = pointer_in(m, d);
            break;
        case DT_STRTAB:
            m->names = pointer_in(m, d);
            break;
        case DT_RELA:
            m->tables[0] = pointer_in(m, d);
            break;
        case DT_RELASZ:
            m->sizes[0] = d->d_un.d_val;
            break;
        case DT_RELACOUNT:
            m->n_relative = d->d_un.d_val;
            break;
        case DT_JMPREL:
            m->tables[1] = pointer_in(m, d);
            break;
        case DT_PLTRELSZ:
            m->sizes[1] = d->d_un.d_val;
            break;
        case DT_HASH:
            m->hash = pointer_in(m, d);
            break;
        case DT_GNU_HASH:
            m->gnu_hash = pointer_in(m, d);
            break;
        case DT_SONAME:
            soname = d->d_un.d_val;
            break;
        default:
            break;
        }
    m->soname = soname && m->names ? m->names + soname : NULL;
}

static struct module read_module(const struct dl_phdr_info *info)
{
    struct module m = {.info = info, .base = info->dlpi_addr};
    for (u32 i = 0; i < info->dlpi_phnum; i++) {
        const Elf64_Phdr *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_DYNAMIC)
            m.dynamic = (const void *)(uptr)(m.base + p->p_vaddr);
        if (p->p_type == PT_GNU_RELRO) {
            m.relro_from = DH_ALIGN_DOWN(m.base + p->p_vaddr, PAGE);
            m.relro_to = DH_ALIGN_DOWN(m.base + p->p_vaddr + p->p_memsz, PAGE);
        }
    }
    read_dynamic(&m);
    return m;
}

/* As the loader left them. */
static int rights_at(const struct module *m, u64 address)
{
    if (address >= m->relro_from && address < m->relro_to)
        return PROT_READ;
    for (u32 i = 0; i < m->info->dlpi_phnum; i++) {
        const Elf64_Phdr *p = &m->info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && address - m->base - p->p_vaddr < p->p_memsz)
            return (p->p_flags & PF_R ? PROT_READ : 0) | (p->p_flags & PF_W ? PROT_WRITE : 0) |
                   (p->p_flags & PF_X ? PROT_EXEC : 0);
    }
    return PROT_READ | PROT_WRITE;
}

/* Other threads may be reading it. */
static bool set_word(const struct module *m, u64 *word, void *value)
{
    long page = (long)DH_ALIGN_DOWN((u64)(uptr)word, PAGE);
    int rights = rights_at(m, (u64)(uptr)word);
    if (!(rights & PROT_WRITE) && dh_sys3(SYS_mprotect, page, PAGE, rights | PROT_WRITE) != 0)
        return false;
    __atomic_store_n(word, (u64)(uptr)value, __ATOMIC_RELEASE);
    if (!(rights & PROT_WRITE))
        dh_sys3(SYS_mprotect, page, PAGE, rights);
    return true;
}

/* A walk through the modules, and its result. */
struct walk {
    bool opened; /* through what dlopen has loaded, not what the program started with */
    bool changed, failed;
};

/* Does the word lead to the function being replaced, or will it after lazy binding? */
static bool leads_to_target(const struct module *m, const struct walk *w, u32 type, const Elf64_Sym *symbol,
                            const struct entry *e, u64 value)
{
    u64 target = (u64)(uptr)e->target;
    if (value == 0)
        return false; /* weak and undefined */
    if (type != R_X86_64_JUMP_SLOT && value - program_from < program_to - program_from)
        return false; /* the program's PLT entry for it, whose own word is redirected */
    return !w->opened || symbol->st_shndx == SHN_UNDEF || value == target ||
           m->base + symbol->st_value == target;
}

static void redirect_one(const struct module *m, struct walk *w, const Elf64_Rela *rela)
{
    u32 type = ELF64_R_TYPE(rela->r_info);
    const Elf64_Sym *symbol = &m->symbols[ELF64_R_SYM(rela->r_info)];
    if ((type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT && type != R_X86_64_64) ||
        (type == R_X86_64_64 && rela->r_addend != 0))
        return;
    struct entry *e = find(m->names + symbol->st_name);
    u64 *word = (u64 *)(uptr)(m->base + rela->r_offset);
    if (!e || *word == (u64)(uptr)e->redirect->fn || !(w->opened ? e->target != NULL : know(e, NULL)) ||
        !leads_to_target(m, w, type, symbol, e, *word))
        return;
    w->changed = true;
    w->failed |= !set_word(m, word, e->redirect->fn);
}

static void redirect_module(const struct module *m, struct walk *w)
{
    for (int t = 0; t < 2 && m->symbols && m->names; t++) {
        const u64 n = m->tables[t] ? m->sizes[t] / sizeof(Elf64_Rela) : 0;
        for (u64 i = t ? 0 : m->n_relative; i < n; i++)
            redirect_one(m, w, &m->tables[t][i]);
    }
}

/* ---- The loader itself ---- */

/* It calls free through pointers that it stores: for blocks of thread-local variables, when a thread ends. */
static void redirect_pointers(const struct module *m, struct walk *w, const char *name)
{
    struct entry *e = find(name);
    u64 target = e && know(e, NULL) ? (u64)(uptr)e->target : 0;
    for (u32 i = 0; target && i < m->info->dlpi_phnum; i++) {
        const Elf64_Phdr *p = &m->info->dlpi_phdr[i];
        if (p->p_type != PT_LOAD || !(p->p_flags & PF_W))
            continue;
        u64 *word = (u64 *)(uptr)DH_ALIGN_UP(m->base + p->p_vaddr, sizeof(u64));
        u64 *end = (u64 *)(uptr)DH_ALIGN_DOWN(m->base + p->p_vaddr + p->p_memsz, sizeof(u64));
        for (; word < end; word++)
            if (__atomic_load_n(word, __ATOMIC_RELAXED) == target)
                w->failed |= !set_word(m, word, e->redirect->fn);
    }
}

/* ---- What the program started with ---- */

static void read_program(const struct dl_phdr_info *info)
{
    program_from = UINT64_MAX;
    for (u32 i = 0; i < info->dlpi_phnum; i++) {
        const Elf64_Phdr *p = &info->dlpi_phdr[i];
        u64 from = info->dlpi_addr + p->p_vaddr, to = from + p->p_memsz;
        if (p->p_type != PT_LOAD)
            continue;
        program_from = from < program_from ? from : program_from;
        program_to = to > program_to ? to : program_to;
    }
}

/* The number of its symbols; the newer kind of table ends with the last that is defined. */
static u32 count_symbols(const struct module *m)
{
    if (m->hash)
        return m->hash[1];
    if (!m->gnu_hash)
        return 0;
    u32 n_buckets = m->gnu_hash[0], first = m->gnu_hash[1], last = 0;
    const u32 *buckets = m->gnu_hash + 4 + 2 * m->gnu_hash[2], *chains = buckets + n_buckets;
    for (u32 i = 0; i < n_buckets; i++)
        last = buckets[i] > last ? buckets[i] : last;
    if (last < first)
        return 0;
    while (!(chains[last - first] & 1))
        last++;
    return last + 1;
}

/* Functions that it defines itself are left alone, for libraries too. */
static void drop_own(const struct module *m)
{
    u32 n = m->symbols && m->names ? count_symbols(m) : 0;
    for (u32 i = 0; i < n; i++)
        if (m->symbols[i].st_shndx != SHN_UNDEF && begins_alike(m->names + m->symbols[i].st_name))
            place_of(m->names + m->symbols[i].st_name)->own = true;
}

static int begin_with(struct dl_phdr_info *info, size_t size, void *ctx)
{
    (void)size;
    struct walk *w = ctx;
    struct module m = read_module(info);
    n_first++;
    if ((uptr)info->dlpi_phdr == getauxval(AT_PHDR)) { /* the first of all */
        read_program(info);
        drop_own(&m);
    }
    redirect_module(&m, w);
    if (info->dlpi_addr == getauxval(AT_BASE)) {
        redirect_pointers(&m, w, "free");
        redirect_pointers(&m, w, "realloc");
    }
    return 0;
}

bool dh_field_redirect_begin(bool follows)
{
    struct walk w = {0};
    libc_dlsym = dlsym;
    libc_dlvsym = dlvsym;
    fill_table(follows);
    dl_iterate_phdr(begin_with, &w);
    return !w.failed;
}

/* ---- What is opened later ---- */

/* Only what the module depends on is processed: another thread may be in the middle of loading others, which
 * are not relocated yet. All of these are when dlopen returns. */
struct opened {
    struct walk walk;
    const void *root; /* its dynamic section */
    u32 place;        /* index of the module in this walk */
    u32 n;
    bool grew;
    struct {
        const Elf64_Dyn *dynamic;
        const char *names;
    } modules[OPENED];
};

static bool is_known(const struct opened *o, const struct module *m)
{
    for (u32 i = 0; i < o->n; i++)
        if (o->modules[i].dynamic == m->dynamic)
            return true;
    return false;
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool is_needed(const struct opened *o, const struct module *m)
{
    const char *file = last_part(m->info->dlpi_name);
    for (u32 i = 0; i < o->n; i++)
        for (const Elf64_Dyn *d = o->modules[i].dynamic; d->d_tag != DT_NULL; d++) {
            const char *name = d->d_tag == DT_NEEDED ? last_part(o->modules[i].names + d->d_un.d_val) : NULL;
            if (name && (strcmp(name, file) == 0 || (m->soname && strcmp(name, m->soname) == 0)))
                return true;
        }
    return false;
}

static int go_on_with(struct dl_phdr_info *info, size_t size, void *ctx)
{
    (void)size;
    struct opened *o = ctx;
    if (o->place++ < n_first)
        return 0;
    struct module m = read_module(info);
    if (!m.dynamic || !m.names || is_known(o, &m) || (m.dynamic != o->root && !is_needed(o, &m)))
        return 0;
    redirect_module(&m, &o->walk);
    if (o->n == OPENED)
        return 1;
    o->modules[o->n].dynamic = m.dynamic;
    o->modules[o->n++].names = m.names;
    o->grew = true;
    return 0;
}

bool dh_field_redirect_opened(void *module)
{
    struct link_map *map;
    struct opened o = {.walk.opened = true};
    if (dlinfo(module, RTLD_DI_LINKMAP, &map) != 0)
        return false;
    o.root = map->l_ld;
    /* Not during the walk, which holds a lock that others take inside dlsym's. */
    for (struct entry *e = table; e < table + TABLE; e++)
        if (e->redirect && !e->own)
            know(e, module);
    do {
        o.place = 0;
        o.grew = false;
    } while (dl_iterate_phdr(go_on_with, &o) == 0 && o.grew);
    return o.walk.changed;
}
