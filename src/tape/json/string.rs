//! Strings: copied sixteen bytes at a time, escapes decoded on the way.

use wide::u8x16;

use super::{Writer, not_utf8};
use crate::bytes::LANES;

/// Bytes that a copy may write behind the text before they are taken back.
pub(super) const SLACK: usize = LANES;

const REPLACEMENT: char = char::REPLACEMENT_CHARACTER;

/// What a letter behind a backslash stands for; 0 where it is none of them.
const ESCAPES: [u8; 256] = {
    let mut escapes = [0; 256];
    let mut at = 0;
    while at < PAIRS.len() {
        escapes[PAIRS[at].0 as usize] = PAIRS[at].1;
        at += 1;
    }
    escapes
};
const PAIRS: [(u8, u8); 8] = [(b'n', b'\n'), (b't', b'\t'), (b'r', b'\r'), (b'b', 8), (b'f', 12), (b'"', b'"'), (b'\\', b'\\'), (b'/', b'/')];

impl Writer<'_> {
    /// Reads a string from behind its opening quote; returns where its text stands.
    pub(super) fn string(&mut self) -> crate::Result<(u32, u32)> {
        let start = self.text.len();
        if self.source.get(self.at).is_some_and(|byte| (0x80..0xc0).contains(byte)) {
            return Err(not_utf8(self.source)); // a text that only together with the one before it would be valid
        }
        loop {
            self.plain();
            match (self.source.get(self.at), self.source.get(self.at + 1)) {
                (Some(b'"'), _) => break,
                (Some(b'\\'), Some(letter)) => match ESCAPES[usize::from(*letter)] {
                    0 => self.unicode(*letter)?,
                    decoded => {
                        self.text.push(decoded);
                        self.at += 2;
                    }
                },
                (Some(b'\\'), None) => {
                    self.at += 1;
                    return Err(self.fault("ends early"));
                }
                (Some(_), _) => return Err(self.fault("a control character in a string")),
                (None, _) => return Err(self.fault("ends early")),
            }
        }
        self.at += 1;
        Ok((start as u32, (self.text.len() - start) as u32))
    }

    /// Copies up to the next quote, backslash or control character.
    #[inline(always)]
    fn plain(&mut self) {
        let (source, text) = (self.source, &mut self.text);
        let mut at = self.at;
        loop {
            let rest = &source[at..];
            let lane = match rest.first_chunk::<LANES>() {
                Some(lane) => *lane,
                None => {
                    let mut last = [0; LANES]; // a zero is a control character, so nothing is read behind the end
                    last[..rest.len()].copy_from_slice(rest);
                    last
                }
            };
            let bytes = u8x16::new(lane);
            let is_control = bytes.min(u8x16::splat(0x1f)).simd_eq(bytes);
            let ends = (bytes.simd_eq(u8x16::splat(b'"')) | bytes.simd_eq(u8x16::splat(b'\\')) | is_control).to_bitmask();
            let length = text.len();
            text.extend_from_slice(&lane);
            if ends != 0 {
                let plain = ends.trailing_zeros() as usize;
                text.truncate(length + plain);
                self.at = at + plain;
                return;
            }
            at += LANES;
        }
    }

    #[cold]
    fn unicode(&mut self, letter: u8) -> crate::Result<()> {
        if letter != b'u' {
            return Err(self.fault("an escape that JSON does not have"));
        }
        let first = self.hex(self.at)?;
        let mut length = 6;
        let letter = match first {
            0xd800..0xdc00 if self.source.get(self.at + 6..self.at + 8) == Some(b"\\u") => {
                let second = self.hex(self.at + 6)?;
                if (0xdc00..0xe000).contains(&second) {
                    length = 12;
                    char::from_u32(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00))
                } else {
                    None // the second is read as an escape of its own
                }
            }
            _ => char::from_u32(first),
        };
        self.text.extend_from_slice(letter.unwrap_or(REPLACEMENT).encode_utf8(&mut [0; 4]).as_bytes());
        self.at += length;
        Ok(())
    }

    /// The number that the four digits of the escape at a place say.
    fn hex(&self, at: usize) -> crate::Result<u32> {
        let digits = self.source.get(at + 2..at + 6);
        let number = digits.and_then(|digits| digits.iter().try_fold(0, |number, digit| Some(number * 16 + char::from(*digit).to_digit(16)?)));
        number.ok_or_else(|| self.fault("expected four hexadecimal digits"))
    }
}
