/*
 * test_dht.c - the binary trace format: what is encoded is decoded, files give their events in order, damaged and cut files
 * are refused or give a beginning, and variables are cut exactly where accesses begin and end.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>

#include "dht_file.h"
#include "event/dht_cells.h"
#include "event/dht_columns.h"
#include "event/objects.h"

static u64 state;

static u32 pick(u32 n)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (u32)(state >> 33) % n;
}

/* ---- Code ---- */

static struct dh_dht_event random_event(u64 *ticket)
{
    static const u8 ops[] = {DH_OP_READ,      DH_OP_WRITE,      DH_OP_READ,      DH_OP_WRITE,
                             DH_OP_ACQUIRE,   DH_OP_RELEASE,    DH_OP_VOLATILE,  DH_OP_ATOMIC_RMW,
                             DH_OP_RANGE_NEW, DH_OP_RANGE_MOVE, DH_DHT_OP_READS, DH_DHT_OP_FORGET,
                             DH_OP_FORK,      DH_OP_BRANCH};
    struct dh_dht_event e = {.op = ops[pick(sizeof(ops))]};
    u32 operands = dh_dht_operands(e.op);
    e.pc = pick(8) ? 0x401000 + pick(20) * 3 : ((u64)pick(1u << 31) << 32 | pick(1u << 31));
    e.size = 1u << pick(5);
    e.mode = (u8)pick(4);
    e.addr = pick(4) ? 0x7f0000000000u + pick(64) * 8 : pick(20) ? pick(1u << 30) : (u64)pick(1u << 31) << 33;
    if (operands & DH_DHT_HAS_TICKET)
        e.ticket = *ticket += 1 + pick(300);
    if (operands & DH_DHT_HAS_BYTES)
        e.bytes = pick(3) ? 64 : pick(1u << 30);
    if (operands & DH_DHT_HAS_SOURCE)
        e.source = e.addr + pick(1u << 20);
    return e;
}

static void same_event(const struct dh_dht_event *a, const struct dh_dht_event *b)
{
    assert_int_equal(a->op, b->op);
    assert_int_equal(a->mode, b->mode);
    assert_int_equal(a->size, b->size);
    assert_true(a->pc == b->pc && a->addr == b->addr);
    u32 operands = dh_dht_operands(a->op);
    if (operands & DH_DHT_HAS_TICKET)
        assert_true(a->ticket == b->ticket);
    if (operands & DH_DHT_HAS_BYTES)
        assert_true(a->bytes == b->bytes);
    if (operands & DH_DHT_HAS_SOURCE)
        assert_true(a->source == b->source);
}

static void decodes_what_was_encoded(void **unused)
{
    (void)unused;
    enum { N = 3000 };
    struct dh_dht_encoder *c = malloc(sizeof(*c));
    struct dh_dht_decoder *d = malloc(sizeof(*d));
    struct dh_dht_event *events = malloc(N * sizeof(*events)), e;
    u8 *buf = malloc(DH_DHT_CHUNK_BYTES);
    for (u32 round = 0; round < 50; round++) {
        u64 ticket = 0;
        u32 n = 0;
        state = round + 1;
        dh_dht_encode_begin(c, buf, DH_DHT_CHUNK_BYTES);
        for (; n < N && dh_dht_encode_fits(c); n++) {
            /* Loops, so that there are runs. */
            events[n] = n > 100 && pick(3) ? events[n - 4] : random_event(&ticket);
            if (dh_dht_operands(events[n].op) & DH_DHT_HAS_TICKET)
                events[n].ticket = ++ticket;
            else
                events[n].addr += 8;
            u32 operands = dh_dht_operands(events[n].op);
            if (operands)
                dh_dht_encode_slow(c, &events[n], operands);
            else
                dh_dht_encode_access(c, events[n].addr, events[n].size, events[n].op, events[n].mode,
                                     events[n].pc, events[n].ctx);
        }
        dh_dht_encode_flush(c);
        assert_true(c->at <= c->end && c->events == n);
        dh_dht_decode_begin(d, buf, (size_t)(c->at - buf), n);
        for (u32 i = 0; i < n; i++) {
            assert_int_equal(dh_dht_decode_next(d, &e), 1);
            same_event(&events[i], &e);
        }
        assert_int_equal(dh_dht_decode_next(d, &e), 0);
    }
    free(buf);
    free(events);
    free(d);
    free(c);
}

