/*
 * syscalls.c - see syscalls.h.
 *
 * The bytes of the instruction are searched for first, and only functions that contain them are decoded: they
 * may just as well be part of another instruction. Functions are where symbols and unwind tables say. What is
 * in between may be code, too: if all that is around the bytes can be decoded, it is taken for that,
 * otherwise for data.
 *
 * Within a function, constants are propagated through its registers, along direct jumps. What is reached in
 * no other known way (after a jump, a return, or data) may hold anything in them. A table of jumps is assumed
 * not to lead between the instruction that sets the number and the call.
 */
#include "chase/syscalls.h"

#include <Zydis/Zydis.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "base/built.h"
#include "util/arena.h"

/* ---- Which calls ---- */

enum { RAX = 0, RCX = 1, RBX = 3, RBP = 5, RDI = 7, R8 = 8, R9 = 9, R10 = 10, R11 = 11, R12 = 12, ANY = 16 };

/* Those that set an action, or a mask, if only while they wait: handlers that run meanwhile have it, too. */
static const struct {
    u32 number;
    u8 mask; /* no mask is set if this register is 0 */
    const char *name;
} setting[] = {{13, ANY, "rt_sigaction"},  {14, ANY, "rt_sigprocmask"}, {130, ANY, "rt_sigsuspend"},
               {270, R9, "pselect6"},      {271, R10, "ppoll"},         {281, R8, "epoll_pwait"},
               {333, R9, "io_pgetevents"}, {441, R8, "epoll_pwait2"}};

/* What is known of the registers. */
struct state {
    bool reached;
    u16 known;
    u32 value[16];
};

static bool knows(const struct state *s, u32 reg)
{
    return s->known >> reg & 1;
}

static bool is_harmless(const struct state *s, const char **ret_name)
{
    *ret_name = NULL;
    if (!s->reached || !knows(s, RAX))
        return false;
    for (size_t i = 0; i < DH_ARRAY_LEN(setting); i++) {
        if (setting[i].number != s->value[RAX])
            continue;
        *ret_name = setting[i].name;
        return setting[i].mask != ANY && knows(s, setting[i].mask) && s->value[setting[i].mask] == 0;
    }
    return true;
}

/* ---- One instruction ---- */

static int general(ZydisRegister reg)
{
    ZydisRegister all = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
    return ZydisRegisterGetClass(all) == ZYDIS_REGCLASS_GPR64 ? ZydisRegisterGetId(all) : -1;
}

static void forget(struct state *s, u32 registers)
{
    s->known &= (u16)~registers;
}

