//! A budget for several results at once.

/// How much each of several outputs may have of a total: small ones stay whole, the largest are cut first.
///
/// Like water in vessels: there is one level under which all of them are filled. No share is under `least`, so that
/// there is room to say what is missing; a total too small for that is exceeded rather than anything hidden.
pub fn shares(sizes: &[u64], total: u64, least: u64) -> Vec<u64> {
    let level = level(sizes, total).max(least);
    sizes.iter().map(|&size| size.min(level)).collect()
}

/// The greatest level at which everything fits.
fn level(sizes: &[u64], total: u64) -> u64 {
    let mut sorted = sizes.to_vec();
    sorted.sort_unstable();
    let mut left = total;
    for (index, &size) in sorted.iter().enumerate() {
        let share = left / (sorted.len() - index) as u64;
        if size > share {
            return share;
        }
        left -= size;
    }
    u64::MAX
}

#[cfg(test)]
mod tests {
    use super::shares;

    #[test]
    fn the_largest_are_cut_first() {
        let check = |sizes: &[u64], total, expected: &[u64]| {
            assert_eq!(shares(sizes, total, 256), expected, "{sizes:?} in {total}");
        };
        check(&[], 10, &[]);
        check(&[100, 200, 300], 600, &[100, 200, 300]);
        check(&[100, 9000, 300], 1400, &[100, 1000, 300]);
        check(&[5000, 100, 9000], 4100, &[2000, 100, 2000]);
        check(&[5000, 5000, 5000], 3001, &[1000, 1000, 1000]);
        // Too little for everybody: each still has room for its notice.
        check(&[5000, 100, 5000], 10, &[256, 100, 256]);
        check(&[u64::MAX, u64::MAX], 1000, &[500, 500]);
    }
}
