//! Counting bytes sixteen at a time.
//!
//! ```
//! assert_eq!(warmfold::bytes::count("one\ntwo\n".as_bytes(), b'\n'), 2);
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
