/*
 * test_escape_random.c - the shadow of private blocks against a model that stores what the shadow encodes: random
 * operations from fixed seeds, by several threads whose blocks are side by side.
 *
 * Each thread has every fourth stretch of an arena, which its blocks fill without gaps. The model knows for each grain which
 * block it is in. It follows pointers by reading the same memory, so it also predicts what old words in it lead to.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "field/escape/shadow.h"
#include "unit/check.h"

u64 __dh_esc_mask;
u8 *__dh_esc_marks;
struct dh_caper_run *dh_esc_run;
u64 dh_esc_own_variables;

void dh_esc_trouble(u64 bits)
{
    (void)bits;
}

enum {
    THREADS = 4,
    STRETCH = 2048, /* grains */
    STRETCHES = 8,  /* of each thread */
    OPERATIONS = 100000,
    BLOCKS = 1024,
    HEAP_BLOCKS = 64,
    CHECK_EVERY = 512,
};

/* The arena lies across the edge between two pieces of shadow. */
static char *arena;

struct block {
    u64 first, n, bytes; /* in grains; n is 0 if there is no block */
    u64 room;            /* with the grain that it has only a part of */
    bool private, open, holds;
};

struct model {
    u32 thread;
    u64 state;
    const char *fault;
    u16 of[STRETCHES * STRETCH];    /* the block of each grain of this thread's, + 1 */
    bool used[STRETCHES * STRETCH]; /* also those that a block has only a part of */
    struct block blocks[BLOCKS];
    struct {
        char *p;
        u64 n;
        bool private;
    } heap[HEAP_BLOCKS];
};

static u64 draw(struct model *m, u64 below)
{
    u64 z = (m->state += 0x9e3779b97f4a7c15u);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (z ^ z >> 31) % below;
}

static bool one_in(struct model *m, u64 n)
{
    return draw(m, n) == 0;
}

/* Few grains as a rule; up to a whole stretch. */
static u64 draw_bytes(struct model *m)
{
    static const u64 most[] = {32, 128, 160, 160, 1100, 8300, STRETCH * DH_CAPER_GRAIN};
    return 1 + draw(m, most[draw(m, DH_ARRAY_LEN(most))] - 1);
}

/* How many grains of a block are tracked. glibc's blocks are never smaller than two. Of others, the rest that ends with
 * no grain has to be in the same page. */
static u64 grains_of(u64 address, u64 bytes)
{
    u64 rest = DH_ALIGN_DOWN(address + bytes, DH_CAPER_GRAIN);
    if (dh_esc_blocks_closed)
        return bytes < DH_CAPER_GRAIN ? 2 : bytes / DH_CAPER_GRAIN + 1;
    return bytes % DH_CAPER_GRAIN >= 8 && rest % 4096 == 0 ? 0 : bytes / DH_CAPER_GRAIN;
}

/* A thread's grains are numbered without those of the others. */
static u64 address_of(const struct model *m, u64 grain)
{
    return (u64)arena +
           ((grain / STRETCH * THREADS + m->thread) * STRETCH + grain % STRETCH) * DH_CAPER_GRAIN;
}

/* The grain of the address; DH_ESC_NONE if it is not this thread's. */
static u64 grain_of(const struct model *m, u64 address)
{
    u64 at = (address - (u64)arena) / DH_CAPER_GRAIN, stretch = at / STRETCH;
    bool own = address >= (u64)arena && stretch < STRETCHES * THREADS && stretch % THREADS == m->thread;
    return own ? stretch / THREADS * STRETCH + at % STRETCH : DH_ESC_NONE;
}

static bool is_private(u64 address)
{
    return dh_esc_at((const void *)address) != 0;
}

/* ---- What the model says ---- */

static struct block *block_at(struct model *m, u64 grain)
{
    u16 number = grain == DH_ESC_NONE ? 0 : m->of[grain];
    return number && m->blocks[number - 1].private ? &m->blocks[number - 1] : NULL;
}

/* The private blocks that a value points to, or just past. */
static void find(struct model *m, u64 value, struct block *ret[2])
{
    u64 address = value & ((1ull << 47) - 1);
    ret[0] = block_at(m, grain_of(m, address));
    ret[1] = block_at(m, grain_of(m, address - DH_CAPER_GRAIN));
    if (ret[1] && (!ret[1]->open || ret[1] == ret[0] ||
                   address_of(m, ret[1]->first + ret[1]->n) / DH_CAPER_GRAIN != address / DH_CAPER_GRAIN))
        ret[1] = NULL;
}

static bool is_candidate(struct model *m, u64 value)
{
    struct block *found[2];
    find(m, value, found);
    return found[0] || found[1];
}

