/*
 * test_escape.c - the shadow of private blocks, and what makes them escape (src/field/escape). The test
 * stands in for start.c: it has the shadow reserved, and says whose heap it is.
 *
 * Blocks of most tests are made of an arena at a fixed place, so that neighbours and ends are chosen.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "field/escape/shadow.h"
#include "unit/check.h"

u64 __dh_esc_mask;
static u8 marks[4];
u8 *__dh_esc_marks = marks;
struct dh_caper_run *dh_esc_run;
u64 dh_esc_own_variables;
static u64 trouble;

void dh_esc_trouble(u64 bits)
{
    trouble |= bits;
}

enum { ARENA = 1 << 24 };
static char *arena;

static int reserve(void **state)
{
    (void)state;
    arena = mmap(NULL, ARENA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return arena != MAP_FAILED && dh_esc_shadow_reserve() ? 0 : -1;
}

static int begin(void **state)
{
    (void)state;
    __dh_esc_mask = DH_CAPER_SHADOW_SIZE - 1;
    dh_esc_blocks_closed = true;
    __dh_esc_outside = 0;
    return 0;
}

static int begin_open(void **state)
{
    begin(state);
    dh_esc_blocks_closed = false;
    return 0;
}

static bool is_private(const void *p)
{
    return dh_esc_at(p) != 0;
}

static bool is_all(const void *p, u64 n, bool private)
{
    for (u64 i = 0; i < n; i++)
        if (is_private((const char *)p + i) != private)
            return false;
    return true;
}

/* A test leaves nothing behind. */
static int end(void **state)
{
    (void)state;
    return is_all(arena, ARENA, false) ? 0 : -1;
}

static void *block(u64 at, u64 n)
{
    memset(arena + at, 0, n);
    __dh_esc_new(arena + at, n);
    return arena + at;
}

static void *heap_block(u64 n)
{
    void *p = calloc(1, n);
    __dh_esc_new(p, n);
    return p;
}

static void heap_free(void *p)
{
    __dh_esc_free(p);
    free(p);
}

/* A store as the plugin makes it. */
static void put(void *at, u64 value)
{
    __dh_esc_store(at, value);
    *(u64 *)at = value;
}

/* glibc's smallest block has two grains. */
static u64 closed_grains(u64 n)
{
    return n < 16 ? 2 : n / 16 + 1;
}

/* ---- The shadow ---- */

static const u64 sizes[] = {1,    8,    9,    15,   16,   17,    24,    31,     32,
                            33,   64,   112,  113,  127,  128,   129,   144,    500,
                            1008, 1023, 1024, 1040, 8192, 65536, 70000, 131072, 1000003};

static void test_round_trip(void **state)
{
    (void)state;
    for (u64 i = 0; i < DH_ARRAY_LEN(sizes); i++) {
        u64 n = sizes[i], own = closed_grains(n);
        /* Neighbours on both sides, without a gap. */
        char *before = block(0, 15), *p = block(32, n), *behind = block(32 + own * 16, 40);
        for (u64 at = 0; at <= n; at++)
            assert_int_equal(dh_esc_shadow_first((uptr)(p + at) / 16), (uptr)p / 16);
        struct dh_esc_block b = dh_esc_shadow_block((uptr)p / 16);
        assert_int_equal(b.n, own);
        assert_int_equal(b.owner, dh_esc_owner_mine());
        assert_false(b.open);
        __dh_esc_free(p);
        assert_true(is_all(p, n, false));
        assert_true(is_all(before, 15, true) && is_all(behind, 40, true));
        __dh_esc_free(before);
        __dh_esc_free(behind);
        assert_true(is_all(arena, n + 200, false));
    }
}

