/*
 * intercept/sysv.c - message queues and semaphores of System V. Their shared memory is in intercept/mmap.c.
 *
 * A queue: what is sent happens before every later receipt, as with other queues (intercept/mqueue.c).
 *
 * A semaphore: to raise it releases and to lower it acquires, as with those of POSIX (intercept/sem.c). To
 * wait until it is zero acquires what lowered it, and what raised it before that; nobody else acquires from
 * those who lower, so that two consumers are not ordered by taking what a third gave. A raise that waits for
 * zero first, which is how such a semaphore serves as a lock, is not acquired by others who wait for zero: it
 * is no part of what made it zero. SETVAL and SETALL may raise and may lower. SEM_UNDO is done when the
 * process ends: nobody is left here to be ordered after it.
 *
 * One semop may lower one semaphore and raise another, at once. A thread that lowers the second is then
 * ordered after the one that raised the first, although the thread between them may not have returned from
 * its call yet to pass the ordering on. So from the first such call on its set has a common address too,
 * which every change of the set releases or acquires.
 *
 * A call releases before it is made, even if it then fails: an extra edge. Addresses are only names to
 * dh_sync_*: they lie above every address of the process, beside those of fd.c. The kernel does not give an
 * identifier out again soon; when one is removed its clocks are forgotten.
 */
#define _GNU_SOURCE 1
#include <stdarg.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <time.h>

#include "runtime/init.h"
#include "runtime/intercept/touch.h"
#include "runtime/sink/sink.h"
#include "runtime/threads/scope.h"

/* The kind in bits 56-63, the identifier in bits 24-55, the number in the set in bits 8-23, and
 * below, for a semaphore, whose address it is: of those who lower it, or of those who wait for zero. */
enum { QUEUE = 0xC6, SEMAPHORE = 0xC7, SET = 0xC8 };
enum { TO_LOWER = 0, TO_ZERO = 1 };

static const char *name(u32 kind, int id, u32 number)
{
    return (const char *)((u64)kind << 56 | (u64)(u32)id << 24 | (u64)(number & 0xffff) << 8);
}

/* ---- Queues ------------------------------------------------------------------------------------- */

DH_INTERCEPTOR(int, msgsnd, int id, const void *message, size_t n, int flags)
{
    DH_ENTER(msgsnd, id, message, n, flags);
    dh_touch_in(sc.t, message, sizeof(long) + n);
    if (dh_opts.io_sync)
        dh_order_release(sc.t, name(QUEUE, id, 0));
    DH_RETURN(DH_BLOCKING(REAL(msgsnd)(id, message, n, flags)));
}

DH_INTERCEPTOR(ssize_t, msgrcv, int id, void *message, size_t n, long type, int flags)
{
    DH_ENTER(msgrcv, id, message, n, type, flags);
    ssize_t r = DH_BLOCKING(REAL(msgrcv)(id, message, n, type, flags));
    if (r >= 0) {
        if (dh_opts.io_sync)
            dh_order_acquire(sc.t, name(QUEUE, id, 0));
        dh_touch_write(sc.t, message, sizeof(long) + (size_t)r);
    }
    DH_RETURN(r);
}

DH_INTERCEPTOR(int, msgctl, int id, int command, struct msqid_ds *info)
{
    DH_ENTER(msgctl, id, command, info);
    if (command == IPC_SET)
        DH_TOUCH_IN(sc.t, info);
    int rc = REAL(msgctl)(id, command, info);
    if (rc >= 0 && command == IPC_STAT)
        DH_TOUCH_OUT(sc.t, info);
    if (rc >= 0 && command == IPC_RMID)
        dh_sink_forget(name(QUEUE, id, 0), 1);
    DH_RETURN(rc);
}

/* ---- Semaphores --------------------------------------------------------------------------------- */

enum { OPERATIONS_MAX = 500 }; /* SEMOPM of Linux: the kernel refuses more, and then there may be no more */

/* Which sets have a common address, by the low bits of their identifiers; two sets that share a bit have one
 * each all the same. Set before the call that makes it necessary. */
static bool common[1024];

static bool *common_of(int id)
{
    return &common[(u32)id % DH_ARRAY_LEN(common)];
}

/* Release its own address first, then check for the common one: make_common does it in the opposite order, so
 * that one of the two passes this release on. */
static void release(struct dh_thread *t, int id, u32 number, u32 whose)
{
    dh_order_release(t, name(SEMAPHORE, id, number) + whose);
    if (__atomic_load_n(common_of(id), __ATOMIC_SEQ_CST))
        dh_order_release(t, name(SET, id, 0));
}

static void acquire(struct dh_thread *t, int id, u32 number, u32 whose)
{
    dh_order_acquire(t, name(SEMAPHORE, id, number) + whose);
    if (__atomic_load_n(common_of(id), __ATOMIC_SEQ_CST))
        dh_order_acquire(t, name(SET, id, 0));
}

static u32 waits_as(const struct sembuf *op)
{
    return op->sem_op < 0 ? TO_LOWER : TO_ZERO;
}

/* What was released so far is passed on to the common address. It orders this thread as well, which it will
 * be in any case if its call succeeds. */
