// Options and suppressions that the program brings for ThreadSanitizer: it ends by 7 instead of 66. The race of known()
// is in the raw records, but not in the report, which run.sh looks at.
// EXIT: 7
#include "../programs/invisible.h"

const char *__tsan_default_options(void);
const char *__tsan_default_suppressions(void);

const char *__tsan_default_options(void)
{
    return "history_size=7 exitcode=7:second_deadlock_stack=1";
}

const char *__tsan_default_suppressions(void)
{
    return "# known for years\nrace:known\n";
}

int suppressed, told;

__attribute__((noinline)) static void known(int value)
{
    suppressed = value; // RACE b
}

THREAD(first)
{
    known(1);
    told = 1; // RACE a
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    known(2);
    told = 2; // RACE a
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
