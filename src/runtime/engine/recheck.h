/*
 * recheck.h - in checked builds, every access that the engine records is worked out a second time.
 *
 * What all planes hold of the words is noted before the access and again after it; reference.h, which knows
 * nothing of quick paths, says whether the one may have become the other, and whether every race was told. If
 * not, the process ends with a message that has both.
 *
 * Nothing is locked: an access must not wait where it would not wait otherwise. So another thread may have
 * changed the words in between. Then a difference proves nothing, and is counted as skipped
 * (RECHECK_SKIPPED); a difference that nobody else can have made is a failure. Others who can have made it
 * are accesses, which leave themselves behind, whoever forgets or copies histories, and the collector. A
 * thread by itself, and one that holds the lock of what it accesses, skips nothing.
 *
 * Of a long range the ends are looked at, where mistakes are made most easily, and a piece in between, which
 * is another one each time. Not looked at are hits of the inlined check, and accesses that may be raised as
 * exceptions before they are recorded.
 *
 * In other builds all of this is empty. To be called inside the runtime, by the thread whose access it is;
 * calls may nest (engine/parts.h).
 */
#ifndef DH_RUNTIME_ENGINE_RECHECK_H
#define DH_RUNTIME_ENGINE_RECHECK_H

#include "runtime/shadow/pair.h"
#include "runtime/threads/thread.h"

struct dh_recheck; /* an access under way; NULL: one that is not looked at */

#ifdef DH_CHECKED

/* t is about to access the bytes of mask of a word, or two whole words. kind: enum dh_access. */
struct dh_recheck *dh_recheck_word(struct dh_thread *t, u32 kind, uptr word, bool two, dh_mask_t mask);
/* The same for `count` elements of `size` bytes, `step` bytes apart. More than one consist of whole words. */
struct dh_recheck *dh_recheck_range(struct dh_thread *t, u32 kind, uptr addr, size_t size, uptr step,
                                    u64 count);
/* A read of n words, or of the bytes of mask of one, that is recorded is about to be looked at again
 * (pending.h). */
struct dh_recheck *dh_recheck_look(struct dh_thread *t, uptr word, u32 n, dh_mask_t mask);
/* It is recorded, and all its races are told. */
void dh_recheck_end(struct dh_recheck *r);
/* It was not recorded, nor anything changed. */
void dh_recheck_drop(struct dh_recheck *r);

/* A race with access `id` is told. */
void dh_recheck_told(dh_id_t id);

/* Nothing was done about an access, because its thread has made such a one in this epoch: it must be there.
 */
void dh_recheck_known(struct dh_thread *t, u32 kind, uptr addr, size_t size, uptr step, u64 count);
/* The same where it is known of these two cells, or of one, which the thread has seen there. */
void dh_recheck_known_cells(struct dh_thread *t, u32 kind, uptr addr, u32 size, dh_pair_t cells);
/* An access to part of a word was put off (parts.h): it must be waiting, or recorded. */
void dh_recheck_waits(struct dh_thread *t, uptr word, dh_mask_t mask, bool write);

/* Cells are changed otherwise than by recording an access. */
void dh_recheck_forget_begin(void);
void dh_recheck_forget_end(void);

#else /* macros: empty inline functions still changed which registers the quick paths use, for the worse */

#define dh_recheck_word(...) ((struct dh_recheck *)NULL)
#define dh_recheck_range(...) ((struct dh_recheck *)NULL)
#define dh_recheck_look(...) ((struct dh_recheck *)NULL)
#define dh_recheck_end(r) ((void)(r))
#define dh_recheck_drop(r) ((void)(r))
#define dh_recheck_told(id) ((void)0)
#define dh_recheck_known(...) ((void)0)
#define dh_recheck_known_cells(...) ((void)0)
#define dh_recheck_waits(...) ((void)0)
#define dh_recheck_forget_begin() ((void)0)
#define dh_recheck_forget_end() ((void)0)

#endif

#endif
