/*
 * test_dht_limits.c - small recordings that unpack to much: tables of nothing, pages of which one word was accessed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/pool.h"
#include "check.h"
#include "event/dht_cells.h"
#include "event/dht_read.h"
#include "event/dht_write.h"

static void tables(void **state)
{
    (void)state;
    struct dh_dht_writer w;
    struct dh_dht_chunk head = {.type = DH_DHT_MODULES, .first = DH_DHT_NO_TICKET};
    size_t len = DH_DHT_TABLE_BYTES / sizeof(struct dh_dht_module) * sizeof(struct dh_dht_module);
    char *nothing = calloc(1, len); /* modules of no length, without names */
    int fd = memfd_create("trace", 0);
    assert_int_equal(dh_dht_write_begin(&w, fd, 0, 1), 0);
    for (int i = 0; i < 20; i++)
        assert_int_equal(dh_dht_write_chunk(&w, &head, nothing, len), 0);
    assert_int_equal(dh_dht_write_end(&w), 0);
    assert_true(w.bytes < 100000);
    dh_dht_write_done(&w);
    free(nothing);
    struct dh_dht *r;
    assert_int_equal(dh_dht_open(&r, fd), -EBADMSG);
    assert_non_null(strstr(dh_dht_error(r), "larger than 256 MB"));
    dh_dht_close(r);
    close(fd);
}

/* One access in each page of the machine. */
static void sparse(void **state)
{
    (void)state;
    enum { PAGES = 100000 };
    struct dh_cells c = {0};
    size_t before = dh_pool_bytes();
    u32 size;
    for (u64 i = 0; i < PAGES; i++)
        assert_true(dh_cells_cut(&c, 0x10000000 + i * 4096, 1));
    for (u32 i = 0; i < PAGES; i++)
        assert_int_equal(dh_cells_at(&c, 0x10000000 + (u64)i * 4096, &size), 2 * i);
    assert_int_equal(size, 1);
    assert_true(dh_pool_bytes() - before < PAGES * 600ull);
    dh_cells_done(&c);
}

static void limited(void **state)
{
    (void)state;
    dh_pool_limit(dh_pool_bytes() + (1 << 20));
    assert_null(dh_pool_alloc(2 << 20));
    assert_null(dh_pool_alloc(SIZE_MAX - 8192));
    void *p = dh_pool_alloc(512 << 10);
    assert_non_null(p);
    dh_pool_limit(0);
    dh_pool_free(p, 512 << 10);
    p = dh_pool_alloc(2 << 20);
    assert_non_null(p);
    dh_pool_free(p, 2 << 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tables), cmocka_unit_test(sparse),
                                       cmocka_unit_test(limited)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
