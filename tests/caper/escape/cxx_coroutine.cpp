// A coroutine of C++ keeps it in its frame, and another thread resumes it.
// RULE: store
// FLAGS: -std=c++20
#define OWN_FRAME
#include <coroutine>

#include "escape.h"

struct task {
    struct promise_type {
        task get_return_object()
        {
            return {std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        std::suspend_never initial_suspend() noexcept
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
            abort();
        }
    };
    std::coroutine_handle<promise_type> handle;
};

static std::coroutine_handle<> shared;

static task body(struct node *n)
{
    co_await std::suspend_always{};
    n = perhaps(n);
    MUST(n->seal == SEAL); // ESCAPED
    n->value = 3;          // ESCAPED
}

THREAD(owner)
{
    struct node *n = fresh();

    possibly(n);
    shared = body(n).handle;
    mark();
    n->value = 2; // ESCAPED
    return NULL;
}

THREAD(other)
{
    after(1);
    shared.resume();
    return NULL;
}

int main()
{
    both(owner, other);
    return 0;
}
