/*
 * handled.c - as stop.c, but the program handles the fault to which the race leads: handled HOW. It always ends with status 1
 * then: in the handler, or later, if it has recovered.
 */
#include "meet.h"

#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static int value = 1, *guarded, *pointer = &value;
static atomic_int stop, reading, ended;
static volatile int status;
static const char *how;
static sigjmp_buf before;

static int is(const char *this)
{
    return strcmp(how, this) == 0;
}

static void on_fault(int number)
{
    status = 1;
    if (is("jumps"))
        siglongjmp(before, number);
    if (is("returns"))
        mprotect(guarded, 4096, PROT_READ);
    else
        _exit(1);
}

static void on_fault_of(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (info->si_signo == number)
        on_fault(number);
}

/* The program sees what it has set itself. */
static void set_again(void)
{
    struct sigaction act = {.sa_sigaction = on_fault_of, .sa_flags = SA_SIGINFO | SA_NODEFER}, old;
    if (sigaction(SIGSEGV, &act, &old) != 0 || old.sa_handler != on_fault || old.sa_flags & SA_SIGINFO ||
        sigaction(SIGSEGV, NULL, &old) != 0 || old.sa_sigaction != on_fault_of ||
        !(old.sa_flags & SA_SIGINFO) || !(old.sa_flags & SA_NODEFER) ||
        signal(SIGSEGV, SIG_DFL) != (void (*)(int))on_fault_of || signal(SIGSEGV, on_fault) != SIG_DFL ||
        signal(SIGSEGV, on_fault) != on_fault)
        puts("settings are wrong");
}

static void send_from_elsewhere(void)
{
    pid_t child = fork();
    if (child == 0) {
        kill(getppid(), SIGSEGV);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    pause();
}

__attribute__((noinline)) static void fail(void)
{
    if (is("set"))
        set_again();
    if (is("illegal"))
        __builtin_trap();
    if (is("aborts"))
        abort();
    if (is("sent"))
        send_from_elsewhere();
    if (sigsetjmp(before, 1) == 0)
        *(volatile int *)guarded;
}

static void *reader(void *arg)
{
    (void)arg;
    atomic_store(&reading, gettid());
    while (!atomic_load(&stop)) {
        atomic_store(&running, 1);
        if (!*(int *volatile *)&pointer) // READ
            fail();
    }
    atomic_store(&ended, 1);
    return NULL;
}

static void *stopper(void *arg)
{
    (void)arg;
    await_other();
    atomic_store(&stop, 1);
    while (!atomic_load(&ended) && !is_asleep(reading))
        continue;
    *(int *volatile *)&pointer = NULL; // WRITE
    return NULL;
}

int main(int argc, char **argv)
{
    static const int numbers[] = {SIGSEGV, SIGILL, SIGABRT};
    how = argc > 1 ? argv[1] : "exits";
    guarded = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 3; i++)
        signal(numbers[i], on_fault);
    both(stopper, reader, NULL);
    puts("OK");
    return status;
}
