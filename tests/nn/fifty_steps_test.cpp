// Fifty steps of the optimizers and options that libtorch does not have, compared with torch.optim
// of PyTorch 2.15, after torch.set_default_dtype(torch.float64). p = wave(3, k=.4) of expected.h;
// for i in range(50):
//   o.zero_grad(); ((p.sin()**2).sum() + .05 * i * p.view(-1)[0]).backward(); o.step()
// The numbers are p after 1, 10 and 50 steps.
#include <ambit/autograd.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/random.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>
#include <ambit/optim/optim.h>
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/devices.h"
#include "tests/expected.h"
#include "tests/nn/optimizer_case.h"

using namespace ambit;
using namespace ambit::optim;

namespace {

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"NAdam()",
       made<NAdam>(NAdamOptions()),
       {0, 0.387305438782, 0.715243187364, -0.0200214130081, 0.37334814656, 0.701211175632,
        -0.136269943692, 0.29994975556, 0.624726146624}},
      {"NAdam(lr=.02, betas=(.8, .7), eps=1e-4, momentum_decay=.1)",
       made<NAdam>(NAdamOptions(0.02).betas({0.8, 0.7}).eps(1e-4).momentum_decay(0.1)),
       {0, 0.367496726494, 0.695433567066, -0.178296195024, 0.212590733471, 0.535159256547,
        -1.00005913692, -0.00141182972387, 0.000213261673988}},
      {"NAdam(lr=.02, weight_decay=.1)",
       made<NAdam>(NAdamOptions(0.02).weight_decay(0.1)),
       {0, 0.368289307027, 0.696227055531, -0.179494532124, 0.238438275437, 0.558308654274,
        -1.49860993268, -0.0102594145518, 0.0530408202292}},
      {"NAdam(lr=.02, weight_decay=.1, decoupled_weight_decay=True)",
       made<NAdam>(NAdamOptions(0.02).weight_decay(0.1).decoupled_weight_decay(true)),
       {0, 0.367510470358, 0.694792343364, -0.180484885134, 0.232597419629, 0.545576724276,
        -1.4323400639, -0.00976042845062, 0.0394810293783}},
      {"NAdam(lr=.02, weight_decay=.1, maximize=True)",
       made<NAdam>(NAdamOptions(0.02).weight_decay(0.1).maximize(true)),
       {0, 0.410547377557, 0.738485126237, 0.206035335194, 0.557548691491, 0.878530469792,
        1.31545801015, 1.2950627897, 1.42967618801}},
      {"RAdam()",
       made<RAdam>(RAdamOptions()),
       {0, 0.388715890382, 0.716365336066, -0.000456509404917, 0.385721238698, 0.712213424917,
        -0.00595105187406, 0.381417509186, 0.70790230411}},
      {"RAdam(lr=.02, betas=(.8, .9), eps=1e-4)",
       made<RAdam>(RAdamOptions(0.02).betas({0.8, 0.9}).eps(1e-4)),
       {0, 0.375369303772, 0.69754099423, -0.0442135004825, 0.283996954325, 0.581027074059,
        -0.790161099527, 0.00247392282762, 0.0216316973989}},
      {"RAdam(lr=.02, betas=(.8, .9), weight_decay=.1)",
       made<RAdam>(RAdamOptions(0.02).betas({0.8, 0.9}).weight_decay(0.1)),
       {0, 0.374590467087, 0.696106282048, -0.0442376535316, 0.280453837366, 0.574221635942,
        -0.788891411209, 0.00291097416756, 0.0192403533672}},
      {"RAdam(lr=.02, betas=(.8, .9), weight_decay=.1, decoupled_weight_decay=True)",
       made<RAdam>(
           RAdamOptions(0.02).betas({0.8, 0.9}).weight_decay(0.1).decoupled_weight_decay(true)),
       {0, 0.374590467087, 0.696106282048, -0.0440404803916, 0.277537972919, 0.56840485646,
        -0.760948631206, 0.00380258563492, 0.00727020100444}},
      {"RAdam(lr=.02, betas=(.8, .9), weight_decay=.1, maximize=True)",
       made<RAdam>(RAdamOptions(0.02).betas({0.8, 0.9}).weight_decay(0.1).maximize(true)),
       {0, 0.402688544161, 0.735736475387, 0.0441770517422, 0.496498542188, 0.847723633649,
        0.801362196988, 1.18171276064, 1.44344748694}},
      {"Adadelta()",
       made<Adadelta>(AdadeltaOptions()),
       {0, 0.386256096691, 0.714193829347, -0.0549139188378, 0.356389843114, 0.683716815574,
        -0.78047462357, 0.230480170405, 0.537427178403}},
      {"Adadelta(lr=2, rho=.8, eps=1e-4)",
       made<Adadelta>(AdadeltaOptions(2).rho(0.8).eps(1e-4)),
       {0, 0.344719623565, 0.672646116971, -0.25202000801, 0.0586049496001, 0.271774286505,
        -7.76813873667, -2.58091072695e-08, -1.9266503391e-11}},
      {"Adadelta(lr=2, weight_decay=.1)",
       made<Adadelta>(AdadeltaOptions(2).weight_decay(0.1)),
       {0, 0.383093844519, 0.711031563591, -0.102681202876, 0.324901933104, 0.650463580205,
        -1.49651942522, 0.125388911075, 0.383913686377}},
      {"Adadelta(lr=2, weight_decay=.1, maximize=True)",
       made<Adadelta>(AdadeltaOptions(2).weight_decay(0.1).maximize(true)),
       {0, 0.3957428258, 0.723680608779, 0.123889884805, 0.459542146608, 0.784973808669,
        1.95007089723, 0.833814240503, 1.0715736513}},
      {"Adamax()",
       made<Adamax>(AdamaxOptions()),
       {0, 0.387418342337, 0.71535609092, -0.0101411093897, 0.369539581042, 0.69733234515,
        -0.0685893125874, 0.294794730108, 0.616837966531}},
      {"Adamax(lr=.02, betas=(.8, .7), eps=1e-4)",
       made<Adamax>(AdamaxOptions(0.02).betas({0.8, 0.7}).eps(1e-4)),
       {0, 0.369421189073, 0.697358109359, -0.120440761173, 0.165134235956, 0.513127190178,
        -0.79471487769, -0.0202677887487, -0.00396002041636}},
      {"Adamax(lr=.02, weight_decay=.1)",
       made<Adamax>(AdamaxOptions(0.02).weight_decay(0.1)),
       {0, 0.369418342578, 0.697356091088, -0.1091437656, 0.2104747491, 0.521868398863,
        -0.693593193945, -0.019164128788, 0.0434345766981}},
      {"Adamax(lr=.02, weight_decay=.1, maximize=True)",
       made<Adamax>(AdamaxOptions(0.02).weight_decay(0.1).maximize(true)),
       {0, 0.409418342007, 0.737356090682, 0.0978768684166, 0.579385161283, 0.916906577484,
        0.679468117002, 1.29816711682, 1.45768711985}},
      {"ASGD()",
       made<ASGD>(ASGDOptions()),
       {0, 0.382393433622, 0.707447825209, -0.0213409754333, 0.323673067312, 0.620010384538,
        -0.463521699289, 0.148542894763, 0.308987536119}},
      {"ASGD(lr=.05, lambd=.01, alpha=.5, t0=20)",
       made<ASGD>(ASGDOptions(0.05).lambd(0.01).alpha(0.5).t0(20)),
       {0, 0.354101036795, 0.66745967118, -0.0869982594025, 0.142552352444, 0.301156155118,
        -1.71033332321, 0.00214579267353, 0.0046618014632}},
      {"ASGD(lr=.05, weight_decay=.1)",
       made<ASGD>(ASGDOptions(0.05).weight_decay(0.1)),
       {0, 0.352346707163, 0.66422798199, -0.0861582291247, 0.135233753566, 0.284624518586,
        -1.5793977168, 0.00161108572977, 0.00347304102491}},
      {"ASGD(lr=.05, weight_decay=.1, maximize=True)",
       made<ASGD>(ASGDOptions(0.05).weight_decay(0.1).maximize(true)),
       {0, 0.422591899848, 0.763303465339, 0.146148425945, 0.799834911283, 1.13909968754,
        2.6522255828, 1.48349604455, 1.49070750041}},
      {"Rprop()",
       made<Rprop>(RpropOptions()),
       {0, 0.379418342309, 0.7073560909, -0.2079890176, 0.129831521189, 0.45776926978,
        -45.9815534077, -2.67091665765e-06, -1.40437151367e-05}},
      {"Rprop(lr=.05, etas=(.4, 1.1), step_sizes=(1e-3, .06))",
       made<Rprop>(RpropOptions(0.05).etas({0.4, 1.1}).step_sizes({1e-3, 0.06})),
       {0, 0.339418342309, 0.6673560909, -0.1238408, 0.00841834230865, 0.1323560909, -2.02622199509,
        0.000432742308651, 0.000207930899523}},
      {"Rprop(maximize=True)",
       made<Rprop>(RpropOptions().maximize(true)),
       {0, 0.399418342309, 0.7273560909, 0.2079890176, 0.649005163429, 0.97694291202, 363.272863137,
        1.57096235685, 1.57081345293}},
      {"SGD(lr=.05, momentum=.9, weight_decay=.1, maximize=True)",
       made<SGD>(SGDOptions(0.05).momentum(0.9).weight_decay(0.1).maximize(true)),
       {0, 0.42259384694, 0.763307052119, 0.518768049642, 1.8311557747, 1.8914181158, 14.6021896793,
        1.55246292607, 1.54628747995}},
      {"SGD(lr=.05, momentum=.9, nesterov=True, maximize=True)",
       made<SGD>(SGDOptions(0.05).momentum(0.9).nesterov(true).maximize(true)),
       {0, 0.45615127536, 0.81147780008, 0.803057044264, 1.91648293218, 1.87557231355,
        22.5457499765, 1.57624319527, 1.57542327483}},
      {"Adam(lr=.02, weight_decay=.1, maximize=True)",
       made<Adam>(AdamOptions(0.02).weight_decay(0.1).maximize(true)),
       {0, 0.409418342007, 0.737356090682, 0.160679110164, 0.591055046439, 0.917193457723,
        1.14493425141, 1.35907338915, 1.50526169612}},
      {"Adam(lr=.02, weight_decay=.1, decoupled_weight_decay=True)",
       made<Adam>(AdamOptions(0.02).weight_decay(0.1).decoupled_weight_decay(true)),
       {0, 0.368639505909, 0.69592137892, -0.166951740064, 0.187989977995, 0.505787671656,
        -1.14414832265, -0.00534076875581, -0.027890859324}},
      {"Adam(lr=.02, weight_decay=.1, amsgrad=True, decoupled_weight_decay=True, maximize=True)",
       made<Adam>(
           AdamOptions(0.02).weight_decay(0.1).amsgrad(true).decoupled_weight_decay(true).maximize(
               true)),
       {0, 0.408639505339, 0.735921378516, 0.159371094012, 0.581531206719, 0.901356085432,
        1.09722003623, 1.30425601593, 1.47037515319}},
      {"AdamW(lr=.02, weight_decay=.1, maximize=True)",
       made<AdamW>(AdamWOptions(0.02).weight_decay(0.1).maximize(true)),
       {0, 0.408639505339, 0.735921378516, 0.159371094012, 0.581531206719, 0.901356085432,
        1.09722003623, 1.30425601593, 1.47037515319}},
      {"Adagrad(lr=.1, weight_decay=.1, maximize=True)",
       made<Adagrad>(AdagradOptions(0.1).weight_decay(0.1).maximize(true)),
       {0, 0.489418342294, 0.817356090889, 0.652479016266, 0.924822677955, 1.18429058762,
        1.67539316735, 1.42019440091, 1.4780620805}},
      {"RMSprop(lr=.02, weight_decay=.1, momentum=.5, maximize=True)",
       made<RMSprop>(RMSpropOptions(0.02).weight_decay(0.1).momentum(0.5).maximize(true)),
       {0, 0.589418312166, 0.917356069137, 1.76500828854, 1.52019710086, 1.49077955493,
        5.06387471891, 1.49572819158, 1.49572823689}},
  };
  return all;
}

