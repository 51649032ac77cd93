/* Elements of any size as so many words, for the text of kernels that move or compare them. Views have the words' type there, but
 * the strides of elements. */
#ifndef HARRAY_IMPL_OPS_WORDS_H
#define HARRAY_IMPL_OPS_WORDS_H

#include "indices.h"

enum { HA_WORDS_BYTES = 1 << 30 }; /* the most that an element has */

/* The bytes of a word: as many as devices' own memory is aligned for. The caller's memory may begin anywhere. */
HA_IN_ int ha_word_of(const ha_array *a) {
    int bytes = 8;
    if (a->wrapped) return 1;
    while (a->element % (size_t)bytes) bytes /= 2;
    return bytes;
}

/* What kernels on such elements of one or two arrays are told apart by: the bytes of an element, and of a word. 0: they have
 * too many. */
HA_IN_ int ha_words_of(const darray *x, const darray *y, int *of) {
    const int word = ha_word_of(x->array), other = ha_word_of(y->array);
    of[0] = (int)x->array->element;
    of[1] = word < other ? word : other;
    return x->array->element <= HA_WORDS_BYTES;
}

HA_IN_ void ha_words_add_view(ha_op_kernel *k, const ha_op_key *key, int n) {
    static const ha_dtype word[] = {[1] = HA_DTYPE_uint8_t,
                                    [2] = HA_DTYPE_uint16_t,
                                    [4] = HA_DTYPE_uint32_t,
                                    [8] = HA_DTYPE_uint64_t};
    ha_index_add_view(k, n ? HA_KERNEL_IN_ : HA_KERNEL_OUT_, ha_op_pair_names[n], word[key->of[1]],
                      key->rank);
    k->parameter[k->op.kernel.parameters - 1].bytes = (size_t)key->of[0];
}

/* for (int64_t w = 0; w < 3; w++) */
HA_IN_ void ha_words_put_loop(ha_text *t, const ha_op_key *key) {
    ha_print(t, "for (int64_t w = 0; w < %d; w++) ", key->of[0] / key->of[1]);
}

/* Begins a kernel that goes over the words of the n-th array's elements and the next one's: its name, of three words of four
 * bytes and one dimension <what>3_4_1, both views, and its text, up to what is done with a word. */
HA_IN_ ha_text ha_words_begin(ha_op_kernel *k, const ha_op_key *key, const char *what, int n) {
    ha_text text = ha_text_into(k->text, sizeof k->text);
    snprintf(k->name, sizeof k->name, "%s%d_%d_%d", what, key->of[0] / key->of[1], key->of[1],
             key->rank);
    ha_words_add_view(k, key, n);
    ha_words_add_view(k, key, n + 1);
    ha_print(&text, "{ ");
    ha_words_put_loop(&text, key);
    return text;
}

/* That word of an element: x.data[(i * x.stride[0] + j * x.stride[1]) * 3 + w] */
HA_IN_ void ha_words_put_word(ha_text *t, const ha_op_key *key, int n) {
    static const char *const index = "ijkl";
    const char *name = ha_op_pair_names[n];
    ha_print(t, "%s.data[(", name);
    if (ha_op_by_number(key))
        ha_print(t, "ha_strided_place_(%s.extent, %s.stride, %d, i)", name, name, key->rank);
    for (int d = 0; d < key->rank && !ha_op_by_number(key); d++)
        ha_print(t, "%s%c * %s.stride[%d]", d ? " + " : "", index[d], name, d);
    ha_print(t, ") * %d + w]", key->of[0] / key->of[1]);
}

#endif
