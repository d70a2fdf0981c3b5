// Checkpoints in PyTorch's format: written values are read again, and PyTorch's are read.
// pytorch_cross_test.cpp uses the real PyTorch.
#include <ambit/checkpoint.h>
#include <ambit/error.h>
#include <ambit/nn/linear.h>
#include <ambit/nn/sequential.h>
#include <ambit/nn/serialize.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/random.h>
#include <ambit/ops/shape.h>
#include <ambit/parallel.h>
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>

#include "load_bytes.h"
#include "pickled_file.h"
#include "tests/devices.h"
#include "tests/temporary_folder.h"

using namespace ambit;

namespace {

// Write a value and read it again.
Value round_trip(const Value& value, Device device = {}) {
  const TemporaryFolder folder;
  save_checkpoint(value, folder / "f.pth");
  return load_checkpoint(folder / "f.pth", device);
}

Value load_pickle(const std::string& pickle) { return load_bytes(pytorch_bytes(pickle)); }

}  // namespace

TEST_CASE("every dtype is read again from a PyTorch file on every device") {
  const TemporaryFolder folder;
  for_each_device([&](Device device) {
    for (const char* name : {"all.pth", "all.pt"}) {
      StateDict saved;
      for (const DType dtype : dtypes::kStored) {
        saved.emplace_back(ambit::name(dtype), arange(-3, 4).to(dtype).to(device));
      }
      save(saved, folder / name);
      const StateDict on_cpu = load(folder / name), loaded = load(folder / name, device);
      REQUIRE(loaded.size() == saved.size());
      for (size_t i = 0; i < saved.size(); ++i) {
        CHECK(loaded[i].first == saved[i].first);
        CHECK(loaded[i].second.dtype() == saved[i].second.dtype());
        CHECK(loaded[i].second.device() == device);
        CHECK(on_cpu[i].second.is_cpu());
        CHECK(on_cpu[i].second.equal(saved[i].second.cpu()));
      }
    }
  });
}

TEST_CASE("the extension determines the format") {
  const TemporaryFolder folder;
  save({{"x", ones({2})}}, folder / "x.pth");
  save({{"x", ones({2})}}, folder / "x.safetensors");
  CHECK(read_bytes(folder / "x.pth").starts_with("PK"));
  CHECK(read_bytes(folder / "x.safetensors").substr(8, 1) == "{");
}

TEST_CASE("a single tensor is saved as by torch.save") {
  const TemporaryFolder folder;
  save(arange(3.), folder / "t.pth");
  CHECK(load_checkpoint(folder / "t.pth").to_tensor().equal(arange(3.)));
  Tensor back;
  load(back, folder / "t.pth");
  CHECK(back.equal(arange(3.)));
  save({{"x", back}}, folder / "t.pth");
  CHECK_THROWS_WITH_AS(load(back, folder / "t.pth"),
                       ("load: cannot read '" + (folder / "t.pth") +
                        "': checkpoint: expected a tensor, got a dict; load_checkpoint() reads "
                        "everything")
                           .c_str(),
                       SerializationError);
}

TEST_CASE("tensors that share memory share it after loading, with their strides") {
  for_each_device([](Device device) {
    const Tensor matrix = arange(12.).view({3, 4}).to(device);
    const Value back = round_trip(
        StateDict{{"all", matrix}, {"t", matrix.t()}, {"row", matrix.select(0, 1)}}, device);
    const Tensor all = back["all"].to_tensor(), t = back["t"].to_tensor();
    CHECK(t.sizes() == IntArrayRef{4, 3});
    CHECK(t.strides() == IntArrayRef{1, 4});
    all.fill_(7.);
    CHECK(t.cpu().equal(full({4, 3}, 7.)));
    CHECK(back["row"].to_tensor().cpu().equal(full({4}, 7.)));
    CHECK_FALSE(t.requires_grad());
  });
}

