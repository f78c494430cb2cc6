//! Bounds any tool result: JSON stays JSON, and bounding the result again changes nothing.

#![no_main]

use libfuzzer_sys::fuzz_target;
use offcut::results::{Middleware, Shape, ShapeChoice};
use offcut::store::MemoryStore;
use offcut::{Context, Limits, Profile, Rule, Storage, Truncator};
use serde_json::value::RawValue;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

fuzz_target!(|data: &[u8]| {
    let Some((&choice, text)) = data.split_first() else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    let shapes = Shape::ALL;
    let shape = shapes.get(usize::from(choice)).map_or(ShapeChoice::Auto, |shape| ShapeChoice::Is(*shape));
    let rule = Rule { limits: Limits { bytes: Some(300), ..Limits::default() }, ..Rule::default() };
    let truncator = Truncator::new(Profile::native())
        .storage(Storage::To(Arc::new(MemoryStore::new(|| UNIX_EPOCH))))
        .rule(rule)
        .expect("limits above the floor");
    let middleware = Middleware::new(truncator);
    let Ok(bounded) = middleware.bound_json(text, shape, &Context::tool("bash")) else { return };
    serde_json::from_str::<&RawValue>(text).expect("only JSON is bounded");
    serde_json::from_str::<&RawValue>(&bounded.json).expect("JSON comes out");
    let again = middleware.bound_json(&bounded.json, shape, &Context::tool("bash")).expect("it is JSON");
    assert_eq!(again.json, bounded.json);
});