// As above, for matrices, wave(3, 2, k=.4) and wave(2, 3, k=.4), without the iteration in bfloat16.
const std::vector<Case>& tall_cases() {
  static const std::vector<Case> all = {
      {"Muon(lr=.02, weight_decay=.5, ns_steps=0)",
       made<Muon>(MuonOptions(0.02).weight_decay(0.5).ns_steps(0)),
       {0, 0.377104037895, 0.698317814049, 0.911236711938, 0.978669983, 0.888578944599,
        -0.0154239852899, 0.277720403104, 0.538437328956, 0.731273339137, 0.796164001619,
        0.709891498006, -0.388603338586, 0.0259876885104, 0.0751137463118, 0.138987191308,
        0.167179922173, 0.130150025329}},
      {"Muon(lr=.02, momentum=.8, nesterov=False, ns_steps=0)",
       made<Muon>(MuonOptions(0.02).momentum(0.8).nesterov(false).ns_steps(0)),
       {0, 0.380219384633, 0.70400882118, 0.918693024626, 0.986666571825, 0.895805482417,
        -0.016701563935, 0.30320271684, 0.587839533918, 0.798299295115, 0.86908960295,
        0.775109582276, -0.471254363713, 0.0990127896713, 0.214782660535, 0.332207079652,
        0.381346566124, 0.317195074954}},
      {"Muon(lr=.02, adjust_lr_fn=\"match_rms_adamw\", ns_steps=0)",
       made<Muon>(MuonOptions(0.02).adjust_lr_fn("match_rms_adamw").ns_steps(0)),
       {0, 0.386257935764, 0.712565530278, 0.926927412531, 0.994489240334, 0.904190641767,
        -0.00454963852403, 0.358595310797, 0.670095120319, 0.881272727713, 0.948943237851,
        0.858592857475, -0.112061151704, 0.258392000201, 0.507218679013, 0.697281103469,
        0.762352469607, 0.675914010364}},
      {"Muon(lr=.02, adjust_lr_fn=\"spectral_unclamped\", ns_steps=0)",
       made<Muon>(MuonOptions(0.02).adjust_lr_fn("spectral_unclamped").ns_steps(0)),
       {0, 0.380219384633, 0.704056662776, 0.918693024626, 0.986666571825, 0.895853324013,
        -0.0157161082997, 0.302868972138, 0.587695253374, 0.798300243751, 0.869185571094,
        0.775157330465, -0.39374413002, 0.0729969458476, 0.182810625273, 0.312011600812,
        0.368447456642, 0.295712951882}},
      {"Muon(lr=.02, eps=10, ns_steps=0)",
       made<Muon>(MuonOptions(0.02).eps(10).ns_steps(0)),
       {0, 0.388472060036, 0.715685160835, 0.929946265162, 0.997356178551, 0.907247099239,
        -0.00113905646046, 0.377017745477, 0.696511606988, 0.907116001844, 0.973617789864,
        0.884755318987, -0.0760626553534, 0.300815941709, 0.572909036333, 0.766191916954,
        0.82980489152, 0.745105573573}},
  };
  return all;
}

