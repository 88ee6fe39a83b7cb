// What links the nodes of lists and trees, and much of the string class, is in the library: only its headers are seen.
#include <list>
#include <map>
#include <memory>
#include <pthread.h>
#include <string>

struct item {
    int value = 0;
};
static std::list<item *> items;
static std::map<int, item *> index_;
static std::string text, part;
static pthread_barrier_t barrier;

static void *thread(void *)
{
    pthread_barrier_wait(&barrier);
    for (item *i : items)
        i->value++; // RACE a
    for (auto &i : index_)
        i.second->value--; // RACE b
    part[1] = 'x';         // RACE c
    return nullptr;
}

static std::shared_ptr<item> kept;

static void *other(void *)
{
    std::shared_ptr<item> mine = kept;
    pthread_barrier_wait(&barrier);
    mine->value++; // RACE d
    return nullptr;
}

int main()
{
    items.push_back(new item);
    index_[1] = new item;
    text = "a text that is long enough for the heap";
    part = text.substr(2);
    kept = std::make_shared<item>();
    pthread_barrier_init(&barrier, nullptr, 4);
    pthread_t t[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&t[i], nullptr, i < 2 ? thread : other, nullptr);
    for (pthread_t i : t)
        pthread_join(i, nullptr);
    return 0;
}
