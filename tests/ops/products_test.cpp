// Products and sums with them: PyTorch's values, gradients, in place, integers, errors.
#include <ambit/ambit.h>

#include <cmath>

#include "oracle_cases.h"
#include "tests/mismatch/mismatch_calls.h"
#include "tests/tables/agreement_calls.h"
#include "tests/tables/bad_calls.h"

using namespace ambit;
using namespace oracle;

namespace {

// a = wave(2, 3); b = wave(3, 2, k=0.3); v = wave(3, k=1.1) + 0.5; w = wave(2, k=0.9) + 0.3
// s = torch.tensor(1.5); p = wave(2, 2, 3, k=0.4); q = wave(2, 3, 2, k=0.8)
std::vector<Tensor> inputs(Device d) {
  return {wave(d, {2, 3}),
          wave(d, {3, 2}, 0.3),
          wave(d, {3}, 1.1) + 0.5,
          wave(d, {2}, 0.9) + 0.3,
          tensor(1.5, TensorOptions(kFloat64).device(d)),
          wave(d, {2, 2, 3}, 0.4),
          wave(d, {2, 3, 2}, 0.8)};
}

#define CASE(python, call, ...)             \
  Case {                                    \
    python,                                 \
        [](const std::vector<Tensor>& in) { \
          const Tensor& a = in[0];          \
          const Tensor& b = in[1];          \
          const Tensor& v = in[2];          \
          const Tensor& w = in[3];          \
          const Tensor& s = in[4];          \
          const Tensor& p = in[5];          \
          const Tensor& q = in[6];          \
          static_cast<void>(a);             \
          static_cast<void>(b);             \
          static_cast<void>(v);             \
          static_cast<void>(w);             \
          static_cast<void>(s);             \
          static_cast<void>(p);             \
          static_cast<void>(q);             \
          return listed(call);              \
        },                                  \
        __VA_ARGS__                         \
  }

const std::vector<Case> kProducts{
    CASE("torch.vdot(v, v + 1)", vdot(v, v + 1), {{{}, {7.09732452138}}}),
    CASE("torch.outer(w, v)", outer(w, v),
         {{{2, 3},
           {0.15, 0.417362208018, 0.392548921146, 0.541663454814, 1.50713237003, 1.41752936541}}}),
    CASE("torch.ger(v, v)", ger(v, v),
         {{{3, 3},
           {0.25, 0.695603680031, 0.65424820191, 0.695603680031, 1.93545791869, 1.82038982761,
            0.65424820191, 1.82038982761, 1.71216283881}}}),
    CASE("torch.inner(p, a)", inner(p, a),
         {{{2, 2, 2},
           {0.957788549933, -0.121185954842, 1.54000989852, 0.820423895006, 0.158280507466,
            0.715759875468, -1.42530155999, -0.301701612567}}}),
    CASE("torch.inner(v, a)", inner(v, a), {{{2}, {2.1856978158, 0.438644071403}}}),
    CASE("torch.inner(a, p)", inner(a, p),
         {{{2, 2, 2},
           {0.957788549933, 1.54000989852, 0.158280507466, -1.42530155999, -0.121185954842,
            0.820423895006, 0.715759875468, -0.301701612567}}}),
    CASE("torch.inner(s, a)", inner(s, a),
         {{{2, 3},
           {0, 0.966326530857, 1.47817459498, 1.29481404997, 0.502482225234, -0.526174841534}}}),
    CASE("torch.inner(v, v)", inner(v, v), {{{}, {3.8976207575}}}),
    CASE("torch.addmm(w, a, b)", addmm(w, a, b),
         {{{2, 2}, {1.58223033393, 2.57094112491, 0.162204858754, 1.25092344147}}}),
    CASE("torch.addmm(s, a, b, beta=0.5, alpha=2)", addmm(s, a, b, 0.5, 2),
         {{{2, 2}, {3.31446066786, 3.72522843057, 0.474409717507, 1.08519306368}}}),
    CASE("torch.addmm(w, a, b, beta=0, alpha=-1)", addmm(w, a, b, 0, -1),
         {{{2, 2}, {-1.28223033393, -1.48761421529, 0.137795141246, -0.167596531842}}}),
    CASE("torch.addmv(w, a, v)", addmv(w, a, v), {{{2}, {2.4856978158, 1.52197098103}}}),
    CASE("torch.addmv(s, a, v, beta=2, alpha=0.5)", addmv(s, a, v, 2, 0.5),
         {{{2}, {4.0928489079, 3.2193220357}}}),
    CASE("torch.addr(a, w, v)", addr(a, w, v),
         {{{2, 3},
           {0.15, 1.06157989526, 1.37799865113, 1.40487282146, 1.84212052018, 1.06674613772}}}),
    CASE(
        "torch.addr(v, w, v, beta=-1, alpha=3)", addr(v, w, v, -1, 3),
        {{{2, 3},
          {-0.05, -0.139120736006, -0.130849640382, 1.12499036444, 3.13018975002, 2.94409169241}}}),
    CASE("torch.addr(s, w, v, beta=0)", addr(s, w, v, 0),
         {{{2, 3},
           {0.15, 0.417362208018, 0.392548921146, 0.541663454814, 1.50713237003, 1.41752936541}}}),
    CASE("torch.baddbmm(w, p, q)", baddbmm(w, p, q),
         {{{2, 2, 2},
           {0.647377248173, 0.803467782071, 1.24606792949, 1.73894742841, -0.391582852691,
            0.888654828072, -0.288856884067, 0.20541706844}}}),
    CASE("torch.baddbmm(b[:2], p, q, beta=0.5, alpha=-2)",
         baddbmm(b.narrow(0, 0, 2), p, q, 0.5, -2),
         {{{2, 2, 2},
           {-0.694754496346, 0.707478358443, -1.60981462227, -0.91957758275, 1.38316570538,
            0.537104266441, 1.46003500483, 2.14748313719}}}),
    CASE("torch.addbmm(w, p, q)", addbmm(w, p, q),
         {{{2, 2}, {-0.0442056045183, 0.608795700516, 0.657211045419, 0.861037587221}}}),
    CASE("torch.addbmm(s, p, q, beta=2, alpha=3)", addbmm(s, p, q, 2, 3),
         {{{2, 2}, {1.96738318645, 1.57640637267, 4.07163313626, 2.33313203278}}}),
    CASE("torch.addbmm(w, p[:0], q[:0], beta=2)",
         addbmm(w, p.narrow(0, 0, 0), q.narrow(0, 0, 0), 2),
         {{{2, 2}, {0.6, 2.16665381925, 0.6, 2.16665381925}}}),
    CASE("torch.tensordot(a, b, dims=([1], [0]))", tensordot(a, b, {1}, {0}),
         {{{2, 2}, {1.28223033393, 1.48761421529, -0.137795141246, 0.167596531842}}}),
    CASE("torch.tensordot(p, q, dims=([2, 0], [1, 0]))", tensordot(p, q, {2, 0}, {1, 0}),
         {{{2, 2}, {-0.344205604518, -0.474531209112, 0.357211045419, -0.222289322406}}}),
    CASE("torch.tensordot(a, w, dims=([], []))", tensordot(a, w, {}, {}),
         {{{2, 3, 2},
           {0, 0, 0.193265306171, 0.697898356243, 0.295634918997, 1.06756421058, 0.258962809995,
            0.935137935533, 0.100496445047, 0.36290167747, -0.105234968307, -0.380012910002}}}),
    CASE("torch.tensordot(a, b[:1], dims=([1], [0]))", tensordot(a, b.narrow(0, 0, 1), {1}, {0}),
         {{{2, 2}, {0, 0.481599651928, 0, 0.250428045847}}}),
    CASE("torch.tensordot(p[:, :, :1], q, dims=([2], [1]))",
         tensordot(p.narrow(2, 0, 1), q, {2}, {1}),
         {{{2, 2, 2, 2},
           {0, 0, 0, 0, 0.877234684051, 0.592792494696, 0.102284618744, 0.696529976049,
            0.635745580524, 0.429605914497, 0.074127249531, 0.504786076093, -0.416500002097,
            -0.281450425722, -0.0485634513726, -0.330703678}}}),
    CASE("torch.tensordot(p, q, dims=([0, 1, 2], [2, 0, 1]))",
         tensordot(p, q, {0, 1, 2}, {2, 0, 1}), {{{}, {0.312120957486}}}),
    CASE("torch.kron(a, b)", kron(a, b),
         {{{6, 6},
           {0,
            0,
            0,
            0.190379344067,
            0,
            0.291220307861,
            0,
            0,
            0.363752668327,
            0.504633050071,
            0.556426772947,
            0.771929291585,
            0,
            0,
            0.600436064377,
            0.642603913301,
            0.918477665605,
            0.982981165214,
            0,
            0.255095810424,
            0,
            0.0989957673632,
            0,
            -0.10366353194,
            0.487404671842,
            0.676175125539,
            0.189148537662,
            0.262405232423,
            -0.198067109308,
            -0.274777941695,
            0.80454486909,
            0.861047015622,
            0.312222049281,
            0.334149000352,
            -0.326943678908,
            -0.349904511005}}}),
    CASE("torch.kron(v, a)", kron(v, a),
         {{{2, 9},
           {0, 0.322108843619, 0.492724864994, 0, 0.896240387967, 1.37096491733, 0, 0.842956527027,
            1.28945742783, 0.431604683324, 0.167494075078, -0.175391613845, 1.20090322416,
            0.46603798003, -0.488012208148, 1.129506352, 0.438330789801, -0.458998591952}}}),
    CASE("torch.kron(p, w)", kron(p, w),
         {{{2, 2, 6},
           {0,
            0,
            0.116825502693,
            0.421867369325,
            0.21520682727,
            0.777131157057,
            0.27961172579,
            1.00970302265,
            0.299872080912,
            1.08286498233,
            0.272789228048,
            0.985066371335,
            0.202638954165,
            0.731747439954,
            0.100496445047,
            0.36290167747,
            -0.0175122430283,
            -0.0632382804016,
            -0.132756132988,
            -0.479394304282,
            -0.227040748592,
            -0.81986450844,
            -0.285480622167,
            -1.0308961339}}}),
    CASE("torch.kron(s, s)", kron(s, s), {{{}, {2.25}}}),
    CASE("torch.cross(v, a[0])", cross(v, a[0]),
         {{{3}, {0.528008390303, -0.492724864994, 0.322108843619}}}),
    CASE("torch.cross(a, p[0])", cross(a, p[0]),
         {{{2, 3}, {0.0783812815245, 0, 0, 0.655237517742, -1.11185773481, 0.550619247519}}}),
    CASE("torch.cross(b, b * b + 1)", cross(b, b* b + 1),
         {{{3, 2},
           {-0.174047218016, -0.0468247092078, 0.932039085967, 0.495046707251, -0.564642473395,
            -0.374884851144}}}),
    CASE("torch.cross(p, v.view(1, 1, 3))", cross(p, v.view({1, 1, 3})),
         {{{2, 2, 3},
           {-0.488438572952, 0.35867804545, -0.194709171154, 0.042917192248, -0.764921078795,
            0.796872834742, 0.519541327775, -0.913028214378, 0.772215273155, 0.333602465533,
            0.103235371723, -0.237236450035}}}),
    CASE("torch.cross(q, p.transpose(1, 2), dim=-2)", cross(q, p.transpose(1, 2), -2),
         {{{2, 3, 2},
           {0.739782174611, 1.37067672902, 0, -1.35765955356, 0, 0.0874921270388, -0.338226748878,
            -0.312589194089, 0.610124812215, -0.859552457266, -0.412428036164, 0.828958421686}}}),
    CASE("torch.linalg.cross(a, v.view(1, 3))", linalg_cross(a, v.view({1, 3})),
         {{{2, 3},
           {-0.528008390303, 0.492724864994, -0.322108843619, 0.926342997949, -1.30489796585,
            1.03340914908}}}),
    CASE("torch.trace(a)", trace(a), {{{}, {0.334988150156}}}),
    CASE("torch.trace(b[:0])", trace(b.narrow(0, 0, 0)), {{{}, {0}}}),
    CASE("torch.chain_matmul(a, b, a, b)", chain_matmul({a, b, a, b}),
         {{{2, 2}, {1.43912861834, 2.15678305523, -0.199779097752, -0.17689741343}}}),
    CASE("torch.chain_matmul(a)", chain_matmul({a}),
         {{{2, 3},
           {0, 0.644217687238, 0.985449729988, 0.863209366649, 0.334988150156, -0.35078322769}}}),
    CASE("torch.linalg.multi_dot([w, a, b])", linalg_multi_dot({w, a, b}),
         {{{2}, {0.235391915651, 0.627846097491}}}),
    CASE("torch.linalg.multi_dot([w, a, v])", linalg_multi_dot({w, a, v}), {{{}, {1.13090427104}}}),
    CASE("torch.linalg.multi_dot([v, v])", linalg_multi_dot({v, v}), {{{}, {3.8976207575}}}),
    CASE("torch.linalg.multi_dot([a, b, a, v])", linalg_multi_dot({a, b, a, v}),
         {{{2}, {3.4551011963, -0.22766331417}}}),
    CASE("torch.linalg.multi_dot([a, b])", linalg_multi_dot({a, b}),
         {{{2, 2}, {1.28223033393, 1.48761421529, -0.137795141246, 0.167596531842}}}),
    CASE("torch.matrix_power(a @ b, 0)", matrix_power(matmul(a, b), 0), {{{2, 2}, {1, 0, 0, 1}}}),
    CASE("torch.matrix_power(a @ b, 1)", matrix_power(matmul(a, b), 1),
         {{{2, 2}, {1.28223033393, 1.48761421529, -0.137795141246, 0.167596531842}}}),
    CASE("torch.matrix_power(a @ b, 5)", matrix_power(matmul(a, b), 5),
         {{{2, 2}, {1.72800048197, 2.89625911633, -0.268275490998, -0.44209730111}}}),
    CASE("torch.matrix_power(p @ q, 3)", matrix_power(matmul(p, q), 3),
         {{{2, 2, 2},
           {-0.315614703958, -0.143705177831, 0.48579748402, -0.157334520622, -0.589971102402,
            -0.383658554552, -1.16051556635, -0.9571831983}}}),
    CASE("torch.matrix_power(a @ b + torch.eye(2), -2)",
         matrix_power(matmul(a, b) + eye(2, a.options()), -2),
         {{{2, 2}, {0.140651164603, -0.623177158675, 0.0577238263246, 0.607582925951}}}),
    CASE("torch.matrix_exp(a @ b)", matrix_exp(matmul(a, b)),
         {{{2, 2}, {3.34551130376, 3.1256060468, -0.289519501948, 1.00356934329}}}),
    CASE("torch.matrix_exp(p @ q)", matrix_exp(matmul(p, q)),
         {{{2, 2, 2},
           {1.21179478326, -0.443762184644, 1.50014464376, 1.70056464531, 0.52803909721,
            -0.0906529589524, -0.274213017674, 0.441272198202}}}),
    CASE("torch.matrix_exp(a @ b * 3)", matrix_exp(matmul(a, b) * 3),
         {{{2, 2}, {30.4814340175, 45.7967735819, -4.24207621809, -3.8329946405}}}),
    CASE("torch.matrix_exp(p[:0] @ q[:0])",
         matrix_exp(matmul(p.narrow(0, 0, 0), q.narrow(0, 0, 0))), {{{0, 2, 2}, {}}}),
    CASE("torch.linalg.matmul(a, v)", linalg_matmul(a, v), {{{2}, {2.1856978158, 0.438644071403}}}),
    CASE("torch.cdist(a, b.t())", cdist(a, b.t()),
         {{{2, 2}, {0.0958379442229, 0.326846533569, 1.56317133011, 1.53007606633}}}),
    CASE("torch.cdist(p, q.transpose(1, 2) + 0.45, p=1)", cdist(p, q.transpose(1, 2) + 0.45, 1),
         {{{2, 2, 2},
           {1.83588549506, 2.92755951535, 1.44971065622, 1.57730650458, 2.95092123413,
            2.85870086844, 3.81795618621, 4.24824343136}}}),
    CASE("torch.cdist(p, a + 0.45, p=3)", cdist(p, a + 0.45, 3),
         {{{2, 2, 2},
           {0.932752315527, 1.36846863229, 0.637031512404, 0.841959378691, 1.55810337809,
            0.707686052199, 2.74371195496, 2.17136050713}}}),
    CASE("torch.cdist(a, a + 1, p=float('inf'))", cdist(a, a + 1, INFINITY),
         {{{2, 2}, {1, 1.86320936665, 2.33623295768, 1}}}),
    CASE("torch.cdist(a, b.t(), compute_mode='use_mm_for_euclid_dist')", cdist(a, b.t(), 2, 1),
         {{{2, 2}, {0.0958379442229, 0.326846533569, 1.56317133011, 1.53007606633}}}),
    CASE("torch.cdist(p, b.t() + 1, compute_mode='use_mm_for_euclid_dist')",
         cdist(p, b.t() + 1, 2, 1),
         {{{2, 2, 2},
           {1.9638244669, 2.29349281495, 1.17043667724, 1.38944654442, 2.36201581823, 2.59012620496,
            3.97307919766, 4.26265365318}}}),
    CASE("torch.nn.functional.pdist(b)", pdist(b),
         {{{3}, {0.746174578916, 1.16681851607, 0.425262549639}}}),
    CASE("torch.nn.functional.pdist(b, 1)", pdist(b, 1),
         {{{3}, {1.05244917636, 1.63401386591, 0.581564689549}}}),
    CASE("torch.einsum('ij,jk->ik', a, b)", einsum("ij,jk->ik", {a, b}),
         {{{2, 2}, {1.28223033393, 1.48761421529, -0.137795141246, 0.167596531842}}}),
    CASE("torch.einsum('ij,jk', a, b)", einsum("ij,jk", {a, b}),
         {{{2, 2}, {1.28223033393, 1.48761421529, -0.137795141246, 0.167596531842}}}),
    CASE("torch.einsum('bij,bjk->bik', p, q)", einsum("bij,bjk->bik", {p, q}),
         {{{2, 2, 2},
           {0.347377248173, -0.279859127556, 0.946067929486, 0.655620518782, -0.691582852691,
            -0.194672081555, -0.588856884067, -0.877909841188}}}),
    CASE("torch.einsum('bij,bjk->kbi', p, q)", einsum("bij,bjk->kbi", {p, q}),
         {{{2, 2, 2},
           {0.347377248173, 0.946067929486, -0.691582852691, -0.588856884067, -0.279859127556,
            0.655620518782, -0.194672081555, -0.877909841188}}}),
    CASE("torch.einsum('ii->i', (a @ b))", einsum("ii->i", {matmul(a, b)}),
         {{{2}, {1.28223033393, 0.167596531842}}}),
    CASE("torch.einsum('ii', (a @ b))", einsum("ii", {matmul(a, b)}), {{{}, {1.44982686577}}}),
    CASE("torch.einsum('bhid,bhjd->bhij', p.unsqueeze(1), q.transpose(1, 2).unsqueeze(1))",
         einsum("bhid,bhjd->bhij", {p.unsqueeze(1), q.transpose(1, 2).unsqueeze(1)}),
         {{{2, 1, 2, 2},
           {0.347377248173, -0.279859127556, 0.946067929486, 0.655620518782, -0.691582852691,
            -0.194672081555, -0.588856884067, -0.877909841188}}}),
    CASE("torch.einsum('i,j->ij', w, v)", einsum("i,j->ij", {w, v}),
         {{{2, 3},
           {0.15, 0.417362208018, 0.392548921146, 0.541663454814, 1.50713237003, 1.41752936541}}}),
    CASE("torch.einsum('i,j->ji', w, v)", einsum("i,j->ji", {w, v}),
         {{{3, 2},
           {0.15, 0.541663454814, 0.417362208018, 1.50713237003, 0.392548921146, 1.41752936541}}}),
    CASE("torch.einsum('i,i', v, v)", einsum("i,i", {v, v}), {{{}, {3.8976207575}}}),
    CASE("torch.einsum('i,i->i', v, v)", einsum("i,i->i", {v, v}),
         {{{3}, {0.25, 1.93545791869, 1.71216283881}}}),
    CASE("torch.einsum('ij->ji', a)", einsum("ij->ji", {a}),
         {{{3, 2},
           {0, 0.863209366649, 0.644217687238, 0.334988150156, 0.985449729988, -0.35078322769}}}),
    CASE("torch.einsum('ij->', a)", einsum("ij->", {a}), {{{}, {2.47708170634}}}),
    CASE("torch.einsum('ij->j', a)", einsum("ij->j", {a}),
         {{{3}, {0.863209366649, 0.979205837394, 0.634666502299}}}),
    CASE("torch.einsum('...ij->...ji', p)", einsum("...ij->...ji", {p}),
         {{{2, 3, 2},
           {0, 0.932039085967, 0.389418342309, 0.999573603042, 0.7173560909, 0.909297426826,
            0.675463180551, -0.442520443295, 0.334988150156, -0.756802495308, -0.0583741434276,
            -0.95160207389}}}),
    CASE("torch.einsum('...ij,...jk', p, b)", einsum("...ij,...jk", {p, b}),
         {{{2, 2, 2},
           {0.888486051262, 1.02060097092, 1.41190245413, 1.96544890931, 0.134741554378,
            0.403790335716, -1.31425315997, -1.67281579065}}}),
    CASE("torch.einsum('bij,...', p, w)", einsum("bij,...", {p, w}),
         {{{2, 2, 2, 3},
           {0,
            0.116825502693,
            0.21520682727,
            0.27961172579,
            0.299872080912,
            0.272789228048,
            0.202638954165,
            0.100496445047,
            -0.0175122430283,
            -0.132756132988,
            -0.227040748592,
            -0.285480622167,
            0,
            0.421867369325,
            0.777131157057,
            1.00970302265,
            1.08286498233,
            0.985066371335,
            0.731747439954,
            0.36290167747,
            -0.0632382804016,
            -0.479394304282,
            -0.81986450844,
            -1.0308961339}}}),
    CASE("torch.einsum('i...,i...->...', v, b)", einsum("i...,i...->...", {v, b}),
         {{{2}, {2.005104557, 2.54274886814}}}),
    CASE("torch.einsum('ij,j->i', a, v)", einsum("ij,j->i", {a, v}),
         {{{2}, {2.1856978158, 0.438644071403}}}),
    CASE("torch.einsum('ij,ij->i', a, a)", einsum("ij,ij->i", {a, a}),
         {{{2}, {1.38612759888, 0.980396344244}}}),
    CASE("torch.einsum('ij,kj->', a, b.t())", einsum("ij,kj->", {a, b.t()}),
         {{{}, {2.79964593981}}}),
    CASE("torch.einsum('bn,anm,bm->ba', a, p.narrow(1, 0, 1).expand(2, 3, 3), a)",
         einsum("bn,anm,bm->ba", {a, p.narrow(1, 0, 1).expand({2, 3, 3}), a}),
         {{{2, 2}, {1.56087679242, 0.2579445858, -0.102694709773, 0.606545146047}}}),
    CASE("torch.einsum('i,ij,jk,k->', w, a, b, w)", einsum("i,ij,jk,k->", {w, a, b, w}),
         {{{}, {0.750780147212}}}),
    CASE("torch.einsum('ab,bc,cd->ad', a, b, a)", einsum("ab,bc,cd->ad", {a, b, a}),
         {{{2, 3},
           {1.28412252459, 1.32436859436, 0.741743420361, 0.144670896104, -0.0326272150319,
            -0.194580237124}}}),
    CASE("torch.einsum('iij->j', (p @ q))", einsum("iij->j", {matmul(p, q)}),
         {{{2}, {-0.241479635894, -1.15776896874}}}),
    CASE("torch.einsum('iji,j->i', (p @ q), w)", einsum("iji,j->i", {matmul(p, q), w}),
         {{{2}, {1.1291140208, -1.00946497965}}}),
    CASE("torch.einsum('ij,jk->ik', a[:, :1], b)", einsum("ij,jk->ik", {a.narrow(1, 0, 1), b}),
         {{{2, 2}, {0, 0, 1.29194954093, 1.79231795158}}}),
    CASE("torch.einsum('ij,jk->ik', a, b[:1])", einsum("ij,jk->ik", {a, b.narrow(0, 0, 1)}),
         {{{2, 2}, {0, 0.481599651928, 0, 0.250428045847}}}),
    CASE("torch.einsum('...,...', s, a)", einsum("...,...", {s, a}),
         {{{2, 3},
           {0, 0.966326530857, 1.47817459498, 1.29481404997, 0.502482225234, -0.526174841534}}}),
    CASE("torch.einsum(' i j , j ->  i', a, v)", einsum(" i j , j ->  i", {a, v}),
         {{{2}, {2.1856978158, 0.438644071403}}}),
    CASE("torch.einsum('', s)", einsum("", {s}), {{{}, {1.5}}}),
    CASE("torch.einsum(',', s, s)", einsum(",", {s, s}), {{{}, {2.25}}}),
    CASE("torch.einsum('Ab,bA->A', a, b)", einsum("Ab,bA->A", {a, b}),
         {{{2}, {1.28223033393, 0.167596531842}}}),
    CASE("torch.einsum('aB,Bc', a, b)", einsum("aB,Bc", {a, b}),
         {{{2, 2}, {1.28223033393, 1.48761421529, -0.137795141246, 0.167596531842}}}),
    CASE("torch.einsum('...a,...b->...ab', a, w)", einsum("...a,...b->...ab", {a, w}),
         {{{2, 3, 2},
           {0, 0, 0.193265306171, 0.697898356243, 0.295634918997, 1.06756421058, 0.258962809995,
            0.935137935533, 0.100496445047, 0.36290167747, -0.105234968307, -0.380012910002}}}),
    CASE("torch.einsum('i...->...', a)", einsum("i...->...", {a}),
         {{{3}, {0.863209366649, 0.979205837394, 0.634666502299}}}),
    CASE("torch.einsum('ij,k->ijk', a[:0], w)", einsum("ij,k->ijk", {a.narrow(0, 0, 0), w}),
         {{{0, 3, 2}, {}}}),
    CASE("torch.einsum('iii->i', (p @ q))", einsum("iii->i", {matmul(p, q)}),
         {{{2}, {0.347377248173, -0.877909841188}}}),
};

}  // namespace

