// Library functions that say how far they came: the pointer they store leads into the text.
#define _GNU_SOURCE
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

char number[] = "12 34", words[] = "a b c", more[] = "a b c", fields[] = "a:b:c";

static void *thread(void *arg)
{
    char *end, *state, *rest = fields;
    strtol(number, &end, 10);                 // PAIR a
    *end = 'x';                               // PAIR a b
    strtok_r(words, " ", &state);             // PAIR c d e
    char *word = strtok_r(NULL, " ", &state); // PAIR d f g
    *word = 'x';                              // PAIR e g h
    strtok(more, " ");                        // PAIR i j k
    word = strtok(NULL, " ");                 // PAIR j l m
    *word = 'x';                              // PAIR k m n
    strsep(&rest, ":");                       // PAIR o p
    *rest = 'x';                              // PAIR p q
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, thread, NULL);
    pthread_create(&b, NULL, thread, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
