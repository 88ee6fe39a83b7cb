/*
 * cfi.c - see cfi.h. The formats are those of the Linux Standard Base (.eh_frame, .eh_frame_hdr) and of DWARF
 * (call frame instructions, version 4, section 6.4).
 *
 * Three columns of each row are kept: the CFA, the frame pointer, the return address.
 */
#include "runtime/threads/cfi.h"

#include <dlfcn.h>

/* Address encodings: four bits for the format, three for the base. */
enum { UDATA4 = 0x03, SDATA4 = 0x0b, ABSOLUTE8 = 0x00, UDATA8 = 0x04, SDATA8 = 0x0c, FORMAT = 0x0f };
enum { FROM_HERE = 0x10, FROM_HEADER = 0x30, FROM = 0x70 };
enum { RBP = 6, RSP = 7, RETURN = 16, REMEMBERED = 8, WORD = 8 };

/* Bytes being read. Beyond the end all are 0, and `bad` is set. */
struct bytes {
    const u8 *at, *end;
    bool bad;
};

static u64 fixed(struct bytes *b, u32 n)
{
    u64 value = 0;
    if ((uptr)(b->end - b->at) < n) {
        b->bad = true;
        return 0;
    }
    for (u32 i = 0; i < n; i++)
        value |= (u64)b->at[i] << 8 * i;
    b->at += n;
    return value;
}

static u64 uleb(struct bytes *b)
{
    u64 value = 0;
    for (u32 shift = 0; !b->bad; shift += 7) {
        u64 byte = fixed(b, 1);
        if (shift < 64)
            value |= (byte & 0x7f) << shift;
        if (!(byte & 0x80))
            break;
    }
    return value;
}

static long sleb(struct bytes *b)
{
    const u8 *from = b->at;
    u64 value = uleb(b), shift = 7 * (u64)(b->at - from);
    bool negative = !b->bad && b->at[-1] & 0x40;
    return (long)(negative && shift < 64 ? value | ~0ull << shift : value);
}

static void skip(struct bytes *b, u64 n)
{
    if ((u64)(b->end - b->at) < n)
        b->bad = true;
    else
        b->at += n;
}

/* An address, or with `from` 0 a plain number of that format. */
static uptr encoded(struct bytes *b, u32 format, u32 from)
{
    uptr here = (uptr)b->at, value = 0;
    if (format == UDATA4)
        value = fixed(b, 4);
    else if (format == SDATA4)
        value = (uptr)(long)(int)fixed(b, 4);
    else if (format == ABSOLUTE8 || format == UDATA8 || format == SDATA8)
        value = fixed(b, 8);
    else
        b->bad = true;
    if (from != 0 && from != FROM_HERE)
        b->bad = true;
    return from == FROM_HERE ? here + value : value;
}

/* ---- The row ---- */

enum how { UNCHANGED, SAVED, UNKNOWN };

struct state {
    u32 cfa_register;
    long cfa_offset;
    enum how bp, back;
    long bp_offset, back_offset;
};

struct program {
    long code_unit, data_unit;
    uptr loc, pc; /* current location; where to stop */
    struct state now, initial, kept[REMEMBERED];
    u32 kept_n;
};

static void set(struct state *s, u64 reg, enum how how, long offset)
{
    if (reg == RBP) {
        s->bp = how;
        s->bp_offset = offset;
    } else if (reg == RETURN) {
        s->back = how;
        s->back_offset = offset;
    }
}

static void reset(struct program *p, u64 reg)
{
    if (reg == RBP)
        set(&p->now, reg, p->initial.bp, p->initial.bp_offset);
    else if (reg == RETURN)
        set(&p->now, reg, p->initial.back, p->initial.back_offset);
}

static void advance(struct program *p, u64 delta)
{
    p->loc += delta * (u64)p->code_unit;
}

static void define_cfa(struct program *p, u64 reg, long offset)
{
    p->now.cfa_register = (u32)reg;
    p->now.cfa_offset = offset;
}

