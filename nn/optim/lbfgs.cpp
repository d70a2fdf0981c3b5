// LBFGS: the iteration. The line search is in line_search.cpp, the state in lbfgs_history.cpp.
#include <ambit/autograd.h>
#include <ambit/backend/op.h>
#include <ambit/detail/memory_errors.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/matmul.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>
#include <ambit/optim/lbfgs.h>
#include <ambit/profiler.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "lbfgs_history.h"
#include "line_search.h"
#include "option_checks.h"
#include "option_values.h"

namespace ambit::optim {

LBFGSOptions::LBFGSOptions(double lr) : lr_(lr) {}

void LBFGSOptions::check() const {
  check_not_negative("LBFGS", {{"lr", lr_},
                               {"max_iter", static_cast<double>(max_iter_)},
                               {"max_eval", static_cast<double>(max_eval_.value_or(0))},
                               {"tolerance_grad", tolerance_grad_},
                               {"tolerance_change", tolerance_change_},
                               {"history_size", static_cast<double>(history_size_)}});
  if (line_search_fn_ && *line_search_fn_ != "strong_wolfe") {
    throw Error(fmt::format("LBFGS: expected \"strong_wolfe\" or no line_search_fn, got \"{}\"",
                            *line_search_fn_));
  }
}

Value::Dict LBFGSOptions::values() const {
  return {{"lr", lr_},
          {"max_iter", max_iter_},
          {"max_eval", max_eval_.value_or(max_iter_ * 5 / 4)},
          {"tolerance_grad", tolerance_grad_},
          {"tolerance_change", tolerance_change_},
          {"history_size", history_size_},
          {"line_search_fn", line_search_fn_},
          {"maximize", maximize_}};
}

void LBFGSOptions::set_values(const Value& dict) {
  LBFGSOptions read = *this;
  read.lr(number(dict, "lr"));
  read.max_iter(option<int64_t>(dict, "max_iter"));
  read.max_eval(option<std::optional<int64_t>>(dict, "max_eval"));
  read.tolerance_grad(number(dict, "tolerance_grad"));
  read.tolerance_change(number(dict, "tolerance_change"));
  read.history_size(option<int64_t>(dict, "history_size"));
  read.line_search_fn(option<std::optional<std::string>>(dict, "line_search_fn"));
  if (dict.find("maximize")) read.maximize(flag(dict, "maximize"));
  *this = read;
}

// As in libtorch, max_eval is computed from the inherited max_iter if neither the group nor the
// defaults give it.
void LBFGSOptions::inherit(const OptimizerOptions& defaults) {
  const LBFGSOptions constructed;
  const auto& from = static_cast<const LBFGSOptions&>(defaults);
  for (const auto option :
       {&LBFGSOptions::lr_, &LBFGSOptions::tolerance_grad_, &LBFGSOptions::tolerance_change_}) {
    inherit_one(this->*option, constructed.*option, from.*option);
  }
  if (!max_eval_) max_eval_ = from.max_eval_.value_or(from.max_iter_ * 5 / 4);
  inherit_one(max_iter_, constructed.max_iter_, from.max_iter_);
  inherit_one(history_size_, constructed.history_size_, from.history_size_);
  inherit_one(line_search_fn_, constructed.line_search_fn_, from.line_search_fn_);
  inherit_one(maximize_, false, from.maximize_);
}

namespace {

double largest(const Tensor& t) { return t.abs().max().item<double>(); }

}  // namespace

/// One call of step().
class LBFGS::Run {
 public:
  Run(const LBFGSOptions& options, const std::vector<Tensor>& params, const LossClosure& closure,
      History& history)
      : options_(options), params_(params), closure_(closure), history_(history) {}

  Tensor run() {
    const Tensor first = evaluate();
    history_.func_evals += 1;
    if (gradient_.numel() == 0 || largest(gradient_) <= options_.tolerance_grad()) return first;
    const int64_t most = options_.max_eval().value_or(options_.max_iter() * 5 / 4);
    for (int64_t n = 1, evaluations = 1; n <= options_.max_iter(); ++n) {
      const double before = loss_;
      if (!iterate(n == options_.max_iter(), evaluations)) break;
      if (evaluations >= most || largest(gradient_) <= options_.tolerance_grad() ||
          largest(history_.d) * std::abs(history_.t) <= options_.tolerance_change() ||
          std::abs(loss_ - before) < options_.tolerance_change()) {
        break;
      }
    }
    return first;
  }

