// Methods of libtorch's Tensor that ambit lacks, declared so that calling one gives a compile error
// with the reason: "'coalesce' is unavailable: ambit has no sparse tensors".
#pragma once

namespace ambit {

class Tensor;

namespace detail {

/// Empty base of Tensor. tests/surface counts these names as missing.
struct LackingMethods {
#define AMBIT_LACKS(name, why) \
  template <class... Args>     \
  __attribute__((unavailable(why))) Tensor name(Args&&...) const;
  AMBIT_LACKS(chalf, "ambit has no complex tensors of float16")
  AMBIT_LACKS(ccol_indices, "ambit has no sparse tensors")
  AMBIT_LACKS(coalesce, "ambit has no sparse tensors")
  AMBIT_LACKS(col_indices, "ambit has no sparse tensors")
  AMBIT_LACKS(crow_indices, "ambit has no sparse tensors")
  AMBIT_LACKS(dense_dim, "ambit has no sparse tensors")
  AMBIT_LACKS(indices, "ambit has no sparse tensors")
  AMBIT_LACKS(is_coalesced, "ambit has no sparse tensors")
  AMBIT_LACKS(resize_as_sparse_, "ambit has no sparse tensors")
  AMBIT_LACKS(row_indices, "ambit has no sparse tensors")
  AMBIT_LACKS(smm, "ambit has no sparse tensors")
  AMBIT_LACKS(sparse_dim, "ambit has no sparse tensors")
  AMBIT_LACKS(sparse_mask, "ambit has no sparse tensors")
  AMBIT_LACKS(sparse_resize_, "ambit has no sparse tensors")
  AMBIT_LACKS(sparse_resize_and_clear_, "ambit has no sparse tensors")
  AMBIT_LACKS(sspaddmm, "ambit has no sparse tensors")
  AMBIT_LACKS(to_dense, "ambit has no sparse tensors")
  AMBIT_LACKS(to_mkldnn, "ambit has no sparse tensors")
  AMBIT_LACKS(to_sparse, "ambit has no sparse tensors")
  AMBIT_LACKS(to_sparse_bsc, "ambit has no sparse tensors")
  AMBIT_LACKS(to_sparse_bsr, "ambit has no sparse tensors")
  AMBIT_LACKS(to_sparse_csc, "ambit has no sparse tensors")
  AMBIT_LACKS(to_sparse_csr, "ambit has no sparse tensors")
  AMBIT_LACKS(values, "ambit has no sparse tensors")
  AMBIT_LACKS(dequantize, "ambit has no quantised tensors")
  AMBIT_LACKS(int_repr, "ambit has no quantised tensors")
  AMBIT_LACKS(q_per_channel_axis, "ambit has no quantised tensors")
  AMBIT_LACKS(q_per_channel_scales, "ambit has no quantised tensors")
  AMBIT_LACKS(q_per_channel_zero_points, "ambit has no quantised tensors")
  AMBIT_LACKS(q_scale, "ambit has no quantised tensors")
  AMBIT_LACKS(q_zero_point, "ambit has no quantised tensors")
  AMBIT_LACKS(qscheme, "ambit has no quantised tensors")
  AMBIT_LACKS(align_as, "ambit has no named tensors")
  AMBIT_LACKS(align_to, "ambit has no named tensors")
  AMBIT_LACKS(names, "ambit has no named tensors")
  AMBIT_LACKS(refine_names, "ambit has no named tensors")
  AMBIT_LACKS(rename, "ambit has no named tensors")
  AMBIT_LACKS(rename_, "ambit has no named tensors")
  AMBIT_LACKS(to_padded_tensor, "ambit has no nested tensors")
  AMBIT_LACKS(hardshrink, "call torch::hardshrink(x)")
  AMBIT_LACKS(prelu, "call torch::prelu(x, weight)")
#undef AMBIT_LACKS
};

}  // namespace detail
}  // namespace ambit
