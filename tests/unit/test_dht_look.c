/*
 * test_dht_look.c - stacks in recordings: the tables of contexts and threads come back as they were written, and a second look at
 * a file says of an access who made it, by which calls, holding which locks, and what the memory was.
 */
#include <errno.h>
#include <string.h>

#include "dht_file.h"
#include "event/dht_head.h"
#include "event/dht_look.h"
#include "event/dht_stacks.h"

static void put_as(struct file *f, u32 thread, u32 op, u32 mode, u64 addr, u64 n, u64 pc, u32 ctx)
{
    bool bytes = (dh_dht_operands(op) & DH_DHT_HAS_BYTES) != 0;
    file_put(f, thread,
             (struct dh_dht_event){.pc = pc,
                                   .addr = addr,
                                   .bytes = bytes ? n : 0,
                                   .ctx = ctx,
                                   .size = bytes ? 0 : (u32)n,
                                   .op = (u8)op,
                                   .mode = (u8)mode});
}

static void put(struct file *f, u32 thread, u32 op, u64 addr, u64 n, u64 pc, u32 ctx)
{
    put_as(f, thread, op, op == DH_OP_WRITE || op == DH_DHT_OP_WRITES ? DH_WRITE : 0, addr, n, pc, ctx);
}

/* Ends it. */
static struct dh_dht *file_read(struct file *f)
{
    struct dh_dht *r;
    for (u32 t = 0; t < FILE_THREADS; t++)
        if (f->code[t].events)
            file_chunk(f, t, dh_dht_encode_type(&f->code[t]));
    assert_int_equal(dh_dht_write_end(&f->w), 0);
    assert_int_equal(dh_dht_open(&r, f->fd), 0);
    return r;
}

/* main (1) calls f (2), which calls g (4); 3 is a call that is not shown, 5 a recursion in it. */
static const struct dh_dht_context contexts[] = {
    {.number = 1, .parent = 0, .pc = 0x1001},
    {.number = 2, .parent = 1, .pc = 0x1002},
    {.number = 3, .parent = 0, .pc = 0},
    {.number = 4, .parent = 2, .pc = 0x1004},
    {.number = 5, .parent = 3, .pc = 0x1005, .folded = 1},
};

static const struct dh_dht_thread threads[] = {
    {.uid = 0,
     .tid = 100,
     .stack_lo = 0x70000,
     .stack_hi = 0x80000,
     .tls_lo = 0x90000,
     .tls_hi = 0x91000,
     .tp = 0x90800,
     .name = "main"},
    {.uid = 1,
     .parent = 1,
     .created_at = 2,
     .tid = 101,
     .stack_lo = 0xa0000,
     .stack_hi = 0xb0000,
     .tls_lo = 0xaf000,
     .tls_hi = 0xb0000,
     .tp = 0xaf800,
     .name = "fifteen letters"},
};

static void stack_is(const struct dh_dht *r, u32 ctx, u64 pc, bool folded, const u64 *expected, size_t n)
{
    u64 pcs[8];
    bool is_folded = !folded;
    assert_int_equal(dh_dht_stack(r, ctx, pc, pcs, DH_ARRAY_LEN(pcs), &is_folded), n);
    assert_memory_equal(pcs, expected, n * sizeof(*pcs));
    assert_int_equal(is_folded, folded);
}

static void tables_come_back(void **unused)
{
    (void)unused;
    struct file *f = file_new(0);
    put(f, 0, DH_OP_BEGIN, 0, 0, 0, 0);
    put(f, 1, DH_OP_BEGIN, 0, 0, 0, 0);
    struct dh_dht_context early = {.number = 4, .parent = 2, .pc = 0x1004, .folded = 1};
    assert_int_equal(dh_dht_write_stacks(&f->w, &early, 1, NULL, 0), 0);
    assert_int_equal(dh_dht_write_stacks(&f->w, contexts, DH_ARRAY_LEN(contexts), threads, 2), 0);
    struct dh_dht *r = file_read(f);
    stack_is(r, 2, 0x5000, false, (u64[]){0x5000}, 1); /* not loaded */
    assert_int_equal(dh_dht_load_stacks(r), 0);
    stack_is(r, 2, 0x5000, false, (u64[]){0x5000, 0x1002, 0x1001}, 3);
    stack_is(r, 2, 0x1002, false, (u64[]){0x1002, 0x1001}, 2); /* the call is the event */
    stack_is(r, 4, 0x5000, true, (u64[]){0x5000, 0x1004, 0x1002, 0x1001}, 4);
    stack_is(r, 5, 0x5000, true, (u64[]){0x5000, 0x1005}, 2);
    stack_is(r, 0, 0x5000, false, (u64[]){0x5000}, 1);
    stack_is(r, 77, 0x5000, false, (u64[]){0x5000}, 1);
    stack_is(r, 2, 0, false, (u64[]){0x1002, 0x1001}, 2);
    for (u32 i = 0; i < 2; i++)
        assert_memory_equal(dh_dht_find_thread(r, i), &threads[i], sizeof(threads[i]));
    assert_null(dh_dht_find_thread(r, 2));
    assert_null(dh_dht_nth_thread(r, 2));
    dh_dht_close(r);
    file_free(f);
}

