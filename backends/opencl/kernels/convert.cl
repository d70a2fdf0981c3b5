// Conversions between dtypes, as specified for kernels::copy.
float half_to_float(ushort bits) { return vload_half(0, (const half*)&bits); }
ushort float_to_half(float x) {
  ushort bits;
  vstore_half_rte(x, 0, (half*)&bits);
  return bits;
}
float bfloat16_to_float(ushort bits) { return as_float((uint)bits << 16); }
// Round to nearest even; NaN stays NaN.
ushort float_to_bfloat16(float x) {
  const uint bits = as_uint(x);
  if (x != x) return (ushort)((bits >> 16) | 0x40);
  return (ushort)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}
// NaN and values out of range give the lowest integer.
int to_int_from_float(float x) { return x >= -0x1p31f && x < 0x1p31f ? (int)x : INT_MIN; }
long to_long_from_float(float x) { return x >= -0x1p63f && x < 0x1p63f ? (long)x : LONG_MIN; }
#if HAS_DOUBLE
int to_int_from_double(double x) { return x >= -0x1p31 && x < 0x1p31 ? (int)x : INT_MIN; }
long to_long_from_double(double x) { return x >= -0x1p63 && x < 0x1p63 ? (long)x : LONG_MIN; }
#endif
