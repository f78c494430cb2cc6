//! A budget for several results at once.

/// Divides a total among several outputs: small ones keep their size, the largest are cut first, all to one level.
///
/// No share is under `least`, so that each has room for its notice; a total that is too small for that is exceeded.
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
    fn cuts_the_largest_first() {
        let check = |sizes: &[u64], total, expected: &[u64]| {
            assert_eq!(shares(sizes, total, 256), expected, "{sizes:?} in {total}");
        };
        check(&[], 10, &[]);
        check(&[100, 200, 300], 600, &[100, 200, 300]);
        check(&[100, 9000, 300], 1400, &[100, 1000, 300]);
        check(&[5000, 100, 9000], 4100, &[2000, 100, 2000]);
        check(&[5000, 5000, 5000], 3001, &[1000, 1000, 1000]);
        // Too little for all: each still has room for its notice.
        check(&[5000, 100, 5000], 10, &[256, 100, 256]);
        check(&[u64::MAX, u64::MAX], 1000, &[500, 500]);
    }
}