static void make_common(struct dh_thread *t, int id, const struct sembuf *ops, size_t n)
{
    __atomic_store_n(common_of(id), true, __ATOMIC_SEQ_CST);
    for (size_t i = 0; i < n; i++)
        if (ops[i].sem_op <= 0)
            dh_order_acquire(t, name(SEMAPHORE, id, ops[i].sem_num) + waits_as(&ops[i]));
    dh_order_release(t, name(SET, id, 0));
}

/* Does a call wait for one semaphore and raise another? */
static bool passes_on(const struct sembuf *ops, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; ops[i].sem_op > 0 && k < n; k++)
            if (ops[k].sem_op <= 0 && ops[k].sem_num != ops[i].sem_num)
                return true;
    return false;
}

static bool waits_for_zero(const struct sembuf *ops, size_t n, u32 number)
{
    for (size_t i = 0; i < n; i++)
        if (ops[i].sem_op == 0 && ops[i].sem_num == number)
            return true;
    return false;
}

static void operates(struct dh_thread *t, int id, const struct sembuf *ops, size_t n)
{
    dh_touch_read(t, ops, n * sizeof *ops);
    if (passes_on(ops, n))
        make_common(t, id, ops, n);
    for (size_t i = 0; i < n; i++) {
        if (ops[i].sem_op > 0)
            release(t, id, ops[i].sem_num, TO_LOWER);
        if (ops[i].sem_op < 0 || (ops[i].sem_op > 0 && !waits_for_zero(ops, n, ops[i].sem_num)))
            release(t, id, ops[i].sem_num, TO_ZERO);
    }
}

static int operated(struct dh_thread *t, int id, const struct sembuf *ops, size_t n, int rc)
{
    for (size_t i = 0; rc == 0 && i < n; i++)
        if (ops[i].sem_op <= 0)
            acquire(t, id, ops[i].sem_num, waits_as(&ops[i]));
    return rc;
}

DH_INTERCEPTOR(int, semop, int id, struct sembuf *ops, size_t n)
{
    DH_ENTER(semop, id, ops, n);
    size_t known = n <= OPERATIONS_MAX ? n : 0;
    operates(sc.t, id, ops, known);
    DH_RETURN(operated(sc.t, id, ops, known, DH_BLOCKING(REAL(semop)(id, ops, n))));
}

DH_INTERCEPTOR(int, semtimedop, int id, struct sembuf *ops, size_t n, const struct timespec *limit)
{
    DH_ENTER(semtimedop, id, ops, n, limit);
    size_t known = n <= OPERATIONS_MAX ? n : 0;
    DH_TOUCH_IN(sc.t, limit);
    operates(sc.t, id, ops, known);
    DH_RETURN(operated(sc.t, id, ops, known, DH_BLOCKING(REAL(semtimedop)(id, ops, n, limit))));
}

/* What the program must declare itself, says the manual. */
union argument {
    int value;
    struct semid_ds *info;
    unsigned short *values;
};

extern DH_HIDDEN int (*dh_real_semctl)(int, int, int, ...);

/* How many there are in the set; 0: it does not exist, or may not be asked. */
static u32 size_of_set(int id)
{
    struct semid_ds info;
    int saved = errno, rc = REAL(semctl)(id, 0, IPC_STAT, (union argument){.info = &info});
    errno = saved;
    return rc == 0 ? (u32)info.sem_nsems : 0;
}

/* Before the call. */
static void controls(struct dh_thread *t, int id, int number, int command, union argument arg, u32 size)
{
    if (command == SETALL)
        dh_touch_in(t, arg.values, size * sizeof *arg.values);
    if (command == IPC_SET)
        DH_TOUCH_IN(t, arg.info);
    for (u32 i = 0; i < size; i++) {
        if (command == SETALL || (command == SETVAL && i == (u32)number)) {
            release(t, id, i, TO_LOWER);
            release(t, id, i, TO_ZERO);
        }
    }
}

/* After one that succeeded. */
static void controlled(struct dh_thread *t, int id, int command, union argument arg, u32 size)
{
    if (command == GETALL)
        dh_touch_out(t, arg.values, size * sizeof *arg.values);
    if (command == IPC_STAT)
        DH_TOUCH_OUT(t, arg.info);
    if (command == IPC_RMID) {
        for (u32 i = 0; i < size; i++)
            dh_sink_forget(name(SEMAPHORE, id, i), 2);
        dh_sink_forget(name(SET, id, 0), 1);
    }
}

/* The argument is there only for some commands; as with open, reading more is harmless. */
DH_INTERCEPTOR(int, semctl, int id, int number, int command, ...)
{
    va_list ap;
    va_start(ap, command);
    union argument arg = va_arg(ap, union argument);
    va_end(ap);
    DH_ENTER(semctl, id, number, command, arg);
    bool asks = command == SETVAL || command == SETALL || command == GETALL || command == IPC_RMID;
    u32 size = asks ? size_of_set(id) : 0;
    controls(sc.t, id, number, command, arg, size);
    int rc = REAL(semctl)(id, number, command, arg);
    if (rc >= 0)
        controlled(sc.t, id, command, arg, size);
    DH_RETURN(rc);
}
