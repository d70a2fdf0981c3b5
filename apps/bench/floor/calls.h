// oneDNN primitives with their arguments, made once and then only run.
#pragma once

#include <dnnl.hpp>
#include <utility>
#include <vector>

namespace bench::floor {

/// The one engine and stream.
const dnnl::engine& engine();
const dnnl::stream& stream();

/// Describe float32 data.
dnnl::memory::desc describe(const dnnl::memory::dims& sizes, dnnl::memory::format_tag tag);

/// Make memory that belongs to the memory object, filled with zeros: oneDNN wants the padding of
/// its blocked formats to be.
dnnl::memory allocate(const dnnl::memory::desc& desc);

/// Primitives in the order in which they run.
class Calls {
 public:
  void add(const dnnl::primitive& primitive,
           const std::vector<std::pair<int, dnnl::memory>>& arguments);
  /// Add a reorder, if the layouts differ. Return where the data then is in the wanted layout.
  dnnl::memory add_reorder(const dnnl::memory& from, const dnnl::memory::desc& wanted);
  /// Run all of them.
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
