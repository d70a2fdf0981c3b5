// libambit_capture.so, which records the kernel calls of a module's forward as a program in the
// vocabulary of torch.export.
#pragma once

#include <ambit/detail/late_library.h>
#include <ambit/tensor.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace ambit::graph::capturing {

struct NamedState {
  std::string name;
  Tensor tensor;
  bool is_parameter = false, is_persistent = false;
};

struct Captured {
  std::string document;                 ///< models/model.json of a .pt2 file
  std::map<std::string, Tensor> state;  ///< parameters, buffers and constants of the program
};

using Forward = std::function<std::vector<Tensor>(TensorList)>;

struct Library {
  /// Errors: those of graph::capture().
  Captured (*capture)(const std::vector<NamedState>& state, const Forward& forward,
                      TensorList inputs);
};

inline const Library& library() { return *static_cast<const Library*>(late_library("capture")); }

}  // namespace ambit::graph::capturing
