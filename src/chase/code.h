/*
 * code.h - what one machine instruction does to memory, and how to run it at another address.
 */
#ifndef DH_CHASE_CODE_H
#define DH_CHASE_CODE_H

#include "base/control.h"

enum { DH_CHASE_CODE_MAX = 15 }; /* bytes in an instruction */

enum dh_chase_code_kind {
    DH_CHASE_CODE_NONE,    /* does not access memory */
    DH_CHASE_CODE_FRAME,   /* only the frame of its own function: spills, pushes, calls */
    DH_CHASE_CODE_ACCESS,  /* operands are set */
    DH_CHASE_CODE_REFUSED, /* accesses memory, and `refused` says why it cannot be chased */
};

/* Signs, independent of the compiler, that an instruction takes part in synchronisation. */
enum dh_chase_code_sync {
    DH_CHASE_CODE_QUIET,
    DH_CHASE_CODE_LOCKED, /* a locked access to memory */
    DH_CHASE_CODE_FENCE,
    DH_CHASE_CODE_WAITS,  /* pause, used in loops that wait for another thread */
    DH_CHASE_CODE_KERNEL, /* a system call */
};

struct dh_chase_code {
    enum dh_chase_code_kind kind;
    const char *refused;
    u8 bytes[DH_CHASE_CODE_MAX];
    u8 length;
    u8 kinds; /* of everything it accesses outside the frame, even if it is refused */
    u8 n_operands;
    struct dh_control_operand operands[DH_CONTROL_OPERANDS];
    bool atomic; /* it is locked, or the source declares the object atomic (lines.c) */
    bool plain;  /* no compiler would use it for an atomic access */
    bool call;   /* through a pointer in memory, or to a function that copies */
    bool copies; /* a call or tail call of a function that accesses memory through its arguments, as
                  * described by the operands (copies.h) */
    bool branch; /* a jump, call or return: the next instruction is not necessarily executed */
    bool pads;   /* does nothing */
    bool looks; /* loads, compares or does nothing: repeating it has the same effect unless memory has changed
                 */
    u8 into;    /* the register it loads; DH_CONTROL_NONE: none */
    enum dh_chase_code_sync sync;
    int32_t distance; /* of a branch: from its end to its target; 0: elsewhere */
    u8 modrm;         /* of a call: offset of its ModRM byte */
    u8 relative;      /* offset of the rip-relative 32-bit displacement; 0: there is none */
};

/* Decodes the instruction at `bytes`, where n bytes are available. frame_pointer: rbp points into the
 * function's frame here. Returns 0, or -EILSEQ if it is not a valid instruction. */
int dh_chase_code_read(const u8 *bytes, size_t n, bool frame_pointer, struct dh_chase_code *ret);

/* The same, but counting accesses to the function's frame too, except pushes and pops. */
int dh_chase_code_read_any(const u8 *bytes, size_t n, struct dh_chase_code *ret);

/* Can a breakpoint be set after the access? Not after a call of an arbitrary function, which might inspect
 * its return address, nor after a jump, which does not come back. */
bool dh_chase_code_can_stop(const struct dh_chase_code *code);
/* The offset of that breakpoint from the beginning of the slot. */
u8 dh_chase_code_behind(const struct dh_chase_code *code);
/* Writes to ret_slot code that does at address `to` what the instruction does at `from`, and then continues
 * after the original. stop: with that breakpoint, if there can be one. Returns the length, or -ERANGE if an
 * operand is out of reach from there. */
int dh_chase_code_move(const struct dh_chase_code *code, u64 from, u64 to, bool stop,
                       u8 ret_slot[DH_CONTROL_SLOT]);

#endif
