// Tensors and parameters in the forms in which all versions of PyTorch pickle them.
#include <ambit/checkpoint.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/shape.h>
#include <doctest/doctest.h>

#include <string>

#include "load_bytes.h"
#include "pickled_file.h"
#include "tests/temporary_folder.h"

using namespace ambit;
using namespace std::string_literals;

// PyTorch has no storage type for them: the storage has bytes, and the tensor names its dtype.
TEST_CASE("a tensor of uint16 needs all its bytes in the file") {
  const auto tensor_of = [](const std::string& storage_type, int64_t numel) {
    return pickled_uint16("9", numel, storage_type);
  };
  CHECK_THROWS_AS(load_between(tensor_of(kBytesType, 4)), SerializationError);  // no storage 9
  CHECK_THROWS_AS(load_between(tensor_of(pickled_global("torch", "ShortStorage"), 2)),
                  SerializationError);
}

// x and x.view(torch.uint8): PyTorch 2.15 names their storage by two types.
TEST_CASE("a storage may be bytes of uint8 and of another dtype") {
  const PickledTensor bytes{
      .type = "ByteStorage", .key = "1", .numel = 4, .sizes = {4}, .strides = {1}};
  const std::string x = pickled_uint16("1", 4);
  for (const std::string& both : {x + pickled(bytes), pickled(bytes) + x}) {
    const Value value = load_bytes(pytorch_bytes("(" + both + "t", {kOne, "\1\0\2\0"s}));
    const bool is_first = both.starts_with(x);
    const Tensor wide = value.items()[is_first ? 0 : 1].to_tensor(),
                 narrow = value.items()[is_first ? 1 : 0].to_tensor();
    CHECK(wide.equal(tensor({1, 2}, kUInt16)));
    CHECK(narrow.equal(tensor({1, 0, 2, 0}, kUInt8)));
    narrow[1].fill_(1);  // they still share memory
    CHECK(wide[0].item<int64_t>() == 257);
    // Types of different elements, and a storage that is missing.
    PickledTensor shorts = bytes;
    shorts.type = "ShortStorage";
    CHECK_THROWS_AS(load_bytes(pytorch_bytes("(" + x + pickled(shorts) + "t", {kOne, "\1\0\2\0"s})),
                    SerializationError);
    CHECK_THROWS_AS(load_bytes(pytorch_bytes("(" + both + "t", {kOne})), SerializationError);
  }
}

// PyTorch 2.15 loads them, but fails when it should return an element.
TEST_CASE("negated views of dtypes without negation are opaque") {
  const std::string negative = "}" + pickled("neg") +
                               "\x88"
                               "s";
  std::string flags = pickled(
      PickledTensor{.type = "BoolStorage", .key = "0", .numel = 4, .sizes = {4}, .strides = {1}});
  flags.insert(flags.size() - 2, negative);
  const std::string wide = pickled_uint16("0", 4, kBytesType, negative);
  for (const auto& [pickle, type] :
       {std::pair(flags, "negated torch.bool tensor"), {wide, "negated torch.uint16 tensor"}}) {
    CAPTURE(type);
    const Value value = load_bytes(
        pytorch_bytes("(" + pickle + pickled("after") + "t", {std::string("\0\1\0\1", 4)}));
    CHECK(value.items()[0].to_opaque().type == type);
    CHECK(value.items()[1].to_string() == "after");
  }
}

TEST_CASE(
    "tensors of dtypes and layouts that ambit does not have are opaque, and cannot be written") {
  const std::string storage = "(" + pickled("storage") +
                              pickled_global("torch.storage", "UntypedStorage") + pickled("9") +
                              pickled("cpu") + "K\x04tQ";
  const std::string fields = storage + pickled(0) + pickled(std::vector<int64_t>{4}) +
                             pickled(std::vector<int64_t>{1}) + "\x89" +
                             pickled_global("collections", "OrderedDict") + ")R";
  const Value float8 = load_between(pickled_global("torch._utils", "_rebuild_tensor_v3") + "(" +
                                    fields + pickled_global("torch", "float8_e4m3fn") + "tR");
  CHECK(float8["x"].to_opaque().type == "torch.float8_e4m3fn tensor");
  CHECK(float8["after"].to_tensor().equal(ones({1})));
  const Value alone = load_between(storage);
  CHECK(alone["x"].to_opaque().type == "torch.UntypedStorage");
  const TemporaryFolder folder;
  for (const Value& value : {float8, alone}) {
    CHECK_THROWS_WITH_AS(
        save_checkpoint(value, folder / "f.pth"),
        ("save: cannot write '" + (folder / "f.pth") +
         "': expected values that can be written, got an opaque " + value["x"].to_opaque().type)
            .c_str(),
        SerializationError);
  }
  // load() skips opaque values.
  const std::string path = folder / "g.pth";
  save_checkpoint(1, path);
  const std::string weight = pickled(PickledTensor{.numel = 1, .sizes = {1}, .strides = {1}});
  folder.write("g.pth", pytorch_bytes("}(" + pickled("w") + weight + pickled("d") +
                                          call("torch", "device", pickled("cpu") + "\x85") + "u",
                                      {kOne}));
  const StateDict dict = load(path);
  REQUIRE(dict.size() == 1);
  CHECK(dict[0].first == "w");
}

