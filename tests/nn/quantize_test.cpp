// quantize_dynamic: changed modules and how they print, their results; their tensors are saved,
// loaded, moved and cloned.
#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include <limits>
#include <sstream>

#include "tests/devices.h"
#include "tests/temporary_folder.h"

using namespace ambit;

namespace {

using Names = std::vector<std::string>;

struct NetImpl : nn::Module {
  nn::Linear in = register_module("in", nn::Linear(6, 8));
  nn::LSTM lstm =
      register_module("lstm", nn::LSTM(nn::LSTMOptions(8, 4).num_layers(2).bidirectional(true)));
  nn::MultiheadAttention attention = register_module("attention", nn::MultiheadAttention(8, 2));
  nn::LayerNorm norm = register_module("norm", nn::LayerNorm(nn::LayerNormOptions({8})));

  /// [T,B,6] -> [T,B,8]
  Tensor forward(const Tensor& x) {
    const Tensor y = std::get<0>(lstm(in(x)));
    return norm(std::get<0>(attention(y, y, y)));
  }
};
AMBIT_MODULE(Net);

std::string printed(const nn::Module& module) {
  std::ostringstream os;
  os << module;
  return os.str();
}

size_t bytes(const nn::Module& module) {
  size_t n = 0;
  for (const auto& [name, t] : module.state_dict()) n += t.nbytes();
  return n;
}

}  // namespace

TEST_CASE(
    "quantize_dynamic returns the names of changed modules, and finds nothing the second time") {
  Net net;
  CHECK(nn::quantize_dynamic(*net) == Names{"in", "lstm", "attention", "attention.out_proj"});
  CHECK(nn::quantize_dynamic(*net).empty());
  CHECK(nn::quantize_dynamic(*nn::Linear(2, 3)) == Names{""});
  CHECK(nn::quantize_dynamic(*nn::ReLU()).empty());
  Names buffers;
  for (const auto& [name, t] : net->named_buffers()) {
    CHECK(t.name() == name);
    CHECK(t.dtype() == (name.ends_with("_scale") ? kFloat32 : kInt8));
    buffers.push_back(name);
  }
  CHECK(buffers.size() == 2 * (1 + 8 + 2));
  CHECK(buffers[2] == "lstm.weight_ih_l0");
  for (const auto& [name, t] : net->named_parameters()) {
    CHECK(t.requires_grad() == name.starts_with("norm."));
  }
}

TEST_CASE("int8 modules print as PyTorch's") {
  // print(torch.ao.quantization.quantize_dynamic(m, {nn.Linear: per_channel_dynamic_qconfig,
  // nn.LSTM, nn.GRU, nn.LSTMCell}))
  nn::Sequential net(nn::Linear(4, 3), nn::LSTM(nn::LSTMOptions(4, 3).bidirectional(true)),
                     nn::GRU(4, 3), nn::LSTMCell(4, 3));
  nn::quantize_dynamic(*net);
  CHECK(printed(*net) ==
        "Sequential(\n"
        "  (0): DynamicQuantizedLinear(in_features=4, out_features=3, dtype=torch.qint8, "
        "qscheme=torch.per_channel_affine)\n"
        "  (1): DynamicQuantizedLSTM(4, 3, bidirectional=True)\n"
        "  (2): DynamicQuantizedGRU(4, 3)\n"
        "  (3): DynamicQuantizedLSTMCell(4, 3)\n"
        ")");
}

TEST_CASE("an int8 Linear is linear_int8 of its weight's rows, with a quarter of the memory") {
  for_each_device([](Device d) {
    manual_seed(1);
    nn::Linear layer(64, 32);
    const Tensor w = layer->weight.detach().clone();
    const size_t before = bytes(*layer);
    layer->to(d);
    nn::quantize_dynamic(*layer);
    CHECK(bytes(*layer) == 32 * 64 + 4 * (32 + 32));
    CHECK(before == 4 * (32 * 64 + 32));
    const Tensor x = randn({5, 64}).to(d);
    const auto [q, scale] = quantize_rows(w.to(d));
    CHECK(layer->weight.equal(q));
    CHECK(layer(x).equal(linear_int8(x, q, scale, layer->bias)));
  });
}

TEST_CASE("int8 recurrent layers equal their int8 cells, step by step") {
  for_each_device([](Device d) {
    manual_seed(2);
    nn::LSTM lstm(6, 5);
    nn::LSTMCell cell(6, 5);
    nn::GRU gru(6, 5);
    nn::GRUCell gru_cell(6, 5);
    for (auto& [name, p] : cell->named_parameters()) {
      const NoGradGuard no_grad;
      p.copy_(lstm->named_parameters()[name + "_l0"]);
      gru_cell->named_parameters()[name].copy_(gru->named_parameters()[name + "_l0"]);
    }
    for (nn::Module* m :
         std::initializer_list<nn::Module*>{lstm.get(), cell.get(), gru.get(), gru_cell.get()}) {
      nn::quantize_dynamic(*m);
      m->to(d);
    }
    const Tensor x = randn({4, 3, 6}).to(d);
    const Tensor y = std::get<0>(lstm(x)), z = std::get<0>(gru(x));
    std::optional<std::tuple<Tensor, Tensor>> state;
    Tensor h;
    for (int64_t t = 0; t < 4; ++t) {
      state = cell(x[t], state);
      h = gru_cell(x[t], h);
      // Both run the same kernels with the same operands.
      CHECK(y[t].equal(std::get<0>(*state)));
      CHECK(z[t].equal(h));
    }
  });
}

