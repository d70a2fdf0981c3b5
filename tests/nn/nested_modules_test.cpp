// Modules nested deep: built, named, walked and dropped in time that grows as their number does.
#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>

using namespace ambit;

namespace {

std::shared_ptr<nn::SequentialImpl> around(std::shared_ptr<nn::SequentialImpl> inner) {
  auto outer = std::make_shared<nn::SequentialImpl>();
  outer->push_back(nn::AnyModule(std::move(inner)));
  return outer;
}

}  // namespace

TEST_CASE("20,000 nested Sequentials are built from the inside and from the outside") {
  constexpr int kDeep = 20'000;
  std::string path = "weight";
  for (int i = 0; i <= kDeep; ++i) path.insert(0, "0.");
  nn::Linear fc(1, 1);
  SUBCASE("from the inside") {
    auto net = std::make_shared<nn::SequentialImpl>();
    net->push_back(fc);
    for (int i = 0; i < kDeep; ++i) net = around(std::move(net));
    CHECK(fc->weight.name() == path);
    CHECK(net->parameters().size() == 2);
    net->to(kFloat64);
    CHECK(fc->weight.dtype() == kFloat64);
  }
  SUBCASE("from the outside") {
    const auto net = std::make_shared<nn::SequentialImpl>();
    auto last = net;
    for (int i = 0; i < kDeep; ++i) {
      const auto next = std::make_shared<nn::SequentialImpl>();
      last->push_back(nn::AnyModule(next));
      last = next;
    }
    last->push_back(fc);
    CHECK(fc->weight.name() == path);
    CHECK(net->parameters().size() == 2);
  }
}

TEST_CASE("modules nested 200,000 deep are dropped without recursion") {
  auto net = std::make_shared<nn::SequentialImpl>();
  for (int i = 0; i < 200'000; ++i) net = around(std::move(net));
  const std::weak_ptr<nn::SequentialImpl> gone = net;
  net.reset();
  CHECK(gone.expired());
}

TEST_CASE("a module that would hold itself is refused, directly and from far below") {
  auto net = std::make_shared<nn::SequentialImpl>();
  CHECK_THROWS_AS(net->push_back(nn::AnyModule(net)), Error);
  const auto bottom = net;
  for (int i = 0; i < 5; ++i) net = around(net);
  CHECK_THROWS_AS(bottom->push_back(nn::AnyModule(net)), Error);
  CHECK(bottom->is_empty());
}

TEST_CASE("a tensor keeps the path of a module that is gone") {
  nn::Linear fc(1, 1);
  {
    auto net = std::make_shared<nn::SequentialImpl>();
    net->push_back(fc);
    net = around(around(std::move(net)));
    CHECK(fc->weight.name() == "0.0.0.weight");
  }
  CHECK(fc->weight.name() == "0.0.0.weight");
}
