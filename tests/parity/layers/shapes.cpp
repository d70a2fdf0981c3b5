// Layers that move or compare elements: paddings, pooling, shapes, embeddings, distances; and
// containers of modules and parameters by name.
#include "layers.h"

using namespace parity;

PARITY(layers_paddings) {
  const Tensor line = x({2, 3, 5}), image = x({2, 2, 4, 5}), volume = x({1, 2, 3, 4, 3});
  run_layer("ConstantPad1d", nn::ConstantPad1d(nn::ConstantPad1dOptions({1, 2}, 3.5)), line);
  run_layer("ConstantPad2d", nn::ConstantPad2d(nn::ConstantPad2dOptions({1, 2, -1, 3}, -2)), image);
  run_layer("ConstantPad3d", nn::ConstantPad3d(nn::ConstantPad3dOptions(1, 0.5)), volume);
  run_layer("ConstantPad3d of one side",
            nn::ConstantPad3d(nn::ConstantPadOptions<3>({0, 0, 0, 2, 0, 0}, 1)), volume);
  run_layer("ZeroPad2d", nn::ZeroPad2d(nn::ZeroPad2dOptions({2, 0, 1, 1})), image);
  run_layer("ReflectionPad1d", nn::ReflectionPad1d(nn::ReflectionPad1dOptions({1, 4})), line);
  run_layer("ReflectionPad2d", nn::ReflectionPad2d(nn::ReflectionPad2dOptions({1, 2, 3, 0})),
            image);
  run_layer("ReflectionPad3d", nn::ReflectionPad3d(nn::ReflectionPad3dOptions({1, 2, 3, 0, 2, 1})),
            volume);
  run_layer("ReplicationPad1d", nn::ReplicationPad1d(nn::ReplicationPad1dOptions({6, 2})), line);
  run_layer("ReplicationPad2d", nn::ReplicationPad2d(nn::ReplicationPad2dOptions({1, 7, 3, 0})),
            image);
  run_layer("ReplicationPad3d",
            nn::ReplicationPad3d(nn::ReplicationPad3dOptions({1, 2, 5, 0, 2, 1})), volume);
  run_layer("ReflectionPad1d, template", nn::ReflectionPad1d(nn::ReflectionPadOptions<1>(2)), line);
  run_layer("ReplicationPad1d, template", nn::ReplicationPad1d(nn::ReplicationPadOptions<1>(2)),
            line);
  report_refusal("a reflection of more than there is", [&] { nn::ReflectionPad1d(5)(line); });
}

PARITY(layers_pooling_of_images) {
  const Tensor line = x({2, 3, 7}), image = x({2, 2, 6, 7});
  run_layer("AdaptiveAvgPool1d", nn::AdaptiveAvgPool1d(3), line);
  run_layer("AdaptiveAvgPool2d", nn::AdaptiveAvgPool2d(nn::AdaptiveAvgPool2dOptions({3, 4})),
            image);
  run_layer("AdaptiveAvgPool2d optional",
            nn::AdaptiveAvgPool2d(nn::AdaptiveAvgPool2dOptions({torch::nullopt, 2})), image);
  run_layer("AvgPool2d", nn::AvgPool2d(2), image);
  run_layer("AvgPool2d of options",
            nn::AvgPool2d(nn::AvgPool2dOptions({3, 2})
                              .stride({2, 1})
                              .padding({1, 0})
                              .ceil_mode(true)
                              .count_include_pad(false)),
            image);
  run_layer("AvgPool2d with a divisor", nn::AvgPool2d(nn::AvgPool2dOptions(2).divisor_override(3)),
            image);
  run_layer("MaxPool2d", nn::MaxPool2d(2), image);
  run_layer(
      "MaxPool2d of options",
      nn::MaxPool2d(
          nn::MaxPool2dOptions({3, 2}).stride({2, 1}).padding({1, 0}).dilation({1, 2}).ceil_mode(
              true)),
      image);
  nn::MaxPool2d with_indices(3);
  report_layer("MaxPool2d with indices", *with_indices, {image},
               [&](const List& a) { return outputs(with_indices->forward_with_indices(a[0])); });
  run_layer(
      "FractionalMaxPool3d",
      nn::FractionalMaxPool3d(nn::FractionalMaxPool3dOptions(2).output_size(2)._random_samples(
          torch::full({1, 1, 3}, 0.4, torch::kDouble))),
      x({1, 1, 4, 5, 6}));
}

PARITY(layers_of_shapes) {
  run_layer("Flatten", nn::Flatten(), x({2, 3, 4}));
  run_layer("Flatten of some", nn::Flatten(nn::FlattenOptions().start_dim(0).end_dim(-2)),
            x({2, 3, 4}));
  run_layer("Unflatten", nn::Unflatten(nn::UnflattenOptions(1, {2, 3})), x({2, 6, 2}));
  run_layer("Identity", nn::Identity(), x());
  run_layer("PixelShuffle", nn::PixelShuffle(nn::PixelShuffleOptions(2)), x({1, 8, 2, 3}));
  run_layer("PixelUnshuffle", nn::PixelUnshuffle(nn::PixelUnshuffleOptions(2)), x({1, 2, 4, 6}));
  run_layer("Upsample",
            nn::Upsample(nn::UpsampleOptions()
                             .scale_factor(std::vector<double>{1.5})
                             .mode(torch::kLinear)
                             .align_corners(false)),
            x({2, 3, 5}));
  run_layer("Unfold", nn::Unfold(nn::UnfoldOptions({2, 3}).padding(1).stride({1, 2})),
            x({2, 2, 4, 5}));
  run_layer("Fold", nn::Fold(nn::FoldOptions({4, 5}, {2, 3}).padding(1)), x({1, 12, 25}));
  report_refusal("a shuffle of too few channels", [] { nn::PixelShuffle(2)(x({1, 3, 2, 2})); });
}

