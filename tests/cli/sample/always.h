/*
 * always.h - included before a program of tests/programs: all of it is one sampling period.
 */
#include <stdbool.h>

extern void dh_period_turn(bool on);

__attribute__((constructor)) static void begin_period(void)
{
    dh_period_turn(true);
}
