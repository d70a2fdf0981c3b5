// Activations, dropouts: with their options, in place too.
#include "layers.h"

using namespace parity;

namespace {

// Inputs from -3 to 3, without the kinks of any of the functions.
Tensor wide(torch::IntArrayRef sizes = {2, 4, 3}) { return x(sizes) * 3 + 0.01; }

template <class Holder>
Holder evaluated(Holder layer) {
  layer->eval();
  return layer;
}

}  // namespace

PARITY(layers_activations) {
  // Exact in float32, because libtorch's gradient rounds it to float32.
  run_layer("CELU", nn::CELU(nn::CELUOptions().alpha(0.75)), wide());
  run_layer("ELU", nn::ELU(nn::ELUOptions().alpha(1.3)), wide());
  run_layer("GELU", nn::GELU(), wide());
  run_layer("GELU by tanh", nn::GELU(nn::GELUOptions().approximate("tanh")), wide());
  run_layer("GLU", nn::GLU(), wide({3, 4}));
  run_layer("GLU of dim 1", nn::GLU(nn::GLUOptions(1)), wide());
  run_layer("Hardshrink", nn::Hardshrink(nn::HardshrinkOptions(0.7)), wide());
  run_layer("Hardtanh", nn::Hardtanh(nn::HardtanhOptions().min_val(-0.8).max_val(1.9)), wide());
  run_layer("LeakyReLU", nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(0.2)), wide());
  run_layer("LogSigmoid", nn::LogSigmoid(), wide());
  run_layer("Mish", nn::Mish(), wide());
  run_layer("PReLU", nn::PReLU(), wide());
  run_layer("PReLU of channels", nn::PReLU(nn::PReLUOptions().num_parameters(4).init(0.3)), wide());
  run_layer("ReLU", nn::ReLU(), wide());
  run_layer("ReLU6", nn::ReLU6(), wide() * 4);
  run_layer("RReLU evaluated", evaluated(nn::RReLU(nn::RReLUOptions().lower(0.1).upper(0.5))),
            wide());
  run_layer("RReLU of one slope", nn::RReLU(nn::RReLUOptions().lower(0.3).upper(0.3)), wide());
  run_layer("SELU", nn::SELU(), wide());
  run_layer("Sigmoid", nn::Sigmoid(), wide());
  run_layer("SiLU", nn::SiLU(), wide());
  run_layer("Softplus", nn::Softplus(nn::SoftplusOptions().beta(1.5).threshold(2)), wide());
  run_layer("Softshrink", nn::Softshrink(nn::SoftshrinkOptions(0.4)), wide());
  run_layer("Softsign", nn::Softsign(), wide());
  run_layer("Tanh", nn::Tanh(), wide());
  run_layer("Tanhshrink", nn::Tanhshrink(), wide());
  run_layer("Threshold", nn::Threshold(0.3, -2), wide());
}

PARITY(layers_softmax) {
  run_layer("Softmax", nn::Softmax(1), wide());
  run_layer("Softmax of the first", nn::Softmax(nn::SoftmaxOptions(0)), wide());
  run_layer("Softmin", nn::Softmin(nn::SoftminOptions(-1)), wide());
  run_layer("LogSoftmax", nn::LogSoftmax(nn::LogSoftmaxOptions(-2)), wide());
  run_layer("Softmax2d", nn::Softmax2d(), wide({2, 3, 2, 2}));
  report_refusal("Softmax2d of two dims", [] { nn::Softmax2d()(x()); });
}

PARITY(layers_in_place) {
  run_layer("CELU", nn::CELU(nn::CELUOptions().inplace(true)), wide());
  run_layer("ELU", nn::ELU(nn::ELUOptions().inplace(true)), wide());
  run_layer("Hardtanh", nn::Hardtanh(nn::HardtanhOptions().inplace(true)), wide());
  run_layer("LeakyReLU", nn::LeakyReLU(nn::LeakyReLUOptions().inplace(true)), wide());
  run_layer("ReLU", nn::ReLU(nn::ReLUOptions(true)), wide());
  run_layer("ReLU6", nn::ReLU6(nn::ReLU6Options(true)), wide() * 4);
  run_layer("RReLU", evaluated(nn::RReLU(nn::RReLUOptions().inplace(true))), wide());
  run_layer("SELU", nn::SELU(nn::SELUOptions(true)), wide());
  run_layer("Threshold", nn::Threshold(nn::ThresholdOptions(0.3, 1.2).inplace(true)), wide());
  run_layer("Dropout", nn::Dropout(nn::DropoutOptions(0).inplace(true)), wide());
}

// The dropped elements are random and differ on purpose; with p 0 and 1 they do not.
PARITY(layers_dropouts) {
  const Tensor images = wide({2, 3, 2, 2}), volumes = wide({1, 2, 2, 2, 2});
  for (const double p : {0., 1.}) {
    run_layer("Dropout", nn::Dropout(p), wide());
    run_layer("Dropout2d", nn::Dropout2d(nn::Dropout2dOptions(p)), images);
    run_layer("Dropout3d", nn::Dropout3d(nn::Dropout3dOptions(p)), volumes);
    run_layer("AlphaDropout", nn::AlphaDropout(nn::AlphaDropoutOptions(p)), wide());
    run_layer("FeatureAlphaDropout", nn::FeatureAlphaDropout(nn::FeatureAlphaDropoutOptions(p)),
              images);
  }
  run_layer("Dropout evaluated", evaluated(nn::Dropout(0.4)), wide());
  run_layer("Dropout2d evaluated", evaluated(nn::Dropout2d(0.4)), images);
  run_layer("Dropout3d evaluated", evaluated(nn::Dropout3d(0.4)), volumes);
  run_layer("AlphaDropout evaluated", evaluated(nn::AlphaDropout(0.4)), wide());
  run_layer("FeatureAlphaDropout evaluated", evaluated(nn::FeatureAlphaDropout(0.4)), images);
  report_refusal("a share of more than all", [] { nn::Dropout(1.5); });
}
