// Vectors and long doubles are a few checks in a row, up to four; beyond that, one call.
// EXPECT ld: read8=1 read2=1
// EXPECT v32: read16=2
// EXPECT v64: write16=4
// EXPECT v128: write_n=1
// EXPECT bytes: read_n=1
// RUN: -O1 -mavx512f -Wno-psabi
typedef int v8 __attribute__((vector_size(32)));
typedef int v16 __attribute__((vector_size(64)));
typedef int v32s __attribute__((vector_size(128)));
typedef char loose __attribute__((vector_size(16), aligned(1)));
long double ld(long double *p) { return *p; }
v8 v32(v8 *p) { return *p; }
void v64(v16 *p) { *p = (v16){0}; }
void v128(v32s *p) { *p = (v32s){0}; }
loose bytes(loose *p) { return *p; }
