/*
 * control.h - the memory that a chased program shares with the command that chases it (docs/design/field.md).
 *
 * The command creates it, fills in the sites, and is the only one that changes the program's code. An
 * existing site never changes: a thread may hit its breakpoint, or be in its slot, long after it was cleared.
 * The program's threads only read the sites; when they trap at one, they follow `state`, the only word that
 * both sides write:
 *
 *     OFF      -> OPEN      by the command: the breakpoints of the first side are set
 *     OPEN     -> CLAIMED   by the thread that comes to the first side; nobody else touches `first` now
 *     CLAIMED  -> HELD      by the same: `first` is complete, and the thread waits
 *     HELD     -> WATCHED   by the command: the breakpoints of the second side are set; the delay begins
 *     HELD, WATCHED -> MET     by a thread at the second side whose access conflicts
 *     MET      -> SHOWN     by the same: `second` is complete, and both threads wait to be looked at
 *     HELD, WATCHED -> EXPIRED by the waiting thread
 *     SHOWN, EXPIRED -> OFF, OPEN by the command, with the next generation: whoever waits goes on
 *
 * If the program's synchronisation is tracked (litehb, fullhb), the first thread does not wait for the
 * second:
 *
 *     HELD     -> TRACKED   by the command: the second side and the atomics are armed; the first goes on
 *     TRACKED  -> MET       by a thread at the second side whose access conflicts and is not ordered after
 *                           that of the first
 *     TRACKED  -> EXPIRED   by the command
 *
 * The thread that was at the first side waits for the last step, too: it may execute several instructions of
 * one line in sequence, and the next one may be armed before it continues.
 *
 * The waiting thread itself limits every wait, since a busy machine may not schedule the command: HELD and
 * EXPIRED by `patience_us`, WATCHED by `until_us`, MET and SHOWN by `grant_us` (and patience_us at least). So
 * the time budgeted for a window in advance is enough, whatever happens to the command.
 *
 * Breakpoints are limited in the same way. Until `due_us` the cost of traps is reserved: a thread waits, and
 * they overlap with that, or the command has planned a step. After that, `spare` more traps may come; then
 * the program's threads remove all breakpoints themselves (field/excess.c).
 *
 * Several threads may come while one waits, and each has to be examined:
 *
 *     SHOWN    -> WATCHED   by the command, with the next generation, which `kept` names: the second
 *                           continues, and the first waits for the rest of its delay
 *
 * To learn who else accesses the bytes, though not at the same time, the command may release the first thread
 * and leave the watchpoints set: OFF -> WATCHED of the next generation, with no thread waiting, and back to
 * OFF at any time.
 *
 * In a steered run the thread at the first side is the one that should go second. After the two have met and
 * were examined, it waits until the other's access has been made, which a breakpoint after that access
 * signals.
 *
 * Every change wakes all threads that wait for the word (a shared futex). The generation prevents a stale
 * value from being mistaken for a current one.
 */
#ifndef DH_BASE_CONTROL_H
#define DH_BASE_CONTROL_H

#include "base/base.h"

#define DH_CONTROL_MAGIC 0x394C5254434844ull /* DHCTRL9 */
/* "N": the descriptor of the socket on which the library says hello. "Nf": the same, and the program's
 * synchronisation will be tracked, for which the library must be linked into it. */
#define DH_CONTROL_ENV "DEADHEAT_FIELD"
#define DH_CONTROL_FOLLOWS 'f'
/* "Na": the same, and it is an agent (src/agent) that stands in for the command. The program is not its
 * child, outlives it, and does only what its own table allows (field/agent.h). An agent can also be found
 * without this, by its socket: DIRECTORY/BUILD-ID, with this directory below $XDG_RUNTIME_DIR or else
 * /run/user/UID. */
#define DH_CONTROL_AGENT 'a'
#define DH_CONTROL_AGENT_DIR "deadheat"
#define DH_CONTROL_OPTOUT "DEADHEAT_OPTOUT"

