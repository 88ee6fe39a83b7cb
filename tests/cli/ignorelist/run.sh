#!/bin/sh
# run.sh DEADHEAT - options of clang and gcc by which ThreadSanitizer leaves code out: ignorelists and
# -fno-sanitize-thread-... are obeyed, by our own pass and by clang's, and what is not is refused.
. "$(dirname "$0")/../lib.sh"

cd "$work" || exit 1
# Three races, each of them in functions of its own; and an order that an atomic makes, in another.
cat >race.cpp <<'END'
#include <pthread.h>
#include "part.h"
int apples, pears, plums, ordered;
void publish(), await();
static __attribute__((noinline)) void pick_apple() { apples++; }
static void pick_pear() { pears++; } // small enough to be inlined
template <typename T> __attribute__((noinline)) void pick(T &fruit)
{
    auto step = [&](int n) __attribute__((noinline)) { fruit += n; };
    step(1);
}
static void *body(void *arg)
{
    pick_apple();
    pick_pear();
    pick(plums);
    pick_cherry();
    if (arg) {
        ordered = 1;
        publish();
    } else {
        await();
        ordered = 2;
    }
    return arg;
}
int main()
{
    pthread_t t[2];
    pthread_create(&t[0], nullptr, body, nullptr);
    pthread_create(&t[1], nullptr, body, t);
    pthread_join(t[0], nullptr);
    pthread_join(t[1], nullptr);
    return 0;
}
END
cat >part.h <<'END'
inline int cherries;
inline __attribute__((noinline)) void pick_cherry() { cherries++; }
END
cat >order.cpp <<'END'
static int ready;
void publish() { __atomic_store_n(&ready, 1, __ATOMIC_SEQ_CST); } // <atomic> would take longer than all the rest
void await()
{
    while (!__atomic_load_n(&ready, __ATOMIC_SEQ_CST))
        ;
}
END

found() { # FLAGS...: compiles with them, runs, and says which variables race
    if "$deadheat" c++ -std=c++17 -g ${LEVEL--O1} "$@" race.cpp order.cpp -o prog -pthread >out 2>err && [ ! -s err ]; then
        "$deadheat" run --source=0 -- ./prog 2>&1 | sed -n 's/^WARNING.* `\([a-z]*\)` (pid.*/\1/p' | sort | tr '\n' ' '
    else
        echo "compiling: $(head -2 err)"
    fi
}
callers_of() { # FUNCTION: in the reports of the program
    "$deadheat" run --source=0 -- ./prog 2>&1 | grep -A1 "#0 $1" | sed -n 's/.*#1 \([a-z_]*\).*/\1/p' | sort -u
}
list() { printf '%s\n' "$@" >list.txt; }
all="apples cherries pears plums "
for frontend in own clang; do
    own=
    [ $frontend = own ] || own=--dh-frontend=clang
    ignoring() { # NAME EXPECTED LINES...: with a list of these lines
        case_name=$1 expected=$2
        shift 2
        list "$@"
        same "$frontend-$case_name" "$(found $own -fsanitize-ignorelist=list.txt)" "$expected"
    }
    same $frontend-none "$(found $own)" "$all"
    same $frontend-none-stack "$(callers_of pick_apple)" "body"
    ignoring empty "$all" '# nothing'
    ignoring function "cherries pears plums " 'fun:_ZL10pick_applev'
    ignoring function-glob "cherries plums " 'fun:*pick_applev' 'fun:*pick_pear*'
    ignoring template "apples cherries pears " 'fun:*pickI*' 'fun:*pick*clEi'
    ignoring header "apples pears plums " 'src:*/part.h' 'src:part.h'
    ignoring source "cherries " 'src:*race.cpp'
    ignoring main-file "" 'mainfile:*race.cpp'
    ignoring section "cherries pears plums " '[thread]' 'fun:*pick_apple*'
    ignoring sections-glob "cherries pears plums " '[{thread,address}]' 'fun:*pick_apple*'
    ignoring other-section "$all" '[address]' 'fun:*pick_apple*' '[undefined]' 'src:*'
    ignoring category "$all" 'src:*race.cpp=init' 'fun:*pick*=uninstrumented'
    ignoring atomics-still-order "$all" 'src:*order.cpp'
    list 'fun:*pick_apple*'
    echo 'src:*part.h' >second.txt
    same $frontend-two-lists "$(found $own -fsanitize-ignorelist=list.txt -fsanitize-blacklist=second.txt)" "pears plums "
    same $frontend-taken-back "$(found $own -fsanitize-ignorelist=list.txt -fno-sanitize-ignorelist)" "$all"
    same $frontend-with-another "$(found $own -fsanitize-ignorelist=list.txt -fsanitize=integer-divide-by-zero)" "cherries pears plums "
    same $frontend-as-compiler-option "$(found $own -Xclang -fsanitize-ignorelist=list.txt)" "cherries pears plums "
    same $frontend-no-memory-access "$(found $own -fno-sanitize-thread-memory-access)" ""
    same $frontend-memory-access-again "$(found $own -fno-sanitize-thread-memory-access -fsanitize-thread-memory-access)" "$all"
    same $frontend-no-atomics "$(found $own -fno-sanitize-thread-atomics)" "apples cherries ordered pears plums "
    found $own -fno-sanitize-thread-func-entry-exit >raced
    same $frontend-no-func-entry-exit "$(cat raced)" "$all"
    same $frontend-no-func-entry-exit-stack "$(callers_of pick_apple)" ""
    same $frontend-no-thread-sanitizer "$(found $own -fno-sanitize=thread)" ""
    same $frontend-no-sanitizer-at-all "$(found $own -fno-sanitize=all)" ""
