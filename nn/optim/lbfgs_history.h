// What LBFGS remembers between iterations, and between steps.
#pragma once

#include <ambit/optim/lbfgs.h>
#include <ambit/serialize.h>
#include <ambit/value.h>

#include <cstdint>
#include <deque>

namespace ambit::optim {

/// n: the number of elements of all parameters. Tensors are never written in place once they are
/// here, so that a copy is one of handles.
struct LBFGS::History {
  int64_t func_evals = 0, n_iter = 0;
  double t = 0, prev_loss = 0, H_diag = 1;
  Tensor d, prev_flat_grad;               // [n]; undefined before the first iteration
  std::deque<Tensor> old_dirs, old_stps;  // [n] each, the latest last
  std::deque<double> ro;                  // 1 / (old_dirs[i] . old_stps[i])

  /// As PyTorch has it in an optimizer's state dict.
  Value to_value() const;
  static History of(const Value& value);
  /// As tensors under "0.<name>".
  StateDict to_state_dict() const;
  static History of(const StateDict& dict);
};

}  // namespace ambit::optim
