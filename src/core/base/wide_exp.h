// Computes 2^x without calls or branches, so that compilers vectorize loops with this function. The result has the same bits on
// every processor. The error is at most 4 units of the last place for x between -1021 and 1022; other arguments are not allowed.
// NaN gives NaN.
#ifndef OD_BASE_WIDE_EXP_H
#define OD_BASE_WIDE_EXP_H

#include <stdint.h>
#include <string.h>

#include "base/wide.h"

// 1/log(2): 2^(x OD_PER_LOG_2) is exp(x).
#define OD_PER_LOG_2 0x1.71547652b82fep0

// Returns 2^k (1 + r p(r)), where x = k + r and |r| <= 1/2. p interpolates at ten Chebyshev points with an error of 5e-16. The last
// bits of x + shift are the bits of k. The function adds k to the exponent.
OD_INTO_WIDE double od_wide_exp2(double x) {
  static const double shift = 0x1.8p52;
  double shifted = x + shift, r = x - (shifted - shift), r2 = r * r, r4 = r2 * r2;
  double p01 = 0x1.62e42fefa39f7p-1 + 0x1.ebfbdff82c590p-3 * r, p23 = 0x1.c6b08d7044119p-5 + 0x1.3b2ab6fba385fp-7 * r;
  double p45 = 0x1.5d87fe908f88ap-10 + 0x1.4309130378460p-13 * r,
         p67 = 0x1.ffcb76789860fp-17 + 0x1.62bfe46117445p-20 * r;
  double p89 = 0x1.b6571de2f2351p-24 + 0x1.e5e9f548e5725p-28 * r;
  double y = 1 + r * ((p01 + p23 * r2) + r4 * ((p45 + p67 * r2) + r4 * p89));
  uint64_t k, bits;
  memcpy(&k, &shifted, sizeof k);
  memcpy(&bits, &y, sizeof bits);
  bits += k << 52;
  memcpy(&y, &bits, sizeof y);
  return y;
}

#endif
