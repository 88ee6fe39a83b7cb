/*
 * exec.c - what a program that is started by the chased one inherits: the masks and the ignored signals that
 * the chased program believes it has, not those it really has (signals.c).
 *
 * Only one thread's mask is changed, for as long as it is in libc. To ignore a signal would concern all
 * threads, and the next to come to a breakpoint would be killed, before the new program has taken over or if
 * it cannot be started. So that is done only by a thread that is alone, as it is in most children.
 *
 * Not so: system and popen, which run the program's handlers while they wait.
 */
#include <errno.h>
#include <spawn.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sys.h"
#include "field/field.h"
#include "field/instead.h"
#include "field/signals.h"

enum { NUMBERS = 2 };
static const int numbers[NUMBERS] = {SIGILL, SIGTRAP};

/* What was changed, so that it can be undone. */
struct change {
    u64 mask;
    bool blocked, ignored[NUMBERS];
    struct dh_field_signals_action before[NUMBERS];
};

/* The directory of a process's threads has a link for each, and two more. */
static bool is_alone(void)
{
    struct stat st;
    return dh_field_signals_settle() ||
           (dh_sys3(SYS_stat, (long)"/proc/self/task", (long)&st, 0) == 0 && st.st_nlink == 3);
}

static void ignore(struct change *c)
{
    const struct dh_field_signals_action nothing = {.handler = (void *)SIG_IGN};
    for (int i = 0; i < NUMBERS; i++) {
        struct sigaction theirs;
        if (!(dh_field_signals_ours & dh_field_signals_bit(numbers[i])))
            continue;
        dh_field_signals_exchange(numbers[i], NULL, &theirs);
        if (theirs.sa_handler != SIG_IGN || !is_alone())
            continue;
        dh_field_signals_set_action(numbers[i], &nothing, &c->before[i]);
        c->ignored[i] = true;
    }
}

static void begin(struct change *c)
{
    *c = (struct change){0};
    if (!__atomic_load_n(&dh_field_control, __ATOMIC_ACQUIRE))
        return;
    dh_field_signals_settle();
    const u64 blocked = dh_field_signals_blocked;
    if (blocked)
        dh_sys6(SYS_rt_sigprocmask, SIG_BLOCK, (long)&blocked, (long)&c->mask, sizeof(blocked), 0, 0);
    c->blocked = blocked != 0;
    ignore(c);
}

static void undo(const struct change *c)
{
    for (int i = 0; i < NUMBERS; i++)
        if (c->ignored[i])
            dh_field_signals_set_action(numbers[i], &c->before[i], NULL);
    if (c->blocked)
        dh_sys6(SYS_rt_sigprocmask, SIG_SETMASK, (long)&c->mask, 0, sizeof(c->mask), 0, 0);
}

/* ---- exec ---- */

/* The call returns only if it has failed. */
#define WITH(call)       \
    ({                   \
        struct change c; \
        begin(&c);       \
        int rc = (call); \
        undo(&c);        \
        rc;              \
    })

INSTEAD_OF(int, execve, (const char *path, char *const argv[], char *const env[]))
{
    return WITH(NEXT(execve)(path, argv, env));
}

INSTEAD_OF(int, execv, (const char *path, char *const argv[]))
{
    return WITH(NEXT(execv)(path, argv));
}

INSTEAD_OF(int, execvp, (const char *file, char *const argv[]))
{
    return WITH(NEXT(execvp)(file, argv));
}

INSTEAD_OF(int, execvpe, (const char *file, char *const argv[], char *const env[]))
{
    return WITH(NEXT(execvpe)(file, argv, env));
}

INSTEAD_OF(int, fexecve, (int fd, char *const argv[], char *const env[]))
{
    return WITH(NEXT(fexecve)(fd, argv, env));
}

INSTEAD_OF(int, execveat, (int fd, const char *path, char *const argv[], char *const env[], int flags))
{
    return WITH(NEXT(execveat)(fd, path, argv, env, flags));
}

