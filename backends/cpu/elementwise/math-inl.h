// Vector maths for float and double: Highway's functions, corrected at infinities, NaN and outside
// their ranges, and functions of our own: exponential, sine, cosine, erf, and products with a small
// exponential. docs/accuracy.md lists their errors. Included once per instruction set.
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
