/* In the place of the implementation, which is in the library that Python uses: another one would not know Python's arrays. */
#error                                                                                             \
    "leave HARRAY_IMPLEMENTATION out and link with harray.get_library(); whoever wants an engine of its own takes the repository's headers"
