#!/usr/bin/env python3
"""test_null.c calls every public function that takes a pointer: its table is as long as the headers. Those of
harray/mpi.h, which need ranks, are called by tests/mpi/nulls.h, those of harray/hdf5.h by tests/hdf5/test_hdf5.c."""
import glob
import os
import re
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")

# Called by macros alone, with the address of something; elements, of which there are as many as is
# said; what takes nothing but a context, where NULL is one, and texts that macros give.
OTHERS = """
    ha_trace_value_ darray_of_any_ darray_of_typed_ darray_to_typed_ ha_native_
    ha_records_typed_new_ ha_records_close_scope_
    ha_on_end_ ha_on_begin_ ha_from_end_ ha_from_begin_ ha_no_transfers_end_ ha_close_scope_ ha_token_close_scope_
    ha_check_failed_ ha_check_errors_ ha_called_at_ ha_index_failed_ ha_tell_before_waiting_
    ha_convert_half_to_double ha_convert_float_to_half ha_convert_double_to_half
    ha_convert_bfloat16_to_float ha_convert_bfloat16_to_double ha_convert_float_to_bfloat16
    ha_convert_double_to_bfloat16
    darray_prefetch_ darray_copy_ darray_fill_ ha_context_adopt ha_context_set_zero_copy
    ha_context_measure ha_context_memory ha_context_pinned_memory ha_memory_trim
    ha_memory_set_cache ha_memory_set_allocator ha_memory_allocate ha_memory_allocate_kind ha_array_new ha_array_zeros
    darray_slice_ darray_fix_ darray_transpose_ darray_flip_ darray_flatten_in_ darray_diagonal_ darray_expand_
    darray_interior_ darray_contiguous_ darray_convert_ ha_reduce_lanes_ ha_mpi_part_
""".split()


def with_pointers():
    for path in sorted(glob.glob(os.path.join(ROOT, "harray", "*.h"))):
        with open(path, encoding="utf-8") as file:
            text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
        for declaration in re.findall(r"\bHA_API\b([^;{]*);", text):
            name, parameters = re.match(r".*?(\w+)\s*\((.*)\)", declaration, re.S).groups()
            if "*" in parameters or "_handler" in parameters:
                yield name


def main():
    called = set()
    for path in (("arrays", "test_null.c"), ("mpi", "nulls.h"), ("hdf5", "test_hdf5.c")):
        with open(os.path.join(ROOT, "tests", *path), encoding="utf-8") as file:
            called.update(re.findall(r"\b(\w+)\(", file.read()))
    names = list(with_pointers())
    assert len(names) > 150, f"only {len(names)} functions were found"
    missing = [name for name in names if name not in called and name not in OTHERS]
    stale = [name for name in OTHERS if name not in names or name in called]
    for name in missing:
        print(f"test_null.c does not call {name}")
    for name in stale:
        print(f"{name} need not be left out")
    return bool(missing or stale)


if __name__ == "__main__":
    sys.exit(main())
