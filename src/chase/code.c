/*
 * code.c - see code.h. The decoder is Zydis; this file decides what counts as an access.
 *
 * Accesses that would require guessing are refused: those whose bytes depend on a mask or on vector
 * registers, and those spread over many addresses. Every refusal has a message, so that a user sees what is
 * left out.
 */
#include "chase/code.h"

#include <Zydis/Zydis.h>
#include <errno.h>
#include <string.h>

static void refuse(struct dh_chase_code *c, const char *why)
{
    c->kind = DH_CHASE_CODE_REFUSED;
    c->refused = why;
}

/* Its number in machine code, or DH_CONTROL_NONE. */
static u8 number_of(ZydisRegister reg)
{
    if (reg == ZYDIS_REGISTER_NONE)
        return DH_CONTROL_NONE;
    if (reg == ZYDIS_REGISTER_RIP || reg == ZYDIS_REGISTER_EIP)
        return DH_CONTROL_RIP;
    return (u8)ZydisRegisterGetId(reg);
}

static bool is_frame(const ZydisDecodedInstruction *in, const ZydisDecodedOperandMem *mem, bool frame_pointer)
{
    ZydisRegister base = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, mem->base);
    if (mem->segment == ZYDIS_REGISTER_FS || mem->segment == ZYDIS_REGISTER_GS)
        return false;
    return base == ZYDIS_REGISTER_RSP || (base == ZYDIS_REGISTER_RBP && frame_pointer) ||
           in->mnemonic == ZYDIS_MNEMONIC_LEAVE || in->mnemonic == ZYDIS_MNEMONIC_ENTER;
}

/* Instructions that name memory and do not access it as data. */
static bool is_hint(const ZydisDecodedInstruction *in)
{
    switch (in->meta.category) {
    case ZYDIS_CATEGORY_NOP:
    case ZYDIS_CATEGORY_WIDENOP:
    case ZYDIS_CATEGORY_PREFETCH:
    case ZYDIS_CATEGORY_PREFETCHWT1:
    case ZYDIS_CATEGORY_CLFLUSHOPT:
    case ZYDIS_CATEGORY_CLWB:
        return true;
    default:
        return in->mnemonic == ZYDIS_MNEMONIC_CLFLUSH;
    }
}

static bool is_masked(const ZydisDecodedInstruction *in)
{
    switch (in->mnemonic) {
    case ZYDIS_MNEMONIC_MASKMOVQ:
    case ZYDIS_MNEMONIC_MASKMOVDQU:
    case ZYDIS_MNEMONIC_VMASKMOVDQU:
    case ZYDIS_MNEMONIC_VMASKMOVPS:
    case ZYDIS_MNEMONIC_VMASKMOVPD:
    case ZYDIS_MNEMONIC_VPMASKMOVD:
    case ZYDIS_MNEMONIC_VPMASKMOVQ:
        return true;
    default:
        return in->avx.mask.mode > ZYDIS_MASK_MODE_DISABLED;
    }
}

/* With a bit number in a register, these reach beyond their operand. */
static bool is_bit_string(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *operands)
{
    return (in->mnemonic == ZYDIS_MNEMONIC_BT || in->mnemonic == ZYDIS_MNEMONIC_BTS ||
            in->mnemonic == ZYDIS_MNEMONIC_BTR || in->mnemonic == ZYDIS_MNEMONIC_BTC) &&
           operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER;
}

/* Why not all accesses of an instruction can be known; NULL: they can. */
static const char *why_not(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *operands)
{
    if (is_masked(in))
        return "a mask decides which bytes it accesses";
    if (is_bit_string(in, operands))
        return "it accesses one bit far from its operand";
    if (in->meta.category == ZYDIS_CATEGORY_XSAVE || in->meta.category == ZYDIS_CATEGORY_XSAVEOPT)
        return "it saves or restores the state of the processor";
    if (in->mnemonic == ZYDIS_MNEMONIC_XLAT)
        return "it looks up a table by a part of a register";
    if (in->meta.category == ZYDIS_CATEGORY_UNCOND_BR && in->mnemonic != ZYDIS_MNEMONIC_JMP)
        return "it is a far jump";
    if (in->mnemonic == ZYDIS_MNEMONIC_CALL && in->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR)
        return "it is a far call";
    return NULL;
}