PARITY(layers_of_products_and_distances) {
  run_layer("Linear", nn::Linear(3, 4), x({2, 5, 3}));
  run_layer("Linear without bias", nn::Linear(nn::LinearOptions(3, 4).bias(false)), x({3}));
  run_layer("Bilinear", nn::Bilinear(3, 2, 4), x({5, 3}), y({5, 2}));
  run_layer("Bilinear without bias", nn::Bilinear(nn::BilinearOptions(3, 2, 4).bias(false)),
            x({2, 5, 3}), y({2, 5, 2}));
  const Tensor a = x({3, 4}), b = wave({3, 4}, 0.37, torch::kDouble);
  run_layer("CosineSimilarity", nn::CosineSimilarity(), a, b);
  run_layer("CosineSimilarity of dim 0",
            nn::CosineSimilarity(nn::CosineSimilarityOptions().dim(0).eps(0.1)), a, b);
  run_layer("PairwiseDistance", nn::PairwiseDistance(), a, b);
  run_layer("PairwiseDistance of options",
            nn::PairwiseDistance(nn::PairwiseDistanceOptions().p(3).eps(1e-3).keepdim(true)), a, b);
}

PARITY(layers_embeddings) {
  const Tensor at = torch::tensor({1, 0, 3, 3, 2, 1}, torch::kLong).view({2, 3});
  using Options = nn::EmbeddingOptions;
  run_layer("Embedding", nn::Embedding(5, 3), at);
  run_layer("Embedding padded", nn::Embedding(Options(5, 3).padding_idx(3)), at);
  run_layer("Embedding scaled", nn::Embedding(Options(5, 3).scale_grad_by_freq(true)), at);
  // Exact in float32, because libtorch's layer rounds it to float32.
  nn::Embedding bounded(Options(5, 3).max_norm(0.3125).norm_type(1));
  run_layer("Embedding bounded", bounded, at);
  report("its weight", bounded->weight, 256);
  const Tensor offsets = torch::tensor({0, 2, 2}, torch::kLong), flat = at.view({6});
  using Bag = nn::EmbeddingBagOptions;
  run_layer("EmbeddingBag", nn::EmbeddingBag(5, 3), at);
  run_layer("EmbeddingBag of sums", nn::EmbeddingBag(Bag(5, 3).mode(torch::kSum).padding_idx(1)),
            flat, offsets);
  run_layer("EmbeddingBag of factors", nn::EmbeddingBag(Bag(5, 3).mode(torch::kSum)), flat, offsets,
            y({6}));
  run_layer("EmbeddingBag of maxima",
            nn::EmbeddingBag(Bag(5, 3).mode(torch::kMax).include_last_offset(true)), flat,
            torch::tensor({0, 2, 6}, torch::kLong));
  // All rows occur twice, because libtorch 1.13 divides by other rows' counts.
  run_layer("EmbeddingBag scaled", nn::EmbeddingBag(Bag(5, 3).scale_grad_by_freq(true)),
            torch::tensor({3, 1, 1, 3}, torch::kLong), torch::tensor({0, 3}, torch::kLong));
}

PARITY(layers_by_name) {
  nn::ModuleDict modules;
  modules->update({{"second", nn::AnyModule(nn::Linear(2, 3)).ptr()},
                   {"first", nn::AnyModule(nn::Linear(3, 2)).ptr()}});
  report_layer("ModuleDict", *modules, {x({4, 3})}, [&](const List& a) {
    return List{modules["second"]->as<nn::Linear>()->forward(
        modules["first"]->as<nn::Linear>()->forward(a[0]))};
  });
  nn::ParameterDict parameters;
  parameters->insert("b", torch::ones({2}));
  parameters->insert("a", torch::ones({3, 2}));
  report_layer("ParameterDict", *parameters, {x({4, 3})},
               [&](const List& a) { return List{a[0].matmul(parameters["a"]) + parameters["b"]}; });
  nn::ParameterList list(torch::ones({3, 2}), torch::ones({2}));
  report_layer("ParameterList", *list, {x({4, 3})},
               [&](const List& a) { return List{a[0].matmul((*list)[0]) + (*list)[1]}; });
  nn::ModuleList chain(nn::Linear(3, 3), nn::Tanh());
  report_layer("ModuleList", *chain, {x({4, 3})}, [&](const List& a) {
    return List{chain[1]->as<nn::Tanh>()->forward(chain[0]->as<nn::Linear>()->forward(a[0]))};
  });
  nn::Sequential several(nn::Bilinear(3, 3, 4), nn::Functional(torch::tanh), nn::Linear(4, 2));
  report_layer("Sequential", *several, {x({4, 3}), y({4, 3})},
               [&](const List& a) { return List{several->forward(a[0], a[1])}; });
}
