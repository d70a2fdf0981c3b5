#include "shadow.h"

#include <ambit/detail/late_library.h>

#include <cstdlib>
#include <string_view>

namespace ambit {

const ShadowLibrary* shadow_library(const std::string& backend) {
  const char* device = std::getenv("AMBIT_SHADOW");
  const std::string_view name = device ? device : "";
  if (name.empty() || name.substr(0, name.find(':')) == backend) return nullptr;
  return static_cast<const ShadowLibrary*>(late_library("shadow"));
}

}  // namespace ambit
