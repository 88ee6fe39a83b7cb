// Signals that are fetched, not handled: sending one happens before fetching it, by whatever pair of calls. What the sender does
// afterwards is not ordered.
// TSAN: it has none of these edges
#define _GNU_SOURCE 1
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "invisible.h"

int by_thread, by_queue, by_thread_queue, by_process, by_readiness, by_alarm, late;
int watched, polled; // descriptors

static sigset_t only(int sig)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, sig);
    return set;
}

THREAD(waits)
{
    sigset_t set = only(SIGUSR1);
    int sig;

    MUST(sigwait(&set, &sig) == 0 && sig == SIGUSR1);
    use(by_thread);
    after(1);
    use(late); // RACE l:read
    return NULL;
}

THREAD(waits_for_info)
{
    sigset_t set = only(SIGRTMIN);
    siginfo_t info;

    MUST(sigwaitinfo(&set, &info) == SIGRTMIN && info.si_value.sival_int == 7);
    use(by_queue);
    return NULL;
}

THREAD(waits_with_limit)
{
    sigset_t set = only(SIGRTMAX);
    struct timespec limit = {.tv_sec = 60};

    MUST(sigtimedwait(&set, NULL, &limit) == SIGRTMAX);
    use(by_thread_queue);
    return NULL;
}

THREAD(reads_descriptor)
{
    struct signalfd_siginfo info;

    MUST(read(watched, &info, sizeof(info)) == sizeof(info) && info.ssi_signo == (unsigned)SIGRTMIN + 20);
    use(by_process);
    return NULL;
}

THREAD(polls_descriptor)
{
    struct pollfd fd = {.fd = polled, .events = POLLIN};

    MUST(poll(&fd, 1, -1) == 1);
    use(by_readiness);
    return NULL;
}

THREAD(waits_for_alarm)
{
    sigset_t set = only(SIGALRM);

    MUST(sigwaitinfo(&set, NULL) == SIGALRM);
    use(by_alarm);
    return NULL;
}

int main(void)
{
    struct itimerval soon = {.it_value = {.tv_usec = 1}};
    const union sigval seven = {.sival_int = 7};
    sigset_t set, far = only(SIGRTMIN + 20), near = only(SIGUSR2);
    pthread_t t[6];

    sigfillset(&set);
    MUST(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
    watched = signalfd(-1, &near, 0);
    polled = signalfd(-1, &near, 0);
    MUST(watched >= 0 && polled >= 0);
    MUST(signalfd(watched, &far, 0) == watched); // another set, beyond the 48th signal
    t[0] = spawn(waits, NULL);
    t[1] = spawn(waits_for_info, NULL);
    t[2] = spawn(waits_with_limit, NULL);
    t[3] = spawn(reads_descriptor, NULL);
    t[4] = spawn(polls_descriptor, NULL);
    t[5] = spawn(waits_for_alarm, NULL);
    by_thread = 1;
    MUST(pthread_kill(t[0], SIGUSR1) == 0);
    late = 1; // RACE l:write
    mark();
    by_queue = 1;
    MUST(sigqueue(getpid(), SIGRTMIN, seven) == 0);
    by_thread_queue = 1;
    MUST(pthread_sigqueue(t[2], SIGRTMAX, seven) == 0);
    by_process = 1;
    MUST(kill(getpid(), SIGRTMIN + 20) == 0);
    by_readiness = 1;
    MUST(kill(getpid(), SIGUSR2) == 0);
    by_alarm = 1;
    MUST(setitimer(ITIMER_REAL, &soon, NULL) == 0);
    for (int i = 0; i < 6; i++)
        join(t[i]);
    return 0;
}
