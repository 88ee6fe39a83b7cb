/*
 * library.h - what is known about functions outside the program, by name.
 */
#ifndef DH_IR_WHOLE_LIBRARY_H
#define DH_IR_WHOLE_LIBRARY_H

#include "base/base.h"

/* The effects (see library.def), or NULL for a function that is not known. */
const char *dh_w_library(const char *name);

enum dh_w_effect_kind {
    DH_W_EFFECT_READ, /* n; length */
    DH_W_EFFECT_WRITE,
    DH_W_EFFECT_COPY,   /* from m to n; length */
    DH_W_EFFECT_RETURN, /* n */
    DH_W_EFFECT_USE,
    DH_W_EFFECT_NEW,
    DH_W_EFFECT_NEW_AT,
    DH_W_EFFECT_FOREIGN,
    DH_W_EFFECT_FREE,
    DH_W_EFFECT_LOCK, /* lock_kind; shared, tries */
    DH_W_EFFECT_UNLOCK,
    DH_W_EFFECT_WAIT,
    DH_W_EFFECT_BARRIER,
    DH_W_EFFECT_ONCE,
    DH_W_EFFECT_AGAIN,
    DH_W_EFFECT_SEND, /* n; length */
    DH_W_EFFECT_RECEIVE,
    DH_W_EFFECT_POST,
    DH_W_EFFECT_HELD,
    DH_W_EFFECT_LEND,
    DH_W_EFFECT_LENT,
    DH_W_EFFECT_NOTIFY,
    DH_W_EFFECT_RENEW,
    DH_W_EFFECT_SCAN, /* n: the format; from m on: where it goes */
    DH_W_EFFECT_MAP,
    DH_W_EFFECT_FORK,
    DH_W_EFFECT_JOIN,
    DH_W_EFFECT_RESULT,
    DH_W_EFFECT_STDFORK,
    DH_W_EFFECT_STDJOIN,
    DH_W_EFFECT_SIGNAL,
    DH_W_EFFECT_SIGACTION,
    DH_W_EFFECT_CALL, /* n; args */
    DH_W_EFFECT_LATE, /* the same */
    DH_W_EFFECT_OUTSIDER,
    DH_W_EFFECT_PUT,   /* m at k in n's memory */
    DH_W_EFFECT_POINT, /* a pointer into m where n points */
    DH_W_EFFECT_POLL,
    DH_W_EFFECT_LIST, /* n, m, k: nodes */
    DH_W_EFFECT_TREE,
    DH_W_EFFECT_WALK,
    DH_W_EFFECT_SET,
    DH_W_EFFECT_GET,
    DH_W_EFFECT_LOCAL,
    DH_W_EFFECT_THROW,
    DH_W_EFFECT_CATCH,
    DH_W_EFFECT_EXIT,
    DH_W_EFFECT_STOP,
};

#define DH_W_ANYWHERE (-1)     /* in deref: at any offset */
#define DH_W_EFFECT_SENT (-2)  /* in args: whatever was sent or posted */
#define DH_W_EFFECT_WHERE (-3) /* ... a pointer to where it is */

struct dh_w_effect {
    enum dh_w_effect_kind kind;
    int n, m, k;    /* arguments; -1: none */
    bool rest;      /* READ, WRITE: every argument from n on */
    int deref[2];   /* what is meant is not n (POINT: m), but what the pointer at this offset of its memory
                       points to ... */
    int n_deref;    /* ... so many times */
    bool inside;    /* RETURN, SET: not the pointer, but one into what it points to */
    bool list;      /* READ, WRITE: what the pointers in va_list n point to */
    int length_arg; /* -1: none */
    int count_arg;  /* NEW: the length is so many times that; -1: once */
    u32 length;     /* 0: none */
    u8 lock_kind;   /* enum dh_pairs_lock_kind */
    bool shared, tries;
    int args[4];  /* CALL: arguments handed on, or DH_W_EFFECT_SENT ... */
    bool into[4]; /* ... as pointers into what they point to */
    int n_args;
};

/* The next effect of a list; moves *at on. false: there is no more. */
bool dh_w_effect_next(const char **at, struct dh_w_effect *ret_effect);

#endif