/* How many arguments, and the NULL after them. */
static size_t count(const char *first, va_list list)
{
    size_t n = 1;
    for (const char *at = first; at; n++)
        at = va_arg(list, const char *);
    return n;
}

/* `list` is behind the NULL afterwards. */
static void fill(char **argv, const char *first, va_list list)
{
    *argv = (char *)first;
    while (*argv++)
        *argv = va_arg(list, char *);
}

/* The arguments as an array, in the frame of the caller: memory cannot be allocated here. */
#define COLLECT(argv, first, list)   \
    va_list list, again;             \
    va_start(list, first);           \
    va_copy(again, list);            \
    char *argv[count(first, again)]; \
    va_end(again);                   \
    fill(argv, first, list)

INSTEAD_BY(int, execl, execv, (const char *path, const char *first, ...))
{
    COLLECT(argv, first, list);
    va_end(list);
    return WITH(NEXT_BY(execl, execv)(path, argv));
}

INSTEAD_BY(int, execlp, execvp, (const char *file, const char *first, ...))
{
    COLLECT(argv, first, list);
    va_end(list);
    return WITH(NEXT_BY(execlp, execvp)(file, argv));
}

INSTEAD_BY(int, execle, execve, (const char *path, const char *first, ...))
{
    COLLECT(argv, first, list);
    char *const *env = va_arg(list, char *const *);
    va_end(list);
    return WITH(NEXT_BY(execle, execve)(path, argv, env));
}

/* ---- posix_spawn ---- */

/* The mask is given with the attributes, so that the caller's does not change. */
static const posix_spawnattr_t *with_mask(const posix_spawnattr_t *attr, posix_spawnattr_t *copy)
{
    short flags = 0;
    sigset_t mask;
    dh_field_signals_settle();
    if (!dh_field_signals_blocked)
        return attr;
    if (attr)
        *copy = *attr;
    else
        posix_spawnattr_init(copy);
    posix_spawnattr_getflags(copy, &flags);
    if (flags & POSIX_SPAWN_SETSIGMASK)
        return attr;
    sigemptyset(&mask);
    dh_sys6(SYS_rt_sigprocmask, SIG_BLOCK, 0, (long)&mask, sizeof(u64), 0, 0);
    *(u64 *)&mask |= dh_field_signals_blocked;
    posix_spawnattr_setsigmask(copy, &mask);
    posix_spawnattr_setflags(copy, (short)(flags | POSIX_SPAWN_SETSIGMASK));
    return copy;
}

typedef __typeof__(posix_spawn) spawn_fn;

static int spawn(spawn_fn *next, pid_t *ret_pid, const char *path, const posix_spawn_file_actions_t *files,
                 const posix_spawnattr_t *attr, char *const argv[], char *const env[])
{
    posix_spawnattr_t copy;
    struct change c = {0};
    if (!__atomic_load_n(&dh_field_control, __ATOMIC_ACQUIRE))
        return next(ret_pid, path, files, attr, argv, env);
    attr = with_mask(attr, &copy);
    ignore(&c);
    int rc = next(ret_pid, path, files, attr, argv, env);
    undo(&c);
    return rc;
}

INSTEAD_OF(int, posix_spawn,
           (pid_t * ret_pid, const char *path, const posix_spawn_file_actions_t *files,
            const posix_spawnattr_t *attr, char *const argv[], char *const env[]))
{
    return spawn(NEXT(posix_spawn), ret_pid, path, files, attr, argv, env);
}

INSTEAD_OF(int, posix_spawnp,
           (pid_t * ret_pid, const char *file, const posix_spawn_file_actions_t *files,
            const posix_spawnattr_t *attr, char *const argv[], char *const env[]))
{
    return spawn(NEXT(posix_spawnp), ret_pid, file, files, attr, argv, env);
}
