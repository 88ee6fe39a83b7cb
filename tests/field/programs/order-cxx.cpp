/*
 * order-cxx.cpp - order.c for what C++ has: order-cxx HOW. A write, and a read that comes later.
 */
#include <cstdio>
#include <cstring>
#include <exception>
#include <future>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <thread>
#include <utility>

#include "../../programs/invisible.h"

static long *shared;
static volatile long sink;
static std::once_flag once;

__attribute__((noinline)) static void put()
{
    *shared = 1; // FIRST
}

__attribute__((noinline)) static void get()
{
    sink = *shared; // SECOND
}

struct made {
    made()
    {
        put();
        mark();
    }
};

static void use_guard()
{
    static made object;
    (void)object;
}

/* The last owner destroys what the others have used. */
struct owned {
    ~owned()
    {
        get();
    }
};

static void run(const char *how)
{
    std::promise<void> promise;
    auto future = promise.get_future();
    auto object = std::make_shared<owned>();
    if (strcmp(how, "thread") == 0) {
        std::thread(put).join();
        get();
    } else if (strcmp(how, "future") == 0) {
        std::thread t([&] {
            put();
            promise.set_value();
        });
        future.get();
        get();
        t.join();
    } else if (strcmp(how, "at-exit") == 0) {
        std::thread t([&] {
            promise.set_value_at_thread_exit();
            put();
        });
        future.wait();
        get();
        t.join();
    } else if (strcmp(how, "once") == 0) {
        auto body = [] {
            std::call_once(once, [] {
                put();
                mark();
            });
        };
        std::thread t(body);
        after(1);
        body();
        get();
        t.join();
    } else if (strcmp(how, "guard") == 0) {
        std::thread t(use_guard);
        after(1);
        use_guard();
        get();
        t.join();
    } else if (strcmp(how, "shared_ptr") == 0) {
        std::thread t([own = object]() mutable {
            put();
            own.reset();
            mark();
        });
        after(1);
        object.reset();
        t.join();
    } else if (strcmp(how, "exception_ptr") == 0) {
        auto thrown = std::make_exception_ptr(owned());
        std::thread t([own = thrown]() mutable {
            put();
            own = nullptr;
            mark();
        });
        after(1);
        thrown = nullptr;
        t.join();
    } else if (strcmp(how, "catch") == 0) {
        auto thrown = std::make_exception_ptr(owned());
        std::thread t([own = thrown]() mutable {
            try {
                std::rethrow_exception(std::exchange(own, nullptr));
            } catch (owned &) {
                put();
            }
            mark();
        });
        after(1);
        thrown = nullptr;
        t.join();
    } else if (strcmp(how, "pmr") == 0) {
        std::thread t([] {
            put();
            std::pmr::set_default_resource(std::pmr::new_delete_resource());
            mark();
        });
        after(1);
        std::pmr::get_default_resource();
        get();
        t.join();
    } else if (strcmp(how, "detached") == 0) {
        /* At the end of this function its destructor would read the stack of the first thread. */
        object.reset();
        /* What orders the two is only that the stack of one is used again by the other, inside libc. */
        for (int i = 1; i <= 20; i++) {
            std::thread([i] {
                long local;
                if (i == 1) {
                    shared = &local;
                    put();
                } else if (shared == &local) {
                    get();
                }
                mark();
            }).detach();
            after(i);
        }
    } else {
        std::thread t([] {
            put();
            mark();
        });
        after(1);
        get();
        t.join();
    }
}

int main(int argc, char **argv)
{
    static long place;
    shared = &place;
    run(argc > 1 ? argv[1] : "none");
    puts("OK");
    return 0;
}
