// The program's synchronisation, second style: the run-time system keeps the clocks (ReadVC, WriteVC).
// TSAN: it does not know the interface
#include <deadheat/lard.h>

#include "invisible.h"

enum { N = 64 };
uint64_t published[N], one_entry;
static size_t published_n;
static uint32_t first_index;
int all, all_later, single, single_later;

THREAD(first)
{
    first_index = dh_lard_thread_index(dh_lard_thread_self());
    all = 1;
    dh_lard_system_begin();
    published_n = dh_lard_read_vcs(published, N);
    dh_lard_advance();
    dh_lard_system_end();
    all_later = 1; // RACE a
    single = 1;
    dh_lard_system_begin();
    one_entry = dh_lard_read_vc(first_index);
    dh_lard_advance();
    dh_lard_system_end();
    single_later = 1; // RACE b
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    dh_lard_system_begin();
    dh_lard_write_vcs(published, published_n);
    dh_lard_system_end();
    all = 2;
    all_later = 2; // RACE a
    dh_lard_system_begin();
    MUST(dh_lard_read_vc(first_index) < one_entry);
    dh_lard_write_vc(first_index, one_entry);
    MUST(dh_lard_read_vc(first_index) == one_entry);
    dh_lard_write_vc(first_index, one_entry - 1); /* never lowered */
    MUST(dh_lard_read_vc(first_index) == one_entry);
    dh_lard_system_end();
    single = 2;
    single_later = 2; // RACE b
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
