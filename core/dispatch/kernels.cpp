// The single definition of every kernel op: its name, its tensor arguments as error texts give
// them, and its composite default. constinit: ready before any static constructor runs, and one
// table for all libraries. The order is that of kernels.h.
#include <ambit/backend/kernels.h>

#include "core/ops/composite.h"

namespace ambit {
namespace kernels {

constinit decltype(copy) copy{"copy", {"out", "input"}};
constinit decltype(fill) fill{"fill", {"out"}};
constinit decltype(random) random{"random", {"out"}};
constinit decltype(unary) unary{"unary", {"out", "input"}};
constinit decltype(binary) binary{"binary", {"out", "input", "other"}};
constinit decltype(compare) compare{"compare", {"out", "input", "other"}};
constinit decltype(where) where{"where", {"out", "condition", "input", "other"}};
constinit decltype(reduce) reduce{"reduce", {"out", "input"}};
constinit decltype(arg_reduce) arg_reduce{"arg_reduce", {"values", "indices", "input"}};
constinit decltype(cumsum) cumsum{"cumsum", {"out", "input"}};
constinit decltype(gather) gather{"gather", {"out", "input", "index"}};
constinit decltype(scatter) scatter{"scatter", {"out", "index", "src"}};
constinit decltype(scatter_add) scatter_add{"scatter_add", {"out", "index", "src"}};
constinit decltype(nonzero) nonzero{"nonzero", {"out", "input"}};
constinit decltype(index_select) index_select{
    "index_select", {"out", "input", "index"}, composite::index_select};
constinit decltype(index_add) index_add{"index_add", {"out", "index", "src"}, composite::index_add};
constinit decltype(matmul) matmul{"matmul", {"out", "input", "other"}};
constinit decltype(linear) linear{"linear", {"out", "input", "weight", "bias"}, composite::linear};
constinit decltype(conv2d) conv2d{"conv2d", {"out", "input", "weight", "bias"}};
constinit decltype(conv2d_input_grad) conv2d_input_grad{
    "conv2d_input_grad", {"input_grad", "grad", "weight"}, composite::conv2d_input_grad};
constinit decltype(conv2d_weight_grad) conv2d_weight_grad{
    "conv2d_weight_grad", {"weight_grad", "grad", "input"}, composite::conv2d_weight_grad};
constinit decltype(max_pool2d) max_pool2d{"max_pool2d", {"out", "indices", "input"}};
constinit decltype(max_pool2d_grad) max_pool2d_grad{"max_pool2d_grad",
                                                    {"input_grad", "grad", "indices"}};
constinit decltype(avg_pool2d) avg_pool2d{"avg_pool2d", {"out", "input"}, composite::avg_pool2d};
constinit decltype(avg_pool2d_grad) avg_pool2d_grad{
    "avg_pool2d_grad", {"input_grad", "grad"}, composite::avg_pool2d_grad};
constinit decltype(softmax) softmax{"softmax", {"out", "input"}, composite::softmax};
constinit decltype(softmax_grad) softmax_grad{
    "softmax_grad", {"input_grad", "grad", "output"}, composite::softmax_grad};
constinit decltype(batch_norm) batch_norm{
    "batch_norm",
    {"out", "mean", "invstd", "running_mean", "running_var", "input", "weight", "bias"},
    composite::batch_norm};
constinit decltype(batch_norm_grad) batch_norm_grad{
    "batch_norm_grad",
    {"input_grad", "weight_grad", "bias_grad", "grad", "input", "weight", "mean", "invstd"},
    composite::batch_norm_grad};
constinit decltype(nll_loss) nll_loss{
    "nll_loss", {"out", "weight_sum", "input", "target", "weight"}, composite::nll_loss};
constinit decltype(cross_entropy) cross_entropy{
    "cross_entropy", {"out", "weight_sum", "input", "target", "weight"}, composite::cross_entropy};
constinit decltype(cross_entropy_grad) cross_entropy_grad{
    "cross_entropy_grad",
    {"input_grad", "grad", "input", "target", "weight"},
    composite::cross_entropy_grad};
constinit decltype(sgd_step) sgd_step{
    "sgd_step", {"param", "momentum_buffer", "grad"}, composite::sgd_step};
constinit decltype(adam_step) adam_step{
    "adam_step", {"param", "exp_avg", "exp_avg_sq", "grad"}, composite::adam_step};

}  // namespace kernels

std::span<OpBase* const> all_ops() {
  static constinit OpBase* const kOps[] = {&kernels::copy,
                                           &kernels::fill,
                                           &kernels::random,
                                           &kernels::unary,
                                           &kernels::binary,
                                           &kernels::compare,
                                           &kernels::where,
                                           &kernels::reduce,
                                           &kernels::arg_reduce,
                                           &kernels::cumsum,
                                           &kernels::gather,
                                           &kernels::scatter,
                                           &kernels::scatter_add,
                                           &kernels::nonzero,
                                           &kernels::index_select,
                                           &kernels::index_add,
                                           &kernels::matmul,
                                           &kernels::linear,
                                           &kernels::conv2d,
                                           &kernels::conv2d_input_grad,
                                           &kernels::conv2d_weight_grad,
                                           &kernels::max_pool2d,
                                           &kernels::max_pool2d_grad,
                                           &kernels::avg_pool2d,
                                           &kernels::avg_pool2d_grad,
                                           &kernels::softmax,
                                           &kernels::softmax_grad,
                                           &kernels::batch_norm,
                                           &kernels::batch_norm_grad,
                                           &kernels::nll_loss,
                                           &kernels::cross_entropy,
                                           &kernels::cross_entropy_grad,
                                           &kernels::sgd_step,
                                           &kernels::adam_step};
  return kOps;
}

}  // namespace ambit