static void a_walk_costs_next_to_nothing(void **unused)
{
    (void)unused;
    struct dh_dht_encoder *c = malloc(sizeof(*c));
    u8 *buf = malloc(DH_DHT_CHUNK_BYTES);
    dh_dht_encode_begin(c, buf, DH_DHT_CHUNK_BYTES);
    for (u64 i = 0; i < 100000; i++) {
        dh_dht_encode_access(c, 0x10000 + i * 8, 8, DH_OP_READ, 0, 0x1000, 0);
        dh_dht_encode_access(c, 0x90000 + i * 4, 4, DH_OP_WRITE, 0, 0x1010, 0);
    }
    dh_dht_encode_flush(c);
    assert_true(c->at - buf < 100);
    /* The fields of objects at random places: only the first of each has to be told. */
    dh_dht_encode_begin(c, buf, DH_DHT_CHUNK_BYTES);
    for (u32 i = 0; i < 1000; i++) {
        u64 object = 0x100000 + pick(1000) * 64;
        for (u32 field = 0; field < 4; field++)
            dh_dht_encode_access(c, object + field * 16, 8, DH_OP_READ, 0, 0x1000 + field, 0);
    }
    dh_dht_encode_flush(c);
    assert_true(c->at - buf < 1000 * 5);
    free(buf);
    free(c);
}

static void places_are_kept_once(void **unused)
{
    (void)unused;
    struct dh_dht_encoder *c = calloc(1, sizeof(*c));
    struct dh_dht_places *places = calloc(1, sizeof(*places));
    u8 *buf = malloc(DH_DHT_CHUNK_BYTES);
    u32 kept = 0;
    c->places = places;
    for (u32 round = 0; round < 2; round++) {
        dh_dht_encode_begin(c, buf, DH_DHT_CHUNK_BYTES);
        for (u64 pc = 1; pc <= 100; pc++)
            dh_dht_encode_access(c, 0x1000, 8, DH_OP_READ, 0, pc * 0x10, 0);
    }
    for (u32 i = 0; i < DH_DHT_PLACES; i++)
        kept += places->pcs[i] != 0;
    assert_int_equal(kept, 100);
    assert_int_equal(places->lost, 0);
    for (u64 pc = 1; pc < DH_DHT_PLACES + 100; pc++) { /* more than there is room for */
        dh_dht_encode_begin(c, buf, DH_DHT_CHUNK_BYTES);
        dh_dht_encode_access(c, 0x1000, 8, DH_OP_READ, 0, pc, 0);
    }
    assert_int_equal(places->lost, 1);
    free(buf);
    free(places);
    free(c);
}

/* ---- Files ---- */

static void put(struct file *f, u32 thread, u8 op, u64 addr, u32 size_or_bytes)
{
    bool bytes = (dh_dht_operands(op) & DH_DHT_HAS_BYTES) != 0;
    file_put(f, thread,
             (struct dh_dht_event){.pc = 0x1000 + op,
                                   .addr = addr,
                                   .ctx = thread + 1,
                                   .op = op,
                                   .size = bytes ? 0 : size_or_bytes,
                                   .bytes = bytes ? size_or_bytes : 0});
}

/* All events of a file, up to 1000; a negative code. */
static long read_all(int fd, struct dh_event *events, struct dh_dht **ret)
{
    long n = 0, got;
    int rc = dh_dht_open(ret, fd);
    if (rc)
        return rc;
    while ((got = dh_dht_read(*ret, events + n, 1000 - (size_t)n)) > 0)
        n += got;
    return got < 0 ? got : n;
}

