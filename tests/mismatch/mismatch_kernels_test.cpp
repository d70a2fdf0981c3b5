// DeviceMismatchError of every kernel op called directly: each tensor argument in turn on another
// device than the rest, on every pair of devices. Kernels are called with whatever parameters and
// shapes: the device check is before all else.
#include "mismatch.h"

using namespace ambit;
using namespace mismatch;

namespace {

// How many tensors an argument takes: lists have two each.
template <class A>
constexpr size_t count_of = std::is_same_v<std::remove_cvref_t<A>, Tensor> ? 1
                            : std::is_same_v<A, TensorList>                ? 2
                                                                           : 0;
template <class... A>
constexpr size_t tensor_count = (count_of<A> + ...);

// One argument of the call; tensors are given and the rest is left at its default.
template <class A>
std::remove_cvref_t<A> argument(const std::vector<Tensor>& tensors, size_t& next) {
  const Tensor* first = tensors.data() + next;
  next += count_of<A>;
  if constexpr (std::is_same_v<A, TensorList>) {
    return {first, count_of<A>};
  } else if constexpr (count_of<A> == 1) {
    return *first;
  } else {
    return {};
  }
}

template <class... A>
void call(const Op<void(A...)>& op, const std::vector<Tensor>& tensors) {
  size_t next = 0;  // braces evaluate from left to right
  std::tuple<std::remove_cvref_t<A>...> arguments{argument<A>(tensors, next)...};
  std::apply([&](auto&... a) { op(a...); }, arguments);
}

// The first tensor sets the expected device, so that the second breaks with it if it is the first
// that is elsewhere. The names of the arguments are the op's own affair.
template <class... A>
void check_op(const Op<void(A...)>& op, TwoDevices devices, size_t elsewhere) {
  INFO(std::string(op.name()), " argument ", elsewhere, " on ", devices.there.str(), " others on ",
       devices.here.str());
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < tensor_count<A...>; ++i) {
    tensors.push_back(ones({2, 2}).to(i == elsewhere ? devices.there : devices.here));
    tensors.back().set_name("layer.p" + std::to_string(i));
  }
  Complaint complaint{op.name(), {}, tensors, 0, elsewhere == 0 ? 1 : elsewhere};
  try {
    call(op, tensors);
  } catch (const DeviceMismatchError& e) {
    for (const std::string& line : lines_of(e.explain())) {
      if (line.starts_with("  #")) complaint.names.push_back(words_of(line)[1]);
    }
  }
  REQUIRE(complaint.names.size() == tensors.size());
  check_refused([&] { call(op, tensors); }, complaint);
}

template <class... A>
void check_arguments(const Op<void(A...)>& op) {
  if (tensor_count<A...> < 2) return;
  for (const TwoDevices& devices : device_pairs()) {
    for (size_t i = 0; i < tensor_count<A...>; ++i) check_op(op, devices, i);
  }
}

}  // namespace

TEST_CASE("the typed kernels of the mismatch tests are all there are") {
  std::vector<const OpBase*> typed;
  std::apply([&](auto&... op) { (typed.push_back(&op), ...); }, typed_ops());
  const auto all = all_ops();
  CHECK(typed == std::vector<const OpBase*>(all.begin(), all.end()));
}

TEST_CASE("counting devices see a kernel, an allocation and a copy") {
  const CountingDevices counting;
  const Device device("counted_a");
  const Tensor t = ones({2}).to(device);
  {
    const Watch watch({device});
    CHECK(watch.is_quiet());
    t.fill_(1);
    CHECK_FALSE(watch.is_quiet());
  }
  {
    const Watch watch({device});
    empty({1}, device);
    CHECK_FALSE(watch.is_quiet());
  }
  {
    const Watch watch({device});
    t.cpu();
    CHECK_FALSE(watch.is_quiet());
  }
  {
    const Watch watch({kCPU});
    empty({1});
    CHECK_FALSE(watch.is_quiet());
  }
}

TEST_CASE("every kernel op refuses a tensor on another device, whichever argument it is") {
  const CountingDevices counting;
  std::apply([](auto&... op) { (check_arguments(op), ...); }, typed_ops());
}
