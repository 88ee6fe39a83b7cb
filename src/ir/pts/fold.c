/*
 * fold.c - offsets: which offsets of an object are equivalent, and where an offset leads.
 *
 * A fold says that a part of an object is an array, whose elements are not distinguished: its offsets are
 * taken modulo the element's size. Folds nest (an array in a structure in an array); the inner one lies in
 * the first element of the outer one. They come from the client (types) and from strided constraints,
 * including those that order.c derives from cycles that add an offset in each iteration: so p = p + 16 walks
 * an array of 16-byte elements, and keeps the fields in an element apart, where limiting the number of fields
 * or making the object field-insensitive would not. (Cf. Lei and Sui, "Fast and precise handling of positive
 * weight cycles for field-sensitive pointer analysis", SAS 2019, which widens sets rather than objects.)
 *
 * Folds only ever get coarser, so the solver terminates.
 */
#include "ir/pts/solver.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * A step smaller than a pointer, through something not known to be an array of such, is a walk over bytes: it
 * may be anywhere, but it does not make a structure an array.
 */
enum { SMALLEST_LEARNT = 8 };

#define ANYWHERE INT64_MAX

static bool inside(const struct fold *f, uint32_t offset)
{
    return offset >= f->start && offset < f->end;
}

static uint32_t folded(const struct fold *f, uint32_t offset)
{
    return f->start + (offset - f->start) % f->stride;
}

uint32_t dh_pts_canon(const struct object *o, uint32_t offset)
{
    if (o->function)
        return 0;
    if (o->collapsed || offset == DH_PTS_ANY)
        return DH_PTS_ANY;
    for (uint32_t i = 0; i < o->folds_n; i++)
        if (inside(&o->folds[i], offset))
            offset = folded(&o->folds[i], offset);
    return offset;
}

static uint32_t gcd(uint32_t a, uint32_t b)
{
    while (b) {
        uint32_t t = a % b;
        a = b;
        b = t;
    }
    return a;
}

/* Does the run [start, end) lie in one element of an array with this start and stride? */
static bool in_element(uint32_t start, uint32_t end, uint32_t array, uint32_t stride)
{
    return (uint64_t)((start - array) % stride) + (end - start) <= stride;
}

static bool append(struct dh_pts *p, struct object *o, struct fold f)
{
    if (o->folds_n == o->folds_cap) {
        uint32_t cap = o->folds_cap ? o->folds_cap * 2 : 2;
        struct fold *more = realloc(o->folds, cap * sizeof *more);
        if (!more) {
            p->failed = -ENOMEM;
            return false;
        }
        o->folds = more;
        o->folds_cap = cap;
    }
    o->folds[o->folds_n++] = f;
    return true;
}

static void take_out(struct object *o, uint32_t i)
{
    o->folds_n--;
    memmove(&o->folds[i], &o->folds[i + 1], (o->folds_n - i) * sizeof o->folds[0]);
}

/*
 * Put f in its place. True if the object changed. Arrays that overlap without one being in an element of the
 * other become one, with a stride that divides both.
 */
static bool insert(struct dh_pts *p, struct object *o, struct fold f)
{
    for (uint32_t i = 0; i < o->folds_n; i++) {
        struct fold *g = &o->folds[i];
        if (f.end <= g->start || f.start >= g->end)
            continue;
        if (f.start >= g->start && f.end <= g->end) {
            if (f.stride % g->stride == 0)
                return false;
            if (in_element(f.start, f.end, g->start, g->stride)) {
                uint32_t length = f.end - f.start;
                f.start = folded(g, f.start);
                f.end = f.start + length;
                continue;
            }
        } else if (f.start <= g->start && g->end <= f.end && in_element(g->start, g->end, f.start, f.stride))
            continue;
        f.stride = gcd(f.stride, g->stride);
        f.bounds &= g->bounds;
        f.start = f.start < g->start ? f.start : g->start;
        f.end = f.end > g->end ? f.end : g->end;
        take_out(o, i);
        i = UINT32_MAX; /* once more from the start, with the larger array */
    }
    /* The ones in its elements come after it, in its coordinates. */
    struct fold inner[MAX_FOLDS];
    uint32_t n = 0;
    for (uint32_t i = 0; i < o->folds_n;) {
        struct fold *g = &o->folds[i];
        if (f.start <= g->start && g->end <= f.end) {
            uint32_t length = g->end - g->start;
            uint32_t start = folded(&f, g->start);
            inner[n++] = (struct fold){start, start + length, g->stride, g->bounds};
            take_out(o, i);
        } else
            i++;
    }
    if (!append(p, o, f))
        return false;
    for (uint32_t i = 0; i < n; i++)
        insert(p, o, inner[i]);
    return true;
}

