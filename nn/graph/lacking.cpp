#include "lacking.h"

#include <ambit/detail/printable.h>
#include <ambit/error.h>

#include <utility>

namespace ambit::graph {
void fail_formatted(fmt::string_view text, fmt::format_args args) {
  throw SerializationError(fmt::vformat(text, args));
}

Lacking::Lacking()
    : expected_("graph::load: expected functions and dtypes that ambit has in"), most_kept_(40) {}

void Lacking::add(std::string what) {
  if (items_.size() < most_kept_) items_.insert(std::move(what));
}

void Lacking::add_dtype(const char* name, std::string_view of) {
  add(fmt::format("dtype {} (of '{}')", name, of));
}

void Lacking::check(const std::string& path) const {
  constexpr size_t kMostListed = 100;
  if (items_.empty()) return;
  std::string list;
  size_t listed = 0;
  for (const std::string& item : items_) {
    if (++listed <= kMostListed) list += (list.empty() ? "" : ", ") + item;
  }
  if (listed > kMostListed) list += fmt::format(" and {} others", listed - kMostListed);
  throw NotImplementedError(
      fmt::format("{} '{}', got also {}", expected_, one_line(path), printable(list)));
}

}  // namespace ambit::graph
