/*
 * marksweep.c - the collector that leaves objects where they are: mark what can be reached, put the rest on
 * free lists.
 *
 * The heap is made of blocks; a block has cells of one size. Blocks with free cells are on a stack for each
 * size, empty ones on another, and memory never used follows the last block. Workers take blocks from all of
 * these by compare-and-swap, and cells from their block's list without any. Blocks come back to the stacks
 * only while the world is stopped; hence no block can leave and return between a worker's look at the top of
 * a stack and its swap (no ABA).
 */
#include <stdlib.h>
#include <string.h>

#include "vm.h"

enum { BLOCK_BYTES = 4 << 10 };

static const uint32_t cell_sizes[SIZE_CLASSES] = {40, 48, 64, 96, 128, 192, 256, 512, 1024, 2048, 4096};

struct block {
    uint32_t size_class;
    struct object *free; /* list by `mark` */
    struct block *next;  /* in a stack */
};

static struct {
    char *memory;
    struct block *blocks; /* one for each BLOCK_BYTES of memory */
    size_t n_blocks;
    atomic_size_t n_used; /* blocks beyond were never used */
    _Atomic(struct block *) partial[SIZE_CLASSES], empty;
    struct object **stack; /* of marking */
    size_t n_stack, max_stack;
} heap;

static void init(size_t bytes)
{
    heap.n_blocks = bytes / BLOCK_BYTES;
    heap.memory = heap.n_blocks ? calloc(heap.n_blocks, BLOCK_BYTES) : NULL;
    heap.blocks = calloc(heap.n_blocks + 1, sizeof(*heap.blocks));
    if (!heap.memory || !heap.blocks)
        die("no memory for the heap");
}

static char *memory_of(const struct block *b)
{
    return heap.memory + (size_t)(b - heap.blocks) * BLOCK_BYTES;
}

/* ---- Allocation ---- */

static struct block *pop(_Atomic(struct block *) *stack)
{
    struct block *b = atomic_load(stack);
    while (b && !atomic_compare_exchange_weak(stack, &b, b->next))
        ;
    return b;
}

static struct block *take_fresh(void)
{
    size_t n = atomic_load(&heap.n_used);
    do {
        if (n == heap.n_blocks)
            return NULL;
    } while (!atomic_compare_exchange_weak(&heap.n_used, &n, n + 1));
    return &heap.blocks[n];
}

/* All cells of a block, which becomes one of this size. */
static void cut_into_cells(struct block *b, uint32_t size_class)
{
    uint32_t size = cell_sizes[size_class];
    char *memory = memory_of(b);
    memset(memory, 0, BLOCK_BYTES); /* the links of cells of another size */
    b->size_class = size_class;
    b->free = NULL;
    for (size_t at = BLOCK_BYTES / size; at-- > 0;) {
        struct object *cell = (struct object *)(memory + at * size);
        cell->mark = b->free;
        b->free = cell;
    }
}

static bool take_block(struct worker *w, uint32_t size_class)
{
    struct block *b = pop(&heap.partial[size_class]);
    if (!b) {
        b = pop(&heap.empty);
        if (!b)
            b = take_fresh();
        if (!b)
            return false;
        cut_into_cells(b, size_class);
    }
    w->cells[size_class] = b->free;
    return true;
}

static struct object *allocate(struct worker *w, size_t bytes)
{
    uint32_t k = 0;
    while (k < SIZE_CLASSES && cell_sizes[k] < bytes)
        k++;
    if (k == SIZE_CLASSES)
        die("an array is too long for the mark-sweep collector: at most %zu elements",
            (BLOCK_BYTES - sizeof(struct object)) / sizeof(value));
    if (!w->cells[k] && !take_block(w, k))
        return NULL;
    struct object *o = w->cells[k];
    w->cells[k] = o->mark;
    o->mark = NULL;
    return o;
}

/* ---- Collection ---- */

static void mark(value *slot)
{
    if (!is_object(*slot))
        return;
    struct object *o = (struct object *)*slot;
    if (o->mark)
        return;
    o->mark = o;
    if (heap.n_stack == heap.max_stack) {
        heap.max_stack = heap.max_stack ? 2 * heap.max_stack : 256;
        heap.stack = realloc(heap.stack, heap.max_stack * sizeof(*heap.stack));
        if (!heap.stack)
            die("no memory to collect garbage");
    }
    heap.stack[heap.n_stack++] = o;
}

static void push(_Atomic(struct block *) *stack, struct block *b)
{
    b->next = atomic_load(stack);
    atomic_store(stack, b);
}

/* Rule 3: nothing of what was done to this memory concerns the objects that come next. One call for
 * neighbours, of which there are many where garbage was collected; blocks come from the last to the first. */
static void forget(char *start, char *end)
{
    static char *first, *last; /* not said yet */
    if (end == first) {
        first = start;
        return;
    }
    if (first)
        dh_lard_clear(first, (size_t)(last - first));
    first = start;
    last = end;
}

/* The cells in [start, end) are free: garbage, some of them at least, or free before. */
static void free_run(char *start, char *end, uint32_t size, struct object ***tail)
{
    memset(start, 0, (size_t)(end - start));
    for (char *at = start; at < end; at += size) {
        **tail = (struct object *)at;
        *tail = &((struct object *)at)->mark;
    }
}

static void sweep_block(struct block *b)
{
    uint32_t size = cell_sizes[b->size_class];
    char *end = memory_of(b) + BLOCK_BYTES / size * size, *run = NULL;
    struct object **tail = &b->free;
    bool any_used = false;
    for (char *at = memory_of(b); at < end; at += size) {
        struct object *o = (struct object *)at;
        bool used = o->id && o->mark == o;
        if (used) {
            o->mark = NULL;
            any_used = true;
            if (run) {
                free_run(run, at, size, &tail);
                forget(run, at);
            }
            run = NULL;
        } else if (!run) {
            run = at;
        }
    }
    if (run) {
        free_run(run, end, size, &tail);
        forget(run, memory_of(b) + BLOCK_BYTES); /* what is left over behind the last cell is nobody's */
    }
    *tail = NULL;
    if (!any_used)
        push(&heap.empty, b);
    else if (b->free)
        push(&heap.partial[b->size_class], b);
}

static void collect(void)
{
    heap_each_root(mark);
    while (heap.n_stack > 0) {
        struct object *o = heap.stack[--heap.n_stack];
        for (uint32_t i = 0; i < o->count; i++)
            mark(&o->slots[i]);
    }
    monitors_sweep(); /* while the marks are there */
    for (uint32_t k = 0; k < SIZE_CLASSES; k++)
        atomic_store(&heap.partial[k], NULL);
    atomic_store(&heap.empty, NULL);
    for (size_t i = atomic_load(&heap.n_used); i-- > 0;)
        sweep_block(&heap.blocks[i]);
    forget(NULL, NULL);
}

const struct collector mark_sweep = {"mark-sweep", init, allocate, collect};
