/*
 * watchpoints.c - does the kernel let this user set hardware watchpoints?
 */
#include "chase/watch.h"

int main(void)
{
    return dh_chase_watch_probe() == 0 ? 0 : 1;
}
