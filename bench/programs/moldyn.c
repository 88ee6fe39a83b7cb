/*
 * moldyn.c - molecular dynamics: particles in a periodic box, a Lennard-Jones force between near ones.
 *
 * FastTrack paper, table 1 (Java Grande moldyn, 4 threads): 0 for all six. Comparison paper, table 3: 0 for
 * all; table 2, moldyn-s: 2 for all five detectors.
 *
 * Real: none. Every thread moves a copy of all particles, as in the original, and adds the forces of its
 * pairs to the shared ones under a lock; barriers part adding, reading and clearing. The two races of
 * moldyn-s are not recreated: a barrier here is the library's. (The FastTrack paper says that some of its
 * programs have faulty barriers of their own, for which it compensates.)
 *
 * False: none, since what is shared is touched under the lock only, even where the barriers would do. Eraser
 * needs that; without it, it would report what two threads write in different phases, as it does in sor.
 *
 * Forces are added as integers: then the order of adding does not change the result.
 */
// ARGS: 4 1
// FLAGS: -Wall -Wextra -Werror -lm
// OUTPUT: moldyn: 500 particles, kinetic 62.288620, potential -3264.494040
// NO RACE
#include "program.h"

#include <math.h>
#include <string.h>

enum { SIDE = 5, PARTICLES = 4 * SIDE * SIDE * SIDE, STEPS = 6 };
#define UNIT 16777216.0 /* of the integers */
#define DENSITY 0.83134
#define CUT 2.25
#define DT 0.002

struct box {
    double edge;
    double at[3 * PARTICLES], speed[3 * PARTICLES];
    int64_t force[3 * PARTICLES], energy;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int64_t force[3 * PARTICLES], energy; /* lock */
static double results[2];                    /* lock */
static pthread_barrier_t barrier;

/* Four particles a cell of the crystal, and speeds that add up to nothing. */
static void build(struct box *box)
{
    static const double corner[4][3] = {{0, 0, 0}, {0.5, 0.5, 0}, {0.5, 0, 0.5}, {0, 0.5, 0.5}};
    uint64_t state = 42;
    int i = 0;

    box->edge = cbrt(PARTICLES / DENSITY);
    for (int cell = 0; cell < SIDE * SIDE * SIDE; cell++)
        for (int k = 0; k < 4; k++)
            for (int axis = 0; axis < 3; axis++) {
                int where[3] = {cell % SIDE, cell / SIDE % SIDE, cell / SIDE / SIDE};

                box->at[i] = (where[axis] + corner[k][axis]) * box->edge / SIDE;
                box->speed[i++] = next_uniform(&state) - 0.5;
            }
    for (int axis = 0; axis < 3; axis++) {
        double sum = 0;

        for (int p = 0; p < PARTICLES; p++)
            sum += box->speed[3 * p + axis];
        for (int p = 0; p < PARTICLES; p++)
            box->speed[3 * p + axis] -= sum / PARTICLES;
    }
}

static void pair_force(struct box *box, int p, int q)
{
    double d[3], square = 0, inverse, six;

    for (int axis = 0; axis < 3; axis++) {
        d[axis] = box->at[3 * p + axis] - box->at[3 * q + axis];
        if (d[axis] > box->edge / 2)
            d[axis] -= box->edge;
        if (d[axis] < -box->edge / 2)
            d[axis] += box->edge;
        square += d[axis] * d[axis];
    }
    if (square > CUT * CUT)
        return;
    inverse = 1 / square;
    six = inverse * inverse * inverse;
    box->energy += (int64_t)(4 * (six * six - six) * UNIT);
    for (int axis = 0; axis < 3; axis++) {
        int64_t f = (int64_t)(24 * (2 * six * six - six) * inverse * d[axis] * UNIT);

        box->force[3 * p + axis] += f;
        box->force[3 * q + axis] -= f;
    }
}

/* The forces of all pairs, of which this thread computes its rows. */
static void forces(struct box *box, int me)
{
    memset(box->force, 0, sizeof(box->force));
    box->energy = 0;
    for (int p = me; p < PARTICLES; p += threads)
        for (int q = p + 1; q < PARTICLES; q++)
            pair_force(box, p, q);
    pthread_mutex_lock(&lock);
    for (int i = 0; i < 3 * PARTICLES; i++)
        force[i] += box->force[i];
    energy += box->energy;
    pthread_mutex_unlock(&lock);
    pthread_barrier_wait(&barrier);
    pthread_mutex_lock(&lock);
    memcpy(box->force, force, sizeof(force));
    box->energy = energy;
    pthread_mutex_unlock(&lock);
    if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD) {
        pthread_mutex_lock(&lock);
        memset(force, 0, sizeof(force));
        energy = 0;
        pthread_mutex_unlock(&lock);
    }
    pthread_barrier_wait(&barrier);
}

THREAD(mover)
{
    struct box *box = calloc(1, sizeof(*box));
    double kinetic = 0;

    MUST(box);
    build(box);
    forces(box, ME);
    for (int step = 0; step < STEPS * scale; step++) {
        for (int i = 0; i < 3 * PARTICLES; i++) {
            box->speed[i] += box->force[i] / UNIT * DT / 2;
            box->at[i] += box->speed[i] * DT;
            box->at[i] -= box->edge * floor(box->at[i] / box->edge);
        }
        forces(box, ME);
        for (int i = 0; i < 3 * PARTICLES; i++)
            box->speed[i] += box->force[i] / UNIT * DT / 2;
    }
    for (int i = 0; i < 3 * PARTICLES; i++)
        kinetic += box->speed[i] * box->speed[i] / 2;
    if (ME == 0) {
        pthread_mutex_lock(&lock);
        results[0] = kinetic;
        results[1] = box->energy / UNIT;
        pthread_mutex_unlock(&lock);
    }
    free(box);
    return NULL;
}

int main(int argc, char **argv)
{
    arguments(argc, argv);
    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    team(threads, mover);
    pthread_barrier_destroy(&barrier);
    pthread_mutex_lock(&lock);
    printf("moldyn: %d particles, kinetic %.6f, potential %.6f\n", PARTICLES, results[0], results[1]);
    pthread_mutex_unlock(&lock);
    return 0;
}
