//! A custom strategy: shows the first items of a JSON array.
//!
//! `cargo run -p offcut --example json_array`

use offcut::cut::Segment;
use offcut::profile::Settings;
use offcut::strategy::{Ends, Room, Selection, Selector};
use offcut::{Context, Profile, Truncator};

/// Shows as many leading items of a JSON array as fit. Other text is cut at the end.
#[derive(Default)]
struct FirstItems(Vec<u8>);

impl Selector for FirstItems {
    fn observe(&mut self, segment: Segment<'_>) {
        self.0.extend_from_slice(segment.text);
    }

    fn finish<'text>(&'text mut self, ends: &'text Ends, room: &Room<'_>) -> Selection<'text> {
        let room = room.less_gaps(1);
        let ends_of_items = items(&self.0);
        let fitting = ends_of_items.partition_point(|&end| room.fits(&self.0[..end]));
        let length = match fitting {
            0 => room.head(ends.opening()),
            _ => ends_of_items[fitting - 1],
        };
        ends.first(length).into()
    }
}

/// The end of each item of a JSON array; empty if the text is not an array.
fn items(text: &[u8]) -> Vec<usize> {
    let Ok(all) = serde_json::from_slice::<Vec<&serde_json::value::RawValue>>(text) else {
        return Vec::new();
    };
    let start = text.as_ptr() as usize;
    all.iter().map(|item| item.get().as_ptr() as usize + item.get().len() - start).collect()
}

fn main() {
    let records: Vec<String> = (0..5000).map(|number| format!("{{\"id\": {number}}}")).collect();
    let text = format!("[\n  {}\n]", records.join(",\n  "));
    let first_items = |_: &Settings| -> Box<dyn Selector> { Box::<FirstItems>::default() };
    let truncator = Truncator::new(Profile::native()).strategy(first_items);
    let shown = truncator.apply(text.as_bytes(), &Context::tool("api"));
    print!("{}", String::from_utf8_lossy(shown.content()));
}
