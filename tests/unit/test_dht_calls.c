/*
 * test_dht_calls.c - contexts in recordings: the one that an event was encoded with is the one it is decoded with.
 */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "event/dht_code.h"

static u64 state;

static u32 pick(u32 n)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (u32)(state >> 33) % n;
}

/* ---- Contexts of events ---- */

/* A walk through functions that call each other, each with some sites; the context is that of the activation. */
struct walk {
    u32 depth;
    u32 ctx[64]; /* of each activation */
};

static void step(struct walk *w, u64 *ret_pc, u32 *ret_ctx)
{
    u32 what = pick(8);
    if (what == 0 && w->depth + 1 < DH_ARRAY_LEN(w->ctx)) {
        w->ctx[w->depth + 1] = w->ctx[w->depth] % 1000 * 7 + pick(3) + (pick(100) ? 1 : 1u << 31);
        w->depth++;
    } else if (what == 1 && w->depth > 0) {
        w->depth--;
    }
    *ret_pc = 0x1000 + w->depth % 5 * 0x100 + pick(4) * 8;
    *ret_ctx = w->ctx[w->depth];
}

static void contexts_come_back(void **unused)
{
    (void)unused;
    enum { N = 20000 };
    struct dh_dht_encoder *c = calloc(1, sizeof(*c));
    struct dh_dht_decoder *d = malloc(sizeof(*d));
    struct dh_dht_calls *calls = malloc(sizeof(*calls));
    u32 *expected = malloc(N * sizeof(*expected));
    u8 *buf = malloc(DH_DHT_CHUNK_BYTES);
    for (u32 round = 0; round < 20; round++) {
        struct walk w = {0};
        struct dh_dht_event e;
        u32 n = 0;
        state = round + 1;
        dh_dht_encode_begin(c, buf, DH_DHT_CHUNK_BYTES);
        for (; n < N && dh_dht_encode_fits(c); n++) {
            u64 pc;
            step(&w, &pc, &expected[n]);
            if (pick(10))
                dh_dht_encode_access(c, 0x10000 + n * 8ull, 8, DH_OP_READ, 0, pc, expected[n]);
            else
                dh_dht_encode_slow(
                    c,
                    &(struct dh_dht_event){
                        .pc = pc, .addr = 0x20000, .ctx = expected[n], .ticket = n, .op = DH_OP_ACQUIRE},
                    DH_DHT_HAS_TICKET);
        }
        dh_dht_encode_flush(c);
        assert_true(c->at <= c->end && c->end <= c->top);
        dh_dht_decode_begin(d, buf, (size_t)(c->at - buf), n);
        dh_dht_calls_begin(calls, c->end, (size_t)(c->top - c->end));
        for (u32 i = 0; i < n; i++) {
            assert_int_equal(dh_dht_decode_next(d, &e), 1);
            assert_int_equal(dh_dht_calls_next(calls, e.site), expected[i]);
        }
    }
    free(buf);
    free(expected);
    free(calls);
    free(d);
    free(c);
}

/* A function called from two places in turn, with a loop in it: after the first rounds nothing has to be told. */
static void calls_are_foretold(void **unused)
{
    (void)unused;
    struct dh_dht_encoder *c = calloc(1, sizeof(*c));
    u8 *buf = malloc(DH_DHT_CHUNK_BYTES);
    dh_dht_encode_begin(c, buf, DH_DHT_CHUNK_BYTES);
    for (u64 i = 0; i < 2000; i++)
        for (u32 from = 0; from < 2; from++) {
            dh_dht_encode_access(c, 0x1000, 8, DH_OP_READ, 0, 0x100 + from, 1);
            for (u32 k = 0; k < 5; k++)
                dh_dht_encode_access(c, 0x9000 + k * 8, 8, DH_OP_WRITE, 0, 0x200 + k % 2, 2 + from);
        }
    assert_true(c->top - c->end < 40);
    free(buf);
    free(c);
}

/* Bytes that no encoder wrote are some contexts, and no more is read than there is. */
static void any_bytes_are_contexts(void **unused)
{
    (void)unused;
    struct dh_dht_calls *calls = malloc(sizeof(*calls));
    for (u32 round = 0; round < 1000; round++) {
        u32 n = pick(40);
        u8 *raw = malloc(n + 1);
        for (u32 i = 0; i < n; i++)
            raw[i] = (u8)pick(256);
        dh_dht_calls_begin(calls, raw, n);
        for (u32 i = 0; i < 100; i++)
            dh_dht_calls_next(calls, pick(DH_DHT_SITES));
        free(raw);
    }
    free(calls);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contexts_come_back),
        cmocka_unit_test(calls_are_foretold),
        cmocka_unit_test(any_bytes_are_contexts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