const std::vector<Case>& wide_cases() {
  static const std::vector<Case> all = {
      {"Muon(ns_steps=0)",
       made<Muon>(MuonOptions().ns_steps(0)),
       {0, 0.389035650474, 0.71679998029, 0.931477132059, 0.999028333181, 0.908731887708,
        -0.000666932722806, 0.385604861832, 0.711803346404, 0.926425982421, 0.994125312185,
        0.903648488489, -0.0171760941963, 0.371951583719, 0.691680571502, 0.905875119109,
        0.97410916468, 0.882997554451}},
      {"Muon(lr=.02, adjust_lr_fn=\"original\", ns_steps=0)",
       made<Muon>(MuonOptions(0.02).adjust_lr_fn("original").ns_steps(0)),
       {0, 0.381764505624, 0.706233878718, 0.920800007795, 0.988668205835, 0.897986644472,
        -0.0129244742173, 0.316713028053, 0.608607093101, 0.819722626823, 0.889826407085,
        0.796464956034, -0.318739905153, 0.114018537801, 0.260245297273, 0.411110731505,
        0.472797199385, 0.39236432631}},
      {"Muon(lr=.02, adjust_lr_fn=\"match_rms_adamw\", ns_steps=0)",
       made<Muon>(MuonOptions(0.02).adjust_lr_fn("match_rms_adamw").ns_steps(0)),
       {0, 0.386257935764, 0.712565530278, 0.926927412531, 0.994489240334, 0.904190641767,
        -0.00454963852403, 0.358595310797, 0.670095120319, 0.881272727713, 0.948943237851,
        0.858592857475, -0.112061151704, 0.258392000201, 0.507218679013, 0.697281103469,
        0.762352469607, 0.675914010364}},
      {"Muon(lr=.02, adjust_lr_fn=\"spectral_unclamped\", ns_steps=0)",
       made<Muon>(MuonOptions(0.02).adjust_lr_fn("spectral_unclamped").ns_steps(0)),
       {0, 0.38302609163, 0.70801156809, 0.922520352349, 0.990302533162, 0.899728493333,
        -0.010600503187, 0.328352145524, 0.625794702916, 0.837101574589, 0.906424968178,
        0.814053013252, -0.259838613978, 0.150650679423, 0.326142965701, 0.492044082468,
        0.556169580785, 0.471946107851}},
  };
  return all;
}