/* Nothing is known of the allocator: full grains only, and the pointer behind the end counts. */
static void test_round_trip_open(void **state)
{
    (void)state;
    for (u64 i = 0; i < DH_ARRAY_LEN(sizes); i++) {
        u64 n = sizes[i], own = n / 16;
        char *p = block(16, n), *behind = block(DH_ALIGN_UP(16 + n, 16), 48);
        assert_int_equal(is_private(p), own > 0);
        if (own > 0) {
            struct dh_esc_block b = dh_esc_shadow_block((uptr)p / 16);
            assert_int_equal(b.n, own);
            assert_true(b.open);
            assert_true(is_all(p, own * 16, true));
        }
        __dh_esc_publish((u64)(p + n)); /* just behind the end; it may be the neighbour, too */
        assert_true(is_all(p, n, n % 16 == 0 || own > 0 ? false : is_private(p)));
        assert_true(is_all(behind, 48, n % 16 != 0));
        __dh_esc_free(p);
        __dh_esc_free(behind);
        p = block(16, n);
        __dh_esc_publish((u64)(p + n - 1));
        assert_true(is_all(p, n, false));
    }
}

static void test_open_end_of_page(void **state)
{
    (void)state;
    char *whole = block(4096 - 32, 32), *rest = block(8192 - 32, 40);
    assert_true(is_private(whole));
    assert_false(is_private(rest)); /* its last word is in a page that might not be there */
    __dh_esc_publish((u64)whole);
    assert_false(is_private(whole));
}

/* The word in the rest of an open block is scanned. */
static void test_open_rest(void **state)
{
    (void)state;
    char *child = block(0, 64);
    void *words[3] = {NULL, NULL, child};
    char *parent = block(1024, 24);
    __dh_esc_copy(parent, words, sizeof(words));
    memcpy(parent, words, sizeof(words));
    assert_true(is_private(child));
    __dh_esc_publish((u64)parent);
    assert_false(is_private(child));
}

static void test_not_aligned(void **state)
{
    (void)state;
    __dh_esc_new(arena + 8, 64);
    assert_true(is_all(arena, 128, false));
    __dh_esc_new(NULL, 64);
    __dh_esc_free(NULL);
    __dh_esc_free(arena);
    /* Only the beginning of a block frees it. */
    char *p = block(0, 64);
    __dh_esc_free(p + 16);
    assert_true(is_all(p, 64, true));
    __dh_esc_free(p);
}

/* Pages that were touched, if only to be read. */
static u64 touched(void *p, u64 n)
{
    u64 sum = 0;
    u8 *pages = malloc(n / 4096);
    assert_int_equal(mincore(p, n, pages), 0);
    for (u64 i = 0; i < n / 4096; i++)
        sum += pages[i] & 1;
    free(pages);
    return sum;
}

static void test_large(void **state)
{
    (void)state;
    const u64 n = 1ull << 30;
    char *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_ptr_not_equal(p, MAP_FAILED);
    for (int i = 0; i < 2; i++) {
        __dh_esc_new(p, n - 16);
        for (u64 at = 0; at < n; at += 999983)
            assert_int_equal(dh_esc_shadow_first((uptr)(p + at) / 16), (uptr)p / 16);
        if (i == 0)
            __dh_esc_free(p);
        else {
            /* A pointer in the midst of it is found; pages that were never touched stay so. */
            char *child = block(64, 64);
            put(p + 700000008, (u64)child);
            __dh_esc_publish((u64)p + n / 2);
            assert_true(touched(p, n) < n / 4096 / 16);
            assert_false(is_private(child));
        }
        for (u64 at = 0; at < n; at += 4096)
            assert_false(is_private(p + at));
    }
    munmap(p, n);
}

/* ---- Escapes ---- */

static void test_values(void **state)
{
    (void)state;
    static const u64 tags[] = {0, 1, 7, 15, 1ull << 63, 0xffffull << 48, 1ull << 47 | 3};
    for (u64 i = 0; i < DH_ARRAY_LEN(tags); i++)
        for (u64 at = 0; at <= 80; at += 16) {
            char *p = block(64, 80), *other = block(256, 80);
            __dh_esc_publish(((u64)p + at) | tags[i]);
            assert_true(is_all(p, 80, false));
            assert_true(is_all(other, 80, true));
            __dh_esc_free(other);
        }
    char *p = block(64, 80);
    __dh_esc_publish(0);
    __dh_esc_publish(~0ull);
    __dh_esc_publish((u64)p - 1);
    __dh_esc_publish((u64)p + 96);
    assert_true(is_all(p, 80, true));
    __dh_esc_free(p);
}

