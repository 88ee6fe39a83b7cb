/*
 * fuzz_dht.c - any bytes as a recording. The first byte chooses: 0, the rest is the file as it is; else the rest is chunks
 * whose heads and contents are the fuzzer's, while lengths and checksums are put right, so that it gets behind them.
 *
 * A chunk is: type, thread, number, first ticket (255: none), events (2 bytes), length (2 bytes), how many bytes at the end of
 * the contents are contexts, contents. The file is read, and then looked at again for the stacks of some of its accesses.
 * What is read must be in order: threads and locks numbered densely, no lock taken from another thread.
 * Memory is malloc's here, so that the sanitizer sees the ends of all arrays; it is little, so that running out of it
 * is tried too.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/pool.h"
#include "event/dht_code.h"
#include "event/dht_look.h"
#include "event/dht_stacks.h"
#include "event/dht_write.h"

enum { EVENTS = 1 << 16, VARIABLES = 1 << 14, MEMORY = 1 << 21, HEAD = 9, LOOKS = 8 };

static size_t in_use;

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

void *dh_pool_alloc(size_t n)
{
    void *p = n <= MEMORY - in_use ? calloc(1, n) : NULL;
    in_use += p ? n : 0;
    return p;
}

void dh_pool_free(void *p, size_t n)
{
    in_use -= p ? n : 0;
    free(p);
}

static void write_chunks(int fd, const u8 *data, size_t size)
{
    struct dh_dht_writer w;
    if (dh_dht_write_begin(&w, fd, size && data[0] & 1 ? DH_DHT_NAMED : 0, 1) == 0 && size) {
        for (data++, size--; size >= HEAD;) {
            size_t len = data[6] | (size_t)data[7] << 8, calls = data[8];
            struct dh_dht_chunk head = {.type = data[0],
                                        .thread = data[1] == 255 ? DH_DHT_NOBODY : data[1],
                                        .number = data[2],
                                        .first = data[3] == 255 ? DH_DHT_NO_TICKET : data[3],
                                        .events = data[4] | (u32)data[5] << 8};
            data += HEAD;
            size -= HEAD;
            len = len < size ? len : size;
            calls = !dh_dht_has_calls(head.type) ? 0 : calls < len ? calls : len;
            dh_dht_write_events(&w, &head, data, len - calls, data + len - calls, calls);
            data += len;
            size -= len;
        }
    }
    dh_dht_write_done(&w);
}

/* The first accesses by number, and as many by what they are; what is found has a stack, and a place. */
static void look_again(int fd, const struct dh_event *first, long n)
{
    struct dh_dht_look looks[2 * LOOKS] = {0};
    struct dh_dht *r = NULL;
    u32 used = 0;
    if (dh_dht_open(&r, fd) == 0) {
        dh_dht_limit(r, VARIABLES);
        for (long i = 0; i < n && used < DH_ARRAY_LEN(looks); i++) {
            if (!dh_event_is_access(&first[i]))
                continue;
            looks[used++] = (struct dh_dht_look){.event = (u64)i, .addr = 0x1000};
            looks[used++] = (struct dh_dht_look){.event = DH_DHT_NO_EVENT,
                                                 .before = (u64)n,
                                                 .at_pc = 0x1010,
                                                 .thread = first[i].thread,
                                                 .cell = first[i].target,
                                                 .write = first[i].op == DH_OP_WRITE,
                                                 .addr = 0x10004};
        }
        int rc = dh_dht_look(r, looks, used);
        if (rc < 0 && rc != -ENOMEM && !dh_dht_error(r)[0])
            abort();
        for (u32 i = 0; i < used; i++) {
            u64 pcs[4];
            bool folded;
            if (looks[i].found && dh_dht_stack(r, looks[i].ctx, looks[i].pc, pcs, 4, &folded) > 4)
                abort();
            for (u32 k = 0; k < looks[i].n_held; k++)
                dh_dht_stack(r, looks[i].held[k].ctx, looks[i].held[k].pc, pcs, 4, &folded);
        }
        dh_dht_look_done(looks, used);
    }
    dh_dht_close(r);
}

static void read_all(int fd)
{
    static struct dh_event events[512];
    struct dh_dht *r = NULL;
    struct dh_dht_stats stats;
    char buf[64];
    u64 total = 0;
    long n = dh_dht_open(&r, fd), begun = 0;
    static struct dh_event begin[64];
    if (n == 0) {
        dh_dht_limit(r, VARIABLES);
        while (total < EVENTS && (n = dh_dht_read(r, events, DH_ARRAY_LEN(events))) > 0) {
            dh_dht_stats(r, &stats);
            for (long i = 0; i < n; i++)
                if (events[i].op == DH_OP_SKIP || events[i].op >= DH_OP_COUNT ||
                    events[i].thread > stats.threads)
                    abort();
            for (long i = 0; i < n && begun < (long)DH_ARRAY_LEN(begin); i++)
                begin[begun++] = events[i];
            total += (u64)n;
        }
        for (u32 i = 0; i < 3; i++) {
            struct dh_dht_place place;
            dh_dht_thread_name(r, i, buf, sizeof(buf));
            dh_dht_lock_name(r, i, buf, sizeof(buf));
            dh_dht_variable_name(r, i, buf, sizeof(buf));
            dh_dht_place(r, i, &place);
        }
    }
    if (n < 0 && r && !dh_dht_error(r)[0])
        abort();
    dh_dht_close(r);
    look_again(fd, begin, begun);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
    int fd = memfd_create("fuzz", 0);
    if (fd < 0 || size == 0)
        return 0;
    if (data[0] != 0)
        write_chunks(fd, data + 1, size - 1);
    else if (write(fd, data + 1, size - 1) < 0)
        abort();
    read_all(fd);
    close(fd);
    if (in_use)
        abort();
    return 0;
}
