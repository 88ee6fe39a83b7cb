; The push splits the entry block; allocas of constant size must stay in front of it to stay static.
; EXPECT f: write4=1 enter=1
target triple = "x86_64-pc-linux-gnu"
declare void @g(ptr)
define void @f(ptr %p) {
  %a = alloca i32
  store i32 1, ptr %p, align 4
  %b = alloca [4 x i64]
  call void @g(ptr %b)
  ret void
}
