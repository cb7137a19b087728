//! What becomes of several tries: at least one passes (pass@k), all pass (pass^k). Both unbiased:
//! the mean over all ways to choose k of the trials that were run.

/// Chen et al. (2021), equation 1: 1 − C(n − c, k) / C(n, k). `None` when fewer than k were run.
pub fn pass_at_k(trials: u64, passes: u64, k: u64) -> Option<f64> {
    let failures = trials.checked_sub(passes)?;
    share_of_choices(trials, failures, k).map(|none| 1.0 - none)
}

/// Yao et al. (2024, τ-bench): C(c, k) / C(n, k). `None` when fewer than k were run.
pub fn pass_all_k(trials: u64, passes: u64, k: u64) -> Option<f64> {
    if passes <= trials {
        share_of_choices(trials, passes, k)
    } else {
        None
    }
}

/// C(part, k) / C(whole, k) as a product, which neither overflows nor cancels.
fn share_of_choices(whole: u64, part: u64, k: u64) -> Option<f64> {
    if k == 0 || k > whole {
        return None;
    }
    if k > part {
        return Some(0.0);
    }
    Some((0..k).fold(1.0, |share, i| {
        share * (part - i) as f64 / (whole - i) as f64
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By counting: of the 10 pairs of 5 trials with 2 passes, 7 hold a pass and 1 holds two.
    #[test]
    fn pairs_are_counted() {
        assert!((pass_at_k(5, 2, 2).unwrap() - 0.7).abs() < 1e-12);
        assert!((pass_all_k(5, 2, 2).unwrap() - 0.1).abs() < 1e-12);
    }

    /// The program of Chen et al.: `1 - prod(1 - k / arange(n - c + 1, n + 1))`, run with
    /// NumPy 2.4.6 for n = 200, c = 13, k = 10.
    #[test]
    fn the_published_program_agrees() {
        let (n, c, k) = (200_u64, 13_u64, 10_u64);
        let product: f64 = (n - c + 1..=n).map(|i| 1.0 - k as f64 / i as f64).product();
        assert!((pass_at_k(n, c, k).unwrap() - (1.0 - product)).abs() < 1e-12);
        assert!((pass_at_k(n, c, k).unwrap() - PASS_AT_10).abs() < 1e-12);
    }

    const PASS_AT_10: f64 = 0.4975511147306061;

    #[test]
    fn borders() {
        assert_eq!(pass_at_k(3, 0, 1), Some(0.0));
        assert_eq!(pass_at_k(3, 3, 3), Some(1.0));
        assert_eq!(pass_at_k(3, 1, 3), Some(1.0));
        assert_eq!(pass_all_k(3, 2, 3), Some(0.0));
        assert_eq!(pass_at_k(3, 1, 4), None);
        assert_eq!(pass_at_k(3, 4, 1), None);
        assert_eq!(pass_all_k(3, 1, 0), None);
    }

    /// Both estimate what they claim: averaged over the binomial distribution of passes they give
    /// 1 − (1 − p)^k and p^k.
    #[test]
    fn they_are_unbiased() {
        let (n, k, p) = (7_u64, 3_u64, 0.35_f64);
        let (mut at, mut all) = (0.0, 0.0);
        for c in 0..=n {
            let chance = super::super::special::ln_choose(n, c).exp()
                * p.powi(c as i32)
                * (1.0 - p).powi((n - c) as i32);
            at += chance * pass_at_k(n, c, k).unwrap();
            all += chance * pass_all_k(n, c, k).unwrap();
        }
        assert!((at - (1.0 - (1.0 - p).powi(3))).abs() < 1e-12);
        assert!((all - p.powi(3)).abs() < 1e-12);
    }
}