/* Instructions whose number is the whole byte. */
static void run_extended(struct program *p, struct bytes *b, u64 op)
{
    u64 reg;
    switch (op) {
    case 0x00: /* nop */
        break;
    case 0x02:
    case 0x03:
    case 0x04: /* advance_loc1, 2, 4 */
        advance(p, fixed(b, 1u << (op - 2)));
        break;
    case 0x05: /* offset_extended */
        reg = uleb(b);
        set(&p->now, reg, SAVED, (long)uleb(b) * p->data_unit);
        break;
    case 0x06: /* restore_extended */
        reset(p, uleb(b));
        break;
    case 0x07: /* undefined */
        set(&p->now, uleb(b), UNKNOWN, 0);
        break;
    case 0x08: /* same_value */
        set(&p->now, uleb(b), UNCHANGED, 0);
        break;
    case 0x09:
    case 0x14:
    case 0x15: /* register, val_offset, val_offset_sf */
        set(&p->now, uleb(b), UNKNOWN, 0);
        uleb(b);
        break;
    case 0x0a: /* remember_state */
        if (p->kept_n == REMEMBERED)
            b->bad = true;
        else
            p->kept[p->kept_n++] = p->now;
        break;
    case 0x0b: /* restore_state */
        if (p->kept_n == 0)
            b->bad = true;
        else
            p->now = p->kept[--p->kept_n];
        break;
    case 0x0c: /* def_cfa */
        reg = uleb(b);
        define_cfa(p, reg, (long)uleb(b));
        break;
    case 0x0d: /* def_cfa_register */
        p->now.cfa_register = (u32)uleb(b);
        break;
    case 0x0e: /* def_cfa_offset */
        p->now.cfa_offset = (long)uleb(b);
        break;
    case 0x0f: /* def_cfa_expression */
        define_cfa(p, ~0u, 0);
        skip(b, uleb(b));
        break;
    case 0x10:
    case 0x16: /* expression, val_expression */
        set(&p->now, uleb(b), UNKNOWN, 0);
        skip(b, uleb(b));
        break;
    case 0x11: /* offset_extended_sf */
        reg = uleb(b);
        set(&p->now, reg, SAVED, sleb(b) * p->data_unit);
        break;
    case 0x12: /* def_cfa_sf */
        reg = uleb(b);
        define_cfa(p, reg, sleb(b) * p->data_unit);
        break;
    case 0x13: /* def_cfa_offset_sf */
        p->now.cfa_offset = sleb(b) * p->data_unit;
        break;
    case 0x2e: /* GNU_args_size */
        uleb(b);
        break;
    default: /* set_loc, which no compiler uses, and future extensions */
        b->bad = true;
    }
}

static void run(struct program *p, struct bytes *b)
{
    while (b->at < b->end && !b->bad) {
        u64 op = fixed(b, 1), low = op & 0x3f;
        switch (op >> 6) {
        case 1: /* advance_loc */
            advance(p, low);
            break;
        case 2: /* offset */
            set(&p->now, low, SAVED, (long)uleb(b) * p->data_unit);
            break;
        case 3: /* restore */
            reset(p, low);
            break;
        default:
            run_extended(p, b, op);
        }
        if (p->loc > p->pc)
            return;
    }
}

static bool row_of(const struct state *s, struct dh_cfi_row *ret_row)
{
    if (s->back != SAVED || s->back_offset != -WORD || s->bp == UNKNOWN || s->cfa_offset <= 0 ||
        (s->cfa_register != RSP && s->cfa_register != RBP))
        return false;
    long bp_at = s->bp == SAVED ? -s->bp_offset : 0;
    if (s->cfa_offset % WORD || bp_at % WORD || bp_at < 0 || s->cfa_offset > INT32_MAX || bp_at > INT32_MAX)
        return false;
    *ret_row = (struct dh_cfi_row){s->cfa_register == RBP, (u32)(s->cfa_offset / WORD), (u32)(bp_at / WORD)};
    return true;
}

/* ---- Where it is ---- */

/* An entry of .eh_frame without its length. Entries of 4 GB and more are ignored. */
static struct bytes entry_at(const u8 *at)
{
    struct bytes b = {.at = at, .end = at + 4};
    u64 n = fixed(&b, 4);
    b.bad = n == 0 || n == UINT32_MAX;
    b.end += b.bad ? 0 : n;
    return b;
}

struct common {
    struct bytes instructions;
    u32 encoding; /* of addresses in the entries that refer to it */
    bool sized;   /* they have augmentation data, after its length */
};

