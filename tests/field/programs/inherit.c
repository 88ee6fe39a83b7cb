/*
 * inherit.c - what a program inherits that is started by this one, of SIGILL and SIGTRAP: inherit HOW BLOCKED IGNORED. It
 * blocks and ignores those of the letters i and t, starts itself in the way HOW says, and what was started prints what it
 * finds. What a child of vfork sets is not its parent's concern, nor is an exec that fails. It stops at the pair all the while.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;
static volatile long shared;
static const char *how;
static volatile int handled;

static int is(const char *this)
{
    return strcmp(how, this) == 0;
}

__attribute__((noinline)) static void touch(void)
{
    shared++; // FIRST
}

/* For long enough that breakpoints are set in the meantime. */
static void touch_often(void)
{
    struct timespec begin, now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        touch();
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < 50);
}

static unsigned long of_status(const char *name)
{
    char line[256];
    unsigned long value = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof(line), f))
        if (strncmp(line, name, strlen(name)) == 0)
            value = strtoul(line + strlen(name), NULL, 16);
    if (f)
        fclose(f);
    return value >> (SIGILL - 1) & 3; /* SIGTRAP comes next */
}

/* What the kernel says, which is what was inherited; in a program that is chased it is not what that believes. */
static int show_inherited(void)
{
    printf("blocked %lu ignored %lu\n", of_status("SigBlk:"), of_status("SigIgn:"));
    return 0;
}

static void show(void)
{
    sigset_t set;
    struct sigaction ill, trap;
    pthread_sigmask(SIG_BLOCK, NULL, &set);
    sigaction(SIGILL, NULL, &ill);
    sigaction(SIGTRAP, NULL, &trap);
    printf("%d %d %d %d\n", sigismember(&set, SIGILL), sigismember(&set, SIGTRAP), ill.sa_handler == SIG_IGN,
           trap.sa_handler == SIG_IGN);
    fflush(stdout);
}

static sigset_t set_of(const char *letters)
{
    sigset_t set;
    sigemptyset(&set);
    if (strchr(letters, 'i'))
        sigaddset(&set, SIGILL);
    if (strchr(letters, 't'))
        sigaddset(&set, SIGTRAP);
    return set;
}

static void on_signal(int number)
{
    handled += number == SIGTRAP;
}

static void start(const char *self)
{
    char *const argv[] = {(char *)self, "show", NULL};
    fflush(stdout);
    if (is("execve"))
        execve(self, argv, environ);
    if (is("execv"))
        execv(self, argv);
    if (is("execvp"))
        execvp(self, argv);
    if (is("execvpe"))
        execvpe(self, argv, environ);
    if (is("fexecve"))
        fexecve(open(self, O_RDONLY | O_CLOEXEC), argv, environ);
    if (is("execveat"))
        execveat(AT_FDCWD, self, argv, environ, 0);
    if (is("execl"))
        execl(self, self, "show", (char *)NULL);
    if (is("execlp"))
        execlp(self, self, "show", (char *)NULL);
    if (is("execle"))
        execle(self, self, "show", (char *)NULL, environ);
    abort();
}

static void await(pid_t pid)
{
    int status;
    if (pid <= 0 || waitpid(pid, &status, 0) != pid || status != 0)
        abort();
}

static void spawn(const char *self)
{
    char *const argv[] = {(char *)self, "show", NULL};
    sigset_t none, trap = set_of("t");
    posix_spawnattr_t attr;
    pid_t pid;
    sigemptyset(&none);
    posix_spawnattr_init(&attr);
    fflush(stdout);
    if (posix_spawn(&pid, self, NULL, NULL, argv, environ) != 0)
        abort();
    await(pid);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigdefault(&attr, &trap);
    if (posix_spawnp(&pid, self, NULL, &attr, argv, environ) != 0)
        abort();
    await(pid);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigmask(&attr, &none);
    if (posix_spawn(&pid, self, NULL, &attr, argv, environ) != 0)
        abort();
    await(pid);
    if (posix_spawn(&pid, "/nonexistent", NULL, NULL, argv, environ) != ENOENT)
        abort();
}

/* With other settings than its parent, which keeps its own. */
static void start_by_vfork(const char *self)
{
    sigset_t none;
    char *const argv[] = {(char *)self, "show", NULL};
    sigemptyset(&none);
    fflush(stdout);
    pid_t pid = vfork();
    if (pid == 0) {
        pthread_sigmask(SIG_SETMASK, &none, NULL);
        signal(SIGILL, SIG_DFL);
        signal(SIGTRAP, SIG_IGN);
        execve(self, argv, environ);
        _exit(1);
    }
    await(pid);
}

static void fail(void)
{
    char *const argv[] = {"nothing", NULL};
    if (execve("/nonexistent", argv, environ) == 0 || errno != ENOENT)
        abort();
    if (execlp("nonexistent-program", "nothing", (char *)NULL) == 0 || errno != ENOENT)
        abort();
    if (execl("/", "nothing", (char *)NULL) == 0 || errno != EACCES)
        abort();
}

static void *sleep_on(void *arg)
{
    pause();
    return arg;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    if (argc < 4)
        return show_inherited();
    how = argv[1];
    sigset_t blocked = set_of(argv[2]);
    pthread_sigmask(SIG_BLOCK, &blocked, NULL);
    if (strchr(argv[3], 'i'))
        signal(SIGILL, SIG_IGN);
    signal(SIGTRAP, strchr(argv[3], 't') ? SIG_IGN : on_signal);
    touch_often();
    if (strchr(argv[3], '2'))
        pthread_create(&thread, NULL, sleep_on, NULL);
    if (is("fork")) {
        pid_t pid = fork();
        if (pid == 0) {
            how = "execv";
            start(argv[0]);
        }
        await(pid);
    } else if (is("spawn")) {
        spawn(argv[0]);
    } else if (is("vfork")) {
        start_by_vfork(argv[0]);
    } else if (is("fail")) {
        fail();
    } else {
        start(argv[0]);
    }
    show();
    touch_often();
    raise(SIGTRAP); /* at once, or when it is unblocked */
    printf("handled %d\n", handled);
    sigprocmask(SIG_UNBLOCK, &blocked, NULL);
    printf("handled %d\n", handled);
    return 0;
}
