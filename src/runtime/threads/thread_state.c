/*
 * thread_state.c - the memory of thread states.
 *
 * A state is large (its lookup tables make misses cheap), and programs that create thousands of threads would
 * spend their time clearing it. So a few are kept for later threads, including those tables that are valid
 * for any thread.
 *
 * Everything is under dh_threads_lock, except dh_thread_state_release, which touches nothing shared.
 */
#include <string.h>

#include "base/pool.h"
#include "runtime/threads/held.h"
#include "runtime/threads/identity.h"
#include "runtime/threads/thread.h"

enum { POOL_KEEP = 64, CLOCK_KEEP = 64 };
enum { OFFSET = 320, OFFSETS = 12 }; /* five cache lines: what is used when threads take turns */

static struct dh_thread *spare; /* for reuse */
static u32 spare_n;

static void first_idcs(struct dh_thread *t)
{
    t->idcs = (struct dh_idc_table){.at = t->idc, .mask = DH_IDC - DH_IDC_WAYS};
}

/* Structures begin at different offsets in their pages: otherwise a kernel thread that runs as many threads
 * in turn would use the same few cache sets for all of them. */
static struct dh_thread *alloc(void)
{
    static u32 made;
    char *memory = dh_pool_alloc(sizeof(struct dh_thread) + OFFSETS * OFFSET);
    if (!memory)
        return NULL;
    u32 offset = made++ % OFFSETS * OFFSET;
    struct dh_thread *t = (struct dh_thread *)(memory + offset);
    t->offset = offset;
    first_idcs(t);
    return t;
}

static void free_clock(struct dh_thread *t)
{
    dh_pool_free(t->vc.c, t->vc.cap * sizeof(u32));
    t->vc = (struct dh_vclock){0};
}

void dh_thread_state_release(struct dh_thread *t)
{
    if (!t)
        return;
    free_clock(t);
    dh_pool_free((char *)t - t->offset, sizeof(*t) + OFFSETS * OFFSET);
}

struct dh_thread *dh_thread_state_new(void)
{
    struct dh_thread *t = spare;
    if (t) {
        spare = t->next;
        spare_n--;
        /* Clear everything but the cached contexts and locksets: they are the same for the same calls in
         * every thread. Ids stored with them have an older stamp. The large tables of cells are empty if the
         * last owner recorded nothing. */
        u32 stamp = t->stamp + 1;
        bool recorded = t->recorded;
        struct dh_vclock vc = {.c = t->vc.c, .cap = t->vc.cap};
        memset(t, 0, offsetof(struct dh_thread, sig));
        first_idcs(t);
        if (vc.cap)
            memset(vc.c, 0, vc.cap * sizeof(u32));
        t->vc = vc;
        t->sig.pending = 0;
        if (t->atomics.any)
            memset(t->atomics.seen, 0, sizeof(t->atomics.seen));
        t->atomics.any = false;
        memset(t->memo.ordered, 0, sizeof(t->memo.ordered));
        if (recorded) {
            memset(t->memo.mine, 0, sizeof(t->memo.mine));
            memset(t->memo.step, 0, sizeof(t->memo.step));
        }
        memset(&t->splits, 0, sizeof(*t) - offsetof(struct dh_thread, splits));
        t->stamp = stamp;
        return t;
    }
    return alloc();
}

void dh_thread_state_free(struct dh_thread *t)
{
    dh_held_forget(t);
    for (u32 i = 0; i < t->old_clocks.n; i++)
        dh_pool_free(t->old_clocks.c[i], t->old_clocks.cap[i] * sizeof(u32));
    if (t->vc.cap > CLOCK_KEEP)
        free_clock(t);
    if (t->idcs.at != t->idc)
        dh_pool_free(t->idcs.at, (t->idcs.mask + DH_IDC_WAYS) * sizeof(*t->idcs.at));
    dh_snap_unref(t->snap);
    dh_publish_clear(&t->birth);
    dh_publish_clear(&t->death);
    dh_publish_clear(&t->fences.release);
    dh_publish_clear(&t->fences.acquire);
    dh_identity_give_frames(t);
    if (spare_n < POOL_KEEP) {
        t->next = spare;
        spare = t;
        spare_n++;
    } else {
        dh_thread_state_release(t);
    }
}
