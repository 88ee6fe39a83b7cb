/*
 * record_stacks.c - see record_stacks.h.
 */
#include "cli/record_stacks.h"

#include "event/dht_stacks.h"

enum { CONTEXTS = 1 << 14, THREADS = 1 << 10 }; /* of one chunk */

struct batch {
    struct dh_dht_writer *writer;
    size_t n, m;
    struct dh_dht_context contexts[CONTEXTS];
    struct dh_dht_thread threads[THREADS];
};

static void flush(struct batch *b)
{
    if (b->n || b->m)
        dh_dht_write_stacks(b->writer, b->contexts, b->n, b->threads, b->m);
    b->n = b->m = 0;
}

static void add_context(struct batch *b, const struct dh_feed_context *c, u32 number, u32 state)
{
    if (b->n == CONTEXTS)
        flush(b);
    b->contexts[b->n++] = (struct dh_dht_context){
        .pc = c->pc, .folded = (state & DH_FEED_FOLDED) != 0, .number = number, .parent = c->parent};
}

void dh_record_stacks(struct dh_record_stacks *s, const struct dh_feed_layout *shared,
                      struct dh_dht_writer *w)
{
    static struct batch b;
    u32 told = __atomic_load_n(&shared->head.told, __ATOMIC_ACQUIRE);
    if (told == s->told)
        return;
    s->told = told;
    b.writer = w;
    u32 contexts = __atomic_load_n(&shared->head.contexts, __ATOMIC_ACQUIRE),
        threads = __atomic_load_n(&shared->head.threads, __ATOMIC_ACQUIRE);
    for (u32 i = 1; i < contexts && i < DH_DHT_CONTEXTS; i++) {
        u32 state = __atomic_load_n(&shared->contexts[i].state, __ATOMIC_ACQUIRE);
        if (s->contexts[i] != state && shared->contexts[i].parent < i)
            add_context(&b, &shared->contexts[i], i, state);
        s->contexts[i] = (u8)state;
    }
    for (u32 i = 0; i < threads && i < DH_DHT_LIVES; i++) {
        u32 changes = __atomic_load_n(&shared->threads[i].changes, __ATOMIC_ACQUIRE);
        if (s->threads[i] == changes)
            continue;
        s->threads[i] = changes;
        if (b.m == THREADS)
            flush(&b);
        b.threads[b.m++] = shared->threads[i].facts;
        b.threads[b.m - 1].name[sizeof(b.threads[0].name) - 1] = 0;
    }
    flush(&b);
}
