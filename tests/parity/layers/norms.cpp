// Normalisations: in training and in evaluation, with and without parameters and statistics.
#include "layers.h"

using namespace parity;

namespace {

// Two batches in training, so that the running statistics are updated twice, then one in
// evaluation.
template <class Holder>
void trained_and_evaluated(const std::string& name, Holder layer, const Tensor& input) {
  run_layer(name, layer, input);
  layer->zero_grad();
  run_layer(name + " again", layer, input * 2 + 1);
  layer->zero_grad();
  layer->eval();
  run_layer(name + " evaluated", layer, input);
}

}  // namespace

PARITY(layers_batch_norms) {
  const Tensor row = x({5, 3}), line = x({4, 3, 5}), image = x({3, 3, 4, 2}),
               volume = x({2, 3, 2, 3, 2});
  using Options = nn::BatchNormOptions;
  trained_and_evaluated("BatchNorm1d of rows", nn::BatchNorm1d(3), row);
  trained_and_evaluated("BatchNorm1d",
                        nn::BatchNorm1d(nn::BatchNorm1dOptions(3).eps(1e-3).momentum(0.4)), line);
  trained_and_evaluated("BatchNorm2d", nn::BatchNorm2d(3), image);
  trained_and_evaluated("BatchNorm3d", nn::BatchNorm3d(nn::BatchNorm3dOptions(3)), volume);
  trained_and_evaluated("without parameters",
                        nn::BatchNorm2d(nn::BatchNorm2dOptions(3).affine(false)), image);
  trained_and_evaluated("without statistics",
                        nn::BatchNorm2d(Options(3).track_running_stats(false)), image);
  trained_and_evaluated("of all batches so far",
                        nn::BatchNorm2d(Options(3).momentum(torch::nullopt)), image);
  report_refusal("BatchNorm2d of rows", [&] { nn::BatchNorm2d(3)(row); });
  report_refusal("BatchNorm1d of images", [&] { nn::BatchNorm1d(3)(image); });
  report_refusal("one value for each channel", [] { nn::BatchNorm1d(3)(x({1, 3})); });
}

PARITY(layers_instance_norms) {
  const Tensor line = x({2, 3, 5}), image = x({2, 3, 4, 2}), volume = x({2, 3, 2, 3, 2});
  using Options = nn::InstanceNormOptions;
  trained_and_evaluated("InstanceNorm1d", nn::InstanceNorm1d(nn::InstanceNorm1dOptions(3)), line);
  trained_and_evaluated("InstanceNorm2d with parameters",
                        nn::InstanceNorm2d(nn::InstanceNorm2dOptions(3).affine(true).eps(1e-3)),
                        image);
  trained_and_evaluated(
      "InstanceNorm3d with all",
      nn::InstanceNorm3d(
          nn::InstanceNorm3dOptions(3).affine(true).track_running_stats(true).momentum(0.3)),
      volume);
  trained_and_evaluated("InstanceNorm2d with statistics",
                        nn::InstanceNorm2d(Options(3).track_running_stats(true)), image);
}

PARITY(layers_layer_and_group_norms) {
  run_layer("LayerNorm", nn::LayerNorm(nn::LayerNormOptions({3})), x({2, 4, 3}));
  run_layer("LayerNorm of two dims", nn::LayerNorm(nn::LayerNormOptions({4, 3}).eps(1e-3)),
            x({2, 4, 3}));
  run_layer("LayerNorm without parameters",
            nn::LayerNorm(nn::LayerNormOptions({3}).elementwise_affine(false)), x({2, 4, 3}));
  run_layer("GroupNorm", nn::GroupNorm(2, 4), x({2, 4, 3}));
  run_layer("GroupNorm of one group", nn::GroupNorm(nn::GroupNormOptions(1, 4).eps(1e-3)),
            x({2, 4, 3, 2}));
  run_layer("GroupNorm without parameters", nn::GroupNorm(nn::GroupNormOptions(4, 4).affine(false)),
            x({3, 4, 7}));
  run_layer("LocalResponseNorm", nn::LocalResponseNorm(2), x({2, 5, 3}));
  run_layer("LocalResponseNorm of options",
            nn::LocalResponseNorm(nn::LocalResponseNormOptions(3).alpha(0.4).beta(0.6).k(1.5)),
            x({2, 5, 3, 2}));
  report_refusal("groups that do not divide", [] { nn::GroupNorm(3, 4)(x({2, 4, 3})); });
  report_refusal("another shape", [] { nn::LayerNorm(nn::LayerNormOptions({4}))(x({2, 4, 3})); });
}