/* Arrays that no type tells of: learnt, or copied from other objects, back and forth if they are many. */
static uint32_t guesses(const struct object *o)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < o->folds_n; i++)
        n += !o->folds[i].bounds;
    return n;
}

void dh_pts_fold(struct dh_pts *p, uint32_t object, uint32_t start, uint32_t end, uint32_t stride,
                 bool bounds)
{
    struct object *o = &p->objects.at[object];
    if (end > o->size)
        end = o->size;
    if (o->collapsed || o->function || stride == 0 || start >= end || end - start <= stride)
        return;
    if (!insert(p, o, (struct fold){start, end, stride, bounds}))
        return;
    p->stats.folded++;
    if (o->folds_n >= MAX_FOLDS || guesses(o) >= MAX_GUESSES)
        dh_pts_collapse(p, object);
    else
        dh_pts_refold(p, object);
}

/*
 * Copies that go in a circle and are shifted on the way make an array longer by a few bytes each time round.
 * Whatever has changed an object so often goes on to do so, and is taken to the object's ends at once.
 */
void dh_pts_fold_copied(struct dh_pts *p, uint32_t object, uint32_t start, uint32_t end, uint32_t stride)
{
    uint64_t before = p->stats.folded;
    if (p->objects.at[object].copied_folds >= MAX_COPIED) {
        start = 0;
        end = p->objects.at[object].size;
    }
    dh_pts_fold(p, object, start, end, stride, false);
    if (p->stats.folded == before || p->objects.at[object].copied_folds == MAX_COPIED)
        return;
    if (++p->objects.at[object].copied_folds == MAX_COPIED)
        p->stats.stretched++;
}

/*
 * dst = src + i * stride with nothing known of the array: fold as much as that can reach, which is the array
 * the type gives, if there is one.
 */
static void learn(struct dh_pts *p, uint32_t object, uint32_t x, uint32_t stride)
{
    struct object *o = &p->objects.at[object];
    uint32_t low = 0, high = o->size;
    for (uint32_t i = 0; i < o->folds_n; i++) {
        const struct fold *g = &o->folds[i];
        if (!inside(g, x))
            continue;
        if (!g->bounds) {
            stride = gcd(stride, g->stride); /* x is any of its elements already */
            continue;
        }
        low = g->start;
        high = g->end;
        if (g->stride % stride) {
            stride = gcd(stride, g->stride);
            break;
        }
        /* It may cross from element to element and still come to the same offsets in each. */
        high = g->start + g->stride;
        x = folded(g, x);
    }
    dh_pts_fold(p, object, low, high, stride, false);
}

static bool in_array(const struct object *o, uint32_t x)
{
    for (uint32_t i = 0; i < o->folds_n; i++)
        if (inside(&o->folds[i], x))
            return true;
    return false;
}

/* Is x in an array whose elements a multiple of stride does not leave? */
static bool known_array(const struct object *o, uint32_t x, uint32_t stride)
{
    for (uint32_t i = 0; i < o->folds_n; i++) {
        if (!inside(&o->folds[i], x))
            continue;
        if (stride % o->folds[i].stride == 0 && o->folds[i].bounds)
            return true;
        x = folded(&o->folds[i], x);
    }
    return false;
}

/*
 * off + offset, where off may stand for any element of an array. From an array to its outside: see the
 * assumptions in pts.h.
 */
static int64_t moved(const struct object *o, uint32_t off, int64_t offset, bool strided)
{
    int64_t x = off + offset;
    for (uint32_t i = 0; i < o->folds_n; i++) {
        const struct fold *g = &o->folds[i];
        if (!inside(g, off))
            continue;
        int64_t size = (int64_t)g->end - g->start;
        if ((x >= g->start && x < g->end) || offset >= size || offset <= -size)
            break;
        if (x < g->start && g->start > 0 && !strided)
            return ANYWHERE; /* the element before, or the structure around the array */
        int64_t in = (x - g->start) % g->stride;
        x = g->start + (in < 0 ? in + g->stride : in);
        break;
    }
    return x;
}

/*
 * The location at an offset; one past the end is a pointer that programs have. Beyond, there is none: no
 * program may compute it, and where sets are too large, most of what an offset leads to is out there.
 */
static uint32_t at_offset(struct dh_pts *p, uint32_t object, int64_t x)
{
    const struct object *o = &p->objects.at[object];
    if (x == ANYWHERE || (x >= DH_PTS_ANY && o->size == DH_PTS_ANY))
        return dh_pts_location_at(p, object, DH_PTS_ANY);
    if (x < 0 || x > o->size || x >= DH_PTS_ANY) {
        p->stats.outside++;
        return DH_PTS_NONE;
    }
    return dh_pts_location_at(p, object, dh_pts_canon(o, (uint32_t)x));
}