done

# Options that are not on the command line: configuration files, and clang's own variable.
list 'fun:*pick_apple*'
mkdir configs
echo 'src:*part.h' >configs/second.txt
cat >configs/lists.cfg <<'END'
  # -fno-sanitize-thread-memory-access
-fsanitize-ignorelist=list.txt \
    -DQUOTED="a b"
--config=./more.cfg
END
echo '@more.rsp' >configs/more.cfg
echo '-fsanitize-ignorelist=<CFGDIR>/second.txt' >configs/more.rsp
same config "$(found --config=configs/lists.cfg)" "pears plums "
same config-two-words "$(found --config configs/lists.cfg)" "pears plums "
same config-clang "$(found --dh-frontend=clang --config=configs/lists.cfg)" "pears plums "
same config-by-name "$(found --config-user-dir=configs --config=lists.cfg)" "pears plums "
same config-comes-first "$(found -fno-sanitize-ignorelist --config=configs/lists.cfg)" "$all"
same override "$(CCC_OVERRIDE_OPTIONS='# +-fsanitize-ignorelist=list.txt' found)" "cherries pears plums "
same override-in-front "$(CCC_OVERRIDE_OPTIONS='#^-fsanitize-ignorelist=list.txt' found -fno-sanitize-ignorelist)" "$all"

list 'src:*race.cpp'
same unoptimised "$(LEVEL=-O0 found -fsanitize-ignorelist=list.txt)" "cherries "
same optimised "$(LEVEL=-O2 found -fsanitize-ignorelist=list.txt)" "cherries "
list 'fun:*pick_pear*' 'fun:*pick_apple*'
same unoptimised-functions "$(LEVEL=-O0 found -fsanitize-ignorelist=list.txt)" "cherries plums "
same exceptions "$(found --dh-exceptions -fsanitize-ignorelist=list.txt)" "cherries plums "
same exceptions-no-memory-access "$(found --dh-exceptions -fno-sanitize-thread-memory-access)" ""
if command -v ld.lld-19 >/dev/null; then
    same pruned "$(found --dh-prune=quiet -fsanitize-ignorelist=list.txt)" "cherries plums "
    same pruned-no-memory-access "$(found --dh-prune=quiet -fno-sanitize-thread-memory-access)" ""
else
    skip pruned "there is no lld-19"
fi

# Members that the compiler adds to a class are where the class is.
cat >implicit.cpp <<'END'
#include <pthread.h>
#include "pair.h"
static pair_of_ints shared;
static void *body(void *arg)
{
    pair_of_ints mine;
    mine = shared;
    copy_to(shared, mine);
    return arg;
}
int main()
{
    pthread_t t;
    pthread_create(&t, nullptr, body, nullptr);
    body(nullptr);
    pthread_join(t, nullptr);
    return 0;
}
END
cat >pair.h <<'END'
struct number {
    int n = 0;
    number &operator=(const number &other)
    {
        n = other.n;
        return *this;
    }
};
struct pair_of_ints {
    number a, b;
};
inline void copy_to(pair_of_ints &to, const pair_of_ints &from)
{
    struct copier {
        static void copy(pair_of_ints &to, const pair_of_ints &from) { to = from; }
    };
    copier::copy(to, from);
}
END
echo 'src:*pair.h' >list.txt
"$deadheat" c++ -g -O0 implicit.cpp -o implicit -pthread && "$deadheat" run -- ./implicit >out 2>&1
same implicit-members-race "$?" 66
"$deadheat" c++ -g -O0 -fsanitize-ignorelist=list.txt implicit.cpp -o implicit -pthread && "$deadheat" run -- ./implicit >out 2>&1
same implicit-members-ignored "$?" 0