static struct file *two_threads(void)
{
    struct file *f = file_new(0);
    put(f, 0, DH_OP_BEGIN, 0, 0);
    put(f, 0, DH_OP_WRITE, 0x1000, 4);
    put(f, 0, DH_OP_FORK, 1, 0);
    put(f, 1, DH_OP_BEGIN, 0, 0);
    put(f, 1, DH_OP_ACQUIRE, 0x2000, 0);
    put(f, 1, DH_OP_WRITE, 0x1000, 4);
    put(f, 1, DH_OP_RELEASE, 0x2000, 0);
    put(f, 0, DH_OP_ACQUIRE, 0x2000, 0);
    put(f, 0, DH_OP_READ, 0x1000, 4);
    put(f, 0, DH_OP_RELEASE, 0x2000, 0);
    put(f, 1, DH_OP_END, 0, 0);
    put(f, 0, DH_OP_JOIN, 1, 0);
    return f;
}

static void threads_are_merged_by_tickets(void **unused)
{
    (void)unused;
    static const u8 ops[] = {DH_OP_BEGIN,   DH_OP_WRITE,   DH_OP_FORK,    DH_OP_BEGIN,
                             DH_OP_ACQUIRE, DH_OP_WRITE,   DH_OP_RELEASE, DH_OP_ACQUIRE,
                             DH_OP_READ,    DH_OP_RELEASE, DH_OP_END,     DH_OP_JOIN};
    static const u8 threads[] = {0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0};
    struct dh_event events[1000];
    struct file *f = two_threads();
    struct dh_dht *r;
    struct dh_dht_stats stats;
    char buf[64];
    file_chunk(f, 0, DH_DHT_SO_FAR); /* its place is taken by the next */
    file_chunk(f, 1, DH_DHT_EVENTS);
    file_chunk(f, 0, DH_DHT_EVENTS);
    assert_int_equal(dh_dht_write_end(&f->w), 0);
    assert_int_equal(read_all(f->fd, events, &r), (long)sizeof(ops));
    for (u32 i = 0; i < sizeof(ops); i++) {
        assert_int_equal(events[i].op, ops[i]);
        assert_int_equal(events[i].thread, threads[i]);
    }
    dh_dht_stats(r, &stats);
    assert_true(stats.complete);
    assert_int_equal(stats.variables, 2); /* both halves of the word */
    assert_string_equal(dh_dht_variable_name(r, 0, buf, sizeof(buf)), "0x1000/4");
    dh_dht_close(r);
    file_free(f);
}

/* Without the end: all that the chunks have. With the first thread's chunk only: up to what is missing. */
static void a_killed_recorder_leaves_a_beginning(void **unused)
{
    (void)unused;
    struct dh_event events[1000];
    struct dh_dht_stats stats;
    struct dh_dht *r;
    struct file *f = two_threads();
    file_chunk(f, 0, DH_DHT_EVENTS);
    assert_int_equal(read_all(f->fd, events, &r),
                     3); /* BEGIN, WRITE, FORK; then thread 1's ticket is missing */
    dh_dht_stats(r, &stats);
    assert_false(stats.complete);
    assert_true(stats.cut == 2);
    dh_dht_close(r);
    file_chunk(f, 1, DH_DHT_EVENTS);
    assert_int_equal(read_all(f->fd, events, &r), 12);
    dh_dht_close(r);
    file_free(f);
}

