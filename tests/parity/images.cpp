// Resizing and sampling of images, unfold and fold; embedding bags.
#include "calls.h"

using namespace parity;

namespace nn = torch::nn;
namespace F = torch::nn::functional;

PARITY(interpolation) {
  using Options = F::InterpolateFuncOptions;
  using Sizes = std::vector<int64_t>;
  using Scales = std::vector<double>;
  const struct {
    const char* name;
    Options options;
    Sizes shape;
  } rows[] = {
      {"nearest 1-D", Options().size(Sizes{9}), {2, 3, 5}},
      {"nearest", Options().scale_factor(Scales{2, 1.5}), {2, 3, 4, 5}},
      {"nearest exact", Options().size(Sizes{3, 7}).mode(torch::kNearestExact), {2, 3, 4, 5}},
      {"linear", Options().size(Sizes{9}).mode(torch::kLinear).align_corners(true), {2, 3, 5}},
      {"bilinear",
       Options().scale_factor(Scales{2, 2}).mode(torch::kBilinear).align_corners(false),
       {2, 3, 4, 5}},
      {"bilinear recomputed",
       Options()
           .scale_factor(Scales{1.7, 0.6})
           .mode(torch::kBilinear)
           .align_corners(false)
           .recompute_scale_factor(true),
       {2, 3, 4, 5}},
      {"antialiased",
       Options().size(Sizes{2, 3}).mode(torch::kBilinear).align_corners(false).antialias(true),
       {1, 2, 7, 8}},
      {"bicubic",
       Options().size(Sizes{7, 3}).mode(torch::kBicubic).align_corners(true),
       {2, 3, 4, 5}},
      {"trilinear",
       Options().size(Sizes{5, 4, 3}).mode(torch::kTrilinear).align_corners(false),
       {1, 2, 3, 4, 2}},
      {"area", Options().size(Sizes{2, 3}).mode(torch::kArea), {2, 3, 4, 5}},
  };
  for (const auto& row : rows) {
    run({row.name,
         [&](const List& a) { return F::interpolate(a[0], row.options); },
         {x(row.shape)},
         64});
  }
  nn::Upsample twice(
      nn::UpsampleOptions().scale_factor(Scales{2, 2}).mode(torch::kBilinear).align_corners(true));
  report("Upsample", twice(wave({1, 2, 3, 4})), 64);
  report("upsample_nearest2d", torch::upsample_nearest2d(x({1, 2, 3, 4}), {5, 6}), 0);
  report("upsample_bilinear2d", torch::upsample_bilinear2d(x({1, 2, 3, 4}), {5, 6}, false), 64);
  report_refusal("no size", [] { F::interpolate(x({1, 2, 3})); });
  report_refusal("linear of a plane", [] {
    F::interpolate(x({1, 2, 3, 4}), Options().size(Sizes{3, 4}).mode(torch::kLinear));
  });
  report_refusal("corners of the nearest", [] {
    F::interpolate(x({1, 2, 3}), Options().size(Sizes{3}).align_corners(true));
  });
}

PARITY(sampling) {
  using Options = F::GridSampleFuncOptions;
  const auto sampled = [](const Options& options) {
    return [options](const List& a) { return F::grid_sample(a[0], a[1] * 1.3, options); };
  };
  const List in{x({2, 3, 4, 5}), x({2, 3, 2, 2})};
  const auto corners = Options().align_corners(true);
  run({"grid_sample", sampled(Options().align_corners(false)), in, 64});
  run({"grid_sample border", sampled(Options(corners).padding_mode(torch::kBorder)), in, 64});
  run({"grid_sample reflection", sampled(Options(corners).padding_mode(torch::kReflection)), in,
       64});
  run({"grid_sample nearest",
       sampled(Options(corners).mode(torch::kNearest).padding_mode(torch::kZeros)), in, 64});
  run({"grid_sample volume", sampled(corners), {x({1, 2, 3, 4, 5}), x({1, 2, 1, 3, 3})}, 64});
  run({"affine_grid", OP(F::affine_grid(a[0], {2, 1, 3, 4})), {x({2, 2, 3})}, 64});
  run({"affine_grid corners", OP(F::affine_grid(a[0], {1, 1, 2, 3, 2}, true)), {x({1, 3, 4})}, 64});
}

PARITY(columns) {
  run({"unfold",
       OP(F::unfold(a[0], F::UnfoldFuncOptions({3, 2}).dilation({1, 2}).padding(1).stride(2))),
       {x({2, 3, 6, 7})}});
  run({"fold",
       OP(F::fold(a[0], F::FoldFuncOptions({5, 6}, {3, 2}).padding(1).stride(2))),
       {x({2, 18, 12})}});
  run({"im2col", OP(torch::im2col(a[0], {2, 2}, {1, 1}, {0, 0}, {1, 1})), {x({1, 2, 3, 4})}});
  report("Unfold", nn::Unfold(nn::UnfoldOptions(2).stride(2))(wave({1, 2, 4, 4})), 0);
  report("Fold", nn::Fold(nn::FoldOptions(3, {2, 2}))(wave({1, 8, 4})));
}

PARITY(bags) {
  const torch::Tensor i = torch::tensor({1, 0, 3, 3, 2, 1, 4, 0}, torch::kLong);
  const torch::Tensor offsets = torch::tensor({0, 3, 3, 4}, torch::kLong);
  using Options = F::EmbeddingBagFuncOptions;
  const auto bag = [&](const char* name, const Options& options, bool rows) {
    run({name,
         [&](const List& a) {
           return F::embedding_bag(rows ? i.view({2, 4}) : i, a[0], options);
         },
         {x({5, 3})},
         32});
  };
  bag("mean", Options().offsets(offsets), false);
  bag("sum", Options().offsets(offsets).mode(torch::kSum), false);
  bag("max", Options().offsets(offsets).mode(torch::kMax), false);
  bag("mean of rows", Options().padding_idx(3), true);
  bag("max of rows", Options().mode(torch::kMax).padding_idx(1), true);
  run({"factors",
       [&](const List& a) {
         return F::embedding_bag(
             i, a[0], Options().offsets(offsets).mode(torch::kSum).per_sample_weights(a[1]));
       },
       {x({5, 3}), y({8})},
       32});

  nn::EmbeddingBag layer(nn::EmbeddingBagOptions(5, 3).mode(torch::kSum).max_norm(0.5));
  fill(*layer);
  report("EmbeddingBag", layer(i, offsets), 32);
  report("its weight", layer->weight, 32);
  auto table = nn::Embedding::from_pretrained(
      wave({5, 3}), nn::EmbeddingFromPretrainedOptions().padding_idx(1).freeze(false));
  const torch::Tensor rows = table->forward(i);
  (rows * wave({8, 3}, 0.3)).sum().backward();
  report("from_pretrained", rows, 0);
  report("its gradient", table->weight.grad(), 8);
  nn::Sequential net(nn::EmbeddingBag(nn::EmbeddingBagOptions(5, 3)), nn::Linear(3, 2));
  fill(*net);
  report("in a Sequential", net->forward(i.view({2, 4})), 64);
  report_refusal("offsets for rows", [&] {
    F::embedding_bag(i.view({2, 4}), x({5, 3}), Options().offsets(offsets));
  });
  report_refusal("factors of a mean", [&] {
    F::embedding_bag(i.view({2, 4}), x({5, 3}), Options().per_sample_weights(y({2, 4})));
  });
}
