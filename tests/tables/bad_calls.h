// Calls of public functions with invalid shapes, dtypes, devices, indices and values, each of which
// must throw the typed error; run by bad_input_test.cpp. The macros name the error:
//   SHAPE(add, a, b): add(a, b) must throw ShapeError.
#pragma once

#include <ambit/ambit.h>

#include <typeinfo>
#include <vector>

#include "call_table.h"

namespace bad_input {

using namespace ambit;

struct BadCall {
  const char* function;
  const char* text;
  void (*run)();
  bool (*is_right)(const Error&);
  bool is_mismatch;
};

template <class E>
constexpr BadCall bad(const char* function, const char* text, void (*run)()) {
  return {function, text, run,
          [](const Error& e) { return std::is_same_v<E, Error> || typeid(e) == typeid(E); },
          std::is_same_v<E, DeviceMismatchError>};
}

#define BAD(Type, f, ...) \
  bad<Type>(#f, #f "(" #__VA_ARGS__ ")", [] { static_cast<void>(f(__VA_ARGS__)); })
#define SHAPE(f, ...) BAD(ShapeError, f, __VA_ARGS__)
#define DTYPE(f, ...) BAD(DTypeError, f, __VA_ARGS__)
#define INDEX(f, ...) BAD(IndexError, f, __VA_ARGS__)
#define VALUE(f, ...) BAD(Error, f, __VA_ARGS__)
#define DEVICE(f, ...) BAD(DeviceMismatchError, f, __VA_ARGS__)

// Operands. Functions rather than constants, so that each call gets unmodified ones.
inline Tensor m23() { return ones({2, 3}); }
inline Tensor m45() { return ones({4, 5}); }
inline Tensor i23() { return ones({2, 3}, kInt64); }
inline Tensor b23() { return ones({2, 3}, kBool); }
inline Tensor there() { return ones({2, 3}, "reference"); }
inline Tensor none() { return Tensor(); }
inline Tensor idx(int64_t i) { return full({2, 3}, i, kInt64); }
inline Tensor list(int64_t i) { return full({2}, i, kInt64); }
inline Tensor image() { return ones({1, 2, 6, 6}); }
inline Tensor filter() { return ones({4, 2, 3, 3}); }
inline const indexing::Slice kAll;

}  // namespace bad_input
