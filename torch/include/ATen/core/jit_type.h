// Types of TorchScript, which programs name to create a c10::List or c10::Dict; ambit ignores them.
#pragma once

#include <torch/namespaces.h>

#include <memory>

namespace c10 {

struct Type {};
using TypePtr = std::shared_ptr<Type>;
struct AnyType : Type {
  static TypePtr get() { return std::make_shared<Type>(); }
};
using BoolType = AnyType;
using FloatType = AnyType;
using IntType = AnyType;
using StringType = AnyType;
using TensorType = AnyType;

}  // namespace c10
