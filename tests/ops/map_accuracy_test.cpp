// Errors of maps in units in the last place (ulp), at the inputs where `ambit accuracy` found the
// largest ones. Exact values are from mpmath 1.3 with 40 digits, for the given float32.
#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

using namespace ambit;

namespace {

/// Check that each float32 of `got` is within `bound` ulp of the exact value.
void check_ulp(const Tensor& got, const std::vector<double>& exact, double bound) {
  const Tensor host = got.cpu().contiguous();
  REQUIRE(host.numel() == static_cast<int64_t>(exact.size()));
  for (size_t i = 0; i < exact.size(); ++i) {
    const double ulp = std::ldexp(1, std::max(std::ilogb(exact[i]), -126) - 23);
    const double value = host.data_ptr<float>()[i];
    INFO("element ", i, ": ", value, " exact ", exact[i]);
    CHECK(std::abs(value - exact[i]) <= bound * ulp);
  }
}

}  // namespace

// Bounds: 1.0 ulp is required of a map, 2 of softplus. `ambit accuracy --every 305` measures at
// most 0.75 for exp, 0.99 for expm1 (1.05 without fused multiply-add, at inputs other than these),
// 0.90 for log1p, 1.0 for tanh, 1.6 for softplus.
TEST_CASE("exp, expm1, log1p and tanh are within one unit in the last place") {
  for (const char* device : {"cpu", "reference"}) {
    INFO(device);
    const auto f32 = TensorOptions(kFloat32).device(Device(device));
    check_ulp(exp(tensor({59.267929077148438, -5.8640694618225098, -87.757942199707031}, f32)),
              {5.4920508802741938e+25, 0.0028396642324118296, 7.7127625212258471e-39}, 0.8);
    check_ulp(expm1(tensor(
                  {0.355094313621521, 0.34870424866676331, 0.36912882328033447, 17.135038375854492},
                  f32)),
              {0.42631516888710864, 0.41722998069784181, 0.4464739311895553, 27647291.918867249},
              1);
    check_ulp(log1p(tensor({0.00011926054139621556, 0.00094203162007033825, 0.28312200307846069,
                            5.9775466354494711e-08, 2.406215021478594e+38},
                           f32)),
              {0.00011925343042321521, 0.00094158818674735564, 0.24929617314563345,
               5.9775464567941593e-8, 88.37628851619366},
              1);
    check_ulp(
        tanh(tensor(
            {0.18102684617042542, 0.1818540096282959, 0.17930889129638672, 0.061796873807907104},
            f32)),
        {0.17907496799290294, 0.17987548734299446, 0.17741159413960458, 0.061718329380667442}, 1);
    check_ulp(nn::functional::softplus(tensor({-2.7734980583190918, -9.0493850708007812}, f32)),
              {0.060571154342454344, 0.00011745634802807245}, 2);
  }
}

namespace {

struct Row {
  const char* name;
  Tensor (*map)(const Tensor&);
  std::vector<double> inputs, exact;
  double bound;  ///< in ulp
};

void check_rows(const std::vector<Row>& rows, bool gradients) {
  for (const char* device : {"cpu", "reference"}) {
    for (const Row& row : rows) {
      INFO(row.name, " on ", device);
      const Tensor x = tensor(row.inputs, TensorOptions(kFloat32).device(Device(device)));
      if (gradients) {
        const Tensor leaf = x.detach().requires_grad_();
        const Tensor y = row.map(leaf);
        y.backward(ones_like(y));
        check_ulp(leaf.grad(), row.exact, row.bound);
      } else {
        check_ulp(row.map(x), row.exact, row.bound);
      }
    }
  }
}

}  // namespace

