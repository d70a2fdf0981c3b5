// Values in PyTorch's files that ambit cannot represent: they are not executed, do not prevent
// other values from being read, and are written unchanged.
#include <ambit/checkpoint.h>
#include <ambit/error.h>
#include <ambit/nn/linear.h>
#include <ambit/nn/serialize.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/shape.h>
#include <doctest/doctest.h>

#include <string>

#include "pickled_file.h"
#include "tests/child_process.h"
#include "tests/temporary_folder.h"

using namespace ambit;
using namespace std::string_literals;

namespace {

const std::string kOne("\0\0\x80\x3f", 4);  // 1. of float32

Value load_bytes(const std::string& bytes) {
  const TemporaryFolder folder;
  return load_checkpoint(folder.write("f.pth", bytes));
}

// A dict with the value between two tensors [1].
Value load_between(const std::string& pickle) {
  const std::string weight = pickled(PickledTensor{.numel = 1, .sizes = {1}, .strides = {1}});
  return load_bytes(pytorch_bytes(
      "}(" + pickled("before") + weight + pickled("x") + pickle + pickled("after") + weight + "u",
      {kOne}));
}

std::string call(const std::string& module, const std::string& name, const std::string& tuple) {
  return pickled_global(module, name) + tuple + "R";
}

std::string real(char high, char low) {
  return std::string("G") + high + low + std::string(6, '\0');
}

}  // namespace

// Python 2 pickles an OrderedDict with its items as an argument, as in the weights of lpips 0.1.4;
// PyTorch 2.15 also accepts tuples, no argument, and a dict.
TEST_CASE("an OrderedDict is read with its items in an argument") {
  const std::string one = pickled("a") + "K\x01", two = pickled("b") + "K\x02";
  for (const std::string& items : {"](](" + one + "e](" + two + "ee",
                                   "((" + one + "t(" + two + "tt", "}(" + one + two + "u"}) {
    INFO(items);
    const Value value = load_between(call("collections", "OrderedDict", items + "\x85"))["x"];
    CHECK(value.kind() == Value::Kind::ordered_dict);
    CHECK(value.entries().size() == 2);
    CHECK(value["a"].to_int() == 1);
    CHECK(value["b"].to_int() == 2);
  }
  CHECK(load_between(call("collections", "OrderedDict", "]\x85"))["x"].entries().empty());
  // More items can be added afterwards.
  const std::string filled = call("collections", "OrderedDict", "](](" + one + "ee\x85");
  CHECK(load_between(filled + two + "s")["x"]["b"].to_int() == 2);
}

TEST_CASE("opaque values are left out of a state dict") {
  const Value value = load_between(call("torch", "device", pickled("cuda") + "\x85"));
  const StateDict tensors = value.to_state_dict();
  CHECK(tensors.size() == 2);
  CHECK(tensors.front().first == "before");
}

TEST_CASE("child: loads a module with float8 weights" * doctest::skip()) {
  const TemporaryFolder folder;
  const std::string header = R"({"bias":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                             R"("weight":{"dtype":"F8_E4M3","shape":[1,2],"data_offsets":[4,6]}})";
  const std::string path = folder.write(
      "f.safetensors", little_endian(header.size(), 8) + header + std::string(6, '\0'));
  CHECK_THROWS_WITH_AS(load(nn::Linear(2, 1), path), doctest::Contains("missing: weight"), Error);
  const Value device = Value::opaque({"torch.device", "torch.device", {"cpu"}});
  const Value dict = Value::dict({{"weight", ones({1, 2})}, {"bias", ones({1})}, {"at", device}});
  nn::Linear(2, 1)->load_state_dict(dict.to_state_dict());
}

TEST_CASE("a warning names the values that load and to_state_dict leave out") {
  const ChildResult result = run_child("child: loads a module with float8 weights");
  CHECK_MESSAGE(result.exit_code == 0, result.output);
  for (const char* part : {"/f.safetensors': left out 1 value that ambit has no dtype or type for: "
                           "'weight' (F8_E4M3 tensor)",
                           "to_state_dict: left out 1 value that ambit has no dtype or type for: "
                           "'at' (torch.device)"}) {
    CHECK_MESSAGE(result.output.find(part) != std::string::npos, result.output);
  }
}

