/*
 * target.h - the program that is chased, seen from the command: its code, its sites, what it is waiting for.
 *
 * The command alone writes the program's code, through a descriptor of its memory that the library in it has
 * sent (docs/design/field.md says why). A breakpoint is one byte, so a thread sees either the old instruction
 * or the breakpoint; the library knows what to do at every site whether or not it is armed.
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
    u8 order; /* of an atomic: DH_CONTROL_ACQUIRE, _RELEASE or both; 0: it is not followed */
};

struct dh_chase_sites {
    struct dh_chase_site at[DH_CONTROL_SITES];
    size_t n;
};

struct dh_chase_target {
    struct dh_arena *arena;
    pid_t pid;
    int mem;                    /* its memory */
    bool direct;                /* code cannot be written by that; it has to be made writable */
    bool many;                  /* one pair after the other is chased: sites change their sides */
    int shared;                 /* descriptor of *control */
    struct dh_control *control; /* shared with it */
    u64 regions[DH_CONTROL_REGIONS];
    bool armed[DH_CONTROL_SITES];                           /* of which sites the breakpoint is set */
    const struct dh_chase_site *sites[DH_CONTROL_SITES];    /* what those of the control block are */
    const struct dh_chase_module *code[DH_CONTROL_MODULES]; /* the same */
    char *maps; /* what was mapped when they were placed, as the kernel tells it; NULL before */
    size_t n_maps;
};

u64 dh_chase_now_us(void); /* by CLOCK_MONOTONIC, as the program's threads tell it */

/* Memory to share with a program that is to be started. 0 or a negative errno. */
int dh_chase_target_init(struct dh_chase_target *t, struct dh_arena *arena, u64 delay_us);
void dh_chase_target_done(struct dh_chase_target *t);

/* The library's hello comes on this socket, which the program inherits the other end of. 0, or a negative
 * errno with a sentence; -ESRCH: the program does not load the library. */
int dh_chase_target_meet(struct dh_chase_target *t, int socket, pid_t pid, const char **ret_why);
/* The program waits for this. */
void dh_chase_target_let_go(int socket);
/* An agent's first word to the program that it will meet: may its synchronisation be followed? */
void dh_chase_target_announce(int socket, bool follows);

/* What is added to addresses of the module's file. 0; -EAGAIN: it is not loaded yet; or another errno. */
int dh_chase_target_bias(const struct dh_chase_target *t, const struct dh_chase_module *module,
                         u64 *ret_bias);
/* Makes a site known to the program, at any time; it stays. Gives the number it has in control->sites, also
 * if it is known already. 0, or an errno with a sentence: the code there is not what the file holds, or out
 * of reach; -ENOSPC: the table is full. */
int dh_chase_target_add(struct dh_chase_target *t, const struct dh_chase_site *site, u64 bias,
                        u32 *ret_number, const char **ret_why);
/* Finds the sites in the running program. 0; -EAGAIN: some module is not loaded yet; another errno with a
 * sentence: the code there is not what the file holds, or out of reach. */
int dh_chase_target_place(struct dh_chase_target *t, const struct dh_chase_sites *sites,
                          const char **ret_why);

/* Nothing is armed, and no window is open: all sites that are known get other sides when they are placed
 * again, and what earlier windows have left is forgotten. */
void dh_chase_target_forget(struct dh_chase_target *t);
/* Nobody has come to the second side so far (control->seen). */
void dh_chase_target_unsee(struct dh_chase_target *t);

/* If the program's code cannot be written as it is, the program has to make it writable, before it is let go:
 * code of this module that may be changed, and when all is named. 0, or a negative errno. */
void dh_chase_target_name_code(struct dh_chase_target *t, const struct dh_chase_module *module, u64 lo,
                               u64 hi);
int dh_chase_target_make_writable(int socket);
/* What the process has mapped now, as the kernel tells it; to be freed. NULL: it has ended. */
char *dh_chase_target_maps(pid_t pid, size_t *ret_n);

/* Sets the breakpoints of the sites that are wanted, by their number in control->sites, and clears all
 * others. -ENOENT: the code is gone. */
int dh_chase_target_arm(struct dh_chase_target *t, const bool wanted[DH_CONTROL_SITES]);

/* ---- The word that both sides follow ---- */

u32 dh_chase_target_state(const struct dh_chase_target *t);
/* From exactly this state to another phase of its generation; false if it has changed. */
bool dh_chase_target_move(struct dh_chase_target *t, u32 from, u32 phase);
/* The next generation begins with this phase; whoever waits goes on. */
void dh_chase_target_restart(struct dh_chase_target *t, u32 phase);
/* Two threads are shown: the second goes on, and the first waits for the rest of its delay. */
void dh_chase_target_keep(struct dh_chase_target *t);
/* Two threads are shown: who of them has gone on meanwhile, DH_CONTROL_GONE_...? */
u32 dh_chase_target_gone(const struct dh_chase_target *t);
/* Who comes from this program counter goes on at once, until that is taken back. False: there are too many of
 * them. */
bool dh_chase_target_pass(struct dh_chase_target *t, u64 pc);
void dh_chase_target_pass_none(struct dh_chase_target *t);
/* Until the state is not `seen`, for at most so long, or until a signal comes. */
void dh_chase_target_sleep(struct dh_chase_target *t, u32 seen, u64 us);

/* ---- Why breakpoints must not be set ---- */

struct dh_chase_obstacle {
    bool traced;   /* a debugger would take our traps for its own */
    bool filtered; /* the program has restricted its system calls since it was started */
};
struct dh_chase_obstacle dh_chase_target_obstacle(const struct dh_chase_target *t);

#endif
