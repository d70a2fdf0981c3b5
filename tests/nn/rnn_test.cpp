// Recurrent networks and packed sequences, compared with PyTorch 1.13.
#include <ambit/memory.h>
#include <ambit/nn/nn.h>
#include <ambit/ops/random.h>

#include "tests/autograd/gradcheck.h"
#include "tests/devices.h"
#include "tests/expected.h"

using namespace ambit;
namespace rnn = nn::utils::rnn;

namespace {

// for i, p in enumerate(m.parameters()): p.copy_(wave(*p.shape, k=0.3 + 0.1 * i) * 0.5)
template <class Module>
void fill(const Module& module, Device d) {
  module->to(d, kFloat64);
  const NoGradGuard no_grad;
  double k = 0.3;
  for (Tensor& p : module->parameters()) {
    p.copy_(wave(d, p.sizes(), k) * 0.5);
    k += 0.1;
  }
}

// l = (out * wave(*out.shape, k=0.9)).sum() + sum((s * wave(*s.shape, k=0.6)).sum() for s in
// states)
Tensor weighted(const Tensor& out, const std::vector<Tensor>& states) {
  Tensor l = (out * wave(out.device(), out.sizes(), 0.9)).sum();
  for (const Tensor& s : states) l = l + (s * wave(s.device(), s.sizes(), 0.6)).sum();
  return l;
}

// The first values of out, the last four of the first and last state, the first four of the input's
// gradient, and the sum of each parameter's.
struct Expected {
  std::vector<int64_t> sizes;
  std::vector<double> out, h, c, dx, dw;
};

template <class Module>
void check_run(const Module& module, const Tensor& x, const Tensor& out,
               const std::vector<Tensor>& states, const Expected& e) {
  CHECK(out.sizes() == IntArrayRef(e.sizes));
  const auto last = [](const Tensor& t) {
    return t.detach().flatten().narrow(0, t.numel() - 4, 4);
  };
  check_values(out.detach().reshape({-1}).narrow(0, 0, static_cast<int64_t>(e.out.size())),
               {static_cast<int64_t>(e.out.size())}, e.out);
  check_values(last(states.front()), {4}, e.h);
  check_values(last(states.back()), {4}, e.c);
  weighted(out, states).backward();
  check_values(x.grad().reshape({-1}).narrow(0, 0, 4), {4}, e.dx);
  std::vector<Tensor> sums;
  for (const Tensor& p : module->parameters()) sums.push_back(p.grad().sum());
  // The bound is for sums of up to 50 numbers of magnitude 50.
  check_values(stack(sums), {static_cast<int64_t>(sums.size())}, e.dw, 1e-10);
}

Tensor input(Device d) { return wave(d, {4, 2, 3}).requires_grad_(); }

}  // namespace

TEST_CASE("RNN has PyTorch's values and gradients") {
  for_each_device([](Device d) {
    nn::RNN m(nn::RNNOptions(3, 5).num_layers(2).nonlinearity(kReLU).bidirectional(true));
    fill(m, d);
    const Tensor x = input(d);
    const auto [out, h] = m(x, wave(d, {4, 2, 5}, 0.2));
    check_run(m, x, out, {h},
              {{4, 2, 10},
               {0.555186894596, 1.23002320364, 0, 0, 0, 2.51393555604},
               {4.84880105648, 0, 0, 4.12758529598},
               {4.84880105648, 0, 0, 4.12758529598},
               {-0.670491945315, -1.49766564403, -1.6801526757, 0.597375416592},
               {5.08293669378, -32.810681087, -2.96871841822, -2.96871841822, 3.04317088607,
                -6.96306013374, -1.22074894715, -1.22074894715, 54.2588220901, -4.75399437135,
                3.71973132046, 3.71973132046, 4.37364271921, 12.3608302197, 0.142136357538,
                0.142136357538}});
  });
}

