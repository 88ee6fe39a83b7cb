// The guard of thread-local objects, which every access asks whether they are made yet, is private to its thread.
// RUN: -O2
// EXPECT _Z3getv: read4=1
// EXPECT _ZTW6object: 
struct made { made(); ~made(); int n; };
thread_local made object;
int get() { return object.n; }
