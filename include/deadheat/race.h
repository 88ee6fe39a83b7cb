/*
 * race.h - data-race exceptions: lets a program act on the second of two racing accesses before it takes
 * effect.
 *
 * Under `deadheat run --on-race=exception` (DEADHEAT_OPTIONS=on_race=exception) the thread that is about to
 * make the second access of a race is stopped just before it. Until then the execution is race-free, hence
 * sequentially consistent. The handler set by dh_on_race is called on that thread and decides what happens;
 * without a handler, or if it does not decide, the option race_action does.
 *
 * Compiled by `deadheat cc` (which defines __DEADHEAT__) the names below are functions of the runtime.
 * Compiled by any other compiler they are empty inline functions: no call, no branch, no symbol to link. To
 * choose independently of the compiler, -DDH_RACE=1 selects the functions and -DDH_RACE=0 the empty versions.
 */
#ifndef DEADHEAT_RACE_H
#define DEADHEAT_RACE_H

#include <stddef.h>
#include <stdint.h>

#ifndef DH_RACE
#ifdef __DEADHEAT__
#define DH_RACE 1
#else
#define DH_RACE 0
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Capacities of the arrays in a record; the counts stored with them may be larger. */
#define DH_RACE_FRAMES 32
#define DH_RACE_LOCKS 8

/* What an access did. */
enum dh_race_kind { DH_RACE_READ = 0, DH_RACE_WRITE = 1, DH_RACE_FREE = 2 };

struct dh_race_lock {
    uintptr_t address;
    int shared; /* held for reading */
};

struct dh_race_access {
    int kind;          /* enum dh_race_kind */
    int atomic;        /* an atomic operation; two of these never race */
    uintptr_t address; /* of the whole access, not just of the bytes they share */
    size_t size;
    uint32_t thread; /* deadheat's thread number, from 1, as in reports; never reused */
    int32_t tid;     /* the kernel's */
    char thread_name[16];
    uint32_t depth; /* of the stack; if above DH_RACE_FRAMES, the outermost frames are missing */
    uint32_t held;  /* number of locks held; if above DH_RACE_LOCKS, those taken first are missing */
    /* Return addresses, innermost first: stack[0] - 1 lies in the accessing instruction's check. */
    const void *stack[DH_RACE_FRAMES];
    struct dh_race_lock locks[DH_RACE_LOCKS]; /* most recently taken first */
};

struct dh_race_record {
    size_t record_size; /* sizeof(struct dh_race_record) of the runtime; it may grow at the end */
    uint32_t number;    /* of the race in the report; 0: a repetition, which is only counted */
    int late;           /* the access has already taken place: a C library function whose extent is known only
                         * when it returns, or an atomic operation (docs/guide/exceptions.md) */
    struct dh_race_access second; /* the access that is about to be made, by the calling thread */
    struct dh_race_access first;
};

/* What a handler returns. */
enum dh_race_action {
    DH_RACE_DEFAULT = 0,      /* what the option race_action says */
    DH_RACE_CONTINUE = 1,     /* make the access and continue */
    DH_RACE_THROW = 2,        /* a C++ exception (below) if it would be caught; else as DH_RACE_SIGNAL */
    DH_RACE_SIGNAL = 3,       /* the signal of the option race_signal, with si_addr; then continue */
    DH_RACE_ABORT_THREAD = 4, /* end the calling thread, as pthread_exit does; the access is not made */
    DH_RACE_ABORT = 5         /* end the process by SIGABRT; the access is not made */
};

/* Called outside the runtime, on the stack of the accessing thread. It may do anything that code there may,
 * including take locks. If it leaves by longjmp or an exception, the access is not made. Races that the
 * handler itself runs into are reported, not raised. */
typedef enum dh_race_action dh_race_handler(const struct dh_race_record *race, void *arg);

#if DH_RACE
/* Install `handler` for all threads (NULL: none); returns the previous one. */
dh_race_handler *dh_on_race(dh_race_handler *handler, void *arg);
/* The race being raised on this thread, for use in signal handlers; NULL: none. */
const struct dh_race_record *dh_race_current(void);
#else
static inline dh_race_handler *dh_on_race(dh_race_handler *handler, void *arg)
{
    (void)handler;
    (void)arg;
    return (dh_race_handler *)0;
}
static inline const struct dh_race_record *dh_race_current(void)
{
    return (const struct dh_race_record *)0;
}
#endif

#ifdef __cplusplus
}

#if defined(__cpp_exceptions) && defined(__cpp_rtti)
#include <exception>

namespace deadheat
{

/* Thrown at the second access of a race, in code compiled with `deadheat c++ --dh-exceptions`. */
class data_race : public std::exception
{
  public:
    explicit data_race(const dh_race_record &race) noexcept : race_(race)
    {
    }

    const char *what() const noexcept override
    {
        static const char *const texts[3][3] = {{"data race: a read and an unordered read",
                                                 "data race: a read of memory that another thread wrote",
                                                 "data race: a read of memory that another thread freed"},
                                                {"data race: a write to memory that another thread read",
                                                 "data race: a write to memory that another thread wrote",
                                                 "data race: a write to memory that another thread freed"},
                                                {"data race: a free of memory that another thread read",
                                                 "data race: a free of memory that another thread wrote",
                                                 "data race: a free of memory that another thread freed"}};
        return texts[race_.second.kind % 3][race_.first.kind % 3];
    }

    const dh_race_record &record() const noexcept
    {
        return race_;
    }

  private:
    dh_race_record race_;
};

} // namespace deadheat

#if DH_RACE
/* How the runtime, which is C, can throw: code that includes this header lends it the function below. */
typedef void dh_race_thrower(const struct dh_race_record *race, int (*is_caught)(void *object));
extern "C" int dh_race_lend_thrower(dh_race_thrower *thrower);

namespace deadheat
{
namespace detail
{

/* Returns if the exception would not be caught. An exception_ptr is a pointer to the exception object. */
inline void throw_race(const dh_race_record *race, int (*is_caught)(void *object))
{
    std::exception_ptr made = std::make_exception_ptr(data_race(*race));
    if (is_caught(*reinterpret_cast<void **>(&made)))
        throw data_race(*race);
}

static const int thrower_lent __attribute__((unused)) = dh_race_lend_thrower(throw_race);

} // namespace detail
} // namespace deadheat
#endif
#endif
#endif

#endif
