//! A value as the JSON text that `JSON.stringify` makes of it, which is what providers are sent where a format holds values.
//!
//! ```
//! use warmfold::tape::Tape;
//!
//! let tape = Tape::from_json(r#"{ "b": 1e21, "a": [0.10, "x"], "1": null }"#)?;
//! assert_eq!(tape.root().stringified().as_deref(), Some(r#"{"1":null,"b":1e+21,"a":[0.1,"x"]}"#));
//! # Ok::<(), warmfold::Error>(())
//! ```

use super::{Kind, Node};

impl Node<'_> {
    /// Its JSON text; `None` where it holds what JSON cannot, or an instance of a class, which may have a spelling of its own.
    pub fn stringified(self) -> Option<String> {
        let mut text = String::new();
        write(self, &mut text).then_some(text)
    }
}

/// Whether the whole of it could be written.
fn write(node: Node<'_>, text: &mut String) -> bool {
    match node.kind() {
        Kind::Opaque => return false,
        Kind::Null => text.push_str("null"),
        Kind::False => text.push_str("false"),
        Kind::True => text.push_str("true"),
        Kind::Number => number(node.number().unwrap_or(f64::NAN), text),
        Kind::String => string(node.text().unwrap_or(""), text),
        Kind::Array => {
            text.push('[');
            let whole = list(node.children(), text, write);
            text.push(']');
            return whole;
        }
        Kind::Object => {
            text.push('{');
            let whole = list(fields(node).into_iter(), text, |field, text| {
                string(field.key().unwrap_or(""), text);
                text.push(':');
                write(field, text)
            });
            text.push('}');
            return whole && !node.is_instance();
        }
    }
    true
}

fn list<'t>(mut nodes: impl Iterator<Item = Node<'t>>, text: &mut String, one: impl Fn(Node<'t>, &mut String) -> bool) -> bool {
    let mut first = true;
    nodes.all(|node| {
        if !std::mem::take(&mut first) {
            text.push(',');
        }
        one(node, text)
    })
}

/// Fields in the order of JavaScript's objects: keys that are array indices first.
fn fields(node: Node<'_>) -> Vec<Node<'_>> {
    let index = |field: &Node<'_>| {
        let key = field.key().filter(|key| key.starts_with(|first: char| first.is_ascii_digit()) && (*key == "0" || !key.starts_with('0')))?;
        key.parse::<u32>().ok().filter(|index| *index < u32::MAX)
    };
    let fields: Vec<_> = node.children().collect();
    if !fields.iter().any(|field| index(field).is_some()) {
        return fields;
    }
    // By index, then by place.
    let key = |(at, field): (usize, &Node<'_>)| u64::from(index(field).unwrap_or(u32::MAX)) << 32 | at as u64;
    let mut order: Vec<u64> = fields.iter().enumerate().map(key).collect();
    order.sort_unstable();
    order.iter().filter_map(|key| fields.get(*key as u32 as usize).copied()).collect()
}

fn string(value: &str, text: &mut String) {
    text.push_str(&serde_json::to_string(value).unwrap_or_default()); // a text is always JSON
}

/// The shortest digits are those that `serde_json` prints; JavaScript puts the point elsewhere.
fn number(value: f64, text: &mut String) {
    let Some(printed) = serde_json::Number::from_f64(value).map(|number| number.to_string()) else {
        return text.push_str("null");
    };
    let (sign, printed) = if value < 0.0 { ("-", printed.trim_start_matches('-')) } else { ("", printed.trim_start_matches('-')) };
    let (mantissa, exponent) = printed.split_once('e').unwrap_or((printed, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = [whole, fraction].concat();
    let digits = all.trim_start_matches('0');
    let zeros = all.len() - digits.len();
    let digits = digits.trim_end_matches('0');
    let (length, exponent) = (digits.len() as i32, exponent.parse().unwrap_or(0));
    // Digits before the point.
    let point = whole.len() as i32 - zeros as i32 + exponent;
    text.push_str(sign);
    let zeros = |count: i32| "0".repeat(count.max(0) as usize);
    match point {
        _ if digits.is_empty() => text.push('0'),
        1..=21 if length <= point => text.extend([digits, &zeros(point - length)]),
        1..=21 => text.extend([&digits[..point as usize], ".", &digits[point as usize..]]),
        -5..=0 => text.extend(["0.", &zeros(-point), digits]),
        _ => {
            let (first, rest) = digits.split_at(1);
            text.extend([first, if rest.is_empty() { "" } else { "." }, rest, if point > 0 { "e+" } else { "e-" }]);
            text.push_str(&(point - 1).unsigned_abs().to_string());
        }
    }
}
