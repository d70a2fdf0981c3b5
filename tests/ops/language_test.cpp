// Types and functions of programs for libtorch other than ops and modules: lists, numbers, options.
#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>
#include <sstream>
#include <vector>

using namespace ambit;

namespace {

template <class T>
std::string printed(const T& value) {
  std::ostringstream os;
  os << value;
  return os.str();
}

}  // namespace

TEST_CASE("ArrayRef refers to lists of all kinds and has slices") {
  const std::vector<int64_t> v{1, 2, 3, 4};
  const std::array<int64_t, 2> a{1, 2};
  const int64_t plain[] = {1, 2};
  const IntArrayRef r = v;
  CHECK(r.slice(1, 2).vec() == std::vector<int64_t>{2, 3});
  CHECK(r.slice(4).empty());
  CHECK(r.drop_front().vec() == std::vector<int64_t>{2, 3, 4});
  CHECK(r.drop_back(3).vec() == std::vector<int64_t>{1});
  CHECK(r.front() == 1);
  CHECK(r.back() == 4);
  CHECK(r.at(3) == 4);
  CHECK(r.equals({1, 2, 3, 4}));
  CHECK(!r.equals({1, 2, 3}));
  CHECK(IntArrayRef(a) == IntArrayRef(plain));
  CHECK(IntArrayRef(v.data(), v.data() + 2) == IntArrayRef(a));
  CHECK(IntArrayRef(Dims{5, 6}).vec() == std::vector<int64_t>{5, 6});
  CHECK(ArrayRef<float>(1.5f)[0] == 1.5f);
  CHECK(zeros(a).sizes() == IntArrayRef{1, 2});
  CHECK_THROWS_WITH_AS(r.at(4), "ArrayRef: expected an index below 4, got 4", IndexError);
  CHECK_THROWS_AS(r.slice(5), IndexError);
  CHECK_THROWS_AS(r.slice(3, 2), IndexError);
  CHECK_THROWS_AS(r.slice(1, std::numeric_limits<size_t>::max()), IndexError);
  CHECK_THROWS_AS(r.drop_back(5), IndexError);
  CHECK_THROWS_AS(IntArrayRef().front(), IndexError);
  CHECK_THROWS_AS(IntArrayRef().back(), IndexError);
  static_assert(!std::is_convertible_v<double, IntArrayRef>);
  static_assert(!std::is_convertible_v<bool, IntArrayRef>);
  const std::vector<Tensor> tensors{ones({1}), ones({2})};
  CHECK(cat(ArrayRef<Tensor>(tensors)).numel() == 3);
}

TEST_CASE("a Scalar converts as in libtorch, and refuses numbers out of range") {
  CHECK(Scalar(2.75).toInt() == 2);
  CHECK(Scalar(-2.75).toLong() == -2);
  CHECK(Scalar(3).toDouble() == 3.0);
  CHECK(Scalar(0.5).toFloat() == 0.5f);
  CHECK(Scalar(0.5).toBool());
  CHECK(!Scalar(0).toBool());
  CHECK(Scalar(255).toByte() == 255);
  CHECK(Scalar(-0.9).toByte() == 0);
  CHECK(Scalar(-128.9).toChar() == -128);
  CHECK(Scalar(-0x1p63).toLong() == std::numeric_limits<int64_t>::min());
  CHECK_THROWS_WITH_AS(Scalar(0x1p31).toInt(),
                       "Scalar: expected a number that int32 holds, got 2147483648", DTypeError);
  CHECK_THROWS_AS(Scalar(int64_t{1} << 31).toInt(), DTypeError);
  CHECK_THROWS_AS(Scalar(0x1p63).toLong(), DTypeError);
  CHECK_THROWS_AS(Scalar(std::nan("")).toLong(), DTypeError);
  CHECK_THROWS_AS(Scalar(HUGE_VAL).toInt(), DTypeError);
  CHECK_THROWS_AS(Scalar(-1).toByte(), DTypeError);
  CHECK_THROWS_AS(Scalar(-129.0).toChar(), DTypeError);
  CHECK_THROWS_AS(Scalar(40000).toShort(), DTypeError);
  CHECK_THROWS_AS(Scalar(300).to<int8_t>(), DTypeError);
  CHECK(Scalar(-1).to<uint64_t>() == std::numeric_limits<uint64_t>::max());
  CHECK(Scalar(300).cast<uint8_t>() == 44);
  CHECK(Scalar(1.5).isFloatingPoint());
  CHECK(Scalar(1).isIntegral(false));
  CHECK(!Scalar(true).isIntegral(false));
  CHECK(Scalar(true).isIntegral(true));
  CHECK(Scalar(true).isBoolean());
  CHECK(Scalar(1).type() == kLong);
  CHECK((-Scalar(3)).toInt() == -3);
  CHECK((-Scalar(0.5)).toDouble() == -0.5);
  CHECK_THROWS_AS(-Scalar(true), DTypeError);
  CHECK(Scalar(2).equal(2.0));
  CHECK(!Scalar(2).equal(2.5));
  CHECK(ones({1}).item().toFloat() == 1);
}