// The pickles are those of torch.save in PyTorch 2.15.
TEST_CASE("a value that ambit cannot represent is opaque, and the tensors around it are read") {
  const std::string big = "\x8a\x09" + std::string(8, '\0') + "\x01";  // 2^64
  const std::string device = call("torch", "device", "(" + pickled("cuda") + "K\x01t");
  const std::string latin1 =
      call("_codecs", "encode", "(" + pickled("\xc3\xbf") + pickled("latin1") + "t");
  const std::string kinds[][2] = {
      {big, "int"},
      {device, "torch.device"},
      {pickled_global("torch", "float32"), "torch.dtype"},
      {pickled_global("torch", "float8_e5m2"), "torch.dtype"},
      {call("torch.serialization", "_get_layout", pickled("torch.strided") + "\x85"),
       "torch.layout"},
      {call("__builtin__", "set",
            "](K\x01K\x02"
            "e\x85"),
       "set"},
      {"\x8f(K\x01K\x02\x90", "set"},
      {"(K\x01\x91", "frozenset"},
      {latin1, "bytes"},
      {"C\x02\xff\x01", "bytes"},
      {call("__builtin__", "bytearray", latin1 + "\x85"), "bytearray"},
      {call("__builtin__", "complex", real('\x3f', '\xf0') + real('\x40', '\0') + "\x86"),
       "complex"},
      {pickled_global("torch", "FloatTensor"), "type"},
      {pickled_global("torch.cuda", "HalfTensor"), "type"},
      {pickled_global("torch", "FloatStorage"), "type"},
      {pickled_global("torch.storage", "UntypedStorage"), "type"},
      {pickled_global("torch.nn.parameter", "Parameter"), "type"},
  };
  for (const auto& [pickle, type] : kinds) {
    CAPTURE(type);
    const Value value = load_between(pickle);
    REQUIRE(value["x"].kind() == Value::Kind::opaque);
    CHECK(value["x"].to_opaque().type == type);
    CHECK(value["before"].to_tensor().equal(ones({1})));
    CHECK(value["after"].to_tensor().equal(ones({1})));
    CHECK_THROWS_WITH_AS(value["x"].to_int(),
                         ("checkpoint: expected an int, got an opaque " + type).c_str(),
                         SerializationError);
    // The value is the same after it is written and read again.
    const TemporaryFolder folder;
    save_checkpoint(value, folder / "again.pth");
    const Value again = load_checkpoint(folder / "again.pth");
    CHECK(again["x"].to_opaque().type == type);
    CHECK(again["x"].to_opaque().function == value["x"].to_opaque().function);
    CHECK(again["x"].to_opaque().arguments.size() == value["x"].to_opaque().arguments.size());
    CHECK(again["after"].to_tensor().equal(ones({1})));
    save_checkpoint(again, folder / "third.pth");
    CHECK(read_bytes(folder / "third.pth") == read_bytes(folder / "again.pth"));
  }
  CHECK(load_between(device)["x"].to_opaque().arguments[1].to_int() == 1);
}

TEST_CASE("a type in a tuple is opaque, and is not called") {
  const Value value = load_between("(K\x01" + pickled_global("torch", "LongTensor") +
                                   pickled_global("torch", "int64") + "t")["x"];
  REQUIRE(value.isTuple());
  REQUIRE(value.items().size() == 3);
  CHECK(value.items()[0].to_int() == 1);
  CHECK(value.items()[1].to_opaque().function == "torch.LongTensor");
  CHECK(value.items()[2].to_opaque().function == "torch.int64");
  CHECK_THROWS_WITH_AS(load_between(call("torch", "LongTensor", "K\x01\x85")),
                       doctest::Contains("expected 0 arguments of a class"), SerializationError);
  CHECK_THROWS_WITH_AS(load_between(pickled_global("torch.nn", "FloatTensor")),
                       doctest::Contains("'torch.nn.FloatTensor', which is not run"),
                       SerializationError);
}

// Like torch.load(weights_only=True) of PyTorch 2.15.
TEST_CASE("torch.Size of a list is a tuple") {
  const Value sizes = load_between(call("torch", "Size",
                                        "](K\x02K\x03"
                                        "e\x85"))["x"];
  REQUIRE(sizes.isTuple());
  CHECK(sizes.toIntVector() == std::vector<int64_t>{2, 3});
}

// Like torch.load(weights_only=True).
TEST_CASE("a list or a dict that contains itself has an opaque value in that place") {
  const Value list = load_between(
      "]q\x01(K\x07h\x01K\x08"
      "e")["x"];
  REQUIRE(list.items().size() == 3);
  CHECK(list.items()[0].to_int() == 7);
  CHECK(list.items()[1].to_opaque().type == "list that contains itself");
  CHECK(list.items()[2].to_int() == 8);
  // In a dict that contains itself, added as a single item; afterwards it is shared like other
  // values.
  const Value both = load_between(
      "(}q\x01(K\x01]q\x02h\x01"
      "aK\x02h\x02uh\x01h\x02t")["x"];
  const Value& dict = both.items()[0];
  CHECK(dict[1].items()[0].to_opaque().type == "dict that contains itself");
  CHECK(&dict[2].items() == &dict[1].items());
  CHECK(&both.items()[1].entries() == &dict.entries());
  CHECK(&both.items()[2].items() == &dict[1].items());
  const Value ordered = load_between(call("collections", "OrderedDict", ")") + "q\x01K\x01h\x01s");
  CHECK(ordered["x"][1].to_opaque().type == "dict that contains itself");
  CHECK(ordered["after"].to_tensor().equal(ones({1})));
  const TemporaryFolder folder;
  CHECK_THROWS_WITH_AS(save_checkpoint(ordered, folder / "f.pth"),
                       doctest::Contains("got an opaque dict that contains itself"),
                       SerializationError);
}

