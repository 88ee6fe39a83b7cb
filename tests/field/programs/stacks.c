/* stacks.c - the pair on small stacks: a thread's smallest, an alternate stack inside a handler, a context of 8 KB. */
#include "meet.h"

#include <limits.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

static volatile int shared;
static volatile sig_atomic_t handled;
static ucontext_t here, there;

__attribute__((noinline)) static void touch(void)
{
    shared++; // FIRST
}

static void on_user(int number)
{
    (void)number;
    touch();
    handled = 1;
}

static void in_context(void)
{
    for (int i = 0; i < 1000; i++)
        touch();
}

/* With a page that must not be touched below it. */
static char *guarded(size_t n)
{
    char *p = mmap(NULL, 4096 + n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED || mprotect(p, 4096, PROT_NONE) != 0)
        exit(1);
    return p + 4096;
}

static void *first(void *arg)
{
    stack_t alternate = {.ss_sp = guarded(8192), .ss_size = 8192};
    char *small = guarded(8192);
    (void)arg;
    await_other();
    sigaltstack(&alternate, NULL);
    for (int i = 0; i < 100; i++) {
        pthread_kill(pthread_self(), SIGUSR1);
        touch();
        getcontext(&there);
        there.uc_stack.ss_sp = small;
        there.uc_stack.ss_size = 8192;
        there.uc_link = &here;
        makecontext(&there, in_context, 0);
        swapcontext(&here, &there);
    }
    say_done();
    return NULL;
}

int main(void)
{
    struct sigaction act = {.sa_handler = on_user, .sa_flags = SA_ONSTACK};
    pthread_attr_t small;
    pthread_t a, b;
    sigaction(SIGUSR1, &act, NULL);
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, (size_t)sysconf(_SC_THREAD_STACK_MIN));
    pthread_create(&b, &small, keep_calling, (void *)touch);
    pthread_create(&a, &small, first, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    puts(handled ? "OK" : "no signal came");
    return 0;
}
