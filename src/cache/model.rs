//! A simulated provider cache: what each request of a run would be billed, so that a policy can be priced without calling a model.
//!
//! ```
//! use warmfold::cache::{model::{Billed, Block, Cache, Request}, profile::Profile};
//!
//! let sent: Vec<Block> = (0..4).map(|at| Block { print: at, tokens: 1000, blocks: 1 }).collect();
//! let mut cache = Cache::new(Profile::of_model("claude-sonnet-4-5"));
//! let mut bill = |length: usize, marks: &[usize], seconds: f64| {
//!     cache.bill(&Request { messages: &sent[..length], marks: Some(marks), at_ms: Some(seconds * 1000.0), cold: false })
//! };
//! assert_eq!(bill(2, &[1], 0.0), Billed { read: 0, written: 2000, uncached: 0 });
//! assert_eq!(bill(4, &[3], 60.0), Billed { read: 2000, written: 2000, uncached: 0 });
//! assert_eq!(bill(4, &[1], 90.0), Billed { read: 2000, written: 0, uncached: 2000 });
//! assert_eq!(bill(4, &[3], 400.0), Billed { read: 0, written: 4000, uncached: 0 }); // unread for 310 seconds
//! ```
//!
//! Rules, for figures and sources see [`profile`](super::profile):
//!
//! - An entry is a prefix of whole messages. Anthropic, and OpenAI from GPT-5.6 on, write one at each mark and nowhere else; a read takes
//!   the longest at a mark of the request or within the look-back before one. Tokens up to the last mark that are not read are written,
//!   those behind it are plain input.
//! - Others find the longest prefix in common with any request that is still alive, rounded down to their steps. The rest costs the
//!   write price, which is that of plain input with all of them.
//! - A prefix under the minimum is neither written nor read.
//! - An entry dies when nobody wrote or read it for longer than its lifetime. A request renews what it reads and what stands at its
//!   marks; whether a provider renews shorter prefixes too is not said. The lifetime counts from request to request (Anthropic: "from the
//!   start of the request"), though an entry can only be read once its answer began.
//!
//! What it does not know: eviction under load, routing, and requests at the same time.

use rustc_hash::FxHashMap;
use twox_hash::XxHash64;

use super::profile::{Lookup, Profile};

/// One message as sent, or the system prompt and tools before them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Fingerprint of what is sent; marks are no part of it.
    pub print: u64,
    /// Its tokens, in any unit that the profile's minimum is in too.
    pub tokens: u64,
    /// Content blocks, as the provider counts them for the look-back (Anthropic takes a run of tool calls, or of results, for one).
    pub blocks: u32,
}

/// One request as the provider sees it.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Everything sent, in order.
    pub messages: &'a [Block],
    /// Messages that end in a mark, those that the provider sets itself included; matters to [`Lookup::Marks`] alone. `None`: whatever
    /// was sent is found again, as if each message were marked.
    pub marks: Option<&'a [usize]>,
    /// When it was sent; `None` for no later than the request before.
    pub at_ms: Option<f64>,
    /// Whether the cache is gone.
    pub cold: bool,
}

/// What a request is billed, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Billed {
    /// Read from the cache.
    pub read: u64,
    /// Written to it.
    pub written: u64,
    /// Neither.
    pub uncached: u64,
}

impl Billed {
    /// In uncached input tokens.
    pub fn cost(self, profile: &Profile) -> f64 {
        self.read as f64 * profile.read + self.written as f64 * profile.write + self.uncached as f64
    }
}

/// The entries of one provider, model and account.
#[derive(Clone, Debug)]
pub struct Cache {
    profile: Profile,
    /// When each prefix was last written or read.
    entries: FxHashMap<u64, Option<f64>>,
    now: Option<f64>,
    /// The last request: what the next one begins with as well is not looked at again.
    messages: Vec<Block>,
    /// The prefix that ends with each of its messages.
    prefixes: Vec<Prefix>,
    /// How many of these, from the first on, were written or read just now.
    renewed: usize,
}

