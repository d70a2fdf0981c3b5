// Containers: Sequential, AnyModule, ModuleList, Functional, and the OrderedDict of their names.
#include <ambit/memory.h>
#include <ambit/nn/nn.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/random.h>
#include <doctest/doctest.h>

#include <memory>
#include <utility>

#include "tests/devices.h"

using namespace ambit;

namespace {

struct Doubler : nn::Module {
  Tensor forward(Tensor x) { return x * 2; }
};
// A module that can be moved but not copied.
struct OwningDoubler : Doubler {
  std::unique_ptr<int> owned = std::make_unique<int>(2);
};
// Returns the memory that is freed when it releases its input, [bytes].
struct Dropper : nn::Module {
  Tensor forward(Tensor x) {
    const size_t before = memory_stats(kCPU).in_use;
    x = Tensor();
    freed = before - memory_stats(kCPU).in_use;
    return ones({1});
  }
  size_t freed = 0;
};
using Names = std::vector<std::string>;

// Several arguments, some of which are not tensors.
struct Scale : nn::Module {
  Tensor forward(const Tensor& x, int by, double more) { return x * by * more; }
};

struct Halves : nn::Module {
  std::pair<Tensor, Tensor> forward(Tensor x) const {
    const auto halves = x.chunk(2);
    return {halves[0], halves[1]};
  }
};

struct Taking : nn::Module {
  Tensor forward(Tensor& x) { return x * 3; }
};

struct First : nn::Module {
  Tensor forward(const std::pair<Tensor, Tensor>& x) { return x.first; }
};

// x * a + b, with 5 as the default of b.
class Defaulted : public nn::Module {
 public:
  Tensor forward(const Tensor& x, int a, int b) { return x * a + b; }

 private:
  friend nn::AnyModule;
  static nn::AnyModule::Defaults forward_defaults() { return {{2, nn::AnyValue(5)}}; }
};

struct Counted : nn::Module {
  Counted() = default;
  Counted(const Counted& o) : nn::Module(o), copies(o.copies + 1) {}
  int copies = 0;
};

template <class M>
size_t parameters_of(nn::ModuleHolder<M> module) {
  return module->parameters().size();
}

}  // namespace

TEST_CASE("Sequential runs its modules in order, on every device") {
  for_each_device([](Device device) {
    nn::Sequential model(nn::Conv2d(3, 32, 5, 1, 2), nn::MaxPool2d(2), nn::Flatten(),
                         nn::Linear(32 * 4 * 4, 10));
    model->to(device);
    const Tensor x = rand({2, 3, 8, 8}, device);
    const Tensor by_hand = [&] {
      Tensor y = model->at<nn::Conv2d>(0).forward(x);
      y = model->at<nn::MaxPool2d>(1).forward(y);
      return model->at<nn::Linear>(3).forward(y.flatten(1));
    }();
    CHECK(model(x).equal(by_hand));
    CHECK(model->forward(x).sizes() == IntArrayRef({2, 10}));
  });
}

TEST_CASE("Sequential accepts holders, pointers, modules by value and other Sequentials") {
  const auto pointer = std::make_shared<Doubler>();
  nn::Sequential model(pointer, Doubler(), nn::Sequential(nn::Identity(), pointer));
  CHECK(model(ones({1})).item<float>() == 8);
  CHECK(model->named_modules("", false).keys() == Names{"0", "1", "2", "2.0"});
}

TEST_CASE("a module owns the output of the previous one, which no other object refers to") {
  const auto dropper = std::make_shared<Dropper>();
  const auto freed_by = [&](const auto& model, auto&&... inputs) {
    dropper->freed = 0;
    CHECK(model->forward(std::forward<decltype(inputs)>(inputs)...).numel() == 1);
    return dropper->freed;
  };
  constexpr size_t kBytes = 4096;
  CHECK(freed_by(nn::Sequential(Doubler(), dropper), ones({1024})) >= kBytes);
  CHECK(freed_by(nn::Sequential(Doubler(), nn::Sequential(dropper)), ones({1024})) >= kBytes);
  CHECK(freed_by(nn::Sequential(Scale(), dropper), ones({1024}), 3, 2.0) >= kBytes);
  CHECK(freed_by(nn::Sequential(nn::Sequential(dropper)), ones({1024})) >= kBytes);
  const Tensor kept = ones({1024});
  CHECK(freed_by(nn::Sequential(dropper), kept) == 0);
  dropper->freed = 0;
  nn::AnyModule(dropper).forward(ones({1024}));
  CHECK(dropper->freed >= kBytes);
}

