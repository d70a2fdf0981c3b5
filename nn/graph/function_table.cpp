// Finds functions by name.
#include <algorithm>
#include <cstdint>

#include "call.h"

namespace ambit::graph {

const Function* find_function(std::string_view target) {
  static const std::vector<const Function*> kAll = [] {
    std::vector<const Function*> all;
    for (const auto& family :
         {kElementwiseFunctions, kShapeFunctions, kIndexFunctions, kCreationFunctions,
          kReduceFunctions, kLayerFunctions, kNormFunctions, kNumberFunctions}) {
      for (const Function& f : family) all.push_back(&f);
    }
    std::sort(all.begin(), all.end(), [](const Function* a, const Function* b) {
      return std::string_view(a->name) < std::string_view(b->name);
    });
    return all;
  }();
  for (const std::string_view prefix : {"torch.ops.aten.", "torch.ops.", "torch."}) {
    if (target.starts_with(prefix)) {
      target.remove_prefix(prefix.size());
      break;
    }
  }
  const auto found =
      std::lower_bound(kAll.begin(), kAll.end(), target,
                       [](const Function* f, std::string_view t) { return f->name < t; });
  return found != kAll.end() && (*found)->name == target ? *found : nullptr;
}

bool is_elementwise(const Function& function) {
  const std::span<const Function> all = kElementwiseFunctions;
  const auto begin = reinterpret_cast<uintptr_t>(all.data()),
             at = reinterpret_cast<uintptr_t>(&function);
  if (at < begin || at >= begin + all.size_bytes()) return false;
  constexpr std::string_view kOthers[] = {"copy.default", "glu.default", "prelu.default"};
  return std::ranges::count(kOthers, std::string_view(function.name)) == 0;
}

}  // namespace ambit::graph
