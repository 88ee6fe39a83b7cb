/* Neighbouring bytes of one word are different bytes; an access that covers both meets each. pairs: A-C B-C; not: A-B */
#include "alias.h"
union word {
    char at[8];
    short both;
};
volatile union word word;
volatile int zero = 0, one = 1;
static void *first(void *arg)
{
    word.at[zero] = 1; /* A */
    return arg;
}
static void *second(void *arg)
{
    word.at[one] = 2; /* B */
    return arg;
}
static void *third(void *arg)
{
    word.both = 3; /* C */
    return arg;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, third, NULL);
    both(first, second, NULL);
    pthread_join(t, NULL);
    return 0;
}
