// Device, the registry, and the DeviceMismatchError.
#include <ambit/ambit.h>
#include <ambit/backend/kernels.h>
#include <ambit/backend/registry.h>
#include <doctest/doctest.h>

#include <cstring>
#include <new>
#include <sstream>

using namespace ambit;

TEST_CASE("devices are parsed, printed and compared by kind and index") {
  CHECK(Device() == Device("cpu"));
  CHECK(Device("reference") == Device("reference:0"));
  CHECK(Device("reference:1") != Device("reference"));
  CHECK(Device("cpu").str() == "cpu");
  CHECK(Device("reference").str() == "reference:0");
  CHECK(Device("meta").str() == "meta");
  CHECK(Device("cpu").repr() == "device(type='cpu')");
  CHECK(Device("reference:1").repr() == "device(type='reference', index=1)");
  for (const Device d : all_devices()) CHECK(Device(d.str()) == d);
  std::ostringstream text;
  text << Device("reference");
  CHECK(text.str() == "reference:0");
}

TEST_CASE("malformed and unknown devices are refused with the reason") {
  for (const char* bad :
       {"", ":", "cpu:", "cpu:x", "reference:-1", "reference: 1", "reference:1x",
        "reference:99999999999", "cpu:1", "meta:1", "Reference", "foo", "foo:0"}) {
    INFO(bad);
    CHECK_THROWS_AS(Device{bad}, Error);
  }
  CHECK_THROWS_WITH_AS(Device("cpu:x"),
                       "Device: expected \"<name>\" or \"<name>:<index>\", got \"cpu:x\"", Error);
  try {
    Device("foo");
  } catch (const Error& e) {
    CHECK(std::string(e.what()).find(
              "Device: expected the name of a backend, got \"foo\"; existing: cpu") == 0);
    CHECK(std::string(e.what()).find("cpu") != std::string::npos);
    CHECK(std::string(e.what()).find("reference") != std::string::npos);
  }
}

TEST_CASE("a constant selects a kind of device") {
  DeviceType type;
  CHECK(type == kCPU);
  CHECK(Device(type) == Device());
  type = kMeta;
  CHECK(Device(type).is_meta());
  const Device other(DeviceType("reference"), 0);
  CHECK(other == Device("reference"));
  CHECK(other.type() == DeviceType("reference"));
  CHECK(other.type() != kCUDA);
  CHECK(other != kCUDA);  // valid even without a backend of that name
  CHECK(other == DeviceType("reference"));
  CHECK(Device() == kCPU);
  CHECK_THROWS_AS(Device(kCPU, 1), Error);
  CHECK(Device(DeviceType("reference"), -1) == other);  // no index
  CHECK(Device(kCPU, -1) == Device());
  CHECK_THROWS_AS(Device(DeviceType("reference"), -2), Error);
  CHECK_THROWS_AS(Device(kCPU, -2), Error);
  CHECK_THROWS_AS(Device(DeviceType("no_such_device")), Error);
  const Tensor x = zeros({2}, device(DeviceType("reference"), 0));
  CHECK(x.to(kCPU).is_cpu());
  CHECK(zeros({2}, kMeta).to(kFloat64).is_meta());
  CHECK(ones({2}, kInt64).to(x).options().dtype() == kFloat32);
  CHECK(ones({2}, kInt64).to(x).device() == x.device());
}

TEST_CASE("a kind of device is a name, and can be used in a switch") {
  const auto number = [](DeviceType type) {
    switch (type) {
      case kCPU:
        return 1;
      case kCUDA:
        return 2;
      case DeviceType("reference"):
        return 3;
      default:
        return 0;
    }
  };
  CHECK(number(Device().type()) == 1);
  CHECK(number(kCUDA) == 2);
  CHECK(number(Device("reference").type()) == 3);
  CHECK(number(kMeta) == 0);
  const DeviceType type = Device("reference").type();
  CHECK(Device(type, 1) == Device("reference:1"));
  const std::string name = type;
  CHECK(name == type);
  CHECK(type == "reference");
  CHECK("cpu" != type);
  CHECK(kCPU < type);
  CHECK(device_count(type) == 1);
  CHECK(zeros({1}).to({kCPU, 0}).is_cpu());  // not a string
}