impl Cache {
    /// An empty one.
    pub fn new(profile: Profile) -> Cache {
        Cache { profile, entries: FxHashMap::default(), now: None, messages: Vec::new(), prefixes: Vec::new(), renewed: 0 }
    }

    /// An empty one without minimum and steps. Without marks, and while no message goes back to an earlier form, it reads what the
    /// request has in common with the one before, and writes the rest.
    pub fn lenient(profile: Profile) -> Cache {
        Cache::new(Profile { minimum_tokens: 0, granularity_tokens: 1, ..profile })
    }

    /// Bills the next request.
    pub fn bill(&mut self, request: &Request<'_>) -> Billed {
        let now = request.at_ms.or(self.now);
        if request.cold || now != self.now {
            self.renewed = 0;
        }
        if request.cold {
            self.entries.clear();
        }
        self.now = now;
        self.extend(request.messages);
        let total = self.prefixes.last().map_or(0, |whole| whole.tokens);
        let (marks, look_back) = match self.profile.lookup {
            Lookup::Never => return Billed { uncached: total, ..Billed::default() },
            Lookup::Prefix => (None, 1),
            Lookup::Marks { look_back } => (request.marks, look_back),
        };
        let found = self.find(marks, u64::from(look_back));
        let (minimum, step) = (u64::from(self.profile.minimum_tokens), u64::from(self.profile.granularity_tokens.max(1)));
        let is_written = |prefix: &&Prefix| prefix.tokens >= minimum;
        self.entries.extend(found.map(|prefix| (prefix.print, now)));
        let last = match marks {
            Some(marks) => {
                let marked = marks.iter().filter_map(|at| self.prefixes.get(*at)).filter(is_written);
                self.entries.extend(marked.clone().map(|prefix| (prefix.print, now)));
                marked.map(|prefix| prefix.tokens).max()
            }
            None => {
                self.entries.extend(self.prefixes[self.renewed..].iter().filter(is_written).map(|prefix| (prefix.print, now)));
                self.renewed = self.prefixes.len();
                self.prefixes.last().filter(is_written).map(|prefix| prefix.tokens)
            }
        };
        let read = found.map(|prefix| prefix.tokens - prefix.tokens % step).filter(|tokens| *tokens >= minimum).unwrap_or(0);
        let written = last.unwrap_or(0).saturating_sub(read);
        Billed { read, written, uncached: total - read - written }
    }

    /// Takes the messages in; each prefix takes in the one before.
    fn extend(&mut self, messages: &[Block]) {
        let same = self.messages.iter().zip(messages).take_while(|(last, now)| last == now).count();
        self.renewed = self.renewed.min(same);
        self.messages.truncate(same);
        self.prefixes.truncate(same);
        self.messages.extend_from_slice(&messages[same..]);
        let mut before = self.prefixes.last().copied().unwrap_or(Prefix { print: 0, tokens: 0 });
        self.prefixes.extend(messages[same..].iter().map(|block| {
            before = Prefix { print: XxHash64::oneshot(before.print, &block.print.to_le_bytes()), tokens: before.tokens + block.tokens };
            before
        }));
    }

    /// The longest living entry that the marks of the request reach.
    fn find(&self, marks: Option<&[usize]>, look_back: u64) -> Option<Prefix> {
        let is_mark = |at: usize| marks.is_none_or(|marks| marks.contains(&at));
        let mut behind = u64::MAX; // content blocks from here to the next mark
        for (at, prefix) in self.prefixes.iter().enumerate().rev() {
            behind = if is_mark(at) { 0 } else { behind.saturating_add(self.messages.get(at + 1).map_or(0, |next| u64::from(next.blocks))) };
            if behind < look_back && self.is_alive(prefix) {
                return Some(*prefix);
            }
        }
        None
    }

    fn is_alive(&self, prefix: &Prefix) -> bool {
        let age = |last: &Option<f64>| self.now.zip(*last).map_or(0.0, |(now, last)| now - last);
        self.entries.get(&prefix.print).is_some_and(|last| age(last) <= self.profile.ttl_ms)
    }
}

/// All that is sent up to the end of a message.
#[derive(Clone, Copy, Debug)]
struct Prefix {
    print: u64,
    tokens: u64,
}