TEST_CASE("parameters and tensors with attributes, buffers and negated views are tensors") {
  const std::string weight = pickled(PickledTensor{.numel = 2, .sizes = {2}, .strides = {1}});
  const std::string two = kOne + std::string("\0\0\0\x40", 4);
  const auto load = [&](const std::string& pickle) {
    return load_bytes(pytorch_bytes(pickle, {two})).to_tensor();
  };
  const std::string hooks = pickled_global("collections", "OrderedDict") + ")R";
  const std::string state = "}" + pickled("note") + pickled("text") + "s";
  CHECK(load(pickled_global("torch._utils", "_rebuild_parameter_with_state") + "(" + weight +
             "\x88" + hooks + state + "tR")
            .equal(tensor({1., 2.})));
  // The function, the class, the function's arguments, the attributes.
  std::string arguments = weight.substr(weight.find('('));
  arguments.pop_back();  // without the call
  CHECK(load(pickled_global("torch._tensor", "_rebuild_from_type_v2") + "(" +
             pickled_global("torch._utils", "_rebuild_tensor_v2") +
             pickled_global("torch", "Tensor") + arguments + state + "tR")
            .equal(tensor({1., 2.})));
  std::string negated = weight.substr(0, weight.size() - 2);
  CHECK(load(negated + "}" + pickled("neg") +
             "\x88"
             "stR")
            .equal(tensor({-1., -2.})));
  CHECK(load(negated + "}" + pickled("neg") +
             "\x89"
             "stR")
            .equal(tensor({1., 2.})));
  CHECK(load(negated + "}tR").equal(tensor({1., 2.})));
}

// Sources: Variable.__reduce_ex__ of PyTorch 0.3.1; Tensor.__setstate__ of PyTorch 2.15, which
// reads these forms with weights_only=True.
TEST_CASE("tensors and parameters that PyTorch before 0.4 wrote are tensors") {
  const std::string type = pickled_global("torch.nn.parameter", "Parameter"),
                    floats = pickled_global("torch", "FloatTensor");
  const std::string weight = pickled(PickledTensor{.numel = 1, .sizes = {1}, .strides = {1}});
  const std::string hooks = pickled_global("collections", "OrderedDict") + ")R";
  const std::string triple = "\x88\x89" + hooks + "\x87" + "b";
  const std::string five = "(" + weight + "N" + hooks + "\x88\x89tb";
  const size_t storage = weight.find('(') + 1;
  const std::string four = weight.substr(storage - 1, weight.find('Q') + 1 - (storage - 1)) +
                           pickled(0) + pickled(std::vector<int64_t>{1}) +
                           pickled(std::vector<int64_t>{1}) + "tb";
  for (const std::string& pickle :
       {type + weight + "\x85R", type + weight + "\x85R" + triple,
        type + weight + "\x85\x81" + triple, type + ")\x81" + five, type + ")R" + five,
        floats + ")R" + four, floats + ")\x81" + four,
        type + floats + ")R" + four + "\x85R" + triple}) {
    CHECK(load_between(pickle)["x"].to_tensor().equal(ones({1})));
  }
  // Shared, as in a list of the parameters of an optimizer.
  const Value both = load_between("(" + type + ")\x81q\x01" + five + "h\x01t")["x"];
  CHECK(both.items()[0].to_tensor().is_same(both.items()[1].to_tensor()));
  for (const std::string& pickle :
       {type + ")R", floats + ")R", type + "K\x01\x85R", type + "NN\x86R",
        type + weight + "\x85R}b", type + ")R" + triple, type + ")R" + five + five,
        floats + ")R(NNNNtb", floats + ")R(NNNNNtb", floats + ")R" + four + four,
        floats + "K\x01\x85R", weight + "}b", floats + ")Rq\x01(h\x01NNNNtb"}) {
    CHECK_THROWS_AS(load_between(pickle), SerializationError);
  }
}

// A negated view is copied. Views that repeat one element must not allocate too much memory.
TEST_CASE("negated views are copied only within a pickle's memory limit") {
  const int64_t many = int64_t{1} << 40;
  std::string t = pickled(PickledTensor{.numel = 1, .sizes = {many}, .strides = {0}});
  t = t.substr(0, t.size() - 2) + "}" + pickled("neg") +
      "\x88"
      "stR";
  CHECK_THROWS_AS(load_bytes(pytorch_bytes(t, {kOne})), SerializationError);
}

TEST_CASE("a tensor on meta is read") {
  const Value value =
      load_between(pickled_global("torch._utils", "_rebuild_meta_tensor_no_storage") + "(" +
                   pickled_global("torch", "float32") + pickled(std::vector<int64_t>{2, 3}) +
                   pickled(std::vector<int64_t>{3, 1}) + "\x89tR");
  CHECK(value["x"].to_tensor().is_meta());
  CHECK(value["x"].to_tensor().sizes() == IntArrayRef{2, 3});
  const int64_t big = int64_t{1} << 62;
  for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{big, big}, {-1, 2}, {big}}) {
    CHECK_THROWS_AS(load_between(pickled_global("torch._utils", "_rebuild_meta_tensor_no_storage") +
                                 "(" + pickled_global("torch", "float32") + pickled(sizes) +
                                 pickled(std::vector<int64_t>(sizes.size(), 1)) + "\x89tR"),
                    SerializationError);
  }
}
