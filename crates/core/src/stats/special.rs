//! Distributions: normal, Student's t, chi-squared and beta. Own implementations, so that
//! a seed gives the same digits in every version.

/// Coefficients of Lanczos' approximation with g = 7 and nine terms (Godfrey).
const LANCZOS: [f64; 9] = [
    0.999_999_999_999_809_9,
    676.520_368_121_885_1,
    -1_259.139_216_722_402_8,
    771.323_428_777_653_1,
    -176.615_029_162_140_6,
    12.507_343_278_686_905,
    -0.138_571_095_265_720_12,
    9.984_369_578_019_572e-6,
    1.505_632_735_149_311_6e-7,
];

/// Logarithm of the gamma function of a positive number.
pub(crate) fn ln_gamma(x: f64) -> f64 {
    if x < 0.5 {
        // Reflection.
        let pi = std::f64::consts::PI;
        return (pi / (pi * x).sin()).ln() - ln_gamma(1.0 - x);
    }
    let x = x - 1.0;
    let base = x + 7.5;
    let terms = LANCZOS.iter().enumerate().skip(1);
    let sum = terms.fold(LANCZOS[0], |sum, (at, term)| sum + term / (x + at as f64));
    0.5 * (2.0 * std::f64::consts::PI).ln() + (x + 0.5) * base.ln() - base + sum.ln()
}

/// Logarithm of the number of ways to choose `k` of `n`.
pub(crate) fn ln_choose(n: u64, k: u64) -> f64 {
    let ln_factorial = |m: u64| ln_gamma(m as f64 + 1.0);
    ln_factorial(n) - ln_factorial(k) - ln_factorial(n - k)
}

/// The regularised incomplete beta function: the share of a Beta(a, b) below `x`.
pub(crate) fn beta_below(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    let ln_beta = ln_gamma(a) + ln_gamma(b) - ln_gamma(a + b);
    let front = (a * x.ln() + b * (-x).ln_1p() - ln_beta).exp();
    // The continued fraction converges fast on this side only.
    if x < (a + 1.0) / (a + b + 2.0) {
        front * beta_fraction(a, b, x) / a
    } else {
        1.0 - front * beta_fraction(b, a, 1.0 - x) / b
    }
}

/// The continued fraction of the incomplete beta function, by Lentz's method.
fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let nonzero = |v: f64| if v.abs() < TINY { TINY } else { v };
    let mut c = 1.0;
    let mut d = 1.0 / nonzero(1.0 - (a + b) * x / (a + 1.0));
    let mut value = d;
    for step in 1..500 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / nonzero(1.0 + even * d);
        c = nonzero(1.0 + even / c);
        value *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / nonzero(1.0 + odd * d);
        c = nonzero(1.0 + odd / c);
        value *= d * c;
        if (d * c - 1.0).abs() < 1e-15 {
            break;
        }
    }
    value
}

