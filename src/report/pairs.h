/*
 * pairs.h - the result of the static analysis: sites, and pairs of sites that may race.
 *
 * Knows nothing of LLVM. The analysis builds a table, serialises it (pairs_write.c) and embeds the bytes in
 * the program as the section .deadheat.pairs; its users read it back from there (pairs_read.c): `deadheat
 * static`, field builds, the hive, Caper.
 *
 * Everything is identified by its index in one of the arrays below. An index never changes once assigned, and
 * survives writing and reading. Across builds, sites and pairs are identified by their ids, which depend only
 * on the source: dh_pairs_find_site and dh_pairs_find_pair map an id to the index.
 *
 * Strings are never NULL ("" is unknown), are interned and live as long as the table; those passed to the
 * builder are copied, and NULL may be passed for "". Control characters become question marks.
 */
#ifndef DH_REPORT_PAIRS_H
#define DH_REPORT_PAIRS_H

#include "util/arena.h"

#define DH_PAIRS_SECTION ".deadheat.pairs"
enum { DH_PAIRS_VERSION = 6, DH_PAIRS_OLDEST = 5, DH_PAIRS_ID_VERSION = 2 };
enum { DH_PAIRS_NONE = UINT32_MAX }; /* no index */

enum dh_pairs_access {
    DH_PAIRS_READ,
    DH_PAIRS_WRITE,
    DH_PAIRS_ATOMIC_READ,
    DH_PAIRS_ATOMIC_WRITE,
    DH_PAIRS_ATOMIC_UPDATE, /* reads and writes at once */
    DH_PAIRS_FREE,          /* the end of an object: conflicts with every access to it */
    DH_PAIRS_ACCESSES
};

/* A place in the source. */
struct dh_pairs_place {
    const char *file; /* as the debug information names it: usually relative to dir */
    const char *dir;  /* where the compiler ran; not part of an id */
    u32 line, column; /* 0: unknown */
    u32 declared;     /* the line in that file at which the enclosing function is declared; 0: elsewhere */
    bool internal;    /* that function, or the variable declared here, has internal linkage */
};

/* One access in the code. */
struct dh_pairs_site {
    u64 id;               /* set by dh_pairs_add_site; never 0 */
    const char *module;   /* the translation unit, as its source file was named */
    const char *function; /* that contains the line in the source; linkage name */
    const char *host;     /* that contains the code, if it was inlined; else "". Not part of the id */
    struct dh_pairs_place at;
    u8 access;   /* enum dh_pairs_access */
    u32 size;    /* bytes; 0: unknown or variable (memcpy) */
    u32 ordinal; /* among sites equal in all parts of the id; set by dh_pairs_add_site */
    u64 code;    /* hash of what the function says, however it is laid out; 0: unknown. Not part of the id */
};

enum dh_pairs_storage {
    DH_PAIRS_GLOBAL,
    DH_PAIRS_THREAD_LOCAL,
    DH_PAIRS_HEAP,
    DH_PAIRS_STACK,
    DH_PAIRS_UNKNOWN, /* memory unknown to the analysis, reached through code it does not know */
    DH_PAIRS_STORAGES
};

/* What two sites have in common. */
struct dh_pairs_variable {
    u8 storage;           /* enum dh_pairs_storage */
    const char *name;     /* global: linkage name; stack: of the variable; heap: of the allocating function */
    const char *path;     /* of the part accessed: ".hits", "[].next", ".buf[3]"; "": the whole, or unknown */
    const char *type;     /* of the whole, as the source names it: "struct queue" */
    const char *function; /* that it is local to, or that allocates it; "" for others */
    struct dh_pairs_place at; /* declared or allocated */
};

enum dh_pairs_lock_kind {
    DH_PAIRS_MUTEX,
    DH_PAIRS_RWLOCK,
    DH_PAIRS_SPIN,
    DH_PAIRS_OTHER_LOCK, /* flockfile, or the program's own kind of lock */
    DH_PAIRS_LOCK_KINDS
};

struct dh_pairs_lock {
    u8 kind;                  /* enum dh_pairs_lock_kind */
    bool single;              /* one lock at run time, not one per object */
    const char *name;         /* readable: "stats_lock", "queue.mutex", "block from new_queue().mutex" */
    struct dh_pairs_place at; /* of its object: declared or allocated */
};

enum dh_pairs_entry_kind {
    DH_PAIRS_MAIN,
    DH_PAIRS_THREAD,
    DH_PAIRS_SIGNAL,   /* a signal handler */
    DH_PAIRS_OUTSIDER, /* called by code outside the program, on an unknown thread */
    DH_PAIRS_ENTRY_KINDS
};

