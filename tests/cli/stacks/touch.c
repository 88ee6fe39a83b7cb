// A library whose only function races with itself.
int touched;

void touch(void)
{
    touched++;
}
