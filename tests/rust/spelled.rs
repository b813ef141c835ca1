//! The many spellings of one JSON value: spaces, escapes and numbers as other writers have them.

use proptest::prelude::*;
use serde_json::{Value, json};

/// With each number as a float: 1 and 1.0 are one.
pub fn floats(value: &Value) -> Value {
    match value {
        Value::Number(number) => json!(number.as_f64()),
        Value::Array(items) => items.iter().map(floats).collect(),
        Value::Object(fields) => fields.iter().map(|(key, field)| (key.clone(), floats(field))).collect::<serde_json::Map<_, _>>().into(),
        other => other.clone(),
    }
}

/// Decides about each spelling in turn; the same choices spell the same way.
pub struct Choices(u64);

impl Choices {
    pub fn of(seed: u64) -> Choices {
        Choices(seed)
    }

    /// A number under `end`.
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

/// Spellings of a value.
pub fn spellings(value: impl Strategy<Value = Value>) -> impl Strategy<Value = (Value, String)> {
    (value, any::<u64>()).prop_map(|(value, seed)| {
        let text = spell(&value, &mut Choices::of(seed));
        (value, text)
    })
}

/// One spelling.
pub fn spell(value: &Value, choices: &mut Choices) -> String {
    let mut text = String::new();
    write(value, choices, &mut text);
    space(choices, &mut text);
    text
}

fn write(value: &Value, choices: &mut Choices, text: &mut String) {
    space(choices, text);
    match value {
        Value::Array(items) => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                text.push_str(if index > 0 { "," } else { "" });
                write(item, choices, text);
                space(choices, text);
            }
            space(choices, text);
            text.push(']');
        }
        Value::Object(fields) => {
            text.push('{');
            for (index, (key, field)) in fields.iter().enumerate() {
                text.push_str(if index > 0 { "," } else { "" });
                space(choices, text);
                string(key, choices, text);
                space(choices, text);
                text.push(':');
                write(field, choices, text);
                space(choices, text);
            }
            space(choices, text);
            text.push('}');
        }
        Value::String(string_) => string(string_, choices, text),
        Value::Number(number) => text.push_str(&match (number.as_i64(), choices.below(5)) {
            (Some(whole), 0) => format!("{whole}.0"),
            (Some(whole), 1) => format!("{whole}e0"),
            (Some(whole), 2) => format!("{whole}.000E+00"),
            _ => number.to_string(),
        }),
        other => text.push_str(&other.to_string()),
    }
}

fn space(choices: &mut Choices, text: &mut String) {
    for _ in 0..choices.below(6).saturating_sub(3) {
        text.push([' ', '\n', '\t', '\r'][choices.below(4) as usize]);
    }
}

fn string(value: &str, choices: &mut Choices, text: &mut String) {
    text.push('"');
    for letter in value.chars() {
        let escaped = match letter {
            '"' => r#"\""#.to_owned(),
            '\\' => r"\\".to_owned(),
            '\n' if choices.below(3) > 0 => r"\n".to_owned(),
            '/' if choices.below(2) == 0 => r"\/".to_owned(),
            '\u{8}' => r"\b".to_owned(),
            '\u{c}' => r"\f".to_owned(),
            _ if letter < ' ' || choices.below(9) == 0 => letter.encode_utf16(&mut [0; 2]).iter().map(|unit| hex(*unit, choices)).collect(),
            _ => letter.to_string(),
        };
        text.push_str(&escaped);
    }
    text.push('"');
}

fn hex(unit: u16, choices: &mut Choices) -> String {
    if choices.below(2) == 0 { format!("\\u{unit:04x}") } else { format!("\\u{unit:04X}") }
}
