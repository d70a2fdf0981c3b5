// Loads checkpoints from bytes that a test made.
#pragma once

#include <ambit/checkpoint.h>

#include <string>

#include "pickled_file.h"
#include "tests/temporary_folder.h"

namespace ambit {

inline const std::string kOne("\0\0\x80\x3f", 4);  // 1. of float32

inline Value load_bytes(const std::string& bytes, Device device = {}) {
  const TemporaryFolder folder;
  return load_checkpoint(folder.write("f.pth", bytes), device);
}

/// Return a dict with the value between two tensors [1], "before" and "after".
inline Value load_between(const std::string& pickle) {
  const std::string weight = pickled(PickledTensor{.numel = 1, .sizes = {1}, .strides = {1}});
  return load_bytes(pytorch_bytes(
      "}(" + pickled("before") + weight + pickled("x") + pickle + pickled("after") + weight + "u",
      {kOne}));
}

/// Return the pickle of a call of a global with a pickled tuple of arguments.
inline std::string call(const std::string& module, const std::string& name,
                        const std::string& tuple) {
  return pickled_global(module, name) + tuple + "R";
}

}  // namespace ambit