/* The client knows the array that steps of `stride` from x stay in. */
static bool confined(struct dh_pts *p, uint32_t object, uint32_t x, uint32_t stride)
{
    uint32_t start, end;
    if (!p->options.array || !p->options.array(p->options.client, object, x, stride, &start, &end) ||
        x < start || x >= end)
        return false;
    p->stats.confined++;
    dh_pts_fold(p, object, start, end, stride, true); /* none, if there is no room for a step */
    return true;
}

/* The client knows that there is no room for a step: what is at x is no array. */
static bool stays(struct dh_pts *p, uint32_t object, uint32_t x, uint32_t stride)
{
    uint32_t start, end;
    return p->options.array && !in_array(&p->objects.at[object], x) &&
           p->options.array(p->options.client, object, x, stride, &start, &end) && x >= start && x < end &&
           end - start <= stride;
}

/*
 * Make an array of what steps of `stride` reach from x, which stands for several places if `several`. False:
 * it does not become one, and they reach anything.
 */
static bool array_around(struct dh_pts *p, uint32_t object, uint32_t x, uint32_t stride, bool several)
{
    const struct object *o = &p->objects.at[object];
    /* No room for the element before nor for the one after: not an array. */
    bool one = !several && !in_array(o, x) && x < stride && (uint64_t)x + stride >= o->size;
    if (one || x >= o->size /* behind its end */ || known_array(o, x, stride) ||
        confined(p, object, x, stride))
        return true;
    if (stride < SMALLEST_LEARNT)
        return false;
    learn(p, object, x, stride);
    return true;
}

uint32_t dh_pts_step(struct dh_pts *p, uint32_t location, int64_t offset)
{
    location = dh_pts_standing(p, location);
    struct location l = p->locations.at[location];
    const struct object *o = &p->objects.at[l.object];
    if (o->function || l.offset == DH_PTS_ANY)
        return location;
    return at_offset(p, l.object, moved(o, l.offset, offset, false));
}

uint32_t dh_pts_step_round(struct dh_pts *p, uint32_t location, int64_t offset, uint32_t weight)
{
    location = dh_pts_standing(p, location);
    struct location l = p->locations.at[location];
    if (p->objects.at[l.object].function || l.offset == DH_PTS_ANY)
        return location;
    if (stays(p, l.object, l.offset, weight))
        return location;
    if (!array_around(p, l.object, l.offset, weight, false))
        return dh_pts_location_at(p, l.object, DH_PTS_ANY);
    location = dh_pts_standing(p, location);
    l = p->locations.at[location];
    if (l.offset == DH_PTS_ANY)
        return location;
    return at_offset(p, l.object, moved(&p->objects.at[l.object], l.offset, offset, true));
}

uint32_t dh_pts_step_element(struct dh_pts *p, uint32_t location, int64_t offset, uint32_t stride,
                             uint32_t length)
{
    location = dh_pts_standing(p, location);
    struct location l = p->locations.at[location];
    const struct object *o = &p->objects.at[l.object];
    if (o->function || l.offset == DH_PTS_ANY)
        return location;
    bool from_array = in_array(o, l.offset);
    /* From any element of an array on: steps of its size are in it already. */
    for (uint32_t i = 0; !length && i < o->folds_n; i++)
        if (inside(&o->folds[i], l.offset))
            stride = gcd(stride, o->folds[i].stride);
    int64_t x = moved(o, l.offset, offset, true);
    /* a[i - 1]: the index that makes it land in the object is as good as any. */
    if (!length && (x < 0 || x >= o->size))
        x = (x % stride + stride) % stride;
    if (x < 0 || x >= o->size || x >= DH_PTS_ANY)
        return at_offset(p, l.object, x);
    uint32_t at = (uint32_t)x;
    if (length) {
        uint64_t end = length == DH_PTS_ANY ? UINT32_MAX : (uint64_t)at + length;
        dh_pts_fold(p, l.object, at, end > UINT32_MAX ? UINT32_MAX : (uint32_t)end, stride, true);
    } else if (!array_around(p, l.object, at, stride, from_array))
        return dh_pts_location_at(p, l.object, DH_PTS_ANY);
    return at_offset(p, l.object, x);
}

bool dh_pts_folded(const struct dh_pts *p, dh_pts_object o, uint32_t offset)
{
    return offset == DH_PTS_ANY || in_array(&p->objects.at[o], offset);
}
