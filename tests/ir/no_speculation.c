// The optimiser must not invent accesses: a load that the source makes only sometimes is made only then, and the
// vectoriser does not load the fields in between. Compiled with the plugin, since it steers the optimiser.
// RUN: -O2 -mavx2
// PLUGIN: yes
// EXPECT sometimes: rare_read4=1 enter_slow=1
// NOMATCH sometimes: select
// MATCH fields: slow_read4
// NOMATCH fields: load <|slow_read(8|16)|read_loop
int shared;
int sometimes(int c)
{
    int v = 0;
    if (c)
        v = shared;
    return v;
}
struct pair { int mine, yours; };
int fields(struct pair *p, int n)
{
    int s = 0;
    for (int i = 0; i < n; i++)
        s ^= p[i].mine * 3;
    return s;
}
// Nor is a variable kept in a register by a loop that need not access it.
// EXPECT counter: read_loop=1 slow_read4=1 rare_write4=1 enter_slow=1
int counter(const int *p, int n)
{
#pragma clang loop unroll(disable)
    for (int i = 0; i < n; i++)
        if (p[i])
            shared++;
    return n;
}
