/*
 * rays.c - a ray tracer: spheres in a hierarchy of bounding boxes that every thread descends recursively,
 * with reflections; tiles of the picture are handed out by a counter under a lock.
 *
 * The scene is written by one thread before the others start, and read by all of them in no order; a pixel is
 * written once a frame.
 */
#include "kernel.h"

#include <math.h>
#include <string.h>

#define SPHERES 4096
#define WIDTH 192
#define TILE 16
#define TILES ((WIDTH / TILE) * (WIDTH / TILE))
#define BOUNCES 3
#define LEAF 4

struct vec {
    double x, y, z;
};

struct sphere {
    struct vec centre;
    double radius, shine;
    struct vec colour;
};

struct box {
    struct vec lo, hi;
    struct box *left, *right;     /* NULL in a leaf */
    const struct sphere *spheres; /* of a leaf */
    unsigned count;
};

struct hit {
    double far;
    const struct sphere *sphere;
};

static struct sphere *spheres;
static size_t n_spheres, frames, n_boxes;
static struct box *boxes;
static struct vec (*picture)[WIDTH];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static size_t next_tile; /* under lock; goes on through all frames */

static struct vec sub(struct vec a, struct vec b)
{
    return (struct vec){a.x - b.x, a.y - b.y, a.z - b.z};
}

static struct vec along(struct vec a, double f, struct vec b)
{
    return (struct vec){a.x + f * b.x, a.y + f * b.y, a.z + f * b.z};
}

