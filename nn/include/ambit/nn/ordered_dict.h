// OrderedDict: a map that keeps insertion order, as in libtorch. Modules list their parameters,
// buffers and submodules in one.
#pragma once

#include <ambit/error.h>

#include <initializer_list>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ambit {

/// One entry. The key is immutable because the dictionary's index uses it.
template <class Key, class Value>
class OrderedDictItem {
 public:
  /// Hold a key and its value.
  OrderedDictItem(Key key, Value value) : key_(std::move(key)), value_(std::move(value)) {}

  /// Return the key.
  const Key& key() const { return key_; }
  /// Return the value, which may be replaced.
  Value& value() { return value_; }
  const Value& value() const { return value_; }
  /// Same as value().
  Value& operator*() { return value_; }
  const Value& operator*() const { return value_; }
  /// Access a member of the value.
  Value* operator->() { return &value_; }
  const Value* operator->() const { return &value_; }

  /// Return the key (0) or the value (1), for structured bindings:
  /// `for (const auto& [name, parameter] : net->named_parameters())`.
  template <size_t I>
  auto& get() {
    if constexpr (I == 0) {
      return std::as_const(key_);
    } else {
      return value_;
    }
  }
  template <size_t I>
  const auto& get() const {
    if constexpr (I == 0) {
      return key_;
    } else {
      return value_;
    }
  }

 private:
  Key key_;
  Value value_;
};

/// A map that keeps insertion order. Errors: Error for an unknown or duplicate key; IndexError for
/// a position out of range.
template <class Key, class Value>
class OrderedDict {
 public:
  using Item = OrderedDictItem<Key, Value>;
  using Iterator = typename std::vector<Item>::iterator;
  using ConstIterator = typename std::vector<Item>::const_iterator;

  /// Hold no entries.
  OrderedDict() = default;
  /// Hold these entries. Errors: Error for a duplicate key.
  OrderedDict(std::initializer_list<Item> items) {
    for (const Item& item : items) insert(item.key(), item.value());
  }

  /// Return the number of entries.
  size_t size() const { return items_.size(); }
  /// Return whether there are no entries.
  bool is_empty() const { return items_.empty(); }
  /// Return whether there is an entry of this key.
  bool contains(const Key& key) const { return index_.contains(key); }

  /// Append an entry. Errors: Error if the key exists.
  Value& insert(Key key, Value value) {
    const auto [at, is_new] = index_.try_emplace(key, items_.size());
    if (!is_new) throw Error("OrderedDict: expected a new key, got " + text(key) + " again");
    try {
      return items_.emplace_back(std::move(key), std::move(value)).value();
    } catch (...) {
      index_.erase(at);
      throw;
    }
  }
  /// Append the entries of another dictionary, in its order. Errors: Error if a key exists; the
  /// entries before it have been added.
  void update(const OrderedDict& other) {
    reserve(size() + other.size());
    for (const Item& item : other) insert(item.key(), item.value());
  }
  /// Allocate memory for this number of entries.
  void reserve(size_t capacity) {
    items_.reserve(capacity);
    index_.reserve(capacity);
  }
  /// Remove an entry; the others keep their order. Errors: Error if the key does not exist.
  void erase(const Key& key) {
    items_.erase(items_.begin() + static_cast<std::ptrdiff_t>(position(key)));
    index_.clear();
    for (const Item& item : items_) index_.emplace(item.key(), index_.size());
  }
  /// Remove all entries.
  void clear() {
    items_.clear();
    index_.clear();
  }

  /// Return a pointer to the value, null if the key does not exist.
  Value* find(const Key& key) {
    const auto it = index_.find(key);
    return it == index_.end() ? nullptr : &items_[it->second].value();
  }
  const Value* find(const Key& key) const {
    const auto it = index_.find(key);
    return it == index_.end() ? nullptr : &items_[it->second].value();
  }
  /// Return the value of a key, or the entry at a position. Errors: Error for an unknown key,
  /// IndexError for a position out of range.
  Value& operator[](const Key& key) { return items_[position(key)].value(); }
  const Value& operator[](const Key& key) const { return items_[position(key)].value(); }
  Item& operator[](size_t i) { return items_[checked(i)]; }
  const Item& operator[](size_t i) const { return items_[checked(i)]; }

  /// Return the first entry. Errors: IndexError if the dictionary is empty.
  Item& front() { return (*this)[0]; }
  const Item& front() const { return (*this)[0]; }
  /// Return the last entry. Errors: IndexError if the dictionary is empty.
  Item& back() { return (*this)[size() - 1]; }
  const Item& back() const { return (*this)[size() - 1]; }

  /// Return all keys, in order.
  std::vector<Key> keys() const {
    std::vector<Key> all;
    for (const Item& item : items_) all.push_back(item.key());
    return all;
  }
  /// Return all values, in the order of their keys.
  std::vector<Value> values() const {
    std::vector<Value> all;
    for (const Item& item : items_) all.push_back(item.value());
    return all;
  }
  /// Return all entries, in order.
  const std::vector<Item>& items() const { return items_; }
  /// Return all keys with their values, in order.
  std::vector<std::pair<Key, Value>> pairs() const {
    std::vector<std::pair<Key, Value>> all;
    for (const Item& item : items_) all.emplace_back(item.key(), item.value());
    return all;
  }

  auto begin() { return items_.begin(); }
  auto end() { return items_.end(); }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }

 private:
  size_t checked(size_t i) const {
    if (i >= items_.size()) {
      throw IndexError("OrderedDict: expected a position below its size " +
                       std::to_string(items_.size()) + ", got " + std::to_string(i));
    }
    return i;
  }
  size_t position(const Key& key) const {
    const auto it = index_.find(key);
    if (it == index_.end()) {
      throw Error("OrderedDict: expected a key that it holds, got " + text(key));
    }
    return it->second;
  }
  static std::string text(const Key& key) {
    if constexpr (std::is_convertible_v<const Key&, std::string>) {
      return '"' + std::string(key) + '"';
    } else if constexpr (std::is_arithmetic_v<Key>) {
      return std::to_string(key);
    } else {
      return "another";
    }
  }

  std::vector<Item> items_;
  std::unordered_map<Key, size_t> index_;  // key -> position in items_
};

}  // namespace ambit

template <class Key, class Value>
struct std::tuple_size<ambit::OrderedDictItem<Key, Value>> : std::integral_constant<size_t, 2> {};
template <class Key, class Value>
struct std::tuple_element<0, ambit::OrderedDictItem<Key, Value>> {
  using type = const Key;
};
template <class Key, class Value>
struct std::tuple_element<1, ambit::OrderedDictItem<Key, Value>> {
  using type = Value;
};
