/*
 * fingerprint.h - the identity of a race: two findings are the same race if their fingerprints are equal.
 *
 * It is a text, and a hash of that text for people to quote: "dh2-" and 12 hex digits. docs/design/report.md
 * describes what it consists of, and what does not change it. Fingerprints of version 1, which exist in
 * people's files, are still computed: a race has both, and either identifies it.
 */
#ifndef DH_REPORT_FINGERPRINT_H
#define DH_REPORT_FINGERPRINT_H

#include "report/symbol.h"

enum { DH_FINGERPRINT_LENGTH = 4 + 12 };

struct dh_fingerprint {
    const char *identity; /* the text */
    char hash[DH_FINGERPRINT_LENGTH + 1];
    char old_hash[DH_FINGERPRINT_LENGTH + 1]; /* of version 1 */
};

/* Is the text a fingerprint of a known version? */
bool dh_fingerprint_is_valid(const char *text, size_t len);
/* Is one of these n fingerprints, of either version, that of the race? */
bool dh_fingerprint_is_listed(const struct dh_fingerprint *f, const char *const *list, size_t n);

/* ---- For an observed race ---- */

struct dh_fingerprint_access {
    enum dh_model_kind kind;
    bool atomic;
    const struct dh_symbol_trace *stack;
};

struct dh_fingerprint_race {
    struct dh_fingerprint_access accesses[2];
    enum dh_model_place place;
    const struct dh_symbol_variable *variable;  /* global, thread-local; NULL: its name is not known */
    const struct dh_symbol_trace *allocated_at; /* heap */
};

void dh_fingerprint_of(struct dh_arena *arena, const struct dh_fingerprint_race *race,
                       struct dh_fingerprint *ret);

/* ---- From the source alone ----
 *
 * The text of version 2, from facts that are also available to an analysis of the source. */

/* The place of an access or an allocation. */
struct dh_fingerprint_site {
    const char *function; /* linkage name, or the name in the source if it has no other; NULL if unknown */
    const char *home;     /* as in struct dh_symbol_origin: the file of a function of internal linkage */
    bool placed;          /* line and column are known */
    const char *file;   /* base name of the file, if it is not that of the function's declaration; or NULL */
    int line;           /* counted from the function's declaration; with `file`, as it is */
    int column;         /* 0: the debug information has none */
    const char *module; /* without debug information: base name of the program or library; else NULL */
    u64 offset;         /* with `module`: in the function; in the module, if the function is not known */
};

struct dh_fingerprint_side {
    enum dh_model_kind kind; /* an atomic update is a write */
    bool atomic;
    struct dh_fingerprint_site at;
};

struct dh_fingerprint_memory {
    enum dh_model_place place;
    const char *name, *home;                 /* global, thread-local, as in struct dh_symbol_origin */
    const char *members;                     /* ".hits", "[].n", or "" */
    struct dh_fingerprint_site allocated_at; /* heap */
};

const char *dh_fingerprint_text(struct dh_arena *arena, const struct dh_fingerprint_side sides[2],
                                const struct dh_fingerprint_memory *memory);
void dh_fingerprint_hash(const char *text, char ret[DH_FINGERPRINT_LENGTH + 1]);

#endif
