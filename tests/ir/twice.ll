; Code that was instrumented before is not instrumented again.
; EXPECT f: enter=0 exit=0
target triple = "x86_64-pc-linux-gnu"
@__dh_hot = external thread_local(initialexec) global i64
define void @f(ptr %p) {
  store i32 1, ptr %p, align 4
  ret void
}
