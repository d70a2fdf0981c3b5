#include "onednn.h"

#include <ambit/error.h>
#include <dnnl_debug.h>
#include <fmt/format.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <unordered_map>

#include "library_use.h"
#include "scratch.h"

namespace ambit::cpu::onednn {
namespace {

using dnnl::memory;

dnnl::stream& stream() {
  thread_local dnnl::stream s(engine());
  return s;
}

dnnl::primitive_attr user_scratchpad() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

/// Return a post-op that applies gelu or gelu_tanh to the result.
dnnl::post_ops post_op(UnaryOp map) {
  const auto algorithm =
      map == UnaryOp::gelu ? dnnl::algorithm::eltwise_gelu_erf : dnnl::algorithm::eltwise_gelu_tanh;
  dnnl::post_ops ops;
#if DNNL_VERSION_MAJOR >= 3
  ops.append_eltwise(algorithm, 0, 0);
#else
  ops.append_eltwise(1, algorithm, 0, 0);
#endif
  return ops;
}

memory::data_type data_type(DType dtype) {
  assert(dtype == kFloat32 || dtype == kBFloat16);
  return dtype == kBFloat16 ? memory::data_type::bf16 : memory::data_type::f32;
}

/// Convert to oneDNN's convention: the number of elements between taps.
memory::dims between_taps(memory::dims dilation) {
  for (int64_t& d : dilation) --d;
  return dilation;
}

/// Limits of the plans per thread, and of the primitives that oneDNN shares between threads. A
/// primitive consists mostly of code generated for its shape, in blocks of 256 KiB, so the limits
/// are 64 and 128 MiB.
constexpr size_t kMostPlans = 256;
constexpr int kMostPrimitives = 512;

/// Clear oneDNN's cache. A primitive whose creation failed half-way stays in it as a future that is
/// never set (a deadlock).
void forget_primitives() {
  dnnl_set_primitive_cache_capacity(0);
  dnnl_set_primitive_cache_capacity(kMostPrimitives);
}

/// Check that memory is available: oneDNN crashes if an allocation fails while it creates a
/// primitive, which needs less than this. Errors: OutOfMemoryError.
void check_room(const char* op) {
  constexpr size_t kRoom = size_t{64} << 20;
  void* const room = std::malloc(kRoom);  // never touched, so no pages are committed
  std::free(room);
  if (!room) throw OutOfMemoryError(fmt::format("{}: expected memory to prepare it, got none", op));
}

struct KeyHash {
  size_t operator()(const Key& key) const { return key.hash(); }
};

struct Cache {
  struct Slot {
    Plan plan;
    uint64_t last_use;
  };
  static constexpr size_t kLimit = kMostPlans;

  void drop_oldest() {
    const auto older = [](const auto& a, const auto& b) {
      return a.second.last_use < b.second.last_use;
    };
    slots.erase(std::min_element(slots.begin(), slots.end(), older));
  }

