# Sourced by run.sh: single command lines.

cat > hello.c <<'END'
#include <stdio.h>
int shared_value;
int main(void)
{
    shared_value = 42;
    printf("%d\n", shared_value);
    return 0;
}
END
cat > a.c <<'END'
int b(void);
int total;
int main(void) { total += b(); return total - 3; }
END
echo 'int value = 3; int b(void) { return value++; }' > b.c
cat > lib.c <<'END'
static int counter;
int bump(void) { return ++counter; }
END
cat > uselib.c <<'END'
int bump(void);
int main(void) { return bump() + bump() - 3; }
END
cat > plugin.c <<'END'
#include <dlfcn.h>
int main(int argc, char **argv)
{
    void *h = dlopen(argv[argc - 1], RTLD_NOW);
    int (*bump)(void) = h ? (int (*)(void))dlsym(h, "bump") : 0;
    return bump ? bump() - 1 : 9;
}
END
cat > throws.cpp <<'END'
#include <atomic>
#include <iostream>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>
struct once { once() { std::cout << "ready\n"; } };
static once initialiser;
int main()
{
    std::mutex m;
    std::atomic<int> hits{0};
    int plain = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++)
        threads.emplace_back([&] {
            try {
                std::lock_guard<std::mutex> guard(m);
                plain++;
                throw std::runtime_error("x");
            } catch (const std::exception &) {
                hits++;
            }
        });
    for (auto &t : threads)
        t.join();
    std::cout << plain << hits << "\n";
}
END

compile_and_run() { "$cc" -g -O1 hello.c -o hello && prints 42 ./hello; }
case_ compile-and-link compile_and_run

checked() { "$cc" --dh-checked hello.c -o hello3 && nm hello3 | grep -q ' t dh_valid_cell$' && prints 42 ./hello3; }
case_ checked checked

sub_command() { "$deadheat" cc hello.c -o hello2 && prints 42 ./hello2; }
case_ as-subcommand sub_command

preprocess() { "$cc" -E hello.c > hello.i && grep -q shared_value hello.i && "$cc" -c hello.i && instrumented hello.o; }
case_ preprocess preprocess

assembly() { "$cc" -O1 -S hello.c && grep -q __dh_slow_write4 hello.s && "$cc" -c hello.s -o from_s.o && "$cc" from_s.o -o from_s && prints 42 ./from_s; }
case_ assembly assembly

separate() { "$cc" -c a.c -o a.o && "$cc" -c b.c -o b.o && instrumented a.o b.o && "$cc" a.o b.o -o ab && ./ab; }
case_ separate-objects separate

many() { "$cc" -O2 a.c b.c -o ab2 && ./ab2; }
case_ many-inputs many

default_names() { mkdir -p names && cd names && "$cc" -c ../a.c ../b.c && instrumented a.o b.o && "$cc" a.o b.o && ./a.out; }
default_names_here() { (default_names); }
case_ default-names default_names_here

dependencies() { "$cc" -MMD -MP -MF hello.d -MT target -c hello.c -o hello.o && grep -q '^target: hello.c' hello.d; }
case_ dependencies dependencies

just_dependencies() { prints 'b.o: b.c' "$cc" -MM b.c; }
case_ dependencies-only just_dependencies

shared() {
    "$cc" -shared -fPIC -O2 lib.c -o libbump.so && nm -D libbump.so | grep -q ' U __dh_' &&
        "$cc" uselib.c -L. -lbump "-Wl,-rpath,$work" -o uselib && ./uselib
}
case_ shared-library shared

loaded() { "$cc" plugin.c -o plugin -ldl && ./plugin ./libbump.so; }
case_ dlopen loaded

defs() {
    "$cc" -shared -fPIC -Wl,-z,relro,-z,defs -Wl,--no-undefined lib.c -o d1.so &&
        "$cc" -shared -fPIC -Wl,-z -Wl,defs -Wl,--as-needed lib.c -o d2.so &&
        "$cc" -shared -fPIC -Xlinker -z -Xlinker defs -z defs lib.c -o d3.so &&
        readelf -lW d1.so | grep -q GNU_RELRO
}
case_ shared-no-undefined defs

exclude_libs() { "$cc" -Wl,--exclude-libs,ALL hello.c -o xl && nm -D xl | grep -q ' [A-Z] __dh_hot'; }
case_ exclude-libs exclude_libs

# A script that hides what it does not name must not hide the runtime from a library.
version_script() {
    echo '{ global: main; local: *; };' > only_main.map
    for form in --version-script=only_main.map --version-script,only_main.map; do
        "$cc" "-Wl,$form" plugin.c -o scripted -ldl && ./scripted ./libbump.so || return
    done
}
case_ version-script-of-a-program version_script

