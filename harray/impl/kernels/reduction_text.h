/* The entry of a reduction. Each launch makes one number of 1,024: first of the lanes' values, then of the numbers
 * that the launch before has left, and the last launch the result. A team has 64 lanes, for four parts. */
#ifndef HARRAY_IMPL_KERNELS_REDUCTION_TEXT_H
#define HARRAY_IMPL_KERNELS_REDUCTION_TEXT_H

#include "file_text.h"
#include "../../reduce.h"

enum { HA_REDUCTION_LANES = 64, HA_REDUCTION_PARTS = HA_REDUCTION_LANES / HA_SUMS_ };

/* What a launch does, in ha_step_. */
enum { HA_STEP_OF_PARTS = 1, HA_STEP_LAST = 2 };

/* The partial result of a lane by its number, n. */
HA_IN_ void ha_put_lane(ha_kernel_writer *w, const char *n) {
    const ha_kernel *k = w->kernel;
    ha_print(&w->to, "ha_begin_(ha_body_%s(", k->name);
    for (int d = 0; d < k->rank; d++) {
        ha_print(&w->to, "%sha_first%d_ + %s", d ? ", " : "", d, n);
        for (int i = k->rank - 1; i > d; i--)
            ha_print(&w->to, " / (ha_last%d_ - ha_first%d_)", i, i);
        if (d) ha_print(&w->to, " %% (ha_last%d_ - ha_first%d_)", d, d);
    }
    ha_put_entry_arguments(w);
    ha_print(&w->to, k->rank == 1 ? "), ha_first0_ + %s)" : "), %s)", n);
}

HA_IN_ void ha_put_reduction_sums(ha_kernel_writer *w) {
    ha_print(&w->to,
             "    if (ha_lane_ < ha_values_ && (ha_step_ & %d)) {\n"
             "        ha_sum_ = ha_from_[ha_begin_at_ + ha_lane_];\n"
             "        for (int ha_k_ = ha_lane_ + %d; ha_k_ < ha_values_; ha_k_ += %d)\n"
             "            ha_sum_ = ha_merge_(ha_sum_, ha_from_[ha_begin_at_ + ha_k_]);\n"
             "    } else if (ha_lane_ < ha_values_) {\n"
             "        ha_sum_ = ",
             HA_STEP_OF_PARTS, HA_SUMS_, HA_SUMS_);
    ha_put_lane(w, "(ha_begin_at_ + ha_lane_)");
    ha_print(&w->to,
             ";\n        for (int ha_k_ = ha_lane_ + %d; ha_k_ < ha_values_; ha_k_ += %d)\n"
             "            ha_sum_ = ha_merge_(ha_sum_, ",
             HA_SUMS_, HA_SUMS_);
    ha_put_lane(w, "(ha_begin_at_ + ha_k_)");
    ha_print(&w->to, ");\n    }\n");
}

HA_IN_ void ha_put_reduction_entry(ha_kernel_writer *w) {
    ha_put_entry_head(w);
    ha_print(&w->to, ", const HA_GLOBAL_ char *ha_from_buffer_, const int64_t ha_from_byte_, "
                     "HA_GLOBAL_ char *ha_to_buffer_, const int64_t ha_to_byte_, "
                     "const int64_t ha_part0_, const int64_t ha_all_, const int64_t ha_step_");
    ha_put_entry_variables(w);
    ha_print(&w->to,
             "    HA_GLOBAL_ ha_outcome_ *ha_result_ = "
             "(HA_GLOBAL_ ha_outcome_ *)(ha_%d_buffer + ha_%d_byte);\n",
             w->arguments - 1, w->arguments - 1);
    ha_print(&w->to,
             "    const HA_GLOBAL_ ha_partial_ *ha_from_ = "
             "(const HA_GLOBAL_ ha_partial_ *)(ha_from_buffer_ + ha_from_byte_);\n"
             "    HA_GLOBAL_ ha_partial_ *ha_to_ = "
             "(HA_GLOBAL_ ha_partial_ *)(ha_to_buffer_ + ha_to_byte_);\n"
             "    HA_IN_LOCAL_ ha_partial_ ha_sums_[%d];\n"
             "    const int ha_own_ = HA_LANE_(0), ha_lane_ = ha_own_ %% %d;\n"
             "    const int64_t ha_part_ = ha_part0_ + HA_TEAM_NUMBER_(0) * %d + ha_own_ / %d;\n"
             "    const int64_t ha_begin_at_ = ha_part_ * %d;\n"
             "    const int64_t ha_left_ = ha_all_ - ha_begin_at_;\n"
             "    const int ha_values_ = ha_left_ > %d ? %d : ha_left_ < 0 ? 0 : (int)ha_left_;\n"
             "    ha_partial_ ha_sum_ = ha_none_();\n",
             HA_REDUCTION_LANES, HA_SUMS_, HA_REDUCTION_PARTS, HA_SUMS_, HA_PART_LANES_,
             HA_PART_LANES_, HA_PART_LANES_);
    ha_put_reduction_sums(w);
    ha_print(&w->to,
             "    ha_sums_[ha_own_] = ha_sum_;\n"
             "    HA_BARRIER_LOCAL();\n"
             "    for (int ha_d_ = %d; ha_d_ > 0; ha_d_ /= 2) {\n"
             "        if (ha_lane_ < ha_d_ && ha_lane_ + ha_d_ < ha_values_)\n"
             "            ha_sums_[ha_own_] = ha_merge_(ha_sums_[ha_own_], "
             "ha_sums_[ha_own_ + ha_d_]);\n"
             "        HA_BARRIER_LOCAL();\n"
             "    }\n"
             "    if (ha_lane_ == 0 && (ha_values_ > 0 || ha_part_ == 0)) {\n"
             "        if (ha_step_ & %d) *ha_result_ = ha_finish_(ha_sums_[ha_own_]);\n"
             "        else ha_to_[ha_part_] = ha_sums_[ha_own_];\n"
             "    }\n"
             "}\n",
             HA_SUMS_ / 2, HA_STEP_LAST);
}

#endif
