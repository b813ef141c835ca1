//! The reader of JSON takes and refuses what serde_json does, and reads the same values.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use warmfold::Tape;
use warmfold::error::Code;

fuzz_target!(|bytes: &[u8]| {
    let ours = Tape::from_json(bytes);
    if bytes.starts_with("\u{feff}".as_bytes()) || ours.as_ref().is_err_and(|error| error.code() == Code::TooDeep) {
        return;
    }
    // It reads what it ignores in full, but for the range of numbers and the pairing of surrogates.
    let theirs = std::str::from_utf8(bytes).is_ok() && serde_json::from_slice::<IgnoredAny>(bytes).is_ok();
    assert_eq!(ours.is_ok(), theirs, "{:?}", ours.err());
    if let (Ok(ours), Ok(value)) = (ours, serde_json::from_slice::<Value>(bytes)) {
        assert_eq!(floats(&ours.root().to_json()), floats(&value));
    }
});

/// With each number as a float.
fn floats(value: &Value) -> Value {
    match value {
        Value::Number(number) => json!(number.as_f64()),
        Value::Array(items) => items.iter().map(floats).collect(),
        Value::Object(fields) => Value::Object(fields.iter().map(|(key, field)| (key.clone(), floats(field))).collect()),
        other => other.clone(),
    }
}
