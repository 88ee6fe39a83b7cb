/*
 * child.c - a program that a command runs, and that should behave as if started without the command.
 *
 * Signals that would end the command are passed on, and the program's reaction to them decides. The terminal
 * sends its own signals to both, and stops both.
 */
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cmd.h"

static volatile sig_atomic_t program; /* its pid, from when it runs until it has ended; 0 otherwise */

static volatile sig_atomic_t end_signal; /* the last that came since it was started; 0: none */

/* What this process was started with, and programs are too. */
static bool known, ignored[NSIG];
static sigset_t blocked;

/* Is it meant to end whatever is running? */
static bool is_end(int number)
{
    return number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT;
}

/* Signals from the terminal go to the program as well; those sent to this process alone are passed on, with
 * their value. Those from the kernel are for the process that caused them: SIGXCPU. */
static void pass_on(int number, siginfo_t *info, void *context)
{
    (void)context;
    int error = errno;
    if (is_end(number) && !ignored[number])
        end_signal = number;
    if (program && info->si_code == SI_QUEUE)
        sigqueue(program, number, info->si_value);
    else if (program && info->si_code != SI_KERNEL)
        kill(program, number);
    errno = error;
}

/* Not those that this process may cause itself, nor those that stop it. */
static bool is_passed_on(int number)
{
    switch (number) {
    case SIGKILL:
    case SIGSTOP:
    case SIGTSTP:
    case SIGTTIN:
    case SIGTTOU:
    case SIGCHLD:
    case SIGSEGV:
    case SIGBUS:
    case SIGFPE:
    case SIGILL:
    case SIGTRAP:
    case SIGSYS:
    case SIGPIPE:
    case SIGXFSZ:
        return false;
    default:
        return true;
    }
}

/* Called with all signals blocked. */
static void remember(const sigset_t *before)
{
    if (known)
        return;
    for (int number = 1; number <= SIGRTMAX; number++) {
        struct sigaction sa;
        ignored[number] = sigaction(number, NULL, &sa) == 0 && sa.sa_handler == SIG_IGN;
    }
    blocked = *before;
    known = true;
}

/* Also those that are ignored (nohup, a background job of a script) or blocked in the program at first: it
 * may handle them, or wait for them. */
static void pass_signals_on(void)
{
    sigset_t mask = blocked;
    for (int number = 1; number <= SIGRTMAX; number++) {
        struct sigaction sa = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART};
        if (is_passed_on(number) && sigaction(number, &sa, NULL) == 0)
            sigdelset(&mask, number);
    }
    sigprocmask(SIG_SETMASK, &mask, NULL);
}

void dh_cli_child_signals(void)
{
    for (int number = 1; number <= SIGRTMAX; number++)
        if (is_passed_on(number) || number == SIGPIPE)
            signal(number, ignored[number] ? SIG_IGN : SIG_DFL);
    sigprocmask(SIG_SETMASK, &blocked, NULL);
}

/* A program that is run again reads the same input, if that is a file. */
static void rewind_input(void)
{
    static off_t begin = -1;
    struct stat st;
    if (fstat(STDIN_FILENO, &st) != 0 || !S_ISREG(st.st_mode))
        return;
    if (begin < 0)
        begin = lseek(STDIN_FILENO, 0, SEEK_CUR);
    else
        lseek(STDIN_FILENO, begin, SEEK_SET);
}

/* A signal that arrives meanwhile is held until there is a process to pass it on to. */
pid_t dh_cli_child_start(void (*become)(void *ctx), void *ctx)
{
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    remember(&before);
    rewind_input();
    signal(SIGPIPE, SIG_IGN); /* an error to report here, but not in the program */
    pid_t pid = fork();
    if (pid == 0) {
        dh_cli_child_signals();
        become(ctx);
    }
    int error = errno;
    program = pid > 0 ? pid : 0;
    end_signal = 0;
    pass_signals_on();
    if (pid > 0)
        dh_cli_client_start(pid);
    return pid < 0 ? -error : pid;
}

int dh_cli_child_end_signal(void)
{
    return end_signal;
}

/* Its pid is released only after nothing will be sent to it any more. */
static bool look(pid_t pid, int flags, siginfo_t *ret)
{
    *ret = (siginfo_t){0};
    int rc;
    do
        rc = waitid(P_PID, (id_t)pid, ret, flags | WEXITED | WNOWAIT);
    while (rc != 0 && errno == EINTR);
    return rc == 0 && ret->si_pid == pid;
}

static bool reap(pid_t pid, int *ret_status)
{
    program = 0;
    if (waitpid(pid, ret_status, 0) != pid)
        return false;
    *ret_status = dh_cli_client_stop(*ret_status);
    return true;
}

bool dh_cli_child_ended(pid_t pid, int *ret_status)
{
    siginfo_t info;
    return look(pid, WNOHANG, &info) && reap(pid, ret_status);
}

/* A program that stops itself by SIGSTOP stops the command too, for whoever waits for it; other stop signals
 * go to both anyway. */
int dh_cli_child_wait(pid_t pid)
{
    siginfo_t info;
    int status = 0;
    while (look(pid, WSTOPPED, &info) && info.si_code == CLD_STOPPED) {
        waitid(P_PID, (id_t)pid, &info, WSTOPPED | WNOHANG);
        if (info.si_status != SIGSTOP)
            continue;
        raise(SIGSTOP);
        kill(pid, SIGCONT);
    }
    reap(pid, &status);
    return status;
}

int dh_cli_child_status(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int dh_cli_child_end_like(int status)
{
    if (WIFSIGNALED(status)) {
        const struct rlimit none = {0};
        sigset_t one;
        setrlimit(RLIMIT_CORE, &none); /* the core dump is the program's */
        signal(WTERMSIG(status), SIG_DFL);
        sigemptyset(&one);
        sigaddset(&one, WTERMSIG(status));
        sigprocmask(SIG_UNBLOCK, &one, NULL);
        raise(WTERMSIG(status));
    }
    return dh_cli_child_status(status);
}
