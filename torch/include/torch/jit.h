// What ambit lacks: TorchScript.
#pragma once

#include <ambit/archive.h>
#include <torch/lacks.h>

namespace torch::jit {

using ambit::serialize::CompilationUnit;

AMBIT_TORCH_LACKS_FUNCTION(load,
                           "ambit runs no TorchScript: write the module in C++ and load its state "
                           "dict with ambit::load_checkpoint()");
AMBIT_TORCH_LACKS_FUNCTION(compile, "ambit runs no TorchScript");
namespace script {
class AMBIT_TORCH_LACKS("ambit runs no TorchScript") Module;
}  // namespace script
using script::Module;

}  // namespace torch::jit
