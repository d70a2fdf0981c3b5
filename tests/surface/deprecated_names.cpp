// Uses each deprecated name. deprecated_names_test compiles this file and expects the warnings.
#include <ambit/nn/device_mismatches.h>
#include <ambit/nn/linear.h>

ambit::nn::Stray copy(const ambit::nn::DeviceMismatch& mismatch) { return mismatch; }

size_t count(const ambit::nn::Linear& net, const ambit::optim::Optimizer& optimizer) {
  return ambit::nn::find_strays(net).size() + ambit::nn::find_strays(net, optimizer).size();
}
