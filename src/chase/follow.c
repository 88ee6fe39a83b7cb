/*
 * follow.c - see follow.h.
 *
 * In a function that the plugin has processed, an instruction is synchronisation if the table says so. Where
 * inline assembly may access memory, and in objects compiled without the plugin, nothing says which accesses
 * are atomic: there every access to a single location counts, as an acquire if it reads and a release if it
 * writes. That may add ordering and hide a race; it never invents one.
 */
#include "chase/follow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/path.h"

/* A stretch of code that begins with a name. */
struct function {
    u64 lo, hi; /* hi == 0: up to the next */
    const char *name;
    bool ours; /* the plugin has processed it */
};

struct follow {
    struct dh_arena *arena;
    struct dh_chase_file *file;
    const struct dh_chase_built *built;
    struct function *functions; /* a heap array, sorted */
    size_t n_functions, cap_functions;
    struct dh_chase_accesses found;
    size_t cap;
    size_t unknown;      /* of those: in code about which nothing is known */
    const char *example; /* a function that contains some */
    bool fences;
    const char *why; /* NULL: no obstacle so far */
};

static void add(struct follow *f, u64 address, const struct dh_chase_code *code, u8 order)
{
    struct dh_chase_accesses *a = &f->found;
    a->at = dh_util_grow(a->at, a->n, &f->cap, sizeof(*a->at));
    a->at[a->n] = (struct dh_chase_access){.address = address, .code = *code, .file = "", .order = order};
    a->at[a->n].code.atomic = true;
    a->at[a->n].code.plain = false;
    a->n++;
}

static u8 order_of_kinds(u8 kinds)
{
    return (kinds & DH_CONTROL_READ ? DH_CONTROL_ACQUIRE : 0) |
           (kinds & DH_CONTROL_WRITE ? DH_CONTROL_RELEASE : 0);
}

/* ---- What the compiler recorded ---- */

/* Fences also order relaxed accesses, so where there are any, all accesses count as both. An instruction that
 * does more than its mark says was merged from several accesses. */
static u8 order_of(u32 word, u8 kinds, bool fences)
{
    u8 marked = (word & DH_BUILT_READ ? DH_CONTROL_READ : 0) | (word & DH_BUILT_WRITE ? DH_CONTROL_WRITE : 0);
    if (fences || marked != kinds)
        return order_of_kinds(kinds);
    return (word & DH_BUILT_ACQUIRE ? DH_CONTROL_ACQUIRE : 0) |
           (word & DH_BUILT_RELEASE ? DH_CONTROL_RELEASE : 0);
}

/* False: it cannot be run out of line. */
static bool add_noted(struct follow *f, u64 address, u32 word)
{
    struct dh_chase_code code;
    const u8 *bytes = dh_chase_lines_bytes(f->file, address, address + 1);
    size_t n = DH_CHASE_CODE_MAX;
    while (n > 1 && !dh_chase_lines_bytes(f->file, address, address + n))
        n--;
    if (!bytes || dh_chase_code_read_any(bytes, n, &code) != 0 || code.kind == DH_CHASE_CODE_REFUSED)
        return false;
    u8 order = code.kind == DH_CHASE_CODE_ACCESS && !code.branch ? order_of(word, code.kinds, f->fences) : 0;
    if (order)
        add(f, address, &code, order);
    return true;
}

static void add_all_noted(struct follow *f)
{
    const struct dh_chase_built *b = f->built;
    for (size_t i = 0; i < b->n_atomics && !f->why; i++) {
        u64 address = b->atomics[i].address;
        if (i > 0 && b->atomics[i - 1].address == address)
            continue;
        if (!add_noted(f, address, dh_chase_built_atomic(b, address)))
            f->why = "one of its atomic accesses is by an instruction that cannot be run out of line";
    }
}

/* ---- What the compiler did not record ---- */

static void refuse(struct follow *f, const struct function *fn, u64 address, const char *what)
{
    const char *name = fn->name;
    struct dh_chase_spot spot;
    for (size_t i = 0; !name && i < f->n_functions; i++)
        if (!f->functions[i].ours && f->functions[i].lo == fn->lo)
            name = f->functions[i].name;
    if (!name)
        name = "?";
    if (!fn->ours)
        f->why =
            dh_arena_printf(f->arena,
                            "its function '%s', which 'deadheat cc' has not compiled, %s; compile it with "
                            "'deadheat cc --dh-mode=field', or give --trust if it orders no threads",
                            name, what);
    else if (dh_chase_lines_line(f->file, address, &spot))
        f->why =
            dh_arena_printf(f->arena,
                            "its function '%s' has inline assembly that %s (%s:%d); give --trust if that "
                            "orders no threads",
                            name, what, dh_path_base(spot.file), spot.line);
    else
        f->why = dh_arena_printf(
            f->arena, "its function '%s' has inline assembly that %s; give --trust if that orders no threads",
            name, what);
}

