/*
 * vc_tree.h - a vector clock as a tree whose parts are shared, for traces with very many threads (vc.h).
 *
 * A node holds 31 clocks, or 15 nodes of the level below; a missing one stands for clocks that are all 0.
 * Nodes count their references, and one that has several is never changed: changing a clock copies the path
 * from the root to it. So a copy of a clock is one reference, and a join goes only where the two differ. Ten
 * thousand threads that release the locks they take therefore have clocks of some nodes each, not of ten
 * thousand entries. Tree clocks (Mathur, Pavlogiannis, Tunc, Viswanathan, ASPLOS 2022) save time in the same
 * way, by the order in which a clock acquired its entries, but share no entries: they would not save the
 * memory.
 *
 * Two trees may differ everywhere although a join changes nothing: a thread that joins many others knows of
 * each that ended more than the others do, who have its earlier clocks from locks. So nodes above leaves have
 * a stamp, a new one whenever anything below them changes, and of pairs of stamps it is remembered that the
 * one had nothing to learn from the other. The memo has as many places as there are threads.
 *
 * A tree of one level is a leaf. NULL is a tree of any number of levels without entries.
 */
#ifndef DH_DETECT_VC_TREE_H
#define DH_DETECT_VC_TREE_H

#include "detect/detector.h"

struct dh_vc_node;

/* How many levels a tree needs to have a clock of this thread. */
u32 dh_vc_tree_levels(u32 tid);
/* The clock of a thread. */
u32 dh_vc_tree_get(const struct dh_vc_node *node, u32 levels, u32 tid);

/* These three take over the caller's reference to `node` and return one to the result. Without memory the
 * result is a tree of these levels all the same, if not the right one, and the detector has failed. */

/* The same tree with more levels. */
struct dh_vc_node *dh_vc_tree_raise(struct dh_detector *d, struct dh_vc_node *node, u32 from, u32 to);
/* With a thread's clock set; the tree has the levels for it. */
struct dh_vc_node *dh_vc_tree_set(struct dh_detector *d, struct dh_vc_node *node, u32 levels, u32 tid,
                                  u32 clock);
/* Joined with another tree of the same levels. */
struct dh_vc_node *dh_vc_tree_join(struct dh_detector *d, struct dh_vc_node *node, struct dh_vc_node *other,
                                   u32 levels);

struct dh_vc_node *dh_vc_tree_share(struct dh_vc_node *node); /* one more reference */
void dh_vc_tree_drop(struct dh_detector *d, struct dh_vc_node *node, u32 levels);

#endif
