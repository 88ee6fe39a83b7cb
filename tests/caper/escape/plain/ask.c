/* Code that is not compiled by us, and calls what the program exports. */
void *program_make(void);

static void *kept;

void plain_ask(void)
{
    kept = program_make();
}

void *plain_get(void)
{
    return kept;
}