/* The stack canary, in the thread's own segment. */
static bool is_canary(const struct dh_control_operand *o)
{
    enum { CANARY = 0x28 };
    return o->flags == DH_CONTROL_FS && o->base == DH_CONTROL_NONE && o->index == DH_CONTROL_NONE &&
           o->displacement == CANARY && o->kind == DH_CONTROL_READ;
}

/* No processor performs an access to more than eight bytes, or to two places, atomically without a lock
 * prefix; code that orders threads does not rely on such accesses. */
static bool may_order(const struct dh_chase_code *code)
{
    const struct dh_control_operand *o = &code->operands[0];
    return code->kind == DH_CHASE_CODE_ACCESS && !code->branch && code->n_operands == 1 && o->size <= 8 &&
           !(o->flags & (DH_CONTROL_REPEAT | DH_CONTROL_AT_MOST)) && !is_canary(o);
}

/* A fence that looks like an access: to a word of the stack, which it leaves unchanged. */
static bool is_stack_fence(const struct dh_chase_code *code)
{
    enum { RSP = 4 };
    return code->sync == DH_CHASE_CODE_LOCKED && code->n_operands == 1 && code->operands[0].base == RSP;
}

static void take(struct follow *f, const struct function *fn, u64 at, const struct dh_chase_code *code,
                 bool unknown)
{
    bool locked = code->sync == DH_CHASE_CODE_LOCKED;
    if (!unknown && !(locked && !is_stack_fence(code)))
        return;
    f->fences |= code->sync == DH_CHASE_CODE_FENCE || is_stack_fence(code);
    if (code->sync == DH_CHASE_CODE_KERNEL)
        refuse(f, fn, at, "makes system calls by itself");
    else if (code->kind == DH_CHASE_CODE_REFUSED || (locked && !may_order(code)))
        refuse(f, fn, at, "accesses memory by an instruction that cannot be followed");
    else if (may_order(code) && !dh_chase_built_atomic(f->built, at)) {
        add(f, at, code, order_of_kinds(code->kinds));
        f->unknown += unknown;
        f->example = f->example || !unknown ? f->example : fn->name;
    }
}

static bool is_zero(const u8 *bytes, size_t n)
{
    while (n && !*bytes)
        bytes++, n--;
    return n == 0;
}

/* Decodes the whole function. If it is not really code, a jump leads into the middle of an instruction, or
 * the function ends inside one. Data among the code must not be taken for instructions, since breakpoints
 * would change it. */
static void sweep(struct follow *f, const struct function *fn)
{
    const size_t n = fn->hi - fn->lo;
    const u8 *bytes = dh_chase_lines_bytes(f->file, fn->lo, fn->hi);
    const bool unknown = !fn->ours || dh_chase_built_has_assembly(f->built, fn->lo);
    if (!bytes)
        return;
    u8 *begins = dh_util_alloc(n + 1), *targets = dh_util_alloc(n + 1);
    memset(begins, 0, n + 1);
    memset(targets, 0, n + 1);
    for (size_t i = 0; i < n && !f->why;) {
        struct dh_chase_code code;
        if (unknown && is_zero(bytes + i, n - i))
            break;
        if (dh_chase_code_read_any(bytes + i, n - i, &code) != 0) {
            if (unknown)
                refuse(f, fn, fn->lo + i, "cannot be decoded");
            break;
        }
        begins[i] = 1;
        take(f, fn, fn->lo + i, &code, unknown);
        i += code.length;
        u64 to = i + (u64)(int64_t)code.distance;
        if (code.branch && code.distance && to < n)
            targets[to] = 1;
    }
    for (size_t i = 0; i < n && unknown && !f->why; i++)
        if (targets[i] && !begins[i])
            refuse(f, fn, fn->lo + i, "has data among its code");
    free(begins);
    free(targets);
}

/* ---- All functions ---- */

static void add_function(struct follow *f, u64 lo, u64 hi, const char *name, bool ours)
{
    f->functions = dh_util_grow(f->functions, f->n_functions, &f->cap_functions, sizeof(*f->functions));
    f->functions[f->n_functions++] = (struct function){lo, hi, name, ours};
}

/* Functions that the plugin has processed come first, then longer ones before shorter ones. */
static int by_address(const void *a, const void *b)
{
    const struct function *x = a, *y = b;
    if (x->lo != y->lo)
        return x->lo < y->lo ? -1 : 1;
    if (x->ours != y->ours)
        return x->ours ? -1 : 1;
    return (x->hi < y->hi) - (x->hi > y->hi);
}

static void read_symbols(struct follow *f, Elf_Scn *section, const GElf_Shdr *header)
{
    Elf *elf = dh_chase_lines_elf(f->file);
    Elf_Data *data = elf_getdata(section, NULL);
    size_t n = data && header->sh_entsize ? data->d_size / header->sh_entsize : 0;
    for (size_t i = 0; i < n && i <= INT32_MAX; i++) {
        GElf_Sym sym;
        const char *name =
            gelf_getsym(data, (int)i, &sym) ? elf_strptr(elf, header->sh_link, sym.st_name) : NULL;
        int type = name ? GELF_ST_TYPE(sym.st_info) : STT_FILE;
        if (!name || !*name || sym.st_shndx == SHN_UNDEF || sym.st_shndx >= SHN_LORESERVE ||
            (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE))
            continue;
        add_function(f, sym.st_value, sym.st_size ? sym.st_value + sym.st_size : 0, name, false);
    }
}

