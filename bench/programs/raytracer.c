/*
 * raytracer.c - renders 64 spheres with light, shadow and reflection; the threads take lines in turn.
 *
 * FastTrack paper, table 1 (Java Grande raytracer, 4 threads): 1 for all six. Comparison paper, table 3:
 * FastTrack 1, AccuLock 1, SimpleLock+ 0, MultiLock-HB 1; table 2, raytracer-s: 3, 3, 2, 3, and CP 3.
 *
 * Real: `checksum`. Every thread adds its own to it under a lock that is its own too. The two more of
 * raytracer-s are not recreated: the paper does not say what they are.
 *
 * Detectors: SimpleLock+ misses it, because both sides hold a lock, if not the same. Eraser and MultiRace
 * see it when the third thread empties the lock set.
 */
// ARGS: 4 1
// FLAGS: -Wall -Wextra -Werror -lm
// OUTPUT: raytracer: 20 by 300 points, checksum 325212
#include "program.h"

#include <math.h>

enum { GRID = 4, SPHERES = GRID * GRID * GRID, WIDTH = 20, HEIGHT = 300, DEPTH = 4 };

struct vec {
    double x, y, z;
};

struct sphere {
    struct vec centre;
    double radius, shine;
    double colour;
};

static struct sphere spheres[SPHERES]; /* by main before there is another thread */
static pthread_mutex_t own_lock[MAX_THREADS];
static long checksum;

static struct vec along(struct vec from, double t, struct vec d)
{
    return (struct vec){from.x + t * d.x, from.y + t * d.y, from.z + t * d.z};
}

static double dot(struct vec a, struct vec b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static struct vec unit(struct vec a)
{
    double n = sqrt(dot(a, a));

    return (struct vec){a.x / n, a.y / n, a.z / n};
}

static void build(void)
{
    for (int i = 0; i < SPHERES; i++) {
        struct vec where = {i % GRID - 1.5, i / GRID % GRID - 1.5, i / GRID / GRID - 1.5};

        spheres[i] = (struct sphere){along((struct vec){0, 0, 8}, 1.7, where), 0.6, 0.25 + 0.5 * (i % 3) / 2,
                                     0.3 + 0.7 * (i % 7) / 6};
    }
}

/* The distance to the nearest sphere along a ray, or a negative number. */
static double nearest(struct vec from, struct vec d, int *ret_sphere)
{
    double best = -1;

    for (int i = 0; i < SPHERES; i++) {
        struct vec to = along(spheres[i].centre, -1, from);
        double b = dot(to, d), under = b * b - dot(to, to) + spheres[i].radius * spheres[i].radius, t;

        if (under < 0)
            continue;
        t = b - sqrt(under);
        if (t > 1e-6 && (best < 0 || t < best)) {
            best = t;
            *ret_sphere = i;
        }
    }
    return best;
}

static double trace(struct vec from, struct vec d, int depth)
{
    static const struct vec lamps[2] = {{-10, 10, -4}, {6, 12, 0}};
    int hit = 0, other;
    double t = nearest(from, d, &hit), light = 0.1;
    struct vec point, normal, mirrored;

    if (t < 0)
        return 0.05;
    point = along(from, t, d);
    normal = unit(along(point, -1, spheres[hit].centre));
    for (int i = 0; i < 2; i++) {
        struct vec to = unit(along(lamps[i], -1, point));
        double cosine = dot(normal, to);

        if (cosine > 0 && nearest(point, to, &other) < 0)
            light += 0.5 * cosine;
    }
    light *= spheres[hit].colour;
    if (depth == 0)
        return light;
    mirrored = along(d, -2 * dot(d, normal), normal);
    return light + spheres[hit].shine * trace(point, mirrored, depth - 1);
}

static long render_line(int y, int width)
{
    long sum = 0;

    for (int x = 0; x < width; x++) {
        struct vec d = unit((struct vec){(x + 0.5) / width - 0.5, (y + 0.5) / HEIGHT - 0.5, 0.8});

        sum += (long)(255 * fmin(1, trace((struct vec){0, 0, 0}, d, DEPTH)));
    }
    return sum;
}

THREAD(renderer)
{
    int me = ME;
    long sum = 0;

    for (int y = me; y < HEIGHT; y += threads)
        sum += render_line(y, WIDTH * scale);
    mark();
    after(threads + me);
    pthread_mutex_lock(&own_lock[me]);
    checksum += sum; // RACE a
    pthread_mutex_unlock(&own_lock[me]);
    mark();
    return NULL;
}

int main(int argc, char **argv)
{
    arguments(argc, argv);
    build();
    for (int i = 0; i < threads; i++)
        pthread_mutex_init(&own_lock[i], NULL);
    team(threads, renderer);
    printf("raytracer: %d by %d points, checksum %ld\n", WIDTH * scale, HEIGHT, checksum);
    return 0;
}
