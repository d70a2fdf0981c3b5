// Archives, as libtorch's C++ keeps them: written and read here, by hand, and by nobody's good
// will. What libtorch itself makes of them is in libtorch_cross_test.
#include <ambit/archive.h>
#include <ambit/checkpoint.h>
#include <ambit/data/cifar10.h>
#include <ambit/data/samplers.h>
#include <ambit/error.h>
#include <ambit/nn/activation.h>
#include <ambit/nn/functional_module.h>
#include <ambit/nn/linear.h>
#include <ambit/nn/sequential.h>
#include <ambit/nn/serialize.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>
#include <ambit/optim/optim.h>
#include <ambit/random.h>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <memory>
#include <span>
#include <sstream>
#include <string>

#include "tests/devices.h"
#include "tests/files/pickled_file.h"
#include "tests/temporary_folder.h"

using namespace ambit;
using serialize::InputArchive;
using serialize::OutputArchive;

namespace {

// The archive of bytes by hand: a pickle, and that it is TorchScript's.
std::string script_bytes(const std::string& pickle, const std::vector<std::string>& storages = {}) {
  std::vector<ZipEntry> entries{{"x/data.pkl", "\x80\x02" + pickle + "."},
                                {"x/constants.pkl", "\x80\x02)."},
                                {"x/code/__torch__.py", "packed", 8}};
  for (size_t i = 0; i < storages.size(); ++i) {
    entries.push_back({"x/data/" + std::to_string(i), storages[i]});
  }
  return zip_bytes(entries);
}

std::string error_of(const std::string& bytes) {
  InputArchive archive;
  try {
    archive.load_from(bytes.data(), bytes.size());
  } catch (const SerializationError& e) {
    return e.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

const std::string kObject = "c__torch__\nModule\n)\x81";

struct NetImpl : nn::Module {
  nn::Linear a = register_module("a", nn::Linear(2, 3));
  nn::Sequential b = register_module("b", nn::Sequential(nn::Linear(3, 2), nn::ReLU()));
  Tensor scale = register_parameter("scale", ones({2}));
  Tensor count = register_buffer("count", zeros({}, kInt64));
  Tensor scratch = register_buffer("scratch", zeros({3}), /*persistent=*/false);
  nn::Functional f = register_module("f", nn::Functional([](const Tensor& x) { return x; }));
};
AMBIT_MODULE(Net);

StateDict copies(const nn::Module& module) {
  StateDict all = module.state_dict();
  for (auto& [name, tensor] : all) tensor = tensor.clone();
  return all;
}

bool same(const StateDict& a, const StateDict& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.first == y.first && x.second.equal(y.second);
  });
}

}  // namespace

TEST_CASE("an archive gives back what was written into it, from a file, a stream and a function") {
  const TemporaryFolder folder;
  OutputArchive archive, nested;
  nested.write("x", arange(4.).view({2, 2}).t());
  nested.write("buffer", ones({1}, kInt32), true);
  nested.write("undefined", Tensor());
  archive.write("nested", nested);
  archive.write("leaf", ones({2}).requires_grad_());
  archive("epoch", Value(3));
  archive.write("lr", Value(0.5));
  archive.write("lr", Value(0.25));  // in its place
  archive.write("names", Value::list({"a", "b"}));
  archive.write("nothing", Value());
  archive.save_to(folder / "f.pt");
  std::ostringstream stream;
  archive.save_to(stream);
  std::string bytes;
  archive.save_to([&](const void* data, size_t n) {
    bytes.append(static_cast<const char*>(data), n);
    return n;
  });
  CHECK(read_bytes(folder / "f.pt") == stream.str());
  CHECK(bytes == stream.str());

  InputArchive by_path, by_stream, by_bytes, by_function;
  std::istringstream in(stream.str());
  by_path.load_from(folder / "f.pt");
  by_stream.load_from(in);
  by_bytes.load_from(bytes.data(), bytes.size());
  by_function.load_from(
      [&](uint64_t at, void* to, size_t n) {
        n = std::min<size_t>(n, 100);
        std::memcpy(to, bytes.data() + at, n);
        return n;
      },
      [&] { return bytes.size(); });
  for (InputArchive* in_archive : {&by_path, &by_stream, &by_bytes, &by_function}) {
    InputArchive below;
    Tensor x, buffer, leaf;
    Value epoch;
    in_archive->read("nested", below);
    below.read("x", x);
    below("buffer", buffer, true);
    in_archive->read("leaf", leaf);
    in_archive->read("epoch", epoch);
    CHECK(x.equal(arange(4.).view({2, 2}).t()));
    CHECK(buffer.dtype() == kInt32);
    CHECK(leaf.requires_grad());
    CHECK_FALSE(x.requires_grad());
    CHECK(epoch.to_int() == 3);
    CHECK(in_archive->value()["lr"].to_double() == 0.25);
    CHECK(in_archive->value()["names"].items()[1].to_string() == "b");
    CHECK(in_archive->value()["nothing"].is_none());
    CHECK(in_archive->keys() ==
          std::vector<std::string>{"nested", "leaf", "epoch", "lr", "names", "nothing"});
    CHECK(below.keys() == std::vector<std::string>{"x", "buffer"});
  }
}

