// A coroutine that goes on in one thread after the other: its frame is on the heap, and whoever resumes it
// has been given it by the one who did before.
// NO RACE
// FLAGS: -std=c++20
#include <atomic>
#include <coroutine>
#include <memory>
#include <thread>

#include "invisible.h"

struct Task {
    struct promise_type {
        int value = 0;
        Task get_return_object()
        {
            return {std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        std::suspend_always initial_suspend() noexcept
        {
            return {};
        }
        std::suspend_always final_suspend() noexcept
        {
            return {};
        }
        std::suspend_always yield_value(int n)
        {
            value = n;
            return {};
        }
        void return_void()
        {
        }
        void unhandled_exception()
        {
            abort();
        }
    };
    std::coroutine_handle<promise_type> handle;
};

static Task count(int to)
{
    auto own = std::make_unique<int>(0);
    int local[4] = {};

    for (int i = 1; i <= to; i++) {
        ++*own;
        local[i % 4] += i;
        co_yield *own + 0 * local[i % 4];
    }
}

static std::atomic<int> turn;

int main()
{
    Task task = count(20);
    auto resume = [&](int me) {
        for (int i = me; i < 20; i += 2) {
            while (turn.load(std::memory_order_acquire) != i)
                std::this_thread::yield();
            task.handle.resume();
            MUST(task.handle.promise().value == i + 1);
            turn.store(i + 1, std::memory_order_release);
        }
    };
    std::thread even(resume, 0), odd(resume, 1);

    even.join();
    odd.join();
    task.handle.resume();
    MUST(task.handle.done());
    task.handle.destroy();
    return 0;
}