/* Where a thread starts; one for each combination of function and place of creation. */
struct dh_pairs_entry {
    u8 kind;                  /* enum dh_pairs_entry_kind */
    bool many;                /* several such threads may exist at once */
    const char *function;     /* linkage name */
    const char *creator;      /* the function that creates it; "" for main */
    const char *api;          /* what it is created with: "pthread_create" */
    struct dh_pairs_place at; /* where */
};

/* Which result sets a pair is in, and what else is special about it. */
enum {
    DH_PAIRS_RELAY = 1u << 0,  /* no common lock; for the hive */
    DH_PAIRS_SOUND = 1u << 1,  /* nothing dropped that could race; for Caper */
    DH_PAIRS_AD_HOC = 1u << 2, /* on the flag of a spin loop that the program synchronises with */
    /* Dropped from the set relay under an additional assumption; shifted by DH_PAIRS_FOR_SOUND: from the set
     * sound, in which there may be more ways for it to happen. The pair is in the table in any case. */
    DH_PAIRS_IF_BARRIERS = 1u << 3,  /* ... that barriers separate phases: all threads of a kind take part */
    DH_PAIRS_IF_PARTITION = 1u << 4, /* ... that each thread uses its own index into the array */
    DH_PAIRS_IF_PUBLISHED = 1u << 5, /* ... that an object is initialised before others can see it */
    DH_PAIRS_IF_OWNED = 1u << 6,     /* ... that an object taken from a container has one owner at a time */
    DH_PAIRS_IF_EXIT = 1u << 7,      /* ... that other threads are done when the program ends */
    DH_PAIRS_IF_CALLBACKS = 1u << 8, /* ... that outside code calls back only before it returns */
    DH_PAIRS_IF_MEMBERS = 1u << 9,   /* ... that a memory location is a member of one structure only */
    DH_PAIRS_IFS = DH_PAIRS_IF_BARRIERS | DH_PAIRS_IF_PARTITION | DH_PAIRS_IF_PUBLISHED | DH_PAIRS_IF_OWNED |
                   DH_PAIRS_IF_EXIT | DH_PAIRS_IF_CALLBACKS | DH_PAIRS_IF_MEMBERS,
    DH_PAIRS_FOR_SOUND = 7,
    DH_PAIRS_FLAGS = (1u << 17) - 1,
    /* What `relay` assumes by default; `sound` assumes none of these. */
    DH_PAIRS_RELAY_ASSUMES = DH_PAIRS_IF_PUBLISHED | DH_PAIRS_IF_OWNED | DH_PAIRS_IF_EXIT |
                             DH_PAIRS_IF_CALLBACKS | DH_PAIRS_IF_MEMBERS
};

/* Which assumptions drop a pair from one of the sets: DH_PAIRS_IF_... */
DH_INLINE u32 dh_pairs_ifs(u32 flags, u32 set)
{
    return (set == DH_PAIRS_SOUND ? flags >> DH_PAIRS_FOR_SOUND : flags) & DH_PAIRS_IFS;
}

/* Why a pair is considered possible. dh_pairs_reason has the wording for each. */
enum {
    DH_PAIRS_BY_TWO_THREADS = 1u << 0,  /* two entry points run at the same time */
    DH_PAIRS_BY_INSTANCES = 1u << 1,    /* one entry point runs in several threads at the same time */
    DH_PAIRS_BY_CREATOR = 1u << 2,      /* the creator continues while the thread runs */
    DH_PAIRS_BY_NO_LOCKS = 1u << 3,     /* neither side certainly holds a lock */
    DH_PAIRS_BY_ONE_UNLOCKED = 1u << 4, /* one side holds none */
    DH_PAIRS_BY_OTHER_LOCKS = 1u << 5,  /* each holds locks, but none in common */
    DH_PAIRS_BY_MANY_LOCKS = 1u << 6,   /* the same lock in many objects, perhaps two different ones */
    DH_PAIRS_BY_SHARED_MODE = 1u << 7,  /* both hold the common lock for reading only */
    DH_PAIRS_BY_MAY_ALIAS = 1u << 8,    /* the two addresses may be equal, but need not */
    DH_PAIRS_BY_ATOMIC = 1u << 9,       /* one access is atomic, the other is not */
    DH_PAIRS_BY_NOT_JOINED = 1u << 10,  /* the thread is not known to have ended */
    DH_PAIRS_BY_OUTSIDE = 1u << 11,     /* the address, or the thread, comes from code outside the program */
    DH_PAIRS_BY_CAST = 1u << 12,        /* an address was made from an integer */
    DH_PAIRS_BY_FREE = 1u << 13,        /* one side frees what the other uses */
    DH_PAIRS_REASONS = (1u << 14) - 1
};

