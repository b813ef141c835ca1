//! Edits to text. The pieces of an edit are all there is to it: rendering cannot differ between versions.
//!
//! ```
//! use warmfold::{plan::Piece, render};
//!
//! let pieces = [Piece::Text("[warmfold: …]\n".into()), Piece::Span(0, 5)];
//! assert_eq!(render::text("hello world", &pieces), "[warmfold: …]\nhello");
//! ```

use crate::plan::Piece;
use crate::tokens::Estimator;

pub mod breadcrumb;
pub mod cut;
pub mod digest;
pub mod fact;
pub mod outline;

/// What is sent in place of `original`. The spans are inside it: [`crate::plan::carry`] has dropped all others.
pub fn text(original: &str, pieces: &[Piece]) -> String {
    let parts: Vec<&str> = pieces.iter().map(|piece| part(original, piece)).collect();
    parts.concat()
}

/// How many bytes that is.
pub fn length(pieces: &[Piece]) -> usize {
    pieces
        .iter()
        .map(|piece| match piece {
            Piece::Span(from, to) => (to - from) as usize,
            Piece::Text(text) => text.len(),
        })
        .sum()
}

/// How many tokens that is.
pub fn tokens(estimator: Estimator, original: &str, pieces: &[Piece]) -> u32 {
    estimator.pieces(pieces.iter().map(|piece| part(original, piece)))
}

fn part<'p>(original: &'p str, piece: &'p Piece) -> &'p str {
    match piece {
        Piece::Span(from, to) => original.get(*from as usize..*to as usize).unwrap_or(""),
        Piece::Text(text) => text,
    }
}
