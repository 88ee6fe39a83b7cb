/*
 * code.h - what one machine instruction does to memory, and how it can be run at another address.
 */
#ifndef DH_CHASE_CODE_H
#define DH_CHASE_CODE_H

#include "base/control.h"

enum { DH_CHASE_CODE_MAX = 15 }; /* bytes of an instruction */

enum dh_chase_code_kind {
    DH_CHASE_CODE_NONE,    /* does not access memory */
    DH_CHASE_CODE_FRAME,   /* only the frame of its own function: spills, pushes, calls */
    DH_CHASE_CODE_ACCESS,  /* operands are set */
    DH_CHASE_CODE_REFUSED, /* accesses memory, and `refused` says why it cannot be chased */
};

/* Signs that an instruction takes part in the order of threads, whatever compiled it. */
enum dh_chase_code_sync {
    DH_CHASE_CODE_QUIET,
    DH_CHASE_CODE_LOCKED, /* a locked access to memory */
    DH_CHASE_CODE_FENCE,
    DH_CHASE_CODE_WAITS,  /* pause, which is in loops that wait for another thread */
    DH_CHASE_CODE_KERNEL, /* a system call */
};

struct dh_chase_code {
    enum dh_chase_code_kind kind;
    const char *refused;
    u8 bytes[DH_CHASE_CODE_MAX];
    u8 length;
    u8 kinds; /* of all that it accesses but the frame, also if it is refused */
    u8 n_operands;
    struct dh_control_operand operands[DH_CONTROL_OPERANDS];
    bool atomic; /* it is locked, or the source declares what it accesses atomic (lines.c) */
    bool plain;  /* no compiler makes an atomic access of it */
    bool call;   /* through a pointer in memory, or one that copies */
    bool copies; /* a call, or a jump in its place, of a function that accesses what its arguments name, which
                    the operands say (copies.h) */
    bool branch; /* a jump, a call or a return: what follows it need not be executed */
    bool pads;   /* does nothing */
    bool looks;  /* loads, compares or does nothing: done again, it does the same unless memory has changed */
    u8 into;     /* the register that it loads; DH_CONTROL_NONE: none */
    enum dh_chase_code_sync sync;
    int32_t distance; /* of a branch, from its end to where it leads; 0: elsewhere */
    u8 modrm;         /* of a call: where its ModRM byte is */
    u8 relative;      /* where the 32-bit displacement from the next instruction is; 0: there is none */
};

/* Reads the instruction at `bytes`, of which n are there. frame_pointer: rbp points into the function's frame
 * here. 0, or -EILSEQ if it is no instruction. */
int dh_chase_code_read(const u8 *bytes, size_t n, bool frame_pointer, struct dh_chase_code *ret);

/* The same, and what is in the function's frame counts, too, but for what is pushed and popped. */
int dh_chase_code_read_any(const u8 *bytes, size_t n, struct dh_chase_code *ret);

/* Can a breakpoint be set behind the access? Not behind calls of functions that may do anything, which might
 * look at where they return to, nor behind a jump, which does not come back. */
bool dh_chase_code_can_stop(const struct dh_chase_code *code);
/* How far behind the beginning of its slot that breakpoint is. */
u8 dh_chase_code_behind(const struct dh_chase_code *code);
/* Writes into ret_slot what does at address `to` what the instruction does at `from`, and goes on behind it.
 * stop: with that breakpoint, if there can be one. The length, or -ERANGE if its operand cannot be reached
 * from there. */
int dh_chase_code_move(const struct dh_chase_code *code, u64 from, u64 to, bool stop,
                       u8 ret_slot[DH_CONTROL_SLOT]);

#endif
