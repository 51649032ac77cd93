/* The types as backends/cuda/driver.h has them where there is no cuda.h. */
#include "cuda_header_layout.h"

#ifdef CUDA_VERSION
#error "this is about harray's own types"
#endif

const cuda_layout cuda_layout_ours[] = CUDA_LAYOUT;
