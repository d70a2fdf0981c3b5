#include <ambit/detail/printable.h>
#include <ambit/error.h>
#include <ambit/value.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "fail.h"
#include "left_out.h"

namespace ambit {
namespace {

template <class... T>
[[noreturn]] void fail(fmt::format_string<T...> text, T&&... args) {
  fail_about_file(fmt::format(text, std::forward<T>(args)...));
}

std::string quote(const Value& key) {
  switch (key.kind()) {
    case Value::Kind::boolean:
      return key.to_bool() ? "True" : "False";
    case Value::Kind::integer:
      return std::to_string(key.to_int());
    case Value::Kind::real:
      return fmt::format("{}", key.to_double());
    case Value::Kind::string:
      return fmt::format("'{}'", one_line(key.to_string()));
    default:
      return key.kind_name();
  }
}

// True for keys that find() compares. Other keys in Python are tuples or opaque here.
bool is_plain_key(const Value& v) { return v.kind() <= Value::Kind::string; }
bool is_key(const Value& v) {
  return is_plain_key(v) || v.kind() == Value::Kind::tuple || v.kind() == Value::Kind::opaque;
}

// Return the int that a key equals in Python, if any: 1, 1.0 and True are one key.
std::optional<int64_t> integer_of(const Value& key) {
  if (key.kind() == Value::Kind::boolean) return key.to_bool();
  if (key.kind() == Value::Kind::integer) return key.to_int();
  if (key.kind() != Value::Kind::real) return std::nullopt;
  const double real = key.to_double();
  if (!(real >= -0x1p63 && real < 0x1p63) || std::trunc(real) != real) return std::nullopt;
  return static_cast<int64_t>(real);
}

bool equal_keys(const Value& a, const Value& b) {
  const auto integer = integer_of(a);
  if (integer) return integer == integer_of(b);
  if (a.kind() != b.kind()) return false;
  if (a.kind() == Value::Kind::real) return a.to_double() == b.to_double();
  if (a.kind() == Value::Kind::string) return a.to_string() == b.to_string();
  return a.is_none();
}

void check_keys(const Value::Dict& entries) {
  // Not hashed, since a file could contain keys chosen to collide.
  std::set<std::string_view> strings;
  std::set<int64_t> integers;
  std::set<double> reals;
  bool has_none = false;
  for (const auto& [key, value] : entries) {
    if (!is_key(key)) {
      fail("expected keys that are strings, numbers, None or tuples, got {}", key.kind_name());
    }
    bool added = true;
    if (const auto integer = integer_of(key)) {
      added = integers.insert(*integer).second;
    } else if (key.kind() == Value::Kind::string) {
      added = strings.insert(key.to_string()).second;
    } else if (key.kind() == Value::Kind::real) {
      const double real = key.to_double();
      added = std::isnan(real) || reals.insert(real).second;  // NaN equals no key
    } else if (key.is_none()) {
      added = !std::exchange(has_none, true);
    }
    if (!added) fail("expected each key once, got {} twice", quote(key));
  }
}

}  // namespace

struct Value::Container {
  int depth;
  List items;
  Dict entries;
  struct OpaqueContent;
  std::unique_ptr<const OpaqueContent>
      opaque{};  // a separate object, since most containers have no such content

  static int depth_of(const Value& v) { return v.kind_ >= Kind::list ? v.container().depth : 0; }
};

struct Value::Container::OpaqueContent {
  Opaque value;
  std::string name;  // for errors
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

Value Value::opaque(Opaque content) {
  int below = 0;
  for (const Value& item : content.arguments) below = std::max(below, Container::depth_of(item));
  if (below >= kMaxDepth) fail("expected at most {} levels of nesting, got more", kMaxDepth);
  Container container{below + 1, {}, {}};
  std::string name = "an opaque " + content.type;
  container.opaque = std::make_unique<const Container::OpaqueContent>(
      Container::OpaqueContent{std::move(content), std::move(name)});
  Value v;
  v.shared_ = std::make_shared<const Container>(std::move(container));
  v.kind_ = Kind::opaque;
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
  if (kind() == Kind::opaque) return container().opaque->name.c_str();
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

const Value::Opaque& Value::to_opaque() const {
  if (kind() != Kind::opaque) unexpected("an opaque value");
  return container().opaque->value;
}

StateDict Value::to_state_dict() const {
  StateDict tensors;
  LeftOut left_out("to_state_dict");
  for (const auto& [key, value] : entries()) {
    if (key.kind() == Kind::string && value.kind() == Kind::opaque) {
      left_out.add(key.to_string(), value.to_opaque().type);
      continue;
    }
    if (key.kind() != Kind::string || value.kind() != Kind::tensor) {
      fail("checkpoint: expected a dict of tensors by name, got {} under {}", value.kind_name(),
           quote(key));
    }
    tensors.emplace_back(key.to_string(), value.to_tensor());
  }
  left_out.say();
  return tensors;
}

const Value* Value::find(const Value& key) const {
  const Dict& all = entries();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const auto& entry) { return equal_keys(entry.first, key); });
  return found == all.end() ? nullptr : &found->second;
}

const Value& Value::operator[](const Value& key) const {
  if (!is_plain_key(key)) key.unexpected("a key that is a string, a number or None");
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
