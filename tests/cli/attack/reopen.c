/*
 * reopen.c - threads that open, use and close one instrumented library over and over.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static void *use(void *path)
{
    for (int i = 0; i < 50; i++) {
        void *library = dlopen(path, RTLD_NOW);
        int (*work)(void) = library ? (int (*)(void))dlsym(library, "work") : NULL;
        if (!work || work() < 2 || dlclose(library) != 0)
            return path;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t t[3];
    void *bad = NULL;
    if (argc < 2)
        return 2;
    for (int i = 0; i < 3; i++)
        if (pthread_create(&t[i], NULL, use, argv[1]) != 0)
            return 1;
    for (int i = 0; i < 3; i++) {
        void *result;
        pthread_join(t[i], &result);
        bad = result ? result : bad;
    }
    puts(bad ? "it cannot be used" : "done");
    return 3;
}
