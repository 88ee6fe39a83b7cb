/* plain.c - every function of <deadheat/lard.h>, for a compiler that is not deadheat's: C and C++. */
#include <deadheat/lard.h>

long every_function(long *p)
{
    uint64_t times[4] = {0, 0, 0, 0};
    dh_lard_read(p, sizeof(*p), 0);
    dh_lard_write(p, sizeof(*p), 0);
    dh_lard_untracked_begin();
    dh_lard_untracked_end();
    dh_lard_unordered_begin();
    dh_lard_unordered_end();
    dh_lard_system_begin();
    dh_lard_system_end();
    dh_lard_acquire(p);
    dh_lard_release(p);
    dh_lard_release_store(p);
    dh_lard_lock(p, DH_LARD_SHARED);
    dh_lard_unlock(p);
    dh_lard_write_vc(1, dh_lard_read_vc(0));
    dh_lard_advance();
    dh_lard_write_vcs(times, dh_lard_read_vcs(times, 4));
    dh_lard_clear(p, sizeof(*p));
    dh_lard_copy(p, p + 1, sizeof(*p));
    dh_lard_move(p, p + 1, sizeof(*p));
    dh_lard_thread *t = dh_lard_thread_new("name");
    dh_lard_thread_switch(t);
    dh_lard_thread_switch(dh_lard_thread_self());
    dh_lard_thread_end(t);
    dh_lard_thread_join(t);
    dh_lard_thread_detach(t);
    return *p + (long)dh_lard_thread_index(t);
}
