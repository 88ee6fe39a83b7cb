/*
 * syscall.c - libc's `syscall`, through which a program may set actions and masks, too: as masks.c does; and
 * `prctl`. Either may install a system call filter.
 *
 * Not seen: masks of calls that wait.
 */
#define syscall syscall_with_any /* as it is declared there: variable arguments cannot be passed on */
#define prctl prctl_with_any     /* the same */
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>
#undef syscall
#undef prctl

#include "base/sys.h"
#include "field/excess.h"
#include "field/field.h"
#include "field/instead.h"
#include "field/signals.h"

long syscall(long number, long a, long b, long c, long d, long e, long f);
int prctl(int option, long a, long b, long c, long d);

static int set_action(int number, const struct dh_field_signals_action *act,
                      struct dh_field_signals_action *ret_old)
{
    struct sigaction new = {0}, old = {0};
    if (act) {
        new.sa_handler = (void (*)(int))act->handler;
        new.sa_flags = (int)(act->flags & ~(unsigned long)DH_FIELD_SIGNALS_RESTORER);
        *(u64 *)&new.sa_mask = act->mask;
    }
    if (sigaction(number, act ? &new : NULL, ret_old ? &old : NULL) != 0)
        return -1;
    if (ret_old)
        *ret_old = (struct dh_field_signals_action){
            (void *)old.sa_handler, (unsigned long)(unsigned)old.sa_flags, NULL, *(const u64 *)&old.sa_mask};
    return 0;
}

static int change_mask(int how, const u64 *set, u64 *ret_old)
{
    sigset_t new, old;
    sigemptyset(&new);
    if (set)
        *(u64 *)&new = *set;
    if (sigprocmask(how, set ? &new : NULL, ret_old ? &old : NULL) != 0)
        return -1;
    if (ret_old)
        *ret_old = *(const u64 *)&old;
    return 0;
}

/* Other calls are made in the place of this one: one may return twice, or on another stack. */
INSTEAD_OF(long, syscall, (long number, long a, long b, long c, long d, long e, long f))
{
    if (__atomic_load_n(&dh_field_control, __ATOMIC_ACQUIRE) && d == sizeof(u64)) {
        if (number == SYS_rt_sigaction)
            return set_action((int)a, (const void *)b, (void *)c);
        if (number == SYS_rt_sigprocmask)
            return change_mask((int)a, (const void *)b, (void *)c);
    }
    if (number == SYS_seccomp || (number == SYS_prctl && a == PR_SET_SECCOMP))
        dh_field_excess_restrict();
    __typeof__(&syscall) next = NEXT(syscall);
#if __has_attribute(musttail)
    __attribute__((musttail))
#endif
    return next(number, a, b, c, d, e, f);
}

INSTEAD_OF(int, prctl, (int option, long a, long b, long c, long d))
{
    if (option == PR_SET_SECCOMP)
        dh_field_excess_restrict();
    return NEXT(prctl)(option, a, b, c, d);
}
