/*
 * plain.c - a function of the program that deadheat has not compiled, so that it is in no table.
 */
volatile int plain_count;

void plain(void);
void plain(void)
{
    plain_count++;
}
