/*
 * fuzz_dht.c - any bytes as a recording. The first byte chooses: 0, the rest is the file as it is; else the rest is chunks
 * whose heads and contents are the fuzzer's, while lengths and checksums are put right, so that it gets behind them.
 *
 * A chunk is: type, thread, number, first ticket (255: none), events (2 bytes), length (2 bytes), how many bytes at the end of
 * the contents are contexts, contents.
 * What is read must be in order: threads and locks numbered densely, no lock taken from another thread.
 * Memory is malloc's here, so that the sanitizer sees the ends of all arrays; it is little, so that running out of it
 * is tried too.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/pool.h"
#include "event/dht_code.h"
#include "event/dht_read.h"
#include "event/dht_stacks.h"
#include "event/dht_write.h"

enum { EVENTS = 1 << 16, VARIABLES = 1 << 14, MEMORY = 1 << 21, HEAD = 9 };

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

static void read_all(int fd)
{
    static struct dh_event events[512];
    struct dh_dht *r = NULL;
    struct dh_dht_stats stats;
    char buf[64];
    u64 total = 0;
    long n = dh_dht_open(&r, fd);
    if (n == 0) {
        dh_dht_limit(r, VARIABLES);
        while (total < EVENTS && (n = dh_dht_read(r, events, DH_ARRAY_LEN(events))) > 0) {
            dh_dht_stats(r, &stats);
            for (long i = 0; i < n; i++)
                if (events[i].op == DH_OP_SKIP || events[i].op >= DH_OP_COUNT ||
                    events[i].thread > stats.threads)
                    abort();
            total += (u64)n;
        }
        dh_dht_load_stacks(r);
        for (u32 i = 0; i < 3; i++) {
            struct dh_dht_place place;
            u64 pcs[4];
            bool folded;
            dh_dht_stack(r, i, 0x1000, pcs, DH_ARRAY_LEN(pcs), &folded);
            dh_dht_thread_name(r, i, buf, sizeof(buf));
            dh_dht_lock_name(r, i, buf, sizeof(buf));
            dh_dht_variable_name(r, i, buf, sizeof(buf));
            dh_dht_place(r, i, &place);
        }
    }
    if (n < 0 && r && !dh_dht_error(r)[0])
        abort();
    dh_dht_close(r);
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
