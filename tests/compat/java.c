// What a Java virtual machine says: blocks come and go, the collector moves them with their histories and locks, monitors, volatile
// fields, finalisers.
#include <string.h>

#include "../programs/invisible.h"

typedef unsigned long jptr;
void __tsan_java_init(jptr begin, jptr size);
int __tsan_java_fini(void);
void __tsan_java_alloc(jptr p, jptr n);
void __tsan_java_free(jptr p, jptr n);
void __tsan_java_move(jptr src, jptr dst, jptr n);
jptr __tsan_java_find(jptr *from, jptr to);
void __tsan_java_finalize(void);
void __tsan_java_mutex_lock(jptr p);
void __tsan_java_mutex_unlock(jptr p);
void __tsan_java_mutex_read_lock(jptr p);
void __tsan_java_mutex_read_unlock(jptr p);
void __tsan_java_mutex_lock_rec(jptr p, int levels);
int __tsan_java_mutex_unlock_rec(jptr p);
void __tsan_java_acquire(jptr p);
void __tsan_java_release(jptr p);
void __tsan_java_release_store(jptr p);
void __tsan_ignore_thread_begin(void);
void __tsan_ignore_thread_end(void);

enum { HEAP = 4096 };
static long heap[HEAP / sizeof(long)];
#define AT(i) ((jptr) & heap[i])

THREAD(first)
{
    __tsan_java_mutex_lock(AT(1));
    __tsan_java_mutex_lock(AT(1));
    heap[2] = 1;
    MUST(__tsan_java_mutex_unlock_rec(AT(1)) == 2);
    __tsan_java_mutex_lock_rec(AT(1), 2);
    __tsan_java_mutex_unlock(AT(1));
    __tsan_java_mutex_unlock(AT(1));
    heap[3] = 1; // RACE m:write
    heap[4] = 1;
    __tsan_java_release_store(AT(4));
    heap[5] = 1; /* freed and given out again below */
    heap[6] = 1; /* finalised */
    mark();
    after(2);
    return NULL;
}

THREAD(second)
{
    jptr at = AT(0);

    after(1);
    MUST(__tsan_java_find(&at, AT(128)) == 64 && at == AT(0));
    __tsan_java_move(AT(0), AT(100), 64);
    __tsan_ignore_thread_begin(); /* the collector's own accesses */
    memmove(&heap[100], &heap[0], 64);
    __tsan_ignore_thread_end();
    at = AT(0);
    MUST(__tsan_java_find(&at, AT(128)) == 64 && at == AT(100));
    __tsan_java_mutex_lock(AT(101)); /* the lock has moved along */
    heap[102]++;
    __tsan_java_mutex_unlock(AT(101));
    use(heap[103]); // RACE m:read
    __tsan_java_acquire(AT(104));
    heap[104]++;
    heap[3] = 2; /* nobody's any more */
    __tsan_java_free(AT(100), 64);
    at = AT(0);
    MUST(__tsan_java_find(&at, AT(128)) == 0);
    __tsan_java_alloc(AT(100), 16);
    heap[101] = 2;
    mark();
    return NULL;
}

THREAD(writer)
{
    heap[200] = 1;
    mark();
    after(4);
    return NULL;
}

THREAD(finaliser)
{
    after(3);
    __tsan_java_finalize();
    heap[200] = 2;
    mark();
    return NULL;
}

int main(void)
{
    __tsan_java_init(AT(0), HEAP);
    __tsan_java_alloc(AT(0), 64);
    both(first, second);
    both(writer, finaliser);
    return 0;
}
