/*
 * notify.c - one write, and then a call after which libc has the read made, in a thread of its own: notify HOW. That this
 * orders the two is not seen, and neither may it be taken for a race.
 */
#include <aio.h>
#include <fcntl.h>
#include <mqueue.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *how;
static long shared;
static volatile long sink;
static atomic_int finished;

static int is(const char *this)
{
    return strcmp(how, this) == 0;
}

static void get(union sigval value)
{
    (void)value;
    sink = shared; // SECOND
    atomic_store_explicit(&finished, 1, memory_order_relaxed);
}

static void *put(void *arg)
{
    static char byte;
    static struct aiocb request;
    static struct aiocb64 request64;
    static struct gaicb host = {.ar_name = "127.0.0.1"};
    static struct gaicb *hosts[] = {&host};
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = get};
    struct itimerspec soon = {.it_value.tv_nsec = 1000000};
    int fd = open("/proc/self/exe", O_RDONLY);
    timer_t timer;
    mqd_t queue = -1;
    char name[64];
    snprintf(name, sizeof(name), "/deadheat-notify-%d", (int)getpid());
    request = (struct aiocb){.aio_fildes = fd, .aio_buf = &byte, .aio_nbytes = 1, .aio_sigevent = event};
    request64 = (struct aiocb64){.aio_fildes = fd, .aio_buf = &byte, .aio_nbytes = 1, .aio_sigevent = event};
    if (is("timer") && timer_create(CLOCK_MONOTONIC, &event, &timer) != 0)
        abort();
    if (is("mq_notify") && (queue = mq_open(name, O_CREAT | O_RDWR, 0600, NULL)) == -1)
        abort();
    shared = 1; // FIRST
    if (is("timer"))
        timer_settime(timer, 0, &soon, NULL);
    if (is("aio_read"))
        aio_read(&request);
    if (is("aio_read64"))
        aio_read64(&request64);
    if (is("aio_fsync"))
        aio_fsync(O_SYNC, &request);
    if (is("getaddrinfo_a"))
        getaddrinfo_a(GAI_NOWAIT, hosts, 1, &event);
    if (is("mq_notify")) {
        mq_notify(queue, &event);
        mq_send(queue, &byte, 1, 0);
        mq_unlink(name);
    }
    while (!atomic_load_explicit(&finished, memory_order_relaxed))
        usleep(1000);
    return arg;
}

int main(int argc, char **argv)
{
    pthread_t t;
    how = argc > 1 ? argv[1] : "timer";
    pthread_create(&t, NULL, put, NULL);
    pthread_join(t, NULL);
    puts("OK");
    return 0;
}
