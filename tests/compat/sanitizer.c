// What all sanitizers have (<sanitizer/common_interface_defs.h>): unaligned accesses are checked, questions answered, the
// rest links and does nothing.
#include <sanitizer/common_interface_defs.h>
#include <stdint.h>
#include <string.h>

#include "../programs/invisible.h"

extern size_t __sanitizer_get_allocated_size(const volatile void *p);
extern int __sanitizer_get_ownership(const volatile void *p);

char bytes[16];
static int answer;

THREAD(first)
{
    __sanitizer_unaligned_store32(bytes + 3, 0x01020304); // RACE a
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    answer = __sanitizer_unaligned_load16(bytes + 5) == 0x0102; // RACE a
    __sanitizer_unaligned_store64(bytes + 7, 0);
    return NULL;
}

int main(int argc, char **argv)
{
    char path[256];
    (void)argv;
    void *offset = NULL, *p = malloc(40);
    MUST(__sanitizer_get_module_and_offset_for_pc((void *)main, path, sizeof(path), &offset));
    MUST(strstr(path, "prog") != NULL && offset != NULL);
    __sanitizer_symbolize_pc((void *)main, "%f", path, sizeof(path));
    MUST(strstr(path, "prog+0x") != NULL);
    MUST(__sanitizer_get_allocated_size(p) == 40 && __sanitizer_get_ownership(p));
    MUST(!__sanitizer_get_ownership((char *)p + 8) && !__sanitizer_get_ownership(bytes));
    MUST(__sanitizer_verify_contiguous_container(bytes, bytes, bytes + 16));
    MUST(!__sanitizer_contiguous_container_find_bad_address(bytes, bytes, bytes + 16));
    __sanitizer_annotate_contiguous_container(bytes, bytes + 16, bytes + 16, bytes + 8);
    __sanitizer_set_death_callback(NULL);
    if (argc > 1)
        __sanitizer_print_stack_trace();
    free(p);
    both(first, second);
    MUST(answer);
    return 0;
}
