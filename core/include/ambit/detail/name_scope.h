// Dotted paths of modules' tensors, built on demand: making a module a submodule of another does
// not rename its tensors.
#pragma once

#include <ambit/api.h>

#include <memory>
#include <string>
#include <string_view>

namespace ambit {

class Tensor;

/// A module's position in the tree: its name in its parent. A root has neither.
struct AMBIT_API NameScope {
  std::string name;
  std::shared_ptr<NameScope> parent;

  ~NameScope();
  /// Return "<names from the root on>.<leaf>".
  std::string path_to(std::string_view leaf) const;
};

/// Set a tensor's name in a scope; null: no scope. Errors: Error when undefined.
AMBIT_API void set_name_in_scope(const Tensor& t, std::string name,
                                 std::shared_ptr<const NameScope> scope);

}  // namespace ambit