TEST_CASE("Sequential accepts names by pairs and by OrderedDict") {
  nn::Sequential by_pairs({{"fc", nn::Linear(2, 3)}, {"act", nn::ReLU()}});
  nn::Sequential by_dict(
      OrderedDict<std::string, nn::AnyModule>{{"fc", nn::Linear(2, 3)}, {"act", nn::ReLU()}});
  for (const auto& model : {by_pairs, by_dict}) {
    CHECK(model->named_children().keys() == Names{"fc", "act"});
    CHECK(model->named_parameters().keys() == Names{"fc.weight", "fc.bias"});
    CHECK(model(ones({1, 2})).size(1) == 3);
  }
  CHECK_THROWS_AS(nn::Sequential({{"a", nn::ReLU()}, {"a", nn::ReLU()}}), Error);
  CHECK_THROWS_AS(nn::Sequential({{"a.b", nn::ReLU()}}), Error);
}

TEST_CASE("Sequential can be extended, and accessed by position") {
  nn::Sequential model, more{nn::Tanh(), nn::Sigmoid()};
  CHECK(model->is_empty());
  CHECK_THROWS_WITH(model(ones({1})), "Sequential: expected at least one module, got none");
  model->push_back(nn::Linear(2, 2));
  model->push_back("act", nn::ReLU());
  model->extend(*more);
  CHECK(model->size() == 4);
  CHECK(model->named_children().keys() == Names{"0", "act", "2", "3"});
  CHECK(model[2] == more->ptr(0));
  CHECK(model->at<nn::Linear>(0).options.in_features() == 2);
  size_t count = 0;
  for (const nn::AnyModule& module : *model) count += !module.is_empty();
  CHECK(count == 4);
  CHECK_THROWS_AS(model->ptr(4), IndexError);
  CHECK_THROWS_AS(model->at<nn::Conv2d>(0), Error);
  CHECK_THROWS_AS(model->push_back(nn::AnyModule()), Error);
  CHECK_THROWS_AS(model->push_back("act", nn::ReLU()), Error);
  CHECK(model->size() == 4);
}

TEST_CASE("AnyModule calls its module") {
  nn::AnyModule any(nn::Linear(2, 3));
  CHECK(any(ones({1, 2})).size(1) == 3);
  CHECK(any.ptr()->as<nn::Linear>() != nullptr);
  CHECK(any.clone().ptr() != any.ptr());
  CHECK_THROWS_AS(nn::AnyModule().forward(ones({1})), Error);
  const Doubler doubler;
  CHECK(nn::AnyModule(doubler).forward(ones({1})).item<float>() == 2);
  CHECK(nn::AnyModule(OwningDoubler()).forward(ones({1})).item<float>() == 2);
}

