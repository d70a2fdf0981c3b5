// The definition of every kernel op: its name, the dtypes that it computes with, how it runs on
// reduced floating-point types, its tensor arguments as named in error messages, its composite, and
// the function that runs it on complex operands.
// constinit: ready before any static constructor runs, and one table for all libraries. The order
// is that of kernels.h.
#include <ambit/backend/kernels.h>

#include "core/ops/complex/kernels.h"
#include "core/ops/composite.h"

namespace ambit {
namespace kernels {

using namespace dtypes;
using enum UpcastRule;

constinit decltype(copy) copy{"copy", kAll, native, {"out", "input"}, ForComplex{by_parts::copy}};
constinit decltype(fill) fill{"fill", kAll, bitwise, {"out"}, ForComplex{by_parts::fill}};
constinit decltype(random) random{"random", kAll, upcast, {"out"}};
constinit decltype(unary) unary{
    "unary", kAll, elementwise, {"out", "input"}, ForComplex{by_parts::unary}};
constinit decltype(binary) binary{
    "binary", kAll, elementwise, {"out", "input", "other"}, ForComplex{by_parts::binary}};
constinit decltype(binary_scalar) binary_scalar{"binary_scalar",
                                                kAll,
                                                elementwise,
                                                {"out", "input"},
                                                composite::binary_scalar,
                                                ForComplex{composite::binary_scalar}};
constinit decltype(ternary) ternary{"ternary",          kAll,
                                    elementwise,        {"out", "input", "other", "third"},
                                    composite::ternary, ForComplex{composite::ternary}};
constinit decltype(clamp) clamp{"clamp", kAll, elementwise, {"out", "input"}, composite::clamp};
constinit decltype(clamp_grad) clamp_grad{
    "clamp_grad", kFloating, elementwise, {"out", "grad", "input"}, composite::clamp_grad};
constinit decltype(compare) compare{
    "compare", kAll, elementwise, {"out", "input", "other"}, ForComplex{by_parts::compare}};
constinit decltype(compare_scalar) compare_scalar{"compare_scalar",
                                                  kAll,
                                                  elementwise,
                                                  {"out", "input"},
                                                  composite::compare_scalar,
                                                  ForComplex{composite::compare_scalar}};
constinit decltype(where) where{
    "where", kAll, bitwise, {"out", "condition", "input", "other"}, ForComplex{by_parts::where}};
constinit decltype(masked_fill) masked_fill{"masked_fill",
                                            kAll,
                                            bitwise,
                                            {"out", "input", "mask"},
                                            composite::masked_fill,
                                            ForComplex{composite::masked_fill}};
constinit decltype(reduce) reduce{
    "reduce", kAll, upcast, {"out", "input"}, ForComplex{by_parts::reduce}};
constinit decltype(arg_reduce) arg_reduce{
    "arg_reduce", kAll, upcast, {"values", "indices", "input"}};
constinit decltype(scan) scan{
    "scan", kNumbers, upcast, {"out", "input"}, ForComplex{by_parts::scan}};
constinit decltype(cum_extremum) cum_extremum{
    "cum_extremum", kAll, upcast, {"values", "indices", "input"}, composite::cum_extremum};
constinit decltype(sort) sort{
    "sort", kAll, upcast, {"values", "indices", "input"}, composite::sort};
constinit decltype(topk) topk{
    "topk", kAll, upcast, {"values", "indices", "input"}, composite::topk};
constinit decltype(searchsorted) searchsorted{
    "searchsorted", kNumbers, upcast, {"out", "sorted", "input"}, composite::searchsorted};
constinit decltype(gather) gather{
    "gather", kAll, bitwise, {"out", "input", "index"}, ForComplex{by_parts::gather}};
constinit decltype(scatter) scatter{
    "scatter", kAll, bitwise, {"out", "index", "src"}, ForComplex{by_parts::scatter}};
constinit decltype(scatter_add) scatter_add{
    "scatter_add", kAll, upcast_inout, {"out", "index", "src"}, ForComplex{by_parts::scatter_add}};
constinit decltype(scatter_reduce) scatter_reduce{"scatter_reduce",
                                                  kAll,
                                                  upcast_inout,
                                                  {"out", "index", "src"},
                                                  composite::scatter_reduce,
                                                  ForComplex{composite::scatter_reduce}};
constinit decltype(nonzero) nonzero{"nonzero", {kBool}, upcast, {"out", "input"}};
constinit decltype(index_select) index_select{"index_select",
                                              kAll,
                                              bitwise,
                                              {"out", "input", "index"},
                                              composite::index_select,
                                              ForComplex{by_parts::index_select}};
constinit decltype(index_add) index_add{"index_add",          kAll,
                                        upcast_inout,         {"out", "index", "src"},
                                        composite::index_add, ForComplex{by_parts::index_add}};
constinit decltype(embedding_bag) embedding_bag{
    "embedding_bag",
    kFloating,
    upcast,
    {"out", "max_indices", "weight", "input", "offsets", "per_sample_weights"},
    composite::embedding_bag};
constinit decltype(embedding_bag_grad) embedding_bag_grad{
    "embedding_bag_grad",
    kFloating,
    upcast,
    {"weight_grad", "grad", "max_indices", "input", "offsets", "per_sample_weights"},
    composite::embedding_bag_grad};
constinit decltype(matmul) matmul{
    "matmul", kNumbers, upcast, {"out", "input", "other"}, ForComplex{by_parts::matmul}};
constinit decltype(linear) linear{"linear",
                                  kNumbers,
                                  upcast,
                                  {"out", "input", "weight", "bias"},
                                  composite::linear,
                                  ForComplex{composite::linear}};
constinit decltype(linear_map) linear_map{
    "linear_map", kFloating, upcast, {"out", "input", "weight", "bias"}, composite::linear_map};
constinit decltype(linear_int8) linear_int8{"linear_int8",
                                            {kFloat32},
                                            upcast,
                                            {"out", "input", "weight", "scale", "bias"},
                                            composite::linear_int8};
constinit decltype(fft_pairs) fft_pairs{
    "fft_pairs", kFloating, upcast, {"out", "input"}, composite::fft_pairs};
constinit decltype(fft_real) fft_real{
    "fft_real", kFloating, upcast, {"out", "input"}, composite::fft_real};
constinit decltype(lu_factor) lu_factor{"lu_factor",
                                        kFloating,
                                        upcast,
                                        {"LU", "pivots", "info", "A"},
                                        composite::lu_factor,
                                        ForComplex{by_parts::lu_factor}};
constinit decltype(lu_solve) lu_solve{"lu_solve",
                                      kFloating,
                                      upcast,
                                      {"out", "LU", "pivots", "B"},
                                      composite::lu_solve,
                                      ForComplex{by_parts::lu_solve}};
constinit decltype(cholesky) cholesky{
    "cholesky",           kFloating,           upcast,
    {"out", "info", "A"}, composite::cholesky, ForComplex{by_parts::cholesky}};
constinit decltype(qr) qr{
    "qr", kFloating, upcast, {"Q", "R", "A"}, composite::qr, ForComplex{by_parts::qr}};
constinit decltype(eigh) eigh{"eigh",          kFloating,
                              upcast,          {"eigenvalues", "eigenvectors", "info", "A"},
                              composite::eigh, ForComplex{by_parts::eigh}};
constinit decltype(eig) eig{
    "eig", kFloating, upcast, {"eigenvalues", "eigenvectors", "info", "A"}, composite::eig};
constinit decltype(svd) svd{"svd",          kFloating,
                            upcast,         {"U", "S", "Vh", "info", "A"},
                            composite::svd, ForComplex{by_parts::svd}};
constinit decltype(triangular_solve) triangular_solve{"triangular_solve",
                                                      kFloating,
                                                      upcast,
                                                      {"out", "A", "B"},
                                                      composite::triangular_solve,
                                                      ForComplex{by_parts::triangular_solve}};
constinit decltype(convolution) convolution{
    "convolution", kFloating, upcast, {"out", "input", "weight", "bias"}};
constinit decltype(convolution_map) convolution_map{"convolution_map",
                                                    kFloating,
                                                    upcast,
                                                    {"out", "input", "weight", "bias"},
                                                    composite::convolution_map};
constinit decltype(convolution_input_grad) convolution_input_grad{
    "convolution_input_grad",
    kFloating,
    upcast,
    {"input_grad", "grad", "weight"},
    composite::convolution_input_grad};
constinit decltype(convolution_weight_grad) convolution_weight_grad{
    "convolution_weight_grad",
    kFloating,
    upcast,
    {"weight_grad", "grad", "input"},
    composite::convolution_weight_grad};
constinit decltype(max_pool) max_pool{"max_pool", kFloating, upcast, {"out", "indices", "input"}};
constinit decltype(max_pool_grad) max_pool_grad{
    "max_pool_grad", kFloating, upcast, {"input_grad", "grad", "indices"}};
constinit decltype(avg_pool) avg_pool{
    "avg_pool", kFloating, upcast, {"out", "input"}, composite::avg_pool};
constinit decltype(avg_pool_grad) avg_pool_grad{
    "avg_pool_grad", kFloating, upcast, {"input_grad", "grad"}, composite::avg_pool_grad};
constinit decltype(interpolate) interpolate{
    "interpolate", kFloating, upcast, {"out", "input"}, composite::interpolate};
constinit decltype(interpolate_grad) interpolate_grad{
    "interpolate_grad", kFloating, upcast, {"input_grad", "grad"}, composite::interpolate_grad};
constinit decltype(softmax) softmax{
    "softmax", kFloating, upcast, {"out", "input"}, composite::softmax};
constinit decltype(softmax_grad) softmax_grad{
    "softmax_grad", kFloating, upcast, {"input_grad", "grad", "output"}, composite::softmax_grad};
constinit decltype(batch_norm) batch_norm{
    "batch_norm",
    kFloating,
    upcast,
    {"out", "mean", "invstd", "running_mean", "running_var", "input", "weight", "bias"},
    composite::batch_norm};
constinit decltype(batch_norm_grad) batch_norm_grad{
    "batch_norm_grad",
    kFloating,
    upcast,
    {"input_grad", "weight_grad", "bias_grad", "grad", "input", "weight", "mean", "invstd"},
    composite::batch_norm_grad};
constinit decltype(layer_norm) layer_norm{"layer_norm",
                                          kFloating,
                                          upcast,
                                          {"out", "mean", "invstd", "input", "weight", "bias"},
                                          composite::layer_norm};
constinit decltype(layer_norm_grad) layer_norm_grad{
    "layer_norm_grad",
    kFloating,
    upcast,
    {"input_grad", "weight_grad", "bias_grad", "grad", "input", "weight", "mean", "invstd"},
    composite::layer_norm_grad};
constinit decltype(group_norm) group_norm{"group_norm",
                                          kFloating,
                                          upcast,
                                          {"out", "mean", "invstd", "input", "weight", "bias"},
                                          composite::group_norm};
constinit decltype(group_norm_grad) group_norm_grad{
    "group_norm_grad",
    kFloating,
    upcast,
    {"input_grad", "weight_grad", "bias_grad", "grad", "input", "weight", "mean", "invstd"},
    composite::group_norm_grad};
constinit decltype(attention) attention{"attention",
                                        kFloating,
                                        upcast,
                                        {"out", "logsumexp", "query", "key", "value", "attn_mask"},
                                        composite::attention};
constinit decltype(attention_grad) attention_grad{
    "attention_grad",
    kFloating,
    upcast,
    {"query_grad", "key_grad", "value_grad", "grad", "query", "key", "value", "attn_mask", "output",
     "logsumexp"},
    composite::attention_grad};
constinit decltype(lstm_cell) lstm_cell{"lstm_cell",
                                        kFloating,
                                        upcast,
                                        {"hy", "cy", "gates", "input_gates", "hidden_gates", "cx"},
                                        composite::lstm_cell};
constinit decltype(lstm_cell_grad) lstm_cell_grad{
    "lstm_cell_grad",
    kFloating,
    upcast,
    {"gates_grad", "cx_grad", "hy_grad", "cy_grad", "gates", "cy", "cx"},
    composite::lstm_cell_grad};
constinit decltype(gru_cell) gru_cell{"gru_cell",
                                      kFloating,
                                      upcast,
                                      {"hy", "gates", "input_gates", "hidden_gates", "hx"},
                                      composite::gru_cell};
constinit decltype(gru_cell_grad) gru_cell_grad{
    "gru_cell_grad",
    kFloating,
    upcast,
    {"input_gates_grad", "hidden_gates_grad", "hx_grad", "hy_grad", "gates", "hx"},
    composite::gru_cell_grad};
constinit decltype(nll_loss) nll_loss{"nll_loss",
                                      kFloating,
                                      upcast,
                                      {"out", "weight_sum", "input", "target", "weight"},
                                      composite::nll_loss};
constinit decltype(cross_entropy) cross_entropy{"cross_entropy",
                                                kFloating,
                                                upcast,
                                                {"out", "weight_sum", "input", "target", "weight"},
                                                composite::cross_entropy};
constinit decltype(cross_entropy_grad) cross_entropy_grad{
    "cross_entropy_grad",
    kFloating,
    upcast,
    {"input_grad", "grad", "input", "target", "weight"},
    composite::cross_entropy_grad};
constinit decltype(ctc_loss) ctc_loss{
    "ctc_loss",
    kFloating,
    upcast,
    {"out", "log_alpha", "log_probs", "targets", "input_lengths", "target_lengths"},
    composite::ctc_loss};
constinit decltype(ctc_loss_grad) ctc_loss_grad{
    "ctc_loss_grad",
    kFloating,
    upcast,
    {"log_probs_grad", "grad", "log_probs", "targets", "input_lengths", "target_lengths", "loss",
     "log_alpha"},
    composite::ctc_loss_grad};
constinit decltype(sgd_step) sgd_step{
    "sgd_step", kFloating, elementwise, {"param", "momentum_buffer", "grad"}, composite::sgd_step};
constinit decltype(adam_step) adam_step{"adam_step",
                                        kFloating,
                                        elementwise,
                                        {"param", "exp_avg", "exp_avg_sq", "step", "grad"},
                                        composite::adam_step};
constinit decltype(unscale) unscale{
    "unscale", kFloating, elementwise, {"grad", "found"}, composite::unscale};

}  // namespace kernels

std::span<OpBase* const> all_ops() {
#define AMBIT_ADDRESS(name) &kernels::name,
  static constinit OpBase* const kOps[] = {AMBIT_KERNELS(AMBIT_ADDRESS)};
#undef AMBIT_ADDRESS
  return kOps;
}

}  // namespace ambit
