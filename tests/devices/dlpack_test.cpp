// DLPack in C++: between ambit's functions, and with another library that the test simulates: it
// fills the structures itself, and counts deleter calls. tests/dlpack tests NumPy and PyTorch.
#include <ambit/ambit.h>
#include <ambit/dlpack.h>
#include <ambit/dlpack_abi.h>
#include <ambit/memory.h>
#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "tests/devices.h"
#include "tests/expected.h"

using namespace ambit;

namespace {

// Another library's tensor: it owns the sizes, and counts calls of its deleter.
template <class Managed>
struct Theirs {
  std::vector<int64_t> sizes, strides;
  Managed managed{};
  int given_back = 0;

  Theirs(void* data, std::vector<int64_t> s, std::vector<int64_t> st, DLDataType type,
         DLDevice device = {kDLCPU, 0})
      : sizes(std::move(s)), strides(std::move(st)) {
    managed.dl_tensor = {data,
                         device,
                         static_cast<int32_t>(sizes.size()),
                         type,
                         sizes.empty() ? nullptr : sizes.data(),
                         strides.empty() ? nullptr : strides.data(),
                         0};
    managed.manager_ctx = this;
    managed.deleter = [](Managed* m) { ++static_cast<Theirs*>(m->manager_ctx)->given_back; };
    if constexpr (std::is_same_v<Managed, DLManagedTensorVersioned>) managed.version = {1, 0};
  }
};
using Old = Theirs<DLManagedTensor>;
using Versioned = Theirs<DLManagedTensorVersioned>;

constexpr DLDataType kF32{kDLFloat, 32, 1};

std::vector<float> counted(size_t n) {
  std::vector<float> v(n);
  std::iota(v.begin(), v.end(), 0.f);
  return v;
}

bool is_dlpack_cpu(Device d) { return d.is_cpu() || d.type() == "reference"; }

template <class E, class F>
void check_throws(F&& call, const std::string& text) {
  bool thrown = false;
  try {
    call();
  } catch (const E& e) {
    thrown = true;
    CHECK_MESSAGE(std::string(e.what()).find(text) != std::string::npos, e.what(), " has no ",
                  text);
  }
  CHECK_MESSAGE(thrown, "expected an error: ", text);
}

}  // namespace

TEST_CASE("an exported tensor that is imported again is an alias, on every device") {
  for_each_device([](Device device) {
    const Tensor x = arange(12, kFloat32).view({3, 4}).to(device);
    const Tensor view = x.t().slice(0, 1, 4, 2);
    DLManagedTensor* lent = to_dlpack(view);
    CHECK(lent->dl_tensor.ndim == 2);
    CHECK(lent->dl_tensor.shape[0] == 2);
    CHECK(lent->dl_tensor.strides[0] == 2);
    CHECK(lent->dl_tensor.strides[1] == 4);
    CHECK(lent->dl_tensor.data == view.data_ptr());
    CHECK(lent->dl_tensor.byte_offset == 0);
    CHECK((lent->dl_tensor.device.device_type == kDLCPU) == is_dlpack_cpu(device));
    CHECK(lent->dl_tensor.device.device_id == device.index());
    const Tensor back = from_dlpack(lent);
    CHECK(back.device() == device);
    CHECK(back.is_set_to(view));
    back.fill_(-1);
    CHECK(x[2][1].item<float>() == -1);
    CHECK(back.version() == x.version());
    DLManagedTensorVersioned* again = to_dlpack_versioned(back);
    CHECK(again->version.major == 1);
    CHECK(again->flags == 0);
    CHECK(from_dlpack(again, {.device = device}).is_set_to(view));
  });
}

TEST_CASE("every dtype can be exported and imported") {
  for (const DType dtype : dtypes::kStored) {
    INFO(name(dtype));
    const Tensor x = empty({4}, dtype);
    DLManagedTensorVersioned* lent = to_dlpack_versioned(x);
    CHECK(lent->dl_tensor.dtype.lanes == 1);
    CHECK(lent->dl_tensor.dtype.bits == 8 * element_size(dtype));
    // A copy of the structure looks like another library's.
    Versioned theirs(lent->dl_tensor.data, {4}, {1}, lent->dl_tensor.dtype);
    const Tensor y = from_dlpack(&theirs.managed);
    CHECK(y.dtype() == dtype);
    CHECK(y.data_ptr() == x.data_ptr());
    CHECK(y.sizes() == x.sizes());
    CHECK(y.nbytes() == x.nbytes());
    lent->deleter(lent);
  }
}

