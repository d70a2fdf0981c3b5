// Dropout modules.
#include <ambit/nn/dropout.h>
#include <ambit/nn/functional.h>

#include <ostream>

#include "print.h"

namespace ambit::nn {

namespace {

void check(const char* module, const DropoutOptions& options) {
  if (!(options.p() >= 0 && options.p() <= 1)) {
    throw Error(fmt::format("{}: expected p in [0, 1], got {}", module, options.p()));
  }
}

void print(std::ostream& os, const std::string& name, const DropoutOptions& options) {
  os << fmt::format("{}(p={}, inplace={})", name, options.p(), python_bool(options.inplace()));
}

}  // namespace

DropoutImpl::DropoutImpl(double p) : DropoutImpl(DropoutOptions(p)) {}
DropoutImpl::DropoutImpl(const DropoutOptions& opts) : options(opts) { check("Dropout", opts); }

void DropoutImpl::reset() {}

Tensor DropoutImpl::forward(const Tensor& input) {
  return functional::dropout(input, options.p(), is_training(), options.inplace());
}

void DropoutImpl::pretty_print(std::ostream& os) const { print(os, name(), options); }

Dropout2dImpl::Dropout2dImpl(double p) : Dropout2dImpl(Dropout2dOptions(p)) {}
Dropout2dImpl::Dropout2dImpl(const Dropout2dOptions& opts) : options(opts) {
  check("Dropout2d", opts);
}
void Dropout2dImpl::reset() {}
Tensor Dropout2dImpl::forward(const Tensor& input) {
  return functional::dropout2d(input, options.p(), is_training(), options.inplace());
}
void Dropout2dImpl::pretty_print(std::ostream& os) const { print(os, name(), options); }

Dropout3dImpl::Dropout3dImpl(double p) : Dropout3dImpl(Dropout3dOptions(p)) {}
Dropout3dImpl::Dropout3dImpl(const Dropout3dOptions& opts) : options(opts) {
  check("Dropout3d", opts);
}
void Dropout3dImpl::reset() {}
Tensor Dropout3dImpl::forward(const Tensor& input) {
  return functional::dropout3d(input, options.p(), is_training(), options.inplace());
}
void Dropout3dImpl::pretty_print(std::ostream& os) const { print(os, name(), options); }

AlphaDropoutImpl::AlphaDropoutImpl(double p) : AlphaDropoutImpl(AlphaDropoutOptions(p)) {}
AlphaDropoutImpl::AlphaDropoutImpl(const AlphaDropoutOptions& opts) : options(opts) {
  check("AlphaDropout", opts);
}
void AlphaDropoutImpl::reset() {}
Tensor AlphaDropoutImpl::forward(const Tensor& input) {
  return functional::alpha_dropout(input, options.p(), is_training(), options.inplace());
}
void AlphaDropoutImpl::pretty_print(std::ostream& os) const { print(os, name(), options); }

FeatureAlphaDropoutImpl::FeatureAlphaDropoutImpl(double p)
    : FeatureAlphaDropoutImpl(FeatureAlphaDropoutOptions(p)) {}
FeatureAlphaDropoutImpl::FeatureAlphaDropoutImpl(const FeatureAlphaDropoutOptions& opts)
    : options(opts) {
  check("FeatureAlphaDropout", opts);
}
void FeatureAlphaDropoutImpl::reset() {}
Tensor FeatureAlphaDropoutImpl::forward(const Tensor& input) {
  return functional::feature_alpha_dropout(input, options.p(), is_training(), options.inplace());
}
void FeatureAlphaDropoutImpl::pretty_print(std::ostream& os) const { print(os, name(), options); }

}  // namespace ambit::nn
