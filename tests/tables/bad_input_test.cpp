// Every public function with invalid input (bad_calls.h): each call must throw the typed error, in
// the form "<op>: expected <what>, got <what>", and change nothing. The functions of the table are
// compared with the declarations in ops/*.h, so that each of them is tested.
#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include <set>
#include <string>

#include "bad_calls.h"
#include "calls_refused_for_elements.h"
#include "declared_functions.h"

using namespace ambit;
using namespace bad_input;

TEST_CASE("the table of bad calls has every function of ops/*.h") {
  std::set<std::string> tested;
  for (const BadCall& call : CallTable<BadCall>::all()) tested.insert(call.function);
  const std::set<std::string> declared = declared_functions();
  REQUIRE(declared.size() > 150);
  for (const std::string& name : declared) {
    if (name == "can_cast") continue;  // its arguments are dtypes, and every dtype is valid
    INFO("declared but not in the table: ", name);
    CHECK(tested.count(name) == 1);
  }
  for (const std::string& name : tested) {
    INFO("in the table but not declared: ", name);
    CHECK(declared.count(name) == 1);
  }
}

namespace {

void check_refused(const BadCall& call) {
  try {
    call.run();
    FAIL_CHECK("no error");
  } catch (const Error& e) {
    const std::string what = e.what();
    INFO("says: ", what);
    CHECK(call.is_right(e));
    CHECK(what.find("expected ") != std::string::npos);
    CHECK(what.find("got ") != std::string::npos);
    if (what.find("undefined") != std::string::npos) {
      CHECK(what.substr(0, what.find(':')) == call.function);
    }
    if (call.is_mismatch) {
      CHECK(what.find("expected device ") == 0);
      CHECK(e.explain().find("try: ") != std::string::npos);
    }
  }
}

struct DefaultDType {
  explicit DefaultDType(DType dtype) { set_default_dtype(dtype); }
  ~DefaultDType() { set_default_dtype(were); }
  DType were = get_default_dtype();
};

}  // namespace

// Operands of the rows have the default dtype; operands of a dtype that must be refused are
// float64.
TEST_CASE("invalid input gives a typed error that states the expected input") {
  for (const DType dtype : {kFloat32, kFloat16, kBFloat16}) {
    const DefaultDType floats(dtype);
    for (const BadCall& call : CallTable<BadCall>::all()) {
      INFO(std::string(call.text), " of ", std::string(name(dtype)));
      check_refused(call);
    }
  }
}

namespace {

// True if a call names a device, and so has operands on two devices if the default device is
// another one.
bool names_device(const BadCall& call) {
  return call.is_mismatch || std::string(call.text).find("\"reference") != std::string::npos;
}

// Return `words` with "cpu" for the name of a device.
std::string as_cpu(std::string words, const std::string& name) {
  for (size_t at; (at = words.find(" " + name)) != std::string::npos;) {
    words.replace(at, name.size() + 1, " cpu");
  }
  return words;
}

/// Return the type and message of a call's error, without the device's name; empty if it succeeds.
std::string refusal(const BadCall& call, Device device) {
  const DefaultDeviceGuard default_device(device);
  try {
    call.run();
    if (!device.is_meta()) synchronize(device);
  } catch (const OutOfMemoryError&) {
    return "out of memory";
  } catch (const Error& e) {
    const std::string words = std::string(typeid(e).name()) + ": " + e.what();
    return device.is_cpu() ? words : as_cpu(as_cpu(words, device.str()), device.type());
  }
  return {};
}

}  // namespace

TEST_CASE("the reference and the simulator give the cpu's errors, with the same words") {
  for (const BadCall& call : CallTable<BadCall>::all()) {
    if (names_device(call)) continue;
    INFO(std::string(call.text));
    const std::string words = refusal(call, kCPU);
    CHECK(refusal(call, "reference") == words);
    CHECK(refusal(call, "sim") == words);
  }
}

TEST_CASE("meta gives the cpu's errors, with the same words, unless elements are the reason") {
  std::set<std::string> accepted;
  for (const BadCall& call : CallTable<BadCall>::all()) {
    if (names_device(call)) continue;
    const std::string words = refusal(call, kCPU), meta = refusal(call, kMeta);
    INFO(std::string(call.text), ": ", words);
    if (meta.empty() && words != "out of memory") {
      accepted.insert(call.text);
      CHECK(kRefusedForElements.contains(call.text));
    } else if (!meta.empty() && meta.find("NotImplementedError") == std::string::npos) {
      CHECK(meta == words);
    }
  }
  for (const std::string& text : kRefusedForElements) {
    INFO("meta refuses, too, or no row has: ", text);
    CHECK(accepted.contains(text));
  }
}

TEST_CASE("an in-place call that failed has changed nothing") {
  const Tensor x = arange(6, kFloat32).reshape({2, 3}), before = x.clone();
  const auto version = x.version();
  CHECK_THROWS_AS(x.add_(ones({4, 5})), ShapeError);
  CHECK_THROWS_AS(x.mul_(there()), DeviceMismatchError);
  CHECK_THROWS_AS(x.scatter_(1, idx(3), m23()), IndexError);
  CHECK_THROWS_AS(x.index_put_({list(9)}, 1), IndexError);
  CHECK_THROWS_AS(x.copy_(m45()), ShapeError);
  CHECK(x.equal(before));
  CHECK(x.version() == version);
}

TEST_CASE("methods of an undefined tensor are errors") {
  const Tensor none;
  CHECK_THROWS_AS(none.requires_grad_(false), Error);
  CHECK_THROWS_AS(none.set_data(ones({2})), Error);
  CHECK_THROWS_AS(none.bernoulli_(0.5), Error);
}
