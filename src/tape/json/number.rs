//! Numbers: the nearest f64, as every JavaScript engine has it.

use super::Writer;

/// Integers up to here are f64s of their own.
const EXACT: u64 = 1 << 53;

impl Writer<'_> {
    pub(super) fn number(&mut self) -> crate::Result<f64> {
        let start = self.at;
        if self.source.get(self.at) == Some(&b'-') {
            self.at += 1;
        }
        let first = self.source.get(self.at).copied();
        let whole = self.digits()?;
        if first == Some(b'0') && self.at > start + 1 + usize::from(self.source[start] == b'-') {
            self.at = start;
            return Err(self.fault("a number that begins with 0"));
        }
        let mut is_integer = true;
        if self.source.get(self.at) == Some(&b'.') {
            is_integer = false;
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.source.get(self.at) {
            is_integer = false;
            self.at += 1;
            if let Some(b'+' | b'-') = self.source.get(self.at) {
                self.at += 1;
            }
            self.digits()?;
        }
        if is_integer && whole <= EXACT {
            let number = whole as f64;
            return Ok(if self.source[start] == b'-' { -number } else { number });
        }
        Ok(std::str::from_utf8(&self.source[start..self.at]).map_or(f64::NAN, nearest))
    }

    /// Reads digits; returns their number, or the largest there is.
    fn digits(&mut self) -> crate::Result<u64> {
        let start = self.at;
        let mut number: u64 = 0;
        while let Some(digit @ b'0'..=b'9') = self.source.get(self.at) {
            number = number.saturating_mul(10).saturating_add(u64::from(digit - b'0'));
            self.at += 1;
        }
        match self.at > start {
            true => Ok(number),
            false => Err(self.fault(if self.at < self.source.len() { "expected a digit" } else { "ends early" })),
        }
    }
}

/// The f64 next to a JSON number.
fn nearest(spelled: &str) -> f64 {
    // Rust's own tables for this would be a twentieth of the package, and every host of wasm has them.
    #[cfg(target_arch = "wasm32")]
    return js_sys::parse_float(spelled);
    #[cfg(not(target_arch = "wasm32"))]
    spelled.parse().unwrap_or(f64::NAN) // any JSON number is one of Rust's
}
