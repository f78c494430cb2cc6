//! An output that fits costs no allocation. Alone in its binary, because the allocator is the process's.

#![expect(unsafe_code, reason = "counting allocations needs an allocator")]

use offcut::{Context, Profile, Shown, Truncator};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call goes to the system's allocator unchanged; counting touches no memory that it manages.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
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
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        let shown = truncator.apply(text.as_bytes(), &context);
        let after = ALLOCATIONS.load(Ordering::Relaxed);
        assert!(matches!(shown, Shown::Whole(_)));
        assert_eq!(after - before, 0);
    }
    let long = text.repeat(100);
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    assert!(matches!(truncators[0].apply(long.as_bytes(), &context), Shown::Cut(_)));
    assert!(ALLOCATIONS.load(Ordering::Relaxed) > before, "the counter counts");
}
