// static_cxx.cpp - the C++ library inside the program: threads, locks and exceptions must work all the same.
#include <cstdio>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

static std::mutex mutex;
static size_t total;

int main()
{
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back([i] {
            auto text = std::make_shared<std::string>(static_cast<size_t>(i) + 10, 'x');
            try {
                throw std::runtime_error(*text);
            } catch (const std::exception &e) {
                std::lock_guard<std::mutex> hold(mutex);
                total += std::string(e.what()).size();
            }
        });
    for (auto &t : threads)
        t.join();
    std::puts(total == 46 ? "done" : "wrong");
    return 3;
}