static void augmentation(struct bytes *b, const char *letters, struct common *ret)
{
    u64 n = uleb(b);
    struct bytes data = {.at = b->at, .end = b->at};
    skip(b, n);
    data.end = b->at;
    ret->sized = true;
    for (const char *c = letters; *c && !b->bad; c++) {
        u32 encoding = 0;
        if (*c == 'R') {
            ret->encoding = (u32)fixed(&data, 1);
        } else if (*c == 'P') { /* the personality routine: only its length matters */
            encoding = (u32)fixed(&data, 1);
            encoded(&data, encoding & FORMAT, 0);
        } else if (*c == 'L') {
            fixed(&data, 1);
        } else { /* 'S': a signal frame, interrupted rather than called */
            b->bad = true;
        }
        b->bad |= data.bad;
    }
}

/* A CIE. */
static void read_common(const u8 *at, struct program *p, struct common *ret)
{
    struct bytes b = entry_at(at);
    u64 id = fixed(&b, 4), version = fixed(&b, 1);
    const char *letters = (const char *)b.at;
    while (fixed(&b, 1) != 0)
        continue;
    p->code_unit = (long)uleb(&b);
    p->data_unit = sleb(&b);
    u64 back = version == 1 ? fixed(&b, 1) : uleb(&b);
    b.bad |= id != 0 || (version != 1 && version != 3) || back != RETURN;
    *ret = (struct common){.encoding = ABSOLUTE8};
    if (!b.bad && letters[0] == 'z')
        augmentation(&b, letters + 1, ret);
    else
        b.bad |= letters[0] != '\0';
    ret->instructions = b;
}

/* An FDE. */
static bool read_entry(const u8 *at, uptr pc, struct dh_cfi_row *ret_row)
{
    struct program p = {.pc = pc};
    struct common common;
    struct bytes b = entry_at(at);
    const u8 *here = b.at;
    u64 back = fixed(&b, 4);
    if (b.bad || back == 0)
        return false;
    read_common(here - back, &p, &common);
    uptr start = encoded(&b, common.encoding & FORMAT, common.encoding & FROM);
    uptr size = encoded(&b, common.encoding & FORMAT, 0);
    if (common.sized)
        skip(&b, uleb(&b));
    if (b.bad || common.instructions.bad || pc - start >= size)
        return false;
    run(&p, &common.instructions);
    p.initial = p.now;
    p.loc = start;
    run(&p, &b);
    return !b.bad && !common.instructions.bad && row_of(&p.now, ret_row);
}

/* The sorted table of a module's functions: the start of each and its FDE, relative to the header. */
struct functions {
    const u8 *header;
    struct {
        int start, entry;
    } const *table; /* aligned as the header is */
    u64 n;
};

static bool functions_around(uptr pc, struct functions *ret)
{
    struct dl_find_object object;
    if (_dl_find_object((void *)pc, &object) != 0 || !object.dlfo_eh_frame)
        return false;
    const u8 *header = object.dlfo_eh_frame;
    struct bytes b = {.at = header + 4, .end = header + 12};
    u32 format = header[1] & FORMAT; /* of the address of .eh_frame, which is not needed */
    if (header[0] != 1 || (format != UDATA4 && format != SDATA4) || header[2] != UDATA4 ||
        header[3] != (FROM_HEADER | SDATA4))
        return false;
    skip(&b, 4);
    ret->header = header;
    ret->n = fixed(&b, 4);
    ret->table = (const void *)b.at;
    return true;
}

/* How many of them begin at or before pc. */
static u64 functions_up_to(const struct functions *f, uptr pc)
{
    long wanted = (long)(pc - (uptr)f->header);
    u64 lo = 0, hi = f->n; /* entries before lo begin at or before it, those from hi on after it */
    while (lo < hi) {
        u64 mid = lo + (hi - lo) / 2;
        if (f->table[mid].start <= wanted)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

bool dh_cfi_find(uptr pc, struct dh_cfi_row *ret_row)
{
    struct functions f;
    pc--; /* the call, which may be the last instruction of its function */
    u64 n = functions_around(pc, &f) ? functions_up_to(&f, pc) : 0;
    return n > 0 && read_entry(f.header + f.table[n - 1].entry, pc, ret_row);
}

uptr dh_cfi_function(uptr pc)
{
    struct functions f;
    pc--;
    u64 n = functions_around(pc, &f) ? functions_up_to(&f, pc) : 0;
    return n > 0 ? (uptr)f.header + (uptr)(long)f.table[n - 1].start : 0;
}