enum {
    DH_CONTROL_SITES = 4096, /* instructions of both sides and atomics, or all those sampled in one run */
    DH_CONTROL_INDEX = 2 * DH_CONTROL_SITES,
    DH_CONTROL_MODULES = 16, /* that sites can be in */
    DH_CONTROL_OPERANDS = 2, /* what one instruction accesses: movs and cmps have two */
    DH_CONTROL_CODE = 15,    /* bytes of an instruction, at most */
    DH_CONTROL_SLOT = 64,    /* bytes for one instruction that runs out of line, and the jump back */
    DH_CONTROL_REGIONS = 2,  /* of such slots: near the program and near its libraries */
    DH_CONTROL_REGION_SIZE = DH_CONTROL_SITES * DH_CONTROL_SLOT,
    DH_CONTROL_MEMBERS = 1024,
    DH_CONTROL_PASSED = 64, /* places that need not be examined in one wait */
    /* A breakpoint: an instruction that 64-bit mode does not have (push %es), so that the kernel sends
     * SIGILL. Debuggers take the SIGTRAP of an int3 for their own, and then the program continues in the
     * middle of an instruction; they pass SIGILL on. */
    DH_CONTROL_BREAKPOINT = 0x06,
};

/* Registers by their number in machine code. */
enum { DH_CONTROL_RCX = 1, DH_CONTROL_RDX = 2, DH_CONTROL_RIP = 16, DH_CONTROL_NONE = 17 };
enum { DH_CONTROL_READ = 1, DH_CONTROL_WRITE = 2 };
enum {
    DH_CONTROL_FS = 1,      /* relative to the thread's own segment */
    DH_CONTROL_ADDR32 = 2,  /* only 32 bits of the sum count */
    DH_CONTROL_REPEAT = 4,  /* rcx times, up or down; of nothing if rcx is 0 */
    DH_CONTROL_AT_MOST = 8, /* up to rcx times: only the first is certain; of nothing if rcx is 0 */
    DH_CONTROL_BY_RDX = 16, /* both: not rcx but rdx, the third argument of a call */
};

struct dh_control_operand {
    int64_t displacement;
    u32 size;       /* bytes; of one round if it repeats */
    u8 base, index; /* DH_CONTROL_NONE: none. RIP: of the next instruction */
    u8 scale;       /* 1, 2, 4 or 8 */
    u8 kind;        /* DH_CONTROL_READ, _WRITE or both */
    u8 flags;       /* DH_CONTROL_FS and so on */
    u8 unused[7];
};

enum { DH_CONTROL_FIRST = 1, DH_CONTROL_SECOND = 2, DH_CONTROL_ATOMIC = 4 };
enum { DH_CONTROL_ACQUIRE = 1, DH_CONTROL_RELEASE = 2 };

/* Which threads have come to a site of the second side in this window. */
enum {
    DH_CONTROL_SEEN_SAME = 1,  /* another thread, on the same bytes, but ordered or harmless */
    DH_CONTROL_SEEN_OTHER = 2, /* another thread, on other bytes */
    DH_CONTROL_SEEN_SELF = 4,  /* the thread of the first side itself */
};

enum { DH_CONTROL_GONE_FIRST = 1, DH_CONTROL_GONE_SECOND = 2 };

enum { DH_CONTROL_FATAL = 255 }; /* mask */

/* With an agent. */
enum {
    DH_CONTROL_MOST_US = 300000,  /* no wait is longer, whatever the control block says */
    DH_CONTROL_GONE_US = 2000000, /* an agent not heard from for this long is gone */
    DH_CONTROL_ANSWER_S = 1,      /* time for it to answer a program that has found it */
    DH_CONTROL_BEGIN_S = 60,      /* longest time that a program's start may be delayed */
};

/* Identifies our hardware watchpoints: this, with the generation in which it was set in the low bits. */
#define DH_CONTROL_WATCH 0x6468770000000000ull /* dhw, then the 28 bits of the generation */
#define DH_CONTROL_WATCH_MASK 0xFFFFFF0000000000ull
#define DH_CONTROL_NOWHERE UINT32_MAX /* not a site: a watchpoint was hit */

