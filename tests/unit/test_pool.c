/*
 * test_pool.c - src/base/pool.c.
 */
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/pool.h"
#include "unit/check.h"

static bool all_zero(const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i])
            return false;
    return true;
}

/* Every size comes zeroed, also when it comes back from a free list, and no two live blocks overlap. */
static void sizes(void **state)
{
    (void)state;
    static const size_t size[] = {0, 1, 15, 16, 17, 100, 4095, 4096, 32767, 32768, 32769, 1 << 20};
    enum { N = DH_ARRAY_LEN(size) };
    char *p[N];
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < N; i++) {
            p[i] = dh_pool_alloc(size[i]);
            assert_non_null(p[i]);
            assert_int_equal((uintptr_t)p[i] % 16, 0);
            assert_true(all_zero(p[i], size[i]));
            memset(p[i], 'a' + i, size[i]);
        }
        for (int i = 0; i < N; i++) {
            for (size_t k = 0; k < size[i]; k++)
                assert_true(p[i][k] == 'a' + i);
            dh_pool_free(p[i], size[i]);
        }
    }
    dh_pool_free(NULL, 100);
}

/* Freed blocks are used again; large ones go back to the kernel. */
static void reuse(void **state)
{
    (void)state;
    void *p = dh_pool_alloc(1000);
    dh_pool_free(p, 1000);
    assert_ptr_equal(dh_pool_alloc(600), p); /* same power of two */
    size_t before = dh_pool_bytes();
    for (int i = 0; i < 100000; i++)
        dh_pool_free(dh_pool_alloc(64), 64);
    assert_int_equal(dh_pool_bytes(), before);
    p = dh_pool_alloc(10 << 20);
    assert_int_equal(dh_pool_bytes(), before + (10 << 20));
    dh_pool_free(p, 10 << 20);
    assert_int_equal(dh_pool_bytes(), before);
}

/* No memory: NULL, and what is in the free lists can still be had. */
static void exhaustion(void **state)
{
    (void)state;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        void *kept = dh_pool_alloc(256);
        dh_pool_free(kept, 256);
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_AS, &none);
        for (int i = 0; i < 16; i++) /* what is left of a slab */
            dh_pool_alloc(32768);
        bool ok =
            dh_pool_alloc(1 << 20) == NULL && dh_pool_alloc(32768) == NULL && dh_pool_alloc(256) == kept;
        _exit(ok ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void *churn(void *arg)
{
    char tag = (char)(uintptr_t)arg;
    for (int i = 0; i < 20000; i++) {
        size_t n = 16u << (i % 6);
        char *p = dh_pool_alloc(n);
        if (!p || !all_zero(p, n))
            return (void *)1;
        memset(p, tag, n);
        if (p[0] != tag || p[n - 1] != tag)
            return (void *)1;
        dh_pool_free(p, n);
    }
    return NULL;
}

static void threads(void **state)
{
    (void)state;
    pthread_t t[4];
    void *bad;
    for (uintptr_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&t[i], NULL, churn, (void *)(i + 1)), 0);
    for (int i = 0; i < 4; i++) {
        pthread_join(t[i], &bad);
        assert_null(bad);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes),
        cmocka_unit_test(reuse),
        cmocka_unit_test(exhaustion),
        cmocka_unit_test(threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
