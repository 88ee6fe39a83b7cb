// Reading one part of a word that somebody has filled does not make the detector forget who filled the rest.
// TSAN: it reports one race of a write with another thread's accesses, not both
#include "invisible.h"

#include <string.h>

unsigned char word[4] __attribute__((aligned(4)));

THREAD(reader)
{
    use(*(volatile unsigned short *)(word + 2)); // RACE c:read
    mark();
    return NULL;
}

THREAD(writer)
{
    after(1);
    word[0] = 2; // RACE a:write
    word[2] = 2; // RACE b:write c:write
    return NULL;
}

int main(void)
{
    pthread_t w = spawn(writer, NULL);
    memset(word, 1, sizeof(word)); // RACE a:write b:write
    pthread_t r = spawn(reader, NULL);
    join(r);
    join(w);
    return 0;
}
