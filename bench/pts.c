/*
 * pts.c - how the points-to solver grows: generated systems of constraints, shaped like programs.
 *
 * bench-pts [CONSTRAINTS...]: for each number a line: constraints, time, memory, rounds, members of sets.
 * With
 * --no-cycles, the same without merging the nodes of cycles.
 *
 * A generated program has modules with structure types of their own, and functions of some 40 constraints
 * each on locals of these types: copies between locals of one type, loads and stores of fields, which have
 * types again, calls to functions of the module and a few others with arguments of the right types, tables of
 * function pointers in a global of the module, and pointers that walk over arrays. Types keep flow apart, as
 * in C programs; without them any generated system ends up with everything pointing to everything. Each
 * module has a type (a list, a string) that it shares with some others.
 */
#include "ir/pts/pts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum {
    PER_FUNCTION = 40,
    PER_MODULE = 40,
    TYPES = 12,     /* a module */
    LOCALS = 2,     /* of each type, in each function; the first are the parameters */
    FIELDS = 6,     /* of a type */
    HANDLERS = 6,   /* function pointers in a module's global */
    NEIGHBOURS = 64 /* modules that share a type */
};

struct function {
    dh_pts_node local[TYPES][LOCALS];
    dh_pts_node result;
    uint32_t result_type;
    dh_pts_object code;
};

struct program {
    struct dh_pts *p;
    struct function *functions;
    uint32_t n;
    dh_pts_object *module; /* a global structure a module */
    uint64_t state;
};

static uint32_t draw(struct program *g, uint32_t n)
{
    uint64_t z = g->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)((z ^ z >> 31) >> 33) % n;
}

/* Arguments and parameters are the locals of a type; across modules, of the shared type 0 only. */
static void connect(struct program *g, const struct function *from, const struct function *to, uint32_t type)
{
    dh_pts_copy(g->p, to->local[type][0], from->local[type][draw(g, LOCALS)]);
    dh_pts_copy(g->p, from->local[to->result_type][1], to->result);
}

static void on_flow(void *client, void *call, dh_pts_object object, uint32_t offset)
{
    struct program *g = client;
    (void)offset;
    connect(g, call, &g->functions[object], 1); /* code objects are made first, in order */
}

static dh_pts_node any(struct program *g, const struct function *f, uint32_t type)
{
    return f->local[type][draw(g, LOCALS)];
}

static uint32_t field_type(uint32_t type, uint32_t field)
{
    return (type * 5 + field * 3 + 1) % TYPES;
}

static void call(struct program *g, uint32_t at, uint32_t type)
{
    uint32_t module = at / PER_MODULE;
    if (draw(g, 8) == 0) { /* another module, of the same neighbourhood */
        module = module / NEIGHBOURS * NEIGHBOURS + draw(g, NEIGHBOURS);
        type = 0;
    }
    uint32_t to = module * PER_MODULE + draw(g, PER_MODULE);
    if (to >= g->n)
        return;
    if (type)
        connect(g, &g->functions[at], &g->functions[to], type);
    else
        dh_pts_copy(g->p, g->functions[to].local[0][0], any(g, &g->functions[at], 0));
}

static void body(struct program *g, uint32_t at)
{
    struct dh_pts *p = g->p;
    struct function *f = &g->functions[at];
    dh_pts_node global = dh_pts_value(p);
    dh_pts_address(p, global, g->module[at / PER_MODULE], 0);
    for (int i = 0; i < 4; i++) /* variables and allocations; one in three is, for all one knows, an array */
        dh_pts_address(p, any(g, f, draw(g, TYPES)), dh_pts_object_add(p, draw(g, 3) ? 8 * FIELDS : 0, 0), 0);
    dh_pts_copy(p, f->result, f->local[f->result_type][0]);
    for (int i = 6; i < PER_FUNCTION; i++) {
        uint32_t type = draw(g, TYPES), field = draw(g, FIELDS), kind = draw(g, 100);
        dh_pts_node a = any(g, f, type), b = any(g, f, field_type(type, field));
        if (kind < 12)
            dh_pts_copy(p, a, any(g, f, type));
        else if (kind < 40)
            dh_pts_load(p, b, a, 8 * field);
        else if (kind < 55)
            dh_pts_store(p, a, 8 * field, b);
        else if (kind < 65) { /* the address of a field, and a load through it */
            dh_pts_node at_field = dh_pts_value(p);
            dh_pts_offset(p, at_field, a, 8 * field);
            dh_pts_load(p, b, at_field, 0);
        } else if (kind < 66)
            dh_pts_element(p, any(g, f, type), a, 0, 8 * FIELDS, 0);
        else if (kind < 67)
            dh_pts_memcpy(p, any(g, f, type), a, 8 * FIELDS);
        else if (kind < 69) {
            if (draw(g, 2))
                dh_pts_load(p, a, global, 8 * type);
            else
                dh_pts_store(p, global, 8 * type, a);
        } else if (kind < 70) {
            dh_pts_node pointer = dh_pts_value(p);
            dh_pts_load(p, pointer, global, 8 * (TYPES + draw(g, HANDLERS)));
            dh_pts_call(p, pointer, f);
        } else
            call(g, at, type);
    }
}