TEST_CASE("a device can be named before it exists; its use says how many exist") {
  const Device seventh("reference:7");
  CHECK_THROWS_WITH_AS(empty({1}, seventh),
                       "expected an existing reference device, got reference:7: there is 1",
                       BackendError);
  CHECK_THROWS_AS(ones({1}).to(seventh), BackendError);
}

TEST_CASE("availability can be queried without an error") {
  CHECK(is_available("cpu"));
  CHECK(device_count("reference") == 1);
  CHECK(device_count("no_such_device") == 0);
  CHECK_FALSE(is_available(""));
  CHECK(all_devices().front() == kCPU);
  CHECK(best_device().type() != "reference");
  CHECK_NOTHROW(synchronize(kCPU));
}

TEST_CASE("operands on different devices throw the documented message, in either order") {
  const Tensor a = ones({2, 2}), b = ones({2, 2}, "reference");
  CHECK_THROWS_WITH_AS(a + b, "expected device cpu but got device reference:0",
                       DeviceMismatchError);
  CHECK_THROWS_WITH_AS(b + a, "expected device reference:0 but got device cpu",
                       DeviceMismatchError);
  CHECK((a.to("reference") + b).device() == Device("reference"));
}

TEST_CASE("the mismatch error has op, argument and devices, and an explanation") {
  const Tensor input = ones({4, 3}), weight = ones({5, 3}, "reference");
  const Tensor bias = ones({5}, "reference");
  weight.set_name("fc1.weight");
  bias.set_name("fc1.bias");
  try {
    linear(input, weight, bias);
    FAIL("no error");
  } catch (const DeviceMismatchError& e) {
    CHECK(e.op() == "linear");
    CHECK(e.argument() == "weight");
    CHECK(e.expected() == kCPU);
    CHECK(e.actual() == Device("reference"));
    CHECK(e.explain() ==
          "linear: expected device cpu but got device reference:0\n"
          "  #0 input   float32[4, 3]  cpu          sets expected\n"
          "  #1 weight  float32[5, 3]  reference:0  differs; parameter fc1.weight\n"
          "  #2 bias    float32[5]     reference:0  differs; parameter fc1.bias\n"
          "  try: input.to(\"reference:0\"), where the module's parameters are");
  }
}

TEST_CASE("0-dim cpu tensors can be operands of elementwise ops, and of no others") {
  const Tensor there = full({2}, 3.0, "reference"), scalar = tensor(2.0);
  CHECK((there * scalar).device() == Device("reference"));
  CHECK((scalar * there).device() == Device("reference"));
  CHECK((scalar * there).cpu().equal(full({2}, 6.0)));
  CHECK((scalar * tensor(3.0, Device("reference"))).device() == Device("reference"));
  there.add_(scalar);
  CHECK(there.cpu().equal(full({2}, 5.0)));
  // The destination determines the device of an in-place op, even if it is a 0-dim cpu tensor.
  CHECK_THROWS_WITH_AS(scalar.add_(tensor(1.0, Device("reference"))),
                       "expected device cpu but got device reference:0", DeviceMismatchError);
  CHECK(scalar.item<float>() == 2);
  // A 0-dim tensor of another device cannot be an operand on the cpu.
  CHECK_THROWS_WITH_AS(ones({2}) + tensor(1.0, Device("reference")),
                       "expected device cpu but got device reference:0", DeviceMismatchError);
  CHECK_THROWS_AS(matmul(there, scalar), Error);
}

TEST_CASE("the gradient of a 0-dim cpu operand is moved to the cpu") {
  Tensor s = tensor(2.0).requires_grad_();
  (full({3}, 4.0, "reference") * s).sum().backward();
  CHECK(s.grad().device() == kCPU);
  CHECK(s.grad().item<float>() == 12);
}

TEST_CASE("a direct call of a kernel is checked, too") {
  Tensor out = empty({2});
  const Tensor x = ones({2}, "reference");
  CHECK_THROWS_WITH_AS(kernels::copy(out, x), "expected device cpu but got device reference:0",
                       DeviceMismatchError);
}

