// Archives in libtorch's C++ format, written and read by ambit. libtorch_cross_test compares them
// with libtorch.
#include <ambit/archive.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/shape.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/devices.h"
#include "tests/temporary_folder.h"

using namespace ambit;
using serialize::InputArchive;
using serialize::OutputArchive;

TEST_CASE("an archive returns the values written into it, from a file, a stream and a function") {
  const TemporaryFolder folder;
  OutputArchive archive, nested;
  nested.write("x", arange(4.).view({2, 2}).t());
  nested.write("buffer", ones({1}, kInt32), true);
  nested.write("undefined", Tensor());
  archive.write("nested", nested);
  archive.write("leaf", ones({2}).requires_grad_());
  archive("epoch", Value(3));
  archive.write("lr", Value(0.5));
  archive.write("lr", Value(0.25));  // replaces the previous one
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

TEST_CASE("a nested archive is created as in programs for libtorch") {
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

TEST_CASE("a missing entry is an error with its name, and try_read returns false") {
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

TEST_CASE("the entries of a child in a state dict are a nested archive") {
  const TemporaryFolder folder;
  save({{"0.weight", ones({2})}, {"0.a.b", ones({3})}, {"01", ones({4})}, {"1.", ones({1})}},
       folder / "f.pth");
  InputArchive archive, child, grandchild;
  archive.load_from(folder / "f.pth");
  REQUIRE(archive.try_read("0", child));
  CHECK(child.keys() == std::vector<std::string>{"weight", "a.b"});
  Tensor t;
  child.read("weight", t);
  CHECK(t.equal(ones({2})));
  REQUIRE(child.try_read("a", grandchild));
  CHECK(grandchild.keys() == std::vector<std::string>{"b"});
  CHECK(!archive.try_read("2", child));
  CHECK(!archive.try_read("01", child));
  CHECK_THROWS_WITH_AS(archive.read("0.weight", child),
                       "load: expected a serialized archive '0.weight', got none of that name",
                       SerializationError);
}

TEST_CASE("a tensor that is read keeps its identity, device and gradient, or is created") {
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
    CHECK(second.equal(arange(3.)));  // it shares no memory with the archive
    Tensor on_device;
    InputArchive moved;
    std::istringstream again(stream.str());
    moved.load_from(again, d);
    moved.read("0", on_device);
    CHECK(on_device.device() == d);
  });
}

TEST_CASE("an archive refuses keys and values that libtorch cannot read") {
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
  archive.save_to(stream);  // the archive contains none of these
  InputArchive in;
  in.load_from(stream.str().data(), stream.str().size());
  CHECK(in.keys().empty());
}

TEST_CASE("a stream or a function that fails to write is an error, as is an invalid file") {
  OutputArchive archive;
  archive.write("x", ones({2}));
  std::ostringstream bad;
  bad.setstate(std::ios::failbit);
  CHECK_THROWS_AS(archive.save_to(bad), SerializationError);
  CHECK_THROWS_WITH_AS(archive.save_to([](const void*, size_t n) { return n / 2; }),
                       doctest::Contains("expected the function to write"), SerializationError);
  CHECK_THROWS_AS(archive.save_to("/nowhere/at/all"), SerializationError);
  InputArchive in;
  CHECK_THROWS_AS(in.load_from("/nowhere/at/all"), SerializationError);
  std::istringstream empty;
  CHECK_THROWS_WITH_AS(in.load_from(empty), doctest::Contains("cannot read 'the stream'"),
                       SerializationError);
  CHECK_FALSE(serialize::is_archive("/nowhere/at/all"));
}