static u8 repetition(const ZydisDecodedInstruction *in)
{
    const ZydisInstructionAttributes any =
        ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE;
    if (in->meta.category != ZYDIS_CATEGORY_STRINGOP || !(in->attributes & any))
        return 0;
    switch (in->mnemonic) {
    case ZYDIS_MNEMONIC_CMPSB:
    case ZYDIS_MNEMONIC_CMPSW:
    case ZYDIS_MNEMONIC_CMPSD:
    case ZYDIS_MNEMONIC_CMPSQ:
    case ZYDIS_MNEMONIC_SCASB:
    case ZYDIS_MNEMONIC_SCASW:
    case ZYDIS_MNEMONIC_SCASD:
    case ZYDIS_MNEMONIC_SCASQ:
        return DH_CONTROL_AT_MOST;
    default:
        return DH_CONTROL_REPEAT;
    }
}

static u32 bytes_of(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op)
{
    bool broadcast = in->avx.broadcast.mode != ZYDIS_BROADCAST_MODE_INVALID && !in->avx.broadcast.is_static;
    return (broadcast ? op->element_size : op->size) / 8u;
}

static u8 kinds_of(const ZydisDecodedOperand *op)
{
    return (op->actions & ZYDIS_OPERAND_ACTION_MASK_READ ? DH_CONTROL_READ : 0) |
           (op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE ? DH_CONTROL_WRITE : 0);
}

/* NULL, or why this operand cannot be chased. */
static const char *take_operand(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op,
                                struct dh_chase_code *c)
{
    const ZydisDecodedOperandMem *mem = &op->mem;
    if (mem->type == ZYDIS_MEMOP_TYPE_VSIB)
        return "it gathers from, or scatters to, many addresses";
    if (mem->segment == ZYDIS_REGISTER_GS)
        return "its address is relative to the gs segment";
    if (bytes_of(in, op) == 0)
        return "the number of bytes it accesses is not known";
    if (c->n_operands == DH_CONTROL_OPERANDS)
        return "it accesses more than two places";
    struct dh_control_operand *o = &c->operands[c->n_operands++];
    *o = (struct dh_control_operand){
        .displacement = mem->disp.has_displacement ? mem->disp.value : 0,
        .size = bytes_of(in, op),
        .base = number_of(mem->base),
        .index = number_of(mem->index),
        .scale = mem->index == ZYDIS_REGISTER_NONE ? 1 : mem->scale,
        .kind = kinds_of(op),
        .flags = repetition(in),
    };
    if (mem->segment == ZYDIS_REGISTER_FS)
        o->flags |= DH_CONTROL_FS;
    if (in->address_width == 32)
        o->flags |= DH_CONTROL_ADDR32;
    if (o->base == DH_CONTROL_RIP)
        c->relative = in->raw.disp.offset;
    return NULL;
}

/* With a lock prefix, or an exchange with memory, which implies it. */
static bool is_atomic(const ZydisDecodedInstruction *in)
{
    return in->attributes & ZYDIS_ATTRIB_HAS_LOCK || in->mnemonic == ZYDIS_MNEMONIC_XCHG;
}

static enum dh_chase_code_sync sync_of(const ZydisDecodedInstruction *in, bool accesses)
{
    switch (in->mnemonic) {
    case ZYDIS_MNEMONIC_MFENCE:
    case ZYDIS_MNEMONIC_LFENCE:
    case ZYDIS_MNEMONIC_SFENCE:
        return DH_CHASE_CODE_FENCE;
    case ZYDIS_MNEMONIC_PAUSE:
    case ZYDIS_MNEMONIC_TPAUSE:
    case ZYDIS_MNEMONIC_UMWAIT:
        return DH_CHASE_CODE_WAITS;
    case ZYDIS_MNEMONIC_SYSCALL:
    case ZYDIS_MNEMONIC_SYSENTER:
    case ZYDIS_MNEMONIC_INT:
        return DH_CHASE_CODE_KERNEL;
    case ZYDIS_MNEMONIC_XBEGIN:
        return DH_CHASE_CODE_LOCKED;
    default:
        return accesses && is_atomic(in) ? DH_CHASE_CODE_LOCKED : DH_CHASE_CODE_QUIET;
    }
}

