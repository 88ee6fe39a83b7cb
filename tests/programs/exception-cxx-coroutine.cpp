// In a coroutine: caught in its body, and by its promise; what it holds is destroyed, the writes are not made.
// FLAGS: --dh-exceptions -std=c++20
// OPTIONS: on_race=exception
#include <coroutine>
#include <initializer_list>

#include <deadheat/race.h>

#include "invisible.h"

int x, y;
static int caught, destroyed;

struct task {
    struct promise_type {
        bool threw = false;
        task get_return_object()
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
        void return_void()
        {
        }
        void unhandled_exception()
        {
            threw = true;
        }
    };
    std::coroutine_handle<promise_type> handle;
};

struct guard {
    ~guard()
    {
        destroyed++;
    }
};

static task inside()
{
    guard g;
    try {
        x = 2; // RACE a:write
        caught = 100;
    } catch (const deadheat::data_race &race) {
        caught++;
    }
    co_await std::suspend_always{};
    caught++;
}

static task outside()
{
    guard g;
    co_await std::suspend_always{};
    y = 2; // RACE b:write
    caught = 100;
}

THREAD(first)
{
    x = 1; // RACE a:write
    y = 1; // RACE b:write
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    for (task t : {inside(), outside()}) {
        t.handle.resume();
        t.handle.resume();
        caught += t.handle.promise().threw;
        MUST(t.handle.done());
        t.handle.destroy();
    }
    return NULL;
}

int main()
{
    both(first, second);
    MUST(caught == 3 && destroyed == 2 && x == 1 && y == 1);
    return 0;
}