// The cases of a matrix [3, 2], with the iteration.
const std::vector<Case>& iterated_cases() {
  static const std::vector<Case> all = {
      {"Muon(lr=.02)",
       made<Muon>(MuonOptions(0.02)),
       {0.0102381016593, 0.373808610697, 0.704104504373, 0.924003441842, 0.988053978124,
        0.899872018122, 0.107528299153, 0.216003757425, 0.583794936921, 0.863504244355,
        0.880458825453, 0.825617090938, -0.509972453212, 0.407215811354, 0.444295723342,
        0.305103743899, 0.589255671606, 0.373143596779}},
      {"Muon(lr=.02, ns_coefficients=(2, -1.5, .5))",
       made<Muon>(MuonOptions(0.02).ns_coefficients({2, -1.5, 0.5})),
       {0.013587013417, 0.368354668692, 0.700037968667, 0.921467837225, 0.98465722477,
        0.89685799754, 0.119644718481, 0.177357436684, 0.548692145851, 0.831063202291,
        0.84155512562, 0.795967376212, -0.724745475214, 0.44172486241, 0.359043521672,
        0.0956518976547, 0.445266870358, 0.178076473663}},
  };
  return all;
}

Tensor parameter(Device device, const Dims& sizes = {3}) {
  return wave(device, sizes, 0.4).requires_grad_();
}

