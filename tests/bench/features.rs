//! What `scripts/fit-tokens.mjs` fits: a JSON array of texts and of other values comes in, and a line of features goes out for each.
//!
//!     cargo run --release --example features < texts.json

use std::io::{Read, Write};

use warmfold::{tape::Tape, tokens::Counts};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut texts = String::new();
    std::io::stdin().read_to_string(&mut texts)?;
    let tape = Tape::from_json(texts)?;
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for node in tape.root().children() {
        let counts = node.text().map_or_else(|| Counts::of_tree(node), Counts::of);
        let features: Vec<String> = counts.features().iter().map(u64::to_string).collect();
        writeln!(out, "{}", features.join(" "))?;
    }
    Ok(())
}
