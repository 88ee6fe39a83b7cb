/*
 * alias.h - the functions that the compiler's plugin calls in an alias build (base/alias.h), and what the
 * files of the library, libdeadheat-alias.a, share.
 *
 * There are no locks: tables only grow, by compare-and-exchange, and their entries are never changed. So all
 * of it may be called in signal handlers and in the child of a fork.
 */
#ifndef DH_FIELD_ALIAS_H
#define DH_FIELD_ALIAS_H

#include "base/alias.h"

/* Called before n bytes at p are accessed, at a site of the table. */
void __dh_alias_access(const void *p, u64 n, u32 site);
/* Called before a heap block is freed or moved: all of its bytes are accessed. p may be NULL. */
void __dh_alias_free(const void *p, u32 site);
/* Memory starts afresh, without a history. n == 0: a heap block, as long as the allocator says. p may be
 * NULL. */
void __dh_alias_new(const void *p, u64 n);

/* ---- words.c: the history of each 8-byte word; the number of a set, 0 for none ---- */

bool dh_alias_words_init(void);
/* The word's slot, atomic; created if there is none. NULL: out of memory. */
u32 *dh_alias_word(uptr address);
/* From one multiple of 8 to another. */
void dh_alias_words_forget(uptr from, uptr to);

/* ---- histories.c: which accesses a word has had ---- */

/* A thread and a site, and which bytes of the word. */
struct dh_alias_access {
    u32 thread; /* below DH_ALIAS_MANY */
    u32 site;
    u8 bytes; /* a bit for each */
};
enum { DH_ALIAS_MANY = 0xffffff };

bool dh_alias_histories_init(void);
/* The set with one more access. All pairs of this access with those in the set are reported. Out of memory:
 * the set unchanged. */
u32 dh_alias_history_add(u32 set, const struct dh_alias_access *a);
/* The set without some of the bytes. */
u32 dh_alias_history_without(u32 set, u8 bytes);

/* ---- start.c ---- */

extern const u8 *dh_alias_sites; /* in the run file: DH_ALIAS_... for each; NULL: the program is dormant */
extern u32 dh_alias_n_sites;
extern u64 dh_alias_tls_size;    /* of the program's own thread-local variables, below the thread pointer */
extern bool dh_alias_knows_heap; /* malloc_usable_size can be called */
/* Something was left out, for lack of memory. */
void dh_alias_full(void);
/* Memory that is committed only when touched. */
void *dh_alias_map(u64 n);

/* ---- pairs.c ---- */

bool dh_alias_pairs_init(struct dh_alias_run *run, const char *path);
void dh_alias_pairs_tell(u32 a, u32 b);

#endif
