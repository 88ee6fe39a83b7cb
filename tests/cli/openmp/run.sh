#!/bin/sh
# run.sh DEADHEAT - programs of LLVM's OpenMP: nothing is reported of a correct one, and of a racy one the race. It takes
# libomp and its tool libarcher.
. "$(dirname "$0")/../lib.sh"

cd "$work" || exit 1
unset OMP_TOOL_LIBRARIES OMP_TOOL TSAN_OPTIONS
export OMP_NUM_THREADS=4
if ! echo 'int main(void) { return 0; }' | clang-19 -fopenmp -x c - -o probe 2>/dev/null; then
    skip all "no libomp of clang 19 is installed"
    exit 0
fi
for level in -O0 -O2; do
    "$deadheat" cc -g $level -fopenmp "$here/correct.c" -o correct && "$deadheat" cc -g $level -fopenmp "$here/racy.c" -o racy &&
        "$deadheat" cc -g $level -fopenmp "$here/tasks.c" -o tasks && "$deadheat" cc -g $level -fopenmp "$here/critical.c" -o critical || { bad "compile$level" "deadheat cc failed"; continue; }
    for detector in fasttrack fasttrack-ref; do
        "$deadheat" run --detector=$detector -- ./correct >out 2>err
        same "correct$level-$detector" "$?:$(cat out):$(grep -c WARNING err):$(head -1 err)" "0:80400 22 1 408 55 11:0:"
        "$deadheat" run --detector=$detector -- ./tasks >out 2>err
        same "tasks$level-$detector" "$?:$(cat out):$(cat err)" "0:0 wrong:"
        "$deadheat" run --detector=$detector --source=0 -- ./racy >out 2>err
        same "racy$level-$detector-status" "$?:$(cat out)" "66:2 threads"
        same "racy$level-$detector-lines" "$(grep -A1 ' of 4 bytes at ' err | grep -o 'racy\.c:[0-9]*' | sort -u | tr '\n' ' ')" \
            "racy.c:18 racy.c:23 "
        "$deadheat" run --detector=$detector --source=0 -- ./critical >out 2>err
        same "critical$level-$detector" "$?:$(cat out):$(grep -A1 ' of 4 bytes at ' err | grep -o 'critical\.c:[0-9]*' | sort -u | tr '\n' ' ')" \
            "66:4 2:critical.c:20 critical.c:25 "
    done
done

# Both are recorded with what OpenMP orders.
"$deadheat" record -o correct.dht -- ./correct >out 2>err
"$deadheat" analyze --detector=fasttrack correct.dht >out 2>err
same analyze-correct "$?" 0

# The user's own choice stands.
OMP_TOOL_LIBRARIES=/nowhere.so "$deadheat" run --force -- sh -c 'echo $OMP_TOOL_LIBRARIES' >out 2>err
same chosen "$(cat out)" /nowhere.so
printf 'int main(void) { return system("echo \\"$OMP_TOOL_LIBRARIES\\""); }\n' >plain.c
"$deadheat" cc -include stdlib.h plain.c -o plain && "$deadheat" run -- ./plain >out 2>err
same unused "$(cat out)" ""

# What a launcher starts may use it.
"$deadheat" run -- sh -c './correct; exit 0' >out 2>err
same below-launcher "$?:$(cat err)" 0:
exit $failed