static void test_stores(void **state)
{
    (void)state;
    static void *global;
    void **p = block(0, 64), **q = block(128, 64);
    put(&p[1], (u64)q);
    assert_true(is_private(q));
    __dh_esc_store(&global, (u64)p);
    assert_true(is_all(p, 64, false) && is_all(q, 64, false));
    /* Into memory that has escaped. */
    q = block(256, 64);
    __dh_esc_store(&p[2], (u64)q);
    assert_false(is_private(q));
    /* Askew, where no scan would see it. */
    p = block(512, 64), q = block(640, 64);
    __dh_esc_store((char *)p + 4, (u64)q);
    assert_true(is_private(p) && !is_private(q));
    __dh_esc_free(p);
}

static void test_reach(void **state)
{
    (void)state;
    /* A cycle, pointers into blocks, tags, and one that nobody points to. */
    u64 *a = block(0, 64), *b = block(128, 300), *c = block(1024, 24), *apart = block(2048, 64);
    put(&a[3], (u64)b + 299);
    put(&b[36], (u64)c | 5);
    put(&c[0], (u64)a + 64);
    put(&c[1], (u64)apart - 8);
    __dh_esc_publish((u64)c);
    assert_true(is_all(a, 64, false) && is_all(b, 300, false) && is_all(c, 24, false));
    assert_true(is_all(apart, 64, true));
    __dh_esc_free(apart);
    /* Each word of a long block is seen, whatever stands beside it. */
    for (u64 at = 0; at < 40; at++) {
        u64 *from = block(0, 320), *to = block(1024, 32);
        for (u64 i = 0; i < 40; i++)
            from[i] = 0x3ff0000000000000ull + i * 0x123456789abull;
        put(&from[at], (u64)to);
        __dh_esc_publish((u64)from);
        assert_false(is_private(to));
    }
}

struct node {
    struct node *next, *other;
};