TEST_CASE("an archive to nest is made as programs for libtorch make it") {
  OutputArchive archive;
  OutputArchive nested(archive.compilation_unit());
  nested.write("x", ones({2}));
  archive.write("nested", nested);
  std::stringstream stream;
  archive.save_to(stream);
  InputArchive back, inner;
  back.load_from(stream);
  back.read("nested", inner);
  Tensor x;
  inner.read("x", x);
  CHECK(x.equal(ones({2})));
}

TEST_CASE("what is not in an archive is missed by its name, and try_read says so") {
  OutputArchive archive, nested;
  nested.write("x", ones({2}));
  archive.write("nested", nested);
  archive.write("n", Value(1));
  std::stringstream stream;
  archive.save_to(stream);
  InputArchive in, below, other;
  in.load_from(stream);
  in.read("nested", below);
  Tensor t = zeros({1});
  Value v = 7;
  CHECK_THROWS_WITH_AS(in.read("x", t),
                       "load: expected a serialized tensor 'x', got none of that name",
                       SerializationError);
  CHECK_THROWS_WITH_AS(below.read("y", t),
                       "load: expected a serialized tensor 'nested.y', got none of that name",
                       SerializationError);
  CHECK_THROWS_AS(in.read("n", t), SerializationError);
  CHECK_THROWS_AS(in.read("n", other), SerializationError);
  CHECK_THROWS_AS(in.read("x", v), SerializationError);
  CHECK_FALSE(in.try_read("x", t));
  CHECK_FALSE(in.try_read("n", other));
  CHECK_FALSE(in.try_read("x", v));
  CHECK(t.equal(zeros({1})));
  CHECK(v.to_int() == 7);
  CHECK_FALSE(InputArchive().try_read("x", t));
  CHECK(InputArchive().keys().empty());
}

TEST_CASE("a tensor that is read keeps its identity, device and gradient, or is made") {
  std::stringstream stream;
  save(arange(3.), stream);
  for_each_device([&](Device d) {
    Tensor target = ones({2}, TensorOptions(kFloat32).device(d)).requires_grad_(), alias = target;
    InputArchive archive;
    std::istringstream in(stream.str());
    archive.load_from(in);
    archive.read("0", target);
    CHECK(alias.is_same(target));
    CHECK(alias.device() == d);
    CHECK(alias.requires_grad());
    CHECK(alias.detach().cpu().equal(arange(3.)));
    Tensor first, second;
    archive.read("0", first);
    archive.read("0", second);
    first.fill_(7);
    CHECK(second.equal(arange(3.)));  // no memory is shared with the archive
    Tensor on_device;
    InputArchive moved;
    std::istringstream again(stream.str());
    moved.load_from(again, d);
    moved.read("0", on_device);
    CHECK(on_device.device() == d);
  });
}

TEST_CASE("an archive refuses keys and values that libtorch could not read") {
  OutputArchive archive;
  for (const std::string key : {"a\"b", "a\\b", "a\nb", "\xff"}) {
    CHECK_THROWS_AS(archive.write(key, ones({1})), SerializationError);
  }
  CHECK_THROWS_AS(archive.write("x", Value::dict({{"a", 1}})), SerializationError);
  CHECK_THROWS_AS(archive.write("x", Value::list({1, "a"})), SerializationError);
  CHECK_THROWS_AS(archive.write("x", ones({1}, TensorOptions().device(Device("meta")))),
                  SerializationError);
  OutputArchive deep;
  const auto nest = [&] {
    for (int i = 0; i < 200; ++i) {
      OutputArchive around;
      around.write("x", deep);
      deep = std::move(around);
    }
  };
  CHECK_THROWS_AS(nest(), SerializationError);
  std::ostringstream stream;
  archive.save_to(stream);  // nothing of all that is in it
  InputArchive in;
  in.load_from(stream.str().data(), stream.str().size());
  CHECK(in.keys().empty());
}

