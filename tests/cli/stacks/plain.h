/* plain.h - functions of plain.c, which is compiled without deadheat. */
#include <pthread.h>
#include <stddef.h>

struct plain_task {
    int turn;
    pthread_mutex_t lock;
    pthread_once_t once;
};

extern size_t plain_size; /* which the compiler does not know */
extern char by_handler[16], by_once[16];

void *plain_new(int depth, size_t size); /* calls itself so often */
void *plain_tail_new(size_t size);
void plain_copy(char *to);
void plain_lock(struct plain_task *task);
void plain_unlock(struct plain_task *task);
void plain_handle(int sig);
void plain_once(struct plain_task *task);
void plain_call(int depth, void (*back)(void *), void *arg); /* calls itself so often, then back */
pthread_t plain_spawn(void *(*body)(void *), void *arg);
