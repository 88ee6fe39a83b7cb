/*
 * shutdown_order.c - an order violation at shutdown: main takes the logger away when all workers have
 * reported that they are done, but a worker reports first and logs afterwards. (Lu et al., ASPLOS 2008, have
 * several in Mozilla, where a thread uses what the thread that shuts down has just cleared.)
 *
 * A worker logs at once; main looks five times a millisecond, and then saves the state first.
 */
#include "../program.h"

#include <stdbool.h>
#include <unistd.h>

enum { WORKERS = 2, WORK = 150000, STATE_WORK = 250000 };

typedef void logger(const char *message, int worker);

static logger *log_message;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int running; /* lock */
static int lines;   /* lock */
static uint64_t results[WORKERS];

static void count_line(const char *message, int worker)
{
    pthread_mutex_lock(&lock);
    lines += message[0] != 0 && worker >= 0;
    pthread_mutex_unlock(&lock);
}

static void print_line(const char *message, int worker)
{
    printf("worker %d: %s\n", worker, message);
    count_line(message, worker);
}

static void report_done(void)
{
    pthread_mutex_lock(&lock);
    running--;
    pthread_mutex_unlock(&lock);
}

THREAD(worker)
{
    int me = ME;

    results[me] = churn((uint64_t)me, WORK);
    report_done();
    log_message("done", me); // DEFECT
    return NULL;
}

static bool is_running(void)
{
    pthread_mutex_lock(&lock);
    bool any = running > 0;
    pthread_mutex_unlock(&lock);
    return any;
}

static void save_state(void)
{
    use((long)churn(1, STATE_WORK));
}

int main(int argc, char **argv)
{
    pthread_t workers[WORKERS];

    log_message = argc > 1 && argv[1][0] == 'v' ? print_line : count_line;
    running = WORKERS;
    for (int i = 0; i < WORKERS; i++)
        workers[i] = spawn(worker, (void *)(intptr_t)i);
    while (is_running())
        usleep(200);
    save_state();
    log_message = NULL; // DEFECT
    for (int i = 0; i < WORKERS; i++)
        join(workers[i]);
    MUST(lines == WORKERS && results[0] != results[1]);
    puts("shutdown_order: 2 workers");
    return 0;
}
