// Tensor methods that call the functions of ops/random.h.
#include <ambit/ops/random.h>

#include "written.h"

namespace ambit {

using Stream = std::optional<Generator>;

Tensor& Tensor::uniform_(double from, double to, const Stream& generator) const {
  return written(ambit::uniform_(*this, from, to, generator));
}
Tensor& Tensor::normal_(double mean, double std, const Stream& generator) const {
  return written(ambit::normal_(*this, mean, std, generator));
}
Tensor& Tensor::random_(int64_t from, std::optional<int64_t> to, const Stream& generator) const {
  return written(ambit::random_(*this, from, to, generator));
}
Tensor& Tensor::random_(int64_t to, const Stream& generator) const {
  return written(ambit::random_(*this, to, generator));
}
Tensor& Tensor::random_(const Stream& generator) const {
  return written(ambit::random_(*this, generator));
}
Tensor Tensor::bernoulli(const Stream& generator) const {
  return ambit::bernoulli(*this, generator);
}
Tensor Tensor::bernoulli(double p, const Stream& generator) const {
  return ambit::bernoulli(*this, p, generator);
}
Tensor& Tensor::bernoulli_(double p, const Stream& generator) const {
  return written(ambit::bernoulli_(*this, p, generator));
}
Tensor& Tensor::bernoulli_(const Tensor& p, const Stream& generator) const {
  return written(ambit::bernoulli_(*this, p, generator));
}
Tensor& Tensor::exponential_(double lambd, const Stream& generator) const {
  return written(ambit::exponential_(*this, lambd, generator));
}
Tensor& Tensor::geometric_(double p, const Stream& generator) const {
  return written(ambit::geometric_(*this, p, generator));
}
Tensor& Tensor::cauchy_(double median, double sigma, const Stream& generator) const {
  return written(ambit::cauchy_(*this, median, sigma, generator));
}
Tensor& Tensor::log_normal_(double mean, double std, const Stream& generator) const {
  return written(ambit::log_normal_(*this, mean, std, generator));
}

}  // namespace ambit
