/*
 * lost_update.c - a server counts its open connections without a lock. Two that end at the same time read
 * the same number, one of the two updates is lost, and the server, told to stop, waits for ever for a
 * connection that is not there. (The commonest of all atomicity violations in Lu et al., ASPLOS 2008.)
 *
 * The connections end milliseconds apart, and an update takes some nanoseconds.
 */
#include "../program.h"

#include <unistd.h>

enum { CONNECTIONS = 2, WORK = 100000, STAY_US = 2000 };

static pthread_mutex_t server_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t closed = PTHREAD_COND_INITIALIZER;
static long open_connections;
static uint64_t answers[CONNECTIONS]; /* each by its connection */

static void close_connection(void)
{
    long others = open_connections - 1; // DEFECT

    MUST(others >= 0);
    open_connections = others; // DEFECT
    pthread_mutex_lock(&server_lock);
    pthread_cond_signal(&closed);
    pthread_mutex_unlock(&server_lock);
}

THREAD(connection)
{
    int me = ME;

    answers[me] = churn((uint64_t)me, WORK);
    usleep((useconds_t)(STAY_US * me)); /* until the client hangs up */
    close_connection();
    return NULL;
}

/* No connection is cut off: wait for those that are open. */
static void stop_server(void)
{
    pthread_mutex_lock(&server_lock);
    while (open_connections > 0)
        pthread_cond_wait(&closed, &server_lock);
    pthread_mutex_unlock(&server_lock);
}

int main(void)
{
    pthread_t connections[CONNECTIONS];
    uint64_t sum = 0;

    open_connections = CONNECTIONS;
    for (int i = 0; i < CONNECTIONS; i++)
        connections[i] = spawn(connection, (void *)(intptr_t)i);
    stop_server();
    for (int i = 0; i < CONNECTIONS; i++) {
        join(connections[i]);
        sum += answers[i];
    }
    MUST(sum != 0);
    puts("lost_update: stopped");
    return 0;
}
