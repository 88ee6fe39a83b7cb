/*
 * check.c - what a failed DH_CHECK does: one line to standard error, then abort without running
 * any handler of the host.
 */
#include "base/fmt.h"
#include "base/sys.h"

_Noreturn void dh_base_check_failed(const char *file, int line, const char *what)
{
    char buf[512];
    struct dh_fmt f;
    dh_fmt_init(&f, buf, sizeof(buf));
    dh_fmt_str(&f, "internal check failed at ");
    dh_fmt_str(&f, file);
    dh_fmt_str(&f, ":");
    dh_fmt_u64(&f, (u64)line);
    dh_fmt_str(&f, ": ");
    dh_fmt_str(&f, what);
    dh_sys_say(buf);
    __builtin_trap();
}