TEST_CASE("LSTM has PyTorch's values and gradients") {
  for_each_device([](Device d) {
    nn::LSTM m(nn::LSTMOptions(3, 5).num_layers(2).bidirectional(true));
    fill(m, d);
    const Tensor x = input(d);
    const auto [out, state] = m(x, std::tuple(wave(d, {4, 2, 5}, 0.2), wave(d, {4, 2, 5}, 0.35)));
    const auto [h, c] = state;
    check_run(m, x, out, {h, c},
              {{4, 2, 10},
               {0.405516960952, 0.362785450068, -0.0495434778209, 0.0481777121322, 0.254415333047,
                -0.356103199671},
               {0.340612372412, 0.067582948545, -0.199775764526, 0.0527605991777},
               {0.741722727053, 0.203390433248, -0.38875772173, 0.0778862828135},
               {-0.0809583347844, 0.0961706656141, 0.230100813305, 0.0135096769372},
               {4.31145948549, -0.786550224358, 0.628028977807, 0.628028977807, -0.849065544973,
                1.53064075846, -1.37625485942, -1.37625485942, -0.604134344072, -1.63611308172,
                1.84104472512, 1.84104472512, -0.205254040923, 1.56833905212, 0.687771057209,
                0.687771057209}});
  });
}

TEST_CASE("an LSTM with projection, without bias, batch first") {
  for_each_device([](Device d) {
    nn::LSTM m(nn::LSTMOptions(3, 5).num_layers(2).proj_size(2).bias(false).batch_first(true));
    fill(m, d);
    CHECK(m->named_parameters().contains("weight_hr_l1"));
    const Tensor x = input(d);
    const auto [out, state] = m(x);
    const auto [h, c] = state;
    check_run(m, x, out, {h, c},
              {{4, 2, 2},
               {-0.0124892650653, 0.0118745766939, -0.0178072942703, 0.0136637672541,
                0.00572728234762, -0.00559696553624},
               {0.00117732481744, -0.00495625833349, -0.0176558376284, 0.0134801208711},
               {-0.0212083226619, -0.0459891685562, -0.0127282171862, 0.0395864978261},
               {-0.261782285099, -0.212843581105, -0.144892193913, -0.512696226405},
               {-2.05271695535, -0.127770636242, -0.273767588691, 0.0269416916805,
                -0.00507232724248, -0.00496539905974}});
  });
}

TEST_CASE("GRU has PyTorch's values and gradients") {
  for_each_device([](Device d) {
    nn::GRU m(nn::GRUOptions(3, 5).num_layers(2).bidirectional(true));
    fill(m, d);
    const Tensor x = input(d);
    const auto [out, h] = m(x, wave(d, {4, 2, 5}, 0.2));
    check_run(m, x, out, {h},
              {{4, 2, 10},
               {-0.332796417176, -0.731850981434, -0.814693527469, 0.074104124248, -0.348858472067,
                -0.644984050626},
               {0.517033517579, 0.238544042767, -0.151674601351, 0.232908654569},
               {0.517033517579, 0.238544042767, -0.151674601351, 0.232908654569},
               {-0.418032774496, -0.0791100792528, 0.284039332606, -0.331911988118},
               {3.43574029071, 3.17816646931, 2.50433263254, 2.13720029188, -0.814089515829,
                0.342823886033, 0.138473929368, 0.769723037088, -1.33548474293, 1.94137532641,
                -0.194922263223, -0.634701349625, -0.37055288424, 4.27617292881, 1.15498240703,
                0.927781133155}});
  });
}

TEST_CASE("cells have PyTorch's values, and accept one input without a batch") {
  for_each_device([](Device d) {
    const Tensor x = wave(d, {2, 3});
    nn::RNNCell plain(3, 2);
    nn::LSTMCell lstm(3, 2);
    nn::GRUCell gru(3, 2);
    fill(plain, d);
    fill(lstm, d);
    fill(gru, d);
    check_values(plain(x).detach(), {2, 2},
                 {0.356964740324, 0.865219343045, -0.0494951941098, 0.686486618287});
    const auto [h, c] = lstm(x);
    check_values(h.detach(), {2, 2},
                 {0.0320073610913, -0.131035282509, 0.0996070517216, -0.0135104851645});
    check_values(c.detach(), {2, 2},
                 {0.0831934663178, -0.304327621814, 0.275142192167, -0.0394937022815});
    check_values(gru(x).detach(), {2, 2},
                 {0.0006759398541, -0.110941243445, 0.0907490242132, -0.017687066839});
    CHECK(plain(x[1]).detach().allclose(plain(x).detach()[1], 1e-14, 1e-14));
    CHECK(gru(x[1]).detach().allclose(gru(x).detach()[1], 1e-14, 1e-14));
  });
}