static void every_cut_and_every_flip_is_survived(void **unused)
{
    (void)unused;
    struct dh_event events[1000];
    struct file *f = two_threads();
    struct dh_dht *r;
    file_chunk(f, 0, DH_DHT_EVENTS);
    file_chunk(f, 1, DH_DHT_EVENTS);
    dh_dht_write_end(&f->w);
    size_t size = (size_t)f->w.bytes;
    u8 *whole = malloc(size);
    assert_int_equal(pread(f->fd, whole, size, 0), (long)size);
    for (size_t i = 0; i < size; i++) {
        u8 bent = whole[i] ^ 0x41;
        assert_int_equal(pwrite(f->fd, &bent, 1, (off_t)i), 1);
        assert_true(read_all(f->fd, events, &r) < 0 || i >= sizeof(struct dh_dht_header));
        dh_dht_close(r);
        assert_int_equal(pwrite(f->fd, &whole[i], 1, (off_t)i), 1);
    }
    for (size_t n = size; n-- > 0;) {
        assert_int_equal(ftruncate(f->fd, (off_t)n), 0);
        long got = read_all(f->fd, events, &r);
        assert_true(n < sizeof(struct dh_dht_header) ? got == -EBADMSG : got >= 0 && got <= 12);
        if (got < 0)
            assert_true(strncmp(dh_dht_error(r), "offset ", 7) == 0);
        dh_dht_close(r);
    }
    free(whole);
    file_free(f);
}

/* A newer file is refused with a sentence; one that says it is older must look like one. */
static void versions_are_told_apart(void **unused)
{
    (void)unused;
    static const struct {
        u32 version;
        const char *why; /* NULL: it is read */
    } cases[] = {
        {DH_DHT_VERSION, NULL},
        {DH_DHT_VERSION + 1, "offset 8: the recording is of a newer version of deadheat"},
        {DH_DHT_DRAFT,
         "offset 8: the recording is of version 3, which was a draft; record the program again"},
        {DH_DHT_DRAFT - 1, "offset 32: no chunk begins here"},
        {0, "offset 8: the recording is of a version of deadheat that never was"},
    };
    struct file *f = two_threads();
    file_chunk(f, 0, DH_DHT_EVENTS);
    file_chunk(f, 1, DH_DHT_EVENTS);
    dh_dht_write_end(&f->w);
    for (u32 i = 0; i < DH_ARRAY_LEN(cases); i++) {
        struct dh_event events[1000];
        struct dh_dht_header h;
        struct dh_dht *r;
        assert_int_equal(pread(f->fd, &h, sizeof(h), 0), (long)sizeof(h));
        h.version = cases[i].version;
        h.check = XXH64(&h, offsetof(struct dh_dht_header, check), 0);
        assert_int_equal(pwrite(f->fd, &h, sizeof(h), 0), (long)sizeof(h));
        assert_int_equal(read_all(f->fd, events, &r), cases[i].why ? -EBADMSG : 12);
        if (cases[i].why)
            assert_non_null(strstr(dh_dht_error(r), cases[i].why));
        dh_dht_close(r);
    }
    file_free(f);
}

/* Up to version 2 heads have a fixed length and chunks have no contexts. */
static void an_old_chunk_has_no_contexts(void **unused)
{
    (void)unused;
    for (u64 calls = 0; calls < 2; calls++) {
        struct dh_event events[1000];
        struct dh_dht_header h = {.version = DH_DHT_DRAFT - 1};
        struct dh_dht_chunk head = {.magic = DH_DHT_CHUNK_MAGIC,
                                    .type = DH_DHT_EVENTS,
                                    .raw_len = 1,
                                    .packed_len = 1,
                                    .first = DH_DHT_NO_TICKET,
                                    .events = 1 | calls << DH_DHT_CALLS_SHIFT};
        struct dh_dht *r;
        struct file *f = file_new(0);
        memcpy(h.magic, DH_DHT_MAGIC, sizeof(h.magic));
        h.check = XXH64(&h, offsetof(struct dh_dht_header, check), 0);
        assert_int_equal(pwrite(f->fd, &h, sizeof(h), 0), (long)sizeof(h));
        assert_int_equal(pwrite(f->fd, &head, sizeof(head), sizeof(h)), (long)sizeof(head));
        assert_int_equal(pwrite(f->fd, "\0", 2, sizeof(h) + sizeof(head)), 2);
        assert_int_equal(read_all(f->fd, events, &r), -EBADMSG);
        assert_non_null(
            strstr(dh_dht_error(r), calls ? "offset 32: the contexts of the chunk have an impossible"
                                          : "offset 32: the checksum of the chunk is wrong"));
        dh_dht_close(r);
        file_free(f);
    }
}