/* A held lock: its index, and whether it is held only for reading. */
DH_INLINE u32 dh_pairs_held(u32 lock, bool shared)
{
    return lock << 1 | shared;
}
DH_INLINE u32 dh_pairs_held_lock(u32 held)
{
    return held >> 1;
}
DH_INLINE bool dh_pairs_held_shared(u32 held)
{
    return held & 1;
}

struct dh_pairs_side {
    u32 site;
    u32 locks;   /* list of held locks: those held whenever the site runs */
    u32 entries; /* list of entry points from which it is reached */
};

struct dh_pairs_pair {
    u64 id; /* set by dh_pairs_add_pair from the two sites' ids, in any order; never 0 */
    struct dh_pairs_side side[2]; /* side[0].site <= side[1].site; equal: two threads at one site */
    /* Lists of further sites for which the same holds as for each side's own. Such a pair is a BUNDLE, which
     * stands for each site of one side with each of the other. A large program has too many pairs to list
     * them individually. */
    u32 alike[2];
    u32 variables; /* list, the most informative first; may be empty */
    u32 flags, reasons;
    const char *note; /* an additional sentence, or "" */
};

/* An assumption that soundness rests on, and where it applied in this program. */
struct dh_pairs_assumption {
    const char *name;     /* "inline-asm" */
    const char *sentence; /* what is assumed */
    u64 count;
    u32 examples; /* list of strings (dh_pairs_string): the first few; set by dh_pairs_assumed */
};

struct dh_pairs_phase {
    const char *name; /* "points-to" */
    u64 microseconds;
    u64 peak_kib; /* memory of the process so far */
};

struct dh_pairs_counter {
    const char *name; /* "instructions" */
    u64 value;
};

/* In a table with bundles: how many pairs of sites there are in each set, under its default assumptions.
 * (The products of bundles overlap.) */
#define DH_PAIRS_COUNT_RELAY "pairs in relay"
#define DH_PAIRS_COUNT_SOUND "pairs in sound"

struct dh_pairs_list {
    u32 begin, n; /* in items */
    u32 max;      /* greatest item; 0 if empty */
};

/* Hash index over one of the arrays; private to pairs_index.c. */
struct dh_pairs_index {
    u32 *slots; /* index + 1, or 0 */
    size_t cap;
};

struct dh_pairs {
    struct dh_arena arena;
    const char *program;  /* what was analysed: the file that is linked, or the bitcode files */
    const char *producer; /* deadheat's and LLVM's version */
    const char *options;  /* options of the analysis, as on a command line */
    bool no_threads;      /* no thread is ever created: there are no pairs */
    struct dh_pairs_site *sites;
    struct dh_pairs_variable *variables;
    struct dh_pairs_lock *locks;
    struct dh_pairs_entry *entries;
    struct dh_pairs_pair *pairs;
    struct dh_pairs_assumption *assumptions;
    struct dh_pairs_phase *phases;
    struct dh_pairs_counter *counters;
    struct dh_pairs_list *lists; /* list 0 is empty */
    u32 *items;
    const char **strings; /* string 0 is "" */
    size_t n_sites, n_variables, n_locks, n_entries, n_pairs, n_assumptions, n_phases, n_counters, n_lists,
        n_items, n_strings;
    size_t cap_sites, cap_variables, cap_locks, cap_entries, cap_pairs, cap_assumptions, cap_phases,
        cap_counters, cap_lists, cap_items, cap_strings;
    struct dh_pairs_index by_string, by_list, by_variable, by_lock, by_entry, by_site_key, by_site_id,
        by_pair_id;
};

/* ---- Building: pairs.c ---- */

struct dh_pairs *dh_pairs_new(void);
void dh_pairs_free(struct dh_pairs *p);

void dh_pairs_set_program(struct dh_pairs *p, const char *program, const char *producer, const char *options);
/* Interned: may be compared by address. */
const char *dh_pairs_intern(struct dh_pairs *p, const char *s);

/* Each returns the index. Sites are always new: a site must be added only once, and sites that look the same
 * get ordinals in the order in which they are added, which must be deterministic. Equal variables, locks and
 * entries are merged. */
