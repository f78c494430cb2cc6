//! An output that fits allocates nothing. This test has its own binary, because an allocator belongs to the process.

#![expect(unsafe_code, reason = "counting allocations needs an allocator")]

use offcut::{Context, Outcome, Profile, Truncator};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

thread_local! {
    /// The allocations of the test's thread. The harness has other threads.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

fn allocations() -> u64 {
    ALLOCATIONS.get()
}

// SAFETY: every call goes to the system's allocator unchanged; counting touches no memory that it manages.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's promise about `layout` is passed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the pointer came from `alloc` above, which is the system's.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn passing_on_allocates_nothing() {
    let context = Context::tool("bash");
    let text = "a line of ordinary output\n".repeat(150);
    let truncators: Vec<Truncator> =
        Profile::names().map(|name| Truncator::new(Profile::named(name).unwrap())).collect();
    for truncator in &truncators {
        let before = allocations();
        let shown = truncator.apply(text.as_bytes(), &context);
        let after = allocations();
        assert!(matches!(shown, Outcome::Passed(_)));
        assert_eq!(after - before, 0);
    }
    let long = text.repeat(100);
    let before = allocations();
    assert!(matches!(
        truncators[0].apply(long.as_bytes(), &context),
        Outcome::Truncated(_) | Outcome::Described(_) | Outcome::StillRunning(_)
    ));
    assert!(allocations() > before, "the counter counts");
}
