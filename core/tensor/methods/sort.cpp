// Tensor methods that call the functions of ops/sort.h.
#include <ambit/ops/random.h>
#include <ambit/ops/sort.h>

namespace ambit {

std::tuple<Tensor, Tensor> Tensor::sort(int64_t dim, bool descending) const {
  return ambit::sort(*this, dim, descending);
}
std::tuple<Tensor, Tensor> Tensor::sort(std::optional<bool> stable, int64_t dim,
                                        bool descending) const {
  return ambit::sort(*this, stable, dim, descending);
}
Tensor Tensor::argsort(int64_t dim, bool descending) const {
  return ambit::argsort(*this, dim, descending);
}
Tensor Tensor::msort() const { return ambit::msort(*this); }
std::tuple<Tensor, Tensor> Tensor::topk(int64_t k, int64_t dim, bool largest, bool sorted) const {
  return ambit::topk(*this, k, dim, largest, sorted);
}
std::tuple<Tensor, Tensor> Tensor::kthvalue(int64_t k, int64_t dim, bool keepdim) const {
  return ambit::kthvalue(*this, k, dim, keepdim);
}
Tensor Tensor::median() const { return ambit::median(*this); }
std::tuple<Tensor, Tensor> Tensor::median(int64_t dim, bool keepdim) const {
  return ambit::median(*this, dim, keepdim);
}
Tensor Tensor::nanmedian() const { return ambit::nanmedian(*this); }
std::tuple<Tensor, Tensor> Tensor::nanmedian(int64_t dim, bool keepdim) const {
  return ambit::nanmedian(*this, dim, keepdim);
}
std::tuple<Tensor, Tensor> Tensor::mode(int64_t dim, bool keepdim) const {
  return ambit::mode(*this, dim, keepdim);
}
Tensor Tensor::bincount(const Tensor& weights, int64_t minlength) const {
  return ambit::bincount(*this, weights, minlength);
}
Tensor Tensor::histc(int64_t bins, const Scalar& min, const Scalar& max) const {
  return ambit::histc(*this, bins, min, max);
}
std::tuple<Tensor, Tensor> Tensor::histogram(const Tensor& bins, const Tensor& weight,
                                             bool density) const {
  return ambit::histogram(*this, bins, weight, density);
}
std::tuple<Tensor, Tensor> Tensor::histogram(int64_t bins, std::optional<ArrayRef<double>> range,
                                             const Tensor& weight, bool density) const {
  return ambit::histogram(*this, bins, range, weight, density);
}
Tensor Tensor::quantile(const Tensor& q, std::optional<int64_t> dim, bool keepdim,
                        std::string_view interpolation) const {
  return ambit::quantile(*this, q, dim, keepdim, interpolation);
}
Tensor Tensor::quantile(double q, std::optional<int64_t> dim, bool keepdim,
                        std::string_view interpolation) const {
  return ambit::quantile(*this, q, dim, keepdim, interpolation);
}
Tensor Tensor::nanquantile(const Tensor& q, std::optional<int64_t> dim, bool keepdim,
                           std::string_view interpolation) const {
  return ambit::nanquantile(*this, q, dim, keepdim, interpolation);
}
Tensor Tensor::nanquantile(double q, std::optional<int64_t> dim, bool keepdim,
                           std::string_view interpolation) const {
  return ambit::nanquantile(*this, q, dim, keepdim, interpolation);
}
Tensor Tensor::multinomial(int64_t num_samples, bool replacement,
                           const std::optional<Generator>& generator) const {
  return ambit::multinomial(*this, num_samples, replacement, generator);
}

}  // namespace ambit
