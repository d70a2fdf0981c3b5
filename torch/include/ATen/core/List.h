// c10::List: a list whose copies share its elements, as lists in Python do.
#pragma once

#include <ATen/core/jit_type.h>
#include <ambit/array_ref.h>
#include <ambit/error.h>
#include <ambit/tensor.h>
#include <ambit/value.h>
#include <torch/namespaces.h>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace c10 {

/// All members are const: they change the shared elements. Errors: IndexError for a position that
/// does not exist, unless stated otherwise.
template <class T>
class List {
 public:
  using value_type = T;
  // std::vector<bool> has no references to its elements.
  using Elements = std::conditional_t<std::is_same_v<T, bool>, std::deque<T>, std::vector<T>>;
  using size_type = typename Elements::size_type;
  using iterator = typename Elements::iterator;
  using const_iterator = iterator;

  explicit List() : elements_(std::make_shared<Elements>()) {}
  explicit List(const TypePtr& /*element*/) : List() {}
  List(std::initializer_list<T> values) : List(values.begin(), values.end()) {}
  explicit List(ambit::ArrayRef<T> values) : List(values.begin(), values.end()) {}
  explicit List(const std::vector<T>& values) : List(values.begin(), values.end()) {}

  /// Return a list with elements of its own.
  List copy() const { return List(begin(), end()); }
  /// Return true if both share their elements.
  bool is(const List& other) const { return elements_ == other.elements_; }

  const T& get(size_type i) const { return at(i); }
  T& operator[](size_type i) const { return at(i); }
  void set(size_type i, T value) const { at(i) = std::move(value); }
  /// Return an element by moving it out.
  T extract(size_type i) const { return std::exchange(at(i), T()); }
  iterator begin() const { return elements_->begin(); }
  iterator end() const { return elements_->end(); }
  bool empty() const { return elements_->empty(); }
  size_type size() const { return elements_->size(); }
  std::vector<T> vec() const { return {begin(), end()}; }

  void reserve(size_type n) const {
    if constexpr (!std::is_same_v<T, bool>) elements_->reserve(n);
  }
  void clear() const { elements_->clear(); }
  void push_back(T value) const { elements_->push_back(std::move(value)); }
  template <class... Args>
  void emplace_back(Args&&... args) const {
    elements_->push_back(T(std::forward<Args>(args)...));
  }
  void append(List other) const {
    const List values = other.is(*this) ? copy() : other;
    elements_->insert(end(), values.begin(), values.end());
  }
  /// Positions must be in the list, and for pop_back() it must not be empty.
  iterator insert(iterator at, T value) const { return elements_->insert(at, std::move(value)); }
  template <class... Args>
  iterator emplace(iterator at, Args&&... args) const {
    return insert(at, T(std::forward<Args>(args)...));
  }
  iterator erase(iterator at) const { return elements_->erase(at); }
  iterator erase(iterator first, iterator last) const { return elements_->erase(first, last); }
  void pop_back() const { elements_->pop_back(); }
  void resize(size_type n) const { elements_->resize(n); }
  void resize(size_type n, const T& value) const { elements_->resize(n, value); }

  friend bool operator==(const List& a, const List& b) { return *a.elements_ == *b.elements_; }
  /// Return the list as an IValue, with a copy of the elements.
  operator ambit::Value() const { return ambit::Value::list(ambit::Value::List(begin(), end())); }

 private:
  template <class Iterator>
  List(Iterator first, Iterator last) : elements_(std::make_shared<Elements>(first, last)) {}
  T& at(size_type i) const {
    if (i >= size()) {
      throw ambit::IndexError("List: expected a position below " + std::to_string(size()) +
                              ", got " + std::to_string(i));
    }
    return (*elements_)[i];
  }

  std::shared_ptr<Elements> elements_;
};

namespace impl {
using GenericList = List<ambit::Value>;
}  // namespace impl

}  // namespace c10
