/*
 * copies.c - see copies.h.
 */
#include "chase/copies.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "chase/lines.h"

enum { RSI = 6, RDI = 7, STUB = 16 };

/* In all of these the third argument is the number of bytes. memchr may stop at any byte. */
static const struct {
    const char *name;
    u8 kinds[2]; /* accesses through the first and the second argument; 0: not a pointer */
    u8 flags;
} functions[] = {
    {"memcpy", {DH_CONTROL_WRITE, DH_CONTROL_READ}, DH_CONTROL_REPEAT},
    {"memmove", {DH_CONTROL_WRITE, DH_CONTROL_READ}, DH_CONTROL_REPEAT},
    {"mempcpy", {DH_CONTROL_WRITE, DH_CONTROL_READ}, DH_CONTROL_REPEAT},
    {"__memcpy_chk", {DH_CONTROL_WRITE, DH_CONTROL_READ}, DH_CONTROL_REPEAT},
    {"__memmove_chk", {DH_CONTROL_WRITE, DH_CONTROL_READ}, DH_CONTROL_REPEAT},
    {"__mempcpy_chk", {DH_CONTROL_WRITE, DH_CONTROL_READ}, DH_CONTROL_REPEAT},
    {"memset", {DH_CONTROL_WRITE, 0}, DH_CONTROL_REPEAT},
    {"__memset_chk", {DH_CONTROL_WRITE, 0}, DH_CONTROL_REPEAT},
    {"memcmp", {DH_CONTROL_READ, DH_CONTROL_READ}, DH_CONTROL_REPEAT},
    {"bcmp", {DH_CONTROL_READ, DH_CONTROL_READ}, DH_CONTROL_REPEAT},
    {"memchr", {DH_CONTROL_READ, 0}, DH_CONTROL_AT_MOST},
};

/* ---- Imports ---- */

static u32 function_of(const char *name)
{
    u32 i = 0;
    while (i < DH_ARRAY_LEN(functions) && strcmp(functions[i].name, name) != 0)
        i++;
    return i;
}

static const char *symbol_name(Elf *elf, const GElf_Shdr *relocations, size_t number)
{
    GElf_Shdr header;
    GElf_Sym symbol;
    Elf_Scn *section = elf_getscn(elf, relocations->sh_link);
    Elf_Data *data = section && gelf_getshdr(section, &header) ? elf_getdata(section, NULL) : NULL;
    if (!data || number > INT32_MAX || !gelf_getsym(data, (int)number, &symbol))
        return NULL;
    return elf_strptr(elf, header.sh_link, symbol.st_name);
}

static int by_address(const void *a, const void *b)
{
    const struct dh_chase_copies_import *x = a, *y = b;
    return (x->address > y->address) - (x->address < y->address);
}

void dh_chase_copies_read(struct dh_arena *arena, Elf *elf, struct dh_chase_copies *ret)
{
    struct dh_chase_copies_import *found = NULL;
    size_t n = 0, cap = 0;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        GElf_Rela r;
        Elf_Data *data = gelf_getshdr(section, &header) && header.sh_type == SHT_RELA && header.sh_entsize
                             ? elf_getdata(section, NULL)
                             : NULL;
        for (size_t i = 0; data && i < data->d_size / header.sh_entsize && i <= INT32_MAX; i++) {
            if (!gelf_getrela(data, (int)i, &r) ||
                (GELF_R_TYPE(r.r_info) != R_X86_64_JUMP_SLOT && GELF_R_TYPE(r.r_info) != R_X86_64_GLOB_DAT))
                continue;
            const char *name = symbol_name(elf, &header, GELF_R_SYM(r.r_info));
            u32 what = name ? function_of(name) : DH_ARRAY_LEN(functions);
            if (what == DH_ARRAY_LEN(functions))
                continue;
            found = dh_util_grow(found, n, &cap, sizeof(*found));
            found[n++] = (struct dh_chase_copies_import){r.r_offset, what};
        }
    }
    ret->at = dh_arena_array(arena, n, sizeof(*ret->at));
    ret->n = n;
    if (n) {
        memcpy(ret->at, found, n * sizeof(*found));
        qsort(ret->at, n, sizeof(*ret->at), by_address);
    }
    free(found);
}

/* ---- Calls ---- */

/* The word that a call or jump goes through; 0: it does not go through memory. */
static u64 word_of(u64 address, const struct dh_chase_code *code)
{
    const struct dh_control_operand *o = &code->operands[0];
    return code->branch && code->n_operands == 1 && code->relative && o->index == DH_CONTROL_NONE
               ? address + code->length + (u64)o->displacement
               : 0;
}

/* The same for the linker stub that a call or jump leads to. */
static u64 word_of_stub(const struct dh_chase_file *file, u64 address, const struct dh_chase_code *code)
{
    static const u8 landing[] = {0xF3, 0x0F, 0x1E, 0xFA}; /* endbr64 */
    bool direct = code->bytes[0] == 0xE8 || code->bytes[0] == 0xE9;
    u64 at = address + code->length + (u64)(int64_t)code->distance;
    const u8 *bytes = direct ? dh_chase_lines_bytes(file, at, at + STUB) : NULL;
    struct dh_chase_code jump;
    if (!bytes)
        return 0;
    size_t skip = memcmp(bytes, landing, sizeof(landing)) == 0 ? sizeof(landing) : 0;
    return dh_chase_code_read(bytes + skip, STUB - skip, false, &jump) == 0 && !jump.call
               ? word_of(at + skip, &jump)
               : 0;
}

void dh_chase_copies_tell(const struct dh_chase_copies *c, const struct dh_chase_file *file, u64 address,
                          struct dh_chase_code *code)
{
    static const u8 arguments[] = {RDI, RSI};
    if (!c->n || !code->branch)
        return;
    u64 word = word_of(address, code);
    if (!word)
        word = word_of_stub(file, address, code);
    size_t i = DH_SEARCH_BELOW(c->at, c->n, address, word);
    if (!word || i == c->n || c->at[i].address != word)
        return;
    const u32 what = c->at[i].what;
    code->kind = DH_CHASE_CODE_ACCESS;
    code->copies = true;
    code->plain = true;
    code->n_operands = code->kinds = 0;
    for (size_t k = 0; k < DH_ARRAY_LEN(arguments) && functions[what].kinds[k]; k++) {
        code->kinds |= functions[what].kinds[k];
        code->operands[code->n_operands++] =
            (struct dh_control_operand){.size = 1,
                                        .base = arguments[k],
                                        .index = DH_CONTROL_NONE,
                                        .scale = 1,
                                        .kind = functions[what].kinds[k],
                                        .flags = functions[what].flags | DH_CONTROL_BY_RDX};
    }
}
