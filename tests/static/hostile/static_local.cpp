// A static variable of a function is initialised once, and its guard orders that before whatever comes behind the
// function; also where the initialiser may throw. It orders nothing else: not later writes, nor whoever comes without it.
#include <pthread.h>
#include <vector>

struct config {
    int size, used, early;
    config(int n);
};

static config *seen;

config::config(int n)
{
    size = n;  // NO RACE at all
    used = 0;  // NO RACE at all
    early = n; // RACE b
    __atomic_store_n(&seen, this, __ATOMIC_RELEASE);
}

static int parameter = 3;

static config &the_config()
{
    static config c(parameter);
    c.size++; // RACE a
    return c;
}

static std::vector<int> &table()
{
    static std::vector<int> t(parameter, 7);
    return t;
}

static void *reader(void *)
{
    int first = table()[0];                           // NO RACE
    return (void *)(long)(the_config().used + first); // NO RACE at all
}

static void *writer(void *)
{
    return &the_config();
}

static void *stranger(void *)
{
    config *c = __atomic_load_n(&seen, __ATOMIC_ACQUIRE);
    return (void *)(long)(c ? c->early : 0); // RACE b
}

int main()
{
    pthread_t t[5];
    pthread_create(&t[0], nullptr, reader, nullptr);
    pthread_create(&t[1], nullptr, reader, nullptr);
    pthread_create(&t[2], nullptr, writer, nullptr);
    pthread_create(&t[3], nullptr, writer, nullptr);
    pthread_create(&t[4], nullptr, stranger, nullptr);
    for (pthread_t u : t)
        pthread_join(u, nullptr);
}
