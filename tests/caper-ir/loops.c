/* Questions about accesses in loops (src/ir/caper/question.c); run.sh says what a CASE is.
 *
 * Each loop can be left in two ways. A question that waits for its end is asked at both, and so is there twice; one that is asked in
 * each round is there once. Where the loop leads calls a function each, so the compiler does not join the two. */
#include <stdatomic.h>
#include <stdlib.h>

int table[1000], other[1000];
int *rows[1000];
extern void done(void), broken(void), unknown(void);

/* CASE waits -: ask=2 enter=2 leave=2 */
void waits(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) {
        sum += table[i];
        if (sum > 1000) {
            broken();
            return;
        }
    }
    done();
}
/* A pointer that walks through it. CASE walks -: ask=2 enter=2 leave=2 */
void walks(int end)
{
    const int *p = table;
    int value;
    do {
        value = *p++;
        if (value > 1000) {
            broken();
            return;
        }
    } while (value != end);
    done();
}
/* Of two that are accessed in each round, each. CASE copies -: ask=4 enter=2 leave=2 */
void copies(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) {
        sum += table[i];
        other[i] = sum;
        if (sum > 1000) {
            broken();
            return;
        }
    }
    done();
}
/* Behind both loops. CASE nested -: ask=2 enter=2 leave=2 */
void nested(int n)
{
    int sum = 0;
    for (int k = 0; k < 100; k++) {
        for (int i = 0; i < 50; i++)
            sum = sum * 31 + table[i * 2 + k];
        if (sum > n) {
            broken();
            return;
        }
    }
    done();
}
/* What a round may leave out, or comes behind the way out, is asked about where it is. CASE perhaps -: ask=1 enter=2 leave=2 */
void perhaps(int n)
{
    for (int i = 0; i < n; i++) {
        if (i * n % 7 == 1)
            table[i] = 1;
        if (i * n % 11 == 2) {
            broken();
            return;
        }
    }
    done();
}
/* CASE too_late -: ask=1 enter=2 leave=2 */
void too_late(int n)
{
    for (int i = 0; i < n; i++) {
        if (i * n % 7 == 2) {
            broken();
            return;
        }
        table[i] = i * n;
    }
    done();
}
void set_row(int i)
{
    rows[i] = &table[i];
}
/* Each round has another object. CASE each_other -: ask=3 enter=2 leave=2 */
void each_other(int n)
{
    for (int i = 0; i < n; i++) {
        int *row = rows[i];
        if (*row == 5) {
            broken();
            return;
        }
    }
    done();
}
/* What may free memory, or synchronise. CASE freed -: ask=1 enter=2 free=1 leave=2 */
void freed(void **blocks, int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) {
        sum += table[i];
        free(blocks[i]);
        if (sum > 1000) {
            broken();
            return;
        }
    }
    done();
}
/* CASE ordered -: ask=1 enter=2 leave=2 */
void ordered(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) {
        sum += table[i];
        atomic_thread_fence(memory_order_seq_cst);
        if (sum > 1000) {
            broken();
            return;
        }
    }
    done();
}
/* CASE calls -: ask=1 enter=3 leave=3 */
void calls(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) {
        sum += table[i];
        unknown();
        if (sum > 1000) {
            broken();
            return;
        }
    }
    done();
}
/* Waiting for another thread need not end. CASE spins -: ask=2 enter=2 leave=2 */
void spins(void)
{
    for (;;) {
        if (*(volatile int *)&table[0] == 1) {
            broken();
            return;
        }
        if (*(volatile int *)&table[0] == 2)
            break;
    }
    done();
}
