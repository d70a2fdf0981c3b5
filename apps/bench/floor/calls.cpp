#include "calls.h"

#include <cstring>
#include <numeric>

namespace bench::floor {

using dnnl::memory;

const dnnl::engine& engine() {
  static const dnnl::engine e(dnnl::engine::kind::cpu, 0);
  return e;
}

const dnnl::stream& stream() {
  static const dnnl::stream s(engine());
  return s;
}

memory::desc describe(const memory::dims& sizes, memory::format_tag tag) {
  return {sizes, memory::data_type::f32, tag};
}

memory::desc row_major(const memory::dims& sizes) {
  memory::dims strides(sizes.size(), 1);
  for (size_t i = sizes.size() - 1; i > 0; --i) strides[i - 1] = strides[i] * sizes[i];
  return {sizes, memory::data_type::f32, strides};
}

memory allocate(const memory::desc& desc) {
  memory made(desc, engine());
  std::memset(made.get_data_handle(), 0, desc.get_size());
  return made;
}

memory view(const memory& data, const memory::desc& desc) {
  return {desc, engine(), data.get_data_handle()};
}

void copy(memory from, memory to) { dnnl::reorder(from, to).execute(stream(), from, to); }

double sum(const memory& data) {
  const auto* values = static_cast<const float*>(data.get_data_handle());
  return std::accumulate(values, values + data.get_desc().get_size() / sizeof(float), 0.0);
}

void Calls::add(const dnnl::primitive& primitive,
                const std::vector<std::pair<int, memory>>& arguments) {
  Call call{primitive, {}};
  for (const auto& [name, data] : arguments) {
    call.arguments.push_back({name, data.get()});
    memories_.push_back(data);
  }
  calls_.push_back(std::move(call));
}

memory Calls::add_reorder(const memory& from, const memory::desc& wanted) {
  if (from.get_desc() == wanted) return from;
  const memory to = allocate(wanted);
  add(dnnl::reorder(from, to), {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
  return to;
}

void Calls::run() const {
  // The C function, because the C++ wrapper allocates a vector of arguments in each call.
  for (const Call& call : calls_) {
    dnnl::error::wrap_c_api(
        dnnl_primitive_execute(call.primitive.get(), stream().get(),
                               static_cast<int>(call.arguments.size()), call.arguments.data()),
        "could not run a primitive");
  }
}

}  // namespace bench::floor
