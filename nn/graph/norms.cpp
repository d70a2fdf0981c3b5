// Functions of programs: normalization, softmax and losses.
#include <ambit/nn/functional/aten.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/norm.h>

#include "call.h"

namespace ambit::graph {
namespace {

Reduction reduction(const Call& c, size_t i) {
  constexpr Reduction kAll[] = {Reduction::none, Reduction::mean, Reduction::sum};
  const int64_t n = c.integer(i);
  return kAll[n == 0 || n == 2 ? n : 1];
}

// Return the first result of a function; only its gradient needs the other results.
void give_first(Call& c, Tensor out, size_t others) {
  c.give(std::move(out));
  for (size_t i = 0; i < others; ++i) c.give(Tensor());
}

Tensor batch_normed(const Call& c) {
  const Tensor mean = c.optional_tensor(3);
  // Without running statistics both modes are the same.
  const bool training = mean.defined() ? c.training(5) : c.flag(5);
  return batch_norm(c.tensor(0), c.optional_tensor(1), c.optional_tensor(2), mean,
                    c.optional_tensor(4), {training, c.real(6), c.real(7)});
}

// Return new running statistics instead of changing the given ones.
void batch_norm_functional(Call& c) {
  const Tensor mean = c.tensor(3).clone(), var = c.tensor(4).clone();
  give_first(c,
             batch_norm(c.tensor(0), c.optional_tensor(1), c.optional_tensor(2), mean, var,
                        {c.training(5), c.real(6), c.real(7)}),
             2);
  c.give(mean);
  c.give(var);
}

Tensor layer_normed(const Call& c) {
  return layer_norm(c.tensor(0), c.integers(1), c.optional_tensor(2), c.optional_tensor(3),
                    c.real(4));
}

Tensor weight_norm(const Call& c) {
  const Tensor v = c.tensor(0);
  return v * (c.tensor(1) / norm_except_dim(v, 2, c.integer(2)));
}

// The last argument of _softmax requests float32 for float16, on CUDA.
std::optional<DType> softmax_dtype(const Call& c) {
  return c.flag(2) ? std::optional(kFloat32) : std::nullopt;
}

constexpr Function kRows[] = {
    // clang-format off
    {"batch_norm.default", "input weight bias running_mean running_var training momentum eps "
     "cudnn_enabled=True", one([](Call& c) { return batch_normed(c); })},
    {"_native_batch_norm_legit_no_training.default", "input weight bias running_mean running_var "
     "momentum eps", many([](Call& c) {
       give_first(c, batch_norm(c.tensor(0), c.optional_tensor(1), c.optional_tensor(2),
                                c.tensor(3), c.tensor(4), {false, c.real(5), c.real(6)}), 2); })},
    {"_native_batch_norm_legit_functional.default", "input weight bias running_mean running_var "
     "training momentum eps", many(batch_norm_functional)},
    {"_native_batch_norm_legit.no_stats", "input weight bias training momentum eps",
     many([](Call& c) {
       give_first(c, batch_norm(c.tensor(0), c.optional_tensor(1), c.optional_tensor(2), {}, {},
                                {true, c.real(4), c.real(5)}), 2); })},
    {"instance_norm.default", "input weight bias running_mean running_var use_input_stats momentum "
     "eps cudnn_enabled=True", one([](Call& c) {
       return instance_norm(c.tensor(0), c.optional_tensor(1), c.optional_tensor(2),
                            c.optional_tensor(3), c.optional_tensor(4), c.flag(5), c.real(6),
                            c.real(7), true); })},
    {"layer_norm.default", "input normalized_shape weight=None bias=None eps=1e-05 "
     "cudnn_enable=True", one([](Call& c) { return layer_normed(c); })},
    {"native_layer_norm.default", "input normalized_shape weight bias eps", many([](Call& c) {
       give_first(c, layer_normed(c), 2); })},
    {"rms_norm.default", "input normalized_shape weight=None eps=None", one([](Call& c) {
       return rms_norm(c.tensor(0), c.integers(1), c.optional_tensor(2), c.optional_real(3)); })},
    {"group_norm.default", "input num_groups weight=None bias=None eps=1e-05 cudnn_enabled=True",
     one([](Call& c) {
       return group_norm(c.tensor(0), c.integer(1), c.optional_tensor(2), c.optional_tensor(3),
                         c.real(4)); })},
    {"native_group_norm.default", "input weight bias N C HxW group eps", many([](Call& c) {
       give_first(c, group_norm(c.tensor(0), c.integer(6), c.optional_tensor(1),
                                c.optional_tensor(2), c.real(7)), 2); })},
    {"_weight_norm.default", "v g dim=0", one([](Call& c) { return weight_norm(c); })},
    {"softmax.int", "self dim dtype=None", one([](Call& c) {
       return softmax(c.tensor(0), c.integer(1), c.dtype(2)); })},
    {"_softmax.default", "self dim half_to_float", one([](Call& c) {
       return softmax(c.tensor(0), c.integer(1), softmax_dtype(c)); })},
    {"log_softmax.int", "self dim dtype=None", one([](Call& c) {
       return log_softmax(c.tensor(0), c.integer(1), c.dtype(2)); })},
    {"_log_softmax.default", "self dim half_to_float", one([](Call& c) {
       return log_softmax(c.tensor(0), c.integer(1), softmax_dtype(c)); })},
    // losses
    {"mse_loss.default", "self target reduction=1", one([](Call& c) {
       return mse_loss(c.tensor(0), c.tensor(1), reduction(c, 2)); })},
    {"l1_loss.default", "self target reduction=1", one([](Call& c) {
       return l1_loss(c.tensor(0), c.tensor(1), reduction(c, 2)); })},
    {"smooth_l1_loss.default", "self target reduction=1 beta=1.0", one([](Call& c) {
       return smooth_l1_loss(c.tensor(0), c.tensor(1), reduction(c, 2), c.real(3)); })},
    {"huber_loss.default", "self target reduction=1 delta=1.0", one([](Call& c) {
       return huber_loss(c.tensor(0), c.tensor(1), reduction(c, 2), c.real(3)); })},
    {"cross_entropy_loss.default", "self target weight=None reduction=1 ignore_index=-100 "
     "label_smoothing=0.0", one([](Call& c) {
       return cross_entropy(c.tensor(0), c.tensor(1), c.optional_tensor(2), reduction(c, 3),
                            c.integer(4), c.real(5)); })},
    {"nll_loss_nd.default", "self target weight=None reduction=1 ignore_index=-100",
     one([](Call& c) {
       return nll_loss(c.tensor(0), c.tensor(1), c.optional_tensor(2), reduction(c, 3),
                       c.integer(4)); })},
    {"binary_cross_entropy.default", "self target weight=None reduction=1", one([](Call& c) {
       return nn::functional::binary_cross_entropy(c.tensor(0), c.tensor(1), c.optional_tensor(2),
                                                   reduction(c, 3)); })},
    {"binary_cross_entropy_with_logits.default", "self target weight=None pos_weight=None "
     "reduction=1", one([](Call& c) {
       return nn::functional::binary_cross_entropy_with_logits(
           c.tensor(0), c.tensor(1), c.optional_tensor(2), reduction(c, 4),
           c.optional_tensor(3)); })},
    // clang-format on
};

}  // namespace

constinit const std::span<const Function> kNormFunctions = kRows;

}  // namespace ambit::graph