/* Does it give its first operand, a register, a constant? */
static bool is_constant(const struct state *s, const ZydisDecodedInstruction *in,
                        const ZydisDecodedOperand *operands, u32 *ret)
{
    const ZydisDecodedOperand *from = &operands[1];
    if (in->operand_count_visible != 2 || operands[0].type != ZYDIS_OPERAND_TYPE_REGISTER ||
        operands[0].size < 32 || general(operands[0].reg.value) < 0)
        return false;
    bool same = from->type == ZYDIS_OPERAND_TYPE_REGISTER && from->reg.value == operands[0].reg.value;
    int other = from->type == ZYDIS_OPERAND_TYPE_REGISTER ? general(from->reg.value) : -1;
    if ((in->mnemonic == ZYDIS_MNEMONIC_XOR || in->mnemonic == ZYDIS_MNEMONIC_SUB) && same)
        *ret = 0;
    else if (in->mnemonic == ZYDIS_MNEMONIC_MOV && from->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
        *ret = (u32)from->imm.value.u;
    else if (in->mnemonic == ZYDIS_MNEMONIC_MOV && other >= 0 && knows(s, (u32)other))
        *ret = s->value[other];
    else
        return false;
    return true;
}

static void execute(struct state *s, const ZydisDecodedInstruction *in, const ZydisDecodedOperand *operands)
{
    const u32 kept = 1 << RBX | 1 << RBP | 0xF << R12; /* by a called function */
    u32 value;
    if (is_constant(s, in, operands, &value)) {
        const u32 reg = (u32)general(operands[0].reg.value) & 15;
        s->known |= (u16)(1u << reg);
        s->value[reg] = value;
        return;
    }
    if (in->meta.category == ZYDIS_CATEGORY_CALL)
        forget(s, ~kept);
    if (in->mnemonic == ZYDIS_MNEMONIC_SYSCALL)
        forget(s, 1 << RAX | 1 << RCX | 1 << R11);
    for (u8 i = 0; i < in->operand_count; i++) {
        int reg = operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
                          operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE
                      ? general(operands[i].reg.value)
                      : -1;
        if (reg >= 0)
            forget(s, 1u << reg);
    }
}

static bool is_padding(const ZydisDecodedInstruction *in)
{
    return in->meta.category == ZYDIS_CATEGORY_NOP || in->meta.category == ZYDIS_CATEGORY_WIDENOP ||
           in->mnemonic == ZYDIS_MNEMONIC_INT3;
}

static bool never_continues(const ZydisDecodedInstruction *in)
{
    return in->meta.category == ZYDIS_CATEGORY_UNCOND_BR || in->meta.category == ZYDIS_CATEGORY_RET ||
           in->mnemonic == ZYDIS_MNEMONIC_UD2 || in->mnemonic == ZYDIS_MNEMONIC_HLT;
}

/* ---- One function ---- */

struct function {
    const u8 *bytes;
    size_t n;
    u32 *targets;         /* for each byte: 1 + the number of its state, if a jump leads there */
    struct state *states; /* at those */
    size_t n_states, cap;
};

/* Decodes the instruction at byte i; what cannot be decoded is data of one byte. Returns its length. */
static size_t decode(const struct function *f, size_t i, ZydisDecodedInstruction *in,
                     ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT], bool *ret_good)
{
    ZydisDecoder decoder;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    *ret_good = ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, f->bytes + i, f->n - i, in, operands));
    return *ret_good ? in->length : 1;
}

/* Where a direct jump leads to; n: nowhere in this function. */
static size_t target_of(const struct function *f, size_t end, const ZydisDecodedInstruction *in)
{
    bool jumps =
        (in->meta.category == ZYDIS_CATEGORY_COND_BR || in->meta.category == ZYDIS_CATEGORY_UNCOND_BR) &&
        in->raw.imm[0].is_relative;
    u64 to = (u64)end + (u64)in->raw.imm[0].value.s;
    return jumps && to < f->n ? (size_t)to : f->n;
}

/* Returns whether it could be decoded around this byte. Otherwise there is data there, up to *ret_data. */
static bool find_targets(struct function *f, size_t around, size_t *ret_data)
{
    enum { NEAR = 256 };
    size_t data = around;
    ZydisDecodedInstruction in;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    bool all = true, good;
    for (size_t i = 0; i < f->n;) {
        const size_t at = i;
        i += decode(f, at, &in, operands, &good);
        size_t to = good ? target_of(f, i, &in) : f->n;
        if (!good && at + NEAR >= data && at <= data + NEAR) {
            all = false;
            data = at > data ? at : data;
        }
        if (to == f->n || f->targets[to])
            continue;
        f->states = dh_util_grow(f->states, f->n_states, &f->cap, sizeof(*f->states));
        f->states[f->n_states++] = (struct state){0};
        f->targets[to] = (u32)f->n_states;
    }
    *ret_data = data;
    return all;
}

/* What is known if either holds. True: *to has changed. */
static bool meet(struct state *to, const struct state *from)
{
    if (!from->reached)
        return false;
    if (!to->reached) {
        *to = *from;
        return true;
    }
    u16 known = to->known & from->known;
    for (u32 r = 0; r < 16; r++)
        if (to->value[r] != from->value[r])
            known &= (u16) ~(1 << r);
    bool changed = known != to->known;
    to->known = known;
    return changed;
}

