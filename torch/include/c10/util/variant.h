// c10::variant is std::variant.
#pragma once

#include <torch/namespaces.h>

#include <variant>

namespace c10 {

using std::bad_variant_access;
using std::get;
using std::get_if;
using std::holds_alternative;
using std::monostate;
using std::variant;
using std::variant_alternative_t;
using std::variant_size_v;
using std::visit;

}  // namespace c10
