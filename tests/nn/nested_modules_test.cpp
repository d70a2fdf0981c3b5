// Modules within modules, deeply nested: built, named, traversed and destroyed in linear time; by
// name and position; and registered twice.
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

struct BlockImpl : nn::Cloneable<BlockImpl> {
  explicit BlockImpl(nn::Sequential d) : down(std::move(d)) { BlockImpl::reset(); }
  void reset() override { register_module("down", down); }
  nn::Sequential down;
};

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

TEST_CASE("modules nested 200,000 deep are destroyed without recursion") {
  auto net = std::make_shared<nn::SequentialImpl>();
  for (int i = 0; i < 200'000; ++i) net = around(std::move(net));
  const std::weak_ptr<nn::SequentialImpl> gone = net;
  net.reset();
  CHECK(gone.expired());
}

TEST_CASE("a module that would contain itself is refused, directly and through descendants") {
  auto net = std::make_shared<nn::SequentialImpl>();
  CHECK_THROWS_AS(net->push_back(nn::AnyModule(net)), Error);
  const auto bottom = net;
  for (int i = 0; i < 5; ++i) net = around(net);
  CHECK_THROWS_AS(bottom->push_back(nn::AnyModule(net)), Error);
  CHECK(bottom->is_empty());
}

TEST_CASE("a tensor keeps the path of a destroyed module") {
  nn::Linear fc(1, 1);
  {
    auto net = std::make_shared<nn::SequentialImpl>();
    net->push_back(fc);
    net = around(around(std::move(net)));
    CHECK(fc->weight.name() == "0.0.0.weight");
  }
  CHECK(fc->weight.name() == "0.0.0.weight");
}

TEST_CASE("modules and parameters by name and position") {
  nn::ModuleDict dict(std::vector<std::pair<std::string, std::shared_ptr<nn::Module>>>{
      {"fc", nn::Linear(3, 2).ptr()}, {"act", nn::ReLU().ptr()}});
  CHECK(dict->size() == 2);
  CHECK(dict->contains("fc"));
  CHECK(dict->keys() == std::vector<std::string>{"fc", "act"});
  CHECK(dict->at<nn::Linear>("fc").options.in_features() == 3);
  CHECK_THROWS_AS(dict->at<nn::ReLU>("fc"), Error);
  CHECK_THROWS_AS((*dict)["none"], Error);
  dict->insert("fc", nn::Linear(3, 4));
  CHECK(dict->at<nn::Linear>("fc").options.out_features() == 4);
  CHECK(dict->named_parameters().contains("fc.weight"));
  const auto copy = std::dynamic_pointer_cast<nn::ModuleDictImpl>(dict->clone());
  CHECK(copy->keys() == dict->keys());
  CHECK(copy->at<nn::Linear>("fc").weight.equal(dict->at<nn::Linear>("fc").weight));
  CHECK_FALSE(copy->at<nn::Linear>("fc").weight.is_same(dict->at<nn::Linear>("fc").weight));

  nn::ParameterList list(std::vector<Tensor>{ones({2}).requires_grad_(), zeros({3})});
  list->append(full({1}, 2.0).requires_grad_());
  CHECK(list->size() == 3);
  CHECK((*list)[2].requires_grad());
  CHECK_FALSE((*list)[1].requires_grad());
  CHECK_THROWS_AS((*list)[3], IndexError);
  CHECK(std::dynamic_pointer_cast<nn::ParameterListImpl>(list->clone())->at(2).equal(list->at(2)));

  nn::ParameterDict named;
  named->insert("a", ones({2}).requires_grad_());
  CHECK(named->contains("a"));
  CHECK(named->get("a").requires_grad());
  CHECK(named->keys() == std::vector<std::string>{"a"});
  CHECK_THROWS_AS((*named)["b"], Error);
  CHECK(std::dynamic_pointer_cast<nn::ParameterDictImpl>(named->clone())->get("a").requires_grad());
}

TEST_CASE("a clone that would share modules with its original is refused, and changes nothing") {
  const auto block = std::make_shared<BlockImpl>(nn::Sequential(nn::Linear(2, 2)));
  const Tensor before = block->parameters()[0];
  CHECK_THROWS_AS(block->clone(), Error);
  CHECK(block->parameters()[0].is_same(before));
}

TEST_CASE("parameters that are registered twice") {
  const Tensor a = ones({2}).requires_grad_();
  nn::ParameterList list(std::vector<Tensor>{a, a});
  list->append(zeros({1}));
  CHECK(list->size() == 3);
  CHECK((*list)[1].is_same(a));
  CHECK(list->parameters().size() == 2);
  const auto copy = std::dynamic_pointer_cast<nn::ParameterListImpl>(list->clone());
  CHECK(copy->size() == 3);
  CHECK(copy->at(0).is_same(copy->at(1)));
  CHECK_FALSE(copy->at(0).is_same(a));
  nn::ParameterDict dict;
  dict->insert("a", a);
  dict->insert("b", a);
  CHECK(dict->get("b").is_same(a));
  CHECK(dict->size() == 2);
}