/* The state at byte i, given the state that the instruction before it leaves. */
static struct state arrive(struct function *f, size_t i, struct state s, bool falls, bool *changed)
{
    static const struct state anything = {.reached = true};
    struct state *at = f->targets[i] ? &f->states[f->targets[i] - 1] : NULL;
    if (!at)
        return falls ? s : anything;
    if (falls)
        *changed |= meet(at, &s);
    return *at;
}

/* Goes through the function once. False: something has changed, so that it has to be done again. Otherwise,
 * if ret is not NULL, *ret_found tells whether one of its calls may set signals, and which one. */
static bool pass(struct function *f, struct dh_chase_syscall *ret, bool *ret_found)
{
    struct state s = {.reached = true};
    bool falls = true, changed = false, good;
    ZydisDecodedInstruction in;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    for (size_t i = 0; i < f->n;) {
        const size_t at = i;
        i += decode(f, at, &in, operands, &good);
        if (good && !falls && !f->targets[at] && is_padding(&in))
            continue;
        s = arrive(f, at, s, falls, &changed);
        falls = good && !never_continues(&in);
        if (!good)
            continue;
        if (ret && in.mnemonic == ZYDIS_MNEMONIC_SYSCALL && !is_harmless(&s, &ret->name)) {
            ret->address = at;
            *ret_found = true;
            return true;
        }
        execute(&s, &in, operands);
        size_t to = target_of(f, i, &in);
        if (to < f->n)
            changed |= meet(&f->states[f->targets[to] - 1], &s);
    }
    return !changed;
}

/* Goes through the function until nothing changes. Real code takes 7 passes at most; after many more, nothing
 * is taken to be known at any target of a jump. */
static void settle(struct function *f)
{
    enum { PASSES = 64 };
    static const struct state anything = {.reached = true};
    for (int i = 1; !pass(f, NULL, NULL); i++)
        for (size_t k = 0; i == PASSES && k < f->n_states; k++)
            f->states[k] = anything;
}

/* Outside functions, what is around the hit must all be instructions, or it is data. ret: relative to
 * `bytes`; so is *ret_next, before which there is no other hit to look at. */
static bool look_at_function(const u8 *bytes, size_t n, size_t hit, bool inside, struct dh_chase_syscall *ret,
                             size_t *ret_next)
{
    struct function f = {.bytes = bytes, .n = n, .targets = calloc(n, sizeof(*f.targets))};
    bool found = false;
    size_t data;
    if (!f.targets)
        dh_util_no_memory();
    bool code = find_targets(&f, hit, &data) || inside;
    if (code) {
        settle(&f);
        pass(&f, ret, &found);
    }
    *ret_next = inside && n - hit > 1 ? n : code ? hit + 1 : data + 1;
    free(f.targets);
    free(f.states);
    return found;
}

/* ---- One file ---- */

enum { MOST = 1 << 16 }; /* bytes of a function, or of code that is in none, that are decoded around a hit */

struct range {
    u64 lo, hi; /* hi == lo: up to the next */
};

struct file {
    Elf *elf;
    const u8 *all;
    size_t size;
    struct range *functions; /* sorted; a heap array */
    size_t n, cap;
    u64 own_lo, own_hi; /* deadheat's own code */
};

static void add_function(struct file *f, u64 lo, u64 size)
{
    f->functions = dh_util_grow(f->functions, f->n, &f->cap, sizeof(*f->functions));
    f->functions[f->n++] = (struct range){lo, lo + size};
}

