// The state that LBFGS keeps between iterations and steps.
#pragma once

#include <ambit/optim/lbfgs.h>
#include <ambit/serialize.h>
#include <ambit/value.h>

#include <cstdint>
#include <deque>

namespace ambit::optim {

/// n: the total number of elements of all parameters. Stored tensors are never written in place, so
/// that a copy of History only copies handles.
struct LBFGS::History {
  int64_t func_evals = 0, n_iter = 0;
  double t = 0, prev_loss = 0, H_diag = 1;
  Tensor d, prev_flat_grad;               // [n]; undefined before the first iteration
  std::deque<Tensor> old_dirs, old_stps;  // [n] each, the latest last
  std::deque<double> ro;                  // 1 / (old_dirs[i] . old_stps[i])

  /// Convert to and from the format of PyTorch's optimizer state dict.
  Value to_value() const;
  static History of(const Value& value);
  /// Convert to and from tensors named "0.<name>".
  StateDict to_state_dict() const;
  static History of(const StateDict& dict);
};

}  // namespace ambit::optim
