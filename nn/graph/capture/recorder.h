// The values and calls of a program while forward() runs. Each storage holds one value at a time;
// a kernel that writes to it gives it a new one. Views are not recorded when they are made: the
// recorder derives them from strides when a kernel reads them.
#pragma once

#include <ambit/layout.h>
#include <ambit/scalar.h>
#include <ambit/tensor.h>

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "library.h"

namespace ambit::graph::capturing {

using nlohmann::json;

/// The name and content of an argument in the file's form.
using Named = std::pair<const char*, json>;

/// An object with one member.
json one(const char* kind, json content);
json ints(IntArrayRef list);
json integer(int64_t n);
json flag(bool on);
json real(double x);
json text(std::string_view t);
json none();
json type(DType d);
/// A number as an operand of a call whose tensors have dtype `of`.
json number(const Scalar& s, DType of);

/// Return how many elements of the tensor's dtype its memory holds.
int64_t elements_of(const Tensor& t);

class Recorder {
 public:
  Recorder(const std::vector<NamedState>& state, TensorList inputs);

  /// Return the name of a tensor's value, after calls that make it from the value of its storage.
  std::string read(const Tensor& t);
  json tensor(const Tensor& t);
  /// As above for a tensor that may be undefined.
  json optional(const Tensor& t) { return t.defined() ? tensor(t) : none(); }
  /// Refer to a value by its name.
  static json value(const std::string& name);
  /// Add a call of one result with these sizes and return the result's name.
  std::string call(std::string_view target, std::vector<Named> arguments, DType dtype,
                   IntArrayRef sizes);
  /// As above for several results, given as (dtype, sizes).
  std::vector<std::string> call_many(std::string_view target, std::vector<Named> arguments,
                                     const std::vector<std::pair<DType, Dims>>& results);
  /// Give a tensor a new value, of the tensor's dtype and sizes.
  void write(const Tensor& y, const std::string& name);
  /// Mark a result that the program does not compute; reading it is an error.
  void forget(const Tensor& y);
  bool is_forgotten(const Tensor& t) const;
  [[noreturn]] void refuse(std::string_view what) const;
  /// Set the kernel that calls and errors name from here on.
  void enter(const char* kernel);

  Captured finish(const std::vector<Tensor>& outputs);

 private:
  struct Content {
    std::string name;  // empty if the value is not known
    DType dtype = kFloat32;
    Dims sizes;    // of the whole value, which is row-major
    Tensor owner;  // keeps the storage alive, so that its address stays unique
    std::map<std::string, std::string> views{};
  };
  /// A view of a block of memory. If the block has the row-major sizes `factors`, the view covers
  /// [start, start + length) along each. `dims`: the dims of the view in the order of the factors.
  struct Layout {
    Dims factors, starts, lengths;
    std::vector<size_t> dims;
  };
  /// A write to a part of a block that has no value yet.
  struct Part {
    Layout layout;
    std::string name;  // a value of sizes layout.lengths
  };

  std::string declare(std::string_view base, DType dtype, IntArrayRef sizes);
  void add_input(const std::string& name, json spec, const Tensor& t);
  void store(const Tensor& t, const std::string& name);
  Content& content(const Tensor& t);
  std::string add_constant(const Tensor& t);
  std::optional<Layout> find_layout(const Tensor& t) const;
  Layout layout_of(const Tensor& t) const;
  std::string view_of(Content& c, const Tensor& t);
  /// One dim of a content that a view reads, from position `start` on. `dims`: the dims of the view
  /// that step along this dim. `packed` gets the dims of the view in the order of the result.
  struct Axis {
    int64_t size = 0, stride = 0, start = 0;
    std::vector<size_t> dims{};
  };
  std::vector<Axis> axes_of(Dims& sizes, const Tensor& t) const;
  std::string selected(const Content& whole, const Tensor& t, std::vector<size_t>& packed);
  std::string windows_of(const Content& c, const Tensor& t, const std::vector<Axis>& axes,
                         std::vector<size_t>& packed);
  std::string arranged(std::string name, const Content& c, const Tensor& t,
                       const std::vector<size_t>& packed);
  std::string as_part(const Tensor& y, const Layout& layout, const std::string& name);
  Content join_parts(const Tensor& t, const std::vector<Part>& parts);
  std::string sliced(const std::string& name, DType dtype, const Dims& from, size_t dim,
                     int64_t start, int64_t length);
  std::string reshaped(const std::string& name, DType dtype, IntArrayRef from, IntArrayRef to);
  std::string permuted(const std::string& name, DType dtype, const Dims& from, const Dims& order);
  std::string scattered(const std::string& into, DType dtype, const Part& part);
  json meta_of(DType dtype, IntArrayRef sizes, bool requires_grad) const;

  std::map<const void*, Content> contents_;  // by storage
  std::map<const void*, std::vector<Part>> parts_;
  std::vector<Tensor> owners_;
  std::map<std::string, int> used_names_;
  json inputs_ = json::array(), specs_ = json::array(), nodes_ = json::array();
  json values_ = json::object();
  std::vector<std::pair<std::string, json>> user_inputs_;
  std::map<std::string, Tensor> state_;
  std::map<const void*, std::string> module_of_;  // key: the storage of a parameter or buffer
  std::string kernel_, module_;
  int constants_ = 0;
  std::map<const void*, std::string> given_;  // parameters, buffers and inputs by storage
};

}  // namespace ambit::graph::capturing
