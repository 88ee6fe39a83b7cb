/*
 * pingpong.c - players pass a ball round a table and count the rally, all without a lock.
 *
 * Comparison paper, table 2 (124 lines, 18 threads): 2 for FastTrack, AccuLock, SimpleLock+, MultiLock-HB and
 * CP.
 *
 * Real: `ball`, where the last player sent it, and `rally`, how often it was hit.
 *
 * Detectors: all find both: each hit is a write by another thread with no lock held.
 */
// ARGS: 4 1
// FLAGS: -Wall -Wextra -Werror
// OUTPUT: pingpong: rally of 400, the last ball at 184 mm
#include "program.h"

enum { HITS = 400, SWING = 5500, TABLE = 2740, NET = 152 };

static long ball; /* the height, in millimetres, at which it comes */
static long rally;

/* How a ball comes off the other side: an arc over the net, the sooner down the more spin it has. */
static long fly(long height, long spin)
{
    long x = 0, y = height, up = 60 + spin % 40;

    while (x < TABLE) {
        x += 20;
        y += up / 10;
        up -= 3 + spin % 3;
        if (y <= 0) { /* off the table */
            y = -y;
            up = up < 0 ? -up * 9 / 10 : up;
        }
    }
    return y % (10 * NET);
}

THREAD(player)
{
    for (int hit = ME; hit < HITS; hit += threads) {
        /* Thinking where to send it, while the ball is elsewhere. */
        long spin = (long)(churn((uint64_t)hit, (long)SWING * scale) % 1000);

        after(hit);
        ball = fly(ball, spin); // RACE a
        rally++;                // RACE b
        mark();
    }
    return NULL;
}

int main(int argc, char **argv)
{
    arguments(argc, argv);
    ball = NET;
    team(threads, player);
    MUST(rally == HITS && ball < 10 * NET);
    printf("pingpong: rally of %ld, the last ball at %ld mm\n", rally, ball);
    return 0;
}
