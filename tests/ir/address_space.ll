; Segment-relative memory (%fs, %gs) is not memory of the flat address space.
; EXPECT f: 
; EXPECT invariant: 
target triple = "x86_64-pc-linux-gnu"
define i32 @f(ptr addrspace(257) %p) {
  %x = load i32, ptr addrspace(257) %p, align 4
  store i32 1, ptr addrspace(257) %p, align 4
  ret i32 %x
}
define i32 @invariant(ptr %p) {
  %x = load i32, ptr %p, align 4, !invariant.load !0
  ret i32 %x
}
!0 = !{}
