/* One program from objects of three compilers and a shared library of a fourth: each makes one access to every variable
 * of the other, and all of them are seen. */
#include <dlfcn.h>

#include "../programs/invisible.h"

int shared_by_all;
pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
int guarded;

void by_own(void);
void by_gcc(void);
void by_clang(void);

THREAD(turn)
{
    void (*by)(void);

    *(void **)&by = arg;
    by();
    mark();
    return NULL;
}

int main(int argc, char **argv)
{
    void *library = dlopen(argv[argc - 1], RTLD_NOW);
    void *by_library = library ? dlsym(library, "by_library") : NULL;

    MUST(by_library);
    void *all[] = {(void *)by_own, (void *)by_gcc, (void *)by_clang, by_library};
    pthread_t threads[4];

    for (int i = 0; i < 4; i++) {
        threads[i] = spawn(turn, all[i]);
        after(i + 1);
    }
    for (int i = 0; i < 4; i++)
        join(threads[i]);
    MUST(guarded == 4);
    return 0;
}
