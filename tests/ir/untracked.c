// Exempt functions are left alone; their neighbours are not.
// EXPECT quiet: enter=0 exit=0
// EXPECT off: enter=0 exit=0
// EXPECT naked: enter=0 exit=0
// EXPECT resolver: enter=0 exit=0
// EXPECT loud: write4=1 enter=1
#include "deadheat/deadheat.h"
int x;
DH_UNTRACKED void quiet(void) { x = 1; }
__attribute__((disable_sanitizer_instrumentation, noinline)) void off(void) { x = 2; }
__attribute__((naked)) void naked(void) { __asm__("ret"); }
static void impl(void) {}
__attribute__((noinline)) static void *resolver(void) { x++; return (void *)impl; }
void chosen(void) __attribute__((ifunc("resolver")));
void loud(void) { x = 3; }
