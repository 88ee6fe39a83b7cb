// From a member back to the structure around it.
#include <pthread.h>
#include <stddef.h>

struct link {
    struct link *next;
};
struct task {
    int priority;
    struct link link;
    int state;
} task;

static void *thread(void *arg)
{
    struct task *t = (struct task *)((char *)arg - offsetof(struct task, link));
    t->state = 1; // PAIR a
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, &task.link);
    task.state = 2;    // PAIR a
    task.priority = 2; // NO PAIR
    pthread_join(t, NULL);
    return 0;
}
