// A race in a condition: the variable that the statement itself declares is destroyed on the way out.
// FLAGS: --dh-exceptions -std=c++17
// OPTIONS: on_race=exception
// STATIC: a switch of one way only reads nothing in code without --dh-exceptions
#include <initializer_list>
#include <mutex>

#include <deadheat/race.h>

#include "invisible.h"

int a, b, c, d, e[2];
static int caught;
static std::mutex m;

static void must_be_free()
{
    MUST(m.try_lock());
    m.unlock();
    caught++;
}

THREAD(first)
{
    a = 1;    // RACE a:write
    b = 1;    // RACE b:write
    c = 1;    // RACE c:write
    d = 1;    // RACE d:write
    e[0] = 1; // RACE e:write
    mark();
    return NULL;
}

struct Held {
    Held(int)
    {
        m.lock();
    }
    ~Held()
    {
        m.unlock();
    }
    operator bool() const
    {
        return true;
    }
};

THREAD(second)
{
    after(1);
    try {
        if (std::lock_guard<std::mutex> held(m); a == 1) // RACE a:read
            abort();
    } catch (const deadheat::data_race &) {
        must_be_free();
    }
    try {
        for (Held held(1); b == 1;) // RACE b:read
            abort();
    } catch (const deadheat::data_race &) {
        must_be_free();
    }
    try {
        while (Held held = Held(1)) {
            if (c) // RACE c:read
                abort();
        }
    } catch (const deadheat::data_race &) {
        must_be_free();
    }
    try {
        switch (Held held(1); d) { // RACE d:read
        default:
            abort();
        }
    } catch (const deadheat::data_race &) {
        must_be_free();
    }
    try {
        for (int i = 0; Held held = Held(i); i++)
            for (int value : e) // RACE e:read
                MUST(value != 1);
    } catch (const deadheat::data_race &) {
        must_be_free();
    }
    return NULL;
}

int main()
{
    both(first, second);
    MUST(caught == 5);
    return 0;
}
