/*
 * built.c - see built.h.
 */
#include "chase/built.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"

static int by_address(const void *a, const void *b)
{
    const struct dh_chase_built_item *x = a, *y = b;
    return (x->address > y->address) - (x->address < y->address);
}

struct list {
    struct dh_chase_built_item *at; /* a heap array */
    size_t n, cap;
};

/* The 32-bit word there is the distance from itself to some code. */
static u64 target_of(const Elf_Data *data, const GElf_Shdr *header, size_t at)
{
    int32_t distance;
    memcpy(&distance, (const char *)data->d_buf + at, sizeof(distance));
    return header->sh_addr + at + (u64)(int64_t)distance;
}

static void add(struct list *l, u64 address, u32 word)
{
    l->at = dh_util_grow(l->at, l->n, &l->cap, sizeof(*l->at));
    l->at[l->n++] = (struct dh_chase_built_item){address, word};
}

static void read_functions(const Elf_Data *data, const GElf_Shdr *header, struct list *ret)
{
    for (size_t at = 0; at + 8 <= data->d_size; at += 8) {
        u32 length;
        memcpy(&length, (const char *)data->d_buf + at + 4, sizeof(length));
        add(ret, target_of(data, header, at), length);
    }
}

static void read_atomics(const Elf_Data *data, const GElf_Shdr *header, u32 word, struct list *ret)
{
    for (size_t at = 0; at + 4 <= data->d_size; at += 4)
        add(ret, target_of(data, header, at), word);
}

/* Sorted, and in the arena. */
static struct dh_chase_built_item *finish(struct dh_arena *arena, struct list *l)
{
    struct dh_chase_built_item *items = dh_arena_array(arena, l->n, sizeof(*items));
    if (l->n) {
        memcpy(items, l->at, l->n * sizeof(*items));
        qsort(items, l->n, sizeof(*items), by_address);
    }
    free(l->at);
    return items;
}

static const char *why_unseen(const char *name, const GElf_Sym *sym)
{
    if (strncmp(name, "__kmpc_", 7) == 0 || strncmp(name, "GOMP_", 5) == 0)
        return "it uses OpenMP, whose own synchronisation is not seen";
    if (strcmp(name, "free") == 0 && sym->st_shndx != SHN_UNDEF)
        return "it has an allocator of its own, and who gets a block after whom is not seen";
    if ((strcmp(name, "error") == 0 || strcmp(name, "error_at_line") == 0) && sym->st_shndx == SHN_UNDEF)
        return "it calls error, whose lock of stderr is not seen";
    return NULL;
}

/* In the full symbol table. Calls inside the C++ library cannot be redirected. */
static const char *why_inside(const char *name, const GElf_Sym *sym)
{
    static const char *const names[] = {"__cxa_guard_acquire", "__cxa_end_catch", "_Unwind_DeleteException",
                                        "_ZNSt3pmr20get_default_resourceEv"};
    for (size_t i = 0; i < DH_ARRAY_LEN(names) && sym->st_shndx != SHN_UNDEF; i++)
        if (strcmp(name, names[i]) == 0)
            return "it has the library of C++ inside (-static-libstdc++ or -static-libgcc), whose own "
                   "synchronisation is not seen";
    return NULL;
}

static const char *find_unseen(Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
    const char *why = NULL;
    Elf_Data *data = elf_getdata(section, NULL);
    size_t n = data && header->sh_entsize ? data->d_size / header->sh_entsize : 0;
    for (size_t i = 0; i < n && i <= INT32_MAX && !why; i++) {
        GElf_Sym sym;
        const char *name =
            gelf_getsym(data, (int)i, &sym) ? elf_strptr(elf, header->sh_link, sym.st_name) : NULL;
        if (name)
            why = header->sh_type == SHT_DYNSYM ? why_unseen(name, &sym) : why_inside(name, &sym);
    }
    return why;
}

void dh_chase_built_read(struct dh_arena *arena, Elf *elf, struct dh_chase_built *ret)
{
    const size_t prefix = strlen(DH_BUILT_ATOMICS);
    const u32 of_functions = DH_BUILT_FENCE | DH_BUILT_LIBRARY | DH_BUILT_ASSEMBLY;
    struct list functions = {0}, atomics = {0}, assembly = {0};
    const char *unseen = NULL;
    u32 flags = 0;
    size_t names;
    Elf_Scn *section = elf_getshdrstrndx(elf, &names) == 0 ? elf_nextscn(elf, NULL) : NULL;
    for (; section; section = elf_nextscn(elf, section)) {
        GElf_Shdr header;
        const char *name = gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
        if (name && !unseen && (header.sh_type == SHT_DYNSYM || header.sh_type == SHT_SYMTAB))
            unseen = find_unseen(elf, section, &header);
        const Elf_Data *data = name ? elf_rawdata(section, NULL) : NULL;
        if (!data || !data->d_buf)
            continue;
        if (strcmp(name, DH_BUILT_CODE) == 0)
            read_functions(data, &header, &functions);
        if (strncmp(name, DH_BUILT_ATOMICS, prefix) != 0)
            continue;
        u32 word = (u32)strtoul(name + prefix, NULL, 16);
        if (word & DH_BUILT_ASSEMBLY)
            read_functions(data, &header, &assembly);
        if (word & of_functions)
            flags |= word & of_functions;
        else
            read_atomics(data, &header, word, &atomics);
    }
    *ret = (struct dh_chase_built){.n_functions = functions.n,
                                   .n_atomics = atomics.n,
                                   .n_assembly = assembly.n,
                                   .flags = flags,
                                   .unseen = unseen};
    ret->functions = finish(arena, &functions);
    ret->atomics = finish(arena, &atomics);
    ret->assembly = finish(arena, &assembly);
}

static bool is_within(const struct dh_chase_built_item *functions, size_t n, u64 address)
{
    size_t i = DH_SEARCH_UPTO(functions, n, address, address);
    return i > 0 && address - functions[i - 1].address < functions[i - 1].word;
}

bool dh_chase_built_covers(const struct dh_chase_built *b, u64 address)
{
    return is_within(b->functions, b->n_functions, address);
}

bool dh_chase_built_has_assembly(const struct dh_chase_built *b, u64 address)
{
    return is_within(b->assembly, b->n_assembly, address);
}

u32 dh_chase_built_atomic(const struct dh_chase_built *b, u64 address)
{
    u32 word = 0;
    for (size_t i = DH_SEARCH_BELOW(b->atomics, b->n_atomics, address, address);
         i < b->n_atomics && b->atomics[i].address == address; i++)
        word |= b->atomics[i].word;
    return word;
}
