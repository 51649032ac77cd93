/* Computed layouts: changetype, byteswap, bytesplit, bitint, bitfloat. Expected numbers are those of
 * LLAMA's own tests (0.6); what single values and runs of bits do is also told by slow code here. */
#include "../support/layout_memory.h"

#include "computed_bits.h"
#include "computed_floats.h"
#include "computed_places.h"
#include "computed_tables.h"
#include "computed_text.h"
#include "computed_values.h"

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many_floats),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_codings),
        cmocka_unit_test(test_byteswap),
        cmocka_unit_test(test_byteswap_parts),
        cmocka_unit_test(test_bytesplit),
        cmocka_unit_test(test_null_and_permute),
        cmocka_unit_test(test_bit_integers),
        cmocka_unit_test(test_many_bits),
        cmocka_unit_test(test_bit_floats),
        cmocka_unit_test(test_all_bit_floats),
        cmocka_unit_test(test_changed_values),
        cmocka_unit_test(test_changed_integers),
        cmocka_unit_test(test_changed_complex),
        cmocka_unit_test(test_bit_runs),
        cmocka_unit_test(test_runs),
        cmocka_unit_test(test_all_changes),
        cmocka_unit_test(test_small_runs),
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_functions),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_too_large),
        cmocka_unit_test(test_failing_memory),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_pictures),
        cmocka_unit_test(test_run_of_bits),
        cmocka_unit_test(test_no_view),
        cmocka_unit_test(test_wrong_codings),
        cmocka_unit_test(test_mixed_tables),
        cmocka_unit_test(test_mixed_trees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
