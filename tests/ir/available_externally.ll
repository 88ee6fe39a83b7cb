; Bodies that exist only to be inlined are somebody else's to instrument.
; EXPECT f: enter=0 exit=0
; EXPECT g: write4=1 enter=1
target triple = "x86_64-pc-linux-gnu"
define available_externally void @f(ptr %p) {
  store i32 1, ptr %p, align 4
  ret void
}
define void @g(ptr %p) {
  store i32 1, ptr %p, align 4
  call void @f(ptr %p)
  ret void
}
