/*
 * test_keep.c - src/runtime/report/keep.c.
 */
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/report/keep.h"
#include "unit/check.h"

/* The lowest number that is free now. */
static int lowest_free(void)
{
    int fd = open("/dev/null", O_RDONLY);
    assert_true(fd >= 0);
    close(fd);
    return fd;
}

static void out_of_the_way(void **state)
{
    (void)state;
    int before = lowest_free(), end[2];
    assert_int_equal(pipe(end), 0);
    int kept = dh_keep_fd(end[1]);
    close(end[0]);
    assert_true(kept > 15);
    assert_int_equal(lowest_free(), before); /* the program's numbers are as they were */
    assert_int_equal(fcntl(kept, F_GETFD), FD_CLOEXEC);
    assert_true(dh_keep_owns(kept));
    assert_true(dh_keep_intact(kept));
    assert_int_equal(dh_keep_lowest(0, ~0u), kept);
    assert_int_equal(dh_keep_lowest((unsigned)kept, (unsigned)kept), kept);
    assert_int_equal(dh_keep_lowest((unsigned)kept + 1, ~0u), -1);
    assert_int_equal(dh_keep_lowest(0, (unsigned)kept - 1), -1);
    dh_keep_close(kept);
    assert_false(dh_keep_owns(kept));
    assert_int_equal(fcntl(kept, F_GETFD), -1);
    dh_keep_close(kept); /* twice is harmless */
    assert_false(dh_keep_owns(-1));
    assert_false(dh_keep_owns(before));
}

static void two(void **state)
{
    (void)state;
    int a = dh_keep_fd(open("/dev/null", O_WRONLY)), b = dh_keep_fd(open("/dev/zero", O_RDONLY));
    assert_true(a != b && dh_keep_owns(a) && dh_keep_owns(b));
    assert_int_equal(dh_keep_lowest(0, ~0u), a < b ? a : b);
    dh_keep_close(a);
    assert_true(dh_keep_owns(b));
    dh_keep_close(b);
}

/* Closed behind our back and used for something else: that is the program's now. */
static void stolen(void **state)
{
    (void)state;
    int kept = dh_keep_fd(open("/dev/null", O_WRONLY)), other = open("/dev/zero", O_RDONLY);
    close(kept);
    assert_false(dh_keep_intact(kept));
    assert_int_equal(dup2(other, kept), kept);
    assert_false(dh_keep_intact(kept));
    assert_false(dh_keep_owns(kept));
    assert_int_equal(dh_keep_lowest(0, ~0u), -1);
    dh_keep_close(kept);
    assert_true(fcntl(kept, F_GETFD) >= 0); /* it was not closed */
    close(kept);
    close(other);
}

/* However few descriptors there may be, ours goes to the top of them. */
static void low_limit(void **state)
{
    (void)state;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct rlimit lim = {32, 32};
        int fd = open("/dev/null", O_RDONLY);
        bool ok =
            setrlimit(RLIMIT_NOFILE, &lim) == 0 && dh_keep_fd(fd) >= 28 && open("/dev/null", O_RDONLY) == fd;
        _exit(ok ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(out_of_the_way),
        cmocka_unit_test(two),
        cmocka_unit_test(stolen),
        cmocka_unit_test(low_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