/* Calls that alternate between the program and its libraries; of each pc after the first ones only a short
 * distance is stored. */
static void far_calls_come_back(void **unused)
{
    (void)unused;
    static const u64 modules[] = {0x7f0000000000, 0x550000000000, 0x7e0000000000};
    struct dh_dht_context far[36];
    for (u32 i = 0; i < DH_ARRAY_LEN(far); i++)
        far[i] = (struct dh_dht_context){
            .number = i + 1, .parent = i, .pc = modules[i < 32 ? i % 2 : i % 3] + (dh_hash64(i) & 0xfff)};
    struct file *f = file_new(0);
    put(f, 0, DH_OP_BEGIN, 0, 0, 0, 0);
    put(f, 1, DH_OP_BEGIN, 0, 0, 0, 0);
    u8 bytes[DH_DHT_HEAD_MAX];
    struct dh_dht_chunk head;
    long before = (long)f->w.bytes;
    assert_int_equal(dh_dht_write_stacks(&f->w, far, DH_ARRAY_LEN(far), NULL, 0), 0);
    assert_int_equal(pread(f->fd, bytes, sizeof(bytes), before), (long)sizeof(bytes));
    assert_true(dh_dht_get_head(DH_DHT_VERSION, bytes, sizeof(bytes), &head) > 0);
    assert_true(head.raw_len < 6 * DH_ARRAY_LEN(far));
    struct dh_dht *r = file_read(f);
    assert_int_equal(dh_dht_load_stacks(r), 0);
    for (u32 i = 0; i < DH_ARRAY_LEN(far); i++) {
        u64 pc;
        bool folded;
        assert_int_equal(dh_dht_stack(r, i + 1, 0, &pc, 1, &folded), 1);
        assert_int_equal(pc, far[i].pc);
    }
    dh_dht_close(r);
    file_free(f);
}

/* What no recorder wrote is refused with a sentence when it is needed; the events can be read. */
static void bad_tables_are_refused(void **unused)
{
    (void)unused;
    static const struct {
        u8 raw[8];
        u8 n;
    } bad[] = {
        {{1}, 1},             /* a context is missing */
        {{1, 1, 2, 0, 0}, 5}, /* its parent is behind it */
        {{1, 1, 0, 0, 0}, 5}, /* it is its own parent */
        {{1, 0, 0, 0, 0}, 5}, /* number 0 */
        {{0, 1, 0}, 3},       /* a thread is cut short */
        {{0, 0, 7}, 3},       /* there is something behind it */
    };
    for (u32 i = 0; i < DH_ARRAY_LEN(bad); i++) {
        struct file *f = file_new(0);
        struct dh_event events[100];
        struct dh_dht_chunk head = {.type = DH_DHT_STACKS, .first = DH_DHT_NO_TICKET};
        put(f, 0, DH_OP_BEGIN, 0, 0, 0, 0);
        put(f, 1, DH_OP_BEGIN, 0, 0, 0, 0);
        assert_int_equal(dh_dht_write_chunk(&f->w, &head, bad[i].raw, bad[i].n), 0);
        struct dh_dht *r = file_read(f);
        assert_int_equal(dh_dht_read(r, events, DH_ARRAY_LEN(events)), 2);
        assert_int_equal(dh_dht_load_stacks(r), -EBADMSG);
        assert_non_null(strstr(dh_dht_error(r), "offset 32: "));
        dh_dht_close(r);
        file_free(f);
    }
}

