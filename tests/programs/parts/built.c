// A library with a constructor that fills a table and a destructor that reports
// what became of it.
static int table[64], *where;

__attribute__((constructor)) static void build(void)
{
    for (int i = 0; i < 64; i++)
        table[i] = i;
}

__attribute__((destructor)) static void destroy(void)
{
    if (where)
        *where = table[0];
}

int built_enter(int *report)
{
    where = report;
    table[0] = table[42] + 1;
    return table[42];
}
