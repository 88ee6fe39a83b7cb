/* Beside base.c: a function of the same name and shape in another file; the variable, if it is not there. */
typedef int cell;
struct counts {
    int hits, miss;
};
#ifdef STATS_HERE
struct counts stats;
#else
extern struct counts stats;
#endif

static void count(int amount)
{
    *(cell *)&stats.hits = amount;
}

void count_there(int amount)
{
    count(amount);
}

static int hidden;

int *hidden_there(void)
{
    return &hidden;
}
