/*
 * aos.c - an array of structures swept by one or two fields at a time.
 *
 * Strided loops: neighbouring accesses of one are a structure apart, and between them lies memory that other
 * sweeps touch. The parts move on by one thread each pass.
 */
#include "kernel.h"

#define PARTICLES (1u << 15)

struct particle {
    double x, y, z;
    double vx, vy, vz;
    double mass;
    uint32_t kind;
    uint32_t hits;
};

static struct particle *particles;
static size_t n_particles, passes;
static pthread_barrier_t turn;

static void sweep(struct particle *p, size_t n, unsigned which)
{
    switch (which) {
    case 0:
        for (size_t i = 0; i < n; i++)
            p[i].x += p[i].vx;
        break;
    case 1:
        for (size_t i = 0; i < n; i++)
            p[i].hits += p[i].kind;
        break;
    case 2:
        for (size_t i = 0; i < n; i++)
            p[i].vx *= -0.5;
        break;
    default:
        for (size_t i = 0; i < n; i++)
            p[i].mass += p[i].y * p[i].vy;
        break;
    }
}

static void *body(void *index)
{
    unsigned me = (unsigned)(uintptr_t)index;

    for (size_t pass = 0; pass < passes; pass++) {
        size_t lo, hi;
        kernel_share(n_particles, (unsigned)((me + pass) % n_threads), &lo, &hi);
        sweep(particles + lo, hi - lo, (unsigned)(pass % 4));
        pthread_barrier_wait(&turn);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    uint64_t state = 29, sum = 0;

    kernel_args(argc, argv);
    passes = kernel_passes(6000);
    n_particles = (size_t)PARTICLES * volume;
    particles = kernel_alloc(n_particles, sizeof(*particles));
    for (size_t i = 0; i < n_particles; i++) {
        particles[i].vx = (double)(kernel_random(&state) % 1024);
        particles[i].y = (double)(kernel_random(&state) % 1024);
        particles[i].vy = (double)(kernel_random(&state) % 1024);
        particles[i].kind = (uint32_t)(kernel_random(&state) % 4);
    }
    pthread_barrier_init(&turn, NULL, n_threads);
    kernel_run(body);
    for (size_t i = 0; i < n_particles; i++) {
        sum = kernel_mix(sum, (uint64_t)(int64_t)particles[i].x);
        sum = kernel_mix(sum, (uint64_t)particles[i].mass + particles[i].hits);
    }
    kernel_print(sum);
    free(particles);
    return 0;
}