TEST_CASE("of a tensor that is a part of larger memory only the part is written") {
  const TemporaryFolder folder;
  const Tensor large = zeros({1000, 1000});
  save_checkpoint(large.select(1, 3), folder / "part.pth");
  CHECK(read_bytes(folder / "part.pth").size() <
        10'000);  // the storage has 4 MB, the part 4,000 bytes
  const Tensor back = load_checkpoint(folder / "part.pth").to_tensor();
  CHECK(back.sizes() == IntArrayRef{1000});
  CHECK(back.is_contiguous());
}

TEST_CASE("expanded, 0-dim, empty and gradient-requiring tensors are read again") {
  for (const Tensor& t : {tensor(2.5).expand({2, 3}), tensor(7), empty({0}), empty({2, 0, 3}),
                          ones({2}).requires_grad_(), arange(6).slice(0, 1, 6, 2)}) {
    const Tensor back = round_trip(t).to_tensor();
    CHECK(back.sizes() == t.sizes());
    CHECK_FALSE(back.requires_grad());
    CHECK(back.equal(t.detach()));
  }
}

TEST_CASE("nested values are read again") {
  const int64_t least = std::numeric_limits<int64_t>::min();
  const Tensor shared = ones({2});
  const Value list = Value::list({shared, shared});
  const Value back = round_trip(
      Value::dict({{"none", Value()},
                   {"bools", Value::tuple({true, false})},
                   {"ints", Value::list({0, 255, 256, -1, 1LL << 31, -(1LL << 31), least, ~least})},
                   {"floats", Value::list({0.1, -INFINITY})},
                   {"text", "层 \"x\"\n"},
                   {"empty", Value::list({Value::list({}), Value::tuple({}), Value::dict({}), ""})},
                   {7, Value::dict({{-7, list}, {8, list}})},
                   {"model", StateDict{{"w", shared}}}}));
  CHECK(back["none"].is_none());
  CHECK(back["bools"].kind() == Value::Kind::tuple);
  CHECK(back["bools"].items()[0].to_bool());
  CHECK_FALSE(back["bools"].items()[1].to_bool());
  std::vector<int64_t> ints;
  for (const Value& v : back["ints"].items()) ints.push_back(v.to_int());
  CHECK(ints == std::vector<int64_t>{0, 255, 256, -1, 1LL << 31, -(1LL << 31), least, ~least});
  CHECK(back["floats"].items()[0].to_double() == 0.1);
  CHECK(back["floats"].items()[1].to_double() == -INFINITY);
  CHECK(back["text"].to_string() == "层 \"x\"\n");
  CHECK(back["empty"].items()[0].kind() == Value::Kind::list);
  CHECK(back["empty"].items()[1].kind() == Value::Kind::tuple);
  CHECK(back["empty"].items()[2].kind() == Value::Kind::dict);
  CHECK(back["empty"].items()[3].to_string().empty());
  CHECK(&back[7][-7].items() == &back[7][8].items());
  CHECK(back[7][8].items()[1].to_tensor().is_same(back["model"]["w"].to_tensor()));
  CHECK(back["model"].kind() == Value::Kind::ordered_dict);
}

TEST_CASE("storages are aligned to 64 bytes, and equal values give equal files") {
  const TemporaryFolder folder;
  const StateDict dict = {{"b", tensor({1, 2, 3}, kUInt8)}, {"x", full({4}, 1234.5)}};
  save(dict, folder / "1.pth");
  save(dict, folder / "2.pth");
  const std::string bytes = read_bytes(folder / "1.pth");
  CHECK(bytes == read_bytes(folder / "2.pth"));
  const Tensor x = dict[1].second;
  CHECK(bytes.find({static_cast<const char*>(x.data_ptr()), x.nbytes()}) % 64 == 0);
  CHECK(bytes.find(std::string("\1\2\3PK", 5)) % 64 == 0);
}

// Several threads compute the CRC of large entries, each of a part.
TEST_CASE("a large entry has the same bytes with any number of threads, and its CRC is checked") {
  const TemporaryFolder folder;
  const Tensor large = rand({(5 << 18) + 3});
  const int before = get_num_threads();
  set_num_threads(1);
  save(large, folder / "one.pth");
  set_num_threads(3);
  save(large, folder / "three.pth");
  set_num_threads(before);
  const std::string one = read_bytes(folder / "one.pth");
  CHECK(one == read_bytes(folder / "three.pth"));
  std::string changed = one;
  changed[changed.size() / 2] ^= 1;
  CHECK_THROWS_AS(load_bytes(changed), SerializationError);
}

TEST_CASE("float16 and bfloat16 are read bit by bit") {
  const auto load = [](const std::string& type, const std::vector<uint16_t>& halves) {
    std::string bytes;
    for (const uint16_t h : halves) bytes += little_endian(h, 2);
    const auto n = static_cast<int64_t>(halves.size());
    return load_bytes(pytorch_bytes(pickled(PickledTensor{
                                        .type = type, .numel = n, .sizes = {n}, .strides = {1}}),
                                    {bytes}))
        .to_tensor();
  };
  // IEEE 754: 1 sign, 5 exponent and 10 fraction bits; 0x0001 is 2^-24, 0x0400 is 2^-14.
  const Tensor half = load("HalfStorage", {0x0000, 0x3c00, 0xc500, 0x7bff, 0x0001, 0x83ff, 0x0400,
                                           0x7c00, 0xfc00, 0x3555});
  CHECK(half.dtype() == kFloat16);
  CHECK(half.equal(tensor(
      {0., 1., -5., 65504., std::ldexp(1., -24), std::ldexp(-1023., -24), std::ldexp(1., -14),
       static_cast<double>(INFINITY), static_cast<double>(-INFINITY), 0x1.554p-2},
      kFloat16)));
  const Tensor odd = load("HalfStorage", {0x8000, 0x7e00});
  CHECK(std::signbit(odd.select(0, 0).item<float>()));
  CHECK(std::isnan(odd.select(0, 1).item<float>()));
  // The upper half of a float32.
  CHECK(load("BFloat16Storage", {0x3f80, 0xc0a0, 0x7f80, 0x0001})
            .equal(tensor({1., -5., static_cast<double>(INFINITY), 0x1p-133}, kBFloat16)));
}

TEST_CASE("numbers of a big-endian machine are read") {
  const auto tensor_of = [](const char* type, const char* key, int64_t numel) {
    return pickled(
        PickledTensor{.type = type, .key = key, .numel = numel, .sizes = {numel}, .strides = {1}});
  };
  using namespace std::string_literals;
  const TemporaryFolder folder;
  const std::string path = folder.write(
      "big.pth",
      zip_bytes({{"x/data.pkl",
                  "\x80\x02(" + tensor_of("FloatStorage", "0", 2) +
                      tensor_of("LongStorage", "1", 1) + tensor_of("BFloat16Storage", "2", 1) +
                      tensor_of("ByteStorage", "3", 2) + pickled_uint16("4", 4) + "t."},
                 {"x/byteorder", "big"},
                 {"x/data/0", "\x3f\x80\0\0\xc0\0\0\0"s},
                 {"x/data/1", "\0\0\0\0\0\0\1\2"s},
                 {"x/data/2", "\x3f\xc0"s},
                 {"x/data/3", "\1\2"s},
                 {"x/data/4", "\0\7\1\2"s}}));
  const Value value = load_checkpoint(path);
  CHECK(value.items()[0].to_tensor().equal(tensor({1.F, -2.F})));
  CHECK(value.items()[1].to_tensor().item<int64_t>() == 258);
  CHECK(value.items()[2].to_tensor().item<double>() == 1.5);
  CHECK(value.items()[3].to_tensor().equal(tensor({1, 2}, TensorOptions(kUInt8))));
  // PyTorch 2.15 does not swap these bytes: it reads 1792 and 513.
  for_each_device([&](Device device) {
    const Value placed = load_checkpoint(path, device);
    CHECK(placed.items()[4].to_tensor().cpu().equal(tensor({7, 258}, kUInt16)));
  });
}

TEST_CASE("NUL bytes after a file are ignored, other bytes are not") {
  const TemporaryFolder folder;
  const std::string bytes = pytorch_bytes("K\x07");
  for (const size_t count : {1, 22, 512, 65535}) {
    CAPTURE(count);
    CHECK(load_checkpoint(folder.write("f.pth", bytes + std::string(count, '\0'))).to_int() == 7);
  }
  CHECK_THROWS_AS(load_checkpoint(folder.write("f.pth", bytes + std::string(30, '\0') + "x")),
                  SerializationError);
  CHECK_THROWS_AS(load_checkpoint(folder.write("f.pth", bytes + std::string(200000, '\0'))),
                  SerializationError);
}

TEST_CASE("parameters, sizes and pickles of later protocols are read") {
  const std::string weight = pickled(PickledTensor{.numel = 1, .sizes = {1}, .strides = {1}});
  const Value parameter =
      load_bytes(pytorch_bytes(pickled_global("torch._utils", "_rebuild_parameter") + "(" + weight +
                                   "\x88" + pickled_global("collections", "OrderedDict") + ")RtR",
                               {std::string("\0\0\x80\x3f", 4)}));
  CHECK(parameter.to_tensor().equal(ones({1})));
  CHECK_FALSE(parameter.to_tensor().requires_grad());
  const Value size =
      load_pickle(pickled_global("torch", "Size") + pickled(std::vector<int64_t>{2, 3}) + "\x85R");
  CHECK(size.items()[1].to_int() == 3);

  // pickle.dumps({"a": [1, None], "b": OrderedDict(c="c")}, protocol=4)
  using namespace std::string_literals;
  const std::string protocol4 = "\x80\x04\x95<\0\0\0\0\0\0\0}\x94(\x8c\x01"s +
                                "a\x94]\x94(K\x01Ne\x8c\x01"s + "b\x94"s + "\x8c\x0b"s +
                                "collections\x94\x8c\x0bOrderedDict\x94\x93\x94)R\x94\x8c\x01"s +
                                "c\x94h\x08su."s;
  const Value v = load_bytes(zip_bytes({{"x/data.pkl", protocol4}}));
  CHECK(v["a"].items()[0].to_int() == 1);
  CHECK(v["a"].items()[1].is_none());
  CHECK(v["b"]["c"].to_string() == "c");
}

TEST_CASE("reading a value as another type is an error that says so") {
  const Value v = Value::dict({{"epoch", 3}, {4, "text"}, {"list", Value::list({1})}});
  CHECK_THROWS_WITH_AS(v["epoch"].to_string(), "checkpoint: expected a string, got an int",
                       SerializationError);
  CHECK_THROWS_WITH_AS(v[4].to_tensor(), "checkpoint: expected a tensor, got a string",
                       SerializationError);
  CHECK_THROWS_WITH_AS(v["model"], "checkpoint: expected the key 'model', got 'epoch', 4, 'list'",
                       SerializationError);
  CHECK_THROWS_WITH_AS(v.to_state_dict(),
                       "checkpoint: expected a dict of tensors by name, got an int under 'epoch'",
                       SerializationError);
  CHECK_THROWS_AS(v.items(), SerializationError);
  CHECK_THROWS_AS(v[Value()], SerializationError);
  CHECK_THROWS_AS(v["list"].entries(), SerializationError);
  CHECK_THROWS_AS(v[4].to_int(), SerializationError);
  CHECK_THROWS_AS(v[4].to_bool(), SerializationError);
  CHECK_THROWS_AS(v[4].to_double(), SerializationError);
  CHECK(v["epoch"].to_double() == 3);
  CHECK(v.find("model") == nullptr);
  CHECK_THROWS_AS(Value::dict({{"a", 1}, {"a", 2}}), SerializationError);
  CHECK_THROWS_AS(Value::dict({{ones({1}), 1}}), SerializationError);
  Value deep;
  for (int i = 0; i < Value::kMaxDepth; ++i) deep = Value::list({deep});
  CHECK_THROWS_AS(Value::list({deep}), SerializationError);
  CHECK(round_trip(deep).kind() == Value::Kind::list);
}

TEST_CASE("save refuses values that a PyTorch file cannot contain, and keeps the old file") {
  const TemporaryFolder folder;
  const std::string path = folder / "f.pth";
  save({{"x", ones({2})}}, path);
  const std::string before = read_bytes(path);
  CHECK_THROWS_AS(save({{"x", ones({1})}, {"x", ones({1})}}, path), SerializationError);
  CHECK_THROWS_AS(save_checkpoint(Tensor(), path), SerializationError);
  CHECK_THROWS_AS(save_checkpoint(ones({1}, "meta"), path), SerializationError);
  CHECK_THROWS_AS(save_checkpoint("\xff\xfe", path), SerializationError);
  CHECK_THROWS_AS(save_checkpoint(Value(), path, {{"../x", ""}}), SerializationError);
  CHECK(read_bytes(path) == before);
  CHECK_THROWS_WITH_AS(
      save_checkpoint(Tensor(), path),
      ("save: cannot write '" + path + "': expected tensors with values, got undefined").c_str(),
      SerializationError);
  CHECK_THROWS_AS(save_checkpoint(1, folder / "no/such/folder/f.pth"), SerializationError);
  CHECK_THROWS_AS(save_checkpoint(1, "/dev/full"), SerializationError);
  CHECK_THROWS_AS(load(folder / "missing.pth"), SerializationError);
  save_checkpoint(Value::dict({{"epoch", 3}}), path);
  CHECK_THROWS_AS(load(path), SerializationError);  // it does not contain only tensors
}

TEST_CASE("pickle_save gives a checkpoint's bytes, and pickle_load reads them") {
  const Value value = Value::dict({{"x", arange(6, kFloat32).view({2, 3})},
                                   {"n", 3},
                                   {"all", Value::tuple({2.5, true, Value(), "text"})}});
  const std::vector<char> bytes = pickle_save(value);
  const TemporaryFolder folder;
  save_checkpoint(value, folder / "f.pth");
  CHECK(std::string(bytes.begin(), bytes.end()) == read_bytes(folder / "f.pth"));
  const Value back = pickle_load(bytes);
  CHECK(back["x"].to_tensor().equal(arange(6, kFloat32).view({2, 3})));
  CHECK(back["n"].to_int() == 3);
  CHECK(back["all"].items()[1].to_bool());
  CHECK(back["all"].items()[2].is_none());
  CHECK(pickle_load(pickle_save(ones({2}))).to_tensor().equal(ones({2})));

  CHECK_THROWS_WITH_AS(
      pickle_save(Tensor()),
      "save: cannot write 'pickle_save()': expected tensors with values, got undefined",
      SerializationError);
  for (const std::vector<char>& bad : {std::vector<char>(), std::vector<char>(100, 'x'),
                                       std::vector<char>(bytes.begin(), bytes.end() - 1)}) {
    CHECK_THROWS_AS(pickle_load(bad), SerializationError);
  }
}

TEST_CASE("both formats store metadata") {
  const TemporaryFolder folder;
  const Metadata notes = {{"module", "Net"}, {"note", "层\n"}};
  for (const char* name : {"f.pth", "f.safetensors"}) {
    save({{"x", ones({2})}}, folder / name, notes);
    Metadata back;
    CHECK(load(folder / name, {}, &back).size() == 1);
    CHECK(back == notes);
  }
}

TEST_CASE("a module's file contains its class") {
  const TemporaryFolder folder;
  for (const char* name : {"f.pth", "f.safetensors"}) {
    const std::string path = folder / name;
    nn::Linear one(2, 3), other(2, 3);
    save(one, path);
    load(other, path);
    CHECK(other->weight.equal(one->weight));
    auto wrapped = nn::Sequential({{"weight", nn::Linear(1, 1)}});
    CHECK_THROWS_WITH_AS(
        load(wrapped, path),
        ("load: expected the module Sequential in '" + path + "', got Linear").c_str(), Error);
    save(one->state_dict(), path);  // without the module's class, like PyTorch's files
    load(other, path);
  }
}
