/*
 * tsp.c - the shortest round trip through some cities, by branch and bound with a shared stack of partial
 * tours.
 *
 * FastTrack paper, table 1 (706 lines, 5 threads): Eraser 9, the other five 1.
 *
 * Real: `best`, the length of the shortest trip so far. It is written under its lock, but read without one to
 * see whether a tour is still promising. An old value only costs time.
 *
 * False, 8: `path`, `count`, `last`, `second`, `seen`, `length`, `rest` and `bound`, the arrays of the
 * partial tours. A thread writes a tour while it alone knows of it and hands it over through the stack, whose
 * lock orders the two. Eraser wants a lock at every access and reports all eight: the tour that a thread
 * takes is overwritten with the first one made from it. The hybrids ignore the order of locks and report them
 * as well: 9 each; the comparison paper did not run tsp. CP does not: the section that hands a tour
 * over conflicts with the one that takes it. MultiRace asks its clocks.
 *
 * Opening moves make this the same in every run: all other threads read `best` before the first one lowers
 * it, and then each expands one tour in turn before the real search begins.
 */
// ARGS: 4 1
// FLAGS: -Wall -Wextra -Werror -lm
// OUTPUT: tsp: 11 cities, length 28097
#include "program.h"

#include <limits.h>
#include <math.h>
#include <string.h>

enum { CITIES = 11, MAX_CITIES = CITIES + MAX_SCALE / 33, POOL = 8192, ALONE = 7 };

struct tour {
    uint8_t path[MAX_CITIES];
    int count, last, second;
    uint32_t seen;
    long length, rest, bound;
};

static long distance[MAX_CITIES][MAX_CITIES], shortest[MAX_CITIES]; /* by main, as the number of cities */
static int cities;

static uint8_t path[POOL]
                   [MAX_CITIES]; /* these eight: whoever took the tour from the stack or the free ones */
static int count[POOL], last[POOL], second[POOL];
static uint32_t seen[POOL];
static long length[POOL], rest[POOL], bound[POOL];

static pthread_mutex_t stack_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static int stack[POOL], top, free_tours[POOL], free_top, busy; /* stack_lock */

static pthread_mutex_t best_lock = PTHREAD_MUTEX_INITIALIZER;
static long best; /* best_lock, to write */

static int promising(long at_least)
{
    return at_least < best; // RACE a:read
}

static void improve(long found)
{
    pthread_mutex_lock(&best_lock);
    best = found < best ? found : best; // RACE a:write
    pthread_mutex_unlock(&best_lock);
}

static void store(int slot, const struct tour *t)
{
    memcpy(path[slot], t->path, sizeof(t->path));
    count[slot] = t->count;
    last[slot] = t->last;
    second[slot] = t->second;
    seen[slot] = t->seen;
    length[slot] = t->length;
    rest[slot] = t->rest;
    bound[slot] = t->bound;
}

static void load(int slot, struct tour *t)
{
    memcpy(t->path, path[slot], sizeof(t->path));
    t->count = count[slot];
    t->last = last[slot];
    t->second = second[slot];
    t->seen = seen[slot];
    t->length = length[slot];
    t->rest = rest[slot];
    t->bound = bound[slot];
}

/* A tour to work on, or -1 when there is and will be none. */
static int take(void)
{
    int slot = -1;

    pthread_mutex_lock(&stack_lock);
    while (top == 0 && busy > 0)
        pthread_cond_wait(&more, &stack_lock);
    if (top > 0) {
        slot = stack[--top];
        busy++;
    }
    pthread_mutex_unlock(&stack_lock);
    return slot;
}

static void push(int slot)
{
    pthread_mutex_lock(&stack_lock);
    stack[top++] = slot;
    pthread_cond_signal(&more);
    pthread_mutex_unlock(&stack_lock);
}

static int get_free(void)
{
    int slot;

    pthread_mutex_lock(&stack_lock);
    MUST(free_top > 0);
    slot = free_tours[--free_top];
    pthread_mutex_unlock(&stack_lock);
    return slot;
}

