/* imports.h - what imports.c and its libraries share. */
#include <pthread.h>

enum { IMPORTS_BLOCK = 1 << 16 };

struct imports {
    int (*lock)(pthread_mutex_t *);
    int (*unlock)(pthread_mutex_t *);
};

extern pthread_mutex_t imports_mutex;
extern struct imports imports_kept; /* as a constructor found them */
int imports_lock(pthread_mutex_t *m);
int imports_unlock(pthread_mutex_t *m);
void *imports_open(const char *file); /* along the library's own run path */
long *imports_tls(void);