strict() {
    "$cc" -shared -fPIC -Wl,--no-allow-shlib-undefined -Wl,--unresolved-symbols=report-all uselib.c ./libbump.so -o strict.so
}
case_ shared-no-undefined-in-others strict

shared_by_default() { "$cc" -shared lib.c -o libdefault.so && ./plugin ./libdefault.so; }
case_ shared-without-fPIC shared_by_default

# Every object of the program is plain; what is instrumented, a library, knows where deadheat is.
plain_program() {
    printf 'int racy; void *race(void *p) { racy++; return p; }\n' > racelib.c
    cat > racemain.c <<'END'
#include <pthread.h>
void *race(void *);
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, race, 0);
    pthread_create(&b, 0, race, 0);
    pthread_join(a, 0);
    return pthread_join(b, 0);
}
END
    "$cc" -g -shared -fPIC racelib.c -o librace.so && "$cc" --dh-plain racemain.c ./librace.so -o racemain || return
    ./racemain 2> race.err
    test $? = 66 && grep -q 'data race on global `racy`' race.err
}
case_ plain-program-finds-the-reporter plain_program

# A debugger stops where the arguments are in place, which is at the first line of the body.
prologue() {
    printf 'int sink;\nint add(int x)\n{\n    int y = x + 1;\n    sink = y;\n    return y;\n}\n' > prologue.c
    "$cc" -g -O0 -S prologue.c && grep -q '\.loc.*[[:space:]]4[[:space:]].*prologue_end' prologue.s
}
case_ breakpoint-after-the-prologue prologue

included() { echo 'extern int from_header;' > inc.h && "$cxx" --include inc.h --imacros inc.h -c throws.cpp -o included.o; }
case_ include-in-two-words included

language() { cp lib.c lib.txt && "$cc" -x c -c lib.txt -o lang.o && instrumented lang.o; }
case_ language-flag language

header() { echo 'int h;' > pre.h && "$cc" pre.h -o pre.h.gch && "$cc" -x c-header pre.h -o pre2.gch && test -s pre2.gch; }
case_ precompiled-header header

stdin_() { "$cc" -x c - -o fromstdin < hello.c && prints 42 ./fromstdin; }
case_ standard-input stdin_

response() {
    printf '%s\n' '-O1 "hello.c"' "-o 'with space'" '-DX=\"a\ b\"' > inner.rsp
    echo '@inner.rsp' > outer.rsp
    "$cc" @outer.rsp && prints 42 './with space'
}
case_ response-file response

response_compile() { echo '-c a.c -o rsp.o' > c.rsp && "$cc" @c.rsp && instrumented rsp.o; }
case_ response-file-compile response_compile

long_response() {
    i=0
    while [ $i -lt 20000 ]; do echo "-DNAME_THAT_IS_RATHER_LONG_$i=$i"; i=$((i + 1)); done > long.rsp
    "$cc" @long.rsp hello.c -o long && prints 42 ./long
}
case_ long-response-file long_response