TEST_CASE("AnyModule and Sequential accept forward() with any signature") {
  nn::AnyModule loss{nn::MSELoss()};
  CHECK(loss.forward(ones({2}), zeros({2})).item<float>() == 1);
  CHECK_THROWS_WITH(loss.forward(ones({2})), "forward: expected 2 arguments, got 1");
  CHECK_THROWS_WITH(loss.forward(ones({2}), 3),
                    "forward: argument 1: expected ambit::Tensor, got int");
  CHECK_THROWS_WITH(nn::AnyModule(nn::ReLU()).forward(3),
                    "forward: argument 0: expected ambit::Tensor, got int");
  CHECK(&loss.get<nn::MSELossImpl>() == loss.ptr().get());
  CHECK(loss.get<nn::MSELoss>().ptr() == loss.ptr());
  CHECK(loss.ptr<nn::MSELossImpl>() == loss.ptr());
  CHECK(loss.type_info() == typeid(nn::MSELossImpl));
  CHECK_THROWS_AS(loss.get<nn::LinearImpl>(), Error);
  CHECK_THROWS_AS(nn::AnyModule().type_info(), Error);
  CHECK(loss.clone().forward(ones({2}), zeros({2})).item<float>() == 1);

  nn::Sequential scaled{Scale(), nn::ReLU(), Halves()};
  const auto [low, high] = scaled->forward<std::pair<Tensor, Tensor>>(ones({4}), 3, 2.0);
  CHECK(low.equal(full({2}, 6.0)));
  CHECK(high.equal(full({2}, 6.0)));
  CHECK_THROWS_WITH(
      scaled->forward<int>(ones({4}), 3, 2.0),
      doctest::Contains("forward<T>(), by what the module returns: expected std::pair<"));
  CHECK_THROWS_WITH(scaled->forward(ones({4})), "forward: expected 3 arguments, got 1");
  CHECK(nn::Sequential(nn::ReLU(), Halves(), First())(ones({4})).sizes() == IntArrayRef{2});
  CHECK(nn::AnyModule(Scale()).any_forward(ones({1}), 3, 2.0).get<Tensor>().item<float>() == 6);
  CHECK_THROWS_WITH(nn::AnyValue(3).get<float>(), "AnyValue: expected float, got int");
  CHECK(nn::AnyModule(Taking()).any_forward(ones({1})).get<Tensor>().item<float>() == 3);
  CHECK(nn::AnyModule(Defaulted()).forward(ones({1}), 3).item<float>() == 8);
  CHECK(nn::AnyModule(Defaulted()).forward(ones({1}), 3, 2).item<float>() == 5);
  CHECK_THROWS_AS(nn::AnyModule(Defaulted()).forward(ones({1})), Error);
}

TEST_CASE("a function for any module's holder is a template with one parameter") {
  CHECK(parameters_of(nn::Linear(2, 3)) == 2);
  CHECK(parameters_of(nn::Sequential(nn::Linear(2, 3), nn::Linear(3, 1))) == 4);
}

TEST_CASE("ModuleList copies a module at most once, and moves others") {
  Counted module;
  nn::ModuleList list(module, Counted());
  CHECK(list->at<Counted>(0).copies == 1);
  list->push_back(module);
  CHECK(list->at<Counted>(2).copies == 1);
}

TEST_CASE("ModuleList registers modules of any class") {
  nn::ModuleList list(nn::Linear(2, 2), nn::CrossEntropyLoss(), std::make_shared<Doubler>());
  list->push_back(Doubler());
  CHECK(list->size() == 4);
  CHECK(list->named_children().keys() == Names{"0", "1", "2", "3"});
  CHECK(list->parameters().size() == 2);
  CHECK(list[0]->as<nn::Linear>() != nullptr);
  CHECK(list->at<nn::Linear>(0).forward(ones({1, 2})).size(1) == 2);
  size_t count = 0;
  for (const auto& module : *list) count += module != nullptr;
  CHECK(count == 4);
  nn::ModuleList more;
  more->extend(*list);
  CHECK(more->size() == 4);
  CHECK_THROWS_AS(list[4], IndexError);
  CHECK_THROWS_AS(list->at<nn::ReLU>(0), Error);
  CHECK_THROWS_AS(list->push_back(std::shared_ptr<nn::Module>()), Error);
}

TEST_CASE("Functional makes a module from a function, with bound arguments") {
  nn::Sequential model(nn::Functional(ambit::relu), nn::Functional(ambit::softmax, 1),
                       nn::Functional([](const Tensor& x) { return x * 2; }));
  const Tensor x = tensor({{-1.0, 2.0}});
  CHECK(model(x).equal(softmax(relu(x), 1) * 2));
  CHECK(nn::Functional(ambit::softmax, 1, std::nullopt)(x).equal(softmax(x, 1)));
  CHECK(model->clone()->as<nn::Sequential>()->forward(x).equal(model(x)));
}

