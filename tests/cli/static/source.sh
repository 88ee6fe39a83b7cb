# Sourced by run.sh: sources, and which code the pairs are about: source, binary or bitcode.

printf '#include <pthread.h>\n#include PART\nint x;\nstatic void *run(void *p)\n{\n    int unused = x;\n    return p;\n}
int main(void)\n{\n    pthread_t t;\n    pthread_create(&t, 0, run, 0);\n    x = ONE;\n    return pthread_join(t, 0);\n}\n' >gone.c
mkdir -p include
echo '#define ONE 1' >include/one.h
gone='-O2 -pthread -I include -DPART="one.h" gone.c'
clang='clang-19 -g -emit-llvm -c'
# shellcheck disable=SC2086 # several words
{
    $clang $gone -o gone.bc 2>/dev/null
    bin/deadheat-cc --dh-mode=field $gone -o gone 2>/dev/null
}

# shellcheck disable=SC2086
for of in source binary bitcode program; do
    case $of in
    source) is=source pairs=1 && set -- $gone ;;
    binary) is=binary pairs=0 && set -- --of=binary $gone ;;
    bitcode) is=bitcode pairs=0 && set -- gone.bc ;;
    program) is=binary pairs=0 && set -- ./gone ;;
    esac
    run "$@"
    has of-$of-text out "This is about the $is"
    has of-$of-text-pairs out "$pairs pair"
    run --format=json "$@"
    same of-$of-json "$(json 'print(d["of"], d["pairs"], d["input"], d["program"])')" "$is $pairs ${*##* } $([ $of = source ] || [ $of = binary ] && echo gone.c || { [ $of = bitcode ] && echo gone.bc || echo gone; })"
    run --format=sarif "$@"
    same of-$of-sarif "$(json 'print(d["runs"][0]["properties"]["of"])')" "$is"
    run --format=html "$@"
    has of-$of-page out "This is about the $is"
done
# shellcheck disable=SC2086
run --explain=P1 $gone
has of-explain out 'This is about the source'

# The line of a build may be given as it is: where its output goes does not matter, and nothing is left behind.
# shellcheck disable=SC2086
run -c -MD -MF gone.d -o gone.o -Wl,-O1 -lm -fsanitize=thread -flto $gone
same build-line "$status $(ls gone.d gone.o 2>/dev/null)" "0 "
has build-line-pairs out '1 pair'

printf 'int x' >broken.c
run broken.c
same source-broken "$status $(tail -1 err)" "2 deadheat static: error: 'broken.c' cannot be compiled"
refused option-of-program "'-O2' is an option for compiling, and './gone' is compiled already" -O2 ./gone
refused source-and-bitcode "'gone.c' is a source and 'gone.bc' is bitcode" gone.c gone.bc
refused bitcode-and-source "'gone.c' is a source and 'gone.bc' is bitcode" gone.bc gone.c
refused of-program "'./gone' is no source: --of=source cannot be said of it" --of=source ./gone
refused of-bitcode "'gone.bc' is no source: --of=binary cannot be said of it" --of=binary gone.bc
refused of-what "--of cannot be 'both'; it must be source or binary" --of=both gone.c
run --of=binary ./gone
same of-binary-program "$status" 0
(DEADHEAT_CLANG=/nonexistent && export DEADHEAT_CLANG && refused no-clang "cannot find clang-19" gone.c)