# The object is made again when the list changes.
"$deadheat" c++ -MD -MF deps -fsanitize-ignorelist=list.txt -c implicit.cpp
has dependency deps list.txt

# ---- What is refused ----
refused() { # NAME WORDS FLAGS...
    case_name=$1 words=$2
    shift 2
    "$deadheat" cc "$@" -c plain.c >out 2>err
    same "refused-$case_name" "$?:$(wc -l <err):$(grep -c -- "$words" err)" 2:1:1
}
echo 'int x;' >plain.c
refused absent-list "cannot read the ignorelist './absent': No such file or directory" -fsanitize-ignorelist=./absent
list 'fun:good' '' '  # comment' '[thread' 'fun:x'
refused bad-section "line 4 of the ignorelist 'list.txt'" -fsanitize-ignorelist=list.txt
list '[thread]' 'function good'
refused bad-line "line 2 of the ignorelist 'list.txt'" -fsanitize-ignorelist=list.txt
list 'fun:x'
refused absent-config "cannot read the configuration file './absent': No such file or directory" --config=./absent
refused absent-config-name "no configuration file 'absent.cfg' where clang keeps them" --config absent.cfg
echo '--config=./itself.cfg' >itself.cfg
refused config-of-itself "cannot read the configuration file '.*itself.cfg': Too many levels" --config=./itself.cfg
echo '-fsanitize=address' >other.cfg
refused config-sanitizer "one or the other" --config=./other.cfg
export CCC_OVERRIDE_OPTIONS='#x-fsanitize-ignorelist=list.txt'
refused override "'x-fsanitize-ignorelist=list.txt' in CCC_OVERRIDE_OPTIONS is not supported" -fsanitize-ignorelist=list.txt
unset CCC_OVERRIDE_OPTIONS
refused field "such a build has no checks" --dh-mode=field -fsanitize-ignorelist=list.txt
refused field-part "such a build has no checks" --dh-mode=field -fno-sanitize-thread-atomics
refused gcc-list "is an option of clang" --dh-frontend=gcc -fsanitize-ignorelist=list.txt
refused gcc-part "is an option of clang" --dh-frontend=gcc -fno-sanitize-thread-memory-access
refused gcc-part-beside-parameter "'-fno-sanitize-thread-atomics' is an option of clang" --dh-frontend=gcc \
    -fno-sanitize-thread-atomics --param=tsan-instrument-func-entry-exit=0
refused pass-option "own pass" -mllvm -tsan-instrument-atomics=0
refused pass-option-joined "own pass" -mllvm=-tsan-instrument-atomics=0
refused parameter "own pass" --param tsan-distinguish-volatile=1
refused parameter-joined "own pass" --param=tsan-distinguish-volatile=1
refused compiler-option "one or the other" -Xclang -fsanitize=thread

# gcc's parameter for the same thing is obeyed, and so are others of its own.
accepted() { # NAME FLAGS...
    case_name=$1
    shift
    "$deadheat" cc "$@" -c plain.c >out 2>err
    same "accepted-$case_name" "$?:$(cat err)" 0:
}
accepted parameter --param=tsan-instrument-func-entry-exit=0 --param tsan-distinguish-volatile=0
if command -v gcc >/dev/null; then
    accepted parameter-gcc --dh-frontend=gcc --param=tsan-instrument-func-entry-exit=0
    accepted parameter-gcc-two-words --dh-frontend=gcc --param tsan-instrument-func-entry-exit=0
fi
accepted parameter-of-another --param ssp-buffer-size=4
accepted defaults -fsanitize-thread-atomics -fsanitize-thread-memory-access -fsanitize-thread-func-entry-exit
same parameter "$(found --param=tsan-instrument-func-entry-exit=0)" "$all"
same parameter-stack "$(callers_of pick_apple)" ""
exit $failed
