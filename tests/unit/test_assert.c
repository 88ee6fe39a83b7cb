/*
 * test_assert.c - DH_ASSERT of src/base/base.h. Compiled twice, with DH_CHECKED and without it.
 */
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "unit/check.h"

#ifdef DH_CHECKED
static const int asked_once = 1;
#else
static const int asked_once = 0;
#endif

static int asked;

static bool ask(bool answer)
{
    asked++;
    return answer;
}

static void condition_holds(void **state)
{
    (void)state;
    asked = 0;
    DH_ASSERT(ask(true));
    assert_int_equal(asked, asked_once);
}

/* In a process of its own, whose standard error is read; the program's handler must not be called. */
static int fails(char *ret_said, size_t cap)
{
    int p[2], status;
    assert_int_equal(pipe(p), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct rlimit no_core = {0, 0};
        setrlimit(RLIMIT_CORE, &no_core);
        signal(SIGABRT, SIG_IGN);
        dup2(p[1], 2);
        DH_ASSERT(ask(false));
        _exit(0);
    }
    close(p[1]);
    ssize_t n = read(p[0], ret_said, cap - 1);
    ret_said[n > 0 ? n : 0] = 0;
    close(p[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static void condition_does_not_hold(void **state)
{
    char said[1024];
    int status = fails(said, sizeof(said));
    (void)state;
    if (!asked_once) {
        assert_int_equal(status, 0);
        assert_string_equal(said, "");
        return;
    }
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
    assert_non_null(strstr(said, "deadheat: assertion failed at "));
    assert_non_null(strstr(said, "test_assert.c:"));
    assert_non_null(strstr(said, "ask(false)"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(condition_holds),
        cmocka_unit_test(condition_does_not_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
