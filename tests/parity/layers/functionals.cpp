// Layers as functions, each with options other than the defaults: activations, dropouts, norms,
// paddings, products, distances, embeddings.
#include "layers.h"

using namespace parity;

namespace F = torch::nn::functional;

namespace {

// Inputs from -3 to 3, without the kinks of any of the functions.
Tensor wide(torch::IntArrayRef sizes = {2, 4, 3}) { return x(sizes) * 3 + 0.01; }
double share = 0;  // fraction that a dropout keeps
Tensor rows() { return torch::tensor({3, 1, 1, 4}, torch::kLong); }

}  // namespace

PARITY(functional_activations) {
  const Tensor w = wide(), narrow = w.to(torch::kFloat);
  const Call calls[] = {
      {CALL(F::celu(a[0], F::CELUFuncOptions().alpha(0.75))), {w}, 32},
      {CALL(F::celu(a[0] * 1, F::CELUFuncOptions().inplace(true))), {w}, 32},
      {CALL(F::elu(a[0], F::ELUFuncOptions().alpha(1.3))), {w}, 32},
      {CALL(F::elu(a[0] * 1, F::ELUFuncOptions().inplace(true))), {w}, 32},
      {CALL(F::gelu(a[0], F::GELUFuncOptions())), {w}, 64},
      {CALL(F::glu(a[0], F::GLUFuncOptions(1))), {w}, 32},
      {CALL(F::hardshrink(a[0], F::HardshrinkFuncOptions(0.7))), {w}},
      {CALL(F::hardtanh(a[0] * 1, F::HardtanhFuncOptions().max_val(1.9).inplace(true))), {w}},
      {CALL(F::leaky_relu(a[0], F::LeakyReLUFuncOptions().negative_slope(0.2))), {w}},
      {CALL(F::leaky_relu(a[0] * 1, F::LeakyReLUFuncOptions().inplace(true))), {w}},
      {CALL(F::log_softmax(a[0], F::LogSoftmaxFuncOptions(1))), {w}, 64},
      {CALL(F::log_softmax(a[0], F::LogSoftmaxFuncOptions(0).dtype(torch::kDouble))), {narrow}, 64},
      {CALL(F::logsigmoid(a[0])), {w}, 32},
      {CALL(F::mish(a[0])), {w}, 64},
      {CALL(F::prelu(a[0], a[1])), {w, y({4})}, 64},
      {CALL(F::relu(a[0], F::ReLUFuncOptions())), {w}},
      {CALL(F::relu(a[0] * 1, F::ReLUFuncOptions(true))), {w}},
      {CALL(F::relu6(a[0] * 4, F::ReLU6FuncOptions(true))), {w}},
      {CALL(F::rrelu(a[0], F::RReLUFuncOptions().lower(0.1).upper(0.5))), {w}},
      {CALL(F::rrelu(a[0], F::RReLUFuncOptions().lower(0.3).upper(0.3).training(true))), {w}},
      {CALL(F::rrelu(a[0] * 1, F::RReLUFuncOptions().inplace(true))), {w}},
      {CALL(F::selu(a[0], F::SELUFuncOptions())), {w}, 32},
      {CALL(F::selu(a[0] * 1, F::SELUFuncOptions(true))), {w}, 32},
      {CALL(F::silu(a[0])), {w}, 32},
      {CALL(F::softmax(a[0], F::SoftmaxFuncOptions(0))), {w}, 64},
      {CALL(F::softmax(a[0], F::SoftmaxFuncOptions(-1).dtype(torch::kDouble))), {narrow}, 64},
      {CALL(F::softmin(a[0], F::SoftminFuncOptions(1))), {w}, 64},
      {CALL(F::softmin(a[0], F::SoftminFuncOptions(1).dtype(torch::kDouble))), {narrow}, 64},
      {CALL(F::softplus(a[0], F::SoftplusFuncOptions().beta(1.5).threshold(2))), {w}, 32},
      {CALL(F::softshrink(a[0], F::SoftshrinkFuncOptions(0.4))), {w}},
      {CALL(F::softsign(a[0])), {w}},
      {CALL(F::tanhshrink(a[0])), {w}, 32},
      {CALL(F::threshold(a[0] * 1, F::ThresholdFuncOptions(0.3, 1.2).inplace(true))), {w}},
  };
  for (const Call& call : calls) run(call);
  // Random: the largest element of each row is one, or the elements have the sum one.
  const auto hard = F::gumbel_softmax(w, F::GumbelSoftmaxFuncOptions().hard(true).dim(1));
  report("hard gumbel_softmax, sorted", std::get<0>(hard.sort(1)), 2);
  const auto soft = F::gumbel_softmax(w, F::GumbelSoftmaxFuncOptions().tau(0.5));
  report("gumbel_softmax, summed", soft.sum(-1), 8);
}

// The dropped elements are random and differ on purpose; with p 0 and 1 they do not.
PARITY(functional_dropouts) {
  const Tensor w = wide(), images = wide({2, 3, 2, 2}), volumes = wide({1, 2, 2, 2, 2});
  for (share = 0; share < 2; ++share) {
    const Call calls[] = {
        {CALL(F::dropout(a[0], F::DropoutFuncOptions().p(share))), {w}},
        {CALL(F::dropout(a[0] * 1, F::DropoutFuncOptions().p(share).inplace(true))), {w}},
        {CALL(F::dropout2d(a[0], F::Dropout2dFuncOptions().p(share))), {images}},
        {CALL(F::dropout3d(a[0], F::Dropout3dFuncOptions().p(share))), {volumes}},
        {CALL(F::alpha_dropout(a[0], F::AlphaDropoutFuncOptions().p(share))), {w}, 32},
        {CALL(F::feature_alpha_dropout(a[0], F::FeatureAlphaDropoutFuncOptions().p(share))),
         {images},
         32},
    };
    for (const Call& call : calls) run(call);
  }
  const Call calls[] = {
      {CALL(F::dropout2d(a[0], F::Dropout2dFuncOptions().training(false))), {images}},
      {CALL(F::alpha_dropout(a[0], F::AlphaDropoutFuncOptions().training(false))), {w}},
  };
  for (const Call& call : calls) run(call);
}

