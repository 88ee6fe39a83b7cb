// Two threads go through columns of one matrix, down and up. Their columns lie between each other; one is shared.
// FLAGS: -O2
#include "invisible.h"

enum { ROWS = 60, COLUMNS = 7 };
float matrix[ROWS][COLUMNS];
int rows = ROWS;

__attribute__((noinline)) static void fill(int column)
{
    for (int i = 0; i < rows; i++)
        matrix[i][column] = 1; // RACE a:write
}

__attribute__((noinline)) static float sum(int column)
{
    float s = 0;
    for (int i = rows - 1; i >= 0; i--)
        s += matrix[i][column]; // RACE a:read
    return s;
}

THREAD(first)
{
    fill(0);
    fill(2);
    fill(4);
    mark();
    return NULL;
}

THREAD(second)
{
    float s;

    after(1);
    s = sum(1) + sum(3) + sum(5);
    s += sum(4);
    use((long)s);
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
