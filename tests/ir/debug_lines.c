// Every check carries the line of its access, so that a report points there.
// RUN: -O1 -g
// EXPECT f: write4=1 read8=1
// MATCH f: call void @__dh_read8\(ptr %[^)]*\), !dbg
// NOMATCH f: call void @__dh_[a-z0-9]*\([^)]*\)$
// MATCH *: DILocation\(line: 12,
// MATCH *: DILocation\(line: 13,
int x;
long f(long *p)
{
    long y =
        *p;
    x = 1;
    return y;
}
