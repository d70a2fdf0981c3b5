#include "scope.h"

#include <ambit/detail/printable.h>

#include "nn/graph/lacking.h"

namespace ambit::graph::onnx {

uint32_t Body::add(Value value) {
  block.values.push_back(std::move(value));
  return static_cast<uint32_t>(block.values.size() - 1);
}

uint32_t Body::import(Body& from, uint32_t value) {
  if (this == &from) return value;
  const auto key = std::pair<const Body*, uint32_t>(&from, value);
  const auto found = known.find(key);
  if (found != known.end()) return found->second;
  const uint32_t above = outer->import(from, value);
  const uint32_t here = add(outer->block.values[above]);
  block.inputs.push_back(here);
  captured.push_back(above);
  known.emplace(key, here);
  return here;
}

const Meaning* Scope::find(const std::string& name) const {
  for (const Scope* s = this; s; s = s->outer) {
    const auto found = s->names.find(name);
    if (found != s->names.end()) return &found->second;
  }
  return nullptr;
}

void Scope::declare(const std::string& name, Meaning meaning) {
  if (name.empty()) return;
  if (!names.emplace(name, meaning).second) {
    fail("expected one value '{}', got two", printable(name));
  }
}

std::string StateNames::unique(const std::string& name) {
  constexpr size_t kMostParts = 64;
  std::vector<std::string> parts(1);
  for (const char c : name) {
    if (c == '.' && parts.size() < kMostParts) {
      if (!parts.back().empty()) parts.emplace_back();
    } else {
      parts.back() += c == '.' ? '_' : c;
    }
  }
  if (parts.back().empty() && parts.size() > 1) parts.pop_back();
  if (parts.back().empty()) parts.back() += '_';
  while (true) {
    std::string path;
    std::vector<std::string> modules;
    bool is_free = true;
    for (const std::string& part : parts) {
      if (!path.empty()) {
        modules.push_back(path);
        is_free &= !names_.contains(path);
        path += '.';
      }
      path += part;
    }
    if (is_free && !modules_.contains(path) && names_.insert(path).second) {
      modules_.insert(modules.begin(), modules.end());
      return path;
    }
    // A tensor has the name of a module, or a module has the name of a tensor.
    (is_free ? parts.back() : parts.front()) += '_';
  }
}

}  // namespace ambit::graph::onnx
