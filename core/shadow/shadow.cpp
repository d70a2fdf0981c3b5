// The kernels that run a call on both devices, and the entry of libambit_shadow.so.
#include <ambit/autograd.h>
#include <ambit/backend/kernels.h>
#include <ambit/error.h>
#include <ambit/settings.h>
#include <fmt/format.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <exception>
#include <map>
#include <mutex>
#include <utility>

#include "compare.h"
#include "core/devices/shadow.h"
#include "report.h"
#include "trajectory.h"

namespace ambit::shadow {
namespace {

// True while the thread runs a call on both devices. Kernels that a kernel calls are part of it.
thread_local bool is_busy = false;

struct Busy {
  Busy() { is_busy = true; }
  ~Busy() { is_busy = false; }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;
};

// One call at a time: another thread's kernels could write to a block while it is compared.
std::mutex& one_at_a_time() {
  static auto* mutex = new std::mutex;
  return *mutex;
}

// The number of calls so far, and the last module. Guarded by the mutex.
class Progress {
 public:
  Place next(const Call& call) {
    if (&call.op() == &kernels::sgd_step || &call.op() == &kernels::adam_step)
      ++place_.optimizer_calls;
    ++place_.calls;
    place_.calls_of_op = ++calls_of_[&call.op()];
    Place place = place_;
    const std::string parameter = parameter_of(call);
    if (parameter.empty()) {
      if (!last_module_.empty()) place.module = "none; the last one was " + last_module_;
      return place;
    }
    const size_t dot = parameter.rfind('.');
    last_module_ = dot == parameter.npos ? "the root" : parameter.substr(0, dot);
    place.module = fmt::format("{} ({})", last_module_, parameter);
    return place;
  }

 private:
  Place place_;
  std::map<const OpBase*, uint64_t> calls_of_;
  std::string last_module_;
};

Progress& progress() {
  static auto* all = new Progress;
  return *all;
}

void report(const Call& call, const std::string& fault, const Place& place) {
  if (follows_trajectory()) return Trajectory::get().add_fault(call, fault, place);
  const std::string text = report_of(call, fault, place, write_reproducer(call, fault));
  std::fputs(text.c_str(), stderr);
  throw BackendError(fmt::format("{}: expected the results of {}, got others: {}", name_of(call),
                                 shadow_device().str(), fault.substr(0, fault.find('\n'))));
}

// Run the shadow's kernel; set `fault` if it refuses data that the device's kernel accepted. Return
// false if the shadow cannot run the call.
template <class Run>
bool run_shadow(const Run& run, std::string& fault) {
  try {
    run();
    return true;
  } catch (const NotImplementedError&) {
    return false;
  } catch (const OutOfMemoryError&) {
    return false;
  } catch (const Error& e) {
    fault =
        fmt::format("expected an error of the kernel, as on the shadow, got none: {}", e.what());
    return true;
  }
}

// The registered kernels, by device kind.
template <auto& op>
std::array<std::atomic<AnyKernel>, kMaxDeviceKinds> originals{};

template <auto& op, class Signature>
struct Shadowed;

template <auto& op, class... A>
struct Shadowed<op, void(A...)> {
  using Kernel = void (*)(A...);

  static void run(A... args) {
    Call call(op);
    (call.add(args), ...);
    const auto kernel =
        reinterpret_cast<Kernel>(originals<op>[static_cast<size_t>(call.device().kind())].load());
    if (is_busy) return kernel(args...);
    const Busy busy;
    shadow_device();  // may load a plugin, which other threads may wait for
    const std::lock_guard lock(one_at_a_time());
    const Place place = progress().next(call);
    const bool follows = follows_trajectory();
    call.prepare();
    if (follows) Trajectory::get().begin(call);
    run_on(call, kernel, false, std::index_sequence_for<A...>());
    call.read_results();
    std::string fault;
    if (is_deterministic() && !call.may_be_native()) {
      call.prepare_again();
      run_on(call, kernel, false, std::index_sequence_for<A...>());
      fault = call.other_bits();
    }
    const NoGradGuard no_grad;
    const auto shadow = [&] {
      run_on(call, op, true, std::index_sequence_for<A...>());
      call.read_expected();
    };
    bool is_computed = run_shadow(shadow, fault);
    if (is_computed && fault.empty()) fault = find_fault(call).value_or("");
    if (!fault.empty()) report(call, fault, place);
    if (follows) {
      const auto from_twins = [&] {
        call.prepare_twins();
        shadow();
      };
      std::string refused;
      is_computed = is_computed && run_shadow(from_twins, refused) && refused.empty();
      Trajectory::get().end(call, place, is_computed);
    }
    call.finish();
  }

 private:
  template <class Function, size_t... I>
  static void run_on(Call& call, const Function& function, bool of_shadow,
                     std::index_sequence<I...>) {
    function(call.argument<A>(I, of_shadow)...);
  }
};

template <auto& op>
AnyKernel wrap_kernel(size_t kind, AnyKernel kernel) {
  originals<op>[kind].store(kernel);
  return reinterpret_cast<AnyKernel>(&Shadowed<op, Signature<op>>::run);
}

AnyKernel wrap(const OpBase& op, size_t kind, AnyKernel kernel) {
#define AMBIT_WRAP(name) \
  if (&op == &kernels::name) return wrap_kernel<kernels::name>(kind, kernel);
  AMBIT_KERNELS(AMBIT_WRAP)
#undef AMBIT_WRAP
  return kernel;
}

constexpr ShadowLibrary kLibrary{wrap};

}  // namespace
}  // namespace ambit::shadow

extern "C" AMBIT_API const void* ambit_shadow() { return &ambit::shadow::kLibrary; }
