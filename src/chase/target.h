/*
 * target.h - the chased program as the command sees it: its code, its sites, and what its threads wait for.
 *
 * Only the command writes the program's code, through a descriptor of the program's memory sent by the
 * library inside it (docs/design/field.md says why). A breakpoint is one byte, so a thread sees either the
 * old instruction or the breakpoint; the library can handle a trap at any site, armed or not.
 */
#ifndef DH_CHASE_TARGET_H
#define DH_CHASE_TARGET_H

#include <sys/types.h>

#include "chase/lines.h"

struct dh_chase_module {
    const char *path;
    struct dh_chase_file *file;
};

struct dh_chase_site {
    const struct dh_chase_access *access;
    const struct dh_chase_module *module;
    u8 sides; /* DH_CONTROL_FIRST, _SECOND, _ATOMIC, or several */
    u8 order; /* of an atomic: DH_CONTROL_ACQUIRE, _RELEASE or both; 0: it is not tracked */
};

struct dh_chase_sites {
    struct dh_chase_site at[DH_CONTROL_SITES];
    size_t n;
};

struct dh_chase_target {
    struct dh_arena *arena;
    pid_t pid;
    int mem;                    /* its memory */
    bool direct;                /* code cannot be written through that: it has to be made writable */
    bool many;                  /* pairs are chased one after another: sites change sides */
    int shared;                 /* descriptor of *control */
    struct dh_control *control; /* shared with it */
    u64 regions[DH_CONTROL_REGIONS];
    bool armed[DH_CONTROL_SITES]; /* sites whose breakpoint is set */
    u32 cleared; /* control->cleared when the code was last changed: if it differs, it is not known which are
                  */
    const struct dh_chase_site *sites[DH_CONTROL_SITES];    /* the sites behind those in the control block */
    const struct dh_chase_module *code[DH_CONTROL_MODULES]; /* the same */
    char *maps; /* the mappings when they were placed, as reported by the kernel; NULL before */
    size_t n_maps;
};

u64 dh_chase_now_us(void); /* by CLOCK_MONOTONIC, as in the program's threads */

/* Creates the memory shared with a program about to be started. 0 or a negative errno. */
int dh_chase_target_init(struct dh_chase_target *t, struct dh_arena *arena, u64 delay_us);
void dh_chase_target_done(struct dh_chase_target *t);

/* Waits for the library's hello on this socket; the program inherits the other end. 0, or a negative errno
 * with a message; -ESRCH: the program does not load the library. */
int dh_chase_target_meet(struct dh_chase_target *t, int socket, pid_t pid, const char **ret_why);
/* Releases the program, which waits for this. */
void dh_chase_target_let_go(int socket);
/* An agent's first message to a program it is about to chase: may its synchronisation be tracked? */
void dh_chase_target_announce(int socket, bool follows);

/* The difference between addresses in memory and in the module's file. 0; -EAGAIN: it is not loaded yet; or
 * another errno. */
int dh_chase_target_bias(const struct dh_chase_target *t, const struct dh_chase_module *module,
                         u64 *ret_bias);
/* Registers a site with the program, permanently; possible at any time. *ret_number is its number in
 * control->sites, also if it was registered before. 0, or an errno with a message: the code there differs
 * from the file, or is out of reach; -ENOSPC: the table is full. */
int dh_chase_target_add(struct dh_chase_target *t, const struct dh_chase_site *site, u64 bias,
                        u32 *ret_number, const char **ret_why);
/* Finds the sites in the running program. 0; -EAGAIN: some module is not loaded yet; or another errno with a
 * message: the code there differs from the file, or is out of reach. */
int dh_chase_target_place(struct dh_chase_target *t, const struct dh_chase_sites *sites,
                          const char **ret_why);

/* Only while nothing is armed and no window is open: all registered sites get new sides when they are placed
 * again, and the state left by earlier windows is cleared. */
void dh_chase_target_forget(struct dh_chase_target *t);
/* Resets control->seen: nobody has come to the second side so far. */
void dh_chase_target_unsee(struct dh_chase_target *t);

/* If the program's code cannot be written as it is, the program has to make it writable before it is
 * released: the first names code of this module that may be changed, the second is called when all is named.
 * 0, or a negative errno. */
void dh_chase_target_name_code(struct dh_chase_target *t, const struct dh_chase_module *module, u64 lo,
                               u64 hi);
int dh_chase_target_make_writable(int socket);
/* The process's current mappings, as reported by the kernel; to be freed. NULL: it has ended. */
char *dh_chase_target_maps(pid_t pid, size_t *ret_n);

/* Sets the breakpoints of the wanted sites, by number in control->sites, and clears all others. -ENOENT: the
 * code is gone. */
int dh_chase_target_arm(struct dh_chase_target *t, const bool wanted[DH_CONTROL_SITES]);
/* Has the program removed breakpoints by itself since then, or is it about to? */
bool dh_chase_target_is_cleared(const struct dh_chase_target *t);
/* The program does so after this many traps (0: never), of those that come after this moment. */
void dh_chase_target_allow(struct dh_chase_target *t, u64 due_us, u32 spare);

/* ---- The state word shared by both sides ---- */

u32 dh_chase_target_state(const struct dh_chase_target *t);
/* Moves from exactly this state to another phase of its generation; false if the state has changed. */
bool dh_chase_target_move(struct dh_chase_target *t, u32 from, u32 phase);
/* Starts the next generation in this phase; waiting threads resume. */
void dh_chase_target_restart(struct dh_chase_target *t, u32 phase);
/* While two threads are shown: the second resumes, and the first waits for the rest of its delay. */
void dh_chase_target_keep(struct dh_chase_target *t);
/* While two threads are shown: which of them have resumed meanwhile, DH_CONTROL_GONE_...? */
u32 dh_chase_target_gone(const struct dh_chase_target *t);
/* A thread that comes from this program counter resumes at once, until this is revoked. False: there are too
 * many of them. */
bool dh_chase_target_pass(struct dh_chase_target *t, u64 pc);
void dh_chase_target_pass_none(struct dh_chase_target *t);
/* Sleeps until the state is not `seen`, for at most this long, or until a signal comes. */
void dh_chase_target_sleep(struct dh_chase_target *t, u32 seen, u64 us);

/* ---- Why breakpoints must not be set ---- */

struct dh_chase_obstacle {
    bool traced;    /* a debugger would take our traps for its own */
    bool filtered;  /* the program has restricted its system calls since it was started */
    bool unhandled; /* SIGILL has no handler at the moment */
    u64 code_kb;    /* how much machine code it has mapped */
};
struct dh_chase_obstacle dh_chase_target_obstacle(const struct dh_chase_target *t);

#endif