/* ---- A second look ---- */

static void put_module(struct file *f)
{
    struct {
        struct dh_dht_module m;
        char path[4];
    } raw = {
        {.lo = 0x1000, .hi = 0x9000, .bias = 0x1000, .path_len = 4, .tls_below = 0x100, .tls_size = 0x80},
        "/bin"};
    struct dh_dht_chunk head = {.type = DH_DHT_MODULES, .first = DH_DHT_NO_TICKET};
    assert_int_equal(dh_dht_write_chunk(&f->w, &head, &raw, sizeof(raw.m) + 4), 0);
}

/* Numbers of the events that are asked about. */
enum { FIRST_WRITE = 8, HEAP_READ = 9, LAST_WRITE = 12 };

/*
 * The first thread allocates a block, and writes twice to 0x8000 in one epoch, from two contexts, and once before that. The
 * second reads with two locks held, one of them as a reader.
 */
static struct dh_dht *looked_at(struct file *f)
{
    put_module(f);
    assert_int_equal(dh_dht_write_stacks(&f->w, contexts, DH_ARRAY_LEN(contexts), threads, 2), 0);
    put(f, 0, DH_OP_BEGIN, 0, 0, 0, 0);           /* 0 */
    put(f, 0, DH_OP_WRITE, 0x8000, 8, 0x5000, 4); /* 1: an epoch earlier */
    put(f, 0, DH_OP_FORK, 1, 0, 0x1002, 2);       /* 2 */
    put(f, 0, DH_DHT_OP_BLOCK, 0x20000, 100, 0x1002,
        2);                                         /* gives nothing out: no variable there is known yet */
    put(f, 0, DH_OP_WRITE, 0x20000, 8, 0x5000, 4);  /* 3 */
    put(f, 1, DH_OP_BEGIN, 0, 0, 0, 0);             /* 5, behind the writes that follow */
    put(f, 0, DH_OP_WRITE, 0x8000, 8, 0x5000, 2);   /* 4 */
    put(f, 1, DH_OP_ACQUIRE, 0x2000, 0, 0x1004, 2); /* 6 */
    put_as(f, 1, DH_OP_ACQUIRE, DH_SHARED, 0x30000, 0, 0x5008, 5); /* 7 */
    put(f, 1, DH_OP_WRITE, 0x8000, 8, 0x5010, 4);                  /* 8 = FIRST_WRITE */
    put(f, 1, DH_OP_READ, 0x20000 + 96, 8, 0x5010, 4);             /* 9 = HEAP_READ */
    put(f, 1, DH_OP_RELEASE, 0x2000, 0, 0x1004, 2);                /* 10 */
    put(f, 1, DH_DHT_OP_RELEASE_FOREIGN, 0x30000, 0, 0x1004, 2);   /* 11 */
    put(f, 1, DH_OP_WRITE, 0x8000, 8, 0x5010, 4);                  /* 12 = LAST_WRITE */
    return file_read(f);
}

static void an_access_is_found_again(void **unused)
{
    (void)unused;
    struct file *f = file_new(0);
    struct dh_dht *r = looked_at(f);
    struct dh_dht_look looks[] = {
        {.event = LAST_WRITE, .addr = 0x8000},
        {.event = FIRST_WRITE, .addr = 0x8000},
        {.event = HEAP_READ, .addr = 0x20000 + 96},
        {.event = 1000},
        {.event = 2}, /* no access */
    };
    assert_int_equal(dh_dht_look(r, looks, DH_ARRAY_LEN(looks)), 0);
    assert_true(looks[0].found && looks[1].found && looks[2].found && !looks[3].found && !looks[4].found);
    assert_int_equal(looks[1].uid, 1);
    assert_true(looks[1].pc == 0x5010 && looks[1].ctx == 4 && looks[1].start == 0x8000 &&
                looks[1].bytes == 8);
    assert_int_equal(looks[1].kind, DH_WRITE);
    assert_int_equal(looks[1].n_held, 2);
    assert_true(looks[1].held[0].lock == 0x2000 && looks[1].held[0].ctx == 2 &&
                looks[1].held[0].pc == 0x1004);
    assert_true(looks[1].held[1].lock == 0x30000 && looks[1].held[1].ctx == 5);
    assert_true(!looks[1].held[0].shared && looks[1].held[1].shared);
    assert_int_equal(looks[1].spot.kind, DH_DHT_GLOBAL);
    assert_true(looks[1].spot.offset == 0x7000);
    assert_int_equal(looks[0].n_held, 0);
    const struct dh_dht_spot *heap = &looks[2].spot;
    assert_int_equal(heap->kind, DH_DHT_HEAP);
    assert_true(heap->start == 0x20000 && heap->size == 100 && heap->offset == 96 && heap->owner == 1);
    assert_true(heap->ctx == 2 && heap->pc == 0x1002);
    dh_dht_look_done(looks, DH_ARRAY_LEN(looks));
    dh_dht_close(r);
    file_free(f);
}

