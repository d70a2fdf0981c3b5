// What a zip file of PyTorch's holds: Python's torch.save(), or TorchScript, as which libtorch's
// C++ saves. Private to core.
#pragma once

#include <ambit/value.h>

#include <string>
#include <string_view>

namespace ambit {

struct PytorchContent {
  Value value;
  Metadata metadata;
  bool is_script = false;  ///< the value is an object: a dict in which dicts are objects too
};

/// Read a file, with its metadata if asked. Errors: SerializationError naming the path;
/// OutOfMemoryError.
PytorchContent read_pytorch(const std::string& path, Device device, bool metadata);
/// The same of bytes, which errors name as `name`.
PytorchContent read_pytorch_bytes(std::string_view bytes, const std::string& name, Device device);

/// Read a pickle by itself, without PyTorch's storages, such as Python's and NumPy's alone. Errors:
/// SerializationError without a path.
Value read_plain_pickle(std::string_view bytes);

/// Return whether a file is TorchScript's; false where it cannot be read.
bool is_script_file(const std::string& path);

/// Return the tensors in an object and those below it, under dotted names.
StateDict flatten(const Value& object);

}  // namespace ambit