TEST_CASE("sequences are packed, run and padded again as in PyTorch") {
  for_each_device([](Device d) {
    nn::GRU m(nn::GRUOptions(3, 2).bidirectional(true));
    fill(m, d);
    const Tensor lengths = tensor({3, 5, 2}, kInt64), x = wave(d, {5, 3, 3}).requires_grad_();
    const rnn::PackedSequence packed =
        rnn::pack_padded_sequence(x, lengths, /*batch_first=*/false, /*enforce_sorted=*/false);
    CHECK(packed.batch_sizes().equal(tensor({3, 3, 2, 1, 1}, kInt64)));
    CHECK(packed.sorted_indices().cpu().equal(tensor({1, 0, 2}, kInt64)));
    const auto [run, h] = m->forward_with_packed_input(packed, wave(d, {2, 3, 2}, 0.4));
    const auto [out, sizes] = rnn::pad_packed_sequence(run, /*batch_first=*/false, 9.0);
    CHECK(sizes.equal(lengths));
    check_values(out.detach()[0], {3, 4},
                 {-0.00674391380608, 0.1490887743, -0.284952478933, -0.459010684738, 0.677336313483,
                  0.682797160233, -0.0243258863668, -0.854768862685, 0.955832644996, 0.885558269885,
                  -0.744625397201, -0.229379937293});
    check_values(out.detach()[4], {3, 4},
                 {9, 9, 9, 9, 0.563244941031, 0.126236825704, -0.0362362753911, -0.620172009539, 9,
                  9, 9, 9});
    check_values(h.detach(), {2, 3, 2},
                 {-0.00998111719238, -0.127410707999, 0.563244941031, 0.126236825704,
                  0.925448518471, 0.867927721611, -0.284952478933, -0.459010684738,
                  -0.0243258863668, -0.854768862685, -0.744625397201, -0.229379937293});
    // The result of a packed sequence equals that of each padded sequence alone.
    const auto [alone, alone_h] =
        m(x.narrow(1, 0, 1).narrow(0, 0, 3), wave(d, {2, 3, 2}, 0.4).narrow(1, 0, 1));
    CHECK(alone.detach().squeeze(1).allclose(out.detach().select(1, 0).narrow(0, 0, 3), 1e-13,
                                             1e-13));
    run.data().sum().backward();
    CHECK(x.grad().select(1, 2).narrow(0, 2, 3).abs().sum().item<double>() == 0);
  });
  const std::vector<Tensor> some{ones({3, 2}), full({1, 2}, 2.0), full({2, 2}, 3.0)};
  CHECK(rnn::pad_sequence(some, true, -1).sizes() == IntArrayRef{3, 3, 2});
  CHECK(rnn::pad_sequence(some)[1].equal(tensor({{1., 1.}, {0., 0.}, {3., 3.}})));
  CHECK(rnn::pack_sequence(some, false).batch_sizes().equal(tensor({3, 2, 1}, kInt64)));
}

TEST_CASE("a packed sequence has positive, non-increasing batch sizes with the sum of its rows") {
  const Tensor data = ones({3, 2});
  const auto pack = [&](std::initializer_list<TensorData> sizes) {
    return rnn::PackedSequence(data, tensor(sizes, kInt64));
  };
  CHECK(pack({2, 1}).batch_sizes().equal(tensor({2, 1}, kInt64)));
  // PyTorch 2.15 constructs all of these; pad_packed_sequence then fails, or for {1, 1} drops a
  // row.
  CHECK_THROWS_AS(pack({-1, 4}), ShapeError);
  CHECK_THROWS_AS(pack({1, 2}), ShapeError);
  CHECK_THROWS_AS(pack({2, 2}), ShapeError);
  CHECK_THROWS_AS(pack({1, 1}), ShapeError);
  CHECK_THROWS_AS(pack({3, 0}), ShapeError);
  CHECK_THROWS_AS(pack({INT64_MAX, INT64_MAX}), ShapeError);
  CHECK_THROWS_AS(rnn::PackedSequence({}, tensor({1}, kInt64)), ShapeError);
  CHECK_THROWS_AS(rnn::PackedSequence(ones({}), tensor({1}, kInt64)), ShapeError);
}

