// Every check carries the line of its access, so that a report points there.
// RUN: -O1 -g
// EXPECT f: far4=1 far8=1 rare_read8=1 rare_write4=1
// MATCH f: call preserve_mostcc void @__dh_rare_read8\(ptr %[^)]*\), !dbg
// NOMATCH f: call [^@]*@__dh_[a-z0-9_]*\([^)]*\)$
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
