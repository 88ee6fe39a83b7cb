; An instruction without a position in a function that has debug information: line 0 of the function.
; EXPECT f: write4=1
; MATCH *: DILocation\(line: 0, scope: !
; MATCH f: call void @__dh_write4\(ptr %p\), !dbg
target triple = "x86_64-pc-linux-gnu"
define void @f(ptr %p) !dbg !4 {
  store i32 1, ptr %p, align 4
  ret void, !dbg !7
}
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3}
!0 = distinct !DICompileUnit(language: DW_LANG_C11, file: !1, emissionKind: FullDebug)
!1 = !DIFile(filename: "a.c", directory: "/")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !{i32 7, !"Dwarf Version", i32 5}
!4 = distinct !DISubprogram(name: "f", scope: !1, file: !1, line: 1, type: !5, scopeLine: 1, unit: !0, spFlags: DISPFlagDefinition)
!5 = !DISubroutineType(types: !6)
!6 = !{null}
!7 = !DILocation(line: 3, column: 1, scope: !4)
