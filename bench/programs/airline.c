/*
 * airline.c - agents sell the seats of a flight and count them without a lock.
 *
 * Comparison paper, table 2 (83 lines, 11 threads): 1 for FastTrack, AccuLock, SimpleLock+, MultiLock-HB and
 * CP.
 *
 * Real: `sold`, read and raised by every agent; two of them may sell one seat, or one too many.
 *
 * Detectors: all find it: several threads write it and hold no lock. A ticket belongs to the seat it was
 * sold for and is written by one agent only, in the order the program always runs in.
 */
// ARGS: 4 1
// FLAGS: -Wall -Wextra -Werror
// OUTPUT: airline: 300 seats sold, fares a730f31b592aced3
#include "program.h"

enum { SEATS = 300, CUSTOMERS = 30, QUOTES = 600 };

struct ticket {
    int agent;
    uint64_t fare;
};

static int sold;
static struct ticket tickets[SEATS + 1];

/* The cheapest of many offers for a customer. */
static uint64_t cheapest(uint64_t customer)
{
    uint64_t state = customer, best = UINT64_MAX;

    for (long i = 0; i < (long)QUOTES * scale; i++) {
        uint64_t fare = 100 + churn(next_random(&state), 20) % 900000;

        if (fare < best)
            best = fare;
    }
    return best;
}

THREAD(agent)
{
    for (int customer = ME; customer < SEATS + CUSTOMERS; customer += threads) {
        uint64_t fare = cheapest((uint64_t)customer);
        int seat;

        after(customer);
        seat = sold < SEATS ? sold++ : SEATS; // RACE a
        if (seat < SEATS)
            tickets[seat] = (struct ticket){ME, fare};
        mark();
    }
    return NULL;
}

int main(int argc, char **argv)
{
    uint64_t fares = 0;

    arguments(argc, argv);
    team(threads, agent);
    MUST(sold == SEATS);
    for (int i = 0; i < SEATS; i++) {
        MUST(tickets[i].agent == i % threads);
        fares = fares * 33 + tickets[i].fare;
    }
    printf("airline: %d seats sold, fares %" PRIx64 "\n", sold, fares);
    return 0;
}
