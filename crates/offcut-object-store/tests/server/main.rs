//! Tests against a real S3 server: `scripts/with-seaweedfs cargo test -p offcut-object-store --test server`.

#![expect(clippy::unwrap_used, reason = "a failed expectation of a test is a panic")]

mod bucket;
mod fsck;
mod harness;
mod listings;
mod outages;
mod proxy;
mod ranges;
mod sharing;
mod versions;

use harness::Place;
use offcut::store::contract::{self, PreviewSupport};

#[test]
fn keeps_the_contract_of_a_store() {
    let places = std::sync::Mutex::new(Vec::new());
    let make = || {
        let place = Place::new();
        let store = place.store();
        places.lock().unwrap().push(place);
        store
    };
    contract::check(make, PreviewSupport::None);
    for place in places.into_inner().unwrap() {
        assert!(place.has_nothing_pending(), "everything was uploaded, except what was abandoned on purpose");
    }
}
