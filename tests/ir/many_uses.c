// A local stays private however often it is used: LLVM's own question gives up at a hundred uses.
// RUN: -O0
// EXPECT stays: 
// EXPECT leaks: write8=200
struct limits { long low, high; };
void keep(struct limits *);
#define ONE(n) case n: l.low = 0; break; case n + 500: l.high = n; break;
#define TEN(n) ONE(n##0) ONE(n##1) ONE(n##2) ONE(n##3) ONE(n##4) ONE(n##5) ONE(n##6) ONE(n##7) ONE(n##8) ONE(n##9)
#define ALL TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) TEN(6) TEN(7) TEN(8) TEN(9) TEN(10)
struct limits stays(int n) { struct limits l; switch (n) { ALL } return l; }
void leaks(int n) { struct limits l; switch (n) { ALL } keep(&l); }
