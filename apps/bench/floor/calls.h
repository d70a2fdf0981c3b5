// oneDNN primitives with their arguments, created once and then only executed. All data is float32.
#pragma once

#include <dnnl.hpp>
#include <utility>
#include <vector>

namespace bench::floor {

const dnnl::engine& engine();
const dnnl::stream& stream();

dnnl::memory::desc describe(const dnnl::memory::dims& sizes, dnnl::memory::format_tag tag);
dnnl::memory::desc row_major(const dnnl::memory::dims& sizes);

/// Allocate memory filled with zeros, as the padding in oneDNN's layouts requires.
dnnl::memory allocate(const dnnl::memory::desc& desc);
/// Return the same memory with another descriptor.
dnnl::memory view(const dnnl::memory& data, const dnnl::memory::desc& desc);
/// Reorder `from` into `to`.
void copy(dnnl::memory from, dnnl::memory to);
/// Return the sum of all elements.
double sum(const dnnl::memory& data);

/// Primitives in order of execution.
class Calls {
 public:
  void add(const dnnl::primitive& primitive,
           const std::vector<std::pair<int, dnnl::memory>>& arguments);
  /// Add a reorder, unless the layout is the wanted one. Return the memory that then holds the
  /// data.
  dnnl::memory add_reorder(const dnnl::memory& from, const dnnl::memory::desc& wanted);
  void run() const;

 private:
  struct Call {
    dnnl::primitive primitive;
    std::vector<dnnl_exec_arg_t> arguments;
  };
  std::vector<Call> calls_;
  std::vector<dnnl::memory> memories_;  // keeps the arguments' memory alive
};

}  // namespace bench::floor