static void what_no_program_does_is_refused(void **unused)
{
    (void)unused;
    static const u8 ends[] = {DH_OP_RELEASE, DH_OP_JOIN, DH_OP_FORK};
    for (u32 i = 0; i < DH_ARRAY_LEN(ends); i++) {
        struct dh_event events[1000];
        struct dh_dht *r;
        struct file *f = file_new(0);
        put(f, 0, DH_OP_BEGIN, 0, 0);
        put(f, 0, ends[i], ends[i] == DH_OP_RELEASE ? 0x2000 : 0, 0); /* not held; itself; itself */
        file_chunk(f, 0, DH_DHT_EVENTS);
        dh_dht_write_end(&f->w);
        assert_int_equal(read_all(f->fd, events, &r), -EBADMSG);
        assert_non_null(strstr(dh_dht_error(r), "offset 32: "));
        dh_dht_close(r);
        file_free(f);
    }
}

/* A chunk that says that it cuts no variable is believed only if it does not. */
static void whole_words_are_read_once(void **unused)
{
    (void)unused;
    for (u32 lie = 0; lie < 2; lie++) {
        struct dh_event events[1000];
        struct dh_dht *r;
        struct file *f = file_new(0);
        put(f, 0, DH_OP_BEGIN, 0, 0);
        put(f, 0, DH_OP_WRITE, 0x1000, 8);
        put(f, 0, DH_DHT_OP_READS, 0x1008, 16);
        assert_int_equal(dh_dht_encode_type(&f->code[0]), DH_DHT_WORDS);
        if (lie) {
            put(f, 0, DH_OP_WRITE, 0x1004, 4);
            assert_int_equal(dh_dht_encode_type(&f->code[0]), DH_DHT_EVENTS);
        }
        file_chunk(f, 0, DH_DHT_WORDS);
        dh_dht_write_end(&f->w);
        assert_int_equal(read_all(f->fd, events, &r), lie ? -EBADMSG : 4);
        dh_dht_close(r);
        file_free(f);
    }
}

/* ---- Columns ---- */

static const char three_names[] = "t 0 main\nt 1 a\nl 0 m\nv 0 x\nv 1 y\n";

/* A file made from text, of these events. */
static int named_file(const struct dh_event *events, u32 n, const char *names)
{
    static struct dh_columns_out out;
    static u8 raw[DH_DHT_ORDERED_BYTES];
    struct dh_dht_writer w;
    int fd = memfd_create("trace", 0);
    assert_true(fd >= 0);
    assert_int_equal(dh_dht_write_begin(&w, fd, DH_DHT_NAMED, 0), 0);
    struct dh_dht_chunk head = {.type = DH_DHT_ORDERED, .first = DH_DHT_NO_TICKET, .events = n};
    for (u32 i = 0; i < n; i++)
        assert_true(dh_columns_put(&out, &events[i]));
    assert_int_equal(dh_dht_write_chunk(&w, &head, raw, dh_columns_end(&out, raw)), 0);
    head = (struct dh_dht_chunk){.type = DH_DHT_NAMES, .first = DH_DHT_NO_TICKET};
    assert_int_equal(dh_dht_write_chunk(&w, &head, names, strlen(names)), 0);
    assert_int_equal(dh_dht_write_end(&w), 0);
    dh_dht_write_done(&w);
    return fd;
}

static const struct dh_event ordered[] = {
    {.op = DH_OP_WRITE, .thread = 0, .target = 1, .site = 70000},
    {.op = DH_OP_FORK, .thread = 0, .target = 1, .site = UINT32_MAX},
    {.op = DH_OP_ACQUIRE, .mode = DH_SHARED, .thread = 1, .target = 0, .site = 3},
    {.op = DH_OP_READ, .thread = 1, .target = 1, .site = 4},
    {.op = DH_OP_RELEASE, .mode = DH_SHARED, .thread = 1, .target = 0, .site = 5},
    {.op = DH_OP_BRANCH, .thread = 0, .site = 6},
};

