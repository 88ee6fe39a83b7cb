/*
 * fields.c - a race on one heap block after another, of which the type is plain, or nearly so, or cannot be told. Two
 * threads run CASE_a and CASE_b of each; run.sh knows what is to be said of its block.
 */
#include <string.h>

#include "invisible.h"

#define KEPT __attribute__((noinline)) /* a frame of its own at any level of optimisation */

KEPT static void *xalloc(size_t size)
{
    void *block = malloc(size);
    MUST(block);
    memset(block, 0, size);
    return block;
}

/* ---- As it should be ---- */

struct plain {
    int id, refs;
    char name[11];
};
static struct plain *plain;
KEPT static struct plain *plain_new(void)
{
    return xalloc(sizeof(struct plain));
}
KEPT static void plain_a(struct plain *p)
{
    p->refs = 1;
}
KEPT static void plain_b(struct plain *p)
{
    p->refs = 2;
}

/* A structure in a structure, an array in it, and what has no name. */
struct nested {
    long first;
    struct {
        short port, proto[3];
    } peer[2];
    struct {
        int inner;
    };
};
static struct nested *nested;
KEPT static struct nested *nested_new(void)
{
    return xalloc(sizeof(struct nested));
}
KEPT static void nested_a(struct nested *n)
{
    n->peer[1].proto[2] = 1;
    n->inner = 1;
}
KEPT static void nested_b(struct nested *n)
{
    n->peer[1].proto[2] = 2;
    n->inner = 2;
}

/* An array of structures. */
struct slot {
    int key;
    int value;
};
static struct slot *slots;
KEPT static struct slot *slots_new(size_t n)
{
    return xalloc(n * sizeof(struct slot));
}
KEPT static void slots_a(struct slot *table, int i)
{
    table[i].value = 1;
}
KEPT static void slots_b(struct slot *table, int i)
{
    table[i].value = 2;
}

/* An array at the end. */
struct message {
    int length;
    int words[];
};
static struct message *message;
KEPT static struct message *message_new(size_t n)
{
    return xalloc(sizeof(struct message) + n * sizeof(int));
}
KEPT static void message_a(struct message *m)
{
    m->words[5] = 1;
    m->length = 1;
}
KEPT static void message_b(struct message *m)
{
    m->words[5] = 2;
    m->length = 2;
}

/* One that has only a typedef for a name, by way of another pointer. */
typedef struct {
    long used, free_;
    void *next;
} arena_t;
struct owner {
    arena_t *arena;
    int pad[9];
};
static struct owner owner;
KEPT static void arena_new(struct owner *o)
{
    o->arena = xalloc(sizeof(arena_t));
}
KEPT static void arena_a(struct owner *o)
{
    o->arena->used = 1;
}
KEPT static void arena_b(struct owner *o)
{
    o->arena->used = 2;
}

/* The address of a member is all that the function knows. */
struct counted {
    long id[3], count;
};
static struct counted *counted;
KEPT static struct counted *counted_new(void)
{
    return xalloc(sizeof(struct counted));
}
KEPT static void add_to(long *p)
{
    *p += 1;
}
KEPT static void counted_a(struct counted *c)
{
    add_to(&c->count);
}
KEPT static void counted_b(struct counted *c)
{
    add_to(&c->count);
}

/* One function knows the part only. */
struct base {
    int kind, refs;
};
struct derived {
    struct base base;
    int extra[5];
};
static struct derived *derived;
KEPT static struct derived *derived_new(void)
{
    return xalloc(sizeof(struct derived));
}
KEPT static void derived_a(struct base *b)
{
    b->refs = 1;
}
KEPT static void derived_b(struct derived *d)
{
    d->base.refs = 2;
}

/* All of it at once, and the end of it. */
struct cleared {
    int a, b, c, d, e, f, g, h, i;
};
static struct cleared *cleared;
KEPT static struct cleared *cleared_new(void)
{
    return xalloc(sizeof(struct cleared));
}
KEPT static void cleared_a(struct cleared *c)
{
    memset(c, 0, sizeof(*c));
}
KEPT static void cleared_b(struct cleared *c)
{
    c->e = 2;
}
struct gone {
    int a, b, c, d, e, f, g, h, i, j;
};
static struct gone *gone;
KEPT static struct gone *gone_new(void)
{
    return xalloc(sizeof(struct gone));
}
KEPT static void gone_a(struct gone *g)
{
    g->f = 1;
}
KEPT static void gone_b(void *block)
{
    free(block);
}

/* Where it is allocated, in opaque.c, the type has no more than a name. */
struct opaque {
    int o1, o2;
    int pad[17];
};
struct opaque *opaque_new(size_t size);
static struct opaque *opaque;
KEPT static void opaque_a(struct opaque *o)
{
    o->o2 = 1;
}
KEPT static void opaque_b(struct opaque *o)
{
    o->o2 = 2;
}

/* ---- Several members may be meant: by the line, or not at all ---- */

struct variant {
    int kind;
    union {
        int number;
        float fraction;
    } value;
    union {
        int left;
        int right;
    };
    unsigned ready : 1, done : 1;
    long pad[6];
};
static struct variant *variant;
KEPT static struct variant *variant_new(void)
{
    return xalloc(sizeof(struct variant));
}
KEPT static void variant_a(struct variant *v)
{
    v->value.number = 1;
    v->left = 1;
}
KEPT static void variant_b(struct variant *v)
{
    v->value.number = 2;
    v->left = 2;
}
static struct variant *bits, *other_bits;
KEPT static void bits_a(struct variant *v)
{
    v->ready = 1;
}
KEPT static void bits_b(struct variant *v)
{
    v->ready = 0;
}
KEPT static void other_bits_a(struct variant *v)
{
    v->ready = 1;
}
KEPT static void other_bits_b(struct variant *v)
{
    v->done = 1;
}

