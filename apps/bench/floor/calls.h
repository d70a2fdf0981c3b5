// oneDNN primitives with their arguments, made once and then only run. All data is float32.
#pragma once

#include <dnnl.hpp>
#include <utility>
#include <vector>

namespace bench::floor {

const dnnl::engine& engine();
const dnnl::stream& stream();

dnnl::memory::desc describe(const dnnl::memory::dims& sizes, dnnl::memory::format_tag tag);
dnnl::memory::desc row_major(const dnnl::memory::dims& sizes);

/// Make memory of its own, filled with zeros, as the padding in oneDNN's layouts must be.
dnnl::memory allocate(const dnnl::memory::desc& desc);
/// Look at the same bytes in another way.
dnnl::memory view(const dnnl::memory& data, const dnnl::memory::desc& desc);
/// Reorder once.
void copy(dnnl::memory from, dnnl::memory to);
/// Add up all elements.
double sum(const dnnl::memory& data);

/// Primitives in the order in which they run.
class Calls {
 public:
  void add(const dnnl::primitive& primitive,
           const std::vector<std::pair<int, dnnl::memory>>& arguments);
  /// Add a reorder, unless the layout is the wanted one. Return where the data then is.
  dnnl::memory add_reorder(const dnnl::memory& from, const dnnl::memory::desc& wanted);
  void run() const;

 private:
  struct Call {
    dnnl::primitive primitive;
    std::vector<dnnl_exec_arg_t> arguments;
  };
  std::vector<Call> calls_;
  std::vector<dnnl::memory> memories_;  // keeps alive what the arguments point at
};

}  // namespace bench::floor