TEST_CASE("products have PyTorch's values") { check_cases(kProducts, inputs); }

TEST_CASE("products have right first and second gradients") {
  check_gradients(kProducts, inputs(kCPU));
}

TEST_CASE("sums with a product go in place, recorded") {
  for_each_device([](Device d) {
    const std::vector<Tensor> in = inputs(d);
    const Tensor &a = in[0], &b = in[1], &v = in[2], &w = in[3], &p = in[5], &q = in[6];
    const Tensor square = wave(d, {2, 2}, 0.2);
    const auto check = [](const Tensor& self, auto&& beside, auto&& in_place) {
      const Tensor x = self.clone().requires_grad_(), y = self.clone().requires_grad_();
      const Tensor start = x * 1, expected = beside(y * 1);
      CHECK(&in_place(start) == &start);
      CHECK(start.allclose(expected, 1e-14));
      (start * start).sum().backward();
      (expected * expected).sum().backward();
      CHECK(x.grad().allclose(y.grad(), 1e-13, 1e-14));
    };
#define SUM(f, self, ...)                                      \
  check(                                                       \
      self, [&](const Tensor& t) { return t.f(__VA_ARGS__); }, \
      [&](const Tensor& t) -> Tensor& { return t.f##_(__VA_ARGS__); })
    SUM(addmm, square, a, b);
    SUM(addmm, square, a, b, 0.5, -2);
    SUM(addmm, square, a, b, 0, 2);
    SUM(addmv, w, a, v, 2, 0.5);
    SUM(addr, a, w, v, -1, 3);
    SUM(addr, a, w, v, 0);
    SUM(baddbmm, p.narrow(2, 0, 2), p, q, 0.5, 2);
    SUM(addbmm, square, p, q, 2, 3);
#undef SUM
    // A factor that self is a part of was read before self is written.
    const Tensor x = square.clone(), before = x.clone();
    x.addmm_(x, x.t());
    CHECK(x.allclose(before + before.mm(before.t()), 1e-14));
  });
}

TEST_CASE("where beta is 0, self is not read") {
  for_each_device([](Device d) {
    const Tensor nan = full({2, 2}, NAN, TensorOptions(kFloat64).device(d)).requires_grad_();
    const std::vector<Tensor> in = inputs(d);
    const Tensor &a = in[0], &b = in[1], &v = in[2], &w = in[3], &p = in[5], &q = in[6];
    const Tensor sum = addmm(nan, a, b, 0) + addbmm(nan, p, q, 0) + baddbmm(nan, p, q, 0)[0] +
                       addr(nan, w, w, 0) + addmv(nan[0], a, v, 0);
    CHECK(sum.isfinite().all().item<bool>());
    sum.sum().backward();
    CHECK(nan.grad().equal(zeros_like(nan)));
    const Tensor y = nan.detach().clone();
    CHECK(y.addmm_(a, b, 0).isfinite().all().item<bool>());
    check_values(addmv(full({2}, NAN, d), ones({2, 0}, d), ones(0, d), 0), {2}, {0, 0});
  });
}

TEST_CASE("products of integers and bool are PyTorch's") {
  for_each_device([](Device d) {
    const TensorOptions i64 = TensorOptions(kInt64).device(d);
    const Tensor n = arange(6, i64).view({2, 3}), k = arange(3, i64), yes = k > 0;
    check_values(einsum("ij,kj->ik", {n, n}), {2, 2}, {5, 14, 14, 50});
    check_values(einsum("ij,j->", {n.to(kInt32), k.to(kInt32)}), {}, {19});
    CHECK(einsum("ij,j->", {n.to(kInt32), k.to(kInt32)}).dtype() == kInt32);
    CHECK(einsum("ij->i", {n.to(kInt32)}).dtype() == kInt64);
    check_values(einsum("ij->i", {n > 2}), {2}, {0, 3});
    check_values(addbmm(ones({2, 2}, i64), n.view({1, 2, 3}), n.view({1, 3, 2}), 2, 3), {2, 2},
                 {32, 41, 86, 122});
    check_values(addmv(ones({2}, i64), n, k), {2}, {6, 15});
    check_values(addr(zeros({3, 3}, i64), k, k.to(kFloat32)), {3, 3}, {0, 0, 0, 0, 1, 2, 0, 2, 4});
    CHECK(addr(zeros({3, 3}, i64), k, k.to(kFloat32)).dtype() == kFloat32);
    check_values(addr(~yes, yes, yes), {3, 3}, {1, 0, 0, 1, 1, 1, 1, 1, 1});
    check_values(addr(~yes, yes, yes, false, true), {3, 3}, {0, 0, 0, 0, 1, 1, 0, 1, 1});
    const Tensor kept = (~yes).expand({3, 3}).clone();
    check_values(kept.addr_(yes, yes, true, false), {3, 3}, {1, 0, 0, 1, 0, 0, 1, 0, 0});
    check_values(outer(yes, yes), {3, 3}, {0, 0, 0, 0, 1, 1, 0, 1, 1});
    check_values(inner(n, n), {2, 2}, {5, 14, 14, 50});
    check_values(kron(k, yes), {9}, {0, 0, 0, 0, 1, 1, 0, 2, 2});
    check_values(cross(k, k + 1), {3}, {-1, 2, -1});
    check_values(matrix_power(n.mm(n.t()), 3), {2, 2}, {11885, 41594, 41594, 145580});
    CHECK(matrix_power(n.mm(n.t()), 0).dtype() == kInt64);
    CHECK(trace(n.to(kInt32)).dtype() == kInt64);
    check_values(tensordot(n, n, {0, 1}, {0, 1}), {}, {55});
  });
}

TEST_CASE("einsum takes any path, and names the result's dims as asked") {
  for_each_device([](Device d) {
    const Tensor a = wave(d, {2, 3}), b = wave(d, {3, 4}), c = wave(d, {4, 2}), e = wave(d, {5});
    const Tensor expected = einsum("ab,bc,ca,e->eca", {a, b, c, e});
    for (const std::vector<int64_t>& path : std::vector<std::vector<int64_t>>{
             {0, 1, 0, 2, 1, 0}, {3, 0, 2, 1, 0, 1}, {1, 2, 1, 2, 0, 1}}) {
      CHECK(einsum("ab,bc,ca,e->eca", {a, b, c, e}, path).allclose(expected, 1e-14, 1e-15));
    }
    const Tensor same = a.unsqueeze(1).unsqueeze(3) * e.view({5, 1, 1});
    CHECK(einsum("...a,e...b->...eab", {a.t(), wave(d, {5, 1, 2})}).sizes() ==
          IntArrayRef{3, 5, 2, 2});
    CHECK(einsum("ab,e->aeb", {a, e}).allclose(same.squeeze(), 1e-15));
    CHECK(einsum("ii->i", {b.narrow(1, 0, 3)}).storage().get() == b.storage().get());
    // Hundreds of dims would not fit the letters, but 20 do not fit five inline either.
    const Tensor many = ones(std::vector<int64_t>(20, 1), e.options());
    CHECK(einsum("...,a->...a", {many, e}).dim() == 21);
    CHECK(einsum("abcdefghijklmnopqrst,z->z", {many, e}).equal(e));
  });
}

TEST_CASE("chains are multiplied in the cheapest order") {
  // (a (b c)) takes 200,000 times fewer multiplications than ((a b) c), which would need 32 GiB.
  const Tensor a = ones({90000, 1}), b = ones({1, 90000}), c = ones({90000, 1});
  CHECK(chain_matmul({a, b, c}).sizes() == IntArrayRef{90000, 1});
  CHECK(linalg_multi_dot({a, b, c})[7].item<double>() == 90000);
  CHECK(linalg::multi_dot({b, a, ones(1)}).item<double>() == 90000);
}

TEST_CASE("matrix_exp holds for large, small and non-finite matrices, each for itself") {
  for_each_device([](Device d) {
    const TensorOptions f64 = TensorOptions(kFloat64).device(d);
    const Tensor turn = tensor({{0., -20.}, {20., 0.}}, f64), small = eye(2, f64) * 1e-9;
    const Tensor both = matrix_exp(stack({turn, small, full({2, 2}, NAN, f64)}));
    // Squared 7 times, an error of 1e-16 grows to about 1e-14.
    check_values(both[0], {2, 2}, {std::cos(20.), -std::sin(20.), std::sin(20.), std::cos(20.)},
                 1e-13);
    check_values(both[1], {2, 2}, {1 + 1e-9, 0, 0, 1 + 1e-9}, 1e-15);
    CHECK(both[2].isnan().all().item<bool>());
    CHECK(linalg::matrix_exp(zeros({0, 0}, d)).sizes() == IntArrayRef{0, 0});
    CHECK(matrix_exp(ones({3, 3}, d)).dtype() == kFloat32);
  });
}

TEST_CASE("cdist multiplies matrices for many points, and has no gradient between equal ones") {
  for_each_device([](Device d) {
    const Tensor x = wave(d, {30, 4}).requires_grad_(), y = wave(d, {3, 4}, 0.9);
    const Tensor fast = cdist(x, y), slow = cdist(x, y, 2, 2);
    CHECK(fast.allclose(slow, 1e-12, 1e-12));
    const Tensor g = autograd::grad({cdist(x, x).sum()}, {x})[0];
    CHECK(g.isfinite().all().item<bool>());
    // The distance of a point to itself may come out as the root of a rounding error, 1e-8; its
    // weight of 1e8 then leaves another one of 1e-8 in each of 30 terms.
    CHECK(g.allclose(autograd::grad({cdist(x, x, 2, 2).sum()}, {x})[0], 1e-6, 1e-6));
    check_values(cdist(x.detach(), x.detach(), 0)[0].narrow(0, 0, 2), {2}, {0, 4});
    CHECK(cdist(zeros({2, 0}, d), zeros({3, 0}, d)).equal(zeros({2, 3}, d)));
    CHECK(cdist(zeros({0, 4}, d), zeros({3, 4}, d)).sizes() == IntArrayRef{0, 3});
    CHECK(pdist(zeros({1, 4}, d)).sizes() == IntArrayRef{0});
  });
}

namespace {

std::vector<bad_input::BadCall> bad_calls() {
  using namespace bad_input;
#define SUM(f, self, a, b)                                                                    \
  VALUE(f, none(), a, b), VALUE(f, self, none(), b), DTYPE(f, self, a, (b).to(kFloat64)),     \
      DTYPE(f, (self).to(kInt64), (a).to(kInt64), (b).to(kInt64), 0.5),                       \
      DEVICE(f, self, a, (b).to("reference")), SHAPE(f, self, a, a), SHAPE(f, self, self, b), \
      SHAPE(f, m45(), a, b), VALUE(f##_, none(), a, b), SHAPE(f##_, ones({9, 9}), a, b),      \
      DTYPE(f##_, (self).to(kInt64), (a).to(kInt64), (b).to(kInt64), 1, 0.5),                 \
      DEVICE(f##_, self, a, (b).to("reference")),                                             \
      VALUE(f##_, ones(1).expand((self).sizes()), a, b)
  return {
      SUM(addmm, ones({2, 2}), m23(), ones({3, 2})),
      SUM(addmv, ones(2), m23(), ones(3)),
      SUM(baddbmm, ones({2, 2, 2}), ones({2, 2, 3}), ones({2, 3, 2})),
      SUM(addbmm, ones({2, 2}), ones({2, 2, 3}), ones({2, 3, 2})),
#undef SUM
      SHAPE(addr, m23(), m23(), ones(3)),
      SHAPE(addr, m45(), ones(2), ones(3)),
      DTYPE(addr, i23(), ones(2, kInt64), ones(3, kInt64), 0.5),
      DEVICE(addr, there(), ones(2), ones(3)),
      VALUE(addr, m23(), none(), ones(3)),
      VALUE(addr, none(), ones(2), ones(3)),
      SHAPE(addr_, ones(3), ones(2), ones(3)),
      DTYPE(addr_, i23(), ones(2), ones(3)),
      DEVICE(addr_, there(), ones(2), ones(3)),
      VALUE(addr_, none(), ones(2), ones(3)),
      VALUE(addr_, ones(3).expand({2, 3}), ones(2), ones(3)),
      SHAPE(vdot, m23(), m23()),
      SHAPE(vdot, ones(2), ones(3)),
      DTYPE(vdot, ones(2), ones(2, kInt64)),
      DEVICE(vdot, ones(3), there()[0]),
      VALUE(vdot, ones(3), none()),
      SHAPE(outer, m23(), ones(3)),
      DEVICE(outer, ones(3), there()[0]),
      VALUE(outer, none(), ones(3)),
      SHAPE(ger, ones(3), m23()),
      DEVICE(ger, ones(3), there()[0]),
      VALUE(ger, none(), ones(3)),
      SHAPE(inner, m23(), ones(2)),
      DTYPE(inner, m23(), i23()),
      DEVICE(inner, m23(), there()),
      VALUE(inner, none(), m23()),
      VALUE(einsum, "ij", std::vector<Tensor>{}),
      VALUE(einsum, "ij,jk", {m23()}),
      VALUE(einsum, "i1", {m23()}),
      VALUE(einsum, "i..j", {m23()}),
      VALUE(einsum, "i...j...", {m23()}),
      VALUE(einsum, "ij->ii", {m23()}),
      VALUE(einsum, "ij->k", {m23()}),
      VALUE(einsum, "ij->i,j", {m23()}),
      VALUE(einsum, "ij->i->j", {m23()}),
      SHAPE(einsum, "i", {m23()}),
      SHAPE(einsum, "ijk...", {m23()}),
      SHAPE(einsum, "ii", {m23()}),
      SHAPE(einsum, "ij,ij", {m23(), m45()}),
      DTYPE(einsum, "ij,ij", {m23(), i23()}),
      DTYPE(einsum, "ij,ij", {b23(), b23()}),
      DEVICE(einsum, "ij,ij", {m23(), there()}),
      VALUE(einsum, "ij,ij", {m23(), none()}),
      VALUE(einsum, "ij,ij", {m23(), m23()}, {0, 0}),
      VALUE(einsum, "ij,ij", {m23(), m23()}, {0, 2}),
      VALUE(einsum, "ij,ij", {m23(), m23()}, {0, 1, 0, 1}),
      SHAPE(tensordot, m23(), m23(), {0}, {1}),
      SHAPE(tensordot, m23(), m23(), {0, 1}, {1}),
      SHAPE(tensordot, m23(), m23(), {0, 0}, {0, 0}),
      INDEX(tensordot, m23(), m23(), {2}, {0}),
      DTYPE(tensordot, m23(), i23(), {0}, {0}),
      DTYPE(tensordot, b23(), b23(), {0}, {0}),
      DEVICE(tensordot, m23(), there(), {0}, {0}),
      VALUE(tensordot, none(), m23(), {0}, {0}),
      DEVICE(kron, m23(), there()),
      VALUE(kron, m23(), none()),
      SHAPE(cross, m23(), ones(3)),
      SHAPE(cross, m45(), m45()),
      SHAPE(cross, m23(), m23(), 0),
      SHAPE(cross, ones({}), ones({})),
      INDEX(cross, m23(), m23(), 2),
      DTYPE(cross, m23(), i23()),
      DTYPE(cross, b23(), b23()),
      DEVICE(cross, m23(), there()),
      VALUE(cross, m23(), none()),
      SHAPE(linalg_cross, ones({3, 2}), ones({3, 2})),
      DEVICE(linalg_cross, m23(), there()),
      VALUE(linalg_cross, none(), m23()),
      SHAPE(chain_matmul, {m23(), m45()}),
      SHAPE(chain_matmul, {ones(3)}),
      SHAPE(chain_matmul, std::vector<Tensor>{}),
      DTYPE(chain_matmul, {m23(), ones({3, 2}, kFloat64)}),
      DEVICE(chain_matmul, {m23(), there().t()}),
      VALUE(chain_matmul, {m23(), none()}),
      SHAPE(linalg_multi_dot, {m23()}),
      SHAPE(linalg_multi_dot, {m23(), ones(3), m23()}),
      SHAPE(linalg_multi_dot, {m23(), m23()}),
      SHAPE(linalg_multi_dot, {ones({}), m23()}),
      DTYPE(linalg_multi_dot, {m23(), i23().t()}),
      DEVICE(linalg_multi_dot, {m23(), there().t()}),
      VALUE(linalg_multi_dot, {m23(), none()}),
      SHAPE(matrix_power, m23(), 2),
      SHAPE(matrix_power, ones(3), 2),
      DTYPE(matrix_power, ones({2, 2}, kInt64), -1),
      DTYPE(matrix_power, ones({2, 2}, kBool), 2),
      VALUE(matrix_power, none(), 2),
      SHAPE(matrix_exp, m23()),
      DTYPE(matrix_exp, ones({2, 2}, kInt64)),
      VALUE(matrix_exp, none()),
      SHAPE(linalg_matrix_exp, m23()),
      VALUE(linalg_matrix_exp, none()),
      SHAPE(linalg_matmul, m23(), m23()),
      DEVICE(linalg_matmul, m23(), there()),
      VALUE(linalg_matmul, none(), m23()),
      SHAPE(trace, ones(3)),
      DTYPE(trace, b23()),
      VALUE(trace, none()),
      SHAPE(cdist, m23(), m45()),
      SHAPE(cdist, ones(3), m23()),
      SHAPE(cdist, ones({2, 2, 3}), ones({3, 2, 3})),
      DTYPE(cdist, i23(), i23()),
      DTYPE(cdist, m23(), ones({2, 3}, kFloat64)),
      VALUE(cdist, m23(), m23(), -1.),
      VALUE(cdist, m23(), m23(), NAN),
      VALUE(cdist, m23(), m23(), 2., 3),
      DEVICE(cdist, m23(), there()),
      VALUE(cdist, none(), m23()),
      SHAPE(pdist, ones(3)),
      DTYPE(pdist, i23()),
      VALUE(pdist, m23(), -1.),
      VALUE(pdist, none()),
  };
}
const CallTable<bad_input::BadCall> kBad(bad_calls);

std::vector<mismatch::Call> mixed_calls() {
  using namespace mismatch;
#define SUM(name, a, b)                                    \
  BOTH(name, strict, given(f({1}), f a, f b), t[1], t[2]), \
      BOTH(name##_, in_place, given(f(), f a, f b), t[1], t[2])
#define LIST(name) CALL(name, strict, given(f(), f(), f()), {t[0], t[1], t[2]})
  const auto chain = given(f(), f(), f());
  return {
      SUM(addmm, (), ()),
      SUM(addmv, (), ({2})),
      SUM(addr, ({2}), ({2})),
      SUM(baddbmm, ({1, 2, 2}), ({1, 2, 2})),
      SUM(addbmm, ({1, 2, 2}), ({1, 2, 2})),
      BOTH(vdot, strict, given(f({2}), f({2})), t[1]),
      BOTH(outer, strict, given(f({2}), f({2})), t[1]),
      BOTH(ger, strict, given(f({2}), f({2})), t[1]),
      BOTH(inner, strict, given(f(), f()), t[1]),
      CALL(einsum, strict, chain, "ij,jk,kl", {t[0], t[1], t[2]}),
      CALL(tensordot, strict, given(f(), f()), t[0], t[1], {0}, {1}),
      BOTH(kron, strict, given(f(), f()), t[1]),
      BOTH(cross, strict, given(f({3}), f({3})), t[1]),
      CALL(linalg_cross, strict, given(f({3}), f({3})), t[0], t[1]),
      CALL(linalg_matmul, strict, given(f(), f()), t[0], t[1]),
      LIST(chain_matmul),
      LIST(linalg_multi_dot),
      Call{"multi_dot", Rule::strict, chain,
           [](const Tensors& t) {
             linalg::multi_dot({t[0], t[1], t[2]});
           },
           "linalg_multi_dot"},
      CALL(cdist, strict, given(f(), f()), t[0], t[1]),
  };
#undef LIST
#undef SUM
}
const CallTable<mismatch::Call> kMixed(mixed_calls);

std::vector<agreement::Call> agreeing_calls() {
  using namespace agreement;
  const auto sum = [](Call c) { return with_dims(std::move(c)); };
  return {
      sum(RESULT(addmv, addmv(o.a.select(1, 0), o.a, MADE(ones(5, o.a.options())), 0.5, 2))),
      sum(RESULT(addr, addr(o.a, o.a.select(1, 0), MADE(ones(5, o.a.options())), 2, 3))),
      sum(RESULT(baddbmm, baddbmm(MADE(ones(1, o.a.options())), o.a.expand({2, -1, -1}),
                                  o.unit.t().expand({2, -1, -1})))),
      sum(RESULT(addbmm, addbmm(MADE(ones(1, o.a.options())), o.a.expand({2, -1, -1}),
                                o.unit.t().expand({2, -1, -1}), 2, 3))),
      sum(IN_PLACE(addmm_, o.a, MADE(o.a.mm(o.a.t())), o.unit, 0.5)),
      sum(IN_PLACE(addmv_, o.a.select(1, 0), o.a, MADE(ones(5, o.a.options())))),
      sum(IN_PLACE(addr_, o.a, o.a.select(1, 0), MADE(ones(5, o.a.options())))),
      sum(IN_PLACE(baddbmm_, o.a.unsqueeze(0), MADE(o.a.mm(o.a.t()).unsqueeze(0)),
                   o.unit.unsqueeze(0))),
      sum(IN_PLACE(addbmm_, o.a, MADE(o.a.mm(o.a.t()).unsqueeze(0)), o.unit.unsqueeze(0))),
      RESULT(vdot, vdot(o.a.reshape({-1}), o.unit.reshape({-1}))),
      RESULT(outer, outer(o.a.reshape({-1}), o.unit.reshape({-1}))),
      RESULT(ger, ger(o.a.reshape({-1}), o.unit.reshape({-1}))),
      RESULT(inner, inner(o.a, o.unit)),
      with_dims(RESULT(einsum, einsum("ij,kj->ik", {o.a, o.unit}),
                       einsum("ij,ij->j", {o.a, o.unit}), einsum("ij,kj,lj->ik", {o.n, o.m, o.n}))),
      with_dims(RESULT(tensordot, tensordot(o.a, o.unit, {1}, {1}))),
      RESULT(kron, kron(o.a, o.n)),
      with_dims(RESULT(cross, cross(o.a.narrow(1, 0, 3), o.unit.narrow(1, 1, 3), 1))),
      with_dims(RESULT(linalg_cross, linalg_cross(o.a.narrow(1, 0, 3), o.unit.narrow(1, 1, 3)))),
      with_dims(RESULT(linalg_matmul, linalg_matmul(o.a, o.unit.t()))),
      with_dims(RESULT(chain_matmul, chain_matmul({o.unit, o.unit.t(), o.unit}))),
      with_dims(RESULT(linalg_multi_dot, linalg_multi_dot({o.unit, o.unit.t(), o.unit}))),
      with_dims(RESULT(matrix_power, matrix_power(MADE(o.unit.t().mm(o.unit) * 0.1), 3))),
      with_dims(RESULT(matrix_exp, matrix_exp(MADE(o.unit.t().mm(o.unit) * 0.1)))),
      with_dims(RESULT(linalg_matrix_exp, linalg_matrix_exp(MADE(o.unit.t().mm(o.unit) * 0.1)))),
      with_dims(RESULT(trace, trace(o.a), trace(o.n))),
      with_dims(RESULT(cdist, cdist(o.a, o.unit), cdist(o.a, o.unit, 1))),
      with_dims(RESULT(pdist, pdist(o.a, 1), pdist(o.a, 3))),
  };
}
const CallTable<agreement::Call> kAgreeing(agreeing_calls);

}  // namespace
