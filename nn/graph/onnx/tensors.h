// Reads the tensors of an ONNX model. Private to nn/graph/onnx.
#pragma once

#include <ambit/tensor.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "onnx.pb.h"

namespace ambit::graph::onnx {

/// Return the dtype with a number of TensorProto.DataType, or nothing if ambit lacks it.
std::optional<DType> dtype_of_code(int64_t code);
/// Return the number of a dtype.
int32_t code_of(DType dtype);
/// Return the name of such a number.
const char* name_of_code(int64_t code);

/// Replace the elements of a tensor of the model by a reference to a state of the program.
void refer_to_state(proto::TensorProto& proto, size_t index);
/// Return the state to which a tensor of the model refers, or nothing.
std::optional<size_t> state_of(const proto::TensorProto& proto);
/// Set the elements of a tensor of the model to those of `t`, which has its dtype and sizes.
void set_elements(proto::TensorProto& proto, const Tensor& t);

class TensorReader {
 public:
  explicit TensorReader(const std::string& model);

  /// Return a tensor on the cpu, and free the bytes in `proto`. Its dtype must be one of ambit's.
  /// External data are read from the folder of the model and those below; a path that leads out of
  /// it, also through a symbolic link, is refused. Errors: SerializationError; the caller adds the
  /// path of the model.
  Tensor read(proto::TensorProto& proto) const;

 private:
  Tensor read_external(const proto::TensorProto& proto, const std::string& name,
                       int64_t bytes) const;

  std::filesystem::path folder_;
};

}  // namespace ambit::graph::onnx