static double dot(struct vec a, struct vec b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static struct vec unit(struct vec a)
{
    return along((struct vec){0, 0, 0}, 1 / sqrt(dot(a, a)), a);
}

static double axis(const struct vec *v, unsigned k)
{
    return k == 0 ? v->x : k == 1 ? v->y : v->z;
}

static unsigned order_by;

static int by_axis(const void *a, const void *b)
{
    double x = axis(&((const struct sphere *)a)->centre, order_by);
    double y = axis(&((const struct sphere *)b)->centre, order_by);
    return (x > y) - (x < y);
}

static struct box *enclose(struct sphere *s, size_t n)
{
    struct box *b = &boxes[n_boxes++];
    unsigned longest = 0;

    b->lo = (struct vec){1e30, 1e30, 1e30};
    b->hi = (struct vec){-1e30, -1e30, -1e30};
    for (size_t i = 0; i < n; i++) {
        double r = s[i].radius;
        struct vec c = s[i].centre;
        b->lo = (struct vec){fmin(b->lo.x, c.x - r), fmin(b->lo.y, c.y - r), fmin(b->lo.z, c.z - r)};
        b->hi = (struct vec){fmax(b->hi.x, c.x + r), fmax(b->hi.y, c.y + r), fmax(b->hi.z, c.z + r)};
    }
    if (n <= LEAF) {
        b->spheres = s;
        b->count = (unsigned)n;
        return b;
    }
    struct vec size = sub(b->hi, b->lo);
    for (unsigned k = 1; k < 3; k++)
        if (axis(&size, k) > axis(&size, longest))
            longest = k;
    order_by = longest;
    qsort(s, n, sizeof(*s), by_axis);
    b->left = enclose(s, n / 2);
    b->right = enclose(s + n / 2, n - n / 2);
    return b;
}

/* Whether the ray enters the box before `far`. */
static int meets(const struct box *b, struct vec from, struct vec inverse, double far)
{
    double near = 0;

    for (unsigned k = 0; k < 3; k++) {
        double t0 = (axis(&b->lo, k) - axis(&from, k)) * axis(&inverse, k);
        double t1 = (axis(&b->hi, k) - axis(&from, k)) * axis(&inverse, k);
        near = fmax(near, fmin(t0, t1));
        far = fmin(far, fmax(t0, t1));
    }
    return near <= far;
}

static void descend(const struct box *b, struct vec from, struct vec to, struct vec inverse, struct hit *hit)
{
    if (!meets(b, from, inverse, hit->far))
        return;
    if (b->left) {
        descend(b->left, from, to, inverse, hit);
        descend(b->right, from, to, inverse, hit);
        return;
    }
    for (unsigned i = 0; i < b->count; i++) {
        const struct sphere *s = &b->spheres[i];
        struct vec d = sub(s->centre, from);
        double middle = dot(d, to), square = middle * middle - dot(d, d) + s->radius * s->radius;
        if (square <= 0)
            continue;
        double t = middle - sqrt(square);
        if (t > 1e-6 && t < hit->far) {
            hit->far = t;
            hit->sphere = s;
        }
    }
}

static struct vec trace(struct vec from, struct vec to, unsigned bounces)
{
    struct hit hit = {.far = 1e30};

    descend(boxes, from, to, (struct vec){1 / to.x, 1 / to.y, 1 / to.z}, &hit);
    if (!hit.sphere)
        return (struct vec){0.1, 0.1, 0.2 + 0.1 * to.y};
    struct vec at = along(from, hit.far, to), normal = unit(sub(at, hit.sphere->centre));
    double light = fmax(0.1, dot(normal, (struct vec){0.6, 0.64, -0.48}));
    struct vec colour = along((struct vec){0, 0, 0}, light, hit.sphere->colour);
    if (!bounces)
        return colour;
    struct vec reflected = unit(along(to, -2 * dot(to, normal), normal));
    return along(colour, hit.sphere->shine, trace(at, reflected, bounces - 1));
}

static void *body(void *index)
{
    (void)index;
    for (;;) {
        pthread_mutex_lock(&lock);
        size_t tile = next_tile++;
        pthread_mutex_unlock(&lock);
        if (tile >= frames * TILES)
            return NULL;
        /* Frames differ in where the eye looks, and lie below each other in the picture. */
        double turn = 0.05 * (double)(tile / TILES);
        size_t left = tile % TILES % (WIDTH / TILE) * TILE, above = tile % TILES / (WIDTH / TILE) * TILE;
        for (size_t y = above; y < above + TILE; y++)
            for (size_t x = left; x < left + TILE; x++) {
                struct vec to = {(double)x / WIDTH - 0.5003 + turn, (double)y / WIDTH - 0.4997, 1};
                picture[tile / TILES * WIDTH + y][x] = trace((struct vec){0, 0, -30}, unit(to), BOUNCES);
            }
    }
}

int main(int argc, char **argv)
{
    uint64_t state = 17, sum = 0;

    kernel_args(argc, argv);
    frames = kernel_scaled(16);
    n_spheres = (size_t)SPHERES * volume;
    spheres = kernel_alloc(n_spheres, sizeof(*spheres));
    for (size_t i = 0; i < n_spheres; i++) {
        double *field = (double *)&spheres[i];
        for (size_t k = 0; k < sizeof(spheres[i]) / sizeof(double); k++)
            field[k] = (double)(kernel_random(&state) % 4096) / 4096;
        spheres[i].centre = along((struct vec){-10, -10, -10}, 20, spheres[i].centre);
        spheres[i].radius = (0.1 + 0.4 * spheres[i].radius) / cbrt(volume);
        spheres[i].shine *= 0.5;
    }
    boxes = kernel_alloc(2 * n_spheres, sizeof(*boxes));
    enclose(spheres, n_spheres);
    picture = kernel_alloc(frames * WIDTH, sizeof(*picture));
    kernel_run(body);
    for (size_t y = 0; y < frames * WIDTH; y++)
        for (size_t x = 0; x < WIDTH; x++) {
            uint64_t bits[3];
            memcpy(bits, &picture[y][x], sizeof(bits));
            sum = kernel_mix(kernel_mix(kernel_mix(sum, bits[0]), bits[1]), bits[2]);
        }
    kernel_print(sum);
    free(picture);
    free(boxes);
    free(spheres);
    return 0;
}