static void read_symbols(struct file *f, Elf_Scn *section, const GElf_Shdr *header)
{
    Elf_Data *data = elf_getdata(section, NULL);
    size_t n = data && header->sh_entsize ? data->d_size / header->sh_entsize : 0;
    for (size_t i = 0; i < n && i <= INT32_MAX; i++) {
        GElf_Sym sym;
        if (gelf_getsym(data, (int)i, &sym) && sym.st_shndx != SHN_UNDEF &&
            (GELF_ST_TYPE(sym.st_info) == STT_FUNC || GELF_ST_TYPE(sym.st_info) == STT_GNU_IFUNC))
            add_function(f, sym.st_value, sym.st_size);
    }
}

/* Bytes of the file as they are loaded at an address; NULL: there are not so many. */
static const u8 *bytes_at(const struct file *f, u64 address, u64 size)
{
    size_t n;
    for (size_t i = 0; elf_getphdrnum(f->elf, &n) == 0 && i < n; i++) {
        GElf_Phdr p;
        if (!gelf_getphdr(f->elf, (int)i, &p) || p.p_type != PT_LOAD || address < p.p_vaddr ||
            size > p.p_filesz || address - p.p_vaddr > p.p_filesz - size || p.p_offset > f->size ||
            p.p_filesz > f->size - p.p_offset)
            continue;
        return f->all + p.p_offset + (address - p.p_vaddr);
    }
    return NULL;
}

/* Its entry in the unwind information, in the usual encoding: after the length and a reference come the
 * distance from here to the function, and the function's size. 0: it is not known. */
static u64 unwound_size(const struct file *f, u64 entry, u64 function)
{
    enum { AT = 8 };
    int32_t distance;
    u32 size;
    const u8 *bytes = bytes_at(f, entry, AT + 8);
    if (!bytes)
        return 0;
    memcpy(&distance, bytes + AT, sizeof(distance));
    memcpy(&size, bytes + AT + 4, sizeof(size));
    return entry + AT + (u64)(int64_t)distance == function ? size : 0;
}

/* The table of unwind information, in the form in which linkers write it: the distance to the section, the
 * number of entries; then pairs of distances from the table itself, to functions and to their entries. */
static void read_unwind(struct file *f, const GElf_Phdr *p)
{
    static const u8 form[] = {1, 0x1B, 0x03, 0x3B};
    enum { HEAD = 12, ENTRY = 8 };
    u32 n;
    const u8 *bytes = p->p_filesz >= HEAD ? bytes_at(f, p->p_vaddr, p->p_filesz) : NULL;
    if (!bytes || memcmp(bytes, form, sizeof(form)) != 0)
        return;
    memcpy(&n, bytes + HEAD - sizeof(n), sizeof(n));
    for (u64 i = 0; i < n && HEAD + (i + 1) * ENTRY <= p->p_filesz; i++) {
        int32_t to[2];
        memcpy(to, bytes + HEAD + i * ENTRY, sizeof(to));
        const u64 function = p->p_vaddr + (u64)(int64_t)to[0], entry = p->p_vaddr + (u64)(int64_t)to[1];
        add_function(f, function, unwound_size(f, entry, function));
    }
}

static int by_address(const void *a, const void *b)
{
    const struct range *x = a, *y = b;
    return x->lo != y->lo ? (x->lo > y->lo) - (x->lo < y->lo) : (x->hi > y->hi) - (x->hi < y->hi);
}

static void find_functions(struct file *f)
{
    size_t n;
    GElf_Phdr p;
    for (Elf_Scn *s = NULL; (s = elf_nextscn(f->elf, s));) {
        GElf_Shdr header;
        if (gelf_getshdr(s, &header) && (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM))
            read_symbols(f, s, &header);
    }
    for (size_t i = 0; elf_getphdrnum(f->elf, &n) == 0 && i < n; i++)
        if (gelf_getphdr(f->elf, (int)i, &p) && p.p_type == PT_GNU_EH_FRAME)
            read_unwind(f, &p);
    add_function(f, 0, 0);
    add_function(f, UINT64_MAX, 0);
    qsort(f->functions, f->n, sizeof(*f->functions), by_address);
}