// Python writes unpaired surrogates with "surrogatepass", and PyTorch reads them.
TEST_CASE("text with unpaired surrogates is read, and written unchanged") {
  const std::string half = "a\xed\xa0\x80z";
  const Value value = load_between("}" + pickled(half) + pickled(half) + "s")["x"];
  CHECK(value[half].to_string() == half);
  const TemporaryFolder folder;
  save_checkpoint(value, folder / "again.pth");
  CHECK(read_bytes(folder / "again.pth").find(pickled(half)) != std::string::npos);
  CHECK(load_checkpoint(folder / "again.pth")[half].to_string() == half);
  // JSON cannot represent the value.
  CHECK_THROWS_WITH_AS(save({{half, ones({1})}}, folder / "f.safetensors"),
                       doctest::Contains("expected text in UTF-8"), SerializationError);
}

TEST_CASE("an int of 3,001 bits is written unchanged") {
  const std::string huge = "\x8b" + little_endian(376, 4) + std::string(375, '\xab') + "\x01";
  const Value value = load_between(huge);
  CHECK(value["x"].to_opaque().type == "int");
  const TemporaryFolder folder;
  save_checkpoint(value, folder / "again.pth");
  CHECK(read_bytes(folder / "again.pth").find(huge) != std::string::npos);
}

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

TEST_CASE("keys of a dict may be floats, bools, None, tuples and opaque") {
  const Value value =
      load_between("}(" + real('\x3f', '\xf8') + "K\x01\x88K\x02NK\x03K\x07K\x08\x86K\x04" +
                   call("torch", "device", pickled("cpu") + "\x85") + "K\x05u");
  const Value& dict = value["x"];
  CHECK(dict[1.5].to_int() == 1);
  CHECK(dict[true].to_int() == 2);
  CHECK(dict[1].to_int() == 2);  // as in Python, 1 == True
  CHECK(dict[Value()].to_int() == 3);
  CHECK(dict.entries()[3].first.items()[1].to_int() == 8);
  CHECK(dict.entries()[4].first.to_opaque().type == "torch.device");
  const TemporaryFolder folder;
  save_checkpoint(value, folder / "f.pth");
  CHECK(load_checkpoint(folder / "f.pth")["x"][1.5].to_int() == 1);
}

TEST_CASE("only known names are opaque, with few arguments") {
  const auto refused = [](const std::string& pickle) {
    CHECK_THROWS_AS(load_between(pickle), SerializationError);
  };
  refused(call("builtins", "eval", pickled("1") + "\x85"));
  refused(call("__builtin__", "getattr", pickled("1") + "\x85"));
  refused(call("torch", "float33", ")"));
  refused(call("torch", "device", "K\x01"));                         // not a tuple
  refused(call("torch", "device", "(NNNNNNNNNt"));                   // nine arguments
  refused(pickled_global("torch", "float32") + ")R");                // not a function
  refused(pickled_global("torch", "Tensor") + ")R");                 // a class
  refused(call("torch", "device", pickled("cpu") + "\x85") + "}b");  // has no attributes
  // Nested tuples that only functions accept.
  std::string deep = pickled_global("torch", "FloatStorage");
  for (int i = 0; i < 100; ++i) deep += "\x85";
  refused(deep);
  // A name used so often that its values exceed a file's memory limit.
  std::string many = "](" + pickled_global("torch.nn.parameter", "Parameter") + "q\x01";
  for (int i = 0; i < 600'000; ++i) many += "h\x01";
  refused(many + "e");
  // A value that calls itself.
  const std::string type = pickled_global("torch._tensor", "_rebuild_from_type_v2");
  refused(type + "q\x01(h\x01" + pickled_global("torch", "Tensor") + "(h\x01" +
          pickled_global("torch", "Tensor") + ")NtNtR");
}

TEST_CASE("a shared opaque value is written once") {
  const Value device = Value::opaque({"torch.device", "torch.device", {"cpu"}});
  const TemporaryFolder folder;
  save_checkpoint(Value::list({device, device}), folder / "f.pth");
  const Value back = load_checkpoint(folder / "f.pth");
  CHECK(&back.items()[0].to_opaque() == &back.items()[1].to_opaque());
}
