//! Against a real S3 server: `scripts/with-seaweedfs cargo test -p offcut-object-store --all-features`.

#![expect(clippy::unwrap_used, reason = "a failed expectation of a test is a panic")]

mod careless;
mod harness;
mod listings;
mod outages;
mod proxy;
mod ranges;
mod sharing;

use harness::Place;

#[test]
fn the_store_keeps_the_contract() {
    let places = std::sync::Mutex::new(Vec::new());
    offcut::store::contract::check(|| {
        let place = Place::new();
        let store = place.store();
        places.lock().unwrap().push(place);
        store
    });
    for place in places.into_inner().unwrap() {
        assert!(place.nothing_waits(), "everything was uploaded, except what was given up");
    }
}