// Bounds: the measured largest errors (`ambit accuracy --every 61`), rounded up. Each row has the
// inputs of the largest errors before and after a formula was corrected. Results that are
// computed in double and rounded to float are within 0.5 ulp, plus 1e-6 for the error of double.
TEST_CASE("maps are within their measured errors") {
  namespace F = nn::functional;
  check_rows(
      {
          {"sigmoid",
           [](const Tensor& x) { return sigmoid(x); },
           {-4.846923828125, -0.000600812491029501},
           {0.007791314792672316, 0.49984979688176095},
           2},
          {"silu",
           [](const Tensor& x) { return F::silu(x); },
           {-1.8673994541168213, -16.830787658691406, -6.0735008446499705e-05, -95.5},
           {-0.2499381849520495, -8.25251292730359e-07, -3.036658203793739e-05,
            -3.1980139204022213e-40},
           2},
          {"gelu_tanh",
           [](const Tensor& x) { return F::gelu(x, "tanh"); },
           {-1.3207807540893555, -4.9973039627075195, -0.00024150527315214276},
           {-0.12344411922415295, -2.333849709154387e-07, -0.0001207293683487954},
           2},
          {"mish",
           [](const Tensor& x) { return F::mish(x); },
           {-7.580526351928711, -3.285139560699463},
           {-0.0038672992107952643, -0.12068002907571554},
           2.8},
          {"logit",
           [](const Tensor& x) { return logit(x); },
           {0.8335244655609131, 0.4133168160915375, 0.2787044048309326, 0.5000001192092896},
           {1.610814696244669, -0.350270545293538, -0.9508972934143651, 4.76837158203134e-07},
           1.4},
          {"softplus",
           [](const Tensor& x) { return F::softplus(x); },
           {-2.0671186447143555, -16.470108032226562, -2.773498058319092, -9.049385070800781},
           {0.11915976937936885, 7.032713898008727e-08, 0.060571154342454345,
            0.00011745634802807245},
           1.2},
          {"logsigmoid",
           [](const Tensor& x) { return F::logsigmoid(x); },
           {2.041231155395508, 16.470108032226562},
           {-0.12210145237745168, -7.032713898008727e-08},
           1.2},
          {"rsqrt",
           [](const Tensor& x) { return rsqrt(x); },
           {7.25061260625838e+16, 9.99994610111476e-41, 3.0000000054977558e+38},
           {3.7137498657236218e-09, 1.0000026949551561e+20, 5.773502686606039e-20},
           0.501},
          {"asinh",
           [](const Tensor& x) { return asinh(x); },
           {0.4701336622238159, -1418134.875},
           {0.45434032328121915, -14.858000278472078},
           0.501},
          {"acosh",
           [](const Tensor& x) { return acosh(x); },
           {1.0915746688842773, 3.589999936942708e+37},
           {0.4247591626245774, 87.16694780627512},
           0.501},
          {"atanh",
           [](const Tensor& x) { return atanh(x); },
           {0.23656496405601501, -0.07116611301898956},
           {0.24113229518870688, -0.07128662243488955},
           0.501},
          {"erfc",
           [](const Tensor& x) { return erfc(x); },
           {1.331615686416626, 0.4928579330444336, 9.5, -0.30000001192092896},
           {0.059674764164680476, 0.48579880533376946, 3.7692144856548797e-41, 1.3286267717527154},
           1.3},
          {"lgamma",
           [](const Tensor& x) { return lgamma(x); },
           {-3.949051856994629, 2.499999983453953e+36, 1.000100016593933},
           {-0.12038786219145094, 2.07023383812436e+38, -5.772291776898885e-05},
           0.501},
      },
      false);
}

// As above; the first inputs are next to the zeros of derivatives and in their tails.
TEST_CASE("gradients are within their measured errors") {
  namespace F = nn::functional;
  check_rows(
      {
          {"gelu",
           [](const Tensor& x) { return F::gelu(x); },
           {-0.7517898082733154, -0.04904565215110779, -9.0},
           {7.40626169667366e-07, 0.46089859204319844, -9.138937373906639e-18},
           4},
          {"gelu_tanh",
           [](const Tensor& x) { return F::gelu(x, "tanh"); },
           {-0.7524806261062622, -1.5784194469451904, -9.649969100952148},
           {-8.265275602935469e-06, -0.1243408432554455, -6.029365296765481e-33},
           8},
          {"silu",
           [](const Tensor& x) { return F::silu(x); },
           {-1.278459072113037, -7.514789581298828, -54.590065002441406},
           {1.191575569170007e-06, -0.0035461670778135935, -1.049349805902528e-22},
           6},
          {"mish",
           [](const Tensor& x) { return F::mish(x); },
           {-1.1924340724945068, -0.16946473717689514, -88.34458923339844},
           {-7.629298632973225e-07, 0.49104905912461383, -3.74686802814939e-37},
           7},
          {"atan",
           [](const Tensor& x) { return atan(x); },
           {5.000000100204387e+19, -2.9999998842007716e+18, 0.6000000238418579},
           {3.999999839672986e-40, 1.1111111968883223e-37, 0.7352941021787254},
           2.4},
          {"asinh",
           [](const Tensor& x) { return asinh(x); },
           {9.999999562023526e+24, 0.6000000238418579},
           {1.0000000437976494e-25, 0.8574929166930333},
           2},
      },
      true);
}

TEST_CASE("logsigmoid is monotone next to 0") {
  // An earlier version computed log(1/2) + x / 2 at these 2^20 numbers next to 0, which decreased
  // between some neighbours.
  const Tensor x = (arange(1 << 20, TensorOptions(kFloat32)) - float{1 << 19}) * 0x1p-28F;
  const Tensor y = nn::functional::logsigmoid(x);
  CHECK_FALSE((y.slice(0, 1) < y.slice(0, 0, -1)).any().item<bool>());
}

TEST_CASE("tanh is monotone") {
  // 2^20 adjacent inputs, among which an earlier version of tanh decreased.
  const Tensor steps = arange(1 << 20, TensorOptions(kFloat32));
  const auto falls = [](const Tensor& y) { return (y.slice(0, 1) < y.slice(0, 0, -1)).any(); };
  CHECK_FALSE(falls(tanh(steps * 0x1p-26F + 0.171875F)).item<bool>());
}
