// Calls on operands that are reshaped to matrices and images, one row of a table each, and
// recurrent networks.
#include <ambit/nn/functional/padding.h>
#include <ambit/nn/functional/recurrent.h>
#include <ambit/ops/conv.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/images.h>
#include <ambit/ops/linalg.h>
#include <ambit/ops/matmul.h>
#include <ambit/ops/norm.h>
#include <ambit/ops/pool.h>
#include <ambit/ops/products.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include "generator.h"

namespace fuzz {

using namespace ambit;
namespace F = nn::functional;

namespace {

Tensor& slot(State& s, int i) { return s.slots[static_cast<size_t>(i)]; }

// A symmetric matrix with eigenvalues between 1 and 10: torch_oracle.py's spd.
Tensor spd(const Tensor& x) {
  const Tensor a = tanh(x.reshape(-1).narrow(0, 0, 9).reshape({3, 3}));
  return matmul(a, a.t()) + eye(3, x.options());
}
using Matrix = Tensor (*)(const Tensor& m);
const std::vector<std::pair<const char*, Matrix>> kMatrices{
    {"torch.linalg.inv", [](const Tensor& m) { return linalg_inv(m); }},
    {"torch.linalg.det", [](const Tensor& m) { return linalg_det(m); }},
    {"torch.logdet", [](const Tensor& m) { return logdet(m); }},
    {"torch.linalg.cholesky", [](const Tensor& m) { return linalg_cholesky(m); }},
    {"torch.linalg.svdvals", [](const Tensor& m) { return linalg_svdvals(m); }},
    {"torch.linalg.pinv", [](const Tensor& m) { return linalg_pinv(m); }},
    {"torch.linalg.norm", [](const Tensor& m) { return linalg_norm(m); }},
    {"torch.matrix_exp", [](const Tensor& m) { return matrix_exp(m / 4); }},
    {"(lambda m: torch.linalg.matrix_power(m, 3))",
     [](const Tensor& m) { return linalg_matrix_power(m, 3); }},
    {"(lambda m: torch.linalg.solve(m, m.flip([0])))",
     [](const Tensor& m) { return linalg_solve(m, m.flip({0})); }},
    {"(lambda m: torch.linalg.solve_triangular(m, m.flip([0]), upper=True))",
     [](const Tensor& m) { return linalg_solve_triangular(m, m.flip({0}), true); }},
    {"(lambda m: torch.linalg.qr(m)[1].abs())",
     [](const Tensor& m) { return abs(std::get<1>(linalg_qr(m))); }},
    {"(lambda m: torch.linalg.eigvalsh(m).detach())",
     [](const Tensor& m) { return linalg_eigvalsh(m).detach(); }},
    {"(lambda m: torch.trace(torch.chain_matmul(m, m, m)))",
     [](const Tensor& m) {
       return trace(chain_matmul({m, m, m}));
     }},
};

// torch_oracle.py's recurrent.
Tensor recurrent(const std::string& kind, const Tensor& x) {
  const TensorOptions o = x.options();
  const Tensor in = tanh(x.reshape(-1).narrow(0, 0, 12).reshape({2, 2, 3}));
  const int64_t gates = kind == "lstm" ? 4 : kind == "gru" ? 3 : 1;
  const auto wave = [&](IntArrayRef sizes, double k) {
    const int64_t n = empty(sizes, kMeta).numel();
    return sin(arange(n, TensorOptions(kFloat64).device(o.device())) * k)
        .to(o.dtype())
        .reshape(sizes);
  };
  const std::vector<Tensor> w{wave({gates * 2, 3}, 0.7), wave({gates * 2, 2}, 0.9),
                              wave({gates * 2}, 0.3), wave({gates * 2}, 0.5)};
  const Tensor h = wave({1, 2, 2}, 1.1), c = wave({1, 2, 2}, 1.3);
  if (kind == "lstm") return std::get<0>(lstm(in, {h, c}, w, true, 1, 0, true, false, false));
  if (kind == "gru") return std::get<0>(gru(in, h, w, true, 1, 0, true, false, true));
  return std::get<0>(rnn_tanh(in, h, w, true, 1, 0, true, false, false));
}

using Image = Tensor (*)(const Tensor& x);
struct ImageRow {
  const char* python;  // {x}: [1,2,H,W], H and W at least 2
  Image run;
  bool is_exact = false;
};
const std::vector<ImageRow> kImages{
    {"F.interpolate({x}, scale_factor=2)",
     [](const Tensor& x) {
       return upsample_nearest2d(x, {x.size(2) * 2, x.size(3) * 2}, 2., 2.);
     }},
    {"F.interpolate({x}, size=(3, 5), mode='bilinear', align_corners=False)",
     [](const Tensor& x) {
       return upsample_bilinear2d(x, {3, 5}, false);
     }},
    {"F.interpolate({x}, size=(5, 3), mode='bilinear', align_corners=True)",
     [](const Tensor& x) {
       return upsample_bilinear2d(x, {5, 3}, true);
     }},
    {"F.interpolate({x}, size=(4, 3), mode='bicubic', align_corners=False)",
     [](const Tensor& x) {
       return upsample_bicubic2d(x, {4, 3}, false);
     }},
    {"F.adaptive_avg_pool2d({x}, (2, 1))",
     [](const Tensor& x) {
       return adaptive_avg_pool2d(x, {2, 1});
     }},
    {"F.avg_pool2d({x}, 2, 1, 1, count_include_pad=False)",
     [](const Tensor& x) {
       PoolParams p;
       p.kernel = {2, 2};
       p.stride = {1, 1};
       p.padding = {1, 1};
       p.count_include_pad = false;
       return avg_pool2d(x, p);
     }},
    {"F.group_norm({x}, 2)", [](const Tensor& x) { return group_norm(x, 2); }},
    {"F.batch_norm({x}, None, None, training=True)",
     [](const Tensor& x) {
       return batch_norm(x, {}, {}, {}, {}, BatchNormParams{.training = true});
     }},
    {"F.unfold({x}, 2, padding=1)", [](const Tensor& x) { return im2col(x, 2, 1, 1, 1); }, true},
    {"F.pixel_unshuffle({x}[..., :2, :2], 2).clone()",
     [](const Tensor& x) { return F::pixel_unshuffle(x.slice(2, 0, 2).slice(3, 0, 2), 2).clone(); },
     true},
    {"F.pad({x}, (1, 1, 1, 1), mode='reflect')",
     [](const Tensor& x) {
       return F::pad(x, {1, 1, 1, 1}, PadMode::reflect);
     },
     true},
    {"F.pad({x}, (1, 0, 0, 2), mode='replicate')",
     [](const Tensor& x) {
       return F::pad(x, {1, 0, 0, 2}, PadMode::replicate);
     },
     true},
    {"F.conv_transpose2d({x}, {x}[:, :, :2, :2].reshape(2, 1, 2, 2).detach())",
     [](const Tensor& x) {
       return conv_transpose2d(x, x.slice(2, 0, 2).slice(3, 0, 2).reshape({2, 1, 2, 2}).detach());
     }},
    {"F.conv1d({x}[0], {x}[0][:, :, :2].detach())",
     [](const Tensor& x) { return conv1d(x[0], x[0].slice(2, 0, 2).detach()); }},
};

}  // namespace

void Generator::of_matrix() {
  const Pick few = finite_floats(exact());
  const int x = pick([&](int i) { return few(i) && at(i).numel() >= 9; }, nullptr);
  if (x < 0 || at(x).numel() < 9) return;
  const auto& [python, run] = random_.choose(kMatrices);
  const std::string scale = std::string(python) == "torch.matrix_exp" ? " / 4" : "";
  add(fmt::format("{}(spd(r[{}]){})", python, x, scale),
      [=, run = run](State& s) { return run(spd(slot(s, x))); }, Kind::smooth, {x});
}

void Generator::of_image() {
  const Pick few = finite_floats(exact());
  const int x = pick([&](int i) { return few(i) && at(i).numel() >= 8; }, nullptr);
  if (x < 0 || at(x).numel() < 8) return;
  // Two channels, with rows of the width, which is 2 or 3.
  const int64_t n = at(x).numel(), W = n % 3 == 0 && n >= 12 ? 3 : 2, H = n / 2 / W;
  const Dims as{1, 2, H, W};
  const int image =
      add(fmt::format("r[{}].reshape(-1)[:{}].reshape({})", x, 2 * H * W, list_text(as)),
          [=](State& s) { return slot(s, x).reshape(-1).narrow(0, 0, 2 * H * W).reshape(as); },
          Kind::exact, {x});
  const auto& row = random_.choose(kImages);
  add(fmt::format(fmt::runtime(row.python), fmt::arg("x", slot_text(image))),
      [=, run = row.run](State& s) { return run(slot(s, image)); },
      row.is_exact ? Kind::exact : Kind::smooth, {image});
}

void Generator::of_sequence() {
  static const std::vector<std::string> kKinds{"lstm", "gru", "rnn_tanh"};
  const Pick few = finite_floats(exact());
  const int x = pick([&](int i) { return few(i) && at(i).numel() >= 12; }, nullptr);
  if (x < 0 || at(x).numel() < 12) return;
  const std::string kind = random_.choose(kKinds);
  add(fmt::format("recurrent('{}', r[{}])", kind, x),
      [=](State& s) { return recurrent(kind, slot(s, x)); }, Kind::smooth, {x});
}

}  // namespace fuzz
