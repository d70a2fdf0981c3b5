// Not supported by ambit: TorchScript.
#pragma once

#include <ATen/core/ivalue.h>
#include <ambit/archive.h>
#include <torch/lacks.h>

namespace torch::jit {

using ambit::serialize::CompilationUnit;
using c10::IValue;

AMBIT_TORCH_LACKS_FUNCTION(
    load,
    "ambit runs no TorchScript: write the module in C++ and read its weights with "
    "torch::load(module, path), from a file of its state_dict() or of the scripted module");
AMBIT_TORCH_LACKS_FUNCTION(compile, "ambit runs no TorchScript");
namespace script {
class AMBIT_TORCH_LACKS("ambit runs no TorchScript") Module;
}  // namespace script
using script::Module;

}  // namespace torch::jit
