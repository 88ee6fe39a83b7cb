// Locals whose address stays in the function need no check; those that escape do.
// RUN: -O0
// EXPECT stays: 
// EXPECT leaks: read4=1 write4=1
// EXPECT either: 
// EXPECT mixed: read4=1
// EXPECT by_value: 
// EXPECT array: 
void keep(int *);
int stays(int n) { int x = n; x += n; return *&x; }
int leaks(int n) { int x = n; keep(&x); return x; }
int either(int n) { int x = n, y = 2; return *(n ? &x : &y); }
int g;
int mixed(int n) { int x = n; return *(n ? &x : &g); }
struct big { long a[8]; };
long by_value(struct big b) { return b.a[2]; }
int array(int n) { int a[4] = {1, 2, 3, n}; a[n & 3] = 7; return a[1]; }
