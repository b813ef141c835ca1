//! What an image costs, by the formula that its provider documents, and how large it is, from the head of its base64.
//!
//! ```
//! use warmfold::tokens::{Family, images};
//!
//! assert_eq!(images::size("data:image/gif;base64,R0lGODlhQAGAAg=="), Some((320, 640)));
//! assert_eq!(images::tokens(Family::O200k, (1024, 1024), false), 765);
//! assert_eq!(images::tokens(Family::Claude, (1000, 1000), false), 1334);
//! ```

use super::Family;

/// Pixels of an image whose size is not known.
pub const UNKNOWN: (u32, u32) = (1024, 1024);

/// JPEG segments that are looked at before the one that tells the size.
const SEGMENTS: usize = 256;

/// Tokens of an image of this width and height in pixels; `low` for `detail: "low"`, which only OpenAI knows.
///
/// - Anthropic (docs, "Vision", "Calculate image costs"): width × height / 750, after shrinking the longer side to 1568 pixels; about 1,600 at the most.
/// - Gemini (docs, "Token counting", "Multimodal tokens"): 258 where both sides are up to 384 pixels, else 258 for each tile of 768 × 768.
/// - OpenAI (docs, "Images and vision", "Calculating costs", GPT-4o), taken for all others: 85, and at high detail 170 for each tile of
///   512 × 512, after shrinking into 2048 × 2048 and the shorter side to 768.
pub fn tokens(family: Family, (width, height): (u32, u32), low: bool) -> u32 {
    let (width, height) = (f64::from(width.max(1)), f64::from(height.max(1)));
    let (longer, shorter) = (width.max(height), width.min(height));
    let tiles = |side: f64, scale: f64| (width * scale / side).ceil() * (height * scale / side).ceil();
    let tokens = match family {
        Family::Claude => {
            let scale = (1568.0 / longer).min(1.0);
            (width * height * scale * scale / 750.0).ceil().min(1600.0)
        }
        Family::Gemini if longer <= 384.0 => 258.0,
        Family::Gemini => 258.0 * tiles(768.0, 1.0),
        _ if low => 85.0,
        _ => {
            let inside = (2048.0 / longer).min(1.0);
            85.0 + 170.0 * tiles(512.0, inside * (768.0 / (shorter * inside)).min(1.0))
        }
    };
    tokens as u32
}

/// Width and height of a PNG, JPEG, GIF or WebP in base64, with or without `data:…,` before it.
pub fn size(text: &str) -> Option<(u32, u32)> {
    let data = match text.strip_prefix("data:") {
        Some(url) => url.split_once(";base64,")?.1,
        None => text,
    };
    let data = Base64(data.as_bytes());
    let pixels = match &data.head()? {
        b"\x89PNG\r\n" => (data.big(16, 4)?, data.big(20, 4)?),
        [b'G', b'I', b'F', ..] => (data.little(6, 2)?, data.little(8, 2)?),
        [b'R', b'I', b'F', b'F', ..] => webp(&data)?,
        [0xff, 0xd8, ..] => jpeg(&data)?,
        _ => return None,
    };
    Some(pixels).filter(|(width, height)| *width > 0 && *height > 0)
}

/// The three kinds of WebP: lossy, lossless, extended.
fn webp(data: &Base64<'_>) -> Option<(u32, u32)> {
    match data.byte(15)? {
        b' ' => Some((data.little(26, 2)? & 0x3fff, data.little(28, 2)? & 0x3fff)),
        b'L' => {
            let bits = data.little(21, 4)?;
            Some(((bits & 0x3fff) + 1, ((bits >> 14) & 0x3fff) + 1))
        }
        b'X' => Some((data.little(24, 3)? + 1, data.little(27, 3)? + 1)),
        _ => None,
    }
}

/// The size stands in the first frame header, behind as many other segments as there are.
fn jpeg(data: &Base64<'_>) -> Option<(u32, u32)> {
    let mut at = 2;
    for _ in 0..SEGMENTS {
        let marker = data.byte(at + 1).filter(|_| data.byte(at) == Some(0xff))?;
        match marker {
            0xff => at += 1,
            0xc4 | 0xc8 | 0xcc => at += 2 + data.big(at + 2, 2)? as usize,
            0xc0..=0xcf => return Some((data.big(at + 7, 2)?, data.big(at + 5, 2)?)),
            _ => at += 2 + data.big(at + 2, 2)? as usize,
        }
    }
    None
}

/// Base64 of which only the bytes asked for are decoded.
struct Base64<'t>(&'t [u8]);

impl Base64<'_> {
    fn head(&self) -> Option<[u8; 6]> {
        let mut head = [0; 6];
        for (at, byte) in head.iter_mut().enumerate() {
            *byte = self.byte(at)?;
        }
        Some(head)
    }

    fn byte(&self, at: usize) -> Option<u8> {
        let first = at / 3 * 4 + at % 3;
        let (high, low) = (sextet(*self.0.get(first)?)?, sextet(*self.0.get(first + 1)?)?);
        Some(((high << 6 | low) >> (4 - 2 * (at % 3))) as u8)
    }

    fn big(&self, at: usize, length: usize) -> Option<u32> {
        (at..at + length).try_fold(0, |number, at| Some(number << 8 | u32::from(self.byte(at)?)))
    }

    fn little(&self, at: usize, length: usize) -> Option<u32> {
        (at..at + length).rev().try_fold(0, |number, at| Some(number << 8 | u32::from(self.byte(at)?)))
    }
}

fn sextet(letter: u8) -> Option<u16> {
    let sextet = match letter {
        b'A'..=b'Z' => letter - b'A',
        b'a'..=b'z' => letter - b'a' + 26,
        b'0'..=b'9' => letter - b'0' + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => return None,
    };
    Some(u16::from(sextet))
}