/* Two types of one size, and everybody knows both. */
struct husband {
    int born, left_sock;
    int pad[10];
};
struct wife {
    int born, right_sock;
    int pad[10];
};
static struct husband *husband, *twin;
static struct wife *wife;
KEPT static void couple_new(struct husband **h, struct wife **w)
{
    *h = xalloc(sizeof(struct husband));
    *w = xalloc(sizeof(struct wife));
}
KEPT static void couple_a(struct husband *h, struct wife *w)
{
    h->left_sock = 1;
    w->right_sock = 1;
}
KEPT static void couple_b(struct husband *h, struct wife *w)
{
    h->left_sock = 2;
    w->right_sock = 2;
}
KEPT static void twin_a(struct husband *h, struct wife *w)
{
    (void)w;
    h->born = 1;
}
KEPT static void twin_b(struct husband *h, struct wife *w)
{
    (void)w;
    h->born = 2;
}

/* ---- Not what it looks like ---- */

/* A function casts, and has a pointer to another type of that size, which is around the allocation too. */
struct real {
    int r1, r2;
    int pad[11];
};
struct decoy {
    int d1, d2;
    int pad[11];
};
static struct real *real;
static struct decoy *decoy;
KEPT static void cast_new(struct real **r, struct decoy **d)
{
    *r = xalloc(sizeof(struct real));
    *d = xalloc(sizeof(struct decoy));
}
KEPT static void cast_a(void *r, struct decoy *d)
{
    (void)d;
    ((struct real *)r)->r2 = 1;
}
KEPT static void cast_b(void *r, struct decoy *d)
{
    (void)d;
    ((struct real *)r)->r2 = 2;
}

/* The one who allocates does not know, nor does who calls him. */
struct unknown {
    int u1, u2;
    int pad[12];
};
static void *unknown;
KEPT static void *unknown_new(size_t size)
{
    return xalloc(size);
}
KEPT static void unknown_a(struct unknown *u)
{
    u->u2 = 1;
}
KEPT static void unknown_b(struct unknown *u)
{
    u->u2 = 2;
}

/* Right size, but no member is that long at that place. */
struct halves {
    int low, high;
    int pad[13];
};
static struct halves *halves;
KEPT static struct halves *halves_new(void)
{
    return xalloc(sizeof(struct halves));
}
KEPT static void halves_a(struct halves *h)
{
    *(volatile long *)&h->low = 1;
}
KEPT static void halves_b(struct halves *h)
{
    *(volatile long *)&h->low = 2;
}

/* Numbers, beside a structure of which there might be as many bytes. */
struct quad {
    int a, b, c, d;
};
static struct quad *quad;
static int *numbers, *more_numbers;
KEPT static void numbers_new(struct quad **q, int **n)
{
    *q = xalloc(sizeof(struct quad));
    *n = xalloc(272 * sizeof(int));
}
KEPT static void numbers_a(int *n, struct quad *q)
{
    (void)q;
    n[37] = 1;
}
KEPT static void numbers_b(int *n, struct quad *q)
{
    (void)q;
    n[37] = 2;
}
KEPT static int *more_numbers_new(struct quad *q)
{
    (void)q;
    return xalloc(276 * sizeof(int));
}

THREAD(first)
{
    plain_a(plain);
    nested_a(nested);
    slots_a(slots, 3);
    message_a(message);
    arena_a(&owner);
    counted_a(counted);
    derived_a(&derived->base);
    cleared_a(cleared);
    gone_a(gone);
    opaque_a(opaque);
    variant_a(variant);
    bits_a(bits);
    other_bits_a(other_bits);
    couple_a(husband, wife);
    twin_a(twin, wife);
    cast_a(real, decoy);
    unknown_a(unknown);
    halves_a(halves);
    numbers_a(numbers, quad);
    numbers_a(more_numbers, quad);
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    plain_b(plain);
    nested_b(nested);
    slots_b(slots, 3);
    message_b(message);
    arena_b(&owner);
    counted_b(counted);
    derived_b(derived);
    cleared_b(cleared);
    gone_b(gone);
    opaque_b(opaque);
    variant_b(variant);
    bits_b(bits);
    other_bits_b(other_bits);
    couple_b(husband, wife);
    twin_b(twin, wife);
    cast_b(real, decoy);
    unknown_b(unknown);
    halves_b(halves);
    numbers_b(numbers, quad);
    numbers_b(more_numbers, quad);
    return NULL;
}

int main(void)
{
    struct wife *nobody;
    plain = plain_new();
    nested = nested_new();
    slots = slots_new(7);
    message = message_new(8);
    arena_new(&owner);
    counted = counted_new();
    derived = derived_new();
    cleared = cleared_new();
    gone = gone_new();
    opaque = opaque_new(sizeof(struct opaque));
    variant = variant_new();
    bits = variant_new();
    other_bits = variant_new();
    couple_new(&husband, &wife);
    couple_new(&twin, &nobody);
    cast_new(&real, &decoy);
    unknown = unknown_new(sizeof(struct unknown));
    halves = halves_new();
    numbers_new(&quad, &numbers);
    more_numbers = more_numbers_new(quad);
    both(first, second);
    return 0;
}
