/* Thread-local variables of a library that is opened at run time lie on the heap, unless it is compiled to have them
 * among the static ones. */
__thread int before_opened = 1;
__thread struct {
    int first, second[4];
} opened;

int *opened_second(int i)
{
    return &opened.second[i];
}