struct dh_control_site {
    u64 pc;          /* in the running program */
    u64 out_of_line; /* its slot */
    u64 behind;      /* in the slot, a breakpoint after the access, if it has to be signalled; 0: none */
    struct dh_control_operand operands[DH_CONTROL_OPERANDS];
    u8 length;
    u8 n_operands;
    u8 sides;                  /* DH_CONTROL_FIRST, _SECOND, _ATOMIC, or several */
    u8 atomic;                 /* its access is atomic: two of these do not race */
    u8 plain;                  /* its access is certainly not atomic; if neither is set, it is unknown */
    u8 order;                  /* of an atomic: DH_CONTROL_ACQUIRE, _RELEASE or both */
    u8 bytes[DH_CONTROL_CODE]; /* the instruction, whose first byte a breakpoint replaces */
    u8 unused[3];
};

/* Bytes that an instruction is about to access. */
struct dh_control_span {
    u64 address;
    u64 size;
    u64 kind; /* DH_CONTROL_READ, _WRITE or both */
};

/* What one thread was about to do. Written by it, before it advances `state`. */
struct dh_control_access {
    struct dh_control_span spans[DH_CONTROL_OPERANDS];
    u64 registers[17]; /* by their number in machine code; the last is the program counter */
    u64 time_us;       /* when it came, by CLOCK_MONOTONIC */
    u32 site;          /* or DH_CONTROL_NOWHERE: then the access has been made, and the pc is after it */
    u32 tid;
    u32 n_spans;
    u32 met; /* which of them the other thread's access conflicts with */
};

enum dh_control_phase {
    DH_CONTROL_OFF,
    DH_CONTROL_OPEN,
    DH_CONTROL_CLAIMED,
    DH_CONTROL_HELD,
    DH_CONTROL_WATCHED,
    DH_CONTROL_MET,
    DH_CONTROL_SHOWN,
    DH_CONTROL_EXPIRED,
    DH_CONTROL_TRACKED,
};
enum { DH_CONTROL_PHASE = 15 }; /* mask; the rest of the word is the generation */

struct dh_control {
    u64 magic;
    u32 state; /* atomic: generation << 4 | phase */
    u32 n_sites;
    u64 delay_us;    /* as it was granted */
    u64 attended_us; /* by the command: when it has attended to the first */
    u64 until_us;    /* by the command: when the delay ends; TRACKED: as before, it has none */
    u64 grant_us; /* by the command: what the window may cost in total. Two threads that have met wait to be
                   * examined until this long after the first came */
    u64 patience_us; /* how long the first waits for the command to do its part, before it continues without
                      * it */
    u64 left_us;     /* when it last did; by CLOCK_MONOTONIC, atomic */
    u64 left_traps;  /* `traps` at that time */
    u64 late;        /* by the first, atomic: how much too late it woke in this window: the generation (a
                      * state in phase 0) << 32 | microseconds */
    u64 gone_us;     /* when the second of two that met continued before they were examined; atomic */
    u64 hold_us;  /* steering: after they have met, the first waits up to this long for the second's access */
    u32 watching; /* the generation of the watchpoints that count now; atomic; 0: none do */
    u32 watches;  /* by the command, before the program begins: 1: watchpoints may be set in this run */
    struct dh_control_access first, second;
    /* Counted by the program's threads, atomic. */
    u64 traps;    /* at sites and watchpoints */
    u64 harmless; /* of those: the same bytes at once, but both reads, or both atomic */
    /* Steering, atomic. */
    u32 made;    /* 1: the second's access has been made, while the first waited */
    u32 waived;  /* 1: the first has waited in vain, or could not have been signalled, and continued */
    u64 held_us; /* how long the first has waited for it */
    /* Tracking the program's synchronisation. Atomic. */
    u32 tracking; /* by the command: which window this is, 17 bits; 0: nothing is tracked */
    u32 full;     /* by the command: track with vector clocks, from the start */
    u32 lost;     /* by the program: this window can no longer show anything; by the command: 0 */
    u32 overflow; /* by the program: it has more threads or objects than can be tracked */
    u32 n_members;
    u32 members[DH_CONTROL_MEMBERS]; /* numbers of the threads that are ordered after the first access */
    u64 regions[DH_CONTROL_REGIONS]; /* by the command: where the slots are */
    struct {
        u64 at, size;
    } code[DH_CONTROL_MODULES]; /* what the library must make writable, if the command asks for it */
    u32 n_code;
    u32 ordered; /* counted by the program's threads, atomic: they came to the second side on the same bytes,
                  * but ordered after the tracked access */
    /* With an agent: */
    u64 beat_us;  /* by the agent: when it was last alive, by CLOCK_MONOTONIC; atomic */
    u64 begin_us; /* by the agent: how long the program may wait for it before it begins */
    u32 left;     /* by the program: 1: the agent was gone, and all breakpoints are removed; atomic */
    u32 refused;  /* counted by the program: traps at sites that are not in its own table; atomic */
    u32 fatal; /* by the program, after two threads have met; atomic: the signal that it dies of, if it ends
                * now, and above DH_CONTROL_FATAL, the thread whose handler of it is running; 0: none */
    u32 kept;  /* by the command: the generation (a state in phase 0) in which the first keeps waiting;
                * atomic */
    u32 gone;  /* by the program, atomic: the generation in which two had met, and in the phase bits, which of
                * them continued before they were examined: DH_CONTROL_GONE_... */
    u64 due_us;     /* by the command, and by the threads that claim a window or meet; atomic: until then,
                     * traps need not be counted */
    u32 spare;      /* by the command; atomic: so many traps may come later; 0: any number */
    u32 overdue;    /* counted by the program's threads, atomic: those traps; by the command: 0 */
    u32 cleared;    /* by the program, atomic: twice the number of times that it has removed all breakpoints
                     * by itself; odd while it does that */
    u32 restricted; /* by the program, atomic: 1: it has, or will have, a system call filter, so it must not
                     * remove them */
    u32 n_passed;   /* by the command, atomic: how many of the following are set */
    u64 passed[DH_CONTROL_PASSED]; /* by the command: a thread at such a program counter continues at once */
    u8 seen[DH_CONTROL_SITES];     /* by the program: DH_CONTROL_SEEN_...; by the command: 0; atomic */
    u32 index[DH_CONTROL_INDEX];   /* by the hash of its pc, the number of a site + 1; atomic; 0: free */
    struct dh_control_site sites[DH_CONTROL_SITES];
};