/* Of the writes of one epoch the first is meant; not one of an earlier epoch, nor one that comes later. */
static void an_access_without_a_number_is_found(void **unused)
{
    (void)unused;
    struct file *f = file_new(0);
    struct dh_dht *r = looked_at(f);
    struct dh_dht_look looks[] = {
        {.event = DH_DHT_NO_EVENT,
         .before = FIRST_WRITE,
         .at_pc = 0x5000,
         .thread = 0,
         .cell = 0,
         .write = true},
        {.event = DH_DHT_NO_EVENT, .before = 2, .at_pc = 0x5000, .thread = 0, .cell = 0, .write = true},
        {.event = DH_DHT_NO_EVENT,
         .before = FIRST_WRITE,
         .at_pc = 0x5000,
         .thread = 1,
         .cell = 0,
         .write = true},
        {.event = DH_DHT_NO_EVENT,
         .before = FIRST_WRITE,
         .at_pc = 0x5000,
         .thread = 0,
         .cell = 0,
         .write = false},
    };
    assert_int_equal(dh_dht_look(r, looks, DH_ARRAY_LEN(looks)), 0);
    assert_true(looks[0].found && looks[0].ctx == 2 && looks[0].uid == 0);
    assert_true(looks[1].found && looks[1].ctx == 4);
    assert_false(looks[2].found || looks[3].found);
    dh_dht_look_done(looks, DH_ARRAY_LEN(looks));
    dh_dht_close(r);
    file_free(f);
}

/* Memory that moved: the access is found at the second look, where the memory was before. */
static void an_access_before_a_move_is_found(void **unused)
{
    (void)unused;
    struct file *f = file_new(0);
    put(f, 0, DH_OP_BEGIN, 0, 0, 0, 0);
    put(f, 0, DH_OP_WRITE, 0x20000, 8, 0x5000, 4);
    put(f, 1, DH_OP_BEGIN, 0, 0, 0, 0);
    file_put(f, 0,
             (struct dh_dht_event){
                 .op = DH_OP_RANGE_MOVE, .addr = 0x30000, .source = 0x20000, .bytes = 64, .pc = 0x1002});
    put(f, 1, DH_OP_WRITE, 0x30000, 8, 0x5010, 4);
    struct dh_dht_look look = {
        .event = DH_DHT_NO_EVENT, .before = 100, .at_pc = 0x5000, .thread = 0, .cell = 1, .write = true};
    for (u32 round = 0; round < 2; round++) {
        struct dh_dht *r;
        if (round == 0)
            r = file_read(f);
        else
            assert_int_equal(dh_dht_open(&r, f->fd), 0);
        assert_int_equal(dh_dht_look(r, &look, 1), 0);
        assert_int_equal(look.found, round == 1);
        assert_int_equal(look.moved, round == 0);
        dh_dht_close(r);
    }
    assert_true(look.ctx == 4 && look.pc == 0x5000 && look.start == 0x30000);
    dh_dht_look_done(&look, 1);
    file_free(f);
}

