/*
 * philo.c - philosophers at a round table, with a fork between any two.
 *
 * FastTrack paper, table 1 (86 lines, 6 threads): 0 for all six.
 *
 * Real: none. The wear of a fork is counted by whoever holds it. A philosopher takes the fork with the lower
 * number first, so that they do not all wait for one another.
 *
 * False: none. A fork's count is touched under the fork's lock, by main as well, and although two locks are
 * held at a time, the two philosophers who share a fork have its lock in common: even AccuLock's intersection
 * keeps it (see account.c for the case where it does not).
 */
// ARGS: 4 1
// FLAGS: -Wall -Wextra -Werror
// OUTPUT: philo: 20000 meals, thoughts abdaeae08d6701fa
// NO RACE
#include "program.h"

enum { MEALS = 20000, THOUGHTS = 80 };

struct fork {
    pthread_mutex_t lock;
    long uses; /* lock */
};

static struct fork forks[MAX_THREADS];
static uint64_t thoughts[MAX_THREADS]; /* each by its philosopher */
static int seats;

static void eat(struct fork *low, struct fork *high)
{
    pthread_mutex_lock(&low->lock);
    pthread_mutex_lock(&high->lock);
    low->uses++;
    high->uses++;
    pthread_mutex_unlock(&high->lock);
    pthread_mutex_unlock(&low->lock);
}

THREAD(philosopher)
{
    int me = ME, other = (me + 1) % seats;
    uint64_t thought = 0;

    for (long meal = part(MEALS, me, seats); meal < part(MEALS, me + 1, seats); meal++) {
        thought += churn((uint64_t)meal, (long)THOUGHTS * scale);
        eat(&forks[me < other ? me : other], &forks[me < other ? other : me]);
    }
    thoughts[me] = thought;
    return NULL;
}

int main(int argc, char **argv)
{
    uint64_t thought = 0;
    long uses = 0;

    arguments(argc, argv);
    seats = threads > 1 ? threads : 2;
    for (int i = 0; i < seats; i++)
        pthread_mutex_init(&forks[i].lock, NULL);
    team(seats, philosopher);
    for (int i = 0; i < seats; i++) {
        pthread_mutex_lock(&forks[i].lock);
        uses += forks[i].uses;
        pthread_mutex_unlock(&forks[i].lock);
        thought += thoughts[i];
    }
    MUST(uses == 2 * MEALS);
    printf("philo: %d meals, thoughts %" PRIx64 "\n", MEALS, thought);
    return 0;
}
