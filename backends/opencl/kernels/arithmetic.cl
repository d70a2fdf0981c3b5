// The functions of <ambit/backend/arithmetic.h> for the element type T, in OpenCL C.
#define nearbyint rint
#define remainder ambit_remainder  // OpenCL's has another sign

#if T_FLOAT

T wrap_add(T a, T b) { return a + b; }
T wrap_sub(T a, T b) { return a - b; }
T wrap_mul(T a, T b) { return a * b; }
int is_negative(T x) { return x < 0; }
int has_sign(T x) { return signbit(x) != 0; }
T negative(T x) { return -x; }
T magnitude(T x) { return fabs(x); }
int is_infinite(T x) { return fabs(x) == (T)INFINITY; }
int is_finite(T x) { return fabs(x) < (T)INFINITY; }
T trunc_divide(T a, T b) { return trunc(a / b); }
T truncated_remainder(T a, T b) { return fmod(a, b); }
T power(T base, T exponent) { return pow(base, exponent); }
// PoCL's tanh of float is 1 - 2^-24 at infinity, see findings/pocl_tanh_below_one.sh.
T limited_tanh(T x) {
  return fabs(x) > (T)(sizeof(T) == 4 ? 9.02f : 19.1f) ? copysign((T)1, x) : tanh(x);
}
#define tanh limited_tanh

#else

#if T_BITS == 64
typedef ulong Wrapping;
#else
typedef uint Wrapping;
#endif
#if T_SIGNED
#if T_BITS == 64
typedef ulong Unsigned;
#elif T_BITS == 32
typedef uint Unsigned;
#elif T_BITS == 16
typedef ushort Unsigned;
#else
typedef uchar Unsigned;
#endif
#else
typedef T Unsigned;
#endif

#if T_BOOL
T wrap_add(T a, T b) { return a | b; }
T wrap_mul(T a, T b) { return a & b; }
T complement(T x) { return !x; }
#else
T wrap_add(T a, T b) { return (T)((Wrapping)a + (Wrapping)b); }
T wrap_mul(T a, T b) { return (T)((Wrapping)a * (Wrapping)b); }
T complement(T x) { return (T)(~x); }
#endif
T wrap_sub(T a, T b) { return (T)((Wrapping)a - (Wrapping)b); }
#if T_SIGNED
int is_negative(T x) { return x < 0; }
#else
int is_negative(T x) { return 0; }
#endif
int has_sign(T x) { return is_negative(x); }
T negative(T x) { return wrap_sub(0, x); }
T magnitude(T x) { return is_negative(x) ? wrap_sub(0, x) : x; }
int is_infinite(T x) { return 0; }
int is_finite(T x) { return 1; }
T trunc_divide(T a, T b) { return (T)(a / b); }
#if T_SIGNED
T truncated_remainder(T a, T b) { return b == -1 ? (T)0 : (T)(a % b); }
#else
T truncated_remainder(T a, T b) { return (T)(a % b); }
#endif
T power(T base, T exponent) {
#if T_SIGNED
  if (exponent < 0) {
    if (base == 1) return 1;
    return base != -1 ? (T)0 : exponent % 2 == 0 ? (T)1 : (T)-1;
  }
#endif
  T result = 1;
  for (; exponent > 0; exponent = (T)(exponent >> 1)) {
    if (exponent & 1) result = wrap_mul(result, base);
    base = wrap_mul(base, base);
  }
  return result;
}
T greatest_divisor(T a, T b) {
  Unsigned x = (Unsigned)magnitude(a), y = (Unsigned)magnitude(b);
  while (y != 0) {
    const Unsigned rest = (Unsigned)(x % y);
    x = y;
    y = rest;
  }
  return (T)x;
}
T least_multiple(T a, T b) {
  const T divisor = greatest_divisor(a, b);
  if (divisor == 0) return 0;
  const Unsigned factor = (Unsigned)((Unsigned)magnitude(a) / (Unsigned)divisor);
  return wrap_mul((T)factor, magnitude(b));
}
T shift_left(T a, T b) {
  if (is_negative(b) || b >= (T)T_BITS) return 0;
  return (T)((Wrapping)a << (int)b);
}
T shift_right(T a, T b) {
  if (is_negative(b) || b >= (T)T_BITS) return is_negative(a) ? (T)-1 : (T)0;
  return (T)(a >> (int)b);
}

#endif

T maximum(T a, T b) {
  const T larger = a < b ? b : a;
  return b != b ? b : larger;
}
T minimum(T a, T b) {
  const T smaller = a > b ? b : a;
  return b != b ? b : smaller;
}
// Return whether b replaces a as the extreme; the first NaN wins.
int beats(T b, T a, int largest) {
  const int better = largest ? b > a : b < a;
  return better | ((b != b) & (a == a));
}
T remainder(T a, T b) {
  const T r = truncated_remainder(a, b);
  return r != 0 && is_negative(r) != is_negative(b) ? (T)(r + b) : r;
}
#if T_FLOAT
T floor_divide(T a, T b) {
  if (b == 0) return a / b;
  const T r = fmod(a, b);
  T quotient = (a - r) / b;
  if (r != 0 && is_negative(r) != is_negative(b)) quotient -= 1;
  if (quotient == 0) return copysign((T)0, a / b);
  const T down = floor(quotient);
  return quotient - down > (T)0.5 ? down + 1 : down;
}
// Return a / (a^2 + b^2), 0 at (0, 0).
T angle_slope(T a, T b) {
#if T_BITS == 64
  const T least = 4.9406564584124654e-324;
#else
  const T least = as_float(1);
#endif
  const T length = maximum(hypot(a, b), least);
  return a / length / length;
}
T lerp(T a, T b, T weight) {
  const T half_way = (T)0.5 * b - (T)0.5 * a;
  const bool near_a = fabs(weight) < (T)0.5;
  return (near_a ? a : b) + (T)2 * ((near_a ? weight : weight - 1) * half_way);
}
T log_add_exp(T a, T b) {
  if (a == b && is_infinite(a)) return a;
  return maximum(a, b) + log1p(exp(-fabs(a - b)));
}
T log_add_exp2(T a, T b) {
  if (a == b && is_infinite(a)) return a;
  return maximum(a, b) + log1p(exp2(-fabs(a - b))) * (T)1.44269504088896340736;
}
#else
T floor_divide(T a, T b) {
  const T quotient = (T)(a / b);
  const int exact = (T)(quotient * b) == a;
  return !exact && is_negative(a) != is_negative(b) ? (T)(quotient - 1) : quotient;
}
#endif