/* The work on what take gave has been done; a slot of its own that is left goes back. */
static void finish(int slot)
{
    pthread_mutex_lock(&stack_lock);
    if (slot >= 0)
        free_tours[free_top++] = slot;
    if (--busy == 0)
        pthread_cond_broadcast(&more);
    pthread_mutex_unlock(&stack_lock);
}

/* One city more. The bound: from every city left and from the last one, the shortest way out. */
static int extend(const struct tour *t, int city, struct tour *ret)
{
    if (t->seen >> city & 1)
        return 0;
    *ret = *t;
    ret->path[ret->count++] = (uint8_t)city;
    ret->seen |= 1u << city;
    ret->length += distance[t->last][city];
    ret->last = city;
    if (ret->count == 2)
        ret->second = city;
    ret->rest = t->rest - shortest[t->last];
    ret->bound = ret->length + ret->rest;
    return 1;
}

/* The rest of the search below a tour, by one thread alone. A trip and its reverse count once. */
static void solve(const struct tour *t)
{
    struct tour next;

    if (t->count == cities) {
        if (t->second < t->last)
            improve(t->length + distance[t->last][0]);
        return;
    }
    for (int city = 1; city < cities; city++)
        if (extend(t, city, &next) && promising(next.bound))
            solve(&next);
}

static void expand(int slot)
{
    struct tour t, next;

    load(slot, &t);
    if (t.count + ALONE >= cities) {
        solve(&t);
        finish(slot);
        return;
    }
    for (int city = 1; city < cities; city++)
        if (extend(&t, city, &next)) {
            int where = slot >= 0 ? slot : get_free();

            slot = -1;
            store(where, &next);
            push(where);
        }
    finish(slot);
}

/* Always on to the nearest city: without a good first bound the search takes a hundred times as long. */
static long greedy(void)
{
    struct tour t = {.count = 1, .seen = 1}, next, nearest;

    while (t.count < cities) {
        nearest.length = LONG_MAX;
        for (int city = 1; city < cities; city++)
            if (extend(&t, city, &next) && next.length < nearest.length)
                nearest = next;
        t = nearest;
    }
    return t.length + distance[t.last][0];
}

THREAD(searcher)
{
    int slot;

    if (ME == 0) {
        after(threads - 1);
        improve(greedy());
    } else {
        use(promising(0));
    }
    mark();
    after(threads + ME);
    slot = take();
    MUST(slot >= 0);
    expand(slot);
    mark();
    after(2 * threads);
    while ((slot = take()) >= 0) {
        if (promising(bound[slot]))
            expand(slot);
        else
            finish(slot);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    struct tour root = {.count = 1, .seen = 1};
    double x[MAX_CITIES], y[MAX_CITIES];
    uint64_t state = 5;
    long found;

    arguments(argc, argv);
    cities = CITIES + scale / 33;
    for (int i = 0; i < cities; i++) {
        x[i] = next_uniform(&state);
        y[i] = next_uniform(&state);
    }
    for (int i = 0; i < cities; i++) {
        shortest[i] = LONG_MAX;
        for (int j = 0; j < cities; j++) {
            distance[i][j] = (long)(10000 * hypot(x[i] - x[j], y[i] - y[j]));
            if (i != j && distance[i][j] < shortest[i])
                shortest[i] = distance[i][j];
        }
        root.rest += shortest[i];
    }
    root.bound = root.rest;
    store(0, &root);
    stack[top++] = 0;
    for (int i = POOL - 1; i > 0; i--)
        free_tours[free_top++] = i;
    best = LONG_MAX;
    team(threads, searcher);
    pthread_mutex_lock(&best_lock);
    found = best;
    pthread_mutex_unlock(&best_lock);
    MUST(found <= greedy() && found >= root.bound);
    printf("tsp: %d cities, length %ld\n", cities, found);
    return 0;
}