TEST_CASE("a stream or a function that takes nothing more is an error, as is a bad file") {
  OutputArchive archive;
  archive.write("x", ones({2}));
  std::ostringstream bad;
  bad.setstate(std::ios::failbit);
  CHECK_THROWS_AS(archive.save_to(bad), SerializationError);
  CHECK_THROWS_WITH_AS(archive.save_to([](const void*, size_t n) { return n / 2; }),
                       doctest::Contains("expected the function to take"), SerializationError);
  CHECK_THROWS_AS(archive.save_to("/nowhere/at/all"), SerializationError);
  InputArchive in;
  CHECK_THROWS_AS(in.load_from("/nowhere/at/all"), SerializationError);
  std::istringstream empty;
  CHECK_THROWS_WITH_AS(in.load_from(empty), doctest::Contains("cannot read 'the stream'"),
                       SerializationError);
  CHECK_FALSE(serialize::is_archive("/nowhere/at/all"));
}

TEST_CASE("a module goes through an archive, its functions and scratch buffers left out") {
  const TemporaryFolder folder;
  Net net, other;
  net->scratch.fill_(5);
  std::stringstream stream;
  save(net, stream);
  load(other, stream);
  CHECK(same(copies(*other), copies(*net)));
  CHECK(other->scratch.equal(zeros({3})));

  OutputArchive archive;
  net->save(archive);
  archive.save_to(folder / "net.bin");  // an archive, whatever its name
  Net third;
  load(third, folder / "net.bin");
  CHECK(same(copies(*third), copies(*net)));
  CHECK(load(folder / "net.bin").size() == net->state_dict().size());
  const std::shared_ptr<NetImpl> pointer = third.ptr();
  load(pointer, folder / "net.bin");
  InputArchive in;
  in.load_from(folder / "net.bin");
  CHECK(in.keys() == std::vector<std::string>{"scale", "count", "a", "b"});
}

TEST_CASE("a module that cannot read all of an archive is as it was") {
  Net net;
  const StateDict before = copies(*net);
  const auto attempt = [&](const auto& change) {
    OutputArchive archive, a, b, b0;
    a.write("weight", ones({3, 2}));
    a.write("bias", ones({3}));
    b0.write("weight", ones({2, 3}));
    b0.write("bias", ones({2}));
    archive.write("scale", ones({2}));
    archive.write("count", ones({}, kInt64));
    b.write("0", b0);
    b.write("1", OutputArchive());
    archive.write("a", a);
    archive.write("b", b);
    change(archive);
    std::stringstream stream;
    archive.save_to(stream);
    load(net, stream);
  };
  OutputArchive wrong;
  wrong.write("weight", ones({3, 2}));
  CHECK_THROWS_AS(attempt([&](OutputArchive& x) { x.write("b", wrong); }), SerializationError);
  CHECK(same(copies(*net), before));
  CHECK_THROWS_AS(attempt([&](OutputArchive& x) { x.write("scale", ones({3})); }), Error);
  CHECK_THROWS_AS(attempt([&](OutputArchive& x) { x.write("count", ones({})); }), Error);
  CHECK_THROWS_AS(attempt([&](OutputArchive& x) { x.write("scale", Value(1)); }),
                  SerializationError);
  CHECK(same(copies(*net), before));
  attempt([](OutputArchive& x) { x.write("more", ones({1})); });
  CHECK(net->a->weight.equal(ones({3, 2})));
}

TEST_CASE("a class may save itself in its own way") {
  struct OwnImpl : nn::Module {
    int64_t epoch = 0;
    void save(OutputArchive& archive) const override { archive.write("epoch", Value(epoch)); }
    void load(InputArchive& archive) override {
      Value v;
      archive.read("epoch", v);
      epoch = v.to_int();
    }
  };
  const auto own = std::make_shared<OwnImpl>(), other = std::make_shared<OwnImpl>();
  own->epoch = 5;
  std::stringstream stream;
  save(own, stream);
  load(other, stream);
  CHECK(other->epoch == 5);
}

TEST_CASE("a list of tensors is saved in each format, and read behind what is there") {
  const TemporaryFolder folder;
  const std::vector<Tensor> list{ones({2}), arange(3), tensor(1.5)};
  for (const char* name : {"list.pth", "list.pt", "list.safetensors", "list"}) {
    INFO(std::string(name));
    save(list, folder / name);
    std::vector<Tensor> read{zeros({1})};
    load(read, folder / name);
    REQUIRE(read.size() == 4);
    for (size_t i = 0; i < 3; ++i) CHECK(read[i + 1].equal(list[i]));
  }
  std::stringstream stream;
  save(list, stream);
  std::vector<Tensor> read{zeros({1})};
  load(read, stream);
  CHECK(read.size() == 4);
  CHECK(read[2].equal(list[1]));
  save(StateDict{{"0", ones({1})}, {"x", ones({1})}}, folder / "other.safetensors");
  CHECK_THROWS_AS(load(read, folder / "other.safetensors"), SerializationError);
  CHECK(read.size() == 4);
}

