# Sourced by run.sh: properties of the machine code, which the intermediate code does not show.

cat > "$work/codegen.c" <<'END'
int x;
void f(int *p) { *p = 1; }
int g(void) { return x; }
END

codegen_case() { # name, flags, regex that must match, regex that must not
    # shellcheck disable=SC2086 # flags is a list
    "$clang" -O2 $2 "-fpass-plugin=$plugin" -S -o "$work/$1.s" "$work/codegen.c" 2> "$work/$1.log" ||
        { say_fail "$1" "compiling: $(head -1 "$work/$1.log")"; return; }
    if ! grep -Eq -- "$3" "$work/$1.s"; then
        say_fail "$1" "nothing matches $3"
    elif [ -n "$4" ] && grep -Eq -- "$4" "$work/$1.s"; then
        say_fail "$1" "something matches $4"
    else
        echo "ok ir/$1"
    fi
}

# Executables reach the thread's state in one instruction and call directly; shared objects go through
# the GOT for both, because a lazy PLT slot would not keep r10.
codegen_case tls-pie '-fPIE' '%fs:__dh_hot@TPOFF' 'GOTTPOFF|__dh_[a-z0-9_]*@(PLT|GOTPCREL)'
codegen_case tls-nopic '-fno-pic' '%fs:__dh_hot@TPOFF' 'GOTTPOFF|__dh_[a-z0-9_]*@(PLT|GOTPCREL)'
codegen_case tls-pic '-fPIC' '__dh_hot@GOTTPOFF' 'TPOFF[+]|__tls_get_addr'
codegen_case calls-pic '-fPIC' 'callq\s+\*__dh_slow_write4@GOTPCREL' '__dh_slow_[a-z0-9]*@PLT'
codegen_case other-cpu '-march=sandybridge -mno-avx -mtune=znver3' '__dh_slow_read4' ''
codegen_case protected '-fstack-protector-all -fcf-protection=full -fsplit-stack' '__dh_slow_read4' ''

# No second check in code that was compiled to bitcode first.
name=bitcode-twice
"$clang" -O1 "-fpass-plugin=$plugin" -emit-llvm -c -o "$work/twice.bc" "$work/codegen.c" &&
    "$clang" -O1 "-fpass-plugin=$plugin" -S -o "$work/twice.s" "$work/twice.bc"
n=$(grep -c '__dh_slow_write4' "$work/twice.s")
if [ "$n" = 1 ]; then echo "ok ir/$name"; else say_fail $name "$n checks"; fi

# Two checks that are not inlined, followed by the same instructions, stay two: each has a line of its own.
name=rare-tails
cat > "$work/tails.ll" <<'END'
target triple = "x86_64-pc-linux-gnu"
declare void @g()
declare void @h()
define i32 @f(ptr %p, i32 %c) {
  switch i32 %c, label %end [
    i32 1, label %a
    i32 200, label %b
  ], !prof !0
a:
  call void @g()
  %x = load volatile i32, ptr %p
  br label %end
b:
  call void @h()
  %y = load volatile i32, ptr %p
  br label %end
end:
  %z = phi i32 [ 0, %0 ], [ %x, %a ], [ %y, %b ]
  ret i32 %z
}
!0 = !{!"branch_weights", i32 2000, i32 1, i32 1}
END
"$opt" "-load-pass-plugin=$plugin" -passes=deadheat -S -o "$work/tails.in.ll" "$work/tails.ll" &&
    "$clang" -O2 -Xclang -disable-llvm-passes -S -o "$work/tails.s" "$work/tails.in.ll"
n=$(grep -c 'call.*__dh_rare_read4' "$work/tails.s")
if [ "$n" = 2 ]; then echo "ok ir/$name"; else say_fail $name "$n calls"; fi

# What pushes the frame of a function that calls others keeps the registers with the arguments: it takes from the stack
# what it put there, and no more.
cat > "$work/rare-enter.c" <<'EOF'
void g(int *);
void f(int *p) { g(p); }
EOF
for flags in -fPIE -fno-pic -fPIC '-fPIC -Os' -fno-omit-frame-pointer -mno-red-zone; do
    name=rare-enter$(echo "$flags" | tr -d ' ')
    # shellcheck disable=SC2086 # flags is a list
    "$clang" -O2 $flags "-fpass-plugin=$plugin" -S -o "$work/rare-enter.s" "$work/rare-enter.c"
    wrong=$(awk '/^__dh_rare_enter:/ { on = 1; n++ } /^\.Lfunc_end/ { on = 0 }
        on && $1 == "pushq" { kept[$2] = 1 }
        on && $1 == "popq" && !kept[$2] { print $2 " is lost" }
        END { if (n != 1) print "not there" }' "$work/rare-enter.s")
    if [ -z "$wrong" ]; then echo "ok ir/$name"; else say_fail "$name" "$wrong"; fi
done
