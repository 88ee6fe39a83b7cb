/*
 * own.h - included first by every file of the archives that field, Caper and alias builds link: puts their
 * code in a section of its own, so that `deadheat chase` can distinguish it from objects that may order the
 * program's threads, or set its signals (base/built.h).
 */
#ifndef DH_FIELD_OWN_H
#define DH_FIELD_OWN_H

#ifdef __clang__
#pragma clang section text = ".deadheat.own" /* DH_BUILT_OWN */
#endif

#endif