TEST_CASE("ModuleList inserts, and renames the following modules") {
  nn::ModuleList list(nn::Linear(1, 1), nn::Linear(3, 1));
  list->insert(1, nn::Linear(2, 1));
  list->insert(3, nn::Linear(4, 1));
  list->insert(0, nn::Linear(5, 1));
  std::vector<int64_t> widths;
  for (size_t i = 0; i < list->size(); ++i) {
    const auto module = list->ptr<nn::Linear>(i);
    widths.push_back(module->options.in_features());
    CHECK(list->named_children()[std::to_string(i)] == list->ptr(i));
    CHECK(module->weight.name() == std::to_string(i) + ".weight");
  }
  CHECK(widths == std::vector<int64_t>{5, 1, 2, 3, 4});
  CHECK_THROWS_AS(list->insert(6, nn::Linear(1, 1)), IndexError);
  CHECK(list->size() == 5);
}

TEST_CASE("containers with names can be iterated, and their modules removed") {
  nn::ModuleDict dict;
  dict->insert("a", nn::Linear(1, 1));
  dict->insert("b", nn::ReLU());
  nn::ModuleDict other;
  other->update(*dict);
  std::string names;
  for (const auto& item : *other) names += item.key();
  CHECK(names == "ab");
  CHECK(dict->pop("a")->as<nn::Linear>() != nullptr);
  CHECK_THROWS_AS(dict->pop("a"), Error);
  dict->clear();
  CHECK(dict->empty());
  CHECK(other->size() == 2);

  nn::ParameterDict parameters;
  parameters->insert("w", ones({2}));
  nn::ParameterDict more;
  more->insert("b", ones({3}));
  parameters->update(*more);
  for (const auto& item : *parameters) names += item.key();
  CHECK(names == "abwb");
  const Tensor again = zeros({4});
  parameters->update(OrderedDict<std::string, Tensor>{{"w", again}});
  CHECK(parameters->get("w").is_same(again));
  CHECK(parameters->named_parameters().keys() == std::vector<std::string>{"w", "b"});
  const OrderedDict<std::string, Tensor> bad{{"w", ones({1})},
                                             {"c", ones({1}).requires_grad_() * 2}};
  CHECK_THROWS_AS(parameters->update(bad), Error);
  CHECK(parameters->get("w").is_same(again));
  CHECK(parameters->parameters().size() == 2);
  parameters->update(OrderedDict<std::string, Tensor>{{"w", ones({2})}});
  CHECK(parameters->pop("w").numel() == 2);
  CHECK(parameters->named_parameters().keys() == std::vector<std::string>{"b"});
  parameters->clear();
  CHECK(parameters->parameters().empty());
  CHECK(parameters->empty());

  nn::ParameterList list(ones({1}), ones({2}));
  for (const auto& item : *list) names += item.key();
  CHECK(names == "abwb01");
}

TEST_CASE("OrderedDict has iterators and pairs, and can be extended by others") {
  OrderedDict<std::string, int> d{{"a", 1}}, more{{"b", 2}, {"c", 3}};
  d.update(more);
  CHECK(d.front().key() == "a");
  CHECK(d.back().value() == 3);
  CHECK(d.pairs() == std::vector<std::pair<std::string, int>>{{"a", 1}, {"b", 2}, {"c", 3}});
  CHECK_THROWS_AS(d.update(more), Error);
  CHECK(d.size() == 3);
  CHECK_THROWS_AS((OrderedDict<std::string, int>().back()), IndexError);
}

TEST_CASE("OrderedDict keeps the order, finds by key and refuses duplicate keys") {
  OrderedDict<std::string, int> dict = {{"b", 1}, {"a", 2}, {"c", 3}};
  CHECK(dict.keys() == Names{"b", "a", "c"});
  CHECK(dict["a"] == 2);
  CHECK(dict[0].key() == "b");
  CHECK(dict.find("x") == nullptr);
  CHECK_THROWS_WITH_AS(dict.insert("a", 5), "OrderedDict: expected a new key, got \"a\" again",
                       Error);
  CHECK_THROWS_WITH_AS(dict["x"], "OrderedDict: expected a key that it holds, got \"x\"", Error);
  dict.erase("b");
  CHECK(dict.keys() == Names{"a", "c"});
  CHECK(dict["c"] == 3);
  CHECK_FALSE(dict.contains("b"));
  for (auto& [key, value] : dict) value += static_cast<int>(key.size());
  CHECK(dict.values() == std::vector<int>{3, 4});
}