cplusplus() { "$cxx" -std=c++17 -g -O2 throws.cpp -o throws && prints 'ready
33' ./throws; }
case_ c++ cplusplus

cplusplus_O0() { "$cxx" -O0 throws.cpp -o throws0 && prints 'ready
33' ./throws0; }
case_ c++-O0 cplusplus_O0

hardened() {
    "$cc" -g -O2 -ffile-prefix-map=/x=. -fstack-protector-strong -Wformat -Werror=format-security -Wdate-time \
        -D_FORTIFY_SOURCE=2 -fstack-clash-protection -fcf-protection -Wl,-z,relro -Wl,-z,now hello.c -o hard &&
        prints 42 ./hard
}
case_ hardening-flags hardened

gcc_flags() {
    "$cc" -O2 -fno-tree-sra -fno-ipa-sra -fno-var-tracking-assignments -fno-reorder-blocks-and-partition \
        -fno-aggressive-loop-optimizations -fconserve-stack -fno-printf-return-value -ftree-loop-distribution \
        -fno-allow-store-data-races -fdiagnostics-show-caret -maccumulate-outgoing-args -Wno-maybe-uninitialized \
        -Wlogical-op -Wno-stringop-overflow -Wduplicated-cond -fno-delete-null-pointer-checks \
        --param max-inline-insns-single=100 -fgcse-after-reload -fipa-pta -fno-semantic-interposition \
        -Wno-clobbered -fvect-cost-model=dynamic -fprefetch-loop-arrays hello.c -o gccflags &&
        prints 42 ./gccflags
}
case_ gcc-only-flags gcc_flags
ofast() { "$cc" -Ofast -c hello.c -o ofast.o; } # clang alone would say that it is deprecated
case_ ofast ofast

unused() { "$cc" -c -L/nowhere -lm -Wl,-O1 -pthread hello.c -o unused.o; }
case_ no-noise-unused unused

lto() { "$cc" -O2 -flto=2 -c a.c b.c && "$cc" -O2 -flto a.o b.o -fuse-ld=lld -o lto && ./lto; }
if command -v ld.lld > /dev/null || command -v ld.lld-19 > /dev/null; then
    case_ lto lto
fi

no_pie() { "$cc" -O1 -fno-pie -no-pie hello.c -o nopie && prints 42 ./nopie; }
case_ no-pie no_pie

relocatable() { "$cc" -c a.c b.c && "$cc" -r -o ab.o a.o b.o && "$cc" ab.o -o rel && ./rel; }
case_ relocatable relocatable

# g++ compiles C files as C++ in silence. What follows the C files keeps its own language.
c_as_cxx() {
    echo 'extern "C" int c_part(void); int c_part(void) { return __cplusplus > 0; }' > as_cxx.c &&
        echo 'extern "C" int c_part(void); int main() { return c_part() - 1; }' > as_main.cc &&
        "$cxx" -c as_main.cc -o as_main.o && "$cxx" -Werror as_cxx.c as_main.o -o as_cxx && ./as_cxx &&
        "$cxx" -Werror as_main.cc as_cxx.c -lm -o as_cxx && ./as_cxx &&
        "$cxx" -Werror -x c -c b.c -o as_c.o && nm as_c.o | grep -q ' b$' &&
        "$cxx" -x none -Werror -E as_cxx.c -o as_cxx.i && "$cxx" -Werror -c as_cxx.i -o as_i.o
}
case_ c-files-as-c++ c_as_cxx

beyond_o3() { for level in 4 6 9 99; do "$cc" -Werror -O$level -dM -E -x c /dev/null | grep -q OPTIMIZE && "$cc" -Werror -O$level -c b.c || return; done; }
case_ levels-beyond-O3 beyond_o3

gcc_details() { "$cc" -Werror -g -gno-variable-location-views -gno-statement-frontiers -ginline-points -mno-hle -mno-avx512er -mindirect-branch=keep -fno-strict-volatile-bitfields -c b.c -o details.o; }
case_ gcc-debug-and-absent-features gcc_details

# What reports could not read is not made.
packed() {
    "$cc" -g -gz=zstd hello.c -o packed && "$cc" -g -Wl,--compress-debug-sections=zstd hello.c -o packed_link &&
        readelf -t packed | grep -q ZLIB && ! readelf -t packed packed_link | grep -q ZSTD && prints 42 ./packed
}
case_ debug-information-for-libdw packed

multiarch() { prints x86_64-linux-gnu "$cc" -print-multiarch && prints x86_64-linux-gnu "$cc" --print-multiarch; }
case_ print-multiarch multiarch

# The public header in a plain build: gcc warns of a noinline beside inline.
header_with_gcc() {
    printf '#include <deadheat/deadheat.h>\nint g;\nDH_UNTRACKED static inline int peek(void) { return g; }\nint f(void) { return peek(); }\n' > header.c &&
        gcc -Wall -Wextra -Werror -O2 "-I$here/../../../include" -c header.c -o header.o &&
        g++ -x c++ -Wall -Wextra -Werror -O2 "-I$here/../../../include" -c header.c -o header.o &&
        gcc -O2 -fsanitize=thread "-I$here/../../../include" -c header.c -o header.o &&
        ! nm header.o | grep -q __tsan_read
}
case_ header-with-gcc header_with_gcc

plain_objects() { "${DEADHEAT_CLANG:-clang-19}" -c b.c -o plain_b.o && "$cc" a.c plain_b.o -o mixed && ./mixed; }
case_ mixed-with-plain plain_objects

plain_flag() { "$cc" --dh-plain -c a.c -o plain_a.o && ! nm plain_a.o | grep -q __dh_ && "$cc" --dh-plain hello.c -o plain && prints 42 ./plain; }
case_ dh-plain plain_flag

archive() { "$cc" -c b.c -o arch_b.o && ar rcs libarch.a arch_b.o && "$cc" a.c -L. -larch -o arch && ./arch; }
case_ static-archive archive

gold() { "$cc" -fuse-ld=gold hello.c -o gold && ./gold; }
if command -v ld.gold >/dev/null; then
    case_ gold gold
fi

static_compile() { "$cc" -static -c b.c -o static_b.o; }
case_ static-while-compiling static_compile

version() { "$cc" --version | grep -q 'clang version 19' && "$cxx" --version | grep -q 'clang version 19'; }
case_ version version
dump() { "$cc" -dumpversion | grep -q '^19' && "$cc" -dumpmachine | grep -q x86_64; }
case_ dumpversion dump
print_file() { "$cc" -print-file-name=libc.so | grep -q libc && "$cc" -print-search-dirs | grep -q libraries; }
case_ print-options print_file
verbose() { "$cc" -v 2>&1 | grep -q 'clang version' && "$cc" '-###' -c a.c 2>&1 | grep -q 'fpass-plugin='; }
case_ verbose verbose
help() { "$cc" --dh-help | grep -q 'deadheat run' && "$deadheat" c++ --dh-help | grep -q 'deadheat c++ -g'; }
case_ help help
refused nothing-to-compile 'nothing to compile' "$deadheat" c++

refused static 'link dynamically' "$cc" -static hello.c -o x
refused static-pie 'static-pie' "$cc" -static-pie hello.c -o x
refused archives-only 'no -Bdynamic' "$cc" hello.c -Wl,-Bstatic -static-libgcc -o x
refused archives-only-at-the-end 'no -Bdynamic' "$cc" hello.c -Wl,-Bstatic,-Bdynamic -Xlinker -dn -o x
some_archives() { "$cc" hello.c -Wl,-Bstatic,-lm -Wl,-Bdynamic -o some_archives && prints 42 ./some_archives; }
case_ some-archives some_archives
refused linker-static 'link dynamically' "$cc" -Xlinker -static hello.c -o x
refused linker-static-among-others 'link dynamically' "$cc" -Wl,-z,now,-static hello.c -o x
shared_for_linker() { "$cc" -fPIC -Wl,-shared lib.c -o libwl.so && "$cc" uselib.c ./libwl.so -o uselib_wl && ./uselib_wl; }
case_ shared-said-to-the-linker shared_for_linker
directives() { "$cc" -fdirectives-only a.c b.c -o directives && ./directives; }
case_ directives-only-links directives
refused nostdlib 'C library' "$cc" -nostdlib hello.c -o x
refused nodefaultlibs 'C library' "$cc" -nodefaultlibs hello.c -o x
refused nostartfiles 'C library' "$cc" -nostartfiles hello.c -o x
libc_by_name() { "$cc" -nodefaultlibs hello.c -lc -lgcc -lgcc_s -o by_name && ./by_name; }
case_ nodefaultlibs-with-libc libc_by_name
refused m32 '64-bit' "$cc" -m32 -c hello.c
refused target '64-bit' "$cc" --target=aarch64-linux-gnu -c hello.c
refused sanitize-thread 'one or the other' "$cc" -fsanitize=thread -c hello.c
refused sanitize-list 'one or the other' "$cc" -fsanitize=undefined,address hello.c -o x
refused sanitize-scudo 'one or the other' "$cc" -fsanitize=scudo hello.c -o x
refused sanitize-safe-stack 'one or the other' "$cc" -fsanitize=safe-stack hello.c -o x
refused memory-profile 'one or the other' "$cc" -fmemory-profile hello.c -o x
refused musl 'glibc' "$cc" --target=x86_64-linux-musl -c hello.c
refused emulated-tls 'thread-local' "$cc" -femulated-tls -c hello.c
refused sanitize-dataflow 'one or the other' "$cc" -fsanitize=dataflow hello.c -o x
refused unknown-own-flag "did you mean '--dh-help'" "$cc" --dh-hlep hello.c
refused unknown-own-value "did you mean '--dh-mode=full'" "$cc" --dh-mod=full hello.c
undefined() { "$cc" -fsanitize=undefined -fno-sanitize-recover=all -c hello.c -o ub.o; }
case_ sanitize-undefined undefined

refused no-clang 'DEADHEAT_CLANG' env DEADHEAT_CLANG=/nonexistent/clang "$cc" -c hello.c
refused no-plugin 'DEADHEAT_LIBDIR' env DEADHEAT_LIBDIR=/nonexistent "$cc" -c hello.c

errors_pass() { echo 'int f( {' > bad.c && "$cc" -c bad.c 2> bad.err; test $? = 1 && grep -q 'bad.c:1' bad.err; }
case_ compile-error errors_pass

# Where there is no /proc to say which program this is.
no_proc() { unshare -m sh -c 'umount -l /proc && exec "$0" -c hello.c -o no_proc.o' "$cc"; }
if unshare -m umount -l /proc 2>/dev/null; then
    case_ without-proc no_proc
else
    echo "skip cc/without-proc: /proc cannot be taken away here"
fi
