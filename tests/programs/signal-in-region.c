// A handler that interrupts a region in which synchronisation or accesses are ignored is not in that region: what it locks orders,
// and what it accesses counts. Afterwards the region goes on.
// TSAN: its handlers inherit the regions
#include <signal.h>

#include "invisible.h"

void AnnotateIgnoreSyncBegin(const char *file, int line);
void AnnotateIgnoreSyncEnd(const char *file, int line);
void AnnotateIgnoreWritesBegin(const char *file, int line);
void AnnotateIgnoreWritesEnd(const char *file, int line);

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
int shared, counted, ignored, region_goes_on;

static void locks(int sig)
{
    (void)sig;
    pthread_mutex_lock(&m);
    shared = 1;
    pthread_mutex_unlock(&m);
}

static void writes(int sig)
{
    (void)sig;
    counted = 1; // RACE c:write
}

THREAD(interrupted)
{
    AnnotateIgnoreSyncBegin(__FILE__, __LINE__);
    raise(SIGUSR1);
    region_goes_on = 1; // RACE r:write
    pthread_mutex_lock(&n);
    pthread_mutex_unlock(&n);
    AnnotateIgnoreSyncEnd(__FILE__, __LINE__);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
    raise(SIGUSR2);
    ignored = 1;
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    mark();
    return NULL;
}

THREAD(other)
{
    after(1);
    pthread_mutex_lock(&n);
    use(region_goes_on); // RACE r:read
    pthread_mutex_unlock(&n);
    use(counted); // RACE c:read
    use(ignored);
    pthread_mutex_lock(&m);
    use(shared);
    pthread_mutex_unlock(&m);
    return NULL;
}

int main(void)
{
    struct sigaction act = {.sa_handler = locks}, plain = {.sa_handler = writes};

    MUST(sigaction(SIGUSR1, &act, NULL) == 0 && sigaction(SIGUSR2, &plain, NULL) == 0);
    both(interrupted, other);
    return 0;
}
