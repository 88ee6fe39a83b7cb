// The dynamic annotations, declared as programs declare them.
#include <stddef.h>

#include "../programs/invisible.h"

void AnnotateHappensBefore(const char *file, int line, const volatile void *p);
void AnnotateHappensAfter(const char *file, int line, const volatile void *p);
void AnnotateRWLockCreate(const char *file, int line, const volatile void *p);
void AnnotateRWLockDestroy(const char *file, int line, const volatile void *p);
void AnnotateRWLockAcquired(const char *file, int line, const volatile void *p, long w);
void AnnotateRWLockReleased(const char *file, int line, const volatile void *p, long w);
void AnnotateBenignRaceSized(const char *file, int line, const volatile void *p, size_t n, const char *why);
void AnnotateBenignRace(const char *file, int line, const volatile void *p, const char *why);
void AnnotateNewMemory(const char *file, int line, const volatile void *p, size_t n);
void AnnotatePublishMemoryRange(const char *file, int line, const volatile void *p, size_t n);
void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line);
void AnnotateIgnoreWritesBegin(const char *file, int line);
void AnnotateIgnoreWritesEnd(const char *file, int line);
void AnnotateIgnoreSyncBegin(const char *file, int line);
void AnnotateIgnoreSyncEnd(const char *file, int line);
void AnnotateCondVarSignal(const char *file, int line, const volatile void *p);
void AnnotateCondVarWait(const char *file, int line, const volatile void *p, const volatile void *lock);
void AnnotatePCQPut(const char *file, int line, const volatile void *p);
void AnnotatePCQGet(const char *file, int line, const volatile void *p);
void AnnotateThreadName(const char *file, int line, const char *name);
void AnnotateFlushState(const char *file, int line);
void WTFAnnotateHappensBefore(const char *file, int line, const volatile void *p);
void WTFAnnotateHappensAfter(const char *file, int line, const volatile void *p);
int RunningOnValgrind(void);
const char *ThreadSanitizerQuery(const char *query);
#define HERE __FILE__, __LINE__

static int before, locked, benign[4], fresh, published, ignored, condition, queued, web;
static int not_ordered, beside;
static char key, lock, cond, queue;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

THREAD(first)
{
    AnnotateThreadName(HERE, "first");
    before = 1;
    AnnotateHappensBefore(HERE, &key);
    AnnotateRWLockAcquired(HERE, &lock, 1);
    locked = 1;
    AnnotateRWLockReleased(HERE, &lock, 1);
    benign[0] = benign[1] = 1;
    benign[2] = 1; // RACE b:write
    fresh = 1;
    published = 1;
    AnnotatePublishMemoryRange(HERE, &published, sizeof(published));
    AnnotateIgnoreWritesBegin(HERE);
    ignored = 1;
    AnnotateIgnoreWritesEnd(HERE);
    condition = 1;
    AnnotateCondVarSignal(HERE, &cond);
    queued = 1;
    AnnotatePCQPut(HERE, &queue);
    web = 1;
    WTFAnnotateHappensBefore(HERE, &web);
    not_ordered = 1; // RACE n:write
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    beside = 1; // RACE s:write
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    AnnotateIgnoreSyncBegin(HERE);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    AnnotateIgnoreSyncEnd(HERE);
    use(not_ordered); // RACE n:read
    use(beside);      // RACE s:read
    use(benign[0] + benign[1]);
    use(benign[2]); // RACE b:read
    use(ignored);
    AnnotateNewMemory(HERE, &fresh, sizeof(fresh));
    fresh = 2;
    published = 2;
    AnnotateIgnoreReadsBegin(HERE);
    use(locked);
    AnnotateIgnoreReadsEnd(HERE);
    AnnotateHappensAfter(HERE, &key);
    use(before);
    AnnotateRWLockAcquired(HERE, &lock, 0);
    use(locked);
    AnnotateRWLockReleased(HERE, &lock, 0);
    AnnotateCondVarWait(HERE, &cond, NULL);
    use(condition);
    AnnotatePCQGet(HERE, &queue);
    use(queued);
    WTFAnnotateHappensAfter(HERE, &web);
    use(web);
    return NULL;
}

int main(void)
{
    MUST(!RunningOnValgrind() && ThreadSanitizerQuery("pure_happens_before")[0] == '1');
    AnnotateFlushState(HERE);
    AnnotateRWLockCreate(HERE, &lock);
    AnnotateBenignRaceSized(HERE, benign, sizeof(benign[0]), "wanted");
    AnnotateBenignRace(HERE, &benign[1], "wanted");
    both(first, second);
    AnnotateRWLockDestroy(HERE, &lock);
    return 0;
}
