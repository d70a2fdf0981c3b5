// The kernels that record their calls, and the entry of libambit_capture.so. Recording at the
// kernels costs other programs no instruction, and the list of kernels is complete, because every
// function calls kernels. Recorded programs are therefore in a decomposed form.
#include <ambit/autograd.h>
#include <ambit/detail/upcast_call.h>
#include <ambit/error.h>
#include <ambit/ops/elementwise.h>
#include <fmt/format.h>

#include <atomic>
#include <cstring>
#include <mutex>
#include <tuple>
#include <utility>

#include "kernels.h"

namespace ambit::graph::capturing {
namespace {

// The recorder of the thread that captures. It is null while a kernel runs, because calls that a
// kernel makes are not recorded separately.
thread_local Recorder* active = nullptr;

class Active {
 public:
  explicit Active(Recorder* next) : before_(std::exchange(active, next)) {}
  ~Active() { active = before_; }
  Active(const Active&) = delete;
  Active& operator=(const Active&) = delete;

 private:
  Recorder* before_;
};

// Access to the table of kernels.
struct Table : OpBase {
  static AnyKernel kernel(const OpBase& op) { return (op.*&Table::find)(DeviceKind::cpu); }
  static void replace(OpBase& op, AnyKernel kernel) {
    (op.*&Table::set_kernel)(static_cast<size_t>(DeviceKind::cpu), kernel);
  }
  // Set whether the kernel receives wide unsigned integers unconverted, so that calls are recorded
  // with these dtypes and not with the signed dtypes that kernels receive.
  static void accept_unsigned(OpBase& op, bool on) {
    std::atomic<uint32_t>& native = (op.*&Table::native_)[static_cast<size_t>(DeviceKind::cpu)];
    const uint32_t before = native.load(std::memory_order_relaxed),
                   bits = dtypes::kWideUnsigned.bits;
    native.store(on ? before | bits : before & ~bits, std::memory_order_relaxed);
  }
};

template <auto& op>
std::atomic<AnyKernel> original{};

#define AMBIT_RECORDED(row)                                                                       \
  row(unary) row(binary) row(binary_scalar) row(ternary) row(compare) row(compare_scalar)         \
      row(clamp) row(copy) row(fill) row(where) row(masked_fill) row(reduce) row(arg_reduce)      \
          row(scan) row(sort) row(topk) row(gather) row(scatter) row(scatter_add)                 \
              row(index_select) row(embedding_bag) row(matmul) row(linear) row(linear_map)        \
                  row(convolution) row(convolution_map) row(convolution_input_grad) row(max_pool) \
                      row(avg_pool) row(interpolate) row(softmax) row(batch_norm) row(layer_norm) \
                          row(group_norm) row(attention) row(lstm_cell) row(gru_cell)             \
                              row(nll_loss) row(cross_entropy)

// Not `&op == &other`: GCC with -fsanitize=undefined does not compare addresses at compile time.
template <auto& op, auto& other>
constexpr bool is_same = false;
template <auto& op>
constexpr bool is_same<op, op> = true;

template <auto& op, class... A>
void record(Recorder& recorder, const A&... args) {
  Writer writer(recorder);
  recorder.enter(op.name());
#define AMBIT_RECORD(name) \
  if constexpr (is_same<op, kernels::name>) return writer.name(args...);
  AMBIT_RECORDED(AMBIT_RECORD)
#undef AMBIT_RECORD
  recorder.refuse(
      "calls that do not depend on values or random numbers and have an operator in the graph");
}

template <auto& op, class Signature>
struct Recorded;

template <auto& op, class... A>
struct Recorded<op, void(A...)> {
  static void run(A... args) {
    if (!active) return run_kernel(args...);
    Recorder& recorder = *active;
    const Active none(nullptr);
    record<op>(recorder, args...);
    run_kernel(args...);
  }
  // Convert as the dispatcher does, which passes wide unsigned integers unconverted while this is
  // installed.
  static void run_kernel(A... args) {
    OneDevice operands;
    (operands.add(args), ...);
    if ((operands.converted_dtypes().bits & dtypes::kWideUnsigned.bits) == 0) {
      return reinterpret_cast<void (*)(A...)>(original<op>.load())(args...);
    }
    UpcastCall call(op);
    (call.collect(args), ...);
    call.run([&](Tensor* next) {
      std::tuple<decltype(call.converted(args, next))...> converted{call.converted(args, next)...};
      std::apply(op, converted);
    });
  }
};

// Replaces the kernels of the cpu while a forward is captured. Calls of other threads are executed
// but not recorded.
class Installed {
 public:
  Installed() : lock_(one_at_a_time()) {
#define AMBIT_INSTALL(name) install<kernels::name>();
    AMBIT_KERNELS(AMBIT_INSTALL)
#undef AMBIT_INSTALL
  }
  ~Installed() {
#define AMBIT_RESTORE(name) restore<kernels::name>();
    AMBIT_KERNELS(AMBIT_RESTORE)
#undef AMBIT_RESTORE
  }
  Installed(const Installed&) = delete;
  Installed& operator=(const Installed&) = delete;

