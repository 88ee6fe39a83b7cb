// Code annotated for Helgrind, as it is.
#include <valgrind/helgrind.h>

#include "../programs/invisible.h"

static int before, locked, posted, clean, unchecked, checked, block_word;
static int *block;
static int lock, sem;

THREAD(first)
{
    before = 1;
    ANNOTATE_HAPPENS_BEFORE(&before);
    VALGRIND_HG_MUTEX_LOCK_PRE(&lock, 0);
    VALGRIND_HG_MUTEX_LOCK_POST(&lock);
    locked = 1;
    VALGRIND_HG_MUTEX_UNLOCK_PRE(&lock);
    VALGRIND_HG_MUTEX_UNLOCK_POST(&lock);
    posted = 1;
    VALGRIND_HG_SEM_POST_PRE(&sem);
    clean = 1;
    unchecked = 1;
    VALGRIND_HG_ENABLE_CHECKING(&checked, sizeof(checked));
    checked = 1; // RACE c:write
    *block = 1;
    block_word = 1; // RACE w:write
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    use(unchecked);
    use(checked);    // RACE c:read
    use(block_word); // RACE w:read
    VALGRIND_HG_CLEAN_MEMORY(&clean, sizeof(clean));
    clean = 2;
    MUST(VALGRIND_HG_CLEAN_MEMORY_HEAPBLOCK(block) == sizeof(*block));
    *block = 2;
    ANNOTATE_HAPPENS_AFTER(&before);
    use(before);
    VALGRIND_HG_MUTEX_LOCK_PRE(&lock, 0);
    VALGRIND_HG_MUTEX_LOCK_POST(&lock);
    use(locked);
    VALGRIND_HG_MUTEX_UNLOCK_PRE(&lock);
    VALGRIND_HG_MUTEX_UNLOCK_POST(&lock);
    VALGRIND_HG_SEM_WAIT_POST(&sem);
    use(posted);
    return NULL;
}

int main(void)
{
    MUST(!RUNNING_ON_VALGRIND);
    VALGRIND_HG_MUTEX_INIT_POST(&lock, 0);
    VALGRIND_HG_SEM_INIT_POST(&sem, 0);
    VALGRIND_HG_DISABLE_CHECKING(&unchecked, sizeof(unchecked));
    VALGRIND_HG_DISABLE_CHECKING(&checked, sizeof(checked));
    block = malloc(sizeof(*block));
    both(first, second);
    VALGRIND_HG_MUTEX_DESTROY_PRE(&lock);
    VALGRIND_HG_SEM_DESTROY_PRE(&sem);
    free(block);
    return 0;
}
