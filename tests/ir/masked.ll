; Masked accesses, lane by lane; packed ones as a range; lanes known to be off not at all.
; EXPECT load: read4=4
; EXPECT known: write4=2
; EXPECT gather: read8=2
; EXPECT scatter: write8=2
; EXPECT expand: read_range=1
; EXPECT compress: write_range=1
; MATCH load: select i1 %[0-9]+, ptr %[0-9]+, ptr %[0-9]+
target triple = "x86_64-pc-linux-gnu"
declare <4 x i32> @llvm.masked.load.v4i32.p0(ptr, i32, <4 x i1>, <4 x i32>)
declare void @llvm.masked.store.v4i32.p0(<4 x i32>, ptr, i32, <4 x i1>)
declare <2 x i64> @llvm.masked.gather.v2i64.v2p0(<2 x ptr>, i32, <2 x i1>, <2 x i64>)
declare void @llvm.masked.scatter.v2i64.v2p0(<2 x i64>, <2 x ptr>, i32, <2 x i1>)
declare <4 x i32> @llvm.masked.expandload.v4i32(ptr, <4 x i1>, <4 x i32>)
declare void @llvm.masked.compressstore.v4i32(<4 x i32>, ptr, <4 x i1>)
define <4 x i32> @load(ptr %p, <4 x i1> %m) {
  %v = call <4 x i32> @llvm.masked.load.v4i32.p0(ptr %p, i32 4, <4 x i1> %m, <4 x i32> zeroinitializer)
  ret <4 x i32> %v
}
define void @known(ptr %p, <4 x i32> %v) {
  call void @llvm.masked.store.v4i32.p0(<4 x i32> %v, ptr %p, i32 4, <4 x i1> <i1 1, i1 0, i1 1, i1 0>)
  ret void
}
define <2 x i64> @gather(<2 x ptr> %p, <2 x i1> %m) {
  %v = call <2 x i64> @llvm.masked.gather.v2i64.v2p0(<2 x ptr> %p, i32 8, <2 x i1> %m, <2 x i64> zeroinitializer)
  ret <2 x i64> %v
}
define void @scatter(<2 x ptr> %p, <2 x i1> %m, <2 x i64> %v) {
  call void @llvm.masked.scatter.v2i64.v2p0(<2 x i64> %v, <2 x ptr> %p, i32 8, <2 x i1> %m)
  ret void
}
define <4 x i32> @expand(ptr %p, <4 x i1> %m) {
  %v = call <4 x i32> @llvm.masked.expandload.v4i32(ptr %p, <4 x i1> %m, <4 x i32> zeroinitializer)
  ret <4 x i32> %v
}
define void @compress(ptr %p, <4 x i1> %m, <4 x i32> %v) {
  call void @llvm.masked.compressstore.v4i32(<4 x i32> %v, ptr %p, <4 x i1> %m)
  ret void
}
