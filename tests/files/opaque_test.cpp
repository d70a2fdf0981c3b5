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

#include "load_bytes.h"
#include "pickled_file.h"
#include "tests/child_process.h"
#include "tests/temporary_folder.h"

using namespace ambit;
using namespace std::string_literals;

namespace {

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
