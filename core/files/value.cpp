#include <ambit/detail/printable.h>
#include <ambit/error.h>
#include <ambit/value.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "fail.h"

namespace ambit {
namespace {

template <class... T>
[[noreturn]] void fail(fmt::format_string<T...> text, T&&... args) {
  fail_about_file(fmt::format(text, std::forward<T>(args)...));
}

std::string quote(const Value& key) {
  return key.kind() == Value::Kind::integer ? std::to_string(key.to_int())
                                            : fmt::format("'{}'", one_line(key.to_string()));
}

bool is_key(const Value& v) {
  return v.kind() == Value::Kind::string || v.kind() == Value::Kind::integer;
}

bool equal_keys(const Value& a, const Value& b) {
  if (a.kind() != b.kind()) return false;
  return a.kind() == Value::Kind::integer ? a.to_int() == b.to_int()
                                          : a.to_string() == b.to_string();
}

void check_keys(const Value::Dict& entries) {
  // Not hashed: a file could choose keys that collide.
  std::set<std::string_view> strings;
  std::set<int64_t> integers;
  for (const auto& [key, value] : entries) {
    if (!is_key(key)) fail("expected keys that are strings or ints, got {}", key.kind_name());
    const bool added = key.kind() == Value::Kind::string ? strings.insert(key.to_string()).second
                                                         : integers.insert(key.to_int()).second;
    if (!added) fail("expected each key once, got {} twice", quote(key));
  }
}

}  // namespace

struct Value::Container {
  int depth;
  List items;
  Dict entries;

  static int depth_of(const Value& v) { return v.kind_ >= Kind::list ? v.container().depth : 0; }
};

// --- making

Value::Value(std::string text)
    : kind_(Kind::string), shared_(std::make_shared<const std::string>(std::move(text))) {}

Value::Value(const StateDict& tensors)
    : Value(ordered_dict(Dict(tensors.begin(), tensors.end()))) {}

Value Value::contain(Kind kind, List items, Dict entries) {
  int below = 0;
  for (const Value& item : items) below = std::max(below, Container::depth_of(item));
  for (const auto& [key, item] : entries) below = std::max(below, Container::depth_of(item));
  if (below >= kMaxDepth) fail("expected at most {} levels of nesting, got more", kMaxDepth);
  check_keys(entries);
  Value v;
  v.shared_ =
      std::make_shared<const Container>(Container{below + 1, std::move(items), std::move(entries)});
  v.kind_ = kind;
  return v;
}

Value Value::list(List items) { return contain(Kind::list, std::move(items), {}); }
Value Value::tuple(List items) { return contain(Kind::tuple, std::move(items), {}); }
Value Value::dict(Dict entries) { return contain(Kind::dict, {}, std::move(entries)); }
Value Value::ordered_dict(Dict entries) {
  return contain(Kind::ordered_dict, {}, std::move(entries));
}

// --- reading

const Value::Container& Value::container() const {
  return *static_cast<const Container*>(shared_.get());
}

const char* Value::kind_name() const {
  static constexpr const char* kNames[] = {"None",     "a bool", "an int",  "a float", "a string",
                                           "a tensor", "a list", "a tuple", "a dict",  "a dict"};
  return kNames[static_cast<size_t>(kind())];
}

Value::Value(const Scalar& number) {
  if (number.dtype() == kBool) {
    *this = number.to<bool>();
  } else if (number.is_floating_point()) {
    *this = number.to<double>();
  } else {
    *this = number.to<int64_t>();
  }
}

Scalar Value::toScalar() const {
  if (kind() == Kind::boolean) return to_bool();
  if (kind() == Kind::integer) return to_int();
  if (kind() != Kind::real) unexpected("a number");
  return to_double();
}

void Value::unexpected(const char* expected) const {
  fail("checkpoint: expected {}, got {}", expected, kind_name());
}

bool Value::to_bool() const {
  if (kind() != Kind::boolean) unexpected("a bool");
  return integer_ != 0;
}

int64_t Value::to_int() const {
  if (kind() != Kind::integer) unexpected("an int");
  return integer_;
}

double Value::to_double() const {
  if (kind() == Kind::integer) return static_cast<double>(to_int());
  if (kind() != Kind::real) unexpected("a float");
  return real_;
}

const std::string& Value::to_string() const {
  if (kind() != Kind::string) unexpected("a string");
  return *static_cast<const std::string*>(shared_.get());
}

const Tensor& Value::to_tensor() const {
  if (kind() != Kind::tensor) unexpected("a tensor");
  return tensor_;
}

std::vector<bool> Value::toBoolList() const { return list_of<bool>(); }
std::vector<int64_t> Value::toIntVector() const { return list_of<int64_t>(); }
std::vector<double> Value::toDoubleVector() const { return list_of<double>(); }
std::vector<Tensor> Value::toTensorVector() const { return list_of<Tensor>(); }

const Value::List& Value::items() const {
  if (kind() != Kind::list && kind() != Kind::tuple) unexpected("a list or a tuple");
  return container().items;
}

const Value::Dict& Value::entries() const {
  if (!is_dict()) unexpected("a dict");
  return container().entries;
}

StateDict Value::to_state_dict() const {
  StateDict tensors;
  for (const auto& [key, value] : entries()) {
    if (key.kind() != Kind::string || value.kind() != Kind::tensor) {
      fail("checkpoint: expected a dict of tensors by name, got {} under {}", value.kind_name(),
           quote(key));
    }
    tensors.emplace_back(key.to_string(), value.to_tensor());
  }
  return tensors;
}

const Value* Value::find(const Value& key) const {
  const Dict& all = entries();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const auto& entry) { return equal_keys(entry.first, key); });
  return found == all.end() ? nullptr : &found->second;
}

const Value& Value::operator[](const Value& key) const {
  if (!is_key(key)) key.unexpected("a key that is a string or an int");
  if (const Value* value = find(key)) return *value;
  std::vector<std::string> keys;
  constexpr size_t kShown = 20;
  for (const auto& entry : entries()) {
    keys.push_back(keys.size() < kShown ? quote(entry.first) : "...");
    if (keys.size() > kShown) break;
  }
  fail("checkpoint: expected the key {}, got {}", quote(key),
       keys.empty() ? "no key" : fmt::format("{}", fmt::join(keys, ", ")));
}

}  // namespace ambit
