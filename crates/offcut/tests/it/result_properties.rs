//! Random results: only the bounded text and the documented fields change, byte for byte.

use crate::common::{memory, read_all};
use offcut::results::{Middleware, ResultOutcome, ShapeChoice};
use offcut::{Context, Profile, Saved, Storage, Truncator};
use proptest::prelude::*;
use serde_json::Value;

/// Any JSON, with unusual numbers, white space, escapes and duplicate keys.
fn any_json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("1e2".to_owned()),
        Just("-0.0".to_owned()),
        Just("18446744073709551617".to_owned()),
        Just("1.10".to_owned()),
        Just("\"\\u0041\\/\"".to_owned()),
        Just("\"\\ud800\"".to_owned()),
        "[a-z é☃]{0,6}".prop_map(|text| format!("\"{text}\"")),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|items| format!("[ {} ]", items.join(" , "))),
            prop::collection::vec(("[a-c]", inner), 0..4).prop_map(|members| {
                let members: Vec<String> =
                    members.into_iter().map(|(key, value)| format!("\"{key}\" :{value}")).collect();
                format!("{{{}}}", members.join(",\n"))
            }),
        ]
    })
}

/// Members that no shape knows, to be inserted between others.
fn extras() -> impl Strategy<Value = String> {
    prop::collection::vec(("x[a-c]{1,2}", any_json()), 0..3).prop_map(|members| {
        members.into_iter().map(|(key, value)| format!("\"{key}\": {value} , ")).collect()
    })
}

/// Texts that are often over the limit: lines, one long line, escapes, unpaired surrogates.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("a line of text\\n".to_owned()),
        Just("\\u0041\\\"\\\\n☃\\n".to_owned()),
        Just("\\ud800 half\\t".to_owned()),
        Just("error: something\\r\\n".to_owned()),
        "[ -!#-\\[\\]-~]{1,30}",
    ];
    (prop::collection::vec(piece, 1..6), 1usize..400)
        .prop_map(|(pieces, times)| pieces.concat().repeat(times))
}

/// A result before and after: `@` is replaced by the text, `#` by what marks the cut.
struct Form {
    before: &'static str,
    after: &'static str,
}

const FORMS: [Form; 9] = [
    Form {
        before: r#"{~"success":true, "output" : @ ,"metadata":{~"k":1}}"#,
        after: r#"{~"success":true, "output" : @ ,"metadata":{~"k":1,"truncated":true,"truncationPath":"$","truncationRemovedBytes":%}}"#,
    },
    Form {
        before: r#"{~"title":"","output":@, "metadata" : { } }"#,
        after: r#"{~"title":"","output":@, "metadata" : {"truncated":true,"outputPath":"$" } }"#,
    },
    Form {
        before: r#"{~"llmContent":[{~"type":"text","text":@}, 5 ]}"#,
        after: r#"{~"llmContent":[{~"type":"text","text":@}, 5 ],"truncated":true,"outputPath":"$"}"#,
    },
    Form {
        before: r#"{~"type":"tool_result","content":[{"type":"image",~"y":1},{~"type":"text","text":@}]}"#,
        after: r#"{~"type":"tool_result","content":[{"type":"image",~"y":1},{~"type":"text","text":@}]}"#,
    },
    Form { before: r#"{~"role":"tool","content":@}"#, after: r#"{~"role":"tool","content":@}"# },
    Form {
        before: r#"{"output":"old",~"type":"function_call_output","output":@}"#,
        after: r#"{"output":"old",~"type":"function_call_output","output":@}"#,
    },
    Form {
        before: r#"{"functionResponse":{"name":"n","response":{"output":@}},~"z":0}"#,
        after: r#"{"functionResponse":{"name":"n","response":{"output":@}},~"z":0}"#,
    },
    Form {
        before: r#"{~"output":@,"ui_extra":null}"#,
        after: r#"{~"output":@,"ui_extra":{"type":"truncation","truncation":{"saved_file_path":"$","original_length":&,"truncated_length":^}}}"#,
    },
    Form {
        before: r#" {~"role":"function","content":[@]} "#,
        after: r#" {~"role":"function","content":[@]} "#,
    },
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn only_texts_and_documented_fields_change(
        form in 0..FORMS.len(), extras in extras(), text in text(), most in 512u64..4000,
    ) {
        let Form { before, after } = FORMS[form];
        let fill = |template: &str, text: &str| template.replace('~', &extras).replace('@', text);
        let written = fill(before, &format!("\"{text}\""));
        let limits = offcut::Limits { bytes: Some(most), ..Default::default() };
        let rule = offcut::Rule { limits, ..Default::default() };
        let store = memory();
        let truncator = Truncator::new(Profile::native()).storage(Storage::To(store.clone())).rule(rule).unwrap();
        let middleware = Middleware::new(truncator);
        let bounded = middleware.bound_json(&written, ShapeChoice::Auto, &Context::default()).unwrap();
        prop_assert_eq!(bounded.results.len(), 1);
        match &bounded.results[0].outcome {
            ResultOutcome::Truncated(preview) => {
                prop_assert!(preview.content().len() as u64 <= most);
                let Saved::Complete(entry) = preview.saved() else { panic!("a memory store keeps everything") };
                // An unpaired surrogate becomes one replacement character.
                let shown = String::from_utf8_lossy(preview.content()).replace("\u{fffd}\u{fffd}\u{fffd}", "\u{fffd}");
                let chars = |text: &[u8]| offcut::measure::chars(text, offcut::measure::CharConvention::CodePoints);
                let all = chars(&read_all(&*store, &entry.id));
                let placed = preview.placed().iter().map(|part| chars(&preview.content()[part.at..part.at + part.length]));
                let hidden = all - placed.sum::<u64>();
                let removed = preview.removed().bytes.to_string();
                let expected = fill(after, &serde_json::to_string(&shown).unwrap())
                    .replace('$', &entry.uri())
                    .replace('%', &removed)
                    .replace('&', &all.to_string())
                    .replace('^', &hidden.to_string());
                // The text may contain the signs of the template; then only the structure is compared.
                if !text.contains(['$', '%', '&', '^', '~', '@']) {
                    prop_assert_eq!(&*bounded.json, expected);
                }
            }
            _ => prop_assert_eq!(&*bounded.json, &written),
        }
        prop_assert!(serde_json::from_str::<Value>(&bounded.json.replace("\\ud800", "")).is_ok());
        // The second time, the preview is unchanged.
        let again = middleware.bound_json(&bounded.json, ShapeChoice::Auto, &Context::default()).unwrap();
        prop_assert_eq!(&again.json, &bounded.json);
    }

    #[test]
    fn never_panics_on_any_json(json in any_json(), shape in 0usize..offcut::results::Shape::ALL.len()) {
        let middleware = Middleware::new(Truncator::new(Profile::native()));
        let shape = offcut::results::Shape::ALL[shape];
        let bounded = middleware.bound_json(&json, ShapeChoice::Is(shape), &Context::default()).unwrap();
        prop_assert!(!bounded.json.is_empty());
    }
}