TEST_CASE("one tensor is loaded into a parameter that stays the module's") {
  const TemporaryFolder folder;
  for (const char* name : {"w.pth", "w.safetensors", "w.archive"}) {
    INFO(std::string(name));
    nn::Linear fc(2, 3);
    OutputArchive archive;
    archive << full({3, 2}, 7.f);
    if (std::string(name) == "w.archive") {
      archive.save_to(folder / name);
    } else {
      save(full({3, 2}, 7.f), folder / name);
    }
    load(fc->weight, folder / name);
    CHECK(fc->parameters()[0].is_same(fc->weight));
    CHECK(fc->parameters()[0].requires_grad());
    CHECK(fc->parameters()[0].detach().equal(full({3, 2}, 7.f)));
  }
}

TEST_CASE("an optimizer's state goes through files and streams, its options stay the program's") {
  const TemporaryFolder folder;
  const auto make = [](const Tensor& p, double lr) {
    return std::make_unique<optim::Adam>(std::vector<Tensor>{p}, optim::AdamOptions(lr));
  };
  const auto step = [](optim::Optimizer& optimizer, const Tensor& p) {
    optimizer.zero_grad();
    p.pow(2).sum().backward();
    optimizer.step();
  };
  const Tensor p = ones({3}).requires_grad_();
  const auto adam = make(p, 0.1);
  step(*adam, p);
  for (const char* name : {"adam.pth", "adam.pt", "adam.bin", "stream"}) {
    INFO(std::string(name));
    const Tensor q = p.detach().clone().requires_grad_();
    const auto other = make(q, 0.5);
    const optim::ExponentialLR schedule(*other, 0.9);
    if (std::string(name) == "stream") {
      std::stringstream stream;
      save(*adam, stream);
      load(*other, stream);
    } else {
      save(*adam, folder / name);
      load(*other, folder / name);
    }
    CHECK(same(other->state_dict(), adam->state_dict()));
    CHECK(other->param_groups()[0].options().get_lr() == 0.5);
    CHECK(other->param_groups()[0].schedule() ==
          std::map<std::string, double>{{"initial_lr", 0.5}});
  }
  CHECK(load_checkpoint(folder / "adam.pth")["param_groups"].items()[0]["lr"].to_double() == 0.1);
  CHECK_THROWS_AS(save(*adam, folder / "adam.safetensors"), SerializationError);

  optim::Adam two(std::vector<Tensor>{ones({3}).requires_grad_(), ones({1}).requires_grad_()});
  CHECK_THROWS_AS(load(two, folder / "adam.bin"), SerializationError);
  optim::SGD sgd(std::vector<Tensor>{ones({3}).requires_grad_()}, optim::SGDOptions(0.1));
  CHECK_THROWS_AS(load(sgd, folder / "adam.bin"), Error);
  const Tensor small = ones({2}).requires_grad_();
  const auto other = make(small, 0.1);
  CHECK_THROWS_AS(load(*other, folder / "adam.bin"), Error);
  CHECK(other->state_dict().empty());
}

TEST_CASE("objects of TorchScript are read as dicts, and nothing else is made of classes") {
  CHECK(error_of(script_bytes(kObject + "}b")) == "");
  CHECK(error_of(script_bytes(kObject)) == "");  // without attributes
  CHECK(error_of(script_bytes(kObject + "}(" + pickled("a") + kObject + "}bub")) == "");
  CHECK(error_of(script_bytes(kObject + "}(" + pickled("a") +
                              "ctorch.jit._pickle\nbuild_intlist\n(](K\x01"
                              "K\x02"
                              "etRub")) == "");
  for (const std::string pickle : {
           "c__torch__\nModule\n)R",                 // called
           "c__torch__\nModule\n(K\x01t\x81",        // with arguments
           "cos\nsystem\n)\x81",                     // of another module
           "ccollections\nOrderedDict\n)\x81",       // a function as a class
           "c__torch__\nModule\n",                   // the class itself
           "c__torch__\nModule\n)\x81(K\x01K\x02u",  // filled as a dict
           "c__torch__\nModule\n)\x81K\x01"
           "b",                                             // attributes that are no dict
           "c__torch__\nModule\n)\x81}b}b",                 // twice
           "c__torch__\nModule\n)\x81q\x01}(K\x01h\x01ub",  // itself
           "}}b",                                           // of a dict
           "(K\x01tc__torch__\nModule\n\x81",               // in the wrong order
           "ctorch.jit._pickle\nbuild_intlist\n)R",         // without a list
           "ctorch.jit._pickle\nbuild_intlist\n(K\x01tR",   // of a number
           "ctorch.jit._pickle\nrestore_type_tag\n(]tR",    // without a type
       }) {
    INFO(pickle);
    CHECK(contains(error_of(script_bytes(pickle)), "got a TorchScript archive: expected"));
  }
  CHECK(contains(error_of(script_bytes("K\x01")), "expected an archive, got an int"));
  CHECK(contains(error_of(pytorch_bytes("]")), "expected an archive, got a list"));
}