static bool is_padding(const struct follow *f, u64 lo, u64 hi)
{
    const u8 *bytes = dh_chase_lines_bytes(f->file, lo, hi);
    for (size_t i = 0, n = hi - lo; bytes && i < n;) {
        struct dh_chase_code code;
        if (is_zero(bytes + i, n - i))
            return true;
        if (dh_chase_code_read_any(bytes + i, n - i, &code) != 0 || !code.pads)
            return false;
        i += code.length;
    }
    return bytes != NULL;
}

/* Every byte of this section belongs to some function, or is padding that is never executed. */
static void sweep_section(struct follow *f, u64 lo, u64 hi)
{
    u64 at = lo;
    if (hi <= lo) /* nothing is in it */
        return;
    for (size_t i = 0; i <= f->n_functions && !f->why; i++) {
        struct function fn = i < f->n_functions ? f->functions[i] : (struct function){hi, hi, NULL, false};
        if (fn.lo < at || fn.lo > hi)
            continue;
        for (size_t k = i; !fn.hi; k++) /* others at the same address come next */
            if (k == f->n_functions || f->functions[k].lo > fn.lo)
                fn.hi = k < f->n_functions && f->functions[k].lo < hi ? f->functions[k].lo : hi;
        if (fn.hi > hi || fn.hi < fn.lo) /* nobody checks what an assembler is told */
            fn.hi = hi;
        if (at < fn.lo && !is_padding(f, at, fn.lo))
            f->why = dh_arena_printf(f->arena,
                                     "it has code at 0x%llx that is of no function; give --trust if that "
                                     "orders no threads",
                                     (unsigned long long)at);
        if (!f->why && fn.lo < hi)
            sweep(f, &fn);
        at = fn.hi;
    }
}

static void sweep_all(struct follow *f)
{
    Elf *elf = dh_chase_lines_elf(f->file);
    size_t names;
    GElf_Shdr header;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return;
    for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s));)
        if (gelf_getshdr(s, &header) && header.sh_type == SHT_SYMTAB)
            read_symbols(f, s, &header);
    for (size_t i = 0; i < f->built->n_functions; i++) {
        const struct dh_chase_built_item *fn = &f->built->functions[i];
        add_function(f, fn->address, fn->address + fn->word, NULL, true);
    }
    if (f->n_functions)
        qsort(f->functions, f->n_functions, sizeof(*f->functions), by_address);
    for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s));) {
        const char *name = gelf_getshdr(s, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
        if (!name || header.sh_type != SHT_PROGBITS || !(header.sh_flags & SHF_EXECINSTR) ||
            strncmp(name, ".plt", 4) == 0 || strcmp(name, ".iplt") == 0 || strcmp(name, DH_BUILT_OWN) == 0)
            continue;
        sweep_section(f, header.sh_addr, header.sh_addr + header.sh_size);
    }
    if (f->unknown > DH_CONTROL_SITES / 2 && !f->why)
        f->why = dh_arena_printf(f->arena,
                                 "its code that 'deadheat cc' has not compiled, such as '%s', accesses "
                                 "memory at %zu places, and no "
                                 "more than %d can be followed; compile it with 'deadheat cc "
                                 "--dh-mode=field', or give --trust if it "
                                 "orders no threads",
                                 f->example ? f->example : "?", f->unknown, DH_CONTROL_SITES / 2);
}

static int accesses_by_address(const void *a, const void *b)
{
    const struct dh_chase_access *x = a, *y = b;
    return (x->address > y->address) - (x->address < y->address);
}

int dh_chase_follow_find(struct dh_arena *arena, struct dh_chase_file *file, bool trusted,
                         struct dh_chase_accesses *ret, const char **ret_why)
{
    const struct dh_chase_built *b = dh_chase_lines_built(file);
    struct follow f = {
        .arena = arena, .file = file, .built = b, .fences = b->flags & DH_BUILT_FENCE, .why = b->unseen};
    if (b->flags & DH_BUILT_LIBRARY)
        f.why = "some of its atomic objects are larger than eight bytes, and libatomic's locks are not seen";
    if (!trusted && !f.why)
        sweep_all(&f);
    add_all_noted(&f);
    if (!f.why) {
        struct dh_chase_accesses list = {.n = f.found.n};
        list.at = dh_arena_array(arena, list.n, sizeof(*list.at));
        if (list.n) {
            memcpy(list.at, f.found.at, list.n * sizeof(*list.at));
            qsort(list.at, list.n, sizeof(*list.at), accesses_by_address);
        }
        *ret = list;
    }
    free(f.found.at);
    free(f.functions);
    *ret_why = f.why;
    return f.why ? -ENOTSUP : 0;
}
