/*
 * escape.h - the frame of the programs here: a thread makes a node, and hands it to another in some way.
 *
 * A program says how by publish() and receive(). It must be the only way: nothing else here makes the node
 * reachable for the other thread. The order of the two is that of tests/programs/invisible.h, which no compiler
 * sees. A program that defines OWN_FRAME has threads and a `main` of its own, and uses what it likes of the rest.
 *
 * Questions are asked about pairs that the static analysis has found, and it assumes that pointers are not
 * handed on by all of these ways (docs/design/static.md). So there is one more way, which it sees and no run takes:
 * possibly() and perhaps().
 *
 * Marks, which judge.py reads here and in the programs:
 *   PRIVATE   the line is executed, and only touches memory that no other thread can reach: it must not
 *             be among the sites that have escaped. Where that is not promised, NO_PRIVATE is defined.
 *   ESCAPED   the line touches memory that two threads can reach: it must be among them.
 */
#ifndef ESCAPE_H
#define ESCAPE_H

#include <stdint.h>
#include <string.h>

#include "../../programs/invisible.h"

#define NOINLINE static __attribute__((noinline, unused))

struct node {
    long value;
    struct node *next;
    long seal;
    long more;
};
enum { SEAL = 0x5ea1 };

#ifdef NO_PRIVATE
NOINLINE void prepare(struct node *n)
{
    n->value = 1;
    n->seal = SEAL;
}
#else
NOINLINE void prepare(struct node *n)
{
    n->value = 1;   // PRIVATE
    n->seal = SEAL; // PRIVATE
}
#endif

NOINLINE struct node *fresh(void)
{
    struct node *n = (struct node *)malloc(sizeof(*n));

    MUST(n);
    prepare(n);
    n->next = NULL;
    return n;
}

/* Statically it may be anything. */
HELPER long unknown(long value)
{
    __asm__ volatile("" : "+r"(value));
    return value;
}

static struct node *possible;

NOINLINE void possibly(struct node *n)
{
    if (unknown(0))
        possible = n;
}

HELPER struct node *perhaps(struct node *n)
{
    return unknown(0) ? possible : n;
}

#ifndef OWN_FRAME
static void publish(struct node *n);
static struct node *receive(void);

THREAD(owner)
{
    struct node *n = fresh();

    possibly(n);
    publish(n);
    mark();
    n->value = 2; // ESCAPED
    return NULL;
}

THREAD(other)
{
    struct node *n;

    after(1);
    n = perhaps(receive());
    MUST(n->seal == SEAL); // ESCAPED
    n->value = 3;          // ESCAPED
    return NULL;
}

int main(void)
{
    both(owner, other);
    return 0;
}
#endif

#endif