 private:
  // Compute loss_ and gradient_ at the current parameters, both negated to maximise the loss.
  Tensor evaluate() {
    Tensor loss;
    {
      const AutoGradMode on(true);
      loss = closure_();
    }
    if (!loss.defined()) throw Error("LBFGS: expected the closure to return the loss, got none");
    loss_ = loss.item<double>();
    std::vector<Tensor> flat;
    for (const Tensor& p : params_) {
      const Tensor& grad = p.grad();
      if (grad.defined()) check_gradient("lbfgs_step", p, grad);
      flat.push_back(grad.defined() ? grad.detach().reshape({-1})
                                    : zeros({p.numel()}, p.options()));
    }
    gradient_ = cat(flat);
    if (options_.maximize()) {
      loss_ = -loss_;
      gradient_.neg_();
    }
    return loss;
  }

  void move(double t, const Tensor& direction) {
    int64_t from = 0;
    for (const Tensor& p : params_) {
      p.add_(direction.narrow(0, from, p.numel()).view(p.sizes()), t);
      from += p.numel();
    }
  }

  // Run one iteration. Return whether to continue.
  bool iterate(bool is_last, int64_t& evaluations) {
    History& h = history_;
    h.n_iter += 1;
    h.d = h.n_iter == 1 ? gradient_.neg() : newton_direction();
    h.prev_flat_grad = gradient_;
    h.prev_loss = loss_;
    h.t = options_.lr();
    if (h.n_iter == 1) h.t *= std::min(1.0, 1 / gradient_.abs().sum().item<double>());
    const double slope = dot(gradient_, h.d).item<double>();
    if (slope > -options_.tolerance_change()) return false;
    int64_t more = 0;
    if (options_.line_search_fn()) {
      search(slope, more);
    } else {
      move(h.t, h.d);
      if (!is_last) {  // the loss after the last iteration is not used
        evaluate();
        more = 1;
      }
    }
    evaluations += more;
    h.func_evals += more;
    return true;
  }

  void search(double slope, int64_t& evaluations) {
    History& h = history_;
    std::vector<Tensor> x;
    for (const Tensor& p : params_) x.push_back(p.detach().clone());
    const auto at = [&](double t) {
      move(t, h.d);
      evaluate();
      for (size_t i = 0; i < x.size(); ++i) params_[i].copy_(x[i]);
      return Evaluation{loss_, gradient_};
    };
    LinePoint best = strong_wolfe(at, h.d, {0, loss_, slope, gradient_}, h.t,
                                  options_.tolerance_change(), evaluations);
    h.t = best.t;
    loss_ = best.loss;
    gradient_ = std::move(best.gradient);
    move(h.t, h.d);
  }

  // Return minus the gradient times the history's estimate of the inverse Hessian.
  Tensor newton_direction() {
    History& h = history_;
    const Tensor y = gradient_ - h.prev_flat_grad, s = h.d * h.t;
    const double ys = dot(y, s).item<double>();
    if (ys > 1e-10) {
      if (static_cast<int64_t>(h.old_dirs.size()) >= options_.history_size() &&
          !h.old_dirs.empty()) {
        h.old_dirs.pop_front();
        h.old_stps.pop_front();
        h.ro.pop_front();
      }
      h.old_dirs.push_back(y);
      h.old_stps.push_back(s);
      h.ro.push_back(1 / ys);
      h.H_diag = ys / dot(y, y).item<double>();
    }
    const size_t n = h.old_dirs.size();
    std::vector<double> al(n);
    const Tensor q = gradient_.neg();
    for (size_t i = n; i-- > 0;) {
      al[i] = dot(h.old_stps[i], q).item<double>() * h.ro[i];
      q.add_(h.old_dirs[i], -al[i]);
    }
    q.mul_(h.H_diag);
    for (size_t i = 0; i < n; ++i) {
      const double be = dot(h.old_dirs[i], q).item<double>() * h.ro[i];
      q.add_(h.old_stps[i], al[i] - be);
    }
    return q;
  }