static void escape(struct model *m, u64 value)
{
    struct block *pending[2 * BLOCKS];
    u64 n = 2;
    find(m, value, pending);
    while (n > 0) {
        struct block *b = pending[--n];
        if (!b || !b->private)
            continue;
        b->private = false;
        u64 from = address_of(m, b->first), to = from + b->n * DH_CAPER_GRAIN;
        for (u64 at = from; b->holds && at < to + (b->open && to % 4096 != 0 ? 8 : 0); at += 8) {
            struct block *found[2];
            find(m, *(const u64 *)at, found);
            for (int i = 0; i < 2; i++)
                for (u64 k = 0; found[i] && k <= n; k++)
                    if (k == n || pending[k] == found[i]) {
                        n += k == n;
                        pending[k] = found[i];
                        break;
                    }
        }
    }
}

/* ---- Is the shadow the same? ---- */

static bool is_block_right(struct model *m, const struct block *b)
{
    u64 first = address_of(m, b->first) / DH_CAPER_GRAIN;
    struct dh_esc_block s = dh_esc_shadow_block(first);
    if (s.n != b->n || s.open != b->open || s.holds != b->holds || s.owner != dh_esc_owner_mine())
        return false;
    for (u64 i = 0; i < b->n; i += b->n < 40 ? 1 : 1 + draw(m, 40))
        if (dh_esc_shadow_first(first + i) != first)
            return false;
    return dh_esc_shadow_first(first + b->n - 1) == first;
}

static void check(struct model *m)
{
    for (u64 grain = 0; grain < STRETCHES * STRETCH; grain++)
        if (is_private(address_of(m, grain)) != (block_at(m, grain) != NULL))
            m->fault = "a grain";
    for (u64 i = 0; i < BLOCKS; i++)
        if (m->blocks[i].n && m->blocks[i].private && !is_block_right(m, &m->blocks[i]))
            m->fault = "a block";
}

/* ---- Operations ---- */

static struct block *draw_block(struct model *m)
{
    struct block *b = NULL;
    for (int i = 0; i < 30 && (!b || b->n == 0); i++)
        b = &m->blocks[draw(m, BLOCKS)];
    return b->n ? b : NULL;
}

/* An address within a block, or just past it. */
static u64 draw_address(struct model *m, const struct block *b)
{
    return address_of(m, b->first) + (one_in(m, 3) ? 0 : draw(m, b->bytes + 1));
}

static void begin_block(struct model *m)
{
    struct block b = {.bytes = draw_bytes(m), .private = true, .open = !dh_esc_blocks_closed};
    u64 number = draw(m, BLOCKS);
    /* Behind another one, if there is room. */
    b.first = draw(m, STRETCHES * STRETCH);
    for (u64 i = 0; i < 64 && b.first % STRETCH != 0 && !m->used[b.first - 1]; i++)
        b.first--;
    b.n = grains_of(address_of(m, b.first), b.bytes);
    b.room = b.open ? DH_ALIGN_UP(b.bytes, DH_CAPER_GRAIN) / DH_CAPER_GRAIN : b.n;
    if (m->blocks[number].n || b.n == 0 || b.first % STRETCH + b.room > STRETCH)
        return;
    for (u64 i = 0; i < b.room; i++)
        if (m->used[b.first + i])
            return;
    __dh_esc_new((void *)address_of(m, b.first), b.bytes);
    m->blocks[number] = b;
    memset(&m->used[b.first], true, b.room);
    for (u64 i = 0; i < b.n; i++)
        m->of[b.first + i] = (u16)(number + 1);
}

static void end_block(struct model *m, struct block *b)
{
    __dh_esc_free((void *)address_of(m, b->first));
    for (u64 i = 0; i < b->n; i++) {
        m->of[b->first + i] = 0;
        if (is_private(address_of(m, b->first + i)))
            m->fault = "private after its end";
    }
    memset(&m->used[b->first], false, b->room);
    *b = (struct block){0};
}

static void publish(struct model *m, const struct block *b)
{
    u64 value =
        draw_address(m, b) | (one_in(m, 4) ? draw(m, 8) : 0) | (one_in(m, 4) ? draw(m, 1 << 16) << 48 : 0);
    __dh_esc_publish(value);
    escape(m, value);
}

