// All layers of a recurrent network, composed of ops: input products for many steps at once, then
// the steps one by one.
#include <ambit/autograd.h>
#include <ambit/detail/repeated_linear.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/index.h>
#include <ambit/ops/random.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "nn/functional/check.h"
#include "quantized_linear.h"
#include "recurrent_step.h"

namespace ambit::nn {

using namespace recurrent;

namespace {

Tensor rows(const Tensor& t, int64_t start, int64_t n) {
  return t.defined() ? t.narrow(0, start, n) : t;
}
Tensor joined(const Tensor& a, const Tensor& b) { return a.defined() ? cat({a, b}, 0) : a; }

/// The rows of each step in [T,B,...], or in packed [n,...].
struct Steps {
  Steps(std::vector<int64_t> rows_of_steps, bool is_packed)
      : rows(std::move(rows_of_steps)), begins(rows.size()), packed(is_packed) {
    std::exclusive_scan(rows.begin(), rows.end(), begins.begin(), int64_t{0});
  }
  size_t count() const { return rows.size(); }
  /// Return the end of the rows of step t.
  int64_t end(size_t t) const { return begins[t] + rows[t]; }

  std::vector<int64_t> rows, begins;  // number of rows of each step, and its first row
  bool packed;
};

/// Input products W_ih x + b_ih [rows, G H] of each step. Without gradients they are computed for a
/// limited number of steps at a time, in either direction, because the products of all steps would
/// be the largest tensor of the network.
class InputProducts {
 public:
  InputProducts(const Tensor& x, const Steps& steps, const Weights& w)
      : x_(x), steps_(steps), w_(w), at_once_(steps.count()) {
    constexpr int64_t kNumbers =
        int64_t{1} << 21;  // not smaller, because each product packs the weights again
    if (GradMode::is_enabled()) return;
    const int64_t of_step = std::max<int64_t>(steps.rows[0] * w.ih.size(0), 1);
    at_once_ = std::min(at_once_, static_cast<size_t>(std::max<int64_t>(kNumbers / of_step, 1)));
  }
  const Tensor& operator()(size_t t) {
    if (t < first_ || t >= first_ + made_.size()) make(t / at_once_ * at_once_);
    return made_[t - first_];
  }

 private:
  void make(size_t first) {
    made_.clear();  // free them before the next allocation
    first_ = first;
    const size_t last = std::min(first + at_once_, steps_.count()) - 1;
    const int64_t begin = steps_.packed ? steps_.begins[first] : static_cast<int64_t>(first);
    const int64_t end = steps_.packed ? steps_.end(last) : static_cast<int64_t>(last) + 1;
    const Tensor x = end - begin == x_.size(0) ? x_ : x_.narrow(0, begin, end - begin);
    const Tensor all = product(x, w_.ih, w_.ih_scale, w_.b_ih);
    const IntArrayRef rows(steps_.rows.data() + first, last - first + 1);
    made_ = rows_apart(steps_.packed ? all : all.flatten(0, 1), rows);
  }

  const Tensor& x_;
  const Steps& steps_;
  const Weights& w_;
  size_t at_once_, first_ = 0;
  std::vector<Tensor> made_;
};

/// The outputs of all steps. Without gradients each output is written directly to the result. The
/// result is in `over`, the memory of the inputs, if `over` is defined.
class Outputs {
 public:
  Outputs(const Steps& steps, const Tensor& over) : steps_(steps) {
    if (GradMode::is_enabled()) {
      each_.resize(steps.count());
    } else if (over.defined()) {
      all_ = steps.packed ? over : over.flatten(0, 1);
    }
  }
  void set(size_t t, const Tensor& h) {
    if (!each_.empty()) {
      each_[t] = h;
      return;
    }
    if (!all_.defined()) all_ = empty({steps_.end(steps_.count() - 1), h.size(1)}, h.options());
    all_.narrow(0, steps_.begins[t], steps_.rows[t]).copy_(h);
  }
  /// Return [T,B,H], or packed [n,H].
  Tensor all() const {
    const auto n = static_cast<int64_t>(steps_.count());
    if (each_.empty()) return steps_.packed ? all_ : all_.unflatten(0, {n, steps_.rows[0]});
    return steps_.packed ? cat(each_, 0) : stack(each_, 0);
  }

