/* Another file with a race in it. */
static int shared_count;

static void elsewhere(void)
{
    shared_count++;
}