  const LBFGSOptions& options_;
  const std::vector<Tensor>& params_;
  const LossClosure& closure_;
  History& history_;
  double loss_ = 0;
  Tensor gradient_;  // of all parameters, [n]
};

namespace {

std::vector<OptimizerParamGroup> one(const std::vector<OptimizerParamGroup>& groups) {
  if (groups.size() != 1) {
    throw Error(fmt::format("LBFGS: expected one parameter group, got {}", groups.size()));
  }
  return groups;
}

}  // namespace

LBFGS::LBFGS(const std::vector<Tensor>& params, const LBFGSOptions& defaults)
    : LBFGS(std::vector<OptimizerParamGroup>{params}, defaults) {}
LBFGS::LBFGS(const std::vector<OptimizerParamGroup>& groups, const LBFGSOptions& defaults)
    : Optimizer(one(groups), defaults.clone()) {}
LBFGS::~LBFGS() = default;

const LBFGSOptions& LBFGS::own_options(const char* op) const {
  if (param_groups_.size() != 1) {
    throw Error(fmt::format("{}: expected one parameter group, got {}", op, param_groups_.size()));
  }
  return static_cast<const LBFGSOptions&>(param_groups_[0].options());
}

void LBFGS::check_parameters() const {
  const std::vector<Tensor>& params = param_groups_[0].params();
  if (params.empty()) throw Error("lbfgs_step: expected parameters, got none");
  for (const Tensor& p : params) {
    check_devices("lbfgs_step", {{"params[0]", params[0]}, {"param", p}}, DeviceRule::in_place);
    if (p.dtype() != params[0].dtype() || !p.is_floating_point()) {
      throw DTypeError(
          fmt::format("lbfgs_step: expected parameters of one floating-point dtype, got "
                      "{} and {}",
                      ambit::name(params[0].dtype()), ambit::name(p.dtype())));
    }
  }
}

Tensor LBFGS::step(LossClosure closure) {
  const profiler::RecordFunction scope("Optimizer.step#lbfgs_step");
  if (!closure) throw Error("lbfgs_step: expected a closure that computes the loss, got none");
  const LBFGSOptions& options = own_options("lbfgs_step");
  param_groups_[0].options().current_lr();  // sets options.lr()
  options.check();
  check_parameters();
  const std::vector<Tensor>& params = param_groups_[0].params();
  const NoGradGuard no_grad;
  return typed_memory_errors("lbfgs_step", [&] {
    History history = history_ ? *history_ : History();
    const auto move_to_params = [&](Tensor& t) {
      if (t.defined()) t = t.to(params[0].device(), params[0].dtype());
    };
    move_to_params(history.d);
    move_to_params(history.prev_flat_grad);
    for (auto* list : {&history.old_dirs, &history.old_stps}) {
      std::for_each(list->begin(), list->end(), move_to_params);
    }
    std::vector<Tensor> before;
    for (const Tensor& p : params) before.push_back(p.detach().clone());
    Tensor loss;
    try {
      loss = Run(options, params, closure, history).run();
    } catch (...) {
      for (size_t i = 0; i < params.size(); ++i) params[i].copy_(before[i]);
      throw;
    }
    history_ = std::make_unique<const History>(std::move(history));
    return loss;
  });
}

void LBFGS::adopt(History&& read) {
  const std::vector<Tensor>& params = param_groups_[0].params();
  int64_t n = 0;
  for (const Tensor& p : params) n += p.numel();
  const auto take = [&](Tensor& t) {
    if (!t.defined()) return;
    if (t.numel() != n || t.dim() != 1 || !t.is_floating_point()) {
      throw Error(fmt::format("LBFGS: expected a state of floating-point tensors [{}], got {}{}", n,
                              ambit::name(t.dtype()), str(t.sizes())));
    }
    t = t.detach().to(params[0].device(), params[0].dtype(), false, true);
  };
  if (read.old_dirs.size() != read.old_stps.size() || read.old_dirs.size() != read.ro.size() ||
      read.n_iter < 0 || read.func_evals < 0) {
    throw Error(fmt::format("LBFGS: expected as many old_dirs as old_stps and ro, got {}, {}, {}",
                            read.old_dirs.size(), read.old_stps.size(), read.ro.size()));
  }
  take(read.d);
  take(read.prev_flat_grad);
  for (auto* list : {&read.old_dirs, &read.old_stps}) {
    std::for_each(list->begin(), list->end(), take);
  }
  history_ = std::make_unique<const History>(std::move(read));
}

StateDict LBFGS::state_dict() const {
  return typed_memory_errors("state_dict",
                             [&] { return history_ ? history_->to_state_dict() : StateDict(); });
}

void LBFGS::load_state_dict(const StateDict& dict) {
  typed_memory_errors("load_state_dict", [&] {
    own_options("load_state_dict");
    if (dict.empty()) {
      history_.reset();
    } else {
      adopt(History::of(dict));
    }
  });
}

Value::Dict LBFGS::checkpoint_state() const {
  if (!history_) return {};
  return {{0, history_->to_value()}};
}

void LBFGS::load_checkpoint_state(const Value::Dict& state) {
  own_options("load_checkpoint");
  if (state.empty()) {
    history_.reset();
    return;
  }
  if (state.size() != 1 || state[0].first.to_int() != 0) {
    throw SerializationError("checkpoint: expected the state of LBFGS's first parameter alone");
  }
  adopt(History::of(state[0].second));
}

}  // namespace ambit::optim