void iterate(Optimizer& optimizer, const Tensor& p, int from, int to) {
  for (int i = from; i < to; ++i) {
    optimizer.step([&] {
      optimizer.zero_grad();
      Tensor loss = p.sin().pow(2).sum() + 0.05 * i * p.flatten()[0];
      loss.backward();
      return loss;
    });
  }
}

// `per_step`: tolerance of each step; 0 for that of check_values.
void check_case(const Case& c, Device device, const Dims& sizes, double per_step = 0) {
  INFO(std::string(c.call));
  const Tensor p = parameter(device, sizes);
  const auto optimizer = c.make({p});
  const auto n = static_cast<std::ptrdiff_t>(p.numel());
  auto expected = c.expected.begin();
  int from = 0;
  for (const int to : {1, 10, 50}) {
    iterate(*optimizer, p, from, to);
    check_values(p, sizes, {expected, expected + n}, per_step > 0 ? per_step * to : 6e-12);
    expected += n;
    from = to;
  }
}

}  // namespace

TEST_CASE("an optimizer of Python's torch.optim has PyTorch's values after fifty steps") {
  for_each_device([](Device device) {
    for (const Case& c : cases()) check_case(c, device, {3});
  });
}

TEST_CASE("Muon has PyTorch's values after fifty steps") {
  // Updates have elements below lr sqrt(3 / 2); each of 15 products is rounded to bfloat16.
  const double per_step = 0.02 * std::sqrt(1.5) * 15 * std::ldexp(1, -9);
  for_each_device([&](Device device) {
    for (const Case& c : tall_cases()) check_case(c, device, {3, 2});
    for (const Case& c : wide_cases()) check_case(c, device, {2, 3});
    for (const Case& c : iterated_cases()) check_case(c, device, {3, 2}, per_step);
  });
}