static bool is_branch(const ZydisDecodedInstruction *in)
{
    return in->meta.category == ZYDIS_CATEGORY_CALL || in->meta.category == ZYDIS_CATEGORY_RET ||
           in->meta.category == ZYDIS_CATEGORY_COND_BR || in->meta.category == ZYDIS_CATEGORY_UNCOND_BR;
}

static bool is_look(const ZydisDecodedInstruction *in)
{
    switch (in->mnemonic) {
    case ZYDIS_MNEMONIC_MOV:
    case ZYDIS_MNEMONIC_MOVZX:
    case ZYDIS_MNEMONIC_MOVSX:
    case ZYDIS_MNEMONIC_MOVSXD:
    case ZYDIS_MNEMONIC_TEST:
    case ZYDIS_MNEMONIC_CMP:
        return true;
    default:
        return in->meta.category == ZYDIS_CATEGORY_NOP || in->meta.category == ZYDIS_CATEGORY_WIDENOP;
    }
}

static u8 loaded_register(const ZydisDecodedOperand *op)
{
    return op->type == ZYDIS_OPERAND_TYPE_REGISTER && op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE
               ? number_of(ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, op->reg.value))
               : DH_CONTROL_NONE;
}

/* What an instruction pushes or pops implicitly. */
static bool is_stacked(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op)
{
    return op->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN &&
           (is_branch(in) || in->meta.category == ZYDIS_CATEGORY_PUSH ||
            in->meta.category == ZYDIS_CATEGORY_POP || in->mnemonic == ZYDIS_MNEMONIC_LEAVE);
}

/* Atomic accesses are to at most eight bytes at one place, and those that both read and write are locked. */
static bool is_plain(const ZydisDecodedInstruction *in, const struct dh_chase_code *c)
{
    const u8 both = DH_CONTROL_READ | DH_CONTROL_WRITE;
    return c->n_operands != 1 || c->operands[0].size > 8 || repetition(in) || c->operands[0].kind == both;
}

/* How the frame is addressed, whose accesses do not count because no other thread can know of it. */
enum frame { FRAME_BY_RSP, FRAME_BY_RBP, FRAME_COUNTS };

static int read_code(const u8 *bytes, size_t n, enum frame frame, struct dh_chase_code *ret)
{
    ZydisDecoder decoder;
    ZydisDecodedInstruction in;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    struct dh_chase_code c = {.kind = DH_CHASE_CODE_NONE};
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, n, &in, operands)))
        return -EILSEQ;
    c.length = in.length;
    memcpy(c.bytes, bytes, in.length);
    for (u8 i = 0; i < in.operand_count && !is_hint(&in) && c.kind != DH_CHASE_CODE_REFUSED; i++) {
        if (operands[i].type != ZYDIS_OPERAND_TYPE_MEMORY || operands[i].mem.type == ZYDIS_MEMOP_TYPE_AGEN ||
            operands[i].mem.type == ZYDIS_MEMOP_TYPE_MIB)
            continue;
        if (frame == FRAME_COUNTS ? is_stacked(&in, &operands[i])
                                  : is_frame(&in, &operands[i].mem, frame == FRAME_BY_RBP)) {
            c.kind = c.kind == DH_CHASE_CODE_NONE ? DH_CHASE_CODE_FRAME : c.kind;
            continue;
        }
        c.kind = DH_CHASE_CODE_ACCESS;
        c.kinds |= kinds_of(&operands[i]);
        const char *why = why_not(&in, operands);
        if (!why)
            why = take_operand(&in, &operands[i], &c);
        if (why)
            refuse(&c, why);
    }
    c.atomic = c.n_operands && is_atomic(&in);
    c.plain = !c.atomic && is_plain(&in, &c);
    c.call = in.mnemonic == ZYDIS_MNEMONIC_CALL;
    c.branch = is_branch(&in);
    c.distance = c.branch && in.raw.imm[0].is_relative ? (int32_t)in.raw.imm[0].value.s : 0;
    c.pads = in.meta.category == ZYDIS_CATEGORY_NOP || in.meta.category == ZYDIS_CATEGORY_WIDENOP ||
             in.mnemonic == ZYDIS_MNEMONIC_INT3;
    c.looks = is_look(&in) && !(c.kinds & DH_CONTROL_WRITE);
    c.into = in.operand_count_visible ? loaded_register(&operands[0]) : DH_CONTROL_NONE;
    c.sync = sync_of(&in, c.kind == DH_CHASE_CODE_ACCESS || c.kind == DH_CHASE_CODE_REFUSED ||
                              c.kind == DH_CHASE_CODE_FRAME);
    c.modrm = in.raw.modrm.offset;
    *ret = c;
    return 0;
}

