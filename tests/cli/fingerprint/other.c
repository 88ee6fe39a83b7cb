/* Beside base.c: a function of the same name and shape in another file; the variable, if it is not there. */
struct stats {
    int hits, misses;
};
#ifdef STATS_HERE
struct stats stats;
#else
extern struct stats stats;
#endif

static void count(int amount)
{
    stats.hits = amount;
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
