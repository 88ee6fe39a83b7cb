// The other translation unit of multi-file.c.
extern int shared_total;

void second_unit_write(void)
{
    shared_total = 2; // RACE a:write
}
