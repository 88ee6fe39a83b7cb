// A call that touches no memory and comes back does not end a window; any other does.
// RUN: -O1 -fno-math-errno
// EXPECT quiet: write8=1
// EXPECT pure: read8=1 write8=1
// EXPECT asm_between: read8=1 write8=1
double cosh(double);
double opaque(double) __attribute__((pure));
void quiet(double *p) { *p = cosh(*p); }
void pure(double *p) { *p = opaque(*p); }
void asm_between(double *p) { double x = *p; __asm__ volatile("" ::: "memory"); *p = x + 1; }