TEST_CASE("an optimizer of torch.optim continues from its state, as a dict and as a checkpoint") {
  const auto check = [](const Case& c, const Dims& sizes) {
    INFO(std::string(c.call));
    const Tensor p = parameter(kCPU, sizes);
    const auto first = c.make({p});
    iterate(*first, p, 0, 7);
    const Tensor q = p.detach().clone().requires_grad_(), r = p.detach().clone().requires_grad_();
    const auto second = c.make({q}), third = c.make({r});
    second->load_state_dict(first->state_dict());
    third->param_groups()[0].options().set_lr(1e3);  // the checkpoint replaces it
    third->load_checkpoint(first->checkpoint());
    iterate(*first, p, 7, 20);
    iterate(*second, q, 7, 20);
    iterate(*third, r, 7, 20);
    CHECK(q.equal(p));
    CHECK(r.equal(p));
  };
  for (const Case& c : cases()) check(c, {3});
  for (const Case& c : iterated_cases()) check(c, {3, 2});
}

TEST_CASE(
    "groups of an optimizer of torch.optim have their own options, inherited ones and state") {
  for_each_device([](Device device) {
    // The parameters of the two groups equal those of two optimizers.
    const NAdamOptions common = NAdamOptions(0.02).weight_decay(0.1),
                       own = NAdamOptions().decoupled_weight_decay(true);
    const Tensor p = parameter(device), q = parameter(device), r = parameter(device),
                 s = parameter(device);
    NAdam together({OptimizerParamGroup({p}), OptimizerParamGroup({q}, own.clone())}, common);
    NAdam first({r}, common);
    NAdam second({s}, NAdamOptions(common).decoupled_weight_decay(true));
    for (int i = 0; i < 5; ++i) {
      p.mutable_grad() = r.mutable_grad() = q.mutable_grad() = s.mutable_grad() =
          wave(device, {3}, 0.3 * (i + 1));
      if (i == 2) q.mutable_grad() = s.mutable_grad() = Tensor();  // one step fewer from now on
      together.step();
      first.step();
      second.step();
    }
    CHECK(p.equal(r));
    CHECK(q.equal(s));
    CHECK_FALSE(p.equal(q));
  });
}
