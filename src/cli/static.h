/*
 * static.h - `deadheat static`: the parts of the command.
 *
 * A table of pairs is read (static_in.c), those of one style are selected and grouped by variable
 * (static_view.c), and the groups are printed as a document (static_out.c, report/print.h).
 */
#ifndef DH_CLI_STATIC_H
#define DH_CLI_STATIC_H

#include "report/finding_pairs.h"
#include "report/print.h"

/* All pairs with the same first variable. */
struct dh_static_group {
    u32 variable; /* DH_PAIRS_NONE: not known */
    u32 *pairs;   /* ordered by their places */
    size_t n;
};

/* Which code the pairs refer to. The optimiser removes accesses, and with them races: those do not exist in
 * the binary, but do in the source. */
enum dh_static_of {
    DH_STATIC_SOURCE,  /* as written: sources, compiled without optimisation */
    DH_STATIC_BINARY,  /* as run: a program, or sources compiled as for one */
    DH_STATIC_BITCODE, /* as it was given */
};

/* The input of the command. */
struct dh_static_input {
    char **files;
    size_t n_files;
    const char **options; /* for the compiler */
    size_t n_options;
    bool of_given; /* struct dh_static's `of` was requested by the user */
    bool progress; /* show progress on standard error */
};

struct dh_static {
    struct dh_arena arena;
    struct dh_arena scratch; /* emptied after each pair */
    struct dh_pairs *pairs;
    struct dh_finding_pairs from; /* the same, to be reported */
    const char *input;            /* as the user named it */
    const char *command;          /* the one that prints them; NULL: "static" */
    const char *narrowed;         /* which pairs of the style the table has; NULL: all of them */
    const char *style;            /* "relay" or "sound" */
    u32 set;                      /* DH_PAIRS_RELAY or DH_PAIRS_SOUND */
    enum dh_static_of of;
    struct dh_suppress rules;
    struct dh_baseline *baseline;   /* NULL: none */
    bool *left_out;                 /* for each pair: suppressed, or known; NULL: none is */
    bool has_known;                 /* what is in the baseline is shown as well */
    u64 n_suppressed;               /* pairs of sites */
    u64 n_known;                    /* findings */
    u32 more, less;                 /* DH_PAIRS_IF_... that the user wants assumed, or not assumed */
    u32 assumed;                    /* ... that are assumed to hold */
    u64 limit;                      /* pairs shown of one variable; 0: all */
    u64 most;                       /* threads and places named for a side; 0: all */
    struct dh_static_group *groups; /* globals first, then by name */
    size_t n_groups;
    size_t n_shown;  /* pairs in all groups; bundles count once */
    u32 place[2];    /* after dh_static_find by places: the sites meant, or DH_PAIRS_NONE */
    u64 n_dropped;   /* pairs of the style dropped by an assumption; with bundles, at most */
    u64 n_other;     /* pairs that the other style would show ... */
    bool other_most; /* ... at most: bundles overlap */
    bool bundled;    /* some shown pairs stand for many pairs of sites */
};

/* static_in.c: reads the table of a program, or analyses sources or bitcode. 0, or the exit status after a
 * message. */
int dh_static_load(struct dh_static *s, const struct dh_static_input *in);
/* static_compile.c: compiles sources to bitcode, each into one of these files. 0, or the exit status after a
 * message.
 */
int dh_static_compile(struct dh_static *s, const struct dh_static_input *in, int *ret_fds);

/* static_view.c */
void dh_static_select(struct dh_static *s);
/* What a style assumes, given the user's options: DH_PAIRS_IF_... */
u32 dh_static_assumed(const struct dh_static *s, u32 set);
bool dh_static_chosen(const struct dh_static *s, const struct dh_pairs_pair *pair);
/* How many pairs of sites the selected pairs stand for, in all groups (NULL) or in one; *ret_most: at
 * most. */
u64 dh_static_pairs(const struct dh_static *s, const struct dh_static_group *g, bool *ret_most);
/* The pair named "12", "P12", by its id, or by "FILE:LINE,FILE:LINE". DH_PAIRS_NONE after a message. */
u32 dh_static_find(struct dh_static *s, const char *name);
/* Is "FILE:LINE,FILE:LINE" a selected pair, or part of a bundle? */
bool dh_static_has(struct dh_static *s, const char *places);

/* static_out.c */
void dh_static_print(struct dh_static *s, struct dh_print *p, bool summary, bool stats);
/* One pair in detail. */
void dh_static_explain(struct dh_static *s, struct dh_print *p, u32 pair);
const char *dh_static_of_word(const struct dh_static *s); /* "source" */
void dh_static_forget(struct dh_static *s);               /* what the scratch arena holds */

#endif