static void a_text_is_read_as_it_was(void **unused)
{
    (void)unused;
    struct dh_event events[1000];
    struct dh_dht_stats stats;
    struct dh_dht *r;
    char buf[64];
    int fd = named_file(ordered, DH_ARRAY_LEN(ordered), three_names);
    assert_int_equal(read_all(fd, events, &r), DH_ARRAY_LEN(ordered));
    assert_memory_equal(events, ordered, sizeof(ordered));
    dh_dht_stats(r, &stats);
    assert_true(stats.complete && stats.threads == 2 && stats.locks == 1 && stats.variables == 2);
    assert_string_equal(dh_dht_variable_name(r, 1, buf, sizeof(buf)), "y");
    dh_dht_close(r);
    close(fd);
}

static void what_has_no_name_is_refused(void **unused)
{
    (void)unused;
    static const struct dh_event bad[] = {
        {.op = DH_OP_READ, .target = 2},      {.op = DH_OP_READ, .thread = 2},
        {.op = DH_OP_ACQUIRE, .target = 1},   {.op = DH_OP_FORK, .target = 7},
        {.op = DH_OP_RANGE_NEW, .target = 0}, {.op = DH_OP_RELEASE, .target = 0},
    };
    for (u32 i = 0; i < DH_ARRAY_LEN(bad); i++) {
        struct dh_event events[1000];
        struct dh_dht *r;
        int fd = named_file(&bad[i], 1, three_names);
        assert_int_equal(read_all(fd, events, &r), -EBADMSG);
        assert_non_null(strstr(dh_dht_error(r), "offset 32: "));
        dh_dht_close(r);
        close(fd);
    }
}

static void memory_and_locks_have_lives(void **unused)
{
    (void)unused;
    struct dh_event events[1000];
    struct dh_dht *r;
    struct file *f = file_new(0);
    put(f, 0, DH_OP_BEGIN, 0, 0);
    put(f, 0, DH_OP_WRITE, 0x1000, 8);
    put(f, 0, DH_OP_WRITE, 0x1008, 4);
    put(f, 0, DH_OP_ACQUIRE, 0x1010, 0);
    put(f, 0, DH_OP_RELEASE, 0x1010, 0);
    put(f, 0, DH_DHT_OP_FORGET, 0x1000, 32);
    put(f, 0, DH_OP_RANGE_NEW, 0x1000, 32);
    put(f, 0, DH_OP_ACQUIRE, 0x1010, 0); /* another lock */
    put(f, 0, DH_DHT_OP_READS, 0x0ffc, 16);
    file_chunk(f, 0, DH_DHT_EVENTS);
    dh_dht_write_end(&f->w);
    long n = read_all(f->fd, events, &r);
    assert_int_equal(n, 10);
    assert_int_equal(events[5].op, DH_OP_RANGE_NEW);
    assert_int_equal(events[5].size, 3); /* 0x1000/8, 0x1008/4 and the word half, cut and not accessed */
    assert_int_equal(events[3].target, 0);
    assert_int_equal(events[6].target, 1);
    for (long i = 7; i < n; i++)
        assert_int_equal(events[i].op, DH_OP_READ);
    assert_int_equal(events[8].target, events[1].target);
    assert_int_equal(events[9].target, events[2].target);
    dh_dht_close(r);
    file_free(f);
}

/* ---- Cells, objects ---- */

static void cells_are_cut_where_accesses_end(void **unused)
{
    (void)unused;
    struct dh_cells c = {0};
    u32 size;
    assert_true(dh_cells_cut(&c, 0x1000, 8) && dh_cells_cut(&c, 0x1008, 4) && dh_cells_cut(&c, 0x1013, 1));
    u32 whole = dh_cells_at(&c, 0x1000, &size);
    assert_int_equal(size, 8);
    assert_int_equal(dh_cells_at(&c, 0x1008, &size), whole + 1);
    assert_int_equal(size, 4);
    assert_int_equal(dh_cells_at(&c, 0x100c, &size), whole + 2);
    assert_int_equal(size, 4);
    assert_int_equal(dh_cells_at(&c, 0x1010, &size), whole + 3);
    assert_int_equal(size, 3);
    assert_int_equal(dh_cells_at(&c, 0x1013, &size), whole + 4);
    assert_int_equal(size, 1);
    assert_int_equal(dh_cells_at(&c, 0x1014, &size), whole + 5);
    assert_int_equal(size, 4);
    assert_int_equal(dh_cells_at(&c, 0x1000, &size), whole);
    dh_cells_done(&c);
}

