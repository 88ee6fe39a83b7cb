// A loop that the compiler turns into vector code with masks: elements that the condition leaves out are not
// touched, though the instruction covers them.
// NO RACE
// FLAGS: -O3
#include "invisible.h"

enum { SIZE = 256 };
static int condition[SIZE], values[SIZE];
static float floats[SIZE];

__attribute__((noinline, target("avx2"))) static void update(const int *restrict chosen, int *restrict v,
                                                             float *restrict f, int which)
{
    for (int i = 0; i < SIZE; i++)
        if (chosen[i] == which) {
            v[i] = v[i] * 2 + 1;
            f[i] += 1.0f;
        }
}

THREAD(first)
{
    update(condition, values, floats, 0);
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    update(condition, values, floats, 1);
    return NULL;
}

int main(void)
{
    if (!__builtin_cpu_supports("avx2"))
        return 0;
    for (int i = 0; i < SIZE; i++)
        condition[i] = i * 7 % 3 == 1;
    both(first, second);
    for (int i = 0; i < SIZE; i++)
        MUST(values[i] == 1 && floats[i] == 1.0f);
    return 0;
}
