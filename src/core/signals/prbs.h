// A pseudo-random binary sequence of maximal length, with access to any bit without stepping through those before it.
#ifndef OD_PRBS_H
#define OD_PRBS_H

typedef struct od_prbs od_prbs;

// A register of 2..31 bits, begun with the lowest bits of seed (1 if they are all zero). NULL: the order is not one of
// these, or memory ran out.
od_prbs *od_prbs_new(double order, double seed);
void od_prbs_free(od_prbs *prbs);

// Bit number index (0 or 1), index >= 0 a whole number; the sequence repeats after 2^order - 1 bits.
int od_prbs_bit(const od_prbs *prbs, double index);
double od_prbs_period(const od_prbs *prbs);

#endif
