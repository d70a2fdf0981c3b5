// L-BFGS: a quasi-Newton method that evaluates the loss several times per step.
#pragma once

#include <ambit/nn/options.h>
#include <ambit/optim/optimizer.h>

#include <memory>
#include <optional>
#include <string>

namespace ambit::optim {

/// Options of LBFGS.
class AMBIT_API LBFGSOptions : public OptimizerCloneableOptions<LBFGSOptions>,
                               public nn::Options<LBFGSOptions> {
 public:
  LBFGSOptions(double lr = 1);
  /// Length of a step without line search, first step of one with it. Default: 1.
  LBFGSOptions& lr(double v) { return set(lr_, v); }
  /// Largest number of iterations in a step(). Default: 20.
  LBFGSOptions& max_iter(int64_t n) { return set(max_iter_, n); }
  /// Largest number of closure calls in a step(). Default: 5/4 max_iter.
  LBFGSOptions& max_eval(std::optional<int64_t> n) { return set(max_eval_, n); }
  /// A step() ends when no gradient is larger in magnitude. Default: 1e-7.
  LBFGSOptions& tolerance_grad(double v) { return set(tolerance_grad_, v); }
  /// A step() ends when the loss or all parameters change by at most this. Default: 1e-9.
  LBFGSOptions& tolerance_change(double v) { return set(tolerance_change_, v); }
  /// Number of gradients that the estimate of the Hessian uses. Default: 100.
  LBFGSOptions& history_size(int64_t n) { return set(history_size_, n); }
  /// "strong_wolfe", or none. Default: none.
  LBFGSOptions& line_search_fn(std::optional<std::string> name) {
    return set(line_search_fn_, std::move(name));
  }
  /// Maximise the loss. Default: false.
  LBFGSOptions& maximize(bool on) { return set(maximize_, on); }
  bool maximize() const { return maximize_; }
  double lr() const { return lr_; }
  double& lr() { return lr_; }
  int64_t max_iter() const { return max_iter_; }
  int64_t& max_iter() { return max_iter_; }
  std::optional<int64_t> max_eval() const { return max_eval_; }
  std::optional<int64_t>& max_eval() { return max_eval_; }
  double tolerance_grad() const { return tolerance_grad_; }
  double& tolerance_grad() { return tolerance_grad_; }
  double tolerance_change() const { return tolerance_change_; }
  double& tolerance_change() { return tolerance_change_; }
  int64_t history_size() const { return history_size_; }
  int64_t& history_size() { return history_size_; }
  const std::optional<std::string>& line_search_fn() const { return line_search_fn_; }
  std::optional<std::string>& line_search_fn() { return line_search_fn_; }

  double get_lr() const override { return lr_; }
  void set_lr(double v) override { lr_ = v; }
  void check() const override;
  Value::Dict values() const override;
  void set_values(const Value& dict) override;
  void inherit(const OptimizerOptions& defaults) override;

 private:
  double lr_;
  int64_t max_iter_ = 20;
  std::optional<int64_t> max_eval_;
  double tolerance_grad_ = 1e-7, tolerance_change_ = 1e-9;
  int64_t history_size_ = 100;
  std::optional<std::string> line_search_fn_;
};

/// Minimise a loss by Newton steps with a Hessian estimated from the last gradients. One step()
/// runs up to max_iter iterations; it ends when the largest gradient is at most tolerance_grad, a
/// change of parameters or loss is at most tolerance_change, or after max_eval calls of the
/// closure. All parameters form one group, on one device, floating point of one dtype. State:
/// "func_evals", "n_iter", "d" (the last direction), "t" (its length), "old_dirs" (changes of the
/// gradient), "old_stps" (changes of the parameters), "ro", "H_diag", "prev_flat_grad",
/// "prev_loss"; all stored with the first parameter, as in PyTorch. Source: Nocedal & Wright 2006,
/// algorithms 7.4, 7.5, 3.5, 3.6; after minFunc and PyTorch.
class AMBIT_API LBFGS : public Optimizer {
 public:
  /// Train these parameters; a list of groups must have one element. Errors: Error otherwise.
  explicit LBFGS(const std::vector<Tensor>& params, const LBFGSOptions& defaults = {});
  explicit LBFGS(const std::vector<OptimizerParamGroup>& groups, const LBFGSOptions& defaults = {});
  ~LBFGS() override;

  /// Iterate by calling `closure`, which zeroes the gradients, computes the loss and calls
  /// backward(); return its first loss. After an error, including one of the closure, parameters
  /// and state are unchanged. Errors: Error without a closure or with several groups; those of
  /// closure.
  Tensor step(LossClosure closure = {}) override;
  StateDict state_dict() const override;
  void load_state_dict(const StateDict& dict) override;

 protected:
  Value::Dict checkpoint_state() const override;
  void load_checkpoint_state(const Value::Dict& state) override;

 private:
  struct History;
  class Run;
  const LBFGSOptions& own_options(const char* op) const;
  void check_parameters() const;
  /// Set the history to copies of a loaded one on the parameters' device. Errors: Error for a
  /// mismatch.
  void adopt(History&& read);

  std::unique_ptr<const History> history_;  // null before the first step
};

}  // namespace ambit::optim