int dh_chase_code_read(const u8 *bytes, size_t n, bool frame_pointer, struct dh_chase_code *ret)
{
    return read_code(bytes, n, frame_pointer ? FRAME_BY_RBP : FRAME_BY_RSP, ret);
}

int dh_chase_code_read_any(const u8 *bytes, size_t n, struct dh_chase_code *ret)
{
    return read_code(bytes, n, FRAME_COUNTS, ret);
}

/* ---- Out of line ---- */

enum { PUSH = 13, JUMP = 14 }; /* their lengths in bytes */

/* Pushes the address after the call, as the call would: 32 bits, which push sign-extends, then the upper
 * half. */
static size_t push_return(u64 address, u8 *at)
{
    static const u8 to_upper[] = {0xC7, 0x44, 0x24, 0x04}; /* movl $imm32, 4(%rsp) */
    u32 low = (u32)address, high = (u32)(address >> 32);
    at[0] = 0x68;
    memcpy(at + 1, &low, 4);
    memcpy(at + 5, to_upper, 4);
    memcpy(at + 9, &high, 4);
    return PUSH;
}

static size_t jump_to(u64 address, u8 *at)
{
    static const u8 jump[] = {0xFF, 0x25, 0, 0, 0, 0}; /* jmp *0(%rip) */
    memcpy(at, jump, 6);
    memcpy(at + 6, &address, 8);
    return JUMP;
}

bool dh_chase_code_can_stop(const struct dh_chase_code *code)
{
    return code->call == code->copies;
}

u8 dh_chase_code_behind(const struct dh_chase_code *code)
{
    if (!code->copies)
        return code->length;
    return (code->call ? PUSH : 0) + (code->relative ? code->length : JUMP);
}

/* The instruction itself, copied so that it ends at `end`; a call becomes a jump. False: its operand is out
 * of reach. */
static bool copy_bytes(const struct dh_chase_code *code, u64 next, u64 end, u8 *at)
{
    memcpy(at, code->bytes, code->length);
    if (code->call)
        at[code->modrm] = (u8)((at[code->modrm] & ~0x38) | 4 << 3); /* FF /2 is call, FF /4 is jmp */
    if (code->relative) {
        int32_t old, new;
        memcpy(&old, code->bytes + code->relative, 4);
        int64_t distance = (int64_t)(next + (u64)(int64_t)old - end);
        new = (int32_t)distance;
        if (new != distance)
            return false;
        memcpy(at + code->relative, &new, 4);
    }
    return true;
}

int dh_chase_code_move(const struct dh_chase_code *code, u64 from, u64 to, bool stop,
                       u8 ret_slot[DH_CONTROL_SLOT])
{
    DH_ASSERT(code->kind == DH_CHASE_CODE_ACCESS);
    u8 slot[DH_CONTROL_SLOT] = {0};
    u64 next = from + code->length;
    stop &= dh_chase_code_can_stop(code);
    /* A copying function returns to the breakpoint, and from there to the program. */
    size_t n = code->call ? push_return(stop ? to + dh_chase_code_behind(code) : next, slot) : 0;
    if (code->copies && !code->relative) {
        n += jump_to(next + (u64)(int64_t)code->distance, slot + n);
    } else {
        if (!copy_bytes(code, next, to + n + code->length, slot + n))
            return -ERANGE;
        n += code->length;
    }
    if (stop)
        slot[n++] = DH_CONTROL_BREAKPOINT;
    if (stop || !(code->call || code->copies))
        n += jump_to(next, slot + n);
    memcpy(ret_slot, slot, sizeof(slot));
    return (int)n;
}
