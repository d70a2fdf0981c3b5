// Linear algebra: PyTorch's values, reconstructions, gradients, singular and empty matrices, bad
// calls. What a kernel promises on every device is in `ambit conformance`.
#include <ambit/ambit.h>
#include <ambit/backend/kernels.h>
#include <ambit/backend/reference.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <limits>

#include "composite.h"
#include "tests/autograd/gradcheck.h"
#include "tests/child_process.h"
#include "tests/devices.h"
#include "tests/expected.h"
#include "tests/mismatch/mismatch_calls.h"
#include "tests/tables/agreement_calls.h"
#include "tests/tables/bad_calls.h"

using namespace ambit;
using composite_test::check_composite;
using composite_test::unwritten;

namespace {

TensorOptions f64(Device d) { return TensorOptions(kFloat64).device(d); }
Tensor mT(const Tensor& x) { return x.transpose(-2, -1); }

// A = wave(2,3,3)+2*torch.eye(3); S = A@A.mT+torch.eye(3); B = wave(2,3,2,k=.4); W =
// wave(2,2,3,k=.9); u = wave(2,2,k=.9); t = wave(3,2,k=.5); v = wave(3,k=1.1); bv =
// wave(2,3,k=1.3); Tr = wave(4,3,k=.8)+torch.eye(4,3); F = wave(4,2,k=.3); six =
// wave(6,2,3)+torch.eye(6).view(6,2,3); rank1 = torch.outer(v+1,v+2); two = torch.tensor([1.,9.]);
// LU, piv = torch.linalg.lu_factor(A); C = torch.linalg.cholesky(S)
struct Inputs {
  explicit Inputs(Device d)
      : A(wave(d, {2, 3, 3}) + 2 * eye(3, f64(d))),
        S(matmul(A, mT(A)) + eye(3, f64(d))),
        B(wave(d, {2, 3, 2}, 0.4)),
        W(wave(d, {2, 2, 3}, 0.9)),
        u(wave(d, {2, 2}, 0.9)),
        t(wave(d, {3, 2}, 0.5)),
        v(wave(d, {3}, 1.1)),
        bv(wave(d, {2, 3}, 1.3)),
        Tr(wave(d, {4, 3}, 0.8) + eye(4, 3, f64(d))),
        F(wave(d, {4, 2}, 0.3)),
        six(wave(d, {6, 2, 3}) + eye(6, f64(d)).view({6, 2, 3})),
        rank1((v + 1).unsqueeze(1) * (v + 2)),
        two(tensor({1., 9.}, f64(d))),
        C(linalg_cholesky(S)) {
    std::tie(LU, piv) = linalg_lu_factor(A);
  }
  Tensor A, S, B, W, u, t, v, bv, Tr, F, six, rank1, two, C, LU, piv;
};

struct Expected {
  const char* text;
  Tensor (*f)(const Inputs&);
  Dims sizes;
  std::vector<double> values;
};
#define CALL_OF(...) #__VA_ARGS__, [](const Inputs& o) -> Tensor { return __VA_ARGS__; }

// L = torch.linalg; each is the same call there, e.g. L.solve(A, W, left=False)
std::vector<Expected> values() {
  return {
      {CALL_OF(linalg_inv(o.A)),
       {2, 3, 3},
       {0.451999810829, -0.293251950727, -0.400582737668, -0.138828202264, 0.570100266735,
        0.246059484942, 0.188173943414, 0.222472257542, 0.652138392722, 0.447140129174,
        -0.294674337646, -0.397898859058, -0.134896229015, 0.574474353833, 0.248818484379,
        0.189063542312, 0.219478162796, 0.646668773876}},
      {CALL_OF(std::get<0>(linalg_inv_ex(o.A))),
       {2, 3, 3},
       {0.451999810829, -0.293251950727, -0.400582737668, -0.138828202264, 0.570100266735,
        0.246059484942, 0.188173943414, 0.222472257542, 0.652138392722, 0.447140129174,
        -0.294674337646, -0.397898859058, -0.134896229015, 0.574474353833, 0.248818484379,
        0.189063542312, 0.219478162796, 0.646668773876}},
      {CALL_OF(inverse(o.A)),
       {2, 3, 3},
       {0.451999810829, -0.293251950727, -0.400582737668, -0.138828202264, 0.570100266735,
        0.246059484942, 0.188173943414, 0.222472257542, 0.652138392722, 0.447140129174,
        -0.294674337646, -0.397898859058, -0.134896229015, 0.574474353833, 0.248818484379,
        0.189063542312, 0.219478162796, 0.646668773876}},
      {CALL_OF(o.A.inverse()),
       {2, 3, 3},
       {0.451999810829, -0.293251950727, -0.400582737668, -0.138828202264, 0.570100266735,
        0.246059484942, 0.188173943414, 0.222472257542, 0.652138392722, 0.447140129174,
        -0.294674337646, -0.397898859058, -0.134896229015, 0.574474353833, 0.248818484379,
        0.189063542312, 0.219478162796, 0.646668773876}},
      {CALL_OF(linalg_solve(o.A, o.B)),
       {2, 3, 2},
       {-0.610778003429, -0.461554115649, 0.654919464692, 0.70103473963, 0.811452151899,
        0.873618987119, 0.620358905269, 0.658827442733, -0.312958334077, -0.536181469697,
        -0.374506929845, -0.649160873933}},
      {CALL_OF(linalg_solve(o.A[0], o.B)),
       {2, 3, 2},
       {-0.610778003429, -0.461554115649, 0.654919464692, 0.70103473963, 0.811452151899,
        0.873618987119, 0.625589576707, 0.662379927662, -0.313270885988, -0.532937541595,
        -0.379422020054, -0.655988727794}},
      {CALL_OF(linalg_solve(o.A, o.v)),
       {2, 3},
       {-0.585217999677, 0.707015762388, 0.725520458639, -0.584315735163, 0.713144622126,
        0.718429932197}},
      {CALL_OF(linalg_solve(o.A, o.bv)),
       {2, 3},
       {-0.489066268308, 0.676168780558, 0.550543200848, -0.132792431565, -0.361219151772,
        -0.184819132156}},
      {CALL_OF(linalg_solve(o.A, o.W, false)),
       {2, 2, 3},
       {0.0745048823385, 0.663228961063, 0.827828444681, 0.0706642455781, -0.59508433843,
        -0.917572274573, -0.197748486799, 0.411565782771, 0.824905941534, 0.291580068928,
        -0.149469274467, -0.579249527697}},
      {CALL_OF(std::get<0>(linalg_solve_ex(o.A, o.B))),
       {2, 3, 2},
       {-0.610778003429, -0.461554115649, 0.654919464692, 0.70103473963, 0.811452151899,
        0.873618987119, 0.620358905269, 0.658827442733, -0.312958334077, -0.536181469697,
        -0.374506929845, -0.649160873933}},
      {CALL_OF(linalg_solve_triangular(o.A, o.B, true)),
       {2, 3, 2},
       {-0.494129811091, -0.29334612423, 0.416931414173, 0.498964694236, 0.730290961483,
        0.664334962518, 0.639646666976, 0.601114495704, -0.111717186502, -0.299638680816,
        -0.547668297636, -0.688637116111}},
      {CALL_OF(linalg_solve_triangular(o.A, o.t, false)),
       {2, 3, 2},
       {0, 0.239712769302, 0.360374841625, 0.338576741293, 0.923005653592, 0.832912838809, 0,
        0.237714316868, 0.362844025277, 0.342523026995, 0.915131469794, 0.827129341568}},
      {CALL_OF(linalg_solve_triangular(o.A, o.W, true, false)),
       {2, 2, 3},
       {0, 0.335473612393, 0.797471719211, 0.213689940117, -0.248473758749, -0.931716339961,
        -0.38316102808, 0.115797400164, 0.87905447161, 0.480901986352, 0.0414697049822,
        -0.663995094629}},
      {CALL_OF(linalg_solve_triangular(o.A, o.B, false, true, true)),
       {2, 3, 2},
       {0, 0.389418342309, 0.7173560909, 0.595889525342, 1.70434196873, 1.83413824032,
        0.675463180551, 0.334988150156, -0.63562423998, -0.728800950641, -0.784989499258,
        -1.37054007841}},
      {CALL_OF(std::get<0>(triangular_solve(o.B, o.A))),
       {2, 3, 2},
       {-0.494129811091, -0.29334612423, 0.416931414173, 0.498964694236, 0.730290961483,
        0.664334962518, 0.639646666976, 0.601114495704, -0.111717186502, -0.299638680816,
        -0.547668297636, -0.688637116111}},
      {CALL_OF(std::get<1>(triangular_solve(o.B, o.A))),
       {2, 3, 3},
       {2, 0.644217687238, 0.985449729988, 0.863209366649, 2.33498815016, -0.35078322769,
        -0.871575772414, -0.982452612624, 1.36873336213, 2.01681390048, 0.656986598719,
        0.988168233877, 0.854598908088, 2.31909836235, -0.366479129252, -0.879695759972,
        -0.979177729151, 1.38186288776}},
      {CALL_OF(std::get<0>(o.B.triangular_solve(o.A, false, true, true))),
       {2, 3, 2},
       {-0.595725048054, -0.393745784552, 1.69938978872, 1.8253807186, 0.999573603042,
        0.909297426826, 0.692889233912, 0.672349957659, -0.799418292199, -1.37430800106,
        -0.756802495308, -0.95160207389}},
      {CALL_OF(std::get<0>(linalg_lstsq(o.Tr, o.F))),
       {3, 2},
       {-2.05941813367, -1.97863960353, 2.39339925621, 2.4112086219, 0.362418017872,
        0.410928770948}},
      {CALL_OF(std::get<1>(linalg_lstsq(o.Tr, o.F, {}, "gelsd"))),
       {2},
       {0.00193663360513, 0.0886326229428}},
      {CALL_OF(std::get<3>(linalg_lstsq(o.Tr, o.F, {}, "gelss"))),
       {3},
       {2.39074425632, 1.77348932653, 0.396073984513}},
      {CALL_OF(std::get<0>(linalg_lstsq(o.Tr, o.F, {}, "gels"))),
       {3, 2},
       {-2.05941813367, -1.97863960353, 2.39339925621, 2.4112086219, 0.362418017872,
        0.410928770948}},
      {CALL_OF(std::get<0>(linalg_lstsq(o.W, o.u, {}, "gels"))),
       {2, 3},
       {1.31591911373, 0.642669535456, -0.516939534644, 0.489882305179, 1.73511167277,
        1.66724311854}},
      {CALL_OF(std::get<0>(linalg_lstsq(o.rank1, o.v))),
       {3},
       {0.0396219502235, 0.0572776370531, 0.0556390523575}},
      {CALL_OF(linalg_pinv(o.Tr)),
       {3, 4},
       {0.926655975546, -0.842819588548, -1.10105209977, -0.572268993864, -0.649963290237,
        1.16794659111, 0.883982323915, 0.934459250265, 0.338026931437, -0.237034955999,
        0.331685380174, 0.192139177844}},
      {CALL_OF(linalg_pinv(o.rank1)),
       {3, 3},
       {0.0125879047306, 0.0238063380743, 0.022765180437, 0.0181971214025, 0.0344145299283,
        0.0329094286162, 0.0176765425838, 0.0334300074349, 0.0319679636947}},
      {CALL_OF(linalg_pinv(o.S, 0.5)),
       {2, 3, 3},
       {0.0223682077029, 0.0324067577126, -0.0199409146623, 0.0324067577126, 0.0469504736094,
        -0.0288901282844, -0.0199409146623, -0.0288901282844, 0.0177770200837, 0.0230273922311,
        0.0325733006182, -0.020336880362, 0.0325733006182, 0.0460764250904, -0.0287674483946,
        -0.020336880362, -0.0287674483946, 0.0179607268904}},
      {CALL_OF(linalg_pinv(o.S, 3.0, std::nullopt, true)),
       {2, 3, 3},
       {0.164939351413, -0.0146644708631, 0.0634873073336, -0.0146644708631, 0.0624914905499,
        -0.056434754813, 0.0634873073336, -0.056434754813, 0.0665966342376, 0.163052953902,
        -0.0147255490791, 0.0624557530665, -0.0147255490791, 0.062053373556, -0.0567337445325,
        0.0624557530665, -0.0567337445325, 0.0669133614539}},
      {CALL_OF(linalg_pinv(o.W, o.two.select(0, 0) * 0.4)),
       {2, 3, 2},
       {-0.0773626979503, 0.0708705209728, 0.23488756248, -0.215176103781, 0.369379598471,
        -0.338381743061, -0.359098377812, 0.374434828123, -0.0831094769901, 0.0866589343059,
        0.255775019103, -0.266698713315}},
      {CALL_OF(pinverse(o.W)),
       {2, 3, 2},
       {1.39664875467, 1.679910517, 1.18359237435, 0.820435922163, 0.0748168818555, -0.659928221909,
        0.13201418524, 0.845431945563, 1.20256114731, 1.31966986414, 1.363033808, 0.795207939185}},
      {CALL_OF(linalg_tensorinv(o.six, 1)),
       {2, 3, 6},
       {0.660192198429,  -0.660529583144, -0.670593980706, -0.365267550822, 0.111849915677,
        0.53636261913,   1.29705337409,   1.52384105966,   -0.49574189037,  -1.28216968318,
        -1.46557303953,  -0.959694495186, -0.931981103436, 0.146892086823,  2.1566796334,
        1.62246267477,   1.32517616852,   0.404638603762,  -0.383225731599, -0.667871929928,
        -0.638407523825, 0.691309916126,  0.166209125938,  0.562937586733,  1.3077422273,
        0.507970795011,  -0.530707239436, -1.31978536665,  -0.488147813709, -0.956611091032,
        -0.899043825319, 0.16979557157,   1.15877745802,   1.60276819957,   1.29295201291,
        1.37504029165}},
      {CALL_OF(linalg_tensorsolve(o.six.reshape({2, 3, 6}), o.t.t())),
       {6},
       {-0.908136635383, -1.81946586071, 4.42654022905, -0.308370306022, -1.74729693995,
        4.07759587738}},
      {CALL_OF(linalg_matrix_power(o.A, 5)),
       {2, 3, 3},
       {10.3851140283, 3.93114232081, 27.6282929541, 119.69539057, 134.277841074, 36.757424786,
        -99.2406173634, -107.200281627, -32.7419783908, 11.400087618, 5.11751811767, 28.4280998832,
        120.292676978, 134.025467927, 35.7740871179, -100.858666387, -108.131838224,
        -32.5489169373}},
      {CALL_OF(linalg_matrix_power(o.A, -3)),
       {2, 3, 3},
       {0.0338518476102, -0.385882653368, -0.499130512885, -0.0345245107818, 0.34702101513,
        0.374146588453, 0.126007281953, 0.161709764112, 0.246357617425, 0.0297778250493,
        -0.383186538842, -0.490932286061, -0.0302404903558, 0.349011093198, 0.372906759351,
        0.125755762465, 0.157004283266, 0.239411236387}},
      {CALL_OF(linalg_matrix_power(o.A, 0)),
       {2, 3, 3},
       {1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1}},
      {CALL_OF(linalg_det(o.A)), {2}, {6.30829530118, 6.36450985443}},
      {CALL_OF(det(o.A[1])), {}, {6.36450985443}},
      {CALL_OF(std::get<0>(linalg_slogdet(-o.A))), {2}, {-1, -1}},
      {CALL_OF(std::get<1>(linalg_slogdet(-o.A))), {2}, {1.84186548176, 1.85073722267}},
      {CALL_OF(std::get<1>(slogdet(o.A))), {2}, {1.84186548176, 1.85073722267}},
      {CALL_OF(logdet(stack({o.S[0], -o.S[0], o.S[0] * 0}))), {3}, {4.70456580239, NAN, -INFINITY}},
      {CALL_OF(std::get<0>(linalg_lu_factor(o.Tr))),
       {4, 3},
       {1, 0.7173560909, 0.999573603042, 0.675463180551, 0.457078229826, -1.43197766041,
        -0.996164608836, 0.1823278957, 2.37337852564, 0.793667863849, 0.918914406622,
        0.466614421912}},
      {CALL_OF(std::get<1>(linalg_lu_factor(o.W))), {2, 2}, {2, 2, 2, 2}},
      {CALL_OF(std::get<0>(linalg_lu_factor_ex(o.W))),
       {2, 2, 3},
       {0.427379880234, -0.442520443295, -0.977530117665, 0, 0.783326909627, 0.973847630878,
        0.969889810845, 0.412118485242, -0.457535893775, -0.796754929184, 0.345171335008,
        0.429123885205}},
      {CALL_OF(std::get<0>(linalg_lu(o.Tr))),
       {4, 4},
       {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}},
      {CALL_OF(std::get<1>(linalg_lu(o.Tr))),
       {4, 3},
       {1, 0, 0, 0.675463180551, 1, 0, -0.996164608836, 0.1823278957, 1, 0.793667863849,
        0.918914406622, 0.466614421912}},
      {CALL_OF(std::get<2>(linalg_lu(o.W))),
       {2, 2, 3},
       {0.427379880234, -0.442520443295, -0.977530117665, 0, 0.783326909627, 0.973847630878,
        0.969889810845, 0.412118485242, -0.457535893775, 0, 0.345171335008, 0.429123885205}},
      {CALL_OF(linalg_lu_solve(o.LU, o.piv, o.B)),
       {2, 3, 2},
       {-0.610778003429, -0.461554115649, 0.654919464692, 0.70103473963, 0.811452151899,
        0.873618987119, 0.620358905269, 0.658827442733, -0.312958334077, -0.536181469697,
        -0.374506929845, -0.649160873933}},
      {CALL_OF(linalg_lu_solve(o.LU, o.piv, o.W, false, true)),
       {2, 2, 3},
       {-0.619818694354, 0.686199326585, 0.809351934735, 0.714527298937, -0.552143960482,
        -0.655511684401, -0.666288175272, 0.311381404887, 0.370828916977, 0.494288923747,
        -0.00792636516897, -0.0220523641459}},
      {CALL_OF(linalg_lu_solve(o.LU, o.piv, o.t, true, true)),
       {2, 3, 2},
       {0.0542861784642, 0.190836680378, 0.682016284212, 0.561223132481, 0.800039679552,
        0.443680170019, 0.0584037298552, 0.192961348647, 0.682974428941, 0.563112451514,
        0.797387787182, 0.444445563555}},
      {CALL_OF(lu_solve(o.B, o.LU, o.piv)),
       {2, 3, 2},
       {-0.610778003429, -0.461554115649, 0.654919464692, 0.70103473963, 0.811452151899,
        0.873618987119, 0.620358905269, 0.658827442733, -0.312958334077, -0.536181469697,
        -0.374506929845, -0.649160873933}},
      {CALL_OF(linalg_cholesky(o.S)),
       {2, 3, 3},
       {2.52707886677, 0, 0, 1.14162648425, 2.45296512721, 0, -0.406495810687, -1.24846043202,
        1.69540443118, 2.54472909335, 0, 0, 1.13373186796, 2.44080222708, 0, -0.4133942101,
        -1.25382638049, 1.70271058333}},
      {CALL_OF(linalg_cholesky(o.S, true)),
       {2, 3, 3},
       {2.52707886677, 1.14162648425, -0.406495810687, 0, 2.45296512721, -1.24846043202, 0, 0,
        1.69540443118, 2.54472909335, 1.13373186796, -0.4133942101, 0, 2.44080222708,
        -1.25382638049, 0, 0, 1.70271058333}},
      {CALL_OF(std::get<0>(linalg_cholesky_ex(o.S))),
       {2, 3, 3},
       {2.52707886677, 0, 0, 1.14162648425, 2.45296512721, 0, -0.406495810687, -1.24846043202,
        1.69540443118, 2.54472909335, 0, 0, 1.13373186796, 2.44080222708, 0, -0.4133942101,
        -1.25382638049, 1.70271058333}},
      {CALL_OF(cholesky(o.S)),
       {2, 3, 3},
       {2.52707886677, 0, 0, 1.14162648425, 2.45296512721, 0, -0.406495810687, -1.24846043202,
        1.69540443118, 2.54472909335, 0, 0, 1.13373186796, 2.44080222708, 0, -0.4133942101,
        -1.25382638049, 1.70271058333}},
      {CALL_OF(cholesky_inverse(o.C)),
       {2, 3, 3},
       {0.192166946119, -0.0873097393334, -0.0240294966947, -0.0873097393334, 0.256314525161,
        0.177066654066, -0.0240294966947, 0.177066654066, 0.34789915361, 0.189263477472,
        -0.0865500194305, -0.0229064080301, -0.0865500194305, 0.258873346551, 0.177183444966,
        -0.0229064080301, 0.177183444966, 0.344919961649}},
      {CALL_OF(cholesky_inverse(o.C.transpose(-2, -1), true)),
       {2, 3, 3},
       {0.192166946119, -0.0873097393334, -0.0240294966947, -0.0873097393334, 0.256314525161,
        0.177066654066, -0.0240294966947, 0.177066654066, 0.34789915361, 0.189263477472,
        -0.0865500194305, -0.0229064080301, -0.0865500194305, 0.258873346551, 0.177183444966,
        -0.0229064080301, 0.177183444966, 0.344919961649}},
      {CALL_OF(cholesky_solve(o.B, o.C)),
       {2, 3, 2},
       {-0.0866514238961, -0.0283927155527, 0.360859939194, 0.365901394712, 0.474770653259,
        0.472019320815, 0.150228420459, 0.123498960563, -0.20766573454, -0.312158112667,
        -0.28685165471, -0.414307222695}},
      {CALL_OF(cholesky_solve(o.t, o.C.transpose(-2, -1), true)),
       {2, 3, 2},
       {-0.0953185718526, -0.00934227003049, 0.376687488827, 0.319783395145, 0.465340256947,
        0.373310697724, -0.0936580679648, -0.00930431297455, 0.378946860447, 0.322769931877,
        0.462729561516, 0.372182670048}},
      {CALL_OF(std::get<0>(linalg_qr(o.Tr))),
       {4, 3},
       {-0.569941395418, 0.336799509271, -0.600013786975, -0.384974427677, -0.620184933207,
        0.420748255146, 0.567755447225, -0.490063571606, -0.588757233621, -0.45234416982,
        -0.511638969356, -0.341056126014}},
      {CALL_OF(std::get<1>(linalg_qr(o.Tr))),
       {3, 3},
       {-1.75456636075, -1.57728831371, 0.0909942444722, 0, -0.539210440011, -0.0404331169442, 0, 0,
        -1.77504728521}},
      {CALL_OF(std::get<0>(linalg_qr(o.Tr, "complete"))),
       {4, 4},
       {-0.569941395418, 0.336799509271, -0.600013786975, -0.449128435734, -0.384974427677,
        -0.620184933207, 0.420748255146, -0.538642965656, 0.567755447225, -0.490063571606,
        -0.588757233621, -0.301423900496, -0.45234416982, -0.511638969356, -0.341056126014,
        0.64598067771}},
      {CALL_OF(std::get<1>(linalg_qr(o.W, "complete"))),
       {2, 2, 3},
       {-0.427379880234, 0.442520443295, 0.977530117665, 0, -0.783326909627, -0.973847630878,
        1.24010128554, 0.31184253981, -0.852412422991, 0, 0.269960336888, 0.335620072894}},
      {CALL_OF(std::get<1>(linalg_qr(o.Tr, "r"))),
       {3, 3},
       {-1.75456636075, -1.57728831371, 0.0909942444722, 0, -0.539210440011, -0.0404331169442, 0, 0,
        -1.77504728521}},
      {CALL_OF(std::get<1>(qr(o.Tr, false))),
       {4, 3},
       {-1.75456636075, -1.57728831371, 0.0909942444722, 0, -0.539210440011, -0.0404331169442, 0, 0,
        -1.77504728521, 0, 0, 0}},
      {CALL_OF(std::get<0>(linalg_eigh(o.A))),
       {2, 3},
       {0.647319264065, 1.29067287231, 3.76572937591, 0.652584966447, 1.3022814079, 3.76290877625}},
      {CALL_OF(std::get<0>(linalg_eigh(o.A, "U"))),
       {2, 3},
       {0.415334065089, 2.33765633603, 2.95073111116, 0.411200118738, 2.34411495487,
        2.96246007699}},
      {CALL_OF(linalg_eigvalsh(o.S)),
       {2, 3},
       {1.9906314962, 4.83251062311, 11.4816229041, 1.9958601997, 4.87911636208, 11.4857317528}},
      {CALL_OF(std::get<1>(linalg_svd(o.Tr))), {3}, {2.39074425632, 1.77348932653, 0.396073984513}},
      {CALL_OF(linalg_svdvals(o.W)),
       {2, 2},
       {1.65879676104, 0.380021837222, 1.54281475575, 0.408590202006}},
      {CALL_OF(std::get<1>(svd(o.Tr, true, false))),
       {3},
       {2.39074425632, 1.77348932653, 0.396073984513}},
      {CALL_OF(std::get<2>(svd(o.W, true, false))),
       {2, 3, 3},
       {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
      {CALL_OF(linalg_vector_norm(o.A)), {}, {5.53764149599}},
      {CALL_OF(linalg_vector_norm(o.A, 3, {0, -1})),
       {3},
       {2.65316148248, 2.98373048918, 2.03544406602}},
      {CALL_OF(linalg_vector_norm(o.A, -std::numeric_limits<double>::infinity(), 1, true)),
       {2, 1, 3},
       {0.863209366649, 0.644217687238, 0.35078322769, 0.854598908088, 0.656986598719,
        0.366479129252}},
      {CALL_OF(linalg_vector_norm(o.A[0][0][1], 3)), {}, {0.644217687238}},
      {CALL_OF(linalg_vector_norm(o.A[0][0][1], -2, IntArrayRef{-1})), {}, {0.644217687238}},
      {CALL_OF(linalg_matrix_norm(o.A)), {2}, {3.91213049673, 3.91927395248}},
      {CALL_OF(linalg_matrix_norm(o.A, "nuc", {0, 2}, true)),
       {1, 3, 1},
       {3.30220430565, 3.5573620158, 2.6984168139}},
      {CALL_OF(linalg_matrix_norm(o.A, 1)), {2}, {3.96165845002, 3.95526269022}},
      {CALL_OF(linalg_matrix_norm(o.A, -1, {-1, 0})),
       {3},
       {3.62966741723, 3.54017639969, 3.22276174717}},
      {CALL_OF(linalg_matrix_norm(o.A, std::numeric_limits<double>::infinity())),
       {2},
       {3.62966741723, 3.66196873308}},
      {CALL_OF(linalg_matrix_norm(o.A, -2)), {2}, {0.9953047253, 0.997927953163}},
      {CALL_OF(linalg_matrix_norm(o.A, 2, {0, 1}, true)),
       {1, 1, 3},
       {3.32812361589, 3.68793959538, 2.44700277226}},
      {CALL_OF(linalg_norm(o.A)), {}, {5.53764149599}},
      {CALL_OF(linalg_norm(o.Tr, 2)), {}, {2.39074425632}},
      {CALL_OF(linalg_norm(o.v, 2)), {}, {1.20329422571}},
      {CALL_OF(linalg_norm(o.A, 1.5, 1)),
       {2, 3},
       {2.7030670968, 2.94692924349, 1.98058081318, 2.71730948878, 2.93691102797, 2.00007157875}},
      {CALL_OF(linalg_norm(o.A, "nuc", {1, 2})), {2}, {6.19051809346, 6.20564316358}},
      {CALL_OF(linalg_cond(o.A)), {2}, {3.25280627895, 3.24489152965}},
      {CALL_OF(linalg_cond(o.Tr, -2)), {}, {0.165669742159}},
      {CALL_OF(linalg_cond(o.A, 1)), {2}, {5.14532519945, 5.11568185385}},
      {CALL_OF(linalg_cond(o.A, "fro")), {2}, {4.57198648805, 4.56610615685}},
      {CALL_OF(linalg_matrix_rank(o.rank1)), {}, {1}},
      {CALL_OF(linalg_matrix_rank(o.S, 3.0)), {2}, {2, 2}},
      {CALL_OF(linalg_matrix_rank(o.S, std::nullopt, 0.5, true)), {2}, {1, 1}},
      {CALL_OF(linalg_matrix_rank(o.S, o.two)), {2}, {3, 1}},
      {CALL_OF(linalg_vecdot(o.A, o.v, 1)),
       {2, 3},
       {0, 1.77952117014, 1.6197415858, 0, 1.77965842244, 1.61986458071}},
      {CALL_OF(linalg_vecdot(o.A, o.A)),
       {2, 3},
       {5.38612759888, 6.32034894487, 3.59828847971, 5.47564615853, 6.24286346013, 3.64219869595}},
  };
}

}  // namespace

TEST_CASE("linear algebra has PyTorch's values") {
  for_each_device([](Device d) {
    const Inputs o(d);
    for (const Expected& row : values()) {
      INFO(std::string(row.text));
      check_values(row.f(o), row.sizes, row.values, 1e-10);  // condition numbers of up to 20
    }
  });
}

namespace {

double epsilon(DType t) {
  return t == kFloat64 ? std::numeric_limits<double>::epsilon()
                       : static_cast<double>(std::numeric_limits<float>::epsilon());
}
// Factors are those of a matrix within p(n) epsilon ||A||, p(n) about n in practice; 8 for the
// constant.
void check_near(const Tensor& got, const Tensor& want, int64_t n) {
  REQUIRE(got.sizes() == want.sizes());
  const double size = std::max(1.0, want.abs().max().item<double>());
  const double bound = 8 * static_cast<double>(n) * epsilon(want.dtype()) * size;
  CHECK((got - want).abs().max().item<double>() <= bound);
}

}  // namespace

TEST_CASE("factors of large matrices make the matrix again") {
  manual_seed(5);
  for (const DType dtype : {kFloat32, kFloat64}) {
    for (const int64_t m : {256, 200}) {
      const int64_t n = 256;
      INFO(name(dtype), " of ", m, " rows");
      const TensorOptions options(dtype);
      const Tensor x = randn({m, n}, options), one = eye(m, options);
      const auto [p, l, u] = linalg_lu(x);
      check_near(matmul(matmul(p, l), u), x, n);
      const auto [q, r] = linalg_qr(x);
      check_near(matmul(q, r), x, n);
      check_near(matmul(mT(q), q), one, n);
      for (const bool full : {false, true}) {
        const auto [left, s, right] = linalg_svd(x, full);
        check_near(matmul(left * s, right.narrow(0, 0, m)), x, n);
        check_near(matmul(mT(left), left), one, n);
        check_near(matmul(right, mT(right)), eye(full ? n : m, options), n);
      }
      if (m != n) continue;
      const Tensor symmetric = x + mT(x), positive = matmul(x, mT(x)) / 256 + one;
      const auto [values, v] = linalg_eigh(symmetric);
      check_near(matmul(v * values, mT(v)), symmetric, n);
      check_near(linalg_eigvalsh(symmetric, "U"), values, n);
      const Tensor lower = linalg_cholesky(positive);
      check_near(matmul(lower, mT(lower)), positive, n);
      check_near(mT(linalg_cholesky(positive, true)), lower, n);
      check_near(matmul(linalg_inv(positive), positive), one, n);  // of condition 5
      check_near(matmul(positive, linalg_solve(positive, x)), x, n);
      check_near(std::get<1>(linalg_slogdet(positive)) / 256,
                 log(linalg_eigvalsh(positive)).sum() / 256, n);
    }
  }
}

TEST_CASE("batches of any dims broadcast, and strided operands are read as they lie") {
  for_each_device([](Device d) {
    const Inputs o(d);
    const Tensor a = o.A.unsqueeze(1), b = o.B.unsqueeze(0);  // [2,1,3,3], [1,2,3,2]
    const Tensor x = linalg_solve(a, b);
    REQUIRE(x.sizes() == IntArrayRef{2, 2, 3, 2});
    CHECK(x[1][0].allclose(linalg_solve(o.A[1], o.B[0]), 1e-12, 1e-12));
    CHECK(matmul(mT(o.A), linalg_solve(mT(o.A), o.B)).allclose(o.B, 1e-12, 1e-12));
    CHECK(linalg_solve_triangular(mT(o.A), o.t, true)
              .allclose(linalg_solve_triangular(mT(o.A).contiguous(), o.t, true), 1e-12, 1e-12));
    CHECK(linalg_inv(a.expand({2, 4, 3, 3}))[1][2].allclose(linalg_inv(o.A[1]), 1e-12, 1e-12));
    CHECK(linalg_det(a).sizes() == IntArrayRef{2, 1});
    const auto [u, s, vh] = linalg_svd(o.W.transpose(0, 1), false);
    CHECK(matmul(u * s.unsqueeze(-2), vh).allclose(o.W.transpose(0, 1), 1e-12, 1e-12));
  });
}

TEST_CASE("singular and indefinite matrices are typed errors that name the matrix") {
  for_each_device([](Device d) {
    const Inputs o(d);
    const Tensor batch = stack({o.S[0], o.S[1], o.S[0]});
    batch[1].fill_(1);
    CHECK_THROWS_WITH_AS(linalg_inv(batch),
                         "linalg_inv: expected invertible matrices, got a 0 as number 2 of U's "
                         "diagonal in matrix 1 of the batch",
                         LinAlgError);
    CHECK_THROWS_WITH_AS(linalg_solve(batch[1], o.v),
                         "linalg_solve: expected invertible matrices, got a 0 as number 2 of U's "
                         "diagonal",
                         LinAlgError);
    CHECK_THROWS_WITH_AS(linalg_cholesky(batch - 0.5 * eye(3, f64(d))),
                         "linalg_cholesky: expected positive definite matrices, got a leading "
                         "minor of order 2 that is not positive in matrix 1 of the batch",
                         LinAlgError);
    CHECK_THROWS_AS(o.rank1.mul(0).inverse(), LinAlgError);
    CHECK_THROWS_AS(linalg_matrix_power(batch[1], -1), LinAlgError);
    CHECK_THROWS_AS(linalg_svd(batch * NAN), LinAlgError);
    CHECK(isnan(linalg_eigvalsh(batch * NAN)).all().item<bool>());  // as PyTorch's
    const auto info = [](const auto& t) { return std::get<1>(t).to(kFloat64); };
    check_values(info(linalg_inv_ex(batch)), {3}, {0, 2, 0});
    check_values(info(linalg_solve_ex(batch, o.v)), {3}, {0, 2, 0});
    check_values(info(linalg_cholesky_ex(batch[1] - 3)), {}, {1});
    check_values(std::get<2>(linalg_lu_factor_ex(batch)).to(kFloat64), {3}, {0, 2, 0});
    CHECK_THROWS_AS(linalg_inv_ex(batch, true), LinAlgError);
    CHECK_THROWS_AS(linalg_solve_ex(batch, o.v, true, true), LinAlgError);
    CHECK_THROWS_AS(linalg_cholesky_ex(batch * -1, false, true), LinAlgError);
    CHECK_THROWS_AS(linalg_lu_factor_ex(batch, true, true), LinAlgError);
    const auto solve_by_no_pivots = [&] {
      const Tensor x = linalg_lu_solve(o.LU, o.piv + 3, o.B);
      synchronize(d);  // some throw there
    };
    CHECK_THROWS_AS(solve_by_no_pivots(), IndexError);
    CHECK_THROWS_AS(lu_unpack(o.LU, o.piv - 3), IndexError);
    // L.cond of singular matrices
    check_values(linalg_cond(batch[1], 1), {}, {INFINITY});
  });
}

TEST_CASE("devices without kernels of their own have the host's") {
  const Inputs o("reference");
  const auto batch = [](const Tensor& x) { return x.dim() == 2 ? x.unsqueeze(0) : x; };
  const Tensor matrices = unwritten({2, 3, 3}), sides = unwritten({2, 3, 2});
  const Tensor ints = unwritten({2, 3}).to(kInt32), info = unwritten({2}).to(kInt32);
  const Tensor row = unwritten({2, 3}), none;
  check_composite(kernels::lu_factor, {matrices, ints, info}, {o.A},
                  [](auto&& f, auto& y, const auto& x) { f(y[0], y[1], y[2], x[0]); });
  check_composite(kernels::lu_solve, {sides}, {o.LU, o.piv, o.B},
                  [](auto&& f, auto& y, const auto& x) { f(y[0], x[0], x[1], x[2], true); });
  check_composite(kernels::cholesky, {matrices, info}, {o.S},
                  [](auto&& f, auto& y, const auto& x) { f(y[0], y[1], x[0], true); });
  check_composite(kernels::qr, {unwritten({1, 4, 3}), unwritten({1, 3, 3})}, {batch(o.Tr)},
                  [](auto&& f, auto& y, const auto& x) { f(y[0], y[1], x[0]); });
  check_composite(kernels::qr, {none, unwritten({1, 3, 3})}, {batch(o.Tr)},
                  [](auto&& f, auto& y, const auto& x) { f(y[0], y[1], x[0]); });
  check_composite(kernels::eigh, {row, none, info}, {o.S},
                  [](auto&& f, auto& y, const auto& x) { f(y[0], y[1], y[2], x[0], false); });
  check_composite(kernels::svd, {none, row, none, info}, {o.S},
                  [](auto&& f, auto& y, const auto& x) { f(y[0], y[1], y[2], y[3], x[0]); });
  check_composite(kernels::triangular_solve, {sides}, {o.A, o.B},
                  [](auto&& f, auto& y, const auto& x) {
                    f(y[0], x[0], x[1], TriangularParams{.upper = false});
                  });
}

TEST_CASE("child: linear algebra where there is no LAPACK" * doctest::skip()) {
  const Inputs o("cpu");
  const uint64_t before = reference::runs();
  CHECK(matmul(linalg_inv(o.A), o.A).allclose(eye(3, f64("cpu")), 1e-12, 1e-12));
  CHECK(linalg_solve_triangular(o.C, matmul(o.C, o.B), false).allclose(o.B, 1e-12, 1e-12));
  const auto [q, r] = linalg_qr(o.Tr);
  CHECK(matmul(q, r).allclose(o.Tr, 1e-12, 1e-12));
  const auto [values, v] = linalg_eigh(o.S);
  CHECK(matmul(v * values.unsqueeze(-2), mT(v)).allclose(o.S, 1e-12, 1e-12));
  const auto [left, s, right] = linalg_svd(o.W, false);
  CHECK(matmul(left * s.unsqueeze(-2), right).allclose(o.W, 1e-12, 1e-12));
  CHECK(linalg_cholesky(o.S).allclose(o.C));
  CHECK(reference::runs() == before + 7);
}

TEST_CASE("where there is no LAPACK the reference's loops serve the cpu") {
  const ChildResult result =
      run_child("child: linear algebra where there is no LAPACK", "AMBIT_LAPACK=libnone.so");
  INFO(result.output);
  CHECK(result.exit_code == 0);
  CHECK(result.output.find("1 passed") != std::string::npos);
}

TEST_CASE("child: linear algebra in a fork" * doctest::skip()) {
  const Tensor x = eye(400) * 2 + 0.001;  // of a size that LAPACK shares among threads
  const Tensor expected = linalg_inv(x);
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    _exit(linalg_inv(x).allclose(expected) ? 7 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 7);
}

TEST_CASE("a forked child has linear algebra, too") {
  const ChildResult result = run_child("child: linear algebra in a fork");
  INFO(result.output);
  CHECK(result.exit_code == 0);
  CHECK(result.output.find("1 passed") != std::string::npos);
}

TEST_CASE("matrices without elements have PyTorch's results") {
  for_each_device([](Device d) {
    const Tensor none = zeros({2, 0, 0}, f64(d)), wide = zeros({2, 0, 3}, f64(d));
    const Tensor tall = mT(wide), no_batch = zeros({0, 3, 3}, f64(d));
    const Tensor identities = eye(3, f64(d)).expand({2, 3, 3});
    CHECK(linalg_inv(none).sizes() == none.sizes());
    CHECK(linalg_inv(no_batch).sizes() == no_batch.sizes());
    check_values(linalg_det(none), {2}, {1, 1});
    check_values(std::get<0>(linalg_slogdet(none)), {2}, {1, 1});
    check_values(std::get<1>(linalg_slogdet(none)), {2}, {0, 0});
    CHECK(linalg_det(no_batch).sizes() == IntArrayRef{0});
    CHECK(linalg_solve(none, zeros({2, 0, 4}, f64(d))).sizes() == IntArrayRef{2, 0, 4});
    CHECK(linalg_solve(no_batch, zeros({3, 2}, f64(d))).sizes() == IntArrayRef{0, 3, 2});
    CHECK(std::get<2>(linalg_svd(wide)).equal(identities));
    CHECK(std::get<0>(linalg_svd(tall)).equal(identities));
    CHECK(std::get<0>(linalg_svd(tall, false)).sizes() == IntArrayRef{2, 3, 0});
    CHECK(std::get<0>(linalg_qr(tall, "complete")).equal(identities));
    CHECK(std::get<1>(linalg_qr(wide)).sizes() == IntArrayRef{2, 0, 3});
    CHECK(std::get<1>(linalg_eigh(none)).sizes() == none.sizes());
    CHECK(linalg_cholesky(none).sizes() == none.sizes());
    CHECK(linalg_pinv(wide).sizes() == tall.sizes());
    CHECK(linalg_matrix_rank(tall).equal(zeros({2}, TensorOptions(kInt64).device(d))));
    check_values(linalg_matrix_norm(wide), {2}, {0, 0});
    check_values(linalg_matrix_norm(wide, 1), {2}, {0, 0});
    check_values(linalg_cond(none), {2}, {0, 0});
    const Tensor x = none.detach().requires_grad_();
    linalg_det(x).sum().backward();
    CHECK(x.grad().sizes() == none.sizes());
  });
}

namespace {

struct Differentiable {
  const char* text;
  std::vector<Dims> sizes;
  Tensor (*f)(const std::vector<Tensor>&);
  bool twice = true;
};

// Away from what has no derivative: eigenvalues apart, matrices invertible.
Tensor apart(const Tensor& x) {
  return x + eye(x.size(-2), x.size(-1), x.options()) * arange(2, x.size(-1) + 2, 1, x.options());
}
Tensor symmetric(const Tensor& x) { return apart(x + mT(x)); }
Tensor gram(const Tensor& x) { return matmul(x, mT(x)) + eye(x.size(-1), x.options()); }
#define OF(...) [](const std::vector<Tensor>& in) -> Tensor { return __VA_ARGS__; }

template <class... T>
Tensor joined(const std::tuple<T...>& parts) {
  return std::apply([](const auto&... t) { return cat({t.reshape({-1})...}); }, parts);
}

std::vector<Differentiable> differentiable() {
  const Dims a{2, 3, 3}, b{2, 3, 2}, wide{2, 2, 3};
  return {
      {"inv", {a}, OF(linalg_inv(apart(in[0])))},
      {"inv_ex", {a}, OF(std::get<0>(linalg_inv_ex(apart(in[0]))))},
      {"solve", {a, b}, OF(linalg_solve(apart(in[0]), in[1]))},
      {"solve, batches", {{3, 3}, b}, OF(linalg_solve(apart(in[0]), in[1]))},
      {"solve, vector", {a, {3}}, OF(linalg_solve(apart(in[0]), in[1]))},
      {"solve, right", {a, wide}, OF(linalg_solve(apart(in[0]), in[1], false))},
      {"triangle", {{3, 3}, b}, OF(linalg_solve_triangular(apart(in[0]), in[1], true))},
      {"unit triangle", {a, wide}, OF(linalg_solve_triangular(in[0], in[1], false, false, true))},
      {"triangular_solve", {b, a}, OF(joined(triangular_solve(in[0], apart(in[1]), true, true)))},
      {"det", {a}, OF(linalg_det(apart(in[0])))},
      {"slogdet", {a}, OF(std::get<1>(linalg_slogdet(apart(in[0]))))},
      {"logdet", {a}, OF(logdet(gram(in[0])))},
      {"lu_factor", {a}, OF(std::get<0>(linalg_lu_factor(apart(in[0]))))},
      {"lu_factor, tall", {b}, OF(std::get<0>(linalg_lu_factor(apart(in[0]))))},
      {"lu_factor, wide", {wide}, OF(std::get<0>(linalg_lu_factor(apart(in[0]))))},
      {"lu", {wide}, OF(joined(linalg_lu(apart(in[0]))))},
      {"lu_solve", {a, b}, OF([&] {
         const auto [lu, pivots] = linalg_lu_factor(apart(in[0]));
         return linalg_lu_solve(lu, pivots, in[1]) + linalg_lu_solve(lu, pivots, in[1], true, true);
       }())},
      {"lu_solve, b", {wide}, OF([&] {
         const auto [lu, pivots] = linalg_lu_factor(eye(3, in[0].options()) + 0.5);
         return linalg_lu_solve(lu, pivots, in[0], false);
       }())},
      {"cholesky", {a}, OF(linalg_cholesky(gram(in[0])))},
      {"cholesky, upper", {a}, OF(linalg_cholesky(gram(in[0]), true))},
      {"cholesky_inverse", {a}, OF(cholesky_inverse(apart(in[0])))},
      {"cholesky_solve", {b, a}, OF(cholesky_solve(in[0], apart(in[1]), true))},
      {"qr", {a}, OF(joined(linalg_qr(apart(in[0]))))},
      {"qr, tall", {b}, OF(joined(linalg_qr(apart(in[0]))))},
      {"qr, wide", {wide}, OF(joined(linalg_qr(apart(in[0]))))},
      {"qr, q of wide", {wide}, OF(std::get<0>(linalg_qr(apart(in[0]))))},
      {"qr, r of tall", {b}, OF(std::get<1>(linalg_qr(apart(in[0]))))},
      {"qr, complete", {wide}, OF(joined(linalg_qr(apart(in[0]), "complete")))},
      {"eigh", {a}, OF(joined(linalg_eigh(symmetric(in[0]))))},
      {"eigvalsh", {a}, OF(linalg_eigvalsh(symmetric(in[0])))},
      {"svd", {a}, OF(joined(linalg_svd(apart(in[0]), false)))},
      {"svd, tall", {b}, OF(joined(linalg_svd(apart(in[0]), false)))},
      {"svd, wide", {wide}, OF(joined(linalg_svd(apart(in[0]), false)))},
      {"svd, u of tall", {b}, OF(std::get<0>(linalg_svd(apart(in[0]), false)))},
      {"svd, v of wide", {wide}, OF(std::get<2>(svd(apart(in[0]))))},
      {"svdvals", {wide}, OF(linalg_svdvals(apart(in[0])))},
      {"s of full", {wide}, OF(std::get<1>(linalg_svd(apart(in[0])))), false},
      {"pinv", {b}, OF(linalg_pinv(apart(in[0])))},
      {"pinv, wide", {wide}, OF(linalg_pinv(apart(in[0])))},
      {"pinv, hermitian", {a}, OF(linalg_pinv(symmetric(in[0]), 1e-9, true))},
      {"lstsq", {b, b}, OF(joined(linalg_lstsq(apart(in[0]), in[1])))},
      {"lstsq, qr", {b, b}, OF(joined(linalg_lstsq(apart(in[0]), in[1], {}, "gels")))},
      {"lstsq, wide",
       {wide, {2, 2}},
       OF(std::get<0>(linalg_lstsq(apart(in[0]), in[1], {}, "gels")))},
      {"matrix_power", {a}, OF(linalg_matrix_power(apart(in[0]), -3))},
      {"tensorinv",
       {{6, 2, 3}},
       OF(linalg_tensorinv(in[0] + 3 * eye(6, in[0].options()).view({6, 2, 3}), 1))},
      {"nuc", {b}, OF(linalg_matrix_norm(in[0], "nuc"))},
      {"2", {b}, OF(linalg_matrix_norm(in[0], 2))},
      {"1", {b}, OF(linalg_matrix_norm(in[0], 1, {0, 1}, true))},
      {"cond", {a}, OF(linalg_cond(apart(in[0])))},
      {"cond, fro", {a}, OF(linalg_cond(apart(in[0]), "fro"))},
      {"vecdot", {b, {3, 1}}, OF(linalg_vecdot(in[0], in[1], 1))},
  };
}

}  // namespace

TEST_CASE("linear algebra has right first and second gradients") {
  for (const Differentiable& row : differentiable()) {
    INFO(std::string(row.text));
    std::vector<Tensor> in;
    for (const Dims& sizes : row.sizes) in.push_back(wave("cpu", sizes, 0.6));
    gradcheck(row.f, in);
    if (row.twice) gradgradcheck(row.f, in);
  }
}

TEST_CASE("the determinant has its gradient where the matrix is singular, too") {
  for_each_device([](Device d) {
    // The transposed adjugate: of rank 2, 1 and 0 beside an invertible one.
    const Tensor x = tensor({{{1., 2., 3.}, {4., 5., 6.}, {5., 7., 9.}},
                             {{1., 2., 3.}, {2., 4., 6.}, {3., 6., 9.}},
                             {{0., 0., 0.}, {0., 0., 0.}, {0., 0., 0.}},
                             {{2., 0., 0.}, {0., 3., 0.}, {1., 0., 4.}}},
                            f64(d))
                         .requires_grad_();
    linalg_det(x).sum().backward();
    const std::vector<double> adjugates{3, -6, 3, 3, -6, 3, -3, 6, -3, 0,  0, 0,  0, 0, 0, 0, 0, 0,
                                        0, 0,  0, 0, 0,  0, 0,  0, 0,  12, 0, -3, 0, 8, 0, 0, 0, 6};
    check_values(x.grad(), {4, 3, 3}, adjugates, 1e-12);
    const Tensor diagonal = tensor({{0., 0.}, {0., 3.}}, f64(d)).requires_grad_();
    const Tensor g = autograd::grad({linalg_det(diagonal)}, {diagonal}, {}, true, true)[0];
    // det'' of [[a, b], [c, d]]: of the sum of the gradient's elements 1 for a, d and -1 for b, c.
    check_values(autograd::grad({g.sum()}, {diagonal})[0], {2, 2}, {1, -1, -1, 1}, 1e-12);
  });
}

TEST_CASE("factors without a gradient say so in backward, not before") {
  const Tensor tall = wave("cpu", {3, 2}).requires_grad_();
  const Tensor q = std::get<0>(linalg_qr(tall, "complete")), r = std::get<1>(linalg_qr(tall, "r"));
  CHECK_THROWS_AS(q.sum().backward(), AutogradError);
  CHECK_THROWS_AS(r.sum().backward(), AutogradError);
  const Tensor u = std::get<0>(linalg_svd(tall));
  CHECK_THROWS_AS(u.sum().backward(), AutogradError);
  CHECK_FALSE(tall.grad().defined());
}

TEST_CASE("methods and linalg:: are the functions") {
  const Inputs o("cpu");
  CHECK(o.A.inverse().equal(linalg::inv(o.A)));
  CHECK(o.A.det().equal(linalg::det(o.A)));
  CHECK(o.S.logdet().equal(logdet(o.S)));
  CHECK(std::get<1>(o.S.slogdet()).equal(std::get<1>(linalg::slogdet(o.S))));
  CHECK(o.S.cholesky(true).equal(linalg::cholesky(o.S, true)));
  CHECK(o.C.cholesky_inverse().equal(cholesky_inverse(o.C)));
  CHECK(o.B.cholesky_solve(o.C).equal(cholesky_solve(o.B, o.C)));
  CHECK(std::get<1>(o.Tr.qr(false)).equal(std::get<1>(linalg::qr(o.Tr, "complete"))));
  CHECK(std::get<2>(o.Tr.svd()).equal(mT(std::get<2>(linalg::svd(o.Tr, false)))));
  CHECK(o.W.pinverse().equal(linalg::pinv(o.W)));
  CHECK(o.B.lu_solve(o.LU, o.piv).equal(linalg::lu_solve(o.LU, o.piv, o.B)));
  CHECK(std::get<0>(lu_unpack(o.LU, o.piv)).equal(std::get<0>(linalg::lu(o.A))));
  CHECK(std::get<1>(lu_unpack(o.LU, o.piv)).equal(std::get<1>(linalg_lu(o.A))));
  CHECK(std::get<1>(lu_unpack(o.LU, o.piv, false)).numel() == 0);
  CHECK(std::get<1>(linalg::inv_ex(o.A)).dtype() == kInt32);
  CHECK(linalg::norm(o.Tr, 2, {0, 1}).equal(linalg::matrix_norm(o.Tr, 2)));
  CHECK(linalg::eigvalsh(o.S).allclose(std::get<0>(linalg::eigh(o.S)), 1e-14));
}

namespace {

Tensor m33() { return eye(3); }

std::vector<bad_input::BadCall> bad_calls() {
  using namespace bad_input;
#define SQUARE(f) SHAPE(f, m23()), SHAPE(f, ones({3})), DTYPE(f, i23()), VALUE(f, none())
#define ANY(f) SHAPE(f, ones({3})), DTYPE(f, i23()), VALUE(f, none())
  return {
      SQUARE(linalg_inv),
      SQUARE(linalg_inv_ex),
      SQUARE(inverse),
      SQUARE(linalg_det),
      SQUARE(det),
      SQUARE(linalg_slogdet),
      SQUARE(slogdet),
      SQUARE(logdet),
      SQUARE(linalg_cholesky),
      SQUARE(linalg_cholesky_ex),
      SQUARE(cholesky),
      SQUARE(cholesky_inverse),
      SQUARE(linalg_eigh),
      SQUARE(linalg_eigvalsh),
      ANY(linalg_lu_factor),
      ANY(linalg_lu_factor_ex),
      ANY(linalg_lu),
      ANY(linalg_qr),
      ANY(qr),
      ANY(linalg_svd),
      ANY(linalg_svdvals),
      ANY(svd),
      ANY(linalg_pinv),
      ANY(pinverse),
      ANY(linalg_matrix_rank),
      ANY(linalg_cond),
      ANY(linalg_matrix_norm),
      BAD(LinAlgError, linalg_inv, zeros({3, 3})),
      BAD(LinAlgError, linalg_cholesky, zeros({3, 3})),
      BAD(LinAlgError, linalg_svd, full({2, 3}, NAN)),
      BAD(NotImplementedError, linalg_lu_factor, m33(), false),
      VALUE(linalg_qr, m33(), "full"),
      VALUE(linalg_eigh, m33(), "X"),
      VALUE(linalg_lstsq, m33(), m33(), {}, "qr"),
      SHAPE(linalg_solve, m33(), m23()),
      SHAPE(linalg_solve, m33(), ones({3}), false),
      SHAPE(linalg_solve, m33(), ones({})),
      DTYPE(linalg_solve, m33(), ones({3}, kFloat64)),
      DEVICE(linalg_solve, m33(), there()),
      VALUE(linalg_solve, m33(), none()),
      SHAPE(linalg_solve_ex, m23(), m33()),
      SHAPE(linalg_solve_triangular, m33(), m23(), true),
      SHAPE(linalg_solve_triangular, m33(), ones({3}), true),
      SHAPE(triangular_solve, m23(), m33()),
      DTYPE(triangular_solve, i23(), m33()),
      SHAPE(linalg_lstsq, m33(), m23()),
      DTYPE(linalg_lstsq, m33(), i23()),
      SHAPE(linalg_tensorsolve, m23(), m33()),
      SHAPE(linalg_tensorinv, m23()),
      VALUE(linalg_tensorinv, m33(), 0),
      SHAPE(linalg_matrix_power, m23(), 2),
      DTYPE(linalg_matrix_power, ones({2, 2}, kInt64), -1),
      SHAPE(lu_unpack, m33(), ones({2}, kInt32)),
      DTYPE(lu_unpack, m33(), ones({3})),
      SHAPE(linalg_lu_solve, m33(), ones({3}, kInt32), m23()),
      INDEX(linalg_lu_solve, m33(), full({3}, 4, kInt32), m33()),
      SHAPE(lu_solve, m23(), m33(), ones({3}, kInt32)),
      SHAPE(cholesky_solve, m23(), m33()),
      DEVICE(cholesky_solve, m33(), there()),
      DEVICE(linalg_pinv, m33(), ones({3}, "reference")),
      SHAPE(linalg_vector_norm, zeros({0}), INFINITY),
      INDEX(linalg_vector_norm, m33(), 2, 2),
      DTYPE(linalg_vector_norm, i23()),
      SHAPE(linalg_matrix_norm, m33(), 1, {0, 0}),
      VALUE(linalg_matrix_norm, m33(), 3),
      VALUE(linalg_matrix_norm, m33(), "max"),
      SHAPE(linalg_norm, ones({2, 3, 4}), 2),
      DTYPE(linalg_norm, i23()),
      SHAPE(linalg_cond, m23(), 1),
      SHAPE(linalg_vecdot, m23(), ones({4})),
      DTYPE(linalg_vecdot, m23(), i23()),
  };
}
const CallTable<bad_input::BadCall> kBad(bad_calls);

std::vector<mismatch::Call> mixed_calls() {
  using namespace mismatch;
  const auto pivots = [] { return ones({2}, kInt32); };
#define IN_LINALG(name, operands, ...)                                                      \
  reported_as(Call{#name, Rule::strict, operands,                                           \
                   [](const Tensors& t) { static_cast<void>(linalg::name(__VA_ARGS__)); }}, \
              "linalg_" #name)
#define BOTH_NAMES(name, ...)                                \
  CALL(linalg_##name, strict, given(f(), f()), __VA_ARGS__), \
      IN_LINALG(name, given(f(), f()), __VA_ARGS__)
  return {
      BOTH_NAMES(solve, t[0], t[1]),
      BOTH_NAMES(solve_ex, t[0], t[1]),
      BOTH_NAMES(solve_triangular, t[0], t[1], true),
      BOTH_NAMES(lstsq, t[0], t[1]),
      BOTH_NAMES(tensorsolve, t[0], t[1]),
      BOTH_NAMES(vecdot, t[0], t[1]),
      BOTH(triangular_solve, strict, given(f(), f()), t[1]),
      BOTH(cholesky_solve, strict, given(f(), f()), t[1]),
      CALL(linalg_lu_solve, strict, given(f(), pivots(), f()), t[0], t[1], t[2]),
      IN_LINALG(lu_solve, given(f(), pivots(), f()), t[0], t[1], t[2]),
      BOTH(lu_solve, strict, given(f(), f(), pivots()), t[1], t[2]),
      CALL(lu_unpack, strict, given(f(), pivots()), t[0], t[1]),
      CALL(linalg_pinv, strict, given(f(), f({2})), t[0], t[1]),
      CALL(linalg_matrix_rank, strict, given(f(), f({2})), t[0], t[1]),
      reported_as(
          Call{"matrix_rank", Rule::strict, given(f(), f({2})),
               [](const Tensors& t) { static_cast<void>(linalg::matrix_rank(t[0], t[1])); }},
          "linalg_matrix_rank"),
  };
}
const CallTable<mismatch::Call> kMixed(mixed_calls);

// Symmetric, of condition 4 at most; and well-conditioned without symmetry.
Tensor positive_of(const agreement::Operands& o) {
  const profiler::RecordFunction scope(agreement::kOperand);
  const Tensor x = o.unit.narrow(0, 0, std::min<int64_t>(o.unit.size(0), 5));
  return matmul(x.t(), x) / 5 + eye(o.unit.size(1), o.unit.options());
}
Tensor square_of(const agreement::Operands& o) {
  const profiler::RecordFunction scope(agreement::kOperand);
  const int64_t n = o.unit.size(1);
  const Tensor scale = arange(n, o.unit.options()) / 5 + 1;
  return positive_of(o) * scale;
}
Tensor sides_of(const agreement::Operands& o) { return o.a.t(); }  // a column for each row of a

std::vector<agreement::Call> agreeing_calls() {
  using namespace agreement;
#define ALL_OF(...) std::get<0>(__VA_ARGS__), std::get<1>(__VA_ARGS__)
#define LINALG(f, ...) with_dims(RESULT(f, __VA_ARGS__))
  return {
      LINALG(linalg_inv, linalg_inv(square_of(o))),
      LINALG(linalg_inv_ex, ALL_OF(linalg_inv_ex(square_of(o)))),
      LINALG(inverse, inverse(positive_of(o))),
      LINALG(linalg_solve, linalg_solve(square_of(o), sides_of(o)),
             linalg_solve(square_of(o), o.a, false)),
      LINALG(linalg_solve_ex, ALL_OF(linalg_solve_ex(square_of(o), sides_of(o)))),
      LINALG(linalg_solve_triangular, linalg_solve_triangular(square_of(o), sides_of(o), true),
             linalg_solve_triangular(square_of(o).t(), o.a, true, false)),
      LINALG(triangular_solve, ALL_OF(triangular_solve(sides_of(o), square_of(o)))),
      LINALG(linalg_lstsq, ALL_OF(linalg_lstsq(square_of(o), sides_of(o))),
             std::get<2>(linalg_lstsq(square_of(o), sides_of(o))),
             std::get<3>(linalg_lstsq(square_of(o), sides_of(o), {}, "gelsd"))),
      LINALG(linalg_pinv, linalg_pinv(square_of(o)), linalg_pinv(positive_of(o), 1e-4, true)),
      LINALG(pinverse, pinverse(square_of(o))),
      LINALG(linalg_tensorsolve, linalg_tensorsolve(square_of(o), MADE(sides_of(o).sum(1)))),
      LINALG(linalg_tensorinv, linalg_tensorinv(square_of(o), 1)),
      LINALG(linalg_matrix_power, linalg_matrix_power(square_of(o), -2),
             linalg_matrix_power(square_of(o), 3)),
      LINALG(linalg_det, linalg_det(square_of(o))),
      LINALG(det, det(positive_of(o))),
      LINALG(linalg_slogdet, ALL_OF(linalg_slogdet(square_of(o)))),
      LINALG(slogdet, ALL_OF(slogdet(MADE(-square_of(o))))),
      LINALG(logdet, logdet(positive_of(o))),
      LINALG(linalg_lu_factor, ALL_OF(linalg_lu_factor(square_of(o)))),
      LINALG(linalg_lu_factor_ex, std::get<2>(linalg_lu_factor_ex(square_of(o)))),
      LINALG(linalg_lu, ALL_OF(linalg_lu(square_of(o)))),
      LINALG(lu_unpack, ALL_OF(std::apply([](const auto&... f) { return lu_unpack(f...); },
                                          MADE(linalg_lu_factor(square_of(o)))))),
      LINALG(linalg_lu_solve,
             std::apply([&](const auto&... f) { return linalg_lu_solve(f..., sides_of(o)); },
                        MADE(linalg_lu_factor(square_of(o))))),
      LINALG(lu_solve, std::apply([&](const auto&... f) { return lu_solve(sides_of(o), f...); },
                                  MADE(linalg_lu_factor(square_of(o))))),
      LINALG(linalg_cholesky, linalg_cholesky(positive_of(o))),
      LINALG(linalg_cholesky_ex, ALL_OF(linalg_cholesky_ex(positive_of(o), true))),
      LINALG(cholesky, cholesky(positive_of(o))),
      LINALG(cholesky_inverse, cholesky_inverse(positive_of(o))),
      LINALG(cholesky_solve, cholesky_solve(sides_of(o), square_of(o))),
      LINALG(linalg_qr, ALL_OF(linalg_qr(square_of(o)))),
      LINALG(qr, ALL_OF(qr(positive_of(o)))),
      LINALG(linalg_eigh, std::get<0>(linalg_eigh(square_of(o), "U"))),
      LINALG(linalg_eigvalsh, linalg_eigvalsh(positive_of(o))),
      LINALG(linalg_svd, std::get<1>(linalg_svd(o.unit))),
      LINALG(linalg_svdvals, linalg_svdvals(o.unit)),
      LINALG(svd, std::get<1>(svd(o.unit, true, false)), std::get<2>(svd(o.unit, true, false))),
      RESULT(linalg_vector_norm, linalg_vector_norm(o.a), linalg_vector_norm(o.a, 3)),
      LINALG(linalg_matrix_norm, linalg_matrix_norm(o.a), linalg_matrix_norm(o.a, "nuc"),
             linalg_matrix_norm(positive_of(o), 1)),
      RESULT(linalg_norm, linalg_norm(o.a)),
      LINALG(linalg_cond, linalg_cond(square_of(o)), linalg_cond(square_of(o), "fro")),
      LINALG(linalg_matrix_rank, linalg_matrix_rank(square_of(o)), linalg_matrix_rank(o.unit, 0.1)),
      LINALG(linalg_vecdot, linalg_vecdot(o.a, o.unit)),
  };
}
const CallTable<agreement::Call> kAgreeing(agreeing_calls);

}  // namespace
