/* Words that need no barrier, in a program that keeps no addresses as integers; run.sh says what a CASE is. */
#include <stdint.h>

uint64_t ticket;
extern void *known;

/* What is computed of numbers is no address. CASE mixed -: */
void mixed(uint64_t *at, const uint64_t *from)
{
    *at ^= from[0] + from[1];
}
/* ... unless the language lets the place hold one. CASE mixed_bytes -: bits=1 store_bits=1 */
void mixed_bytes(uint64_t *at, const char *from)
{
    uint64_t word;
    __builtin_memcpy(&word, from, sizeof(word));
    *at ^= word;
}
/* What is only moved may be anything. CASE moved -: store_bits=1 */
void moved(uint64_t *at, const uint64_t *from)
{
    *at = *from;
}
/* ... but for what is in a constant. CASE looked_up -: */
void looked_up(uint64_t *at, unsigned i)
{
    static const uint64_t sizes[] = {1ull << 60, 3, 1ull << 50, 17};
    *at = sizes[i % 4];
}
/* CASE fetched -: ask=1 */
void fetched(uint64_t *at)
{
    *at = __atomic_fetch_add(&ticket, 1, __ATOMIC_RELAXED) + 1;
}
/* CASE exchanged_there -: store_bits=1 */
void exchanged_there(uint64_t *at, uint64_t *there)
{
    *at = __atomic_exchange_n(there, 0, __ATOMIC_RELAXED);
}
/* Moved within an array, with a loop on the way. CASE sifted -: */
void sifted(uint64_t *a, long i, long j)
{
    uint64_t v = a[i];
    while (a[j] > v)
        j--;
    a[i] = a[j];
    a[j] = v;
}
/* The array becomes known on the way, when the word is not in it. CASE shown -: ask=1 publish=1 store=1 */
void shown(void **a, int show)
{
    void *p = a[0];
    a[0] = 0;
    if (show)
        known = a;
    a[1] = p;
}
