// at::accelerator, c10::Stream and c10::Event on devices of any kind; here simulated ones.
#include <ATen/DeviceAccelerator.h>
#include <ambit/ambit.h>
#include <c10/core/StreamGuard.h>
#include <doctest/doctest.h>

#include <thread>

using namespace ambit;
namespace accelerator = at::accelerator;

namespace {

// In a separate thread, since each thread has its own selected device.
template <class F>
void in_thread(F f) {
  std::thread(f).join();
}

}  // namespace

TEST_CASE("the accelerator is the kind of the default device, else that of the best device") {
  const Device best = best_device();
  CHECK(accelerator::getAccelerator().has_value() == !best.is_cpu());
  if (best.is_cpu()) {
    CHECK_THROWS_AS(accelerator::getAccelerator(true), BackendError);
    CHECK(accelerator::deviceCount() == 0);
    CHECK_THROWS_AS(accelerator::getDeviceIndex(), BackendError);
  } else {
    CHECK(accelerator::getAccelerator(true) == best.type());
    CHECK(accelerator::deviceCount() == device_count(best.type()));
  }
  CHECK(accelerator::isAccelerator(kCUDA));
  CHECK(accelerator::isAccelerator(DeviceType("sim")));
  CHECK(!accelerator::isAccelerator(kCPU));
  CHECK(!accelerator::isAcceleratorExcluded(kCUDA, kMeta, kCUDA));
  CHECK(accelerator::isAcceleratorExcluded(kCUDA, kMeta));
  if (!is_available("sim")) return;
  const DefaultDeviceGuard guard(Device("sim"));
  CHECK(at::getAccelerator() == DeviceType("sim"));
  CHECK(accelerator::deviceCount() == device_count("sim"));
}

TEST_CASE("the accelerator's device is chosen by its index until it is chosen again") {
  if (device_count("cuda") < 2) return;
  in_thread([] {
    const DefaultDeviceGuard guard(Device("cuda"));
    CHECK(accelerator::getDeviceIndex() == 0);
    accelerator::setDeviceIndex(1);
    CHECK(accelerator::getDeviceIndex() == 1);
    CHECK(Device("cuda").index() == 1);
    {
      const DeviceGuard first(Device("cuda:0"));
      CHECK(accelerator::getDeviceIndex() == 0);
    }
    CHECK(accelerator::exchangeDevice(0) == 1);
    CHECK(accelerator::exchangeDevice(-1) == 0);
    CHECK(accelerator::maybeExchangeDevice(1) == 0);
    CHECK(accelerator::getDeviceIndex() == 1);
    CHECK_THROWS_AS(accelerator::setDeviceIndex(100), BackendError);
    CHECK(accelerator::getDeviceIndex() == 1);
  });
}

TEST_CASE("streams and events order the work of an accelerator's devices") {
  if (device_count("cuda") < 2) return;
  const DefaultDeviceGuard guard(Device("cuda:0"));
  const c10::Stream stream = accelerator::getCurrentStream(0);
  CHECK(stream.device() == Device("cuda:0"));
  accelerator::setCurrentStream(stream);
  CHECK(accelerator::getCurrentStream(0) == stream);

  c10::Event begin(kCUDA, c10::EventFlag::BACKEND_DEFAULT);
  c10::Event end(kCUDA, c10::EventFlag::BACKEND_DEFAULT);
  CHECK(begin.query());
  CHECK(begin.device_index() == -1);
  begin.record(stream);
  const Tensor y = ones({64, 64}).matmul(ones({64, 64}));
  end.record(stream);
  stream.wait(end);
  accelerator::getCurrentStream(1).wait(end);
  end.synchronize();
  stream.synchronize();
  accelerator::synchronizeDevice(0);
  CHECK(stream.query());
  CHECK(end.query());
  CHECK(end.device() == Device("cuda:0"));
  CHECK(begin.elapsedTime(end) >= 0);
  CHECK(y[0][0].item<float>() == 64);

  CHECK_THROWS_AS(end.record(accelerator::getCurrentStream(1)), BackendError);
  const c10::Event without_time(kCUDA);
  CHECK_THROWS_AS(begin.elapsedTime(without_time), BackendError);
  accelerator::emptyCache();
  CHECK(accelerator::getDefaultGenerator(0).device() == Device("cuda:0"));
}

TEST_CASE("a device whose backend lacks streams has a default stream") {
  if (!is_available("sim")) return;
  const c10::Stream stream(c10::Stream::DEFAULT, Device("sim"));
  CHECK(stream.id() == 0);
  CHECK(stream.native_handle() == nullptr);
  const Tensor x = full({3}, 2, Device("sim"));
  CHECK(stream.query());
  c10::Event event(DeviceType("sim"));
  event.recordOnce(stream);
  event.block(stream);
  CHECK(event.was_marked_for_recording());
  CHECK(event.eventId() == nullptr);
  CHECK_THROWS_AS(event.record(c10::Stream(c10::Stream::DEFAULT, Device())), BackendError);
}

TEST_CASE("a guard of a stream makes its device current") {
  if (device_count("cuda") < 2) return;
  const c10::Stream second(c10::Stream::DEFAULT, Device("cuda:1"));
  {
    const c10::StreamGuard guard(second);
    CHECK(Device("cuda").index() == 1);
    CHECK(guard.current_stream() == second);
    CHECK(guard.original_device() == Device("cuda:0"));
  }
  CHECK(Device("cuda").index() == 0);
}
