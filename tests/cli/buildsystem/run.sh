#!/bin/sh
# run.sh DEADHEAT - build systems with what deadheat installs for them: the CMake package, by targets and for a whole project;
# pkg-config; Meson's native file and test setup. The project is examples/project, which races in one of its two tests.
. "$(dirname "$0")/../lib.sh"

root=$(cd "$here/../../.." && pwd)
prefix=$(dirname "$(dirname "$deadheat")")
cp -r "$root/examples/project" "$work/project" && cd "$work" || exit 1
PATH=$prefix/bin:$PATH
unset CC CXX CFLAGS CXXFLAGS
instrumented() { if nm "$1" | grep -q __dh_; then echo yes; else echo no; fi; } # PROGRAM
found() { # NAME STATUS: what a run of the tests below `deadheat run` must have said
    same "$1" "$2:$(grep -c '^WARNING: deadheat: data race' err)" 66:1
    has "$1-report" err "data race on global \`count\`" "jobs.c:16:10" "deadheat: 1 data race"
}

# ---- CMake, by targets: gcc compiles the others ----
cat >>project/CMakeLists.txt <<'EOF'
add_executable(plain test_total.c jobs.c)
target_link_libraries(plain PRIVATE Threads::Threads)
add_executable(annotated annotated.c)
if(JOBS_DEADHEAT)
  target_link_libraries(annotated PRIVATE deadheat::headers)
endif()
find_package(deadheat ${WANTED} REQUIRED)
if(WRONG)
  deadheat_instrument(${WRONG})
endif()
EOF
echo '#include <deadheat/lard.h>
int main(void) { int x = 0; dh_lard_clear(&x, sizeof(x)); return x; }' >annotated.c && cp annotated.c project
if cmake -S project -B by-target -DJOBS_DEADHEAT=ON -DWANTED=0.1 -DCMAKE_C_COMPILER=gcc -DCMAKE_CXX_COMPILER=g++ >log 2>&1 &&
    cmake --build by-target >log 2>&1; then
    ok cmake-builds
else
    bad cmake-builds "$(tail -5 log | tr '\n' '|')"
fi
same cmake-targets "$(instrumented by-target/test_total) $(instrumented by-target/test_alone) $(instrumented by-target/plain)" "yes yes no"
lacks cmake-quiet log warning
"$deadheat" run -- ctest --test-dir by-target >out 2>err
found cmake-ctest $?
has cmake-others-pass out "50% tests passed, 1 tests failed out of 2"
cmake -DWRONG=no_such by-target >log 2>&1 && bad cmake-no-target "it went on"
has cmake-no-target log "deadheat_instrument: there is no target 'no_such'"
cmake -DWRONG=deadheat::headers by-target >log 2>&1 && bad cmake-not-compiled "it went on"
has cmake-not-compiled log "nothing of the target 'deadheat::headers' is compiled"
cmake -DWRONG= -DWANTED=9 by-target >log 2>&1 && bad cmake-version "it went on"
has cmake-version log "compatible with requested version \"9\""

# ---- CMake, the whole project ----
if cmake -G Ninja -S project -B whole -DCMAKE_C_COMPILER=deadheat-cc -DCMAKE_CXX_COMPILER=deadheat-c++ \
    -DCMAKE_BUILD_TYPE=RelWithDebInfo >log 2>&1 && cmake --build whole >log 2>&1; then
    ok cmake-whole-builds
else
    bad cmake-whole-builds "$(tail -5 log | tr '\n' '|')"
fi
same cmake-whole-targets "$(instrumented whole/test_total) $(instrumented whole/plain)" "yes yes"
"$deadheat" run -- ctest --test-dir whole >out 2>err
found cmake-whole-ctest $?

# ---- pkg-config, from wherever it is ----
mkdir moved && cp -r "$prefix/include" "$prefix/share" moved/
PKG_CONFIG_PATH=$work/moved/share/pkgconfig
export PKG_CONFIG_PATH
same pkg-config-version "$(pkg-config --modversion deadheat)" "$("$deadheat" --version | sed 's/deadheat //')"
# shellcheck disable=SC2046 # flags
gcc $(pkg-config --cflags deadheat) annotated.c -o annotated && ./annotated
same pkg-config-compiles "$?" 0
same pkg-config-compiler "$(readlink -m "$(pkg-config --variable=cc deadheat)")" "$work/moved/bin/deadheat-cc"

# ---- Meson ----
XDG_DATA_DIRS=$prefix/share meson setup --native-file deadheat.ini me project >log 2>&1 && ninja -C me >>log 2>&1 ||
    bad meson-builds "$(tail -5 log | tr '\n' '|')"
same meson-targets "$(instrumented me/test_total)" yes
meson test -C me --setup deadheat >out 2>&1 && bad meson-test "no test failed"
has meson-test out "Ok:                 1" "Fail:               1" "exit status 66"

# ---- The launcher that all this rests on ----
deadheat cc --dh-launch gcc -g -c project/jobs.c -o launched.o && deadheat cc --dh-launch >out 2>&1
same launch-alone "$?:$(instrumented launched.o)" 2:yes
has launch-said out "--dh-launch stands in front of the command line of another compiler"
exit $failed
