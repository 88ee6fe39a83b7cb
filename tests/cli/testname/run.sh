#!/bin/sh
# run.sh DEADHEAT - for which test a race was found: of CTest, whose files are matched with the command in the record, and of
# GoogleTest, whose tests are functions on the stack.
. "$(dirname "$0")/../lib.sh"

root=$(cd "$here/../../.." && pwd)
unset DEADHEAT_TEST TEST_TARGET PYTEST_CURRENT_TEST GTEST_FILTER
cd "$work" || exit 1
cp "$root/tests/cli/baseline/two.c" .
"$deadheat" cc -g -O1 -pthread -I"$root/tests/programs" two.c -o two || { bad compile "deadheat cc failed"; exit 1; }

# names FILE: the tests of processes and of findings, sorted
names() {
    "$deadheat" report --format=json "$1" 2>/dev/null | python3 -c '
import json, sys
d = json.load(sys.stdin)
print(*sorted(p.get("test", "-") for p in d["processes"]), "/", *sorted({f.get("test", "-") for f in d["findings"]}))'
}

# ---- CTest ----
mkdir -p project/below elsewhere
cat >project/CMakeLists.txt <<END
cmake_minimum_required(VERSION 3.20)
project(names NONE)
enable_testing()
add_test(NAME alone COMMAND $work/two)
add_test(NAME "two words" COMMAND $work/two a "x y\\"z;#(" )
add_test(NAME script COMMAND $work/script.sh a b)
add_test(NAME elsewhere COMMAND $work/two a b c)
set_tests_properties(elsewhere PROPERTIES WORKING_DIRECTORY $work/elsewhere)
add_test(NAME named COMMAND $work/two a b c d)
set_tests_properties(named PROPERTIES ENVIRONMENT DEADHEAT_TEST=mine)
add_test(NAME twin1 COMMAND $work/two a a)
add_test(NAME twin2 COMMAND $work/two a a)
add_subdirectory(below)
END
echo "add_test(NAME below/it COMMAND $work/two b)
add_test(NAME below/elsewhere COMMAND $work/two b b)
set_tests_properties(below/elsewhere PROPERTIES WORKING_DIRECTORY $work/elsewhere)" >project/below/CMakeLists.txt
printf '#!/bin/sh\n%s x; true\n' "$work/two" >script.sh
chmod +x script.sh
if cmake -S project -B tests >log 2>&1; then
    one() { # CASE CTEST-REGEX WANTED
        "$deadheat" run --report=0 --exitcode=0 --output="$1.jsonl" -- ctest --test-dir tests -R "$2" >log 2>&1
        same "$1" "$(names "$1.jsonl")" "$3"
    }
    one ctest-alone '^alone$' 'alone / alone'
    one ctest-quoted words 'two words / two words'
    one ctest-script script 'script / script'
    one ctest-elsewhere '^elsewhere' 'elsewhere / elsewhere'
    one ctest-environment named 'mine / mine'
    one ctest-ambiguous twin1 '- / -'
    one ctest-below 'below/it' 'below/it / below/it'
    one ctest-below-elsewhere 'below/e' 'below/elsewhere / below/elsewhere'
    "$deadheat" run --exitcode=0 -- ctest --test-dir tests -V -R '^alone$' >log 2>&1
    like ctest-text log '^WARNING: deadheat: data race on .* (pid [0-9]*, test alone)$'

    # The record has only what is gone later; a resolved one needs no files of CTest.
    like ctest-record ctest-below.jsonl "\"ctest\":{\"cwd\":\"$work/tests[a-z/]*\",\"start\":\"$work/tests\",\"command_cwd\":\"$work/tests/below\",\"command\":\[\"$work/two\",\"b\"\]}"
    "$deadheat" report --resolve -o ctest-bundle.jsonl ctest-below.jsonl >log 2>&1
    mv tests gone
    same ctest-gone "$(names ctest-below.jsonl)" '- / -'
    same ctest-bundle "$(names ctest-bundle.jsonl)" 'below/it / below/it'
    "$deadheat" report --path-map="$work/tests=$work/gone" ctest-below.jsonl >log 2>&1
    like ctest-moved log '(pid [0-9]*, test below/it)$'
else
    bad ctest "$(tail -5 log)"
fi

# ---- GoogleTest: classes as its macros make them ----
cat >suite.cpp <<'END'
#include <thread>

namespace {
int pushed, popped, typed, loose;
void both(void (*f)())
{
    std::thread a(f), b(f);
    a.join();
    b.join();
}
struct Queue_Push_Test {
    void TestBody() { both([] { pushed++; }); }
};
struct Queue_Pop_twice_Test {
    void TestBody()
    {
        std::thread a([] { popped++; });
        popped++;
        a.join();
    }
};
template <class T> struct Typed_Works_Test {
    void TestBody() { both([] { typed++; }); }
};
}
void no_test() { both([] { loose++; }); }

int main()
{
    Queue_Push_Test().TestBody();
    Queue_Pop_twice_Test().TestBody();
    Typed_Works_Test<unsigned (*)(int)>().TestBody();
    no_test();
}
END
"$deadheat" c++ -g -O1 -fno-inline -pthread suite.cpp -o suite || bad compile-suite "deadheat c++ failed"
DEADHEAT_TEST=all "$deadheat" run --report=0 --exitcode=0 --output=suite.jsonl -- ./suite >out 2>err
tests='all / Queue.Pop_twice Queue.Push Typed.Works all'
same gtest "$(names suite.jsonl)" "$tests"
"$deadheat" report --resolve -o bundle.jsonl suite.jsonl >out 2>err
same gtest-bundle "$(names bundle.jsonl)" "$tests"
GTEST_FILTER='All/Queue.Push/0' "$deadheat" run --report=0 --exitcode=0 --output=one.jsonl -- ./suite >out 2>err
same gtest-parameter "$(names one.jsonl)" 'All/Queue.Push/0 / All/Queue.Push/0 Queue.Pop_twice Typed.Works'
GTEST_FILTER='*Queue.Push' "$deadheat" run --report=0 --exitcode=0 --output=some.jsonl -- ./suite >out 2>err
same gtest-pattern "$(names some.jsonl)" '*Queue.Push / *Queue.Push Queue.Pop_twice Queue.Push Typed.Works'
"$deadheat" report suite.jsonl >out 2>err
like gtest-text out '^WARNING: deadheat: data race on .*pushed.* (pid [0-9]*, test Queue.Push)$'
"$deadheat" report --format=csv suite.jsonl >out 2>err
like gtest-csv out ',Queue\.Push.$'
"$deadheat" report --format=sarif suite.jsonl >out 2>err
has gtest-sarif out '"test":"Queue.Push"'
"$deadheat" report --format=html suite.jsonl >out 2>err
has gtest-page out 'Test:</b> Queue.Push'

"$deadheat" run --report=0 --exitcode=0 --output=without.jsonl -- ./two >out 2>err
same without "$(names without.jsonl)" '- / -'
exit $failed
