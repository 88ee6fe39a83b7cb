/*
 * stopped.c - stops the command that chases it (SIGSTOP) at the worst moment, while breakpoints or watchpoints are set,
 * and then does nothing but come to them: stopped first|second|atomic|watched|filter. It prints RESTORED if no breakpoint is left
 * in the function it came to, KEPT if there is one.
 */
#include <dirent.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { THREADS = 4, CODE = 5, MOST = 4000000, FEW = 2000 };

static long cells[THREADS + 1][16];
static _Atomic long flags[THREADS][16];
static atomic_int go, over, away;
static const char *what;

__attribute__((noinline, aligned(64))) static void first(long *p)
{
    *p += 1; // FIRST
}

__attribute__((noinline, aligned(64))) static void second(long *p)
{
    *p += 1; // SECOND
}

__attribute__((noinline, aligned(64))) static void set(_Atomic long *p)
{
    atomic_store_explicit(p, 1, memory_order_release);
}

static int is(const char *mode)
{
    return strcmp(what, mode) == 0;
}

/* Is a breakpoint set at the first instruction of this function, or at the second, behind endbr64? */
static int is_armed(void (*function)(void))
{
    const volatile unsigned char *code = (const volatile unsigned char *)(size_t)function;
    for (int i = 0; i < CODE; i++)
        if (code[i] == 0x06)
            return 1;
    return 0;
}

static void *waiter(void *arg)
{
    (void)arg;
    do
        first(cells[THREADS]);
    while (!is("watched") && !atomic_load_explicit(&go, memory_order_relaxed));
    atomic_store_explicit(&away, 1, memory_order_relaxed);
    return NULL;
}

static void *hammer(void *arg)
{
    size_t i = (size_t)arg;
    while (!atomic_load_explicit(&go, memory_order_relaxed))
        usleep(100);
    for (long n = 0; n < (is("filter") ? FEW : MOST) && !atomic_load_explicit(&over, memory_order_relaxed);
         n++) {
        if (is("atomic"))
            set(flags[i]);
        else if (is("second"))
            second(cells[i]);
        else if (is("watched"))
            second(cells[THREADS]);
        else
            first(cells[i]);
    }
    return NULL;
}

static char state_of(pid_t pid)
{
    char path[64], state = 0;
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "r");
    if (f && fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
        state = 0;
    if (f)
        fclose(f);
    return state;
}

static void stop(pid_t command)
{
    kill(command, SIGSTOP);
    while (state_of(command) != 'T')
        usleep(100);
}

/* How many watchpoints does the command have at the moment? */
static int watchpoints(pid_t command)
{
    char path[64], to[64] = "";
    int n = 0;
    snprintf(path, sizeof(path), "/proc/%d/fd", (int)command);
    DIR *dir = opendir(path);
    for (const struct dirent *e; dir && (e = readdir(dir));)
        n += readlinkat(dirfd(dir), e->d_name, to, sizeof(to) - 1) > 0 && strstr(to, "perf_event");
    if (dir)
        closedir(dir);
    return n;
}

/* Whoever opens a file from now on is killed. */
static void restrict_calls(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_open, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0)
        exit(1);
}

static int is_set(pid_t command, void (*function)(void))
{
    return is("watched") ? watchpoints(command) >= THREADS : is_armed(function);
}

/* Stops the command while its breakpoints or watchpoints are set. False: they never were. */
static int catch_command(pid_t command, void (*function)(void))
{
    for (;;) {
        while (!is_set(command, function))
            if (atomic_load_explicit(&away, memory_order_relaxed))
                return 0;
        stop(command);
        if (is_set(command, function))
            return 1;
        kill(command, SIGCONT); /* it was faster */
    }
}

/* Until all have ended, by themselves or because there is nothing more to come to. */
static void await_threads(const pthread_t *threads, void (*function)(void))
{
    for (int i = 0; i < THREADS; i++)
        while (pthread_tryjoin_np(threads[i], NULL) == EBUSY) {
            if (!is("watched") && !is_armed(function))
                atomic_store_explicit(&over, 1, memory_order_relaxed);
            usleep(100);
        }
}

int main(int argc, char **argv)
{
    const pid_t command = getppid();
    pthread_t threads[THREADS], other;
    what = argc > 1 ? argv[1] : "first";
    const int begun = is("first") || is("filter"); /* the first side is armed before the program begins */
    void (*function)(void) = (void (*)(void))(is("second")   ? (void *)second
                                              : is("atomic") ? (void *)set
                                                             : (void *)first);
    if (!begun && pthread_create(&other, NULL, waiter, NULL) != 0)
        return 1;
    for (size_t i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, hammer, (void *)i) != 0)
            return 1;
    if (!catch_command(command, function))
        return 2;
    if (is("filter"))
        restrict_calls();
    atomic_store_explicit(&go, 1, memory_order_relaxed);
    await_threads(threads, function);
    puts(is_armed(function) ? "KEPT" : "RESTORED");
    fflush(stdout);
    kill(command, SIGCONT);
    if (!begun)
        pthread_join(other, NULL);
    return 0;
}