  std::unordered_map<Key, Slot, KeyHash> slots;
  uint64_t uses = 0;
};

}  // namespace

// Leaked on purpose: thread-local plans may be destroyed after every static.
const dnnl::engine& engine() {
  static const auto* e = [] {
    dnnl_set_primitive_cache_capacity(kMostPrimitives);
    return new dnnl::engine(dnnl::engine::kind::cpu, 0);
  }();
  return *e;
}

void check(const char* op, dnnl_status_t status) {
  if (status == dnnl_success) return;
  if (status == dnnl_out_of_memory) {
    throw OutOfMemoryError(fmt::format("{}: expected memory for oneDNN, got none", op));
  }
  throw BackendError(
      fmt::format("{}: expected oneDNN to succeed, got {}", op, dnnl_status2str(status)));
}

void sgemm(const Sgemm& g) {
  const auto multiply = [&g] {
    const OneThread one;
    check(g.op, dnnl_sgemm(g.a_transposed, g.b_transposed, g.M, g.N, g.K, 1, g.a, g.a_leading, g.b,
                           g.b_leading, g.beta, g.y, g.y_leading));
  };
  // oneDNN generates code at the first call of each kind; run that call alone, after check_room().
  // The release store follows that call, so a thread whose acquire load returns true sees the code.
  static std::array<std::atomic<bool>, 64> generated{};
  static std::mutex generating;
  const int kind = (g.a_transposed == 'T') << 5 | (g.b_transposed == 'T') << 4 |
                   (g.beta != 0) << 3 | (g.M <= 16) << 2 | (g.N <= 16) << 1 |
                   (g.M * g.N * g.K < int64_t{1} << 18);
  if (generated[kind].load(std::memory_order_acquire)) return multiply();
  const std::lock_guard lock(generating);
  check_room(g.op);
  multiply();
  LibraryUse::precede_at_exit();
  generated[kind].store(true, std::memory_order_release);
}

size_t Key::hash() const {
  uint64_t h = 14695981039346656037u;
  for (size_t i = 0; i < size_; ++i) {
    h = (h ^ static_cast<uint64_t>(words_[i])) * 0x9E3779B97F4A7C15u;
    h ^= h >> 32;
  }
  return h;
}

memory Plan::temporary(const memory::desc& desc) {
  memory m(desc, engine(), nullptr);
  temporaries_.push_back({m, scratch_bytes_});
  scratch_bytes_ += (desc.get_size() + 63) / 64 * 64;
  return m;
}

void Plan::input(int argument, const memory::desc& given, const memory::desc& wanted) {
  data_.emplace_back(given, engine(), nullptr);
  wanted_.push_back(data_.back());
  if (given != wanted) {
    wanted_.back() = temporary(wanted);
    before_.push_back({dnnl::reorder(data_.back(), wanted_.back()), data_.back(), wanted_.back()});
  }
  arguments_.push_back({argument, wanted_.back().get()});
}

void Plan::output(int argument, const memory::desc& given, const memory::desc& wanted) {
  data_.emplace_back(given, engine(), nullptr);
  wanted_.push_back(data_.back());
  if (given != wanted) {
    wanted_.back() = temporary(wanted);
    after_.push_back({dnnl::reorder(wanted_.back(), data_.back()), wanted_.back(), data_.back()});
  }
  arguments_.push_back({argument, wanted_.back().get()});
}

void Plan::finish(dnnl::primitive primitive, const memory::desc& scratchpad) {
  primitive_ = std::move(primitive);
  if (scratchpad.get_size() == 0) return;
  wanted_.push_back(temporary(scratchpad));
  arguments_.push_back({DNNL_ARG_SCRATCHPAD, wanted_.back().get()});
}

void Plan::execute(const Reorder& reorder) const {
  const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_FROM, reorder.from.get()},
                                       {DNNL_ARG_TO, reorder.to.get()}};
  check(op_, dnnl_primitive_execute(reorder.primitive.get(), stream().get(), 2, arguments));
}

memory::desc Plan::wanted(int argument) const {
  const auto found = std::find_if(arguments_.begin(), arguments_.end(),
                                  [&](const dnnl_exec_arg_t& a) { return a.arg == argument; });
  return wanted_.at(static_cast<size_t>(found - arguments_.begin())).get_desc();
}

void Plan::made_by(const char* implementation) {
  const std::string_view text(implementation);
  const bool uses_im2col = text.find("gemm") != text.npos;
  multiplies_padding_ = uses_im2col || text.find("amx") != text.npos;
  is_tuned_ = !text.starts_with("ref") && !uses_im2col;
}

void Plan::run(std::initializer_list<const void*> data) {
  const OneThread one;
  const Scratch scratch(scratch_bytes_);
  size_t i = 0;
  for (const void* p : data) {
    // oneDNN's memory objects accept only non-const pointers; inputs are only read.
    check(op_, dnnl_memory_set_data_handle(data_[i++].get(), const_cast<void*>(p)));
  }
  for (const Temporary& t : temporaries_) {
    check(op_, dnnl_memory_set_data_handle(t.memory.get(), scratch.data() + t.offset));
  }
  for (const Reorder& r : before_) execute(r);
  check(op_, dnnl_primitive_execute(primitive_.get(), stream().get(),
                                    static_cast<int>(arguments_.size()), arguments_.data()));
  for (const Reorder& r : after_) execute(r);
}

