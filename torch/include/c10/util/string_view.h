// c10::string_view is std::string_view.
#pragma once

#include <torch/namespaces.h>

#include <string_view>

namespace c10 {
using std::string_view;
}  // namespace c10