PARITY(functional_norms) {
  const Tensor mean = y({3}) - 1, var = y({3});
  const Call calls[] = {
      {CALL(F::batch_norm(a[0], y({3}) - 1, y({3}),
                          F::BatchNormFuncOptions().weight(a[1]).eps(1e-2))),
       {x({4, 3, 2}), y({3})},
       128},
      {CALL(F::normalize(a[0], F::NormalizeFuncOptions().p(1).dim(2).eps(1e-3))),
       {x({2, 3, 4})},
       64},
      {CALL(F::normalize(a[0])), {x({2, 3})}, 64},
      {CALL(F::pad(a[0], F::PadFuncOptions({1, 2, -1, 0}).value(0.5))), {x({2, 3, 4})}},
      {CALL(F::pad(a[0], F::PadFuncOptions({1, 2}).mode(torch::kReflect))), {x({2, 3, 4})}},
      {CALL(F::pad(a[0], F::PadFuncOptions({5, 2}).mode(torch::kReplicate))), {x({2, 3, 4})}},
      {CALL(F::pad(a[0], F::PadFuncOptions({3, 1, 0, 2}).mode(torch::kCircular))),
       {x({1, 2, 3, 4})}},
  };
  for (const Call& call : calls) run(call);
  run({"batch_norm of a batch",
       [&](const List& a) {
         return F::batch_norm(
             a[0], mean, var,
             F::BatchNormFuncOptions().weight(a[1]).bias(a[2]).momentum(0.2).training(true));
       },
       {x({4, 3, 2}), y({3}), x({3})},
       256});
  report("its mean", mean, 32);
  report("its variance", var, 32);
  report(
      "normalize into a tensor",
      [] {
        Tensor out = torch::empty({2, 3}, torch::kDouble);
        F::normalize(x(), F::NormalizeFuncOptions().out(out));
        return out;
      }(),
      64);
}

PARITY(functional_products) {
  const Call calls[] = {
      {CALL(F::bilinear(a[0], a[1], a[2], a[3])), {x({5, 3}), y({5, 2}), x({4, 3, 2}), y({4})}, 64},
      {CALL(F::linear(a[0], a[1])), {x({2, 3}), y({4, 3})}, 32},
      {CALL(
           F::conv1d(a[0], a[1],
                     F::Conv1dFuncOptions().bias(a[2]).stride(2).padding(1).dilation(2).groups(2))),
       {x({2, 4, 9}), y({6, 2, 3}), x({6})},
       128},
      {CALL(F::conv2d(a[0], a[1], F::ConvFuncOptions<2>().padding({1, 0}))),
       {x({1, 2, 4, 5}), y({3, 2, 3, 2})},
       128},
      {CALL(F::conv3d(a[0], a[1], F::Conv3dFuncOptions().bias(a[2]).stride({2, 1, 1}).padding(1))),
       {x({1, 2, 4, 3, 4}), y({3, 2, 2, 3, 2}), x({3})},
       256},
      {CALL(F::conv_transpose1d(a[0], a[1], F::ConvTransposeFuncOptions<1>().dilation(2))),
       {x({1, 2, 4}), y({2, 3, 3})},
       128},
      {CALL(F::conv_transpose2d(
           a[0], a[1],
           F::ConvTranspose2dFuncOptions().bias(a[2]).stride({2, 3}).padding(1).output_padding(
               {1, 0}))),
       {x({1, 2, 3, 4}), y({2, 3, 3, 2}), x({3})},
       128},
      {CALL(F::conv_transpose3d(a[0], a[1], F::ConvTranspose3dFuncOptions().stride(2).groups(2))),
       {x({1, 2, 2, 3, 2}), y({2, 1, 2, 2, 3})},
       128},
      {CALL(F::cosine_similarity(a[0], a[1], F::CosineSimilarityFuncOptions().dim(0).eps(0.1))),
       {x(), y()},
       64},
      {CALL(F::pairwise_distance(a[0], a[1],
                                 F::PairwiseDistanceFuncOptions().p(3).eps(1e-3).keepdim(true))),
       {x(), y()},
       64},
      {CALL(F::pdist(a[0], 3)), {x({4, 3})}, 64},
      {CALL(F::one_hot(rows(), 6)), {}},
      {CALL(F::one_hot(rows())), {}},
      {CALL(F::embedding(rows(), a[0], F::EmbeddingFuncOptions().padding_idx(3))), {x({5, 3})}},
      {CALL(F::embedding(rows(), a[0], F::EmbeddingFuncOptions().scale_grad_by_freq(true))),
       {x({5, 3})}},
  };
  for (const Call& call : calls) run(call);
  const Tensor table = x({5, 3});
  report("bounded rows",
         F::embedding(rows(), table, F::EmbeddingFuncOptions().max_norm(0.3125).norm_type(1)), 32);
  report("their table", table, 32);
  auto bag = nn::EmbeddingBag::from_pretrained(
      table, nn::EmbeddingBagFromPretrainedOptions().mode(torch::kSum).padding_idx(1));
  report("a bag's own table", bag->weight, 32);
  report("a bag of it", bag(rows().view({2, 2})), 32);
}