TEST_CASE("recurrent networks have correct gradients") {
  nn::LSTM m(nn::LSTMOptions(2, 3).proj_size(2));
  fill(m, kCPU);
  const auto f = [&](const std::vector<Tensor>& in) {
    const auto [out, state] = m(in[0], std::tuple(in[1], in[2]));
    return cat({out.flatten(), std::get<1>(state).flatten()});
  };
  gradcheck(f, {wave(kCPU, {3, 1, 2}), wave(kCPU, {1, 1, 2}, 0.4), wave(kCPU, {1, 1, 3}, 0.5)});
  gradgradcheck(f, {wave(kCPU, {2, 1, 2}), wave(kCPU, {1, 1, 2}, 0.4), wave(kCPU, {1, 1, 3}, 0.5)});
}

TEST_CASE("recurrent networks clone, drop out between layers, and run without a batch") {
  manual_seed(2);
  nn::GRU m(nn::GRUOptions(3, 4).num_layers(2).dropout(0.5));
  const Tensor x = randn({5, 2, 3});
  CHECK_FALSE(std::get<0>(m(x)).equal(std::get<0>(m(x))));
  m->eval();
  const Tensor y = std::get<0>(m(x)).detach();
  CHECK(y.equal(std::get<0>(m(x)).detach()));
  const auto copy = std::dynamic_pointer_cast<nn::GRUImpl>(m->clone());
  CHECK(std::get<0>(copy->forward(x)).detach().equal(y));
  {
    const NoGradGuard no_grad;
    m->parameters()[0].zero_();
  }
  CHECK(std::get<0>(copy->forward(x)).detach().equal(y));
  CHECK(copy->all_weights().size() == 8);
  const auto [one, h] = copy->forward(x.select(1, 0));
  CHECK(one.detach().allclose(y.select(1, 0), 1e-6,
                              1e-6));  // both compute the same sums in another order
  CHECK(h.sizes() == IntArrayRef{2, 4});
}

// Without gradients, the gates of several steps are computed at once, two million numbers: here 64
// steps of 16 sequences.
TEST_CASE(
    "without gradients a network has the same results, and stores the gates of only some steps") {
  manual_seed(4);
  nn::LSTM m(nn::LSTMOptions(8, 512).bidirectional(true));
  const Tensor x = randn({140, 16, 8}), lengths = randint(80, 141, {16}, kInt64);
  const auto packed = rnn::pack_padded_sequence(x, lengths, false, /*enforce_sorted=*/false);
  const auto run = [&] {
    return std::vector<Tensor>{std::get<0>(m(x)).detach(),
                               std::get<0>(m->forward_with_packed_input(packed)).data().detach()};
  };
  const std::vector<Tensor> with_gradients = run();
  const NoGradGuard no_grad;
  const std::vector<Tensor> without = run();
  for (size_t i = 0; i < 2; ++i) {
    // Numbers of magnitude 1 from sums of 512 products in another order in float32; the cell
    // multiplies the differences of the last step by less than 1: 512 * 2^-24 = 3e-5.
    CHECK(without[i].allclose(with_gradients[i], 1e-4, 3e-5));
  }
  const auto stats = [] { return memory_stats(kCPU); };
  const auto room = static_cast<int64_t>(stats().peak_in_use - stats().in_use);
  const Tensor level = empty({room}, kUInt8);
  const size_t before = stats().peak_in_use;
  m(x);
  // The outputs are 4.4 MiB for each direction, and once more concatenated; the gates of 64 steps
  // are 8 MiB, those of all 140 would be 17.5 MiB in addition to at least one direction's outputs.
  CHECK(stats().peak_in_use - before < (size_t{20} << 20));
}

