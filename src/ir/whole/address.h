/*
 * address.h - addresses as sums, so that two of them can be compared without knowing what they point to.
 *
 * An address is a base, a constant, and products of a stride and an index: &a[i].m is a + 8 + 48 * i. The
 * base is a local of the function, a global variable, or the pointer that a global variable holds permanently
 * (fixed.c); an index is an EXPRESSION over values of the function, numbered so that equal expressions have
 * equal numbers. Two addresses that differ only in the constant are at a constant distance, whatever base and
 * indices are, as long as none of the values in them is recomputed in between: code that keeps an address
 * must drop it then (dh_w_address_ends).
 *
 * A base may have been read from memory that no longer changes (fixed.c). Then its SOURCE is the address it
 * was read from, and what is read from equal addresses is equal.
 *
 * Sums are modulo 2^64, as the machine computes them; nothing is assumed about bounds.
 */
#ifndef DH_IR_WHOLE_ADDRESS_H
#define DH_IR_WHOLE_ADDRESS_H

#include "ir/whole/model.h"

/* Byte strings, numbered: equal ones have equal numbers. */
struct dh_w_pool;

enum { DH_W_MAX_TERMS = 2 };
struct dh_w_term {
    u32 index;  /* an expression */
    u32 stride; /* with the index's constant factor in it, see gep.c: equal if index and size of the element
                   are */
    u32 bytes;  /* of the array; 0: not known */
    u32 size;   /* what the index is multiplied by: the stride without that factor */
    int64_t begin; /* of the array, from the base */
};
/* Numbered like expressions: equal sources have equal numbers. */
struct dh_w_source {
    LLVMValueRef global;
    int64_t off;
    dh_w_value base; /* DH_W_NONE: a global variable, or `source` */
    u32 source;      /* of the base; or 0 */
    u32 content, terms, index, stride;
};
struct dh_w_address {
    dh_w_value base; /* a local of the function, or DH_W_NONE */
    u32 terms;
    LLVMValueRef global; /* the base, if it is no local; NULL: nothing is known of the address */
    u32 content;         /* not 0: the base is the pointer that the global holds, at content - 1 */
    int64_t off;
    struct dh_w_term term[DH_W_MAX_TERMS]; /* in the order in which they are added to the base */
    u32 source;                            /* 1 + the number of the base's source; 0: it has none */
};

DH_INLINE bool dh_w_address_known(const struct dh_w_address *a)
{
    return a->base != DH_W_NONE || a->global != NULL;
}

/* The number of a value of a function as an expression. */
u32 dh_w_expression(struct dh_w_pool *expressions, LLVMValueRef value);
/* The value at the end of first operands: i in (long)(i * 2 + 1). */
LLVMValueRef dh_w_expression_first(const struct dh_w_pool *expressions, u32 expression);
/* factor * first + term, if the first value is a number in [least, greatest]: no step on the way is too large
 * for its width, or negative where that would be lost. false: it is another computation. */
struct dh_w_linear {
    int64_t factor, term;
};
bool dh_w_expression_linear(const struct dh_w_pool *expressions, u32 expression, int64_t least,
                            int64_t greatest, struct dh_w_linear *ret);
/* The value that an expression is, but for changes of width; *ret_bits: of the narrowest number on the way.
 * NULL: it is a computation. */
LLVMValueRef dh_w_expression_leaf(const struct dh_w_pool *expressions, u32 expression, u32 *ret_bits);

/* Whether something holds for all values that an expression is computed from. */
bool dh_w_expression_leaves(const struct dh_w_pool *expressions, u32 expression,
                            bool (*holds)(void *, LLVMValueRef), void *arg);

/* The expression with another one in the place of a value. false: it is not made of that and constants alone.
 */
bool dh_w_expression_with(struct dh_w_pool *expressions, u32 expression, LLVMValueRef value, u32 with,
                          u32 *ret);

/* Whether a constant is a place in a global variable, which every thread has in common. */
bool dh_w_constant_place(const struct dh_w *w, dh_w_value v, LLVMValueRef *ret_global, int64_t *ret_off);

struct dh_w_address dh_w_address_of(const struct dh_w *w, struct dh_w_pool *expressions,
                                    const struct dh_w_fn *fn, dh_w_value v);
/* What an address of a callee is in the caller: arguments take the place of parameters. */
struct dh_w_address dh_w_address_in_caller(const struct dh_w *w, struct dh_w_pool *expressions,
                                           const struct dh_w_address *a, const struct dh_w_fn *caller,
                                           const struct dh_w_call *call);
/* The same, but for a value of the callee that stays what it is. NULL: there is none. */
struct dh_w_address dh_w_address_in_caller_but(const struct dh_w *w, struct dh_w_pool *expressions,
                                               const struct dh_w_address *a, const struct dh_w_fn *caller,
                                               const struct dh_w_call *call, LLVMValueRef but);
/* Whether a call creates a thread, with an argument that it is given last, and returns 0 if it has. */
bool dh_w_is_create(LLVMValueRef call);
/* A value of the thread's first function that is known where the thread is created. */
struct dh_w_known {
    LLVMValueRef value;
    u32 expression; /* of the creator */
};
/* What an address of a thread's first function is where the thread is created. known: or NULL. */
struct dh_w_address dh_w_address_in_creator(const struct dh_w *w, struct dh_w_pool *expressions,
                                            const struct dh_w_address *a, const struct dh_w_fn *creator,
                                            const struct dh_w_op *fork, const struct dh_w_known *known);
/* The same for an address whose base is known where the thread is created, too: it is `from`. */
struct dh_w_address dh_w_address_behind(struct dh_w_pool *expressions, const struct dh_w_address *from,
                                        const struct dh_w_address *a, const struct dh_w_op *fork,
                                        const struct dh_w_known *known);
/* What an address of a caller is in a callee: it goes through a parameter, or is one of a global variable. */
struct dh_w_address dh_w_address_in_callee(const struct dh_w *w, struct dh_w_pool *expressions,
                                           const struct dh_w_address *a, const struct dh_w_fn *caller,
                                           const struct dh_w_call *call, const struct dh_w_fn *callee);
/* The same base, the same terms. */
bool dh_w_address_beside(const struct dh_w_address *a, const struct dh_w_address *b);
bool dh_w_address_equal(const struct dh_w_address *a, const struct dh_w_address *b);
/* The same terms, and the same base, perhaps read twice. */
bool dh_w_address_alike(const struct dh_w_address *a, const struct dh_w_address *b);
/* Whether a block, when it is entered, computes anew what an index is made of. */
bool dh_w_address_ends(const struct dh_w_pool *expressions, const struct dh_w_address *a,
                       LLVMBasicBlockRef block);
/* The same for a source; and whether the value is the base of it, or of its own source. */
bool dh_w_source_ends(const struct dh_w_pool *expressions, u32 source, LLVMBasicBlockRef block);
bool dh_w_source_begins(const struct dh_w_pool *expressions, u32 source, dh_w_value base);
/* The address that the base of this one was read from, if that is known: it has no more than one index. */
bool dh_w_address_source(const struct dh_w_pool *expressions, const struct dh_w_address *a,
                         struct dh_w_address *ret);

#endif
