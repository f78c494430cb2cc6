//! Real token counts. The vocabulary takes a tenth of a second to load, so it is loaded only when asked for.

use offcut::measure::CountTokens;
use std::sync::OnceLock;
use tiktoken::CoreBpe;

/// Counts tokens of the `o200k` vocabulary. Other models' vocabularies are not public; this is near for all.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RealTokens;

/// Larger texts are counted in pieces: the count of one piece must not grow out of hand.
const PIECE: usize = 1 << 20;

static VOCABULARY: OnceLock<Option<&'static CoreBpe>> = OnceLock::new();

impl CountTokens for RealTokens {
    fn count(&self, text: &[u8]) -> u64 {
        let Some(vocabulary) = VOCABULARY.get_or_init(|| tiktoken::get_encoding("o200k_base")) else {
            return offcut::measure::EstimatedTokens.count(text);
        };
        text.chunks(PIECE).map(|piece| vocabulary.count(&String::from_utf8_lossy(piece)) as u64).sum()
    }
}
