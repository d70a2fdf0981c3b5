// GradScaler. One pass over the gradients, on their device, divides them by the scale and checks
// that all are finite; one number per device and dtype is copied to the host.
#include <ambit/optim/grad_scaler.h>

#include <ambit/autograd.h>
#include <ambit/backend/kernels.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "scheduler_values.h"

namespace ambit::optim {
namespace {

float rounded(double scale) { return static_cast<float>(scale); }

void check_scale(const char* what, double scale) {
  if (scale > 0 && std::isfinite(rounded(scale)) && rounded(scale) > 0) return;
  throw Error(fmt::format("GradScaler: expected {} positive and finite, got {}", what, scale));
}

std::vector<Tensor> gradients(const Optimizer& optimizer) {
  std::vector<Tensor> grads;
  for (const Tensor& p : optimizer.parameters()) {
    if (p.grad().defined()) grads.push_back(p.grad().detach());
  }
  return grads;
}

// Multiply all gradients by `factor` in place. Return whether they were finite.
bool unscale(const std::vector<Tensor>& grads, double factor) {
  struct Batch {  // of one device and dtype
    std::vector<Tensor> grads, rows;
    Tensor found;
  };
  std::map<std::tuple<DeviceKind, int, DType>, Batch> batches;
  for (const Tensor& g : grads) {
    Batch& batch = batches[{g.device().kind(), g.device().index(), g.dtype()}];
    batch.grads.push_back(g);
    const Tensor& row = batch.rows.emplace_back(g.contiguous());
    if (!row.is_meta()) row.storage()->make_row_major();
    if (!batch.found.defined()) batch.found = zeros({}, row.options().dtype(kFloat32));
  }
  // Nothing is allocated below this line, so the updates cannot fail half-way for lack of memory.
  for (auto& [key, batch] : batches) {
    kernels::unscale(batch.rows, batch.found, factor);
    for (size_t i = 0; i < batch.rows.size(); ++i) {
      Tensor& g = batch.grads[i];
      if (batch.rows[i].is_same(g)) {
        g.bump_version();
      } else {
        g.copy_(batch.rows[i]);
      }
    }
  }
  bool finite = true;
  for (const auto& [key, batch] : batches) finite &= batch.found.item<float>() == 0;
  return finite;
}

}  // namespace

GradScaler::GradScaler(const Options& options)
    : options_(options), scale_(rounded(options.init_scale())) {
  check(options);
}

void GradScaler::check(const Options& options) {
  check_scale("init_scale", options.init_scale());
  if (!(options.growth_factor() > 1)) {
    throw Error(
        fmt::format("GradScaler: expected growth_factor above 1, got {}", options.growth_factor()));
  }
  if (!(options.backoff_factor() > 0 && options.backoff_factor() < 1)) {
    throw Error(fmt::format("GradScaler: expected backoff_factor in (0, 1), got {}",
                            options.backoff_factor()));
  }
  if (options.growth_interval() < 1) {
    throw Error(fmt::format("GradScaler: expected growth_interval of at least 1, got {}",
                            options.growth_interval()));
  }
}

void GradScaler::change(const Options& options) {
  check(options);
  options_ = options;
}
void GradScaler::set_growth_factor(double v) { change(Options(options_).growth_factor(v)); }
void GradScaler::set_backoff_factor(double v) { change(Options(options_).backoff_factor(v)); }
void GradScaler::set_growth_interval(int64_t n) { change(Options(options_).growth_interval(n)); }

Tensor GradScaler::scale(const Tensor& loss) {
  if (!is_enabled()) return loss;
  if (!loss.defined()) throw Error("GradScaler: expected a loss, got an undefined tensor");
  was_used_ = true;
  const DType dtype = promote_types(loss.dtype(), kFloat32);
  return loss.to(dtype) * scale_;
}

std::vector<Tensor> GradScaler::scale(TensorList losses) {
  std::vector<Tensor> scaled;
  for (const Tensor& loss : losses) scaled.push_back(scale(loss));
  return scaled;
}

void GradScaler::expect_scaled(const char* call) const {
  if (was_used_) return;
  throw Error(fmt::format("GradScaler: expected scale() of a loss before {}(), got none", call));
}

void GradScaler::unscale_(Optimizer& optimizer) {
  if (!is_enabled()) return;
  expect_scaled("unscale_");
  OfOptimizer& of = optimizers_[optimizer.id()];
  if (of.stage == Stage::unscaled) {
    throw Error(
        "GradScaler: expected one unscale_() of an optimizer before update(), got a second");
  }
  if (of.stage == Stage::stepped) {
    throw Error("GradScaler: expected unscale_() before step(), got it after");
  }
  const NoGradGuard no_grad;
  const std::vector<Tensor> grads = gradients(optimizer);
  for (const Tensor& g : grads) {
    if (g.dtype() == kFloat16) {
      throw DTypeError(
          "GradScaler: expected gradients of float32, got float16; keep the parameters in float32 "
          "and use an AutocastGuard");
    }
  }
  of.has_gradients = !grads.empty();
  of.all_finite = unscale(grads, 1 / scale_);
  of.stage = Stage::unscaled;
}

bool GradScaler::step(Optimizer& optimizer) {
  if (!is_enabled()) {
    optimizer.step();
    return true;
  }
  expect_scaled("step");
  if (optimizers_[optimizer.id()].stage == Stage::stepped) {
    throw Error("GradScaler: expected one step() of an optimizer before update(), got a second");
  }
  if (optimizers_[optimizer.id()].stage == Stage::ready) unscale_(optimizer);
  OfOptimizer& of = optimizers_[optimizer.id()];
  if (!of.has_gradients) {
    throw Error("GradScaler: expected an optimizer with gradients, got one without any");
  }
  if (of.all_finite) optimizer.step();
  of.stage = Stage::stepped;
  return of.all_finite;
}

void GradScaler::update() {
  if (!is_enabled()) return;
  expect_scaled("update");
  bool any = false, finite = true;
  for (const auto& [id, of] : optimizers_) {
    any = any || of.has_gradients;
    finite = finite && of.all_finite;
  }
  if (!any) {
    throw Error(
        "GradScaler: expected unscale_() or step() of an optimizer before update(), got none");
  }
  if (!finite) {
    scale_ = rounded(scale_ * options_.backoff_factor());
    growth_tracker_ = 0;
  } else if (++growth_tracker_ == options_.growth_interval()) {
    const float grown = rounded(scale_ * options_.growth_factor());
    if (std::isfinite(grown)) scale_ = grown;
    growth_tracker_ = 0;
  }
  optimizers_.clear();
}

void GradScaler::update(double new_scale) {
  if (!is_enabled()) return;
  check_scale("a new scale", new_scale);
  scale_ = rounded(new_scale);
  optimizers_.clear();
}

Value GradScaler::checkpoint() const {
  if (!is_enabled()) return Value::dict({});
  return Value::dict({{"scale", scale_},
                      {"growth_factor", options_.growth_factor()},
                      {"backoff_factor", options_.backoff_factor()},
                      {"growth_interval", options_.growth_interval()},
                      {"_growth_tracker", growth_tracker_}});
}

void GradScaler::load_checkpoint(const Value& checkpoint) {
  if (!is_enabled()) return;
  if (checkpoint.entries().empty()) {
    throw Error("GradScaler: expected a checkpoint of an enabled one, got an empty one");
  }
  Options loaded = options_;
  loaded.growth_factor(checkpoint["growth_factor"].to_double());
  loaded.backoff_factor(checkpoint["backoff_factor"].to_double());
  loaded.growth_interval(count_of(checkpoint, "growth_interval", 1));
  check(loaded);
  const double scale = checkpoint["scale"].to_double();
  check_scale("scale", scale);
  growth_tracker_ = count_of(checkpoint, "_growth_tracker");
  scale_ = rounded(scale);
  options_ = loaded;
}

}  // namespace ambit::optim
