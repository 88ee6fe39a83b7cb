/*
 * swaps.c - simulated annealing of a netlist, in the manner of canneal but without its races: threads draw
 * two elements, weigh their wires as they are and as they would be, and exchange their places if that is
 * shorter.
 *
 * An element's place is read and written under one of many locks, shared by the elements that hash to it.
 * Which exchanges happen depends on the schedule; that every place is somebody's, and only once, does not.
 */
#include "kernel.h"

#define ELEMENTS (1u << 17)
#define WIRES 5
#define LOCKS 4096
#define SIDE 512

struct element {
    uint32_t place; /* under its lock */
    uint32_t moves; /* likewise */
    uint32_t wire[WIRES];
};

static struct element *elements;
static pthread_mutex_t locks[LOCKS];
static size_t moves;
static uint64_t drawn[MAX_THREADS];

static pthread_mutex_t *lock_of(uint32_t e)
{
    return &locks[e % LOCKS];
}

static uint32_t place_of(uint32_t e)
{
    pthread_mutex_lock(lock_of(e));
    uint32_t place = elements[e].place;
    pthread_mutex_unlock(lock_of(e));
    return place;
}

static unsigned distance(uint32_t a, uint32_t b)
{
    int dx = (int)(a % SIDE) - (int)(b % SIDE), dy = (int)(a / SIDE) - (int)(b / SIDE);
    return (unsigned)(abs(dx) + abs(dy));
}

/* By how much the wires of `e` would grow, going from one place to the other. */
static int growth(uint32_t e, uint32_t from, uint32_t to)
{
    int sum = 0;

    for (unsigned k = 0; k < WIRES; k++) {
        uint32_t end = place_of(elements[e].wire[k]);
        sum += (int)distance(to, end) - (int)distance(from, end);
    }
    return sum;
}

static void exchange(uint32_t a, uint32_t b)
{
    pthread_mutex_t *first = lock_of(a), *second = lock_of(b);

    if (first > second) {
        first = lock_of(b);
        second = lock_of(a);
    }
    pthread_mutex_lock(first);
    if (second != first)
        pthread_mutex_lock(second);
    uint32_t place = elements[a].place;
    elements[a].place = elements[b].place;
    elements[b].place = place;
    elements[a].moves++;
    elements[b].moves++;
    if (second != first)
        pthread_mutex_unlock(second);
    pthread_mutex_unlock(first);
}

static void *body(void *index)
{
    unsigned me = (unsigned)(uintptr_t)index;
    uint64_t state = me, sum = 0;
    size_t lo, hi;

    kernel_share(moves, me, &lo, &hi);
    for (size_t i = lo; i < hi; i++) {
        uint64_t r = kernel_random(&state);
        uint32_t a = (uint32_t)r % ELEMENTS, b = (uint32_t)(r >> 32) % ELEMENTS;
        if (a == b)
            continue;
        sum += a ^ b;
        uint32_t from = place_of(a), to = place_of(b);
        if (growth(a, from, to) + growth(b, to, from) < (int)(r >> 60))
            exchange(a, b);
    }
    drawn[me] = sum;
    return NULL;
}

int main(int argc, char **argv)
{
    uint64_t state = 31, sum = 0, places = 0;

    kernel_args(argc, argv);
    moves = kernel_scaled(1500u * 1000);
    elements = kernel_alloc(ELEMENTS, sizeof(*elements));
    for (uint32_t i = 0; i < ELEMENTS; i++) {
        elements[i].place = i;
        for (unsigned k = 0; k < WIRES; k++)
            elements[i].wire[k] = (uint32_t)kernel_random(&state) % ELEMENTS;
    }
    for (unsigned i = 0; i < LOCKS; i++)
        pthread_mutex_init(&locks[i], NULL);
    kernel_run(body);
    for (unsigned i = 0; i < n_threads; i++)
        sum = kernel_mix(sum, drawn[i]);
    for (uint32_t i = 0; i < ELEMENTS; i++) {
        uint64_t place = elements[i].place;
        places += kernel_random(&place);
    }
    kernel_print(kernel_mix(sum, places));
    free(elements);
    return 0;
}
