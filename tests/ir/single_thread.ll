; EXPECT f: write4=1
; EXPECT unordered: atomic_pre=1 atomic_post=1
; MATCH unordered: __dh_atomic_pre\(ptr %p, i32 4, i32 0, i32 0\)
target triple = "x86_64-pc-linux-gnu"
define void @f(ptr %p) {
  store i32 1, ptr %p, align 4
  %1 = atomicrmw add ptr %p, i32 1 syncscope("singlethread") seq_cst
  fence syncscope("singlethread") seq_cst
  ret void
}
define i32 @unordered(ptr %p) {
  %x = load atomic i32, ptr %p unordered, align 4
  ret i32 %x
}
