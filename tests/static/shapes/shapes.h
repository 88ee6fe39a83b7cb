/*
 * shapes.h - a program and its mistakes in one source.
 *
 * W1(wrong, right) is `right`, but with -DWRONG=1 it is `wrong`; and so on.
 */
#include <pthread.h>
#include <stdlib.h>

int input(void); /* any number */

#define CHOOSE_WRONG(wrong, right) wrong
#define CHOOSE_RIGHT(wrong, right) right
#define W1 CHOOSE_RIGHT
#define W2 CHOOSE_RIGHT
#define W3 CHOOSE_RIGHT
#define W4 CHOOSE_RIGHT
#define W5 CHOOSE_RIGHT
#define W6 CHOOSE_RIGHT
#if WRONG == 1
#undef W1
#define W1 CHOOSE_WRONG
#elif WRONG == 2
#undef W2
#define W2 CHOOSE_WRONG
#elif WRONG == 3
#undef W3
#define W3 CHOOSE_WRONG
#elif WRONG == 4
#undef W4
#define W4 CHOOSE_WRONG
#elif WRONG == 5
#undef W5
#define W5 CHOOSE_WRONG
#elif WRONG == 6
#undef W6
#define W6 CHOOSE_WRONG
#endif

/* Two threads that do the same. */
#define RUN_TWICE(f, arg)             \
    pthread_t a, b;                   \
    pthread_create(&a, NULL, f, arg); \
    pthread_create(&b, NULL, f, arg); \
    pthread_join(a, NULL);            \
    pthread_join(b, NULL)
