// std::thread with lambdas that capture by reference and by shared_ptr, kept in a vector.
#include <memory>
#include <thread>
#include <vector>
int total;

int main()
{
    int local = 0;
    auto shared = std::make_shared<int>(1);
    std::vector<std::thread> ts;
    for (int i = 0; i < 2; i++)
        ts.emplace_back([&local, shared, i] {
            local += i;   // RACE a
            *shared += i; // RACE b
            total++;      // RACE c
        });
    for (auto &t : ts)
        t.join();
    return local + *shared;
}
