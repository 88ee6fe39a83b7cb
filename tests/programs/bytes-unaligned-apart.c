// Unaligned words of every size that touch at their edges and share no byte, across words and across cache
// lines; each thread reads and writes its own again and again.
// NO RACE
#include <stdint.h>

#include "invisible.h"

typedef uint16_t two __attribute__((aligned(1)));
typedef uint32_t four __attribute__((aligned(1)));
typedef uint64_t eight __attribute__((aligned(1)));
enum { ROOM = 256 };
static _Alignas(64) unsigned char memory[ROOM];

/* In turn 8, 4, 2, 1 bytes and again, 15 in all; this thread's are every second
 * one of them. */
static void work(int me)
{
    for (int round = 0; round < 4; round++)
        for (int at = 1, k = 0; at + 8 <= ROOM; at += 8 >> (k % 4), k++) {
            volatile unsigned char *p = memory + at;

            if (k % 2 != me)
                continue;
            switch (k % 4) {
            case 0:
                *(volatile eight *)p += 1;
                break;
            case 1:
                *(volatile four *)p += 1;
                break;
            case 2:
                *(volatile two *)p += 1;
                break;
            default:
                *p += 1;
            }
        }
}

THREAD(first)
{
    work(0);
    mark();
    after(2);
    work(0);
    return NULL;
}

THREAD(second)
{
    after(1);
    work(1);
    mark();
    work(1);
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
