// Vector maths for float and double: Highway's functions, corrected at infinities, NaN and outside
// their ranges; own sine and cosine, erf, and functions that multiply with a small exponential.
// Errors, measured over all magnitudes: at most 4 ulp, denormals too; gelu's 6 in float, 12 in
// double. Included once per instruction set.
#if defined(AMBIT_CPU_MATH_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef AMBIT_CPU_MATH_INL_H
#undef AMBIT_CPU_MATH_INL_H
#else
#define AMBIT_CPU_MATH_INL_H
#endif

#include "exponential-inl.h"
#include "math_steps-inl.h"
#include "special-inl.h"
#include "trigonometric-inl.h"

#endif
