/*
 * imports-library.c - a library of imports.c. KEEPS: linked with it. DURING: its constructor is what orders the two accesses. TLS: its
 * variable is accessed. DEEP: it has functions of its own under libc's names.
 */
#include <dlfcn.h>

#include "imports.h"

#ifdef TLS
static __thread long block[IMPORTS_BLOCK / sizeof(long)];
long *imports_tls(void)
{
    return block;
}
#endif

#ifdef DURING
__attribute__((constructor)) static void begin(void)
{
    pthread_mutex_lock(&imports_mutex);
    pthread_mutex_unlock(&imports_mutex);
}
#endif

#ifdef KEEPS
struct imports imports_kept;
__attribute__((constructor)) static void begin(void)
{
    imports_kept = (struct imports){pthread_mutex_lock, pthread_mutex_unlock};
}
void *imports_open(const char *file)
{
    void *volatile module = dlopen(file, RTLD_NOW); /* and not in its place */
    return module;
}
#endif

#ifdef DEEP
static int said;
void free(void *p)
{
    said = p == (void *)&said;
}
#endif

int imports_lock(pthread_mutex_t *m)
{
    int rc = pthread_mutex_lock(m);
#ifdef DEEP
    extern void free(void *p);
    free(&said);
    return said ? rc : 1;
#endif
    return rc;
}

int imports_unlock(pthread_mutex_t *m)
{
    int rc = pthread_mutex_unlock(m);
    return rc;
}
