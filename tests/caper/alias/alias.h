/* alias.h - programs whose alias pairs are known. A line with a label, such as A, has one access; the comment "pairs:" names
 * the pairs of labels that two threads access the same bytes at. Threads need not run at the same time for that. "not:" names pairs
 * that the static analysis thinks possible, and that are none. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
typedef void *thread(void *);
static inline void both(thread *a, thread *b, void *arg)
{
    pthread_t t[2];
    pthread_create(&t[0], NULL, a, arg);
    pthread_create(&t[1], NULL, b, arg);
    pthread_join(t[0], NULL);
    pthread_join(t[1], NULL);
}
