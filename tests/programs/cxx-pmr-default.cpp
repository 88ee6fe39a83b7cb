// A default memory resource that one thread makes and sets, and another gets and allocates from.
// NO RACE
// FLAGS: -std=c++17
// TSAN: does not see the atomic inside libstdc++
#include <cstdlib>
#include <memory_resource>
#include <thread>

#include "invisible.h"

struct Counting : std::pmr::memory_resource {
    int align = 16;
    void *do_allocate(size_t n, size_t) override
    {
        return std::aligned_alloc(align, n);
    }
    void do_deallocate(void *p, size_t, size_t) override
    {
        std::free(p);
    }
    bool do_is_equal(const memory_resource &other) const noexcept override
    {
        return this == &other;
    }
};

int main()
{
    std::thread sets([] {
        std::pmr::set_default_resource(new Counting);
        mark();
    });
    std::thread gets([] {
        after(1);
        std::pmr::memory_resource *r = std::pmr::get_default_resource();
        r->deallocate(r->allocate(64), 64);
    });

    sets.join();
    gets.join();
    return 0;
}
