# Sourced by run.sh: bitcode that is not as it should be, and what is told of threads and locks in programs that were analysed.

# Bitcode of a later LLVM says so in its first block: the producer's name, six bits a letter.
python3 - <<'END'
letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._"
def bits(text):
    return sum(letters.index(c) << 6 * i for i, c in enumerate(text))
b = open("main.bc", "rb").read()
word, old, new = int.from_bytes(b[:64], "little"), bits("LLVM19"), bits("LLVM21")
at = next(i for i in range(512 - 36) if word >> i & (1 << 36) - 1 == old)
open("newer.bc", "wb").write((word ^ (old ^ new) << at).to_bytes(64, "little") + b[64:])
END
refused bitcode-newer "'newer.bc' is bitcode of a later LLVM (LLVM21" newer.bc
refused bitcode-newer-second "'newer.bc' is bitcode of a later LLVM (LLVM21" main.bc newer.bc

# Whatever is wrong with it, LLVM's reader may crash on it, and deadheat has one sentence that names the file.
python3 - >damaged <<'END'
import random
random.seed(4)
b = open("main.bc", "rb").read()
for i in range(60):
    c = bytearray(b)
    at = random.randrange(len(c))
    if i % 3 == 0:
        c = c[:at]
    elif i % 3 == 1:
        c[at] ^= 1 << random.randrange(8)
    else:
        c[at : at + 40] = bytes(random.randrange(256) for _ in c[at : at + 40])
    open(f"damaged{i}.bc", "wb").write(c)
    print(f"damaged{i}.bc")
END
wrong=
while read -r f; do
    run --summary "$f"
    case $status in
    0) [ -s err ] && wrong="$wrong $f: $(head -1 err)" ;;
    2) [ "$(wc -l <err)" = 1 ] && grep -qF "$f" err && ! grep -q signal err || wrong="$wrong $f: $(head -1 err)" ;;
    *) wrong="$wrong $f: status $status" ;;
    esac
done <damaged
same bitcode-damaged "$wrong" ""

# The analyser's last line counts; what LLVM has said before does not.
mkdir says
printf '#!/bin/sh\necho "LLVM ERROR: something" >&2\necho "the sentence" >&2\nexit 2\n' >says/deadheat-ir
chmod +x says/deadheat-ir
DEADHEAT_LIBDIR=$work/says run main.bc
same analyser-last-line "$status $(cat err)" "2 deadheat static: error: the sentence"

# A shared library is no program. Its bitcode is: whoever loads it may call its functions, from any thread.
printf '#include <pthread.h>\nint hits;\nstatic void *run(void *p)\n{\n    hits++;\n    return p;\n}
void start(void)\n{\n    pthread_t t;\n    pthread_create(&t, 0, run, 0);\n    pthread_create(&t, 0, run, 0);\n}
int get(void)\n{\n    return hits;\n}\n' >shared.c
bin/deadheat-cc --dh-mode=field -g -O1 -fPIC -shared -pthread shared.c -o libshared.so
refused shared-library "'./libshared.so' is a shared library, and only programs carry a table of pairs" ./libshared.so
clang-19 -g -O1 -emit-llvm -c shared.c -o shared.bc
run shared.bc
has library-caller out "run by external callers of the program's functions (several at once)"
# shellcheck disable=SC2016 # the backquotes are printed
has library-places out 'run by `run` (from 2 places) (several at once)'

# Names of C++: what a std::thread runs, what made it, and locks that are members.
cat >names.cpp <<'END'
#include <mutex>
#include <thread>
static struct { std::mutex lock; } guard;
int held, open_;
struct Job {
    void operator()()
    {
        { std::lock_guard<std::mutex> l(guard.lock); held++; }
        open_++;
    }
};
int main()
{
    std::thread a{Job()}, b{Job()};
    held = open_ = 0;
    a.join();
    b.join();
    return held;
}
END
for level in -O0 -O1; do
    clang++-19 -g $level -emit-llvm -c names.cpp -o names.bc || exit 1
    run names.bc
    # shellcheck disable=SC2016
    has "cxx-entry$level" out 'run by `std::thread(Job)`'
    # shellcheck disable=SC2016
    has "cxx-lock$level" out 'holding `guard.lock'
    # shellcheck disable=SC2016 # under a lock that libstdc++ takes only if there are threads
    lacks "cxx-locked$level" out 'names.cpp:8:54, holding no lock'
    number=$(sed -n 's/^  \(P[0-9]*\) .*/\1/p' out | head -1)
    run --explain="$number" names.bc
    has "cxx-created$level" out 'a thread created by std::thread in '
    lacks "cxx-mangled$level" out _ZNSt6thread
done
