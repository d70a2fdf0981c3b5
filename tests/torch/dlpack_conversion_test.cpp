// libtorch's converters of DLPack, <ATen/DLConvertor.h>: both structures, and their deleters.
#include <ATen/DLConvertor.h>
#include <doctest/doctest.h>
#include <torch/torch.h>

#include <string>

namespace {

template <class Managed>
void check_converters() {
  using Traits = at::DLPackTraits<Managed>;
  const at::Tensor x = torch::arange(6.).view({2, 3}).t();
  Managed* managed = Traits::toDLPack(x);
  CHECK(managed->dl_tensor.data == x.data_ptr());
  CHECK(managed->dl_tensor.ndim == 2);
  CHECK(managed->dl_tensor.strides[0] == 1);
  const at::Tensor y = Traits::fromDLPack(managed, {});
  CHECK(y.data_ptr() == x.data_ptr());
  CHECK(y.sizes() == at::IntArrayRef({3, 2}));
  CHECK(y.strides() == x.strides());

  // As in PyTorch 2.15, the given deleter replaces that of the structure and gets the address of
  // the data. It then releases the structure.
  managed = Traits::toDLPack(x);
  void* deleted = nullptr;
  {
    const at::Tensor z = Traits::fromDLPack(managed, [&](void* data) {
      deleted = data;
      managed->deleter(managed);
    });
    CHECK(z.equal(x));
    CHECK(deleted == nullptr);
  }
  CHECK(deleted == x.data_ptr());
}

}  // namespace

TEST_CASE("libtorch's converters of DLPack share memory") {
  check_converters<DLManagedTensor>();
  check_converters<DLManagedTensorVersioned>();
  // The names of the capsules are DLPack's.
  CHECK(at::DLPackTraits<DLManagedTensor>::capsule == std::string("dltensor"));
  CHECK(at::DLPackTraits<DLManagedTensorVersioned>::used == std::string("used_dltensor_versioned"));
}

TEST_CASE("versioned structures of DLPack have a version and flags") {
  const at::Tensor x = torch::ones({2}, torch::kUInt16);
  DLManagedTensorVersioned* managed = at::toDLPackVersioned(x);
  CHECK(managed->version.major == 1);
  CHECK(managed->flags == 0);
  at::fromDLPackVersioned(managed);
  managed = at::toDLPackVersionedReadOnly(x);
  CHECK(managed->flags == DLPACK_FLAG_BITMASK_READ_ONLY);
  const at::Tensor y = at::fromDLPackVersioned(managed);
  CHECK(y.equal(x));
  CHECK(y.const_data_ptr<uint16_t>() == x.const_data_ptr<uint16_t>());
}

TEST_CASE("dtypes and devices are converted to DLPack's and back") {
  for (const auto type : {torch::kUInt16, torch::kUInt64, torch::kHalf, torch::kBFloat16,
                          torch::kBool, torch::kLong, torch::kComplexFloat}) {
    CHECK(at::toScalarType(at::getDLDataType(torch::empty({1}, type))) == type);
  }
  const DLDataType type = at::getDLDataType(torch::empty({1}, torch::kUInt32));
  CHECK(type.code == kDLUInt);
  CHECK(type.bits == 32);
  CHECK(at::torchDeviceToDLDevice(at::kCPU).device_type == kDLCPU);
  const at::Tensor x = torch::ones({2, 3});
  CHECK(at::getDLContext(x, 0).device_id == 0);
  DLTensor described;
  at::toDLPackNonOwning(x, &described);
  CHECK(described.data == x.data_ptr());
  CHECK(described.shape[1] == 3);
}
