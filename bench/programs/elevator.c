/*
 * elevator.c - lifts, a thread each, serve the people who press buttons in main.
 *
 * FastTrack paper, table 1 (1447 lines, 5 threads): 0 for all six.
 *
 * Real: none. Who waits on which floor is kept under one lock, by main and lifts alike; who rides in a lift,
 * and where it is, only its thread knows.
 *
 * False: none, for the same reason; waiting for a button to be pressed orders nothing that is not under the
 * lock anyway.
 */
// ARGS: 4 1
// FLAGS: -Wall -Wextra -Werror
// OUTPUT: elevator: 20000 people carried over 166422 floors
// NO RACE
#include "program.h"

enum { FLOORS = 24, PEOPLE = 20000, ROOM = 8, TRAVEL = 15, NOBODY = -1 };

struct person {
    int from, to;
    int next; /* who waits on the same floor */
};

struct lift {
    int floor;
    int riders, to[ROOM];
    long carried, floors;
    uint64_t hum;
};

static pthread_mutex_t controls = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t pressed = PTHREAD_COND_INITIALIZER;
static struct person people[PEOPLE]; /* these: controls */
static int queue[FLOORS];
static int waiting, closed;
static long total_carried, total_floors;
static uint64_t hums[MAX_THREADS]; /* each by its lift */

static void press(int person, int from, int to)
{
    pthread_mutex_lock(&controls);
    people[person] = (struct person){from, to, queue[from]};
    queue[from] = person;
    waiting++;
    pthread_cond_signal(&pressed);
    pthread_mutex_unlock(&controls);
}

static void leave(struct lift *l)
{
    int staying = 0;

    for (int i = 0; i < l->riders; i++)
        if (l->to[i] != l->floor)
            l->to[staying++] = l->to[i];
    l->riders = staying;
}

static void board(struct lift *l)
{
    while (l->riders < ROOM && queue[l->floor] != NOBODY) {
        struct person *p = &people[queue[l->floor]];

        queue[l->floor] = p->next;
        waiting--;
        l->to[l->riders++] = p->to;
        l->carried++;
        l->floors += p->from < p->to ? p->to - p->from : p->from - p->to;
    }
}

/* Where the first rider wants to go; else the nearest floor with somebody on it; else nowhere. */
static int next_floor(const struct lift *l)
{
    if (l->riders > 0)
        return l->to[0];
    for (int d = 0; d < FLOORS; d++) {
        if (l->floor + d < FLOORS && queue[l->floor + d] != NOBODY)
            return l->floor + d;
        if (l->floor - d >= 0 && queue[l->floor - d] != NOBODY)
            return l->floor - d;
    }
    return NOBODY;
}

/* Stops at a floor: people out, people in. False when the day is over. */
static int stop(struct lift *l, int *ret_next)
{
    int working;

    leave(l);
    pthread_mutex_lock(&controls);
    while (l->riders == 0 && waiting == 0 && !closed)
        pthread_cond_wait(&pressed, &controls);
    board(l);
    *ret_next = next_floor(l);
    working = *ret_next != NOBODY;
    if (!working) {
        total_carried += l->carried;
        total_floors += l->floors;
    }
    pthread_mutex_unlock(&controls);
    return working;
}

THREAD(run_lift)
{
    struct lift l = {.floor = ME % FLOORS};
    int next;

    while (stop(&l, &next)) {
        int way = next > l.floor ? next - l.floor : l.floor - next;

        l.hum = churn(l.hum, (long)TRAVEL * scale * way);
        l.floor = next;
    }
    hums[ME] = l.hum;
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t lift[MAX_THREADS];
    uint64_t state = 3;
    long expected = 0;

    arguments(argc, argv);
    for (int i = 0; i < FLOORS; i++)
        queue[i] = NOBODY;
    for (int i = 0; i < threads; i++)
        lift[i] = spawn(run_lift, (void *)(intptr_t)i);
    for (int i = 0; i < PEOPLE; i++) {
        int from = (int)(next_random(&state) % FLOORS);
        int to = (from + 1 + (int)(next_random(&state) % (FLOORS - 1))) % FLOORS;

        press(i, from, to);
        expected += from < to ? to - from : from - to;
    }
    pthread_mutex_lock(&controls);
    closed = 1;
    pthread_cond_broadcast(&pressed);
    pthread_mutex_unlock(&controls);
    for (int i = 0; i < threads; i++)
        join(lift[i]);
    pthread_mutex_lock(&controls);
    MUST(waiting == 0 && total_carried == PEOPLE && total_floors == expected);
    printf("elevator: %ld people carried over %ld floors\n", total_carried, total_floors);
    pthread_mutex_unlock(&controls);
    return 0;
}
