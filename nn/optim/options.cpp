// Listed options: reading, writing, inheriting and checking by the list.
#include <ambit/optim/options.h>

#include <ambit/error.h>
#include <fmt/format.h>

#include <string_view>
#include <type_traits>
#include <utility>

#include "option_checks.h"
#include "option_values.h"

namespace ambit::optim {
namespace {

bool is_in(OptionEntry::Range range, double v) {
  switch (range) {
    case OptionEntry::Range::any:
      return true;
    case OptionEntry::Range::not_negative:
      return v >= 0;
    case OptionEntry::Range::below_one:
      return v >= 0 && v < 1;
    default:
      return v >= 0 && v <= 1;
  }
}

template <class... T>
void read_tuple(std::tuple<T...>& to, const Value& dict, const char* name) {
  const auto items = option<std::vector<double>>(dict, name);
  if (items.size() != sizeof...(T)) {
    throw SerializationError(
        fmt::format("checkpoint: expected {} {}, got {}", sizeof...(T), name, items.size()));
  }
  size_t i = 0;
  std::apply([&](T&... v) { ((v = items[i++]), ...); }, to);
}

}  // namespace

// The entries point into these options, but the callers only read through them.
std::vector<OptionEntry> ListedOptions::entries() const {
  return const_cast<ListedOptions*>(this)->entries();
}

double ListedOptions::get_lr() const { return *std::get<double*>(entries()[0].field); }
void ListedOptions::set_lr(double v) { *std::get<double*>(entries()[0].field) = v; }

// The momentum, or the first of the betas; null if there is neither.
double* ListedOptions::momentum() const {
  for (const OptionEntry& e : entries()) {
    const std::string_view name = e.name;
    if (name == "momentum") return std::get<double*>(e.field);
    if (name == "betas") return &std::get<0>(*std::get<NumberPair*>(e.field));
  }
  return nullptr;
}

std::optional<double> ListedOptions::get_momentum() const {
  const double* const v = momentum();
  return v ? std::optional(*v) : std::nullopt;
}

void ListedOptions::set_momentum(double v) {
  double* const own = momentum();
  if (!own) return OptimizerOptions::set_momentum(v);
  *own = v;
}

void ListedOptions::check() const {
  for (const OptionEntry& e : entries()) {
    const auto expect = [&](double v) {
      if (is_in(e.range, v)) return;
      if (e.range == OptionEntry::Range::not_negative) {
        check_not_negative(optimizer(), {{e.name, v}});
      }
      throw Error(fmt::format("{}: expected {} in [0, 1{}, got {}", optimizer(), e.name,
                              e.range == OptionEntry::Range::below_one ? ')' : ']', v));
    };
    if (const auto* number = std::get_if<double*>(&e.field)) expect(**number);
    if (const auto* pair = std::get_if<NumberPair*>(&e.field)) {
      expect(std::get<0>(**pair));
      expect(std::get<1>(**pair));
    }
  }
}

Value::Dict ListedOptions::values() const {
  Value::Dict dict;
  for (const OptionEntry& e : entries()) {
    std::visit([&](const auto* field) { dict.emplace_back(e.name, *field); }, e.field);
  }
  return dict;
}

// Files of libtorch's C++ and of older versions of PyTorch lack some of the flags.
void ListedOptions::set_values(const Value& dict) {
  for (const OptionEntry& e : entries()) {
    std::visit(
        [&](auto* field) {
          using T = std::remove_pointer_t<decltype(field)>;
          if constexpr (requires { std::tuple_size<T>::value; }) {
            read_tuple(*field, dict, e.name);
          } else if (!std::is_same_v<T, bool> || dict.find(e.name)) {
            *field = option<T>(dict, e.name);
          }
        },
        e.field);
  }
}

void ListedOptions::inherit(const OptimizerOptions& defaults) {
  const auto own = entries();
  const std::unique_ptr<ListedOptions> plain = constructed();
  const auto ones = plain->entries();
  const auto from = static_cast<const ListedOptions&>(defaults).entries();
  for (size_t i = 0; i < own.size(); ++i) {
    std::visit(
        [&](auto* field) {
          using Field = decltype(field);
          inherit_one(*field, *std::get<Field>(ones[i].field), *std::get<Field>(from[i].field));
        },
        own[i].field);
  }
}

}  // namespace ambit::optim