TEST_CASE("another library's memory is shared, for any sizes and strides") {
  std::vector<float> memory = counted(24);
  struct Case {
    std::vector<int64_t> sizes, strides;
    size_t offset_bytes;
    std::vector<float> values;
  };
  const Case cases[] = {
      {{2, 3}, {}, 0, {0, 1, 2, 3, 4, 5}},
      {{3, 2}, {1, 3}, 0, {0, 3, 1, 4, 2, 5}},
      {{2, 2}, {12, 5}, 4, {1, 6, 13, 18}},
      {{2, 3}, {0, 2}, 8, {2, 4, 6, 2, 4, 6}},
      {{}, {}, 20, {5}},
      {{0, 3}, {}, 0, {}},
      {{2, 0}, {7, -5}, 0, {}},                 // without elements strides are ignored
      {{1, 2}, {-99, 1}, 0, {0, 1}},            // strides of dims of size 1 are ignored
      {{1, 1, 1, 1, 1, 1, 2}, {}, 12, {3, 4}},  // more dims than Dims stores without an allocation
  };
  for (const Case& c : cases) {
    INFO(str(IntArrayRef(c.sizes)));
    Old theirs(memory.data(), c.sizes, c.strides, kF32);
    theirs.managed.dl_tensor.byte_offset = c.offset_bytes;
    {
      const Tensor t = from_dlpack(&theirs.managed);
      CHECK(t.sizes() == IntArrayRef(c.sizes));
      CHECK(t.device().is_cpu());
      if (!c.values.empty()) {
        CHECK(t.data_ptr() == reinterpret_cast<char*>(memory.data()) + c.offset_bytes);
      }
      const Tensor flat = t.contiguous().view({-1});
      REQUIRE(static_cast<size_t>(flat.numel()) == c.values.size());
      for (size_t i = 0; i < c.values.size(); ++i) {
        CHECK(flat[static_cast<int64_t>(i)].item<float>() == c.values[i]);
      }
      CHECK(theirs.given_back == 0);
    }
    CHECK(theirs.given_back == 1);
  }
  Old theirs(memory.data(), {24}, {}, kF32);
  from_dlpack(&theirs.managed).mul_(2);
  CHECK(memory[23] == 46);
}

TEST_CASE("memory lives until its last user releases it") {
  for_each_device([](Device device) {
    const size_t before = memory_stats(device).in_use;
    DLManagedTensorVersioned* lent = nullptr;
    {
      Tensor x = full({1000}, 3, TensorOptions(kFloat32).device(device));
      lent = to_dlpack_versioned(x);
    }
    CHECK(memory_stats(device).in_use > before);
    // Another library imports it and exports it again.
    struct Keeper {
      DLManagedTensorVersioned* lent;
      int* given_back;
    };
    int given_back = 0;
    Keeper keeper{lent, &given_back};
    DLManagedTensorVersioned passed_on = *lent;
    passed_on.manager_ctx = &keeper;
    passed_on.deleter = [](DLManagedTensorVersioned* m) {
      auto* k = static_cast<Keeper*>(m->manager_ctx);
      k->lent->deleter(k->lent);
      ++*k->given_back;
    };
    {
      Tensor part;
      {
        const Tensor y = from_dlpack(&passed_on, {.device = device});
        CHECK(y.device() == device);
        y.add_(1);
        part = y.slice(0, 10, 20);
      }
      CHECK(given_back == 0);
      CHECK(part.sum().item<float>() == 40);
      CHECK(memory_stats(device).in_use > before);
    }
    CHECK(given_back == 1);
    CHECK(memory_stats(device).in_use == before);
  });
}

TEST_CASE("another thread may destroy the last tensor, and the graph keeps saved tensors") {
  std::vector<float> memory = counted(6);
  Old theirs(memory.data(), {6}, {}, kF32);
  Tensor loss;
  const Tensor w = ones({6}).requires_grad_();
  {
    const Tensor x = from_dlpack(&theirs.managed);
    loss = (x * w).sum();
  }
  CHECK(theirs.given_back == 0);
  std::thread([loss = std::move(loss)]() mutable {
    loss.backward();
    loss.reset();
  }).join();
  CHECK(theirs.given_back == 1);
  CHECK(w.grad()[5].item<float>() == 5);
}

// PyTorch 1.13 does not free a tensor with a null address.
TEST_CASE("exported host memory has an address, even without elements") {
  for (const Tensor& t : {zeros({0, 3}), ones({4}).slice(0, 2, 2)}) {
    DLManagedTensor* lent = to_dlpack(t);
    CHECK(lent->dl_tensor.data);
    CHECK(from_dlpack(lent).sizes() == t.sizes());
  }
}