TEST_CASE("item() of an integer type refuses a number out of range") {
  CHECK(tensor(2.75).item<int>() == 2);
  CHECK(tensor(255).item<uint8_t>() == 255);
  CHECK_THROWS_WITH_AS(tensor(1e10).item<int>(),
                       "Scalar: expected a number that int32 holds, got 10000000000", DTypeError);
  CHECK_THROWS_AS(tensor(300).item<int8_t>(), DTypeError);
  CHECK_THROWS_AS(tensor(-1).item<uint8_t>(), DTypeError);
  CHECK_THROWS_AS(tensor(std::nan("")).item<int64_t>(), DTypeError);
  // Also types without a dtype.
  CHECK(tensor(7).item<uint32_t>() == 7);
  CHECK(tensor(65).item<char>() == 'A');
  CHECK_THROWS_AS(tensor(std::nan("")).item<uint64_t>(), DTypeError);
  CHECK_THROWS_AS(tensor(1e30, kFloat64).item<uint32_t>(), DTypeError);
}

TEST_CASE("TensorOptions record which options are set, and take over those that others set") {
  const TensorOptions some = TensorOptions(kFloat64).requires_grad(false);
  CHECK(some.has_dtype());
  CHECK(some.has_requires_grad());
  CHECK(!some.has_device());
  CHECK(!some.has_layout());
  CHECK(!some.has_pinned_memory());
  CHECK(!some.has_memory_format());
  CHECK(TensorOptions().layout(kStrided).layout_opt() == kStrided);
  CHECK(TensorOptions().requires_grad_opt() == std::nullopt);
  const TensorOptions merged = some.merge_in(TensorOptions(kInt32).pinned_memory(false));
  CHECK(merged.dtype() == kInt32);
  CHECK(merged.requires_grad_opt() == false);
  CHECK(merged.pinned_memory_opt() == false);
  CHECK(TensorOptions(Device("reference")).device_index() == 0);
  Device device("reference");
  device.set_index(2);
  CHECK(device == Device("reference:2"));
  CHECK_THROWS_AS(device.set_index(-2), Error);
}

TEST_CASE("lists of tensors have slices and iterators; a storage has its bytes and aliases") {
  const std::vector<Tensor> tensors{ones({1}), ones({2}), ones({3})};
  const TensorList list(tensors);
  CHECK(list.slice(1).size() == 2);
  CHECK(list.front().numel() == 1);
  CHECK(list.back().numel() == 3);
  CHECK(list.vec().size() == 3);
  CHECK_THROWS_AS(list.at(3), IndexError);
  CHECK_THROWS_AS(TensorList(std::vector<Tensor>{}).front(), IndexError);
  const std::vector<int64_t> numbers{1, 2, 3};
  const IntArrayRef sizes(numbers);
  CHECK(std::vector<int64_t>(sizes.rbegin(), sizes.rend()) == std::vector<int64_t>{3, 2, 1});
  const Tensor x = ones({2, 3}), copy = x.clone();
  CHECK(x.storage().nbytes() == 24);
  CHECK(x.storage().is_alias_of(x.t().storage()));
  CHECK(!x.storage().is_alias_of(copy.storage()));
  CHECK(x.storage().data<float>() == x.data_ptr<float>());
  CHECK(x.storage().device() == kCPU);
}

TEST_CASE("arange accepts options after one, two and three numbers") {
  CHECK(arange(3, kInt).dtype() == kInt);
  CHECK(arange(0, 4, 2, kInt).equal(tensor({0, 2}, kInt)));
  CHECK(arange(0, 3, kFloat).equal(tensor({0.f, 1.f, 2.f})));
  CHECK(arange(1, 3).dtype() == kLong);
}