/// The quantile `p` of a Beta(a, b). Bisection never leaves the range and needs no starting guess.
pub(crate) fn beta_quantile(a: f64, b: f64, p: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if middle == low || middle == high {
            break;
        }
        if beta_below(a, b, middle) < p { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// The cumulative distribution of Student's t.
#[cfg(test)]
fn t_below(freedom: f64, x: f64) -> f64 {
    let tail = 0.5 * beta_below(0.5 * freedom, 0.5, freedom / (freedom + x * x));
    if x > 0.0 { 1.0 - tail } else { tail }
}

/// The quantile `p` of Student's t.
pub(crate) fn t_quantile(freedom: f64, p: f64) -> f64 {
    let tail = p.min(1.0 - p);
    if tail <= 0.0 {
        return if p < 0.5 { f64::NEG_INFINITY } else { f64::INFINITY };
    }
    let x = beta_quantile(0.5 * freedom, 0.5, 2.0 * tail);
    let size = (freedom * (1.0 - x) / x).sqrt();
    if p < 0.5 { -size } else { size }
}

/// The cumulative standard normal distribution, by the incomplete gamma function.
pub(crate) fn normal_below(x: f64) -> f64 {
    let tail = 0.5 * gamma_above(0.5, 0.5 * x * x);
    if x > 0.0 { 1.0 - tail } else { tail }
}

/// The share of a chi-squared distribution above `x`.
pub(crate) fn chi_squared_above(freedom: f64, x: f64) -> f64 {
    gamma_above(0.5 * freedom, 0.5 * x)
}

/// Q(a, x), the upper regularised incomplete gamma function: a series below, a continued fraction
/// above.
fn gamma_above(a: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 1.0;
    }
    let front = (-x + a * x.ln() - ln_gamma(a)).exp();
    if x < a + 1.0 {
        let mut term = 1.0 / a;
        let mut sum = term;
        let mut next = a;
        while term > sum * 1e-17 {
            next += 1.0;
            term *= x / next;
            sum += term;
        }
        return 1.0 - front * sum;
    }
    let mut b = x + 1.0 - a;
    let mut c = 1e300;
    let mut d = 1.0 / b;
    let mut value = d;
    for step in 1..500 {
        let i = f64::from(step);
        let an = -i * (i - a);
        b += 2.0;
        d = 1.0 / (an * d + b);
        c = b + an / c;
        value *= d * c;
        if (d * c - 1.0).abs() < 1e-15 {
            break;
        }
    }
    front * value
}

/// The quantile `p` of the standard normal distribution. Newton's method on the logarithm of the
/// lower tail, which is concave: it approaches from the left and never overshoots.
pub(crate) fn normal_quantile(p: f64) -> f64 {
    if p > 0.5 {
        return -normal_quantile(1.0 - p);
    }
    if p <= 0.0 {
        return f64::NEG_INFINITY;
    }
    // Below the quantile, because the tail is thinner than its density.
    let mut x = -(-2.0 * p.ln()).sqrt();
    for _ in 0..50 {
        let below = normal_below(x);
        let density = (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt();
        let step = below / density * (p.ln() - below.ln());
        x += step;
        if step.abs() < 1e-15 * x.abs().max(1.0) {
            break;
        }
    }
    x
}

#[cfg(test)]
mod tests {
    //! Reference values: SciPy 1.17.1 (`special.gammaln`, `betainc`, `betaincinv`, `stats.norm`,
    //! `stats.t`).
    use super::*;

    fn close(found: f64, wanted: f64) {
        let size = wanted.abs().max(1e-3);
        assert!((found - wanted).abs() < 1e-10 * size, "{found} {wanted}");
    }

    #[test]
    fn gamma() {
        for (x, wanted) in [
            (0.1, 2.252712651734206),
            (0.5, 0.5723649429247),
            (3.7, 1.428072326665388),
            (10.0, 12.801827480081469),
            (171.5, 709.1431630309283),
        ] {
            close(ln_gamma(x), wanted);
        }
        close(ln_choose(20, 7).exp(), 77_520.0);
    }

    #[test]
    fn beta() {
        for (a, b, x, wanted) in [
            (0.5, 0.5, 0.3, 0.36901011956554536),
            (2.0, 3.0, 0.4, 0.5248),
            (19.5, 1.5, 0.9, 0.24462385424887648),
            (100.5, 100.5, 0.45, 0.07787036008215283),
            (0.5, 3.5, 1e-4, 0.02037013513942975),
        ] {
            close(beta_below(a, b, x), wanted);
        }
        for (a, b, p, wanted) in [
            (0.5, 0.5, 0.3, 0.2061073738537634),
            (19.5, 1.5, 0.025, 0.7891813637507349),
            (19.5, 1.5, 0.975, 0.9945509674185734),
            (3.5, 0.5, 0.025, 0.46441675695704965),
            (0.5, 200.5, 0.975, 0.012465661135916696),
        ] {
            close(beta_quantile(a, b, p), wanted);
        }
    }

    #[test]
    fn normal() {
        for (x, wanted) in [
            (-3.0, 0.0013498980316300933),
            (-1.0, 0.15865525393145707),
            (0.0, 0.5),
            (0.5, 0.6914624612740131),
            (1.96, 0.9750021048517795),
            (4.0, 0.9999683287581669),
        ] {
            close(normal_below(x), wanted);
        }
        close(normal_quantile(0.5), 0.0);
        for (p, wanted) in [
            (1e-9, -5.9978070150076865),
            (0.0001, -3.7190164854556804),
            (0.025, -1.9599639845400545),
            (0.9, 1.2815515655446004),
            (0.975, 1.959963984540054),
        ] {
            close(normal_quantile(p), wanted);
        }
    }

    #[test]
    fn chi_squared() {
        for (freedom, x, wanted) in [
            (1.0, 1.0, 0.31731050786291115),
            (3.0, 2.5, 0.4752910833430205),
            (3.0, 7.814727903251178, 0.05),
            (7.0, 30.0, 9.495972508134177e-5),
        ] {
            close(chi_squared_above(freedom, x), wanted);
        }
        assert_eq!(chi_squared_above(3.0, 0.0), 1.0);
    }

    #[test]
    fn student() {
        for (freedom, p, wanted) in [
            (1.0, 0.975, 12.706204736174694),
            (2.0, 0.975, 4.302652729749462),
            (4.0, 0.9, 1.533206274058944),
            (19.0, 0.975, 2.0930240544083087),
            (199.0, 0.995, 2.600760216058516),
        ] {
            close(t_quantile(freedom, p), wanted);
        }
        close(t_below(1.0, 1.0), 0.75);
        close(t_below(4.0, -2.5), 0.03338327240599407);
        close(t_below(19.0, 2.093), 0.9749988105285861);
    }
}
