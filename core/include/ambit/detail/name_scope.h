// The dotted paths of modules' tensors, which are put together when somebody asks: a module that is
// put into another renames nothing below it.
#pragma once

#include <ambit/api.h>

#include <memory>
#include <string>
#include <string_view>

namespace ambit {

class Tensor;

/// The place of a module in the tree: its name in the one around it. A root has neither.
struct AMBIT_API NameScope {
  std::string name;
  std::shared_ptr<NameScope> parent;

  ~NameScope();
  /// Return "<names from the root on>.<leaf>".
  std::string path_to(std::string_view leaf) const;
};

/// Name a tensor in a scope, null for none. Errors: Error when undefined.
AMBIT_API void set_name_in_scope(const Tensor& t, std::string name,
                                 std::shared_ptr<const NameScope> scope);

}  // namespace ambit
