// TensorFlow's histogram bins, counted like numpy.histogram in torch.utils.tensorboard.
#include "histogram.h"

#include <ambit/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>

namespace ambit::tensorboard {
namespace {

std::vector<double> make_edges() {
  std::vector<double> positive;
  for (double v = 1e-12; v < 1e20; v *= 1.1) positive.push_back(v);
  std::vector<double> edges;
  for (auto v = positive.rbegin(); v != positive.rend(); ++v) edges.push_back(-*v);
  edges.push_back(0);
  edges.insert(edges.end(), positive.begin(), positive.end());
  return edges;
}

// Bin i is [edge i, edge i + 1); the last one includes its right edge.
std::vector<double> count_bins(std::span<const double> values, std::span<const double> edges) {
  std::vector<double> counts(edges.size() - 1);
  for (const double v : values) {
    if (v < edges.front() || v > edges.back()) continue;
    const auto right = std::upper_bound(edges.begin(), edges.end() - 1, v);
    ++counts[static_cast<size_t>(right - edges.begin()) - 1];
  }
  return counts;
}

// Keep the bins from the first to the last non-empty one, and an empty bin before them, whose right
// edge is the left edge of the first.
void set_buckets(Histogram& out, std::span<const double> edges, const std::vector<double>& counts) {
  const auto filled = [](double count) { return count > 0; };
  const auto first = std::find_if(counts.begin(), counts.end(), filled);
  if (first == counts.end()) {
    throw Error(
        fmt::format("add_histogram: expected a value of at most {:.3g} in size, got none among {}",
                    edges.back(), out.count));
  }
  const auto last = std::find_if(counts.rbegin(), counts.rend(), filled).base();
  out.counts = {0};
  out.counts.insert(out.counts.end(), first, last);
  const auto left = edges.begin() + (first - counts.begin());
  out.limits.assign(left, left + std::ssize(out.counts));
}

}  // namespace

Histogram make_histogram(const Tensor& tensor, size_t& left_out) {
  const Tensor doubles = tensor.detach().cpu().to(kFloat64).contiguous();
  const std::span<const double> all(doubles.data_ptr<double>(),
                                    static_cast<size_t>(doubles.numel()));
  if (all.empty()) throw Error("add_histogram: expected at least one element, got none");
  std::vector<double> finite;
  std::span<const double> values = all;
  const auto is_finite = [](double v) { return std::isfinite(v); };
  if (!std::all_of(all.begin(), all.end(), is_finite)) {
    std::copy_if(all.begin(), all.end(), std::back_inserter(finite), is_finite);
    values = finite;
  }
  left_out = all.size() - values.size();
  if (values.empty()) {
    throw Error(
        fmt::format("add_histogram: expected a finite element, got none among {}", all.size()));
  }
  static const std::vector<double> edges = make_edges();
  Histogram out{};
  const auto [min, max] = std::minmax_element(values.begin(), values.end());
  out.min = *min;
  out.max = *max;
  out.count = static_cast<double>(values.size());
  for (const double v : values) {
    out.sum += v;
    out.sum_squares += v * v;
  }
  set_buckets(out, edges, count_bins(values, edges));
  return out;
}

}  // namespace ambit::tensorboard