/* A range that moves over itself, either way, needs the same cuts all along; one call finds them all. */
static void overlapping_moves_settle_at_once(void **unused)
{
    (void)unused;
    enum { N = 1 << 20 };
    for (int way = 0; way < 2; way++)
        for (u64 cut = 0; cut < 2; cut++) {
            struct dh_cells c = {0};
            u64 low = 0x100ff8, high = low + 8, at = cut ? low + N : low;
            u64 to = way ? low : high, from = way ? high : low;
            u32 size;
            assert_true(dh_cells_cut(&c, at + 2, 1));
            assert_int_equal(dh_cells_same_cuts(&c, to, from, N), 1);
            assert_int_equal(dh_cells_same_cuts(&c, to, from, N), 0);
            assert_true(dh_cells_at(&c, low + N / 2 + 2, &size) != UINT32_MAX);
            assert_int_equal(size, 1);
            dh_cells_done(&c);
        }
}

/* Nothing known of a gigabyte: nothing to look at, and no page made for it. */
static void empty_moves_make_no_pages(void **unused)
{
    (void)unused;
    struct dh_cells c = {0};
    assert_true(dh_cells_cut(&c, 0x40001002, 1));
    assert_int_equal(dh_cells_same_cuts(&c, 0x80000000, 0x40000000, 1 << 30), 1);
    assert_int_equal(c.pages.n, 2);
    assert_int_equal(dh_cells_same_cuts(&c, 0x200000000, 0x100000000, 1 << 30), 0);
    assert_int_equal(c.pages.n, 2);
    dh_cells_done(&c);
}

static void objects_are_forgotten_by_range(void **unused)
{
    (void)unused;
    struct dh_objects o = {0};
    for (u32 i = 0; i < 1000; i++)
        assert_int_equal(dh_objects_at(&o, 0x1000 + i * 24), i);
    dh_objects_forget(&o, 0x1000 + 10 * 24, 5 * 24);
    assert_int_equal(dh_objects_at(&o, 0x1000 + 9 * 24), 9);
    assert_int_equal(dh_objects_at(&o, 0x1000 + 15 * 24), 15);
    assert_int_equal(dh_objects_at(&o, 0x1000 + 10 * 24), 1000);
    dh_objects_forget(&o, 0, UINT64_MAX);
    assert_int_equal(o.live, 0);
    dh_objects_done(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decodes_what_was_encoded),
        cmocka_unit_test(a_walk_costs_next_to_nothing),
        cmocka_unit_test(places_are_kept_once),
        cmocka_unit_test(threads_are_merged_by_tickets),
        cmocka_unit_test(a_killed_recorder_leaves_a_beginning),
        cmocka_unit_test(every_cut_and_every_flip_is_survived),
        cmocka_unit_test(versions_are_told_apart),
        cmocka_unit_test(an_old_chunk_has_no_contexts),
        cmocka_unit_test(what_no_program_does_is_refused),
        cmocka_unit_test(whole_words_are_read_once),
        cmocka_unit_test(a_text_is_read_as_it_was),
        cmocka_unit_test(what_has_no_name_is_refused),
        cmocka_unit_test(memory_and_locks_have_lives),
        cmocka_unit_test(cells_are_cut_where_accesses_end),
        cmocka_unit_test(overlapping_moves_settle_at_once),
        cmocka_unit_test(empty_moves_make_no_pages),
        cmocka_unit_test(objects_are_forgotten_by_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
