/*
 * finding.h - one finding: two accesses that race, or may race, fully symbolised.
 *
 * Findings are built from race records (finding_record.c), traces without code (finding_trace.c) and the
 * static analysis (finding_pairs.c). Everything that handles races afterwards uses findings only:
 * suppressions, the fingerprint, grouping (group.h) and the back ends (print.h). docs/design/finding.md
 * gives the reasons.
 *
 * Strings are NULL where nothing is known, unless stated otherwise. Names are kept as they were read and are
 * sanitised when printed (util/text.h); only labels are sanitised already.
 */
#ifndef DH_REPORT_FINDING_H
#define DH_REPORT_FINDING_H

#include "report/fingerprint.h"
#include "report/suppress.h"

/* How it is known. */
enum dh_finding_provenance {
    DH_FINDING_OBSERVED,  /* nothing ordered the two in an execution */
    DH_FINDING_PREDICTED, /* another schedule of an execution's events would show it */
    DH_FINDING_POSSIBLE,  /* nothing in the code rules it out */
    DH_FINDING_CONFIRMED, /* the two met in the field */
};

/* Compared with what is known already (baseline.h). */
enum dh_finding_baseline {
    DH_FINDING_UNCOMPARED, /* nobody asked */
    DH_FINDING_NEW,
    DH_FINDING_KNOWN, /* and so are all of its variants */
};

/* A keyword for programs, and the sentence it stands for, without a full stop. */
struct dh_finding_word {
    const char *name, *sentence;
};

struct dh_finding_lock {
    const char *name;  /* never NULL: its own name, or M1, M2 ... within the finding */
    const char *shown; /* the same for people: C++ names are shortened */
    bool named;        /* `name` is its own */
    bool shared;       /* held for reading only */
    bool many;         /* one of many such locks: two with this name may be different locks */
    u64 addr;          /* 0: not known, as in source code */
    const char *kind;  /* "mutex" */
    struct dh_symbol_trace acquired_at;
    struct dh_symbol_frame declared_at; /* file and line */
};

/* A thread that ran or, for the static analysis, a kind of thread that may run: an entry point. */
struct dh_finding_thread {
    const char *label; /* never NULL: "T2 'worker'", "`worker` (several at once)" */
    const char *name;  /* set by the thread itself or given by a trace */
    u64 uid, tid;      /* 0: none */
    u64 parent;        /* uid; 0: none */
    const char *parent_label;
    struct dh_symbol_trace created_at;
    /* For an entry point: */
    const char *entry;    /* "main", "thread", "signal" or "outside" */
    const char *sentence; /* what it is, to follow its name: ", a thread created" */
    const char *function; /* in which it starts */
    const char *api;      /* that creates it */
    bool many;            /* several may live at once */
};

/* Another place in the code for which the same holds as for an access. */
struct dh_finding_alike {
    u64 site;
    enum dh_model_kind kind;
    bool atomic;
    struct dh_symbol_frame at;
};

struct dh_finding_access {
    bool known; /* false: the detector only knows that there was one */
    enum dh_model_kind kind;
    bool atomic;
    bool range;                        /* one check covered many bytes */
    bool stack_folded;                 /* frames are missing in the middle */
    u64 addr;                          /* 0: not known */
    u64 size;                          /* 0: not known */
    bool at_least;                     /* the access may be longer than `size` */
    struct dh_finding_thread *threads; /* the one that ran, or those that may */
    size_t n_threads;
    size_t n_more_threads;        /* not listed */
    const char *run_by;           /* never NULL: the same in words, "T2 'worker'" */
    struct dh_symbol_trace stack; /* innermost first; static analysis: the line, and its inlining */
    const char *place;            /* if there is no code: a location of a text trace */
    bool newest_thread;           /* its thread is the one that was created last */
    u64 event;                    /* number in the trace, from 1; 0: none */
    u64 language_access;          /* as counted by the language's run-time system, plus 1; 0: none */
    bool locks_known;
    struct dh_finding_lock *locks;
    size_t n_locks;
    /* From the static analysis: */
    u64 site; /* id; 0: none */
    u32 site_index, ordinal;
    const char *unit;               /* translation unit */
    struct dh_finding_alike *alike; /* the first n_listed of n_alike; NULL: only the number is needed */
    size_t n_alike, n_listed;
};

struct dh_finding_location {
    enum dh_model_place place;
    bool has_variable; /* its name is known */
    struct dh_symbol_variable variable;
    const char *type;                    /* of the variable or block, as the source names it */
    const char *path;                    /* the part of it that is accessed: ".hits", "[].next" */
    const char *module;                  /* global: path of the ELF file */
    u64 module_offset;                   /* and where in it */
    u64 start, size, offset;             /* heap: the block, and the access in it */
    bool freed;                          /* heap: freed and not reused */
    const char *allocator;               /* heap: the allocation function that was called */
    struct dh_symbol_trace allocated_at; /* heap */
    bool has_field;                      /* heap: `field` says what was accessed in the block */
    struct dh_symbol_field field;
    struct dh_symbol_trace frame; /* stack: the function whose frame it is */
    u64 thread;                   /* heap: that allocated; stack, tls: that owns it; 0: not known */
    const char *thread_label;
};

