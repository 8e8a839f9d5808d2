#pragma once

#include "core/tape.hpp"

// + - * / and negation, elementwise. Two Vars broadcast as in NumPy: shapes are aligned at their
// last axes, and an extent of 1, or a missing axis, is repeated; std::invalid_argument naming the
// op if they do not fit. A double stands for a scalar constant, and the result has x's shape.
namespace normlab {

Var add(const Var& a, const Var& b);
Var sub(const Var& a, const Var& b);
Var mul(const Var& a, const Var& b);
Var div(const Var& a, const Var& b);
Var neg(const Var& x);

// base^exponent. The exponent's gradient is 0 where the base is 0 and the exponent is not negative,
// and NaN where the base is negative.
Var pow(const Var& base, const Var& exponent);
// a where the condition is 1, b where it is 0, all three broadcast; std::invalid_argument for other
// numbers in the condition. What is not selected is not read, forward or backward: NaN in it goes
// nowhere, and its gradient is exactly 0.
Var where(const Tensor& condition, const Var& a, const Var& b);

inline Var operator+(const Var& a, const Var& b) { return add(a, b); }
inline Var operator-(const Var& a, const Var& b) { return sub(a, b); }
inline Var operator*(const Var& a, const Var& b) { return mul(a, b); }
inline Var operator/(const Var& a, const Var& b) { return div(a, b); }
inline Var operator-(const Var& x) { return neg(x); }

// y = factor * x, y = x / divisor and y = x + term.
Var scale(const Var& x, double factor);
Var div(const Var& x, double divisor);
Var shift(const Var& x, double term);

inline Var operator*(const Var& x, double factor) { return scale(x, factor); }
inline Var operator*(double factor, const Var& x) { return scale(x, factor); }
inline Var operator/(const Var& x, double divisor) { return div(x, divisor); }
inline Var operator+(const Var& x, double term) { return shift(x, term); }
inline Var operator+(double term, const Var& x) { return shift(x, term); }
inline Var operator-(const Var& x, double term) { return shift(x, -term); }
inline Var operator-(double term, const Var& x) { return shift(neg(x), term); }

}  // namespace normlab