/* Memory is what it was when it was accessed. */
static void memory_is_told_apart(void **unused)
{
    (void)unused;
    static const struct {
        u64 addr;
        enum dh_dht_spot_kind kind;
        u32 owner;
        u64 offset;
    } places[] = {
        {0x78000, DH_DHT_STACK, 1, 0x8000}, {0xa8000, DH_DHT_STACK, 2, 0x8000},
        {0x90710, DH_DHT_TLS, 1, 0x10}, /* 0x100 below the thread pointer is where the module's segment begins */
        {0xaf710, DH_DHT_TLS, 2, 0x10},     {0xaf790, DH_DHT_TLS, 2, 0}, /* in no module's */
        {0x8ff8, DH_DHT_GLOBAL, 0, 0x7ff8}, {0xfff000, DH_DHT_UNKNOWN, 0, 0},
    };
    struct file *f = file_new(0);
    struct dh_dht_look looks[DH_ARRAY_LEN(places)] = {0};
    put_module(f);
    assert_int_equal(dh_dht_write_stacks(&f->w, contexts, DH_ARRAY_LEN(contexts), threads, 2), 0);
    put(f, 0, DH_OP_BEGIN, 0, 0, 0, 0);
    put(f, 1, DH_OP_BEGIN, 0, 0, 0, 0);
    for (u32 i = 0; i < DH_ARRAY_LEN(places); i++) {
        put(f, 1, DH_OP_READ, places[i].addr, 8, 0x5000, 1);
        looks[i] = (struct dh_dht_look){.event = 2 + i, .addr = places[i].addr};
    }
    struct dh_dht *r = file_read(f);
    assert_int_equal(dh_dht_look(r, looks, DH_ARRAY_LEN(looks)), 0);
    for (u32 i = 0; i < DH_ARRAY_LEN(places); i++) {
        assert_true(looks[i].found);
        assert_int_equal(looks[i].spot.kind, places[i].kind);
        assert_int_equal(looks[i].spot.owner, places[i].owner);
        assert_int_equal(looks[i].spot.offset, places[i].offset);
    }
    dh_dht_look_done(looks, DH_ARRAY_LEN(looks));
    dh_dht_close(r);
    file_free(f);
}

/* An address on a stack is in an activation that was told, as long as that has not returned. */
static void activations_return(void **unused)
{
    (void)unused;
    static const struct dh_dht_frame frames[] = {
        {.pc = 0x5000, .sp = 0x78000, .bp = 0x780f0, .cfa = 0x78100},
        {.pc = 0x1002, .sp = 0x78100, .bp = 0x781f0, .cfa = 0x78200},
        {.pc = 0x1001, .sp = 0x78200, .bp = 0, .cfa = 0x78210},
    };
    struct file *f = file_new(0);
    assert_int_equal(dh_dht_write_stacks(&f->w, contexts, DH_ARRAY_LEN(contexts), threads, 2), 0);
    put(f, 0, DH_OP_BEGIN, 0, 0, 0, 0);
    for (u32 i = 0; i < DH_ARRAY_LEN(frames); i++)
        file_put(f, 0,
                 (struct dh_dht_event){.op = DH_DHT_OP_FRAME,
                                       .pc = frames[i].pc,
                                       .addr = frames[i].sp,
                                       .bytes = frames[i].cfa - frames[i].sp,
                                       .source = frames[i].bp});
    put(f, 0, DH_OP_FORK, 1, 0, 0x5000, 2);
    assert_int_equal(dh_dht_encode_type(&f->code[0]), DH_DHT_WORDS); /* a frame cuts no variable */
    put(f, 1, DH_OP_BEGIN, 0, 0, 0, 0);
    put(f, 1, DH_OP_WRITE, 0x78010, 8, 0x5010, 0); /* 3 */
    put(f, 0, DH_OP_ACQUIRE, 0x2000, 0, 0x5008, 1);
    put(f, 1, DH_OP_ACQUIRE, 0x2010, 0, 0x5010, 0);
    put(f, 1, DH_OP_WRITE, 0x78010, 8, 0x5010, 0); /* 6 */
    put(f, 1, DH_OP_WRITE, 0x78110, 8, 0x5010, 0); /* 7 */
    put(f, 1, DH_OP_WRITE, 0x78300, 8, 0x5010, 0); /* 8 */
    struct dh_dht *r = file_read(f);
    struct dh_dht_look looks[] = {
        {.event = 3, .addr = 0x78010}, /* of the innermost */
        {.event = 6, .addr = 0x78010}, /* which has returned */
        {.event = 7, .addr = 0x78110}, /* its caller has not */
        {.event = 8, .addr = 0x78300}, /* of one that was not told */
    };
    assert_int_equal(dh_dht_look(r, looks, DH_ARRAY_LEN(looks)), 0);
    for (u32 i = 0; i < DH_ARRAY_LEN(looks); i++)
        assert_true(looks[i].found && looks[i].spot.kind == DH_DHT_STACK && looks[i].spot.owner == 1);
    assert_memory_equal(&looks[0].spot.frame, &frames[0], sizeof(frames[0]));
    assert_true(looks[1].spot.frame.pc == 0);
    assert_memory_equal(&looks[2].spot.frame, &frames[1], sizeof(frames[1]));
    assert_true(looks[3].spot.frame.pc == 0);
    dh_dht_look_done(looks, DH_ARRAY_LEN(looks));
    dh_dht_close(r);
    file_free(f);
}

