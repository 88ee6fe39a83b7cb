/*
 * own.h - included first by every file of the archive that field builds link: puts its code in a section of
 * its own, so that `deadheat chase` can distinguish it from objects that may order the program's threads
 * (base/built.h).
 */
#ifndef DH_FIELD_OWN_H
#define DH_FIELD_OWN_H

#ifdef __clang__
#pragma clang section text = ".deadheat.own" /* DH_BUILT_OWN */
#endif

#endif