 private:
  static std::mutex& one_at_a_time() {
    static auto* mutex = new std::mutex;
    return *mutex;
  }
  template <auto& op>
  static void restore() {
    const AnyKernel kernel = original<op>.load();
    if (!kernel) return;
    Table::accept_unsigned(op, false);
    Table::replace(op, kernel);
  }
  template <auto& op>
  static void install() {
    const AnyKernel kernel = Table::kernel(op);
    original<op>.store(kernel);
    if (!kernel) return;
    Table::replace(op, reinterpret_cast<AnyKernel>(&Recorded<op, Signature<op>>::run));
    Table::accept_unsigned(op, true);
  }

  std::lock_guard<std::mutex> lock_;
};

Captured record_forward(const std::vector<NamedState>& state, const Forward& forward,
                        TensorList inputs) {
  Recorder recorder(state, inputs);
  std::vector<Tensor> outputs;
  {
    const Installed installed;
    const Active on(&recorder);
    const NoGradGuard no_grad;
    outputs = forward(inputs);
  }
  return recorder.finish(outputs);
}

bool has_same_bytes(const Tensor& a, const Tensor& b) {
  return a.sizes() == b.sizes() && a.dtype() == b.dtype() &&
         (a.is_same(b) ||
          std::memcmp(a.contiguous().data_ptr(), b.contiguous().data_ptr(), a.nbytes()) == 0);
}

// Refuse a forward whose calls or constants differ for inputs with other values.
void expect_same(const Captured& first, const Captured& other) {
  constexpr const char* kExpected =
      "graph::capture: expected calls and constants that do not depend on the values of the "
      "inputs, got ";
  const json a = json::parse(first.document), b = json::parse(other.document);
  const json &nodes = a.at("graph_module").at("graph").at("nodes"),
             &others = b.at("graph_module").at("graph").at("nodes");
  for (size_t i = 0; i < nodes.size() && i < others.size(); ++i) {
    if (nodes[i] == others[i]) continue;
    const std::string target = nodes[i].at("target");
    const std::string modules = nodes[i].at("metadata").value("nn_module_stack", "");
    const size_t comma = modules.find(',');
    const std::string path =
        comma == modules.npos ? "" : modules.substr(comma + 1, modules.rfind(',') - comma - 1);
    throw NotImplementedError(fmt::format("{}another call of {} (call {}{}{})", kExpected,
                                          target.substr(target.find("aten")), i,
                                          path.empty() ? "" : " of the module ", path));
  }
  if (first.document != other.document) {
    throw NotImplementedError(
        fmt::format("{}{} and {} calls", kExpected, nodes.size(), others.size()));
  }
  for (const auto& [name, tensor] : first.state) {
    if (has_same_bytes(tensor, other.state.at(name))) continue;
    throw NotImplementedError(fmt::format("{}another constant {}", kExpected, name));
  }
}

Captured run(const std::vector<NamedState>& state, const Forward& forward, TensorList inputs) {
  Captured captured = record_forward(state, forward, inputs);
  // Reads of values on the host are not kernel calls and are not recorded, but affect later calls.
  for (const double sign : {1.0, 0.0}) {
    std::vector<Tensor> others;
    for (const Tensor& t : inputs) {
      others.push_back(t.is_floating_point() ? (sign - t).detach() : t);
    }
    Captured again;
    try {
      again = record_forward(state, forward, others);
    } catch (const Error&) {
      continue;  // forward() refuses these values
    }
    expect_same(captured, again);
  }
  return captured;
}

constexpr Library kLibrary{run};

}  // namespace
}  // namespace ambit::graph::capturing

extern "C" AMBIT_API const void* ambit_capture() { return &ambit::graph::capturing::kLibrary; }