TEST_CASE("without gradients a layer overwrites the previous layer's output, and nothing else") {
  manual_seed(5);
  const Tensor x = randn({140, 16, 8});
  for (const int64_t directions : {1, 2}) {
    INFO("directions ", directions);
    nn::LSTM m(nn::LSTMOptions(8, 512 / directions).num_layers(2).bidirectional(directions == 2));
    const Tensor packed_lengths = arange(16, kInt64) + 125;
    const auto packed = rnn::pack_padded_sequence(x, packed_lengths.flip({0}));
    const auto run = [&] {
      const auto [y, state] = m(x);
      return std::vector<Tensor>{y.detach(), std::get<0>(state).detach(),
                                 std::get<0>(m->forward_with_packed_input(packed)).data().detach()};
    };
    const Tensor given = x.clone();
    const std::vector<Tensor> with_gradients = run();
    const NoGradGuard no_grad;
    const std::vector<Tensor> without = run();
    // The bound is that of the case above.
    for (size_t i = 0; i < 3; ++i) CHECK(without[i].allclose(with_gradients[i], 1e-4, 3e-5));
    CHECK(x.equal(given));
    if (directions == 2) continue;
    const auto stats = [] { return memory_stats(kCPU); };
    const Tensor level =
        empty({static_cast<int64_t>(stats().peak_in_use - stats().in_use)}, kUInt8);
    const size_t before = stats().peak_in_use;
    m(x);
    // 4.4 MiB of the first layer, which the second overwrites, and the gates of 64 steps, 8 MiB.
    CHECK(stats().peak_in_use - before < (size_t{14} << 20));
  }
}

TEST_CASE("recurrent networks and sequences refuse invalid sizes") {
  nn::LSTM m(3, 4);
  const Tensor x = ones({5, 2, 3});
  CHECK_THROWS_AS(m(ones({5, 2, 2})), ShapeError);
  CHECK_THROWS_AS(m(ones({3})), ShapeError);
  CHECK_THROWS_AS(m(ones({0, 2, 3})), ShapeError);
  CHECK_THROWS_AS(m(x, std::tuple(ones({1, 2, 3}), ones({1, 2, 4}))), ShapeError);
  CHECK_THROWS_AS(m(x, std::tuple(ones({1, 2, 4}), ones({1, 1, 4}))), ShapeError);
  // Without a batch, states have no batch dim.
  const Tensor single = x.select(1, 0), h = ones({1, 4});
  CHECK(std::get<0>(m(single, std::tuple(h, h))).sizes() == IntArrayRef{5, 4});
  CHECK_THROWS_WITH_AS(m(single, std::tuple(h.view({1, 1, 4}), h)),
                       "lstm: expected hx of shape [1, 4], got [1, 1, 4]", ShapeError);
  CHECK_THROWS_AS(m(single, std::tuple(h, h.view({1, 1, 4}))), ShapeError);
  CHECK_THROWS_AS(nn::RNN(3, 4)(single, h.view({1, 1, 4})), ShapeError);
  CHECK_THROWS_AS(m(ones({5, 2, 3}, kInt64)), DTypeError);
  CHECK_THROWS_AS(nn::LSTM(3, 0), Error);
  CHECK_THROWS_AS(nn::LSTM(nn::LSTMOptions(3, 4).proj_size(4)), Error);
  CHECK_THROWS_AS(nn::GRU(nn::GRUOptions(3, 4).num_layers(0)), Error);
  CHECK_THROWS_AS(nn::RNN(nn::RNNOptions(3, 4).dropout(2)), Error);
  CHECK_THROWS_AS(nn::RNN(nn::RNNOptions(3, 4).nonlinearity(kSigmoid)), Error);
  CHECK_THROWS_AS(nn::RNNCell(3, 4)(ones({2, 2})), ShapeError);
  CHECK_THROWS_AS(nn::RNNCell(3, 4)(ones({2, 3}), ones({3, 4})), ShapeError);
  const Tensor lengths = tensor({2, 5}, kInt64);
  CHECK_THROWS_AS(rnn::pack_padded_sequence(x, lengths), Error);
  CHECK_THROWS_AS(rnn::pack_padded_sequence(x, tensor({6, 5}, kInt64)), Error);
  CHECK_THROWS_AS(rnn::pack_padded_sequence(x, tensor({5}, kInt64)), ShapeError);
  CHECK_THROWS_AS(rnn::pack_padded_sequence(ones({5}), lengths), ShapeError);
  CHECK_THROWS_AS(rnn::pad_sequence(std::vector<Tensor>{}), Error);
  const rnn::PackedSequence packed = rnn::pack_padded_sequence(x, lengths, false, false);
  CHECK_THROWS_AS(rnn::pad_packed_sequence(packed, false, 0, 4), Error);
  CHECK(std::get<0>(rnn::pad_packed_sequence(packed, true, 0, 7)).sizes() == IntArrayRef{2, 7, 3});
}