 private:
  const Steps& steps_;
  std::vector<Tensor> each_;
  Tensor all_;
};

// Run all steps of one direction of one layer; the number of rows changes between steps because
// sequences are sorted by length. Outputs are in the order of x.
State run_steps(Kind kind, bool relu_step, bool reverse, const Tensor& input, const Steps& all,
                State start, const Weights& w, Outputs& outputs) {
  const size_t steps = all.count();
  const int64_t begin = all.rows[reverse ? steps - 1 : 0];
  InputProducts x(input, all, w);
  State s{rows(start.h, 0, begin), rows(start.c, 0, begin)};
  std::vector<State> ended;
  std::optional<RepeatedLinear> repeated;
  if (!w.hh_scale.defined()) repeated.emplace(w.hh, w.b_hh, steps);
  const auto hidden = [&](const Tensor& h) {
    return repeated ? (*repeated)(h) : linear_int8(h, w.hh, w.hh_scale, w.b_hh);
  };
  for (size_t i = 0; i < steps; ++i) {
    const size_t t = reverse ? steps - 1 - i : i;
    const int64_t before = s.h.size(0), now = all.rows[t];
    if (now < before) {  // some sequences end; only in the forward direction
      ended.push_back({rows(s.h, now, before - now), rows(s.c, now, before - now)});
      s = {rows(s.h, 0, now), rows(s.c, 0, now)};
    } else if (now > before) {  // some sequences begin; only in the backward direction
      s = {joined(s.h, rows(start.h, before, now - before)),
           joined(s.c, rows(start.c, before, now - before))};
    }
    s = step(kind, relu_step, x(t), hidden(s.h), s, w);
    outputs.set(t, s.h);
  }
  for (size_t i = ended.size(); i-- > 0;) s = {joined(s.h, ended[i].h), joined(s.c, ended[i].c)};
  return s;
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> recurrent::run_layers(const Layers& net, const Tensor& input,
                                                         Tensor h, Tensor c,
                                                         const Tensor& batch_sizes) {
  const Kind kind = net.kind;
  const char* op = net.op;
  functional::check_floating(op, input);
  functional::check_same_device(op,
                                {{"input", input}, {"hx", h}, {"cx", c}, {"weights", net.weights}});
  const bool packed = batch_sizes.defined(), single = !packed && input.dim() == 2;
  if (input.dim() != (packed ? 2 : 3) && !single) {
    throw ShapeError(
        fmt::format("{}: expected an input of 2 or 3 dims, got shape {}", op, str(input.sizes())));
  }
  if (input.size(-1) != net.input_size) {
    throw ShapeError(fmt::format("{}: expected an input with input_size {} last, got shape {}", op,
                                 net.input_size, str(input.sizes())));
  }
  Tensor x = single                       ? input.unsqueeze(1)
             : !packed && net.batch_first ? input.transpose(0, 1)
                                          : input;
  std::vector<int64_t> sizes;
  if (packed) {
    sizes.assign(batch_sizes.data_ptr<int64_t>(),
                 batch_sizes.data_ptr<int64_t>() + batch_sizes.numel());
  }
  if (packed ? sizes.empty() : x.size(0) == 0) {
    throw ShapeError(
        fmt::format("{}: expected at least one step, got shape {}", op, str(input.sizes())));
  }
  const int64_t batch = packed ? sizes.front() : x.size(1);
  if (!packed) sizes.assign(static_cast<size_t>(x.size(0)), batch);
  const Steps steps(std::move(sizes), packed);
  const int64_t directions = net.bidirectional ? 2 : 1, proj = net.proj_size;
  const int64_t layers = net.num_layers * directions;
  const int64_t out_size = proj > 0 ? proj : net.hidden_size;
  const auto state = [&](const char* what, Tensor& s, int64_t size) {
    if (!s.defined()) {
      s = zeros({layers, batch, size}, input.options());
      return;
    }
    check_state(op, what, s, single ? Dims{layers, size} : Dims{layers, batch, size});
    if (single) s = s.unsqueeze(1);
  };
  state("hx", h, out_size);
  if (kind == Kind::lstm) state("cx", c, net.hidden_size);

  std::vector<Tensor> last_h, last_c;
  size_t at = 0;
  for (int64_t layer = 0; layer < net.num_layers; ++layer) {
    std::vector<Tensor> both;
    for (int64_t d = 0; d < directions; ++d) {
      const auto scale = [&](size_t i) { return net.scales.empty() ? Tensor() : net.scales[i]; };
      Weights w{net.weights[at], net.weights[at + 1], {}, {}, {}, scale(at), scale(at + 1), {}};
      at += 2;
      if (net.bias) {
        w.b_ih = net.weights[at];
        w.b_hh = net.weights[at + 1];
        at += 2;
      }
      if (proj > 0) {
        w.hr_scale = scale(at);
        w.hr = net.weights[at++];
      }
      const int64_t i = layer * directions + d;
      Outputs outputs(steps, layer > 0 && directions == 1 ? x : Tensor());
      const State last = run_steps(kind, net.relu, d == 1, x, steps,
                                   {h[i], kind == Kind::lstm ? c[i] : Tensor()}, w, outputs);
      both.push_back(outputs.all());
      last_h.push_back(last.h);
      if (kind == Kind::lstm) last_c.push_back(last.c);
    }
    x = directions == 2 ? cat(both, -1) : both[0];
    if (net.dropout > 0 && layer + 1 < net.num_layers) {
      x = dropout(x, net.dropout, net.training);
    }
  }
  if (single) {
    x = x.squeeze(1);
  } else if (!packed && net.batch_first) {
    x = x.transpose(0, 1);
  }
  const auto stacked = [&](const std::vector<Tensor>& s) {
    if (s.empty()) return Tensor();
    const Tensor all = stack(s, 0);
    return single ? all.squeeze(1) : all;
  };
  return {x, stacked(last_h), stacked(last_c)};
}

}  // namespace ambit::nn