Plan& cached(const char* op, const Key& key, Plan (*make)(const void*), const void* context) {
  // One cache per thread, since a plan holds the data pointers of the call that runs.
  thread_local Cache cache;
  auto found = cache.slots.find(key);
  if (found == cache.slots.end()) {
    if (cache.slots.size() >= Cache::kLimit) cache.drop_oldest();
    check_room(op);
    const OneThread one;
    try {
      found = cache.slots.emplace(key, Cache::Slot{make(context), 0}).first;
    } catch (const dnnl::error& e) {
      forget_primitives();
      check(op, e.status);
      throw;
    } catch (const Error&) {
      throw;
    } catch (const std::exception&) {  // std::bad_alloc, or converted by oneDNN
      forget_primitives();
      throw OutOfMemoryError(fmt::format("{}: expected memory for a primitive, got none", op));
    }
    LibraryUse::precede_at_exit();
  }
  found->second.last_use = ++cache.uses;
  return found->second.plan;
}

memory::desc describe(DType dtype, IntArrayRef sizes, IntArrayRef strides) {
  const Dims row_major = strides.empty() ? contiguous_strides(sizes) : Dims(strides);
  return {sizes.vec(), data_type(dtype), memory::dims(row_major.begin(), row_major.end())};
}

memory::desc channels_last(DType dtype, IntArrayRef sizes) {
  return {sizes.vec(), data_type(dtype),
          sizes.size() == 5 ? memory::format_tag::ndhwc : memory::format_tag::nhwc};
}

memory::desc any_layout(DType dtype, IntArrayRef sizes) {
  return {sizes.vec(), data_type(dtype), memory::format_tag::any};
}

dnnl::reorder reorder(const memory::desc& from, const memory::desc& to) {
  return dnnl::reorder(dnnl::reorder::primitive_desc(engine(), from, engine(), to));
}

// In the functions below, oneDNN 2.x needs a descriptor of the operation; 3.x accepts its arguments
// directly.

dnnl::matmul::primitive_desc matmul(const memory::desc& a, const memory::desc& b,
                                    const memory::desc& bias, const memory::desc& y,
                                    std::optional<UnaryOp> map) {
  dnnl::primitive_attr attributes = user_scratchpad();
  if (map) attributes.set_post_ops(post_op(*map));
#if DNNL_VERSION_MAJOR >= 3
  return {engine(), a, b, bias, y, attributes};
#else
  return {{a, b, bias, y}, attributes, engine()};
#endif
}

dnnl::convolution_forward::primitive_desc convolution(const Convolution& c) {
  const memory::dims dilation = between_taps(c.dilation);
  const auto kind = dnnl::prop_kind::forward_training;
  const auto algorithm = dnnl::algorithm::convolution_direct;
#if DNNL_VERSION_MAJOR >= 3
  return {
      engine(),        kind,          algorithm,        c.x, c.w, c.bias, c.y, c.stride, dilation,
      c.padding_begin, c.padding_end, user_scratchpad()};
#else
  return {
      {kind, algorithm, c.x, c.w, c.bias, c.y, c.stride, dilation, c.padding_begin, c.padding_end},
      user_scratchpad(),
      engine()};
#endif
}

dnnl::convolution_backward_data::primitive_desc convolution_input_grad(const Convolution& c) {
  const memory::dims dilation = between_taps(c.dilation);
  const auto algorithm = dnnl::algorithm::convolution_direct;
#if DNNL_VERSION_MAJOR >= 3
  return {engine(),
          algorithm,
          c.x,
          c.w,
          c.y,
          c.stride,
          dilation,
          c.padding_begin,
          c.padding_end,
          convolution(c),
          user_scratchpad()};
#else
  return {{algorithm, c.x, c.w, c.y, c.stride, dilation, c.padding_begin, c.padding_end},
          user_scratchpad(),
          engine(),
          convolution(c)};
#endif
}

dnnl::convolution_backward_weights::primitive_desc convolution_weight_grad(const Convolution& c) {
  const memory::dims dilation = between_taps(c.dilation);
  const auto algorithm = dnnl::algorithm::convolution_direct;
#if DNNL_VERSION_MAJOR >= 3
  return {engine(),
          algorithm,
          c.x,
          c.dw,
          c.y,
          c.stride,
          dilation,
          c.padding_begin,
          c.padding_end,
          convolution(c),
          user_scratchpad()};
#else
  return {{algorithm, c.x, c.dw, c.y, c.stride, dilation, c.padding_begin, c.padding_end},
          user_scratchpad(),
          engine(),
          convolution(c)};
#endif
}

}  // namespace ambit::cpu::onednn
