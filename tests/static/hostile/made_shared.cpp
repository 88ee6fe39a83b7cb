// Objects that lie in storage of another type: in the block of a shared_ptr, and in the nodes of a map.
#include <map>
#include <memory>
#include <pthread.h>

struct node {
    int value = 0;
    std::unique_ptr<node> next;
};
static std::shared_ptr<node> root = std::make_shared<node>();
static std::map<int, std::shared_ptr<node>> all;
static pthread_barrier_t barrier;

static void *thread(void *)
{
    std::shared_ptr<node> mine = root, found = all.find(1)->second;
    pthread_barrier_wait(&barrier);
    mine->next->value++; // RACE a
    found->value++;      // RACE b
    return nullptr;
}

int main()
{
    root->next = std::make_unique<node>();
    all[1] = std::make_shared<node>();
    pthread_barrier_init(&barrier, nullptr, 2);
    pthread_t t[2];
    for (pthread_t &i : t)
        pthread_create(&i, nullptr, thread, nullptr);
    for (pthread_t i : t)
        pthread_join(i, nullptr);
    return 0;
}