static void build(struct program *g, uint32_t constraints)
{
    struct dh_pts *p = g->p;
    g->n = constraints / PER_FUNCTION + 1;
    uint32_t modules = g->n / PER_MODULE + 1;
    g->functions = calloc(g->n, sizeof *g->functions);
    g->module = calloc(modules, sizeof *g->module);
    if (!g->functions || !g->module)
        exit(2);
    for (uint32_t i = 0; i < g->n; i++) {
        struct function *f = &g->functions[i];
        f->code = dh_pts_object_add(p, 1, DH_PTS_FUNCTION);
        f->result = dh_pts_value(p);
        f->result_type = draw(g, TYPES);
        for (int t = 0; t < TYPES; t++)
            for (int k = 0; k < LOCALS; k++)
                f->local[t][k] = dh_pts_value(p);
    }
    for (uint32_t m = 0; m < modules; m++) {
        g->module[m] = dh_pts_object_add(p, 8 * (TYPES + HANDLERS), 0);
        dh_pts_node table = dh_pts_value(p);
        dh_pts_address(p, table, g->module[m], 8 * TYPES);
        for (int k = 0; k < HANDLERS; k++) {
            uint32_t i = m * PER_MODULE + draw(g, PER_MODULE);
            dh_pts_node code = dh_pts_value(p);
            dh_pts_address(p, code, g->functions[i < g->n ? i : 0].code, 0);
            dh_pts_store(p, table, 8 * k, code);
        }
    }
    for (uint32_t i = 0; i < g->n; i++)
        body(g, i);
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void measure(uint32_t constraints, bool no_cycles)
{
    struct program g = {.state = 1};
    struct dh_pts_options o = {.no_cycles = no_cycles, .on_flow = on_flow, .client = &g};
    struct dh_pts_stats s;
    struct rusage use;
    double start = seconds();
    if (dh_pts_new(&o, &g.p))
        exit(2);
    build(&g, constraints);
    double built = seconds();
    int r = dh_pts_solve(g.p);
    double solved = seconds();
    dh_pts_statistics(g.p, &s);
    getrusage(RUSAGE_SELF, &use);
    printf(
        "%9llu constraints %8llu nodes  build %6.2f s  solve %7.2f s  %6ld MiB  sets %5llu MiB  %4llu rounds "
        " "
        "%10llu sent  %8llu merged  mean %6.1f max %6llu  folded %llu collapsed %llu%s\n",
        (unsigned long long)s.constraints, (unsigned long long)s.nodes, built - start, solved - built,
        use.ru_maxrss >> 10, (unsigned long long)s.set_bytes >> 20, (unsigned long long)s.rounds,
        (unsigned long long)s.propagations, (unsigned long long)s.merged,
        (double)s.set_members / (double)(s.nodes - s.merged), (unsigned long long)s.set_largest,
        (unsigned long long)s.folded, (unsigned long long)s.collapsed, r ? "  out of memory" : "");
    fflush(stdout);
    dh_pts_free(g.p);
    free(g.functions);
    free(g.module);
}

int main(int argc, char **argv)
{
    static const uint32_t usual[] = {10000, 30000, 100000, 300000, 1000000};
    bool no_cycles = argc > 1 && strcmp(argv[1], "--no-cycles") == 0;
    int first = no_cycles ? 2 : 1;
    for (int i = first; i < argc; i++)
        measure((uint32_t)strtoul(argv[i], NULL, 10), no_cycles);
    for (size_t i = 0; argc == first && i < sizeof usual / sizeof usual[0]; i++)
        measure(usual[i], no_cycles);
    return 0;
}
