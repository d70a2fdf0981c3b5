// What ambit lacks: TorchScript.
#pragma once

#include <ATen/core/ivalue.h>
#include <ambit/archive.h>
#include <torch/lacks.h>

namespace torch::jit {

using ambit::serialize::CompilationUnit;
using c10::IValue;

AMBIT_TORCH_LACKS_FUNCTION(load,
                           "ambit runs no TorchScript: write the module in C++, save its "
                           "state_dict() in Python, and read it with load_checkpoint() of "
                           "<ambit/checkpoint.h>");
AMBIT_TORCH_LACKS_FUNCTION(compile, "ambit runs no TorchScript");
namespace script {
class AMBIT_TORCH_LACKS("ambit runs no TorchScript") Module;
}  // namespace script
using script::Module;

}  // namespace torch::jit