TEST_CASE("from_blob accepts strides and a deleter") {
  float data[] = {0, 1, 2, 3, 4, 5};
  int freed = 0;
  const auto deleter = [&](void* p) { freed += p == data; };
  {
    const Tensor columns = from_blob(data, {3, 2}, {1, 3}, deleter, kFloat);
    CHECK(columns.equal(tensor({{0.f, 3.f}, {1.f, 4.f}, {2.f, 5.f}})));
    CHECK(from_blob(data, {2, 2}, {0, 1}).equal(tensor({{0.f, 1.f}, {0.f, 1.f}})));
    CHECK(from_blob(data, {}, IntArrayRef(), kFloat).item<float>() == 0);
    CHECK(from_blob(nullptr, {0, 3}, {3, 1}, kFloat).numel() == 0);
  }
  CHECK(freed == 1);
  from_blob(data, {2}, deleter);
  CHECK(freed == 2);
  from_blob(data, {2}, deleter, TensorOptions(kFloat).requires_grad(true)).sum().backward();
  CHECK(freed == 3);
  CHECK_THROWS_AS(from_blob(data, {2, 3}, {3}, deleter, kFloat), ShapeError);
  CHECK_THROWS_AS(from_blob(data, {2}, {-1}, deleter, kFloat), ShapeError);
  CHECK_THROWS_AS(from_blob(data, {-2}, deleter, kFloat), ShapeError);
  CHECK_THROWS_AS(from_blob(data, {2}, deleter, kMeta), Error);
  CHECK_THROWS_AS(from_blob(nullptr, {2}, {0}, deleter, kFloat), Error);
  CHECK_THROWS_AS(from_blob(data, {2}, deleter, TensorOptions().pinned_memory(true)), Error);
  CHECK(freed == 3);
}

TEST_CASE("factories use all of TensorOptions, or refuse them") {
  const TensorOptions grad = TensorOptions(kFloat).requires_grad(true);
  const Tensor x = ones({2, 3});
  for (const Tensor& t : {empty({2}, grad),        empty_strided({2}, {1}, grad),
                          zeros({2}, grad),        ones({2}, grad),
                          full({2}, 1.0, grad),    empty_like(x, grad),
                          zeros_like(x, grad),     ones_like(x, grad),
                          full_like(x, 2, grad),   arange(3, grad),
                          arange(0, 3, grad),      arange(0, 3, 1, grad),
                          linspace(0, 1, 3, grad), eye(2, grad),
                          tensor({1.0}, grad),     scalar_tensor(1.0, grad),
                          rand({2}, grad),         randn({2}, grad),
                          randint(3, {2}, grad),   rand_like(x, grad),
                          randn_like(x, grad),     randint_like(x, 0, 3, grad),
                          randperm(3, grad)}) {
    CHECK(t.requires_grad());
    CHECK(t.is_leaf());
  }
  CHECK_THROWS_AS(ones({2}, TensorOptions(kLong).requires_grad(true)), DTypeError);
  CHECK_THROWS_AS(x.to(grad), Error);
  const TensorOptions last(MemoryFormat::ChannelsLast);
  for (const Tensor& t :
       {empty({2, 3, 4, 5}, last), ones({2, 3, 4, 5}, last), rand({2, 3, 4, 5}, last),
        zeros_like(ones({2, 3, 4, 5}), MemoryFormat::ChannelsLast),
        empty({2, 3, 4, 5}, kFloat, MemoryFormat::ChannelsLast), ones({2, 3, 4, 5}).to(last)}) {
    CHECK(t.is_contiguous(MemoryFormat::ChannelsLast));
    CHECK(t.strides() == IntArrayRef{60, 1, 15, 3});
  }
  CHECK(ones({2}, last.pinned_memory(true).memory_format(MemoryFormat::Preserve)).numel() == 2);
  CHECK_THROWS_AS(TensorOptions{kSparse}, NotImplementedError);
  CHECK_THROWS_AS(layout(kSparse), NotImplementedError);
  CHECK(TensorOptions().dtype<double>().dtype() == kDouble);
  CHECK(dtype<int64_t>().dtype() == kLong);
  CHECK(TensorOptions(std::string("cpu")).device().is_cpu());
  CHECK(printed(TensorOptions(kFloat).device(kCPU)) ==
        "TensorOptions(dtype=float32, device=cpu, layout=Strided, requires_grad=false, "
        "pinned_memory=false, memory_format=Contiguous (default))");
}