TEST_CASE("exporting and importing do not leak") {
  const size_t before = memory_stats(kCPU).in_use;
  std::vector<float> memory = counted(6);
  Old theirs(memory.data(), {6}, {}, kF32);
  for (int i = 0; i < 10000; ++i) {
    DLManagedTensor* lent = to_dlpack(ones({5}));
    lent->deleter(lent);
    static_cast<void>(from_dlpack(to_dlpack_versioned(ones({5}))));
    static_cast<void>(from_dlpack(&theirs.managed));
  }
  CHECK(theirs.given_back == 10000);
  CHECK(memory_stats(kCPU).in_use == before);
}

TEST_CASE("read-only memory can be read, but not written") {
  std::vector<float> memory = counted(6);
  Versioned theirs(memory.data(), {6}, {}, kF32);
  theirs.managed.flags = DLPACK_FLAG_BITMASK_READ_ONLY;
  {
    const Tensor x = from_dlpack(&theirs.managed);
    CHECK(x.sum().item<float>() == 15);
    const Tensor copy = x.clone();
    copy.add_(1);
    const std::string refused = "read-only memory of another library";
    check_throws<Error>([&] { x.add_(1); }, refused);
    check_throws<Error>([&] { x.zero_(); }, refused);
    check_throws<Error>([&] { x.slice(0, 1, 3).copy_(ones({2})); }, refused);
    check_throws<Error>([&] { x.view({2, 3}).relu_(); }, refused);
    check_throws<Error>([&] { x.index_put_({tensor({1})}, ones({1})); }, refused);
    check_throws<Error>([&] { x.normal_(); }, refused);
    check_throws<Error>(
        [&] {
          Tensor out = x;
          add_out(out, copy, copy);
        },
        refused);

    const Tensor parameter = x.detach().requires_grad_();
    parameter.mutable_grad() = ones({6});
    optim::SGD sgd({parameter}, 0.1);
    check_throws<Error>([&] { sgd.step(); }, refused);

    check_throws<Error>([&] { to_dlpack(x); }, "to_dlpack: expected a tensor that may be written");
    DLManagedTensorVersioned* on = to_dlpack_versioned(x);
    CHECK(on->flags == DLPACK_FLAG_BITMASK_READ_ONLY);
    on->deleter(on);
    DLManagedTensor* writable = to_dlpack(x, {.copy = true});
    CHECK(writable->dl_tensor.data != memory.data());
    writable->deleter(writable);
  }
  CHECK(memory == counted(6));
  CHECK(theirs.given_back == 1);
}

TEST_CASE("a copy is exported on request, and is marked as a copy") {
  const Tensor x = arange(4, kFloat32);
  DLManagedTensorVersioned* lent = to_dlpack_versioned(x, {.copy = true});
  CHECK(lent->flags == DLPACK_FLAG_BITMASK_IS_COPIED);
  CHECK(lent->dl_tensor.data != x.data_ptr());
  CHECK(static_cast<float*>(lent->dl_tensor.data)[3] == 3);
  lent->deleter(lent);
}

TEST_CASE("the export of a tensor that requires grad is its detach()") {
  const Tensor w = ones({2}).requires_grad_();
  const Tensor back = from_dlpack(to_dlpack(w));
  CHECK_FALSE(back.requires_grad());
  CHECK(back.data_ptr() == w.data_ptr());
}