TEST_CASE("what of an archive's tensors lies is refused") {
  const PickledTensor t{.numel = 4, .sizes = {2, 2}, .strides = {2, 1}};
  const auto archive = [&](const PickledTensor& tensor, size_t bytes) {
    return script_bytes(kObject + "}(" + pickled("w") + pickled(tensor) + "ub",
                        {std::string(bytes, '\0')});
  };
  CHECK(error_of(archive(t, 16)) == "");
  CHECK(error_of(archive(t, 12)) != "");
  PickledTensor far = t;
  far.strides = {2, 7};
  CHECK(error_of(archive(far, 16)) != "");
  // Every prefix of a file, and every byte of it changed, is an error or an archive.
  const std::string good = archive(t, 16);
  for (size_t n = 0; n < good.size(); ++n) CHECK(error_of(good.substr(0, n)) != "");
  for (size_t n = 0; n < good.size(); ++n) {
    std::string changed = good;
    changed[n] = static_cast<char>(changed[n] ^ 0x20);
    error_of(changed);
  }
}

TEST_CASE("an archive that repeats one object a million times over is refused quickly") {
  std::string pickle = kObject + "}bq\x01";  // below it, each level has the one before twice
  for (int i = 0; i < 60; ++i) {
    pickle += "0" + kObject + "}(" + pickled("a") + "h\x01" + pickled("b") + "h\x01ubq\x01";
  }
  // POP is no opcode of plain values; without it the stack keeps them all.
  CHECK(error_of(script_bytes(pickle)) != "");
  std::string nested = kObject + "}b";
  for (int i = 0; i < 60; ++i) {
    nested = kObject + "}(" + pickled("a") + nested + "q\x01" + pickled("b") + "h\x01ub";
  }
  const TemporaryFolder folder;
  const std::string path = folder.write("f.pt", script_bytes(nested));
  CHECK_THROWS_WITH_AS(load(path), doctest::Contains("names, got more"), SerializationError);
}

TEST_CASE("a checkpoint with packed or encrypted entries says which") {
  const std::string bytes = zip_bytes({{"x/data.pkl", "packed", 8}, {"x/version", "3"}});
  const TemporaryFolder folder;
  const std::string path = folder.write("f.pth", bytes);
  CHECK_THROWS_WITH_AS(load_checkpoint(path),
                       doctest::Contains("expected 'x/data.pkl' stored as PyTorch does"),
                       SerializationError);
}

TEST_CASE("files, samplers and generators know the host, whatever device factories use") {
  const TemporaryFolder folder;
  for_each_device([&](Device d) {
    data::samplers::RandomSampler random(5, 1), other(5, 2);
    random.next(2);
    const Tensor t = arange(3., TensorOptions().device(kCPU));
    const DefaultDeviceGuard guard(d);
    for (const char* name : {"f.pth", "f.safetensors"}) {
      Tensor read;
      save(t, folder / name);
      load(read, folder / name);
      CHECK(read.is_cpu());
      CHECK(read.equal(t));
    }
    std::stringstream stream;
    save(random, stream);
    load(other, stream);
    CHECK(*other.next(5) == *random.next(5));
    const Generator g(kCPU, 3);
    g.set_state(g.get_state());
    const std::string record(data::datasets::CIFAR10::kRecordBytes, '\1');
    data::datasets::CIFAR10 images(
        std::span(reinterpret_cast<const uint8_t*>(record.data()), record.size()));
    CHECK(images.map(data::transforms::Normalize<>({0.5}, {0.5}))
              .get_batch(size_t{0})[0]
              .data.is_cpu());
  });
}
