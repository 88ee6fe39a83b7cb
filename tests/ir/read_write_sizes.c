// Naturally aligned accesses of each size have an entry of their own.
// EXPECT r1: read1=1 enter=1 exit=1
// EXPECT r2: read2=1
// EXPECT r4: read4=1
// EXPECT r8: read8=1
// EXPECT r16: read16=1
// EXPECT w1: write1=1
// EXPECT w2: write2=1
// EXPECT w4: write4=1
// EXPECT w8: write8=1
// EXPECT w16: write16=1
typedef float quad __attribute__((vector_size(16)));
char r1(char *p) { return *p; }
short r2(short *p) { return *p; }
int r4(int *p) { return *p; }
double r8(double *p) { return *p; }
quad r16(quad *p) { return *p; }
void w1(char *p) { *p = 1; }
void w2(short *p) { *p = 1; }
void w4(int *p) { *p = 1; }
void w8(void **p) { *p = p; }
void w16(quad *p, quad v) { *p = v; }