TEST_CASE("int8 networks have nearly the outputs of their float ones") {
  for_each_device([](Device d) {
    manual_seed(3);
    Net net;
    net->eval();
    nn::LSTM projecting(nn::LSTMOptions(6, 8).proj_size(3));
    nn::MultiheadAttention apart(nn::MultiheadAttentionOptions(8, 2).kdim(6).vdim(6));
    nn::RNN plain(6, 8);
    for (nn::Module* m : std::initializer_list<nn::Module*>{net.get(), projecting.get(),
                                                            apart.get(), plain.get()}) {
      m->to(d);
    }
    const NoGradGuard no_grad;
    const Tensor x = randn({7, 3, 6}).to(d), q = randn({7, 3, 8}).to(d);
    const auto all = [&] {
      return std::vector<Tensor>{net(x), std::get<0>(projecting(x)), std::get<0>(apart(q, x, x)),
                                 std::get<0>(plain(x))};
    };
    const std::vector<Tensor> before = all();
    for (nn::Module* m : std::initializer_list<nn::Module*>{net.get(), projecting.get(),
                                                            apart.get(), plain.get()}) {
      CHECK_FALSE(nn::quantize_dynamic(*m).empty());
    }
    const std::vector<Tensor> after = all();
    for (size_t i = 0; i < after.size(); ++i) {
      INFO("network ", i);
      // Both factors of a product have errors of at most 1/254 of the largest number in their row.
      // net has five products in sequence; its norm divides by a standard deviation smaller than
      // the largest number, for which we allow a factor of 4: 5 * 4 * 2 / 254 in total.
      const double error = (after[i] - before[i]).abs().max().item<double>();
      CHECK(error <= 0.16 * before[i].abs().max().item<double>());
      CHECK(error > 0);
    }
  });
}

TEST_CASE("int8 networks are saved, loaded, cloned and moved unchanged") {
  manual_seed(4);
  const TemporaryFolder folder;
  Net net, other, plain;
  net->eval(), other->eval(), plain->eval();
  const Tensor x = randn({3, 2, 6});
  const NoGradGuard no_grad;
  nn::quantize_dynamic(*net);
  const Tensor y = net(x);
  save(*net, folder / "int8.safetensors");
  CHECK(load(folder / "int8.safetensors").size() == net->state_dict().size());
  CHECK_THROWS_AS(load(*plain, folder / "int8.safetensors"), Error);
  nn::quantize_dynamic(*other);
  load(*other, folder / "int8.safetensors");
  CHECK(other(x).equal(y));
  {
    serialize::OutputArchive archive;
    net->save(archive);
    archive.save_to(folder / "int8.pt");
    Net third;
    nn::quantize_dynamic(*third);
    third->eval();
    load(*third, folder / "int8.pt");
    CHECK(third(x).equal(y));
  }

  nn::MultiheadAttention attention(8, 2);
  nn::GRU gru(nn::GRUOptions(8, 8).num_layers(2));
  nn::quantize_dynamic(*attention);
  nn::quantize_dynamic(*gru);
  const auto copy = std::dynamic_pointer_cast<nn::MultiheadAttentionImpl>(attention->clone());
  const auto gru_copy = std::dynamic_pointer_cast<nn::GRUImpl>(gru->clone());
  const Tensor z = randn({3, 2, 8});
  CHECK(std::get<0>(copy->forward(z, z, z)).equal(std::get<0>(attention(z, z, z))));
  CHECK(std::get<0>(gru_copy->forward(z)).equal(std::get<0>(gru(z))));
  CHECK(copy->in_proj_weight.data_ptr() != attention->in_proj_weight.data_ptr());

  net->to("reference");
  CHECK(nn::find_device_mismatches(*net).empty());
  // If sums are rounded differently, a number may be quantised to its neighbour.
  CHECK(net(x.to("reference")).cpu().allclose(y, 0, 0.05));
  CHECK_THROWS_AS(net(x), DeviceMismatchError);
}

