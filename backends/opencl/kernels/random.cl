// Random numbers of <ambit/backend/philox.h>, the same on every backend. Needs double.
enum { UNIFORM, NORMAL, INTEGER, BERNOULLI };

void philox(ulong seed, ulong index, uint c[4]) {
  c[0] = (uint)index;
  c[1] = (uint)(index >> 32);
  c[2] = 0;
  c[3] = 0;
  uint key0 = (uint)seed, key1 = (uint)(seed >> 32);
  for (int r = 0; r < 10; ++r, key0 += 0x9E3779B9u, key1 += 0xBB67AE85u) {
    const ulong p0 = (ulong)0xD2511F53u * c[0], p1 = (ulong)0xCD9E8D57u * c[2];
    c[0] = (uint)(p1 >> 32) ^ c[1] ^ key0;
    c[1] = (uint)p1;
    c[2] = (uint)(p0 >> 32) ^ c[3] ^ key1;
    c[3] = (uint)p0;
  }
}

__kernel void random_fill(long n, int kind, double low, double high, ulong seed, ulong offset,
                          __global T* y, long y0) {
  const long i = get_global_id(0);
  if (i >= n) return;
#if T_FLOAT && T_BITS == 32
  const int per_block = kind == BERNOULLI || kind == UNIFORM ? 4 : 2;
#else
  const int per_block = kind == BERNOULLI ? 4 : 2;
#endif
  uint word[4];
  philox(seed, offset + (ulong)i / per_block, word);
  const int lane = (int)((ulong)i % per_block);
  const ulong wide = per_block == 2 ? word[2 * lane] | ((ulong)word[2 * lane + 1] << 32) : 0;
  T value;
  if (kind == BERNOULLI) {
    value = (T)((float)(word[lane] >> 8) * 0x1p-24f < low);
  } else if (kind == INTEGER) {
    const ulong range = (ulong)(high - low);
    value = (T)(long)((ulong)(long)low + mul_hi(wide, range));
  } else if (kind == NORMAL) {
    const double radius = ((double)(wide & 0xffffffffu) + 1) * 0x1p-32;
    const double angle = (double)(wide >> 32) * 0x1p-32;
    value = (T)(low + high * (sqrt(-2 * log(radius)) * cos(6.283185307179586 * angle)));
  } else {
#if T_FLOAT && T_BITS == 32
    const float l = (float)low, h = (float)high, top = nextafter(h, l);
    const double x = (double)l + (double)(h - l) * (double)((float)(word[lane] >> 8) * 0x1p-24f);
    value = x < top ? (float)x : top;
#else
    const double x = fma(high - low, (double)(wide >> 11) * 0x1p-53, low);
    const double top = nextafter(high, low);
    value = (T)(x < top ? x : top);
#endif
  }
  y[y0 + i] = value;
}