static void store(struct model *m, struct block *to, const struct block *b)
{
    u64 value = draw_address(m, b), dst = address_of(m, to->first) + draw(m, to->bytes / 8 + 1) * 8;
    bool in_same = grain_of(m, value) - to->first < to->n && to->n >= 2 && to->n <= DH_ESC_FEW;
    if (dst + 8 > address_of(m, to->first) + to->bytes)
        return;
    bool rest = dst >= address_of(m, to->first) + to->n * DH_CAPER_GRAIN; /* which has no shadow */
    __dh_esc_store((void *)dst, value);
    *(u64 *)dst = value;
    if (!is_candidate(m, value))
        return;
    if (!to->private || rest)
        escape(m, value);
    else if (!in_same)
        to->holds = true;
}

/* What another thread takes for a pointer into this thread's blocks is none. */
static void publish_foreign(struct model *m)
{
    u64 address = (u64)arena + draw(m, (u64)STRETCHES * THREADS * STRETCH * DH_CAPER_GRAIN);
    u64 before = address - DH_CAPER_GRAIN; /* the block there may be open */
    if (grain_of(m, address) == DH_ESC_NONE && grain_of(m, before) == DH_ESC_NONE)
        __dh_esc_publish(address);
}

/* Blocks of the real heap, which move. */
static void move(struct model *m)
{
    u64 i = draw(m, HEAP_BLOCKS), n = draw_bytes(m);
    if (m->heap[i].p && one_in(m, 4)) {
        __dh_esc_free(m->heap[i].p);
        free(m->heap[i].p);
        m->heap[i].p = NULL;
        return;
    }
    if (m->heap[i].p && one_in(m, 8)) {
        __dh_esc_publish((u64)m->heap[i].p + draw(m, m->heap[i].n));
        m->heap[i].private = false;
    }
    m->heap[i].private |= !m->heap[i].p;
    m->heap[i].p = __dh_esc_realloc(m->heap[i].p, n);
    m->heap[i].n = n;
    u64 grains = grains_of((u64)m->heap[i].p, n), first = (u64)m->heap[i].p / DH_CAPER_GRAIN;
    m->heap[i].private &= grains > 0;
    for (u64 at = 0; at < grains; at++)
        if (is_private((first + at) * DH_CAPER_GRAIN) != m->heap[i].private)
            m->fault = "a grain of a block that moved";
    if (m->heap[i].private && dh_esc_shadow_block(first).n != grains)
        m->fault = "the length of a block that moved";
}

static void operate(struct model *m)
{
    u64 what = draw(m, 16);
    struct block *b = what >= 6 ? draw_block(m) : NULL, *to = what >= 10 ? draw_block(m) : NULL;
    if (what < 5)
        begin_block(m);
    else if (what < 6)
        one_in(m, 2) ? move(m) : publish_foreign(m);
    else if (b && what < 9)
        end_block(m, b);
    else if (b && what < 10)
        publish(m, b);
    else if (b && to)
        store(m, to, b);
}

static void *run(void *thread)
{
    struct model *m = calloc(1, sizeof(*m));
    const char *fault;
    m->thread = (u32)(u64)thread;
    m->state = 1000 * m->thread + dh_esc_blocks_closed;
    for (u64 i = 0; i < OPERATIONS && !m->fault; i++) {
        operate(m);
        if (i % CHECK_EVERY == 0)
            check(m);
    }
    for (u64 i = 0; i < BLOCKS; i++)
        if (m->blocks[i].n)
            end_block(m, &m->blocks[i]);
    check(m);
    for (u64 i = 0; i < HEAP_BLOCKS; i++) {
        __dh_esc_free(m->heap[i].p);
        free(m->heap[i].p);
    }
    fault = m->fault;
    free(m);
    return (void *)(uptr)fault;
}

static void run_all(void)
{
    pthread_t t[THREADS];
    for (u64 i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&t[i], NULL, run, (void *)i), 0);
    for (u64 i = 0; i < THREADS; i++) {
        void *fault;
        pthread_join(t[i], &fault);
        if (fault)
            fail_msg("thread %d: %s", (int)i, (const char *)fault);
    }
}

static void test_closed(void **state)
{
    (void)state;
    dh_esc_blocks_closed = true;
    run_all();
}

static void test_open(void **state)
{
    (void)state;
    dh_esc_blocks_closed = false;
    run_all();
}

static int begin(void **state)
{
    (void)state;
    const u64 piece = 1 << DH_ESC_PIECE_SHIFT, half = (u64)STRETCHES * THREADS * STRETCH * DH_CAPER_GRAIN / 2;
    char *p =
        mmap(NULL, 3 * piece, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    arena = (char *)DH_ALIGN_UP((u64)p + piece, piece) - half;
    __dh_esc_mask = DH_CAPER_SHADOW_SIZE - 1;
    return p != MAP_FAILED && dh_esc_shadow_reserve() ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_closed),
        cmocka_unit_test(test_open),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