/* How accesses at the two places are locked, as far as the detector has kept track. */
struct dh_finding_discipline {
    u64 accesses;     /* 0: none recorded */
    const char *lock; /* that most of them held, if it has a name */
    u64 held;
    struct dh_symbol_trace taken_at; /* the call by which most of them took a lock, perhaps of many */
    u64 held_from;
    u64 observations;  /* of one place being accessed after the other, by another thread */
    const char *order; /* what ordered most of these, if it has a name */
    u64 order_addr;
    u64 ordered;
    bool lacks[2], lacks_from[2]; /* which of the finding's own accesses were made without it */
};

/* For a predicted race: the reordering that proves it. */
struct dh_finding_witness {
    u64 length;          /* events; 0: there is none */
    const u32 *events;   /* their numbers, from 0, in the new order; NULL: only the length is known */
    bool checked;        /* verified to be a valid execution */
    const char *missing; /* why there is none: "found: ..." */
};

/* For a race in a recording: something that one of its threads did around it. */
struct dh_finding_moment {
    u64 event;        /* number, from 1 */
    int side;         /* which access the thread belongs to */
    bool access;      /* it is that access */
    u64 lock;         /* address of the lock involved, in a recording; 0: none */
    const char *did;  /* "acquire" */
    const char *what; /* "m", sanitised */
};

/* For a possible race: why it is considered possible. */
struct dh_finding_possible {
    u32 number;     /* of the pair in its table, from 1 */
    u64 id;         /* of the pair, the same in every build */
    u64 stands_for; /* how many pairs of places */
    bool ad_hoc;    /* on the flag of a spin loop */
    struct dh_finding_word *flags, *reasons;
    size_t n_flags, n_reasons;
    const char *note;                   /* an additional reason, in words */
    struct dh_finding_location *others; /* other memory that it may involve */
    size_t n_others;
};

struct dh_finding {
    enum dh_finding_provenance provenance;
    const char *detector, *guarantee;
    const char *process; /* id; "": none */
    u64 pid;
    const char *exe;
    const char *test;                     /* in which it was found; NULL or "": not known */
    struct dh_finding_access accesses[2]; /* the one at which the race was found; the earlier one */
    struct dh_finding_location location;
    struct dh_finding_discipline discipline;
    u64 newest_thread; /* its uid when the race was found; 0: not known */
    struct dh_fingerprint fingerprint;
    enum dh_finding_baseline baseline;
    const char *memory;          /* identifies the variable or the allocation; NULL: not known */
    u64 count;                   /* occurrences; 0: they are not counted */
    u64 processes;               /* in which it was seen */
    u64 runs;                    /* in which it was seen, if runs are counted; 0: they are not */
    struct dh_finding *variants; /* with the same cause, in order of appearance */
    struct dh_finding *next;     /* in such a list */
    struct dh_finding_witness witness;
    const struct dh_finding_moment *moments; /* in the order of the trace */
    size_t n_moments;
    struct dh_finding_possible possible;
    struct dh_model_confirmed confirmed;
};

/* finding_record.c. brief: stacks end with the outermost frame that is not in a system library, if there is
 * one. The provenance is observed, or what the record says; the caller adds a witness. */
struct dh_finding *dh_finding_of_record(struct dh_arena *arena, struct dh_symbol *symbols,
                                        const struct dh_model_race *race, bool brief);
/* Sets the process in which it was seen, and the detector. */
void dh_finding_name_process(struct dh_finding *f, const struct dh_model_process *process);
/* Sets the GoogleTest test visible in the stacks, instead of the one that the process was started for. */
void dh_finding_name_test(struct dh_arena *arena, struct dh_finding *f);

/* finding.c */
/* One of the accesses is a free (or munmap): a race between use and release of the memory. */
bool dh_finding_is_free(const struct dh_finding *f);
/* A lock's address is also that of its first member: its name without the internals of C++ library locks. */
const char *dh_finding_lock_name(struct dh_arena *arena, const char *name);
/* The source line of an access, the same on every machine; NULL if it is not known. */
const char *dh_finding_line(struct dh_arena *arena, const struct dh_finding_access *a);
/* Sets memory and fingerprint; everything else must have been set. */
void dh_finding_identify(struct dh_arena *arena, struct dh_finding *f);
/* The rule that suppresses it, or NULL. The `alike` lists must have been filled in. */
struct dh_suppress_rule *dh_finding_suppressed(const struct dh_finding *f, const struct dh_suppress *s);

/* explain.c: text for people, sanitised. */
/* "data race", "possible use-after-free race" */
const char *dh_finding_title(const struct dh_finding *f);
/* What was raced on: "global `counter`", "a heap block of 40 bytes". */
const char *dh_finding_subject(struct dh_arena *arena, const struct dh_finding *f);
/* Why it is a race, in one sentence. */
const char *dh_finding_explain(struct dh_arena *arena, const struct dh_finding *f);
/* hint.c: what else the run reveals about the cause; NULL: nothing. */
const char *dh_finding_hint(struct dh_arena *arena, const struct dh_finding *f);
/* "atomic write of 4 bytes" */
const char *dh_finding_did(struct dh_arena *arena, const struct dh_finding_access *a);
/* "`a`, `b` (for reading) and `c`", or "no lock". */
const char *dh_finding_held(struct dh_arena *arena, const struct dh_finding_access *a);
/* What the field saw: "It was confirmed in the field, in both orders: crash." */
const char *dh_finding_confirmed(struct dh_arena *arena, const struct dh_finding *f);
extern const char *const dh_finding_kinds[];  /* "read" ... */
extern const char *const dh_finding_places[]; /* "heap" ... */

#endif