static void test_deep(void **state)
{
    (void)state;
    enum { N = 10000000 };
    struct node *nodes = mmap(NULL, N * sizeof(*nodes), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_ptr_not_equal(nodes, MAP_FAILED);
    dh_esc_blocks_closed = false; /* nodes of 16 bytes, side by side */
    for (u64 i = N; i-- > 0;) {
        __dh_esc_new(&nodes[i], sizeof(nodes[i]));
        put(&nodes[i].next, i + 1 < N ? (u64)&nodes[i + 1] : 0);
    }
    __dh_esc_publish((u64)&nodes[0]);
    assert_true(is_all(nodes, 16 * 1000, false) && is_all(&nodes[N - 1000], 16 * 1000, false));
    /* A tree: the number of branches to come back to grows. And an array of all. */
    for (u64 i = N; i-- > 0;) {
        __dh_esc_new(&nodes[i], sizeof(nodes[i]));
        put(&nodes[i].next, 2 * i + 1 < N ? (u64)&nodes[2 * i + 1] : 0);
        put(&nodes[i].other, 2 * i + 2 < N ? (u64)&nodes[2 * i + 2] : 0);
    }
    __dh_esc_publish((u64)&nodes[0]);
    for (u64 i = 0; i < N; i++)
        assert_false(is_private(&nodes[i]));
    struct node **all = malloc(N * sizeof(struct node *));
    for (u64 i = 0; i < N; i++) {
        all[i] = &nodes[i];
        nodes[i].next = nodes[i].other = NULL;
        __dh_esc_new(&nodes[i], sizeof(nodes[i]));
    }
    __dh_esc_new(all, N * sizeof(struct node *));
    __dh_esc_contents(all, N * sizeof(struct node *));
    for (u64 i = 0; i < N; i++)
        assert_false(is_private(&nodes[i]));
    heap_free(all);
    munmap(nodes, N * sizeof(*nodes));
}

/* What is in a block that nobody has stored a pointer into is what was there before it. */
static void test_holds(void **state)
{
    (void)state;
    for (u64 i = 0; i < DH_ARRAY_LEN(sizes); i++) {
        u64 n = sizes[i], far = 4 << 20;
        for (u64 at = 0; at + 8 <= n; at += n > 4096 ? 4096 : 8) {
            char *p = block(0, n), *q = block(far, 64), *behind = block(closed_grains(n) * 16, 40);
            *(u64 *)(p + at) = (u64)q;
            __dh_esc_publish((u64)p + n / 2);
            assert_true(is_all(p, n, false) && is_all(q, 64, true) && is_all(behind, 40, true));
            __dh_esc_new(p, n);
            put(p + at, (u64)q);
            assert_true(dh_esc_shadow_block((uptr)p / 16).holds);
            assert_int_equal(dh_esc_shadow_block((uptr)p / 16).n, closed_grains(n));
            assert_int_equal(dh_esc_shadow_first((uptr)(p + n) / 16), (uptr)p / 16);
            __dh_esc_publish((u64)p + n / 2);
            assert_true(is_all(p, n, false) && is_all(q, 64, false) && is_all(behind, 40, true));
            /* A block that ends takes it along. */
            __dh_esc_new(p, n);
            __dh_esc_new(q, 64);
            put(p + at, (u64)q);
            __dh_esc_free(p);
            assert_true(is_all(p, n, false) && is_all(behind, 40, true));
            __dh_esc_new(p, n);
            __dh_esc_publish((u64)p);
            assert_true(is_private(q));
            __dh_esc_free(q);
            __dh_esc_free(behind);
        }
    }
    /* Each grain of a long one may have been stored to. */
    u64 *p = block(0, 100000), *q = block(4 << 20, 64);
    for (u64 k = 0; k < 100000 / 8; k++)
        put(&p[k], (u64)q);
    assert_int_equal(dh_esc_shadow_block((uptr)p / 16).n, 100000 / 16 + 1);
    __dh_esc_free(p);
    assert_true(is_all(p, 100000, false));
    /* Numbers, and pointers to what has escaped, are none. */
    p = block(0, 64);
    __dh_esc_store_bits(p, 0x3ff0000000000000ull);
    __dh_esc_store(p, (u64)&sizes);
    assert_false(dh_esc_shadow_block((uptr)p / 16).holds);
    __dh_esc_free(p);
    __dh_esc_free(q);
}

static void test_copies(void **state)
{
    (void)state;
    static u64 global[64];
    for (u64 n = 1; n <= 80; n++)
        for (u64 skew = 0; skew < 8; skew++)
            for (u64 word = 0; word * 8 < skew + n; word++) {
                u64 local[16] = {0};
                char *p = block(0, 64);
                local[word] = (u64)p + 3;
                __dh_esc_copy(global, (char *)local + skew, n);
                assert_false(is_private(p));
                p = block(0, 64);
                local[word] = (u64)p + 3;
                /* Words that are not copied do not count, except within a longer one. */
                u64 unseen = word + 1 < 16 ? word + 1 : 0;
                local[word] = 0;
                if (unseen * 8 >= DH_ALIGN_UP(skew + n, 8)) {
                    local[unseen] = (u64)p;
                    __dh_esc_copy(global, (char *)local + skew, n);
                    assert_true(is_private(p));
                }
                __dh_esc_free(p);
            }
    char *p = block(0, 64), *to = block(128, 256);
    u64 local[32] = {[20] = (u64)p};
    __dh_esc_copy(to, local, sizeof(local));
    assert_true(is_private(p) && dh_esc_shadow_block((uptr)to / 16).holds);
    __dh_esc_copy(to + 4, local, sizeof(local) - 8);
    assert_false(is_private(p)); /* it would stand askew */
    p = block(0, 64);
    local[20] = (u64)p;
    __dh_esc_contents(local, 0);
    assert_true(is_private(p));
    __dh_esc_free(p);
    __dh_esc_free(to);
}

static void test_returns(void **state)
{
    (void)state;
    char *p = block(0, 64);
    __dh_esc_return((u64)p);
    assert_true(is_private(p));
    __dh_esc_leave();
    __dh_esc_leave();
    __dh_esc_enter();
    __dh_esc_return((u64)p);
    assert_false(is_private(p));
    p = block(0, 64);
    __dh_esc_enter();
    __dh_esc_return((u64)p);
    assert_true(is_private(p));
    __dh_esc_free(p);
}

static void test_questions(void **state)
{
    (void)state;
    char *p = block(0, 64);
    memset(marks, 0, sizeof(marks));
    __dh_esc_ask(p + 60, 1);
    assert_int_equal(marks[1], 0);
    __dh_esc_publish((u64)p);
    __dh_esc_ask(p + 60, 1);
    __dh_esc_ask(&p, 3);
    assert_memory_equal(marks, "\0\1\0\1", 4);
}

/* All memory has escaped, and nothing is written any more. */
static void test_give_up(void **state)
{
    (void)state;
    char *p = block(0, 64);
    dh_esc_shadow_give_up();
    assert_int_equal(trouble, DH_CAPER_NO_SHADOW);
    assert_false(is_private(p));
    __dh_esc_publish((u64)p);
    __dh_esc_free(p);
    assert_false(is_private(block(256, 64)));
    p = __dh_esc_realloc(__dh_esc_realloc(NULL, 10), 1000);
    assert_non_null(p);
    free(p);
    begin(state);
    assert_false(is_private(arena + 256));
    __dh_esc_free(arena);
}

/* ---- Blocks that move ---- */

static void test_moving(void **state)
{
    (void)state;
    static const u64 steps[] = {100, 10, 5000, 20, 1 << 20, 1 << 24, 1 << 10, 1};
    u64 *child = heap_block(40), *p = __dh_esc_realloc(NULL, 16);
    assert_true(is_all(p, 16, true));
    put(p, (u64)child);
    for (u64 i = 0; i < DH_ARRAY_LEN(steps); i++) {
        u64 *before = p;
        errno = 77;
        p = __dh_esc_realloc(p, steps[i]);
        assert_int_equal(errno, 77);
        assert_true(is_private(p) && is_private((char *)p + steps[i] - 1));
        assert_int_equal(dh_esc_shadow_block((uptr)p / 16).n, closed_grains(steps[i]));
        if ((uptr)p > (uptr)before || (uptr)p + steps[i] < (uptr)before)
            assert_false(is_private(before));
    }
    /* It fails: all is as it was. */
    p = __dh_esc_realloc(p, 64);
    errno = 0;
    assert_null(__dh_esc_realloc(p, 1ull << 50));
    assert_int_equal(errno, ENOMEM);
    errno = 0;
    assert_null(__dh_esc_reallocarray(p, 1ull << 33, 1ull << 33));
    assert_int_equal(errno, ENOMEM);
    assert_true(is_all(p, 64, true) && dh_esc_shadow_block((uptr)p / 16).holds);
    p[0] = (u64)child; /* as it was, but for the seven bytes that went when it had one */
    p = __dh_esc_reallocarray(p, 100, 16);
    assert_true(is_all(p, 1600, true));
    assert_true(is_private(child));
    /* Escaped, it stays so. */
    __dh_esc_publish((u64)p + 800);
    assert_false(is_private(child));
    p = __dh_esc_realloc(p, 64);
    assert_true(is_all(p, 64, false));
    p = __dh_esc_realloc(p, 1 << 20);
    assert_false(is_private(p));
    p = __dh_esc_reallocarray(p, 3, 8);
    assert_false(is_private(p));
    heap_free(p);
    heap_free(child);
    p = heap_block(64);
    assert_null(__dh_esc_realloc(p, 0));
    assert_false(is_private(p));
}

/* The block moves to where it cannot be tracked: what it points to has escaped with it. */
static void test_moving_out(void **state)
{
    (void)state;
    u64 *child = heap_block(40), *p = __dh_esc_realloc(NULL, 64);
    put(p, (u64)child);
    p = __dh_esc_realloc(p, 8); /* no full grain */
    assert_false(is_private(p));
    assert_false(is_private(child));
    free(p);
    free(child);
}

/* ---- Threads ---- */

enum { ROUNDS = 200000, SIDE = 64 };
static pthread_barrier_t meet;

/* Every other block of 32 bytes is this thread's: eight of them share a word of shadow. */
static void *neighbour(void *arg)
{
    u64 side = (u64)arg;
    for (u64 round = 0; round < ROUNDS; round++) {
        u64 at = ((round * 7 % SIDE) * 2 + side) * 32;
        u64 *p = (u64 *)(arena + at);
        __dh_esc_new(p, 24);
        put(p, (u64)(arena + (at ^ 32))); /* it looks like a pointer to the other's */
        if (dh_esc_shadow_block((uptr)p / 16).n != 2 || !is_all(p, 24, true))
            return "not private";
        if (round % 3 == 0)
            __dh_esc_publish((u64)p);
        else
            __dh_esc_free(p);
        if (!is_all(p, 24, false))
            return "not cleared";
    }
    return NULL;
}

static void test_neighbours(void **state)
{
    (void)state;
    pthread_t t[2];
    for (u64 i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, neighbour, (void *)i);
    for (u64 i = 0; i < 2; i++) {
        void *result;
        pthread_join(t[i], &result);
        assert_null(result);
    }
}

static void *foreign(void *p)
{
    __dh_esc_publish((u64)p);
    return NULL;
}

/* What another thread takes for a pointer is none: nobody gave it one. */
static void test_foreign(void **state)
{
    (void)state;
    pthread_t t;
    char *p = block(0, 64);
    pthread_create(&t, NULL, foreign, p);
    pthread_join(t, NULL);
    assert_true(is_private(p));
    __dh_esc_free(p);
}

static void *child_of_ours(void *arg)
{
    bool fine = !is_private(arg) && __dh_esc_outside == 0;
    u64 *p = heap_block(64);
    return fine && is_private(p) ? p : NULL;
}

static int child_of_ours11(void *arg)
{
    return !is_private(arg) && __dh_esc_outside == 0;
}

static void *child_of_others(void *arg)
{
    (void)arg;
    char *p = heap_block(64);
    __dh_esc_return((u64)p);
    return is_private(p) ? p : NULL;
}

static void test_births(void **state)
{
    (void)state;
    pthread_t t;
    void *result;
    char *p = block(0, 64);
    assert_int_equal(__dh_esc_pthread_create(&t, NULL, child_of_ours, p), 0);
    pthread_join(t, &result);
    assert_non_null(result);
    assert_false(is_private(p));
    assert_false(is_private(result));
    free(result);
    p = block(0, 64);
    int status = 0;
    assert_int_equal(__dh_esc_thrd_create(&t, child_of_ours11, p), 0);
    pthread_join(t, &result);
    status = (int)(uptr)result;
    assert_int_equal(status, 1);
    pthread_create(&t, NULL, child_of_others, NULL);
    pthread_join(t, &result);
    assert_null(result);
}

static void *one_of_many(void *arg)
{
    char *p = heap_block(64);
    u32 mine = dh_esc_owner_mine();
    pthread_barrier_wait(&meet);
    bool private = is_private(p);
    ((u8 *)arg)[mine]++;
    pthread_barrier_wait(&meet);
    heap_free(p);
    return (void *)(uptr) private;
}

/* No two threads have a number together; those for whom there is none track nothing. Numbers come back. */
static void test_numbers(void **state)
{
    (void)state;
    enum { N = DH_CAPER_OWNERS + 20 };
    for (int round = 0; round < 2; round++) {
        static u8 seen[DH_CAPER_OWNERS + 1];
        pthread_t t[N];
        u64 private = 0;
        memset(seen, 0, sizeof(seen));
        pthread_barrier_init(&meet, NULL, N);
        for (int i = 0; i < N; i++)
            assert_int_equal(pthread_create(&t[i], NULL, one_of_many, seen), 0);
        for (int i = 0; i < N; i++) {
            void *result;
            pthread_join(t[i], &result);
            private += (uptr)result;
        }
        for (int i = 0; i < DH_CAPER_OWNERS; i++)
            assert_true(seen[i] <= 1);
        assert_int_equal(private, DH_CAPER_OWNERS - 1); /* one is ours */
        pthread_barrier_destroy(&meet);
    }
}

/* ---- Signals ---- */

enum { SIGNALS = 300 };
static volatile u64 handled;
static _Thread_local u64 *of_handler;

static void handle(int number)
{
    (void)number;
    u64 *p = (u64 *)(arena + (8 << 20)), *q = (u64 *)(arena + (9 << 20));
    __dh_esc_new(p, 4000);
    __dh_esc_new(q, 24);
    put(&p[499], (u64)q);
    if (of_handler)
        __dh_esc_publish((u64)of_handler);
    __dh_esc_publish((u64)p);
    if (is_private(q) || !is_all(p, 4000, false))
        abort();
    handled++;
}

static void *interrupted(void *arg)
{
    for (u64 round = 0; handled < SIGNALS; round++) {
        enum { N = 60 };
        u64 *p[N];
        for (u64 i = 0; i < N; i++) {
            u64 n = 16 + (round + i) * 40 % 3000;
            p[i] = (u64 *)(arena + i * 4096);
            memset(p[i], 0, n);
            __dh_esc_new(p[i], n);
            put(p[i], i > 0 ? (u64)p[i - 1] : 0);
        }
        of_handler = p[N / 2];
        if (round % 2)
            __dh_esc_publish((u64)p[N - 1]);
        of_handler = NULL;
        for (u64 i = 0; i < N; i++) {
            if (round % 2 && !is_all(p[i], 16, false))
                return "private behind an escape";
            __dh_esc_free(p[i]);
            if (!is_all(p[i], 4096, false))
                return "not cleared";
        }
    }
    return arg;
}

static void test_signals(void **state)
{
    (void)state;
    pthread_t t;
    void *result;
    struct sigaction a = {.sa_handler = handle};
    sigaction(SIGUSR1, &a, NULL);
    handled = 0;
    pthread_create(&t, NULL, interrupted, NULL);
    for (u64 sent = 0; sent < SIGNALS; sched_yield())
        if (handled == sent) {
            sent++;
            pthread_kill(t, SIGUSR1);
        }
    pthread_join(t, &result);
    assert_null(result);
}

/* ---- Copies of the process ---- */

static void test_fork(void **state)
{
    (void)state;
    char *p = block(0, 64), *q = block(128, 64);
    pid_t pid = fork();
    if (pid == 0) {
        dh_esc_owner_forked();
        bool fine = is_private(p) && is_private(q);
        __dh_esc_publish((u64)p);
        fine = fine && !is_private(p) && is_private(block(256, 64));
        _exit(fine ? 0 : 1);
    }
    int status = -1;
    waitpid(pid, &status, 0);
    assert_int_equal(status, 0);
    assert_true(is_all(p, 64, true));
    __dh_esc_free(p);
    __dh_esc_free(q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_round_trip, begin, end),
        cmocka_unit_test_setup_teardown(test_round_trip_open, begin_open, end),
        cmocka_unit_test_setup_teardown(test_open_end_of_page, begin_open, end),
        cmocka_unit_test_setup_teardown(test_open_rest, begin_open, end),
        cmocka_unit_test_setup_teardown(test_not_aligned, begin, end),
        cmocka_unit_test_setup_teardown(test_large, begin, end),
        cmocka_unit_test_setup_teardown(test_values, begin, end),
        cmocka_unit_test_setup_teardown(test_stores, begin, end),
        cmocka_unit_test_setup_teardown(test_reach, begin, end),
        cmocka_unit_test_setup_teardown(test_deep, begin, end),
        cmocka_unit_test_setup_teardown(test_holds, begin, end),
        cmocka_unit_test_setup_teardown(test_copies, begin, end),
        cmocka_unit_test_setup_teardown(test_returns, begin, end),
        cmocka_unit_test_setup_teardown(test_questions, begin, end),
        cmocka_unit_test_setup_teardown(test_give_up, begin, end),
        cmocka_unit_test_setup_teardown(test_moving, begin, end),
        cmocka_unit_test_setup_teardown(test_moving_out, begin_open, end),
        cmocka_unit_test_setup_teardown(test_neighbours, begin, end),
        cmocka_unit_test_setup_teardown(test_foreign, begin, end),
        cmocka_unit_test_setup_teardown(test_births, begin, end),
        cmocka_unit_test_setup_teardown(test_numbers, begin, end),
        cmocka_unit_test_setup_teardown(test_signals, begin, end),
        cmocka_unit_test_setup_teardown(test_fork, begin, end),
    };
    return cmocka_run_group_tests(tests, reserve, NULL);
}
