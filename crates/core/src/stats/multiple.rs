//! Many tests at once: chances corrected for the number of times that chance had a try.

/// Holm (1979): the chance that any of them is a false alarm stays below the level.
pub fn holm(chances: &[f64]) -> Vec<f64> {
    let order = ascending(chances);
    let mut corrected = vec![0.0; chances.len()];
    let mut highest: f64 = 0.0;
    for (rank, at) in order.iter().enumerate() {
        let left = (chances.len() - rank) as f64;
        highest = highest.max((chances[*at] * left).min(1.0));
        corrected[*at] = highest;
    }
    corrected
}

/// Benjamini and Hochberg (1995): the expected share of false alarms among the alarms stays below
/// the level.
pub fn benjamini_hochberg(chances: &[f64]) -> Vec<f64> {
    let order = ascending(chances);
    let mut corrected = vec![0.0; chances.len()];
    let mut lowest: f64 = 1.0;
    for (rank, at) in order.iter().enumerate().rev() {
        lowest = lowest.min(chances[*at] * chances.len() as f64 / (rank + 1) as f64);
        corrected[*at] = lowest;
    }
    corrected
}

fn ascending(chances: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..chances.len()).collect();
    order.sort_by(|a, b| chances[*a].total_cmp(&chances[*b]));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    /// statsmodels 0.15.0, `multipletests`.
    #[test]
    fn both_agree_with_statsmodels() {
        let chances = [0.01, 0.04, 0.03, 0.005, 0.5];
        let close = |found: Vec<f64>, wanted: [f64; 5]| {
            for (found, wanted) in found.iter().zip(wanted) {
                assert!((found - wanted).abs() < 1e-12, "{found} {wanted}");
            }
        };
        close(holm(&chances), [0.04, 0.09, 0.09, 0.025, 0.5]);
        close(
            benjamini_hochberg(&chances),
            [0.025, 0.05, 0.05, 0.025, 0.5],
        );
        assert!(holm(&[]).is_empty() && benjamini_hochberg(&[]).is_empty());
    }
}