/* The number of the site at pc, or DH_CONTROL_NOWHERE. */
DH_INLINE u32 dh_control_find(const struct dh_control *c, u64 pc)
{
    for (u32 at = (u32)dh_hash64(pc);; at++) {
        u32 number = __atomic_load_n(&c->index[at % DH_CONTROL_INDEX], __ATOMIC_ACQUIRE);
        if (number == 0)
            return DH_CONTROL_NOWHERE;
        if (c->sites[number - 1].pc == pc)
            return number - 1;
    }
}

/* Is this instruction there, with `first` as its first byte? `bytes` are those at its place. Once its module
 * is unloaded, data of the program may be there, in which any single byte may be found. */
DH_INLINE bool dh_control_is_there(const struct dh_control_site *site, const u8 *bytes, u8 first)
{
    bool there = bytes[0] == first;
    for (u8 i = 1; i < site->length && i < DH_CONTROL_CODE; i++)
        there &= bytes[i] == site->bytes[i];
    return there;
}

/*
 * What the library says when it is loaded; beside it goes a descriptor of the process's memory, if there is
 * one. The answer is a descriptor of the shared memory, which the library maps; it says so in one byte, and
 * the program begins when a zero byte comes back. Another byte asks it to make `code` writable; it answers
 * zero if that is done. If the command closes the connection, the library goes back to sleep.
 *
 * An agent speaks first, in one byte: 1 if it may track the program's synchronisation, 0 if not. The library
 * waits for that before anything else of the program runs, since calls that will be tracked must be
 * redirected to it by then; other calls are as fast as without an agent.
 */
struct dh_control_hello {
    u64 magic;
    u64 size; /* of struct dh_control, in this version */
    u64 regions[DH_CONTROL_REGIONS];
    u64 direct; /* 1: code cannot be written by that descriptor; the regions are writable */
};

_Static_assert((DH_CONTROL_INDEX & (DH_CONTROL_INDEX - 1)) == 0 && DH_CONTROL_INDEX > DH_CONTROL_SITES,
               "a search in the index comes to a free place");
_Static_assert((u32)DH_CONTROL_TRACKED <= DH_CONTROL_PHASE, "phases fit their mask");
_Static_assert(sizeof(struct dh_control_operand) == 24 && sizeof(struct dh_control_site) == 96 &&
                   sizeof(struct dh_control_access) == 208,
               "the two sides are compiled apart and share these bytes");

#endif
