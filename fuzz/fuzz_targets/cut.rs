//! Cuts any output with any strategy: the preview is within the limits and does not depend on the chunks, and every
//! byte is stored. Texts are repeated, so that a short input reaches the largest limits and any depth.

#![no_main]

use libfuzzer_sys::fuzz_target;
use offcut::measure::{LineConvention, lines};
use offcut::store::{MemoryStore, Store};
use offcut::strategy::StrategyName;
use offcut::terminal::Terminal;
use offcut::{Context, Limits, Profile, Rule, Saved, Storage, Truncator};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

/// The stack of a thread by default; the main thread has more.
const STACK: usize = 2 << 20;

/// The longest text, for limits of up to 64 KB.
const LONGEST: usize = 128 << 10;

fuzz_target!(|data: &[u8]| {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, || cut(data));
        thread.expect("a thread starts").join().expect("a check failed");
    });
});

fn cut(data: &[u8]) {
    let Some((&[strategy, bytes, most_lines, step, times], text)) = data.split_first_chunk::<5>() else {
        return;
    };
    let times = (1_usize << (times % 18)).min(LONGEST / text.len().max(1)).max(1);
    let text = &text.repeat(times)[..];
    let limits = Limits {
        bytes: Some(256 * (1 + u64::from(bytes))),
        lines: Some(4 + u64::from(most_lines)),
        ..Limits::default()
    };
    let names = StrategyName::ALL;
    let rule = Rule {
        limits,
        strategy: Some(names[usize::from(strategy >> 1) % names.len()]),
        terminal: Some(if strategy & 1 == 0 { Terminal::Rendered } else { Terminal::Raw }),
        ..Rule::default()
    };
    let store = || Arc::new(MemoryStore::new(|| UNIX_EPOCH));
    let kept = store();
    let truncator = |store: Arc<MemoryStore>| {
        Truncator::new(Profile::native())
            .storage(Storage::To(store))
            .rule(rule)
            .expect("limits above the floor")
    };
    let whole = truncator(kept.clone());
    let shown = whole.apply(text, &Context::default());
    assert!(shown.content().len() as u64 <= limits.bytes.unwrap_or(0).max(text.len().min(512) as u64));
    assert!(lines(shown.content(), LineConvention::Terminated) <= limits.lines.unwrap_or(0));
    if let Some(preview) = shown.preview() {
        let Saved::Complete(entry) = preview.saved() else { panic!("not kept: {:?}", preview.saved()) };
        let mut stored = vec![0; text.len() + 1];
        let count = kept.read(&entry.id, 0, &mut stored).expect("it was kept");
        assert_eq!(&stored[..count], text);
        let mut at = 0;
        for gap in preview.gaps() {
            assert!(gap.start >= at && gap.end > gap.start && gap.end <= text.len() as u64, "{gap:?}");
            at = gap.end;
        }
    }
    let streamed = truncator(store());
    let mut spool = streamed.spool(Context::default());
    text.chunks(1 + usize::from(step)).for_each(|chunk| spool.observe(chunk));
    assert_eq!(spool.finish().content(), shown.content());
}