TEST_CASE("meta tensors have shapes, dtypes and no data") {
  const Tensor a = empty({2, 3}, kMeta), b = empty({3, 5}, kMeta);
  const Tensor c = matmul(a, b);
  CHECK(c.device() == kMeta);
  CHECK(c.sizes() == IntArrayRef{2, 5});
  CHECK_THROWS_AS(matmul(a, a), ShapeError);
  CHECK_THROWS_AS(c.sum().item(), NotImplementedError);
  CHECK_THROWS_WITH_AS(a + ones({2, 3}), "expected device meta but got device cpu",
                       DeviceMismatchError);
  CHECK(empty({1L << 40, 1L << 10}, kMeta).numel() == 1L << 50);
}

namespace {

// A backend with only memory, for the errors of registration and of missing kernels.
class BareBackend final : public Backend {
 public:
  explicit BareBackend(std::string name) : name_(std::move(name)) {}
  std::string name() const override { return name_; }
  // The device exists only while its test runs, so that other tests do not find a device without
  // kernels.
  int device_count() const noexcept override { return present; }
  static inline int present = 0;
  void* allocate(int, size_t bytes) override { return ::operator new(bytes, std::align_val_t(64)); }
  void free(int, void* p, size_t) noexcept override { ::operator delete(p, std::align_val_t(64)); }
  void copy(int, void* to, int, const void* from, size_t n) override { std::memcpy(to, from, n); }
  void copy_from_host(int, void* to, const void* from, size_t n, bool) override {
    if (name_ == "bare_full") throw std::bad_alloc();
    std::memcpy(to, from, n);
  }
  void copy_to_host(int, void* to, const void* from, size_t n, bool) override {
    std::memcpy(to, from, n);
  }

 private:
  std::string name_;
};

void add_nothing(Tensor&, const Tensor&, const Tensor&, const BinaryOp&) {}
void want_memory(Tensor&, const Tensor&, const UnaryOp&) { throw std::bad_alloc(); }

}  // namespace

TEST_CASE("a failed registration changes nothing") {
  const auto before = backend_names();
  {
    Registry bad_name("test");
    CHECK_THROWS_AS(bad_name.add_backend(std::make_unique<BareBackend>("Bad-Name")), BackendError);
  }
  {
    Registry no_backend("test");
    CHECK_THROWS_AS(no_backend.add(kernels::binary, add_nothing), BackendError);
  }
  {
    Registry taken("test");
    taken.add_backend(std::make_unique<BareBackend>("bare_first"));
    taken.add_backend(std::make_unique<BareBackend>("reference"));
    CHECK_THROWS_AS(taken.commit(), BackendError);
  }
  {
    Registry twice("test");
    twice.add_backend(std::make_unique<BareBackend>("bare_first"));
    twice.add(kernels::binary, add_nothing);
    CHECK_THROWS_AS(twice.add(kernels::binary, add_nothing), BackendError);
  }
  CHECK(backend_names() == before);
  CHECK_THROWS_AS(Device("bare_first"), Error);
}

TEST_CASE("the error for a missing kernel names the op, the device and the backends that have it") {
  Registry registry("test");
  registry.add_backend(std::make_unique<BareBackend>("bare"));
  registry.commit();
  BareBackend::present = 1;
  const Tensor x = empty({2}, "bare");
  try {
    x + x;
    FAIL("no error");
  } catch (const NotImplementedError& e) {
    const std::string what = e.what();
    CHECK(what.find("binary: expected a kernel for device bare:0, got none; it runs on cpu, "
                    "reference") == 0);
  }
  BareBackend::present = 0;
}

TEST_CASE("a kernel or a copy that cannot allocate host memory throws ambit's error") {
  Registry registry("test");
  registry.add_backend(std::make_unique<BareBackend>("bare_full"));
  registry.add(kernels::unary, want_memory);
  registry.commit();
  BareBackend::present = 1;
  CHECK_THROWS_WITH_AS(neg(empty({2}, "bare_full")), "unary: expected free host memory, got none",
                       OutOfMemoryError);
  CHECK_THROWS_WITH_AS(ones({2}).to("bare_full"), "copy: expected free host memory, got none",
                       OutOfMemoryError);
  BareBackend::present = 0;
}
