// Reads PyTorch's files: those of Python's torch.save(), and TorchScript, which libtorch's C++
// writes. Private to core.
#pragma once

#include <ambit/value.h>

#include <string>
#include <string_view>

namespace ambit {

struct PytorchContent {
  Value value;
  Metadata metadata;
  bool is_script = false;  ///< TorchScript: dicts in the value are objects
};

/// Read a file, and its metadata if `metadata`. Errors: SerializationError naming the path;
/// OutOfMemoryError.
PytorchContent read_pytorch(const std::string& path, Device device, bool metadata);
/// Read bytes in the same formats; errors call them `name`.
PytorchContent read_pytorch_bytes(std::string_view bytes, const std::string& name, Device device);

/// Read a bare pickle of Python or NumPy, which has no PyTorch storages. Errors: SerializationError
/// without a path.
Value read_plain_pickle(std::string_view bytes);

/// Return true if a file is TorchScript; false also if it cannot be read.
bool is_script_file(const std::string& path);

/// Return the tensors in an object and its nested objects, under dotted names.
StateDict flatten(const Value& object);

}  // namespace ambit
