#include "sizes.h"

#include <ambit/detail/printable.h>

#include <fmt/format.h>

#include <charconv>
#include <string_view>

namespace ambit::graph {
namespace {

using Values = std::map<std::string, int64_t>;

struct Term {
  std::optional<int64_t> value;
  std::string text = "?";
  bool is_symbol = false;
};

// Reads the text of sympy's srepr(): Mul(Integer(2), Symbol('s0', positive=True, integer=True)).
class Parser {
 public:
  Parser(std::string_view text, const Values& values) : left_(text), values_(values) {}

  Term term(int depth = 0) {
    constexpr int kMostLevels = 64;
    const size_t open = left_.find_first_of("(,)");
    const std::string_view name = left_.substr(0, open);
    if (open == left_.npos || left_[open] != '(' || depth > kMostLevels) {
      left_ = {};
      return {};
    }
    left_.remove_prefix(open + 1);
    if (name == "Integer" || name == "Symbol") return leaf(name == "Symbol");
    return sum_or_product(name, depth);
  }

 private:
  Term leaf(bool is_symbol) {
    const size_t close = std::min(left_.find(')'), left_.size());
    std::string_view content = left_.substr(0, close);
    left_.remove_prefix(std::min(close + 1, left_.size()));
    content = content.substr(0, content.find(','));
    Term t;
    if (!is_symbol) {
      int64_t number = 0;
      const char* end = content.data() + content.size();
      if (std::from_chars(content.data(), end, number).ptr == end) t.value = number;
      t.text = printable(content);
      return t;
    }
    if (content.size() >= 2) content = content.substr(1, content.size() - 2);  // quotes
    t.is_symbol = true;
    t.text = printable(content);
    const auto known = values_.find(t.text);
    if (known != values_.end()) t.value = known->second;
    return t;
  }

  Term sum_or_product(std::string_view name, int depth) {
    const bool is_sum = name == "Add", is_known = is_sum || name == "Mul";
    Term out;
    out.value = is_sum ? 0 : 1;
    out.text = "";
    while (!left_.empty()) {
      const Term t = term(depth + 1);
      int64_t result = 0;
      if (!t.value || !out.value ||
          (is_sum ? __builtin_add_overflow(*out.value, *t.value, &result)
                  : __builtin_mul_overflow(*out.value, *t.value, &result))) {
        out.value = {};
      } else {
        out.value = result;
      }
      out.text += (out.text.empty() ? "" : is_sum ? " + " : "*") + t.text;
      const bool is_last = left_.empty() || left_[0] != ',';
      left_.remove_prefix(std::min<size_t>(is_last ? 1 : 2, left_.size()));
      if (is_last) break;
    }
    return is_known ? out : Term();
  }

  std::string_view left_;
  const Values& values_;
};

}  // namespace

std::string str(const Size& size) {
  return size.expression.empty() ? std::to_string(size.number)
                                 : Parser(size.expression, Values()).term().text;
}

std::string str(const Value& value) {
  if (!value.dtype) return value.is_open ? "tensor" : "number";
  std::string out = name(*value.dtype);
  if (value.is_open) return out;
  for (size_t i = 0; i < value.sizes.size(); ++i) {
    out += (i == 0 ? "[" : ", ") + str(value.sizes[i]);
  }
  return out + (value.sizes.empty() ? "[]" : "]");
}

void Symbols::bind(const Size& size, int64_t actual) {
  if (size.expression.empty()) return;
  const Term t = Parser(size.expression, values_).term();
  if (t.is_symbol) values_.emplace(t.text, actual);
}

std::optional<int64_t> Symbols::evaluate(const Size& size) const {
  if (size.expression.empty()) return size.number;
  return Parser(size.expression, values_).term().value;
}

}  // namespace ambit::graph
