; An access whose line the optimiser dropped gets that of the others to the same place, if there is only one such line:
; of several, one may be where the program never came, and it gets the function's.
; EXPECT one: read4=1 rare_read4=1
; NOMATCH one: @__dh_read4\(ptr @x\), !dbg !7$
; MATCH one: @__dh_read4\(ptr @x\), !dbg !8$
; MATCH *: ^!8 = !DILocation\(line: 3,
; EXPECT two: read4=1 rare_read4=2
; MATCH two: @__dh_read4\(ptr @x\), !dbg !11$
; MATCH *: ^!11 = !DILocation\(line: 11,
; Stores that were merged have the line of the block that both were in.
; EXPECT merged: write4=1
; MATCH merged: @__dh_write4\(ptr @x\), !dbg !16$
; MATCH *: ^!16 = !DILocation\(line: 22,
target triple = "x86_64-pc-linux-gnu"
@x = global i32 0

define i32 @one(i1 %c) !dbg !5 {
  %a = load volatile i32, ptr @x, !dbg !9
  call void asm sideeffect "", "~{memory}"()
  br i1 %c, label %yes, label %no
yes:
  %b = load volatile i32, ptr @x, !dbg !10
  ret i32 %b
no:
  ret i32 %a
}

define i32 @two(i1 %c) !dbg !15 {
  %a = load volatile i32, ptr @x, !dbg !19
  call void asm sideeffect "", "~{memory}"()
  br i1 %c, label %yes, label %no
yes:
  %b = load volatile i32, ptr @x, !dbg !20
  ret i32 %b
no:
  %d = load volatile i32, ptr @x, !dbg !21
  ret i32 %d
}

define void @merged(i32 %v) !dbg !25 {
  store i32 %v, ptr @x, !dbg !27
  ret void
}

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!3, !4}
!0 = distinct !DICompileUnit(language: DW_LANG_C11, file: !1, producer: "none", isOptimized: true, emissionKind: FullDebug)
!1 = !DIFile(filename: "lost_line.c", directory: "/")
!2 = !DISubroutineType(types: !{null})
!3 = !{i32 7, !"Dwarf Version", i32 5}
!4 = !{i32 2, !"Debug Info Version", i32 3}
!5 = distinct !DISubprogram(name: "one", scope: !1, file: !1, line: 1, type: !2, unit: !0, spFlags: DISPFlagDefinition)
!9 = !DILocation(line: 0, scope: !5)
!10 = !DILocation(line: 3, scope: !5)
!15 = distinct !DISubprogram(name: "two", scope: !1, file: !1, line: 11, type: !2, unit: !0, spFlags: DISPFlagDefinition)
!19 = !DILocation(line: 0, scope: !15)
!20 = !DILocation(line: 13, scope: !15)
!21 = !DILocation(line: 14, scope: !15)
!25 = distinct !DISubprogram(name: "merged", scope: !1, file: !1, line: 21, type: !2, unit: !0, spFlags: DISPFlagDefinition)
!26 = distinct !DILexicalBlock(scope: !25, file: !1, line: 22)
!27 = !DILocation(line: 0, scope: !26)