TEST_CASE("an invalid structure is refused with the field's name, and stays the caller's") {
  alignas(64) float memory[8] = {};
  Versioned theirs(memory, {2, 3}, {3, 1}, kF32);
  const Versioned good(memory, {2, 3}, {3, 1}, kF32);
  DLTensor& t = theirs.managed.dl_tensor;
  const auto refuses = [&]<class E>(const E*, const char* text,
                                    const std::function<void()>& spoil) {
    theirs.sizes = good.sizes;
    theirs.strides = good.strides;
    theirs.managed.version = good.managed.version;
    t = good.managed.dl_tensor;
    t.shape = theirs.sizes.data();
    t.strides = theirs.strides.data();
    spoil();
    check_throws<E>([&] { static_cast<void>(from_dlpack(&theirs.managed)); }, text);
    CHECK(theirs.given_back == 0);
  };
  const Error* plain = nullptr;
  const DTypeError* dtype = nullptr;
  const ShapeError* shape = nullptr;
  const BackendError* backend = nullptr;
  constexpr int64_t kHuge = int64_t{1} << 62;
  refuses(plain, "expected version 1.x, got 2.3", [&] { theirs.managed.version = {2, 3}; });
  refuses(plain, "expected version 1.x, got 0.8", [&] { theirs.managed.version = {0, 8}; });
  refuses(dtype, "expected dtype.lanes 1, got 4", [&] { t.dtype.lanes = 4; });
  refuses(dtype, "got complex of 32 bits", [&] { t.dtype = {kDLComplex, 32, 1}; });
  refuses(dtype, "got float of 8 bits", [&] { t.dtype.bits = 8; });
  refuses(dtype, "got uint of 128 bits", [&] { t.dtype = {kDLUInt, 128, 1}; });
  refuses(dtype, "got opaque handle", [&] { t.dtype = {kDLOpaqueHandle, 64, 1}; });
  refuses(dtype, "expected dtype.code from 0 to 6, got 17", [&] { t.dtype.code = 17; });
  refuses(shape, "expected ndim from 0 to 64, got -1", [&] { t.ndim = -1; });
  refuses(shape, "expected ndim from 0 to 64, got 1000", [&] { t.ndim = 1000; });
  refuses(plain, "expected shape, got a null pointer", [&] { t.shape = nullptr; });
  refuses(shape, "expected shape >= 0, got", [&] {
    theirs.sizes = {2, -3}, t.shape = theirs.sizes.data();
  });
  refuses(shape, "less than 2^63 elements", [&] {
    theirs.sizes = {kHuge, 2};
    t.shape = theirs.sizes.data();
  });
  refuses(shape, "expected strides >= 0 that span fewer than 2^63 elements", [&] {
    theirs.strides = {3, -1};
    t.strides = theirs.strides.data();
  });
  refuses(shape, "expected strides >= 0 that span fewer than 2^63 elements", [&] {
    theirs.strides = {INT64_MAX, 1};
    t.strides = theirs.strides.data();
  });
  refuses(shape, "less than 2^63 bytes", [&] {
    theirs.strides = {kHuge, 1};
    t.strides = theirs.strides.data();
  });
  refuses(plain, "expected data, got a null pointer", [&] { t.data = nullptr; });
  refuses(plain, "a multiple of 4, got the remainder 2", [&] { t.byte_offset = 2; });
  refuses(plain, "expected byte_offset within memory", [&] { t.byte_offset = UINT64_MAX; });
  refuses(backend, "device.device_type of an existing backend, got 10 (kDLROCM)", [&] {
    t.device = {kDLROCM, 0};
  });
  refuses(backend, "got 99 (unknown)", [&] { t.device = {static_cast<DLDeviceType>(99), 0}; });
  refuses(backend, "expected device.device_id of a device, got -3", [&] {
    t.device = {kDLCUDA, -3};
  });
  refuses(backend, "expected the device to be named", [&] { t.device = {kDLExtDev, 0}; });
  check_throws<Error>([] { from_dlpack(static_cast<DLManagedTensor*>(nullptr)); }, "null pointer");
  check_throws<Error>([] { from_dlpack(static_cast<DLManagedTensorVersioned*>(nullptr)); },
                      "null pointer");
  check_throws<Error>([] { to_dlpack(Tensor()); }, "to_dlpack: expected a tensor");
  check_throws<BackendError>([] { to_dlpack(ones({2}, kMeta)); }, "got one on meta");
  check_throws<BackendError>(
      [&] { from_dlpack(const_cast<DLManagedTensorVersioned*>(&good.managed), {.device = kMeta}); },
      "expected a device with memory");
}

TEST_CASE("pinned memory of others is host memory, and a structure needs no deleter") {
  std::vector<float> memory = counted(3);
  Old theirs(memory.data(), {3}, {}, kF32, {kDLCUDAHost, 1});
  theirs.managed.deleter = nullptr;
  CHECK(from_dlpack(&theirs.managed).sum().item<float>() == 3);
  CHECK(from_dlpack(&theirs.managed, {.device = kCPU}).device().is_cpu());
}

TEST_CASE("host memory is not memory of a simulated device") {
  const Device sim("sim:0");
  std::vector<float> memory = counted(3);
  Old theirs(memory.data(), {3}, {}, kF32, {kDLExtDev, 0});
  check_throws<BackendError>([&] { from_dlpack(&theirs.managed, {.device = sim}); },
                             "expected memory of sim:0, got other memory");
  check_throws<BackendError>([&] { from_dlpack(&theirs.managed, {.device = kCPU}); },
                             "expected device 1 (kDLCPU) 0 for cpu, got 12 (kDLExtDev) 0");
  DLManagedTensor* lent = to_dlpack(ones({2}, sim));
  check_throws<BackendError>([&] { from_dlpack(lent, {.device = kCPU}); },
                             "expected a tensor of device cpu, got one of sim:0");
  lent->deleter(lent);
  CHECK(theirs.given_back == 0);
}
