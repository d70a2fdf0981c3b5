// Operators: detection.
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/matmul.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "operators.h"

namespace ambit::graph::onnx {
namespace {

struct Box {
  double y1, x1, y2, x2;
  double area() const { return (y2 - y1) * (x2 - x1); }
};

// Four numbers describe a box: two opposite corners (y, x), or the centre (x, y), width and height.
Box box_of(const float* v, bool is_centre) {
  const double a = v[0], b = v[1], c = v[2], d = v[3];
  if (is_centre) return {b - d / 2, a - c / 2, b + d / 2, a + c / 2};
  return {std::min(a, c), std::min(b, d), std::max(a, c), std::max(b, d)};
}

double overlap(const Box& a, const Box& b) {
  const double h = std::min(a.y2, b.y2) - std::max(a.y1, b.y1);
  const double w = std::min(a.x2, b.x2) - std::max(a.x1, b.x1);
  if (h <= 0 || w <= 0) return 0;
  return h * w / (a.area() + b.area() - h * w);
}

// boxes [B,N,4], scores [B,C,N]: rows of batch, class and box, by falling score.
Tensor suppressed(const Call& c) {
  const Tensor boxes = c.tensor(0).to(kCPU, kFloat32).contiguous();
  const Tensor scores = c.tensor(1).to(kCPU, kFloat32).contiguous();
  if (boxes.dim() != 3 || boxes.size(2) != 4 || scores.dim() != 3 ||
      scores.size(0) != boxes.size(0) || scores.size(2) != boxes.size(1)) {
    throw ShapeError(fmt::format("expected boxes [B,N,4] and scores [B,C,N], got {} and {}",
                                 str(boxes.sizes()), str(scores.sizes())));
  }
  const int64_t most = c.has(2) ? host_integer(c, 2) : 0, n = boxes.size(1);
  const auto limit = [&](size_t i, double without) {
    const std::vector<double> given = host_reals(c, i);
    return given.empty() ? without : given[0];
  };
  const double iou = limit(3, 0), least = limit(4, -INFINITY);
  std::vector<int64_t> rows;
  for (int64_t batch = 0; batch < boxes.size(0); ++batch) {
    for (int64_t k = 0; k < scores.size(1); ++k) {
      const float* score = scores.data_ptr<float>() + (batch * scores.size(1) + k) * n;
      std::vector<int64_t> order;
      for (int64_t i = 0; i < n; ++i) {
        if (static_cast<double>(score[i]) > least) order.push_back(i);
      }
      std::stable_sort(order.begin(), order.end(),
                       [&](int64_t a, int64_t b) { return score[a] > score[b]; });
      std::vector<Box> kept;
      for (const int64_t i : order) {
        if (std::ssize(kept) >= most) break;
        const Box box = box_of(boxes.data_ptr<float>() + (batch * n + i) * 4, c.flag(5));
        const auto hides = [&](const Box& other) { return overlap(box, other) > iou; };
        if (std::any_of(kept.begin(), kept.end(), hides)) continue;
        kept.push_back(box);
        rows.insert(rows.end(), {batch, k, i});
      }
    }
  }
  return tensor(rows).reshape({-1, 3}).to(c.device());
}

// The two elements between which each sample lies, as rows of weights: [samples, size].
std::array<Tensor, 2> corners(double begin, double bin, int64_t bins, int64_t samples,
                              int64_t size) {
  std::array<std::vector<double>, 2> w;
  for (auto& rows : w) rows.assign(static_cast<size_t>(bins * samples * size), 0);
  for (int64_t i = 0; i < bins * samples; ++i) {
    const double part = (static_cast<double>(i % samples) + 0.5) / static_cast<double>(samples);
    double at = begin + (static_cast<double>(i / samples) + part) * bin;
    if (!(at >= -1 && at <= static_cast<double>(size))) continue;  // adds nothing
    at = std::clamp(at, 0.0, static_cast<double>(size - 1));
    const auto low = static_cast<int64_t>(at), high = std::min(low + 1, size - 1);
    const double fraction = at - static_cast<double>(low);
    w[0][static_cast<size_t>(i * size + low)] = 1 - fraction;
    w[1][static_cast<size_t>(i * size + high)] = fraction;
  }
  const auto rows = [&](const std::vector<double>& v) {
    return tensor(v).reshape({bins * samples, size});
  };
  return {rows(w[0]), rows(w[1])};
}

// X [N,C,H,W], rois [R,4] as x1, y1, x2, y2; mode "max": the maximum of the weighted elements.
Tensor aligned(const Call& c) {
  const Tensor& x = c.tensor(0);
  const Dims images = host_integers(c, 2);
  const std::vector<double> rois = host_reals(c, 1);
  const int64_t height = c.integer(5), width = c.integer(6), ratio = c.integer(7);
  const double scale = c.real(8);
  const bool is_half = c.text(3) == "half_pixel", is_mean = c.text(4) == "avg";
  if (x.dim() != 4 || rois.size() != images.size() * 4 || height < 1 || width < 1 ||
      height > INT16_MAX || width > INT16_MAX || ratio < 0 || ratio > INT16_MAX) {
    throw Error("expected X [N,C,H,W], rois [R,4], R batch indices and positive output sizes");
  }
  std::vector<Tensor> out;
  for (size_t r = 0; r < images.size(); ++r) {
    const double shift = is_half ? 0.5 : 0;
    const double x1 = rois[4 * r] * scale - shift, y1 = rois[4 * r + 1] * scale - shift;
    double w = rois[4 * r + 2] * scale - shift - x1, h = rois[4 * r + 3] * scale - shift - y1;
    if (!is_half) {
      w = std::max(w, 1.0);
      h = std::max(h, 1.0);
    }
    if (!(std::abs(w) < 1e6 && std::abs(h) < 1e6)) throw Error("expected finite regions");
    const double bin_h = h / static_cast<double>(height), bin_w = w / static_cast<double>(width);
    const int64_t sy =
        ratio > 0 ? ratio : std::max<int64_t>(1, static_cast<int64_t>(std::ceil(bin_h)));
    const int64_t sx =
        ratio > 0 ? ratio : std::max<int64_t>(1, static_cast<int64_t>(std::ceil(bin_w)));
    const Tensor image = x.select(0, images[r]);
    const auto placed = [&](const Tensor& t) { return t.to(x.device(), x.dtype()); };
    const std::array<Tensor, 2> wy = corners(y1, bin_h, height, sy, x.size(2));
    const std::array<Tensor, 2> wx = corners(x1, bin_w, width, sx, x.size(3));
    const auto sampled = [&](const Tensor& a, const Tensor& b) {
      return matmul(matmul(placed(a), image), placed(b).t())
          .reshape({x.size(1), height, sy, width, sx});
    };
    if (is_mean) {
      out.push_back(mean(sampled(wy[0] + wy[1], wx[0] + wx[1]), {2, 4}));
      continue;
    }
    Tensor most;
    for (const Tensor& a : wy) {
      for (const Tensor& b : wx)
        most = most.defined() ? maximum(most, sampled(a, b)) : sampled(a, b);
    }
    out.push_back(amax(most, {2, 4}));
  }
  if (out.empty()) return zeros({0, x.size(1), height, width}, x.options());
  return stack(out);
}

constexpr Operator kRows[] = {
    // clang-format off
    {{"NonMaxSuppression", "boxes scores max_output_boxes_per_class=None iou_threshold=None "
      "score_threshold=None center_point_box=0", one([](Call& c) { return suppressed(c); })}, 5,
     0b11100},
    {{"RoiAlign", "X rois batch_indices coordinate_transformation_mode=half_pixel mode=avg "
      "output_height=1 output_width=1 sampling_ratio=0 spatial_scale=1.0", one([](Call& c) {
       return aligned(c); })}, 3},
    // clang-format on
};

}  // namespace

constinit const std::span<const Operator> kDetectionOperators = kRows;

}  // namespace ambit::graph::onnx