TEST_CASE("int8 weights in a bfloat16 network, whose other tensors keep their dtype") {
  for_each_device([](Device d) {
    manual_seed(5);
    nn::Linear layer(16, 8);
    layer->to(kBFloat16);
    layer->to(d);
    const Tensor x = randn({3, 16}).to(kBFloat16).to(d), before = layer(x).detach();
    nn::quantize_dynamic(*layer);
    CHECK(layer->weight.dtype() == kInt8);
    CHECK(layer->weight_scale.dtype() == kFloat32);
    const Tensor y = layer(x).detach();
    CHECK(y.dtype() == kBFloat16);
    // 16 products of numbers up to 3 and 1/4, each with an error of 1/127 of that; bfloat16 rounds
    // less
    CHECK(y.to(kFloat32).allclose(before.to(kFloat32), 0, 16 * 3 * 0.25 / 127));
    nn::Linear later(16, 8);
    later->to(d);
    nn::quantize_dynamic(*later);
    later->to(kBFloat16);
    CHECK(later->weight.dtype() == kInt8);
    CHECK(later(x).dtype() == kBFloat16);
  });
}

TEST_CASE("an int8 network is cloned whatever the default dtype is") {
  struct Default {
    ~Default() { set_default_dtype(was); }
    DType was = get_default_dtype();
  } restored;
  nn::Sequential net(nn::Linear(6, 8), nn::ReLU(), nn::Linear(8, 8));
  nn::LSTM lstm(8, 4);
  nn::GRUCell cell(8, 4);
  nn::MultiheadAttention attention(8, 2), out_only(8, 2);
  for (nn::Module* m :
       std::initializer_list<nn::Module*>{net.get(), lstm.get(), cell.get(), attention.get()}) {
    nn::quantize_dynamic(*m);
  }
  nn::quantize_dynamic(*out_only->out_proj);
  for (const DType dtype : {kFloat64, kFloat16, kBFloat16}) {
    set_default_dtype(dtype);
    for (nn::Module* m : std::initializer_list<nn::Module*>{net.get(), lstm.get(), cell.get(),
                                                            attention.get(), out_only.get()}) {
      const std::shared_ptr<nn::Module> copy = m->clone();
      const StateDict mine = m->state_dict(), its = copy->state_dict();
      REQUIRE(mine.size() == its.size());
      for (size_t i = 0; i < mine.size(); ++i) {
        CAPTURE(mine[i].first);
        CHECK(its[i].first == mine[i].first);
        CHECK(its[i].second.dtype() == mine[i].second.dtype());
        CHECK(its[i].second.equal(mine[i].second));
      }
    }
  }
}

TEST_CASE("the error of a float16 int8 layer for a float32 input names the input") {
  nn::Linear layer(4, 3);
  nn::quantize_dynamic(*layer);
  layer->to(kHalf);
  CHECK_THROWS_WITH_AS(layer(ones({2, 4})),
                       "linear_int8: expected input of dtype float16, as bias has, got float32; "
                       "weight is weight",
                       DTypeError);
  layer->bias.set_data(layer->bias.detach().to(kFloat64));
  CHECK_THROWS_WITH_AS(layer(ones({2, 4})),
                       "linear_int8: expected bias of float32, float16 or bfloat16, got float64; "
                       "weight is weight",
                       DTypeError);
}

TEST_CASE("a tensor that another object uses stays float for it") {
  nn::Embedding embedding(5, 4);
  nn::Linear head(nn::LinearOptions(4, 5).bias(false));
  embedding->weight = head->weight;
  nn::quantize_dynamic(*head);
  CHECK(head->weight.dtype() == kInt8);
  CHECK(embedding->weight.dtype() == kFloat32);
}

TEST_CASE("int8 weights are not trained") {
  nn::Sequential net(nn::Linear(4, 4), nn::LayerNorm(nn::LayerNormOptions({4})), nn::Linear(4, 2));
  nn::quantize_dynamic(*net);
  CHECK(net->parameters().size() == 4);  // two biases, and the norm's
  Tensor y = net->forward(randn({3, 4}));
  CHECK(y.requires_grad());  // because of the norm's parameters
  CHECK_THROWS_AS(y.sum().backward(), NotImplementedError);
  CHECK_THROWS_AS(net->ptr(0)->as<nn::Linear>()->reset_parameters(), Error);
}

TEST_CASE("quantize_dynamic refuses before it changes anything") {
  nn::Sequential net(nn::Linear(4, 4), nn::Linear(4, 2));
  const auto is_float = [&] {
    for (const Tensor& t : net->parameters()) {
      if (!t.is_floating_point() || !t.requires_grad()) return false;
    }
    return net->buffers().empty() && net->parameters().size() == 4;
  };
  nn::Module& last = *net->ptr(1);
  last.to(kFloat64);
  CHECK_THROWS_WITH_AS(nn::quantize_dynamic(*net),
                       "quantize_dynamic: expected weights of float32, float16 or bfloat16, got "
                       "float64 of 1.weight",
                       DTypeError);
  CHECK(is_float());
  last.to(kFloat32);
  last.as<nn::Linear>()->weight.data()[0][1] = std::numeric_limits<float>::quiet_NaN();
  CHECK_THROWS_WITH_AS(nn::quantize_dynamic(*net),
                       "quantize_dynamic: expected finite weights, got NaN or Inf in 1.weight",
                       Error);
  CHECK(is_float());
}
