/*
 * A function at the outer end of a stack that somebody made by hand: it was called by nobody, and where the
 * tables say its return address is there is no memory, or no address. It calls what is intercepted all the
 * same, and must not come to harm by that.
 */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

void go_to(void *top);

/* Saves what a function must keep, goes to the other stack, and comes back. */
__asm__(
    ".text\n"
    "go_to:\n"
    "    push %rbx\n    push %rbp\n    push %r12\n    push %r13\n    push %r14\n    push %r15\n"
    "    mov %rsp, saved(%rip)\n"
    "    mov %rdi, %rsp\n"
    "    jmp outermost\n"
    "back:\n"
    "    mov saved(%rip), %rsp\n"
    "    pop %r15\n    pop %r14\n    pop %r13\n    pop %r12\n    pop %rbp\n    pop %rbx\n"
    "    ret\n"
    "outermost:\n"
    "    .cfi_startproc\n"
    "    mov $10, %edi\n"
    "    call malloc@PLT\n"
    "    mov %rax, %rdi\n"
    "    call free@PLT\n"
    "    jmp back\n"
    "    .cfi_endproc\n"
    ".local saved\n"
    ".comm saved, 8, 8\n");

int main(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), size = 64 * page;
    char *stack = mmap(NULL, size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (stack == MAP_FAILED || mprotect(stack + size, page, PROT_NONE) != 0)
        return 1;
#ifdef NO_ADDRESS
    *(unsigned long *)(stack + size - 16) = 0xdeaddeaddeaddead;
    go_to(stack + size - 16);
    go_to(stack + size - 16);
#else
    go_to(stack + size);
    go_to(stack + size);
#endif
    puts("back");
    return 0;
}
