/*
 * check.c - what a failed DH_CHECK or DH_ASSERT does: print one line to standard error, by system calls only,
 * then end the process without running any handler of the host.
 */
#include "base/fmt.h"
#include "base/sys.h"

static void say(const char *begin, const char *file, int line, const char *what)
{
    char buf[512];
    struct dh_fmt f;
    dh_fmt_init(&f, buf, sizeof(buf));
    dh_fmt_str(&f, begin);
    dh_fmt_str(&f, file);
    dh_fmt_str(&f, ":");
    dh_fmt_u64(&f, (u64)line);
    dh_fmt_str(&f, ": ");
    dh_fmt_str(&f, what);
    dh_sys_say(buf);
}

_Noreturn void dh_base_check_failed(const char *file, int line, const char *what)
{
    say("internal check failed at ", file, line, what);
    __builtin_trap();
}

_Noreturn void dh_base_assert_failed(const char *file, int line, const char *what)
{
    say("assertion failed at ", file, line, what);
    dh_sys_abort();
}
