//! Many comparisons at once: p-values corrected for their number.

/// Holm (1979): the probability of any false alarm stays below the level.
pub(crate) fn holm(chances: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..chances.len()).collect();
    order.sort_by(|a, b| chances[*a].total_cmp(&chances[*b]));
    let mut corrected = vec![0.0; chances.len()];
    let mut highest: f64 = 0.0;
    for (rank, at) in order.iter().enumerate() {
        let left = (chances.len() - rank) as f64;
        highest = highest.max((chances[*at] * left).min(1.0));
        corrected[*at] = highest;
    }
    corrected
}

#[cfg(test)]
mod tests {
    use super::*;

    /// statsmodels 0.15.0, `multipletests`.
    #[test]
    fn corrections_agree_with_statsmodels() {
        let found = holm(&[0.01, 0.04, 0.03, 0.005, 0.5]);
        for (found, expected) in found.iter().zip([0.04, 0.09, 0.09, 0.025, 0.5]) {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
        assert!(holm(&[]).is_empty());
    }
}
