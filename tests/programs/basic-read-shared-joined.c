// Many readers at once, all joined, then a write, then readers again: always ordered.
// NO RACE
#include "invisible.h"

int table[64];

THREAD(reader)
{
    long sum = 0;

    for (int i = 0; i < 64; i++)
        sum += table[i];
    use(sum);
    mark();
    return NULL;
}

int main(void)
{
    for (int round = 1; round <= 3; round++) {
        pthread_t t[4];

        for (int i = 0; i < 4; i++)
            t[i] = spawn(reader, NULL);
        for (int i = 0; i < 4; i++)
            join(t[i]);
        for (int i = 0; i < 64; i++)
            table[i] += round;
    }
    return 0;
}
