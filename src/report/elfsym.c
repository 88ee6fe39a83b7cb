/*
 * elfsym.c - the ELF symbol table, sorted for look-up. The fallback for code without debug information, and
 * the first source for the names of globals.
 */
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "report/object.h"

enum { LOCAL, WEAK, GLOBAL }; /* ranks */

static int by_address(const void *a, const void *b)
{
    const struct dh_object_symbol *x = a, *y = b;
    if (x->lo != y->lo)
        return x->lo < y->lo ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return strcmp(x->name, y->name);
}

static void add(struct dh_object *o, int which, const char *name, const GElf_Sym *sym, u64 addr)
{
    o->symbols[which] = dh_util_grow(o->symbols[which], o->n_symbols[which], &o->cap_symbols[which],
                                     sizeof(struct dh_object_symbol));
    int bind = GELF_ST_BIND(sym->st_info);
    u8 rank = bind == STB_GLOBAL ? GLOBAL : bind == STB_WEAK ? WEAK : LOCAL;
    u64 size = sym->st_size ? sym->st_size : 1;
    o->symbols[which][o->n_symbols[which]++] =
        (struct dh_object_symbol){addr, addr + size < addr ? UINT64_MAX : addr + size, name, rank};
}

static void read_symbols(struct dh_object *o)
{
    o->symbols_read = true;
    int n = dwfl_module_getsymtab(o->module);
    for (int i = 1; i < n; i++) {
        GElf_Sym sym;
        GElf_Addr addr;
        const char *name = dwfl_module_getsym_info(o->module, i, &sym, &addr, NULL, NULL, NULL);
        int type = GELF_ST_TYPE(sym.st_info);
        if (!name || !name[0] || sym.st_shndx == SHN_UNDEF)
            continue;
        if (type == STT_FUNC || type == STT_GNU_IFUNC)
            add(o, DH_OBJECT_FUNCTIONS, name, &sym, addr - o->elf_bias);
        else if (type == STT_OBJECT || type == STT_COMMON)
            add(o, DH_OBJECT_DATA, name, &sym, addr - o->elf_bias);
        else if (type == STT_TLS)
            add(o, DH_OBJECT_TLS, name, &sym, sym.st_value);
    }
    for (int which = 0; which < DH_OBJECT_KINDS; which++) {
        if (o->n_symbols[which])
            qsort(o->symbols[which], o->n_symbols[which], sizeof(struct dh_object_symbol), by_address);
    }
}

bool dh_object_is_sole_symbol(const struct dh_object *o, int which, const struct dh_object_symbol *symbol)
{
    if (symbol->rank > LOCAL)
        return true;
    for (size_t i = 0; i < o->n_symbols[which]; i++) {
        const struct dh_object_symbol *other = &o->symbols[which][i];
        if (other->lo != symbol->lo && strcmp(other->name, symbol->name) == 0)
            return false;
    }
    return true;
}

const struct dh_object_symbol *dh_object_find_symbol(struct dh_object *o, int which, u64 addr)
{
    if (!o->module)
        return NULL;
    if (!o->symbols_read)
        read_symbols(o);
    const struct dh_object_symbol *symbols = o->symbols[which];
    size_t lo = DH_SEARCH_UPTO(symbols, o->n_symbols[which], lo, addr);
    /* A small symbol may lie inside a large one (aliases, ends of sections): look back a little. */
    for (size_t back = 0; lo > 0 && back < 16; back++) {
        lo--;
        if (addr < symbols[lo].hi)
            return &symbols[lo];
    }
    return NULL;
}
