#include "lacking.h"

#include <ambit/detail/printable.h>
#include <ambit/error.h>

#include <utility>

namespace ambit::graph {
namespace {

constexpr size_t kMostLacking = 40;  // that an error lists

}  // namespace

void fail_formatted(fmt::string_view text, fmt::format_args args) {
  throw SerializationError(fmt::vformat(text, args));
}

void Lacking::add(std::string what) {
  if (items_.size() < kMostLacking) items_.insert(std::move(what));
}

void Lacking::add_dtype(const char* name, std::string_view of) {
  add(fmt::format("dtype {} (of '{}')", name, of));
}

void Lacking::check(const std::string& path) const {
  if (items_.empty()) return;
  std::string list;
  for (const std::string& item : items_) list += (list.empty() ? "" : ", ") + item;
  throw NotImplementedError(
      fmt::format("graph::load: expected functions and dtypes that ambit has in '{}', got also {}",
                  one_line(path), printable(list)));
}

}  // namespace ambit::graph