TEST_CASE("a tensor has the query functions of libtorch") {
  const Tensor x = ones({2, 3});
  CHECK(x.element_size() == 4);
  CHECK(x.itemsize() == 4);
  CHECK(x.is_signed());
  CHECK(!ones({1}, kByte).is_signed());
  CHECK(x.is_same_size(zeros({2, 3}, kLong)));
  CHECK(!x.is_same_size(zeros({3, 2})));
  CHECK(x.layout() == kStrided);
  CHECK(x.get_device() == -1);
  CHECK(x.is_variable());
  CHECK((x.is_complex() || x.is_sparse() || x.is_quantized()) == false);
  CHECK(x.has_storage());
  CHECK(!Tensor().has_storage());
  CHECK(x.toString() == "CPUFloatType");
  CHECK(Tensor().toString() == "UndefinedType");
  CHECK(zeros({1}, kLong).toString() == "CPULongType");
  const int64_t version = x._version();
  x.add_(1);
  CHECK(x._version() == version + 1);
  CHECK(tensor({2}).is_nonzero());
  CHECK(!tensor(0.0).is_nonzero());
  CHECK(tensor(std::nan("")).is_nonzero());
  CHECK_THROWS_AS(x.is_nonzero(), ShapeError);
  CHECK_THROWS_AS(empty({0}).is_nonzero(), ShapeError);
  CHECK_THROWS_AS(Tensor().is_sparse(), Error);
  CHECK(x.data<float>() == x.data_ptr<float>());
  const Tensor leaf = ones({1}, TensorOptions().requires_grad(true));
  CHECK(!leaf.tensor_data().requires_grad());
  CHECK(!leaf.variable_data().requires_grad());
  CHECK(Error("text").what_without_backtrace() == std::string("text"));
  CHECK(Error("text").msg() == "text");
}

TEST_CASE("a hook may return nothing") {
  const Tensor x = ones({2}, TensorOptions().requires_grad(true));
  double seen = 0;
  x.register_hook([&](const Tensor& g) { seen = g.sum().item<double>(); });
  x.register_hook([&](Tensor g) { seen += g.numel(); });
  (x * 3).sum().backward();
  CHECK(seen == 8);
  CHECK(x.grad().equal(full({2}, 3.0)));
}

TEST_CASE("nested lists that are ragged or mixed in depth are refused") {
  CHECK_THROWS_AS(tensor({{1, 2}, {3}}), ShapeError);
  CHECK_THROWS_AS(tensor({{{1}, {2}}, {{3, 4}, {5, 6}}}), ShapeError);
  CHECK_THROWS_AS(tensor({TensorData(1), TensorData({2, 3})}), ShapeError);
  CHECK_THROWS_AS(tensor({{{1, 2}}, {3, 4}}), ShapeError);
  const float values[] = {1, 2};
  CHECK(tensor(ArrayRef<float>(values)).dtype() == kFloat);
}

TEST_CASE("InferenceMode records nothing in its scope") {
  const Tensor x = ones({2}, TensorOptions().requires_grad(true));
  CHECK(!InferenceMode::is_enabled());
  {
    const InferenceMode guard;
    CHECK(InferenceMode::is_enabled());
    CHECK(!(x * 2).requires_grad());
    {
      const InferenceMode off(false);
      CHECK(!InferenceMode::is_enabled());
      CHECK((x * 2).requires_grad());
    }
    CHECK(!(x * 2).requires_grad());
  }
  CHECK((x * 2).requires_grad());
}

// As torch.inference_mode() and Tensor.is_inference() of PyTorch 2.15.
TEST_CASE("tensors made in InferenceMode, and their views, are inference tensors on every device") {
  for (const Device device : all_devices()) {
    CAPTURE(device.str());
    const Tensor x = ones({2, 3}, device);
    CHECK(!x.is_inference());
    Tensor made, result, view;
    {
      const InferenceMode guard;
      made = ones({2}, device);
      result = x * 2;
      view = x.view({6});
    }
    CHECK(made.is_inference());
    CHECK(result.is_inference());
    CHECK(result.view({6}).is_inference());
    CHECK(result.detach().is_inference());
    CHECK(!view.is_inference());
    CHECK(!result.clone().is_inference());
    CHECK(!(result + 1).is_inference());
  }
  CHECK_THROWS_AS(Tensor().is_inference(), Error);
}