/* Narrows a range to what is decoded for an address in it. Returns whether that is a function. */
static bool narrow(const struct file *f, u64 address, struct range *r)
{
    size_t from = 0, to = f->n - 1; /* at[from].lo <= address < at[to].lo */
    while (to - from > 1) {
        size_t mid = from + (to - from) / 2;
        if (f->functions[mid].lo <= address)
            from = mid;
        else
            to = mid;
    }
    const struct range *last = &f->functions[from];
    bool inside = address < last->hi;
    u64 lo = inside || last->hi == last->lo ? last->lo : last->hi;
    u64 hi = inside ? last->hi : f->functions[to].lo;
    r->lo = lo > r->lo ? lo : r->lo;
    r->hi = hi < r->hi ? hi : r->hi;
    if (r->hi - r->lo <= MOST)
        return inside;
    /* Decoding that begins in the middle of an instruction soon finds the boundaries. */
    if (address - r->lo > MOST / 2)
        r->lo = address - MOST / 2;
    if (r->hi - address > MOST / 2)
        r->hi = address + MOST / 2;
    return inside;
}

static bool look_at_code(struct file *f, const u8 *bytes, struct range all, struct dh_chase_syscall *ret)
{
    static const u8 syscall[] = {0x0F, 0x05};
    const u8 *end = bytes + (all.hi - all.lo), *hit = bytes;
    while ((hit = memmem(hit, (size_t)(end - hit), syscall, sizeof(syscall)))) {
        const u64 address = all.lo + (u64)(hit - bytes);
        struct range r = all;
        if (!f->n)
            find_functions(f);
        bool inside = narrow(f, address, &r);
        const u8 *from = bytes + (r.lo - all.lo);
        size_t next;
        if (look_at_function(from, r.hi - r.lo, address - r.lo, inside, ret, &next)) {
            ret->address += r.lo;
            return true;
        }
        hit = from + next;
    }
    return false;
}

/* Executable sections, but for deadheat's own; segments may have other things in them, too. */
static bool look_at_sections(struct file *f, bool *ret_any, struct dh_chase_syscall *ret)
{
    size_t names;
    if (elf_getshdrstrndx(f->elf, &names) != 0)
        return false;
    for (Elf_Scn *s = NULL; (s = elf_nextscn(f->elf, s));) {
        GElf_Shdr h;
        if (!gelf_getshdr(s, &h) || h.sh_type != SHT_PROGBITS || !(h.sh_flags & SHF_EXECINSTR) ||
            h.sh_offset > f->size || h.sh_size > f->size - h.sh_offset)
            continue;
        const char *name = elf_strptr(f->elf, names, h.sh_name);
        *ret_any = true;
        if ((!name || strcmp(name, DH_BUILT_OWN) != 0) &&
            look_at_code(f, f->all + h.sh_offset, (struct range){h.sh_addr, h.sh_addr + h.sh_size}, ret))
            return true;
    }
    return false;
}

static bool look_at_segments(struct file *f, struct dh_chase_syscall *ret)
{
    size_t n;
    for (size_t i = 0; elf_getphdrnum(f->elf, &n) == 0 && i < n; i++) {
        GElf_Phdr p;
        const u8 *bytes = gelf_getphdr(f->elf, (int)i, &p) && p.p_type == PT_LOAD && p.p_flags & PF_X
                              ? bytes_at(f, p.p_vaddr, p.p_filesz)
                              : NULL;
        if (bytes && look_at_code(f, bytes, (struct range){p.p_vaddr, p.p_vaddr + p.p_filesz}, ret))
            return true;
    }
    return false;
}

bool dh_chase_syscalls_find(Elf *elf, struct dh_chase_syscall *ret)
{
    struct file f = {.elf = elf};
    bool any = false;
    f.all = (const u8 *)elf_rawfile(elf, &f.size);
    if (!f.all)
        return false;
    bool found = look_at_sections(&f, &any, ret) || (!any && look_at_segments(&f, ret));
    free(f.functions);
    return found;
}
