// Warnings about values that a file contains and that are omitted. Private to core.
#pragma once

#include <ambit/detail/printable.h>

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <utility>

namespace ambit {

/// Collects the values of a file or a dict that do not become tensors, and reports them on stderr.
class LeftOut {
 public:
  /// `where`: the beginning of the warning, as "load: 'net.pth'".
  explicit LeftOut(std::string where) : where_(std::move(where)) {}
  void add(const std::string& name, const std::string& type) {
    if (++count_ > kShown) return;
    names_ += fmt::format("{}'{}' ({})", count_ > 1 ? ", " : "", name, type);
  }
  void say() const {
    if (count_ == 0) return;
    const std::string text =
        fmt::format("{}: left out {} value{} that ambit has no dtype or type for: {}{}", where_,
                    count_, count_ > 1 ? "s" : "", names_, count_ > kShown ? ", ..." : "");
    std::fprintf(stderr, "ambit: %s\n", one_line(text).c_str());
  }

 private:
  static constexpr size_t kShown = 10;

  std::string where_;
  size_t count_ = 0;
  std::string names_;
};

}  // namespace ambit