u32 dh_pairs_add_site(struct dh_pairs *p, const struct dh_pairs_site *site);
u32 dh_pairs_add_variable(struct dh_pairs *p, const struct dh_pairs_variable *variable);
u32 dh_pairs_add_lock(struct dh_pairs *p, const struct dh_pairs_lock *lock);
u32 dh_pairs_add_entry(struct dh_pairs *p, const struct dh_pairs_entry *entry);
/* Equal lists are merged; the order of the items matters and is kept. */
u32 dh_pairs_add_list(struct dh_pairs *p, const u32 *items, size_t n);
/* The sides may be in any order. If the two sites are already a pair, it may happen in either way: threads
 * and reasons are united, while locks must be held in both, and an assumption must drop both. */
u32 dh_pairs_add_pair(struct dh_pairs *p, const struct dh_pairs_pair *pair);
/* Removes all pairs from the table, so that others can be added in their place. A heap array, or NULL. */
struct dh_pairs_pair *dh_pairs_take_pairs(struct dh_pairs *p, size_t *ret_n);
/* Counts cases of an assumption, with an example of where ("zmalloc.c:31 in zmalloc_used"), of which the
 * first few are kept. The sentence is taken from the first call; count may be 0 to only state the assumption.
 */
void dh_pairs_assumed(struct dh_pairs *p, const char *name, const char *sentence, u64 count,
                      const char *example);
void dh_pairs_add_phase(struct dh_pairs *p, const char *name, u64 microseconds, u64 peak_kib);
void dh_pairs_add_counter(struct dh_pairs *p, const char *name, u64 value); /* adds to one of that name */

/* ---- Looking up: pairs.c ---- */

u32 dh_pairs_find_site(const struct dh_pairs *p, u64 id); /* DH_PAIRS_NONE if absent */
u32 dh_pairs_find_pair(const struct dh_pairs *p, u64 id);
/* The id of the pair of two sites with these ids, which need not be in a table on its own, but for example in
 * a bundle. */
u64 dh_pairs_id_of(u64 a, u64 b);
const u32 *dh_pairs_items(const struct dh_pairs *p, u32 list, size_t *ret_n);
/* The first pair or bundle that contains these two sites, one on each side, and that is wanted; all are if
 * wanted is NULL. DH_PAIRS_NONE if there is none. Takes time in proportion to the size of the table. */
u32 dh_pairs_find_containing(const struct dh_pairs *p, u32 a, u32 b,
                             bool (*wanted)(void *ctx, const struct dh_pairs_pair *pair), void *ctx);
/* How many pairs of sites it stands for: 1, or for a bundle the product. */
u64 dh_pairs_stands_for(const struct dh_pairs *p, const struct dh_pairs_pair *pair);
const char *dh_pairs_string(const struct dh_pairs *p, u32 string);
u64 dh_pairs_counter(const struct dh_pairs *p, const char *name); /* 0 if absent */

/* ---- Words: pairs_words.c ---- */

const char *dh_pairs_storage_name(u8 storage); /* "global", ... */
bool dh_pairs_access_writes(u8 access);
struct dh_pairs_word {
    const char *name;     /* for programs: "two-threads" */
    const char *sentence; /* for a reason: without a full stop */
};
const struct dh_pairs_word *dh_pairs_reason(u32 bit); /* DH_PAIRS_BY_... */
const struct dh_pairs_word *dh_pairs_flag(u32 bit);   /* DH_PAIRS_RELAY, ..., DH_PAIRS_IF_... */

/* ---- As bytes: pairs_write.c, pairs_read.c ----
 *
 * This is also the output of the bitcode analyser, a separate program:
 *   lib/deadheat/deadheat-ir [--progress=FD] FILE.bc...
 * writes the table to standard output and, with --progress, the name of each phase as it begins to descriptor
 * FD, one per line. If it fails, it writes one sentence to standard error, not preceded by a program name,
 * and exits with status 2. */

/* Little-endian, with a checksum; equal tables give equal bytes. *ret is from malloc. */
void dh_pairs_write(const struct dh_pairs *p, u8 **ret, size_t *ret_len);
/* The same, into a file. 0, or a negative errno. */
int dh_pairs_write_file(const struct dh_pairs *p, int file);
/* Nothing in the bytes is trusted. Bytes after the table are ignored. 0, -EBADMSG or, for a table of another
 * version, -EPROTONOSUPPORT; then *ret_why is a sentence. A table of version DH_PAIRS_OLDEST has sites
 * without code. */
int dh_pairs_read(const void *bytes, size_t len, struct dh_pairs **ret, const char **ret_why);

#endif
