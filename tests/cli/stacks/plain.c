/* plain.c - compiled by a plain compiler, in several ways: with and without frame pointers. */
#include "plain.h"

#include <stdlib.h>
#include <string.h>

/* What a function has still to do after a call, so that the call is not its last act. */
#define STAY() __asm__ volatile("" : : : "memory")

void *plain_new(int depth, size_t size)
{
    void *p = depth ? plain_new(depth - 1, size) : malloc(size);
    STAY();
    return p;
}

void *plain_tail_new(size_t size)
{
    return malloc(size);
}

/* Its frame has no fixed size. */
void plain_copy(char *to)
{
    char from[plain_size];
    __asm__ volatile("" : : "r"(from) : "memory");
    memcpy(to, from, plain_size);
    STAY();
}

void plain_lock(struct plain_task *task)
{
    char room[100 * (size_t)(task->turn + 1)];
    __asm__ volatile("" : : "r"(room) : "memory");
    pthread_mutex_lock(&task->lock);
    STAY();
}

void plain_unlock(struct plain_task *task)
{
    pthread_mutex_unlock(&task->lock);
}

void plain_handle(int sig)
{
    plain_copy(by_handler + sig - sig);
    STAY();
}

static void plain_initialise(void)
{
    plain_copy(by_once);
    STAY();
}

void plain_once(struct plain_task *task)
{
    pthread_once(&task->once, plain_initialise);
    STAY();
}

void plain_call(int depth, void (*back)(void *), void *arg)
{
    if (depth)
        plain_call(depth - 1, back, arg);
    else
        back(arg);
    STAY();
}

pthread_t plain_spawn(void *(*body)(void *), void *arg)
{
    pthread_t t;
    if (pthread_create(&t, NULL, body, arg) != 0)
        abort();
    return t;
}
