//! Binary logarithms, approximately: the bits of a float are nearly its logarithm. The real functions would be the
//! program's only reason to load the math library at each start.

/// The binary logarithm of a positive number.
pub(super) fn log2(number: f32) -> f32 {
    number.to_bits() as f32 / (1_u32 << 23) as f32 - 127.0
}

/// The inverse of [`log2`].
pub(super) fn exp2(logarithm: f32) -> f32 {
    f32::from_bits(((logarithm.clamp(-126.0, 127.0) + 127.0) * (1_u32 << 23) as f32) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_are_close_and_inverse() {
        for number in [1e-6_f32, 0.1, 0.5, 1.0, 1.5, 2.0, 3.0, 1000.0, 1e9] {
            assert!((log2(number) - number.log2()).abs() < 0.1, "{number}");
            assert!((exp2(log2(number)) / number - 1.0).abs() < 1e-3, "{number}");
        }
    }
}
