// c10::Dict: a dict whose copies share its entries, in order of insertion, as in Python.
#pragma once

#include <ATen/core/jit_type.h>
#include <ambit/error.h>
#include <ambit/value.h>
#include <torch/namespaces.h>

#include <cstddef>
#include <functional>
#include <iterator>
#include <list>
#include <memory>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>

namespace c10 {
namespace detail {

/// Hash and equality of keys. Value: a string, or a number; 1, 1. and true are the same key.
template <class Key>
struct DictKey {
  static constexpr bool kIsValue = std::is_same_v<Key, ambit::Value>;

  static double number(const Key& v) { return v.isBool() ? (v.to_bool() ? 1 : 0) : v.to_double(); }
  size_t operator()(const Key& key) const {
    if constexpr (!kIsValue) {
      return std::hash<Key>()(key);
    } else {
      return key.isString() ? std::hash<std::string>()(key.to_string())
                            : std::hash<double>()(number(key));
    }
  }
  bool operator()(const Key& a, const Key& b) const {
    if constexpr (!kIsValue) {
      return a == b;
    } else {
      if (a.isString() != b.isString()) return false;
      return a.isString() ? a.to_string() == b.to_string() : number(a) == number(b);
    }
  }
};

}  // namespace detail

/// All members are const: they change the shared entries.
template <class Key, class Value>
class Dict {
  using Entries = std::list<std::pair<const Key, Value>>;

 public:
  using key_type = Key;
  using mapped_type = Value;
  using size_type = size_t;

  class Entry {
   public:
    const Key& key() const { return at_->first; }
    const Value& value() const { return at_->second; }
    template <class V>
    void setValue(V&& value) const {
      at_->second = Value(std::forward<V>(value));
    }

   private:
    friend Dict;
    typename Entries::iterator at_;
  };
  /// Valid until its entry is erased.
  class iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = Entry;
    using difference_type = std::ptrdiff_t;
    using pointer = const Entry*;
    using reference = const Entry&;

    iterator() = default;
    reference operator*() const { return entry_; }
    pointer operator->() const { return &entry_; }
    iterator& operator++() {
      ++entry_.at_;
      return *this;
    }
    iterator operator++(int) {
      iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const iterator& other) const { return entry_.at_ == other.entry_.at_; }

   private:
    friend Dict;
    explicit iterator(typename Entries::iterator at) { entry_.at_ = at; }
    Entry entry_;
  };
  using const_iterator = iterator;

  explicit Dict() : content_(std::make_shared<Content>()) {}
  Dict(const TypePtr& /*key*/, const TypePtr& /*value*/) : Dict() {}

  /// Return a dict with entries of its own.
  Dict copy() const {
    Dict other;
    for (const Entry& e : *this) other.insert(e.key(), e.value());
    return other;
  }
  bool is(const Dict& other) const { return content_ == other.content_; }
  iterator begin() const { return iterator(content_->entries.begin()); }
  iterator end() const { return iterator(content_->entries.end()); }
  bool empty() const { return content_->entries.empty(); }
  size_type size() const { return content_->entries.size(); }
  void reserve(size_type n) const { content_->places.reserve(n); }
  void clear() const {
    content_->places.clear();
    content_->entries.clear();
  }

  /// Add an entry, unless there is one with the key. Return the key's entry and whether it is new.
  template <class K, class V>
  std::pair<iterator, bool> insert(K&& key, V&& value) const {
    Key k(std::forward<K>(key));
    if (const iterator known = find(k); known != end()) return {known, false};
    content_->entries.emplace_back(k, Value(std::forward<V>(value)));
    const auto at = std::prev(content_->entries.end());
    try {
      content_->places.emplace(std::move(k), at);
    } catch (...) {
      content_->entries.pop_back();
      throw;
    }
    return {iterator(at), true};
  }
  template <class K, class V>
  std::pair<iterator, bool> insert_or_assign(K&& key, V&& value) const {
    Key k(std::forward<K>(key));
    if (const iterator known = find(k); known != end()) {
      known->setValue(std::forward<V>(value));
      return {known, false};
    }
    return insert(std::move(k), std::forward<V>(value));
  }
  void erase(iterator at) const {
    content_->places.erase(at->key());
    content_->entries.erase(at.entry_.at_);
  }
  /// Return the number of removed entries.
  size_t erase(const Key& key) const {
    const iterator at = find(key);
    if (at == end()) return 0;
    erase(at);
    return 1;
  }
  /// Errors: IndexError for a missing key.
  Value at(const Key& key) const {
    const iterator found = find(key);
    if (found == end()) throw ambit::IndexError("Dict: expected a key of the dict, got another");
    return found->value();
  }
  iterator find(const Key& key) const {
    const auto found = content_->places.find(key);
    return found == content_->places.end() ? end() : iterator(found->second);
  }
  bool contains(const Key& key) const { return content_->places.contains(key); }

  /// Return the dict as an IValue, with a copy of the entries.
  operator ambit::Value() const {
    ambit::Value::Dict all;
    for (const Entry& e : *this) all.emplace_back(e.key(), e.value());
    return ambit::Value::dict(std::move(all));
  }

 private:
  struct Content {
    Entries entries;
    std::unordered_map<Key, typename Entries::iterator, detail::DictKey<Key>, detail::DictKey<Key>>
        places;
  };
  std::shared_ptr<Content> content_;
};

namespace impl {

using GenericDict = Dict<ambit::Value, ambit::Value>;

/// Convert the keys and values. Errors: SerializationError for one of another type.
template <class Key, class Value>
Dict<Key, Value> toTypedDict(const GenericDict& dict) {
  Dict<Key, Value> typed;
  for (const auto& e : dict)
    typed.insert(e.key().template to<Key>(), e.value().template to<Value>());
  return typed;
}

}  // namespace impl
}  // namespace c10