/* A block is known until another one, or a mapping, takes its place. */
static void blocks_have_lives(void **unused)
{
    (void)unused;
    struct file *f = file_new(0);
    struct dh_dht_look looks[6];
    u32 n = 0;
    u64 number = 2;
    static const struct {
        u32 op;
        u64 addr, n;
        u64 start; /* of the block that 0x20040 is in afterwards; 0: none */
    } steps[] = {
        {DH_DHT_OP_BLOCK, 0x20000, 0x80, 0x20000},
        {DH_OP_RANGE_NEW, 0x20000, 0x80, 0x20000}, /* cleared, not replaced */
        {DH_DHT_OP_BLOCK, 0x20010, 0x10, 0},       /* begins between */
        {DH_DHT_OP_BLOCK, 0x20030, 0x10, 0x20030}, /* the byte past its end */
        {DH_DHT_OP_BLOCK, 0x20060, 0x10, 0x20030}, /* elsewhere */
        {DH_OP_RANGE_NEW, 0x20000, 0x1000, 0},
    };
    put(f, 0, DH_OP_BEGIN, 0, 0, 0, 0);
    put(f, 1, DH_OP_BEGIN, 0, 0, 0, 0);
    for (u32 i = 0; i < DH_ARRAY_LEN(steps); i++) {
        /* Each in a thread of its own kind of order: what is new gives an event out once its variables are known. */
        put(f, 0, steps[i].op, steps[i].addr, steps[i].n, 0x1002, 2);
        bool known = steps[i].addr <= 0x20040 && steps[i].addr + DH_ALIGN_UP(steps[i].n, 16) > 0x20040;
        number += i > 0 && known;
        put(f, 0, DH_OP_READ, 0x20040, 8, 0x5000, 1);
        looks[n++] = (struct dh_dht_look){.event = number++, .addr = 0x20040};
    }
    struct dh_dht *r = file_read(f);
    assert_int_equal(dh_dht_look(r, looks, n), 0);
    for (u32 i = 0; i < n; i++) {
        assert_true(looks[i].found);
        assert_int_equal(looks[i].spot.kind, steps[i].start ? DH_DHT_HEAP : DH_DHT_UNKNOWN);
        assert_int_equal(looks[i].spot.start, steps[i].start);
    }
    dh_dht_look_done(looks, n);
    dh_dht_close(r);
    file_free(f);
}

/* Without tables, as in a file whose recorder was killed early: the place alone. */
static void without_tables_there_is_the_place(void **unused)
{
    (void)unused;
    struct file *f = file_new(0);
    put(f, 0, DH_OP_BEGIN, 0, 0, 0, 0);
    put(f, 1, DH_OP_BEGIN, 0, 0, 0, 0);
    put(f, 0, DH_OP_READ, 0x8000, 8, 0x5000, 4);
    struct dh_dht *r = file_read(f);
    struct dh_dht_look look = {.event = 1, .addr = 0x8000};
    assert_int_equal(dh_dht_look(r, &look, 1), 0);
    assert_true(look.found && look.pc == 0x5000);
    stack_is(r, look.ctx, look.pc, false, (u64[]){0x5000}, 1);
    assert_int_equal(look.spot.kind, DH_DHT_UNKNOWN);
    dh_dht_look_done(&look, 1);
    dh_dht_close(r);
    file_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_come_back),
        cmocka_unit_test(far_calls_come_back),
        cmocka_unit_test(bad_tables_are_refused),
        cmocka_unit_test(an_access_is_found_again),
        cmocka_unit_test(an_access_without_a_number_is_found),
        cmocka_unit_test(an_access_before_a_move_is_found),
        cmocka_unit_test(memory_is_told_apart),
        cmocka_unit_test(activations_return),
        cmocka_unit_test(blocks_have_lives),
        cmocka_unit_test(without_tables_there_is_the_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
