//! Counting bytes and finding words, sixteen bytes at a time.
//!
//! ```
//! assert_eq!(warmfold::bytes::count("one\ntwo\n".as_bytes(), b'\n'), 2);
//! assert_eq!(warmfold::bytes::find("one two three four five".as_bytes(), b"four"), Some(14));
//! ```

use wide::u8x16;

/// Bytes that are counted side by side.
pub const LANES: usize = 16;

/// Blocks after which a lane's count must be read, since it is held in a byte.
const MOST: usize = 255;

/// Calls `block` with up to 255 lanes at a time; the last one is filled up with zeros. Returns how many zeros those are.
pub(crate) fn blocks(bytes: &[u8], mut block: impl FnMut(&[[u8; LANES]])) -> u64 {
    let (lanes, rest) = bytes.as_chunks::<LANES>();
    lanes.chunks(MOST).for_each(&mut block);
    if rest.is_empty() {
        return 0;
    }
    let mut last = [0; LANES];
    last[..rest.len()].copy_from_slice(rest);
    block(&[last]);
    (LANES - rest.len()) as u64
}

/// Sums lanes up.
pub(crate) fn total(lanes: u8x16) -> u64 {
    lanes.to_array().iter().map(|count| u64::from(*count)).sum()
}

/// How often a byte other than NUL occurs.
pub fn count(bytes: &[u8], wanted: u8) -> u64 {
    let wanted = u8x16::splat(wanted);
    let mut sum = 0;
    blocks(bytes, |block| {
        // A lane that is equal is all ones, which is −1: subtracting counts it.
        let count = block.iter().fold(u8x16::splat(0), |count, lane| count - u8x16::new(*lane).simd_eq(wanted));
        sum += total(count);
    });
    sum
}

/// Whether two stretches are the same: long ones, for which the byte by byte of wasm takes too long.
pub fn is_same(left: &[u8], right: &[u8]) -> bool {
    let ((lefts, left_rest), (rights, right_rest)) = (left.as_chunks::<LANES>(), right.as_chunks::<LANES>());
    let differ = |(lefts, rights): (&[[u8; LANES]], &[[u8; LANES]])| {
        let none = u8x16::splat(0);
        let differs = lefts.iter().zip(rights).fold(none, |differs, (left, right)| differs | (u8x16::new(*left) ^ u8x16::new(*right)));
        differs.simd_eq(none).to_bitmask() != 0xffff
    };
    left.len() == right.len() && left_rest == right_rest && !lefts.chunks(64).zip(rights.chunks(64)).any(differ)
}

/// Where a short word stands first. The search of the standard library prepares itself for each word, which takes longer than looking
/// through the first words of a result.
pub fn find(bytes: &[u8], word: &[u8]) -> Option<usize> {
    let (Some(first), Some(last)) = (word.first(), word.last()) else { return Some(0) };
    let places = (bytes.len() + 1).checked_sub(word.len())?;
    let Some(last_lane) = places.checked_sub(LANES) else {
        return (0..places).find(|at| bytes[*at..].starts_with(word));
    };
    let (first, last) = (u8x16::splat(*first), u8x16::splat(*last));
    let lane = |at: usize| u8x16::new(bytes[at..].first_chunk().copied().unwrap_or_default());
    // The last lanes overlap, so that none ends behind the text.
    for at in (0..places).step_by(LANES).map(|at| at.min(last_lane)) {
        let mut candidates = (lane(at).simd_eq(first) & lane(at + word.len() - 1).simd_eq(last)).to_bitmask();
        while candidates != 0 {
            let found = at + candidates.trailing_zeros() as usize;
            if bytes[found..].starts_with(word) {
                return Some(found);
            }
            candidates &= candidates - 1;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_found_where_it_stands_first() {
        let text = b"aab abba abbab\0 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab";
        for word_length in 0..20 {
            for from in 0..text.len() - word_length {
                let word = &text[from..from + word_length];
                for end in 0..=text.len() {
                    let text = &text[..end];
                    let expected = (0..=text.len()).find(|at| text[*at..].starts_with(word));
                    assert_eq!(find(text, word), expected, "{word:?} in the first {end}");
                }
            }
        }
    }
}
