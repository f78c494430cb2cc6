//! Counts tokens, for limits on tokens and for statistics. A build without the feature `tokens` estimates them.

#[cfg(not(feature = "tokens"))]
pub(crate) use offcut::measure::EstimatedTokens as TokenCounter;
#[cfg(feature = "tokens")]
pub(crate) use vocabulary::TokenCounter;

#[cfg(feature = "tokens")]
mod vocabulary {
    use offcut::measure::{CountTokens, EstimatedTokens};
    use std::sync::LazyLock;
    use tiktoken::CoreBpe;

    /// Counts tokens of the `o200k` vocabulary. The vocabularies of other models are not public; their counts are near.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct TokenCounter;

    /// Larger texts are counted in pieces, because the time for one piece grows faster than its size.
    const PIECE: usize = 1 << 20;

    /// Takes a tenth of a second to load, so it is loaded when first used.
    static VOCABULARY: LazyLock<Option<&CoreBpe>> = LazyLock::new(|| tiktoken::get_encoding("o200k_base"));

    impl CountTokens for TokenCounter {
        fn count(&self, text: &[u8]) -> u64 {
            let Some(vocabulary) = *VOCABULARY else { return EstimatedTokens.count(text) };
            text.chunks(PIECE).map(|piece| vocabulary.count(&String::from_utf8_lossy(piece)) as u64).sum()
        }
    }
}
