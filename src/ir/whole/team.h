/*
 * team.h - threads that each get an element, and which of them touches which element.
 *
 *     for (i = 0; i < n; i++) create(&t[i], worker, &work[i]);
 *
 * A TEAM is all threads of one root, created by one operation of an instance that runs once. An ELEMENT is
 * the place of an access from the creator's point of view: the argument replaces the parameter of the thread
 * function, and so on through calls. Two accesses to elements of one array are apart if no two threads have
 * the same index, and none leaves its own element. It is a proof, not an assumption: each of its steps is in
 * apart.c.
 */
#ifndef DH_IR_WHOLE_TEAM_H
#define DH_IR_WHOLE_TEAM_H

#include "ir/whole/counted.h"

struct dh_w_team {
    bool known;     /* there is one such operation */
    bool alone;     /* who creates it has one of them at a time */
    u32 under;      /* the root of the thread that creates it, which may be one of a team (nest.c); 0: main */
    u32 inst, fork; /* the creator, and the operation */
    bool counts; /* in a loop that counts, and is begun once, or again when all that it created have ended */
    bool joined; /* a loop joins them, by the same index */
    u32 join;    /* the operation that does */
    struct dh_w_counted created_by, joined_by;
};

struct dh_w_element {
    u32 inst;            /* the creator; DH_W_NONE: it is not known, but what is `inner` */
    u32 root;            /* whose threads access it; 0: the creator does, or who is called by it */
    u32 op;              /* of the creator, if it does: the access or the call that leads to it */
    dh_w_value base;     /* the array is a local of the creator ... */
    LLVMValueRef global; /* ... or a global variable, or what it holds */
    u32 content;         /* see struct dh_w_address */
    u32 fresh;           /* the base is allocated anew each time; nothing else counts then */
    u32 slot;   /* the base is a block by the index: DH_W_FILLED, that an earlier loop has made (slot.c), or
                   DH_W_RETURNED, that the thread has made, a local of its first function (result.c) */
    u32 share;  /* the index is one of the thread's share of all (share.c) */
    u32 ticket; /* the index is a number that a counter gives out (ticket.c), the counter is `index` */
    LLVMValueRef index; /* NULL: it is no element, but one place */
    int64_t off;        /* from the array's begin, for index 0 */
    u32 stride, length;
    int64_t first, end; /* all bytes that it can be, whatever the index; 0, 0: not known */
    int64_t least;      /* value of what the array is indexed by, if they are */
    /* Of a thread that creates threads, and of those: */
    u64 beside; /* roots of which it may have created threads that run, if it is the one that creates */
    u32 by;     /* the root of the thread that accesses it */
    u32 inner;  /* the element as the thread sees it that creates; 0: not known */
};

struct dh_w_teams {
    struct dh_w_flow *flow;
    struct dh_w_team of[DH_W_MAX_ROOTS]; /* by root */
    bool any;
    struct dh_w_caller {
        u32 inst, op;          /* DH_W_NONE: several, or none */
    } *callers;                /* by instance */
    struct dh_w_pool elements; /* 0: not known */
    struct dh_w_pool shares;   /* 0: none */
};

/* What the slot of an element may be. */
enum { DH_W_FILLED = 1, DH_W_RETURNED = 2 };

void dh_w_teams_find(struct dh_w_teams *t, struct dh_w_flow *f);
void dh_w_teams_done(struct dh_w_teams *t);
/* The number of the element that an access is to, or 0. */
u32 dh_w_element(struct dh_w_teams *t, u32 inst, u32 op, dh_w_value pointer);
/* Whether the base of an element is one value as long as threads of the team run. */
bool dh_w_is_kept_by(const struct dh_w_teams *t, u32 root, u32 inst, dh_w_value base);
/* apart.c: whether accesses to these two never meet in one place while both threads run. */
bool dh_w_elements_apart(const struct dh_w_teams *t, u32 a, u32 b);

#endif
