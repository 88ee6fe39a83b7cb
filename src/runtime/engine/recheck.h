/*
 * recheck.h - in checked builds, verifies every access that the engine records.
 *
 * The contents of all planes for the words are noted before the access and again after it; reference.h, which
 * knows nothing of quick paths, judges whether the former may have become the latter, and whether every race
 * was reported. If not, the process ends with a message that shows both.
 *
 * Nothing is locked: an access must not wait where it would not wait otherwise. So another thread may have
 * changed the words in between. Then a difference proves nothing, and is counted as skipped
 * (RECHECK_SKIPPED); a difference that no one else can have caused is a failure. Possible causes are other
 * accesses, which leave a record behind, code that forgets or copies histories, and the collector. A thread
 * that runs alone, or that holds the lock protecting what it accesses, skips nothing.
 *
 * For a long range only the ends are checked, where mistakes are most likely, and a piece in between, a
 * different one each time. Hits of the inlined check are not checked, nor are accesses that may be raised as
 * exceptions before they are recorded.
 *
 * In other builds all of this is empty. Call it inside the runtime, from the accessing thread; calls may nest
 * (engine/parts.h).
 */
#ifndef DH_RUNTIME_ENGINE_RECHECK_H
#define DH_RUNTIME_ENGINE_RECHECK_H

#include "runtime/shadow/pair.h"
#include "runtime/threads/thread.h"

struct dh_recheck; /* an access under way; NULL: one that is not checked */

#ifdef DH_CHECKED

/* t is about to access the bytes of mask of a word, or two whole words. kind: enum dh_access. */
struct dh_recheck *dh_recheck_word(struct dh_thread *t, u32 kind, uptr word, bool two, dh_mask_t mask);
/* The same for `count` elements of `size` bytes, `step` bytes apart. More than one consist of whole words. */
struct dh_recheck *dh_recheck_range(struct dh_thread *t, u32 kind, uptr addr, size_t size, uptr step,
                                    u64 count);
/* A recorded read of n words, or of the bytes of mask of one, is about to be checked again (pending.h). */
struct dh_recheck *dh_recheck_look(struct dh_thread *t, uptr word, u32 n, dh_mask_t mask);
/* It is recorded, and all its races have been reported. */
void dh_recheck_end(struct dh_recheck *r);
/* It was not recorded, and nothing changed. */
void dh_recheck_drop(struct dh_recheck *r);

/* A race with access `id` has been reported. */
void dh_recheck_reported(dh_id_t id);

/* An access was skipped because its thread has already made such an access in this epoch: verify that it is
 * recorded. */
void dh_recheck_known(struct dh_thread *t, u32 kind, uptr addr, size_t size, uptr step, u64 count);
/* The same for one or two cells that the thread has loaded. */
void dh_recheck_known_cells(struct dh_thread *t, u32 kind, uptr addr, u32 size, dh_pair_t cells);
/* An access to part of a word was deferred (parts.h): verify that it is waiting, or recorded. */
void dh_recheck_waits(struct dh_thread *t, uptr word, dh_mask_t mask, bool write);

/* Brackets changes to cells other than by recording an access. */
void dh_recheck_forget_begin(void);
void dh_recheck_forget_end(void);

#else /* macros: even empty inline functions made register allocation in the quick paths worse */

#define dh_recheck_word(...) ((struct dh_recheck *)NULL)
#define dh_recheck_range(...) ((struct dh_recheck *)NULL)
#define dh_recheck_look(...) ((struct dh_recheck *)NULL)
#define dh_recheck_end(r) ((void)(r))
#define dh_recheck_drop(r) ((void)(r))
#define dh_recheck_reported(id) ((void)0)
#define dh_recheck_known(...) ((void)0)
#define dh_recheck_known_cells(...) ((void)0)
#define dh_recheck_waits(...) ((void)0)
#define dh_recheck_forget_begin() ((void)0)
#define dh_recheck_forget_end() ((void)0)

#endif

#endif
