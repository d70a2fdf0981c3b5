// Every integer argument of every public function with 0, 1, 2^31, 2^40, 2^62 and INT64_MAX: a
// typed error or a correct result. An allocation of more than 1 MiB fails here. A call that throws
// on meta throws on all devices, with the same message. The results of other calls have the same
// sizes on the cpu and on the reference, if they fit into 1 MiB.
#include <doctest/doctest.h>

#include <typeinfo>
#include <utility>

#include "limited_memory.h"
#include "size_calls.h"
#include "tests/tables/declared_functions.h"

using namespace ambit;
using namespace sizes;

namespace {

constexpr int64_t kSizes[] = {0,        1, int64_t{1} << 31, int64_t{1} << 40, int64_t{1} << 62,
                              INT64_MAX};
// Helpers that convert the arguments of pooling functions; they are not public functions.
const std::set<std::string> kParts{"max_params", "mean_params"};
// Functions whose errors depend on the elements of a tensor, which a meta tensor does not have.
const std::set<std::string> kOfData{"repeat_interleave"};
constexpr size_t kMostBytes = size_t{1} << 20;

/// The outcome of a call: tensors, or an error of the type `error`.
struct Outcome {
  std::vector<Tensor> results;
  std::string error, words;
  long refused_allocations = 0;

  bool is(const std::type_info& type) const { return error == type.name(); }
  std::string text() const {
    if (!error.empty()) return words;
    std::string all;
    for (const Tensor& t : results) all += str(t.sizes());
    return all;
  }
};

Outcome run(const SizeCall& call, int64_t n, Device device) {
  const DefaultDeviceGuard default_device(device);
  manual_seed(1);
  const limited_memory::Limit limit(kMostBytes);
  Outcome outcome;
  try {
    outcome.results = call.run(n);
  } catch (const Error& e) {
    outcome.error = typeid(e).name();
    outcome.words = e.what();
  } catch (const std::exception& e) {
    outcome.error = "untyped";
    outcome.words = e.what();
  }
  outcome.refused_allocations = limit.refusals();
  return outcome;
}

void check_sizes(const Outcome& got) {
  for (const Tensor& t : got.results) {
    int64_t numel = 1;
    for (const int64_t size : t.sizes()) {
      CHECK(size >= 0);
      CHECK_FALSE(__builtin_mul_overflow(numel, size, &numel));
    }
    CHECK(t.numel() == numel);
  }
}

void check_same(const Outcome& got, const Outcome& meta) {
  REQUIRE(got.results.size() == meta.results.size());
  for (size_t i = 0; i < got.results.size(); ++i) {
    CHECK(got.results[i].sizes() == meta.results[i].sizes());
    CHECK(got.results[i].dtype() == meta.results[i].dtype());
  }
}

// Compare a device with meta; return the message of the device's error, if any.
std::string check(const SizeCall& call, int64_t n, Device device, const Outcome& meta) {
  const Outcome got = run(call, n, device);
  INFO(device.str(), ": ", got.text());
  CHECK(got.error != "untyped");
  check_sizes(got);
  const bool lacks_memory = got.is(typeid(OutOfMemoryError));
  if (meta.is(typeid(NotImplementedError)) || kOfData.contains(call.function)) {
    // The outcome depends on elements, which meta does not have.
  } else if (!meta.error.empty()) {
    CHECK(got.error == meta.error);
    CHECK(got.words == meta.words);
  } else if (got.error.empty()) {
    check_same(got, meta);
  } else {
    CHECK(lacks_memory);
  }
  return lacks_memory ? "out of memory" : got.words;
}

// Return the name of a declared parameter, without its type and default.
std::string name_of(std::string parameter) {
  parameter = parameter.substr(0, parameter.find('='));
  while (parameter.ends_with(' ')) parameter.pop_back();
  return parameter.substr(parameter.find_last_of(" &*") + 1);
}

// The parameters of a declaration, between commas outside of <>, () and {}.
std::vector<std::string> parameters_of(const std::string& list) {
  std::vector<std::string> all(1);
  int depth = 0;
  for (const char c : list) {
    depth += c == '<' || c == '(' || c == '{';
    depth -= c == '>' || c == ')' || c == '}';
    if (c == ',' && depth == 0) {
      all.emplace_back();
    } else {
      all.back() += c;
    }
  }
  return all;
}

/// Return (function, argument) of all integer arguments that a header declares.
std::set<std::pair<std::string, std::string>> integers_of(const std::filesystem::path& header) {
  std::ifstream in(header);
  std::string text;
  for (std::string line; std::getline(in, line);) {
    const bool in_macro = line.starts_with('#') || line.ends_with('\\');
    if (!in_macro) text += line.substr(0, line.find("//")) + ' ';
  }
  static const std::regex function(R"((?:AMBIT_API|inline) [^=;{}()]*?[ >&]([a-z_]\w*)\()");
  static const std::regex integer(R"(\bint64_t\b|IntArrayRef|IntOrPair|ConvParams|PoolParams)");
  std::set<std::pair<std::string, std::string>> found;
  for (std::sregex_iterator m(text.begin(), text.end(), function), end; m != end; ++m) {
    size_t close = static_cast<size_t>(m->position() + m->length());
    const size_t open = close;
    for (int depth = 1; depth > 0 && close < text.size(); ++close) {
      depth += (text[close] == '(') - (text[close] == ')');
    }
    for (const std::string& p : parameters_of(text.substr(open, close - 1 - open))) {
      if (std::regex_search(p, integer)) found.insert({(*m)[1], name_of(p)});
    }
  }
  return found;
}

}  // namespace

TEST_CASE("every integer argument of every public function is in the table") {
  std::set<std::pair<std::string, std::string>> tested;
  for (const SizeCall& call : CallTable<SizeCall>::all()) {
    tested.insert({call.function, call.argument});
  }
  const std::filesystem::path ops = AMBIT_OPS_HEADERS, nn = ops / "../../../../nn/include/ambit/nn";
  size_t declared = 0;
  for (const std::filesystem::path& folder : {ops, nn / "functional"}) {
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
      if (file.path().filename() == "out.h") continue;  // the same functions with a given output
      for (const auto& argument : integers_of(file.path())) {
        if (kParts.contains(argument.first)) continue;
        ++declared;
        INFO(argument.first, "'s ", argument.second, " is declared, but not in the table");
        CHECK(tested.contains(argument));
      }
    }
  }
  CHECK(declared > 300);
}

TEST_CASE("sizes from 0 to INT64_MAX give a typed error or a correct result on every device") {
  for (const SizeCall& call : CallTable<SizeCall>::all()) {
    bool is_accepted = false;
    for (const int64_t n : kSizes) {
      INFO(std::string(call.text), ", n = ", n);
      const Outcome meta = run(call, n, kMeta);
      INFO("meta: ", meta.text());
      is_accepted |= meta.error.empty() || meta.is(typeid(NotImplementedError));
      CHECK(meta.error != "untyped");
      CHECK(meta.refused_allocations == 0);
      CHECK(meta.words.find("allocate: ") ==
            std::string::npos);  // the error is not that of a host tensor's allocation
      check_sizes(meta);
      const std::string words = check(call, n, "cpu", meta);
      CHECK(check(call, n, "reference", meta) == words);
      // The simulator allocates from an arena, to which the limit does not apply.
      if (!meta.error.empty() && !meta.is(typeid(NotImplementedError))) check(call, n, "sim", meta);
    }
    INFO(std::string(call.text), " throws for every n");
    CHECK(is_accepted);
  }
}
