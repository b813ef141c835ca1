//! What cached tokens cost, relative to an uncached input token, how long they live, and what a provider caches at all.
//!
//! ```
//! use warmfold::cache::profile::Profile;
//!
//! let opus = Profile::of_model("us.anthropic.claude-opus-4-5-20251101-v1:0");
//! assert_eq!((opus.read, opus.write, opus.ttl_ms, opus.minimum_tokens), (0.1, 1.25, 300_000.0, 4096));
//! assert_eq!(Profile::of_model("azure/gpt-5.1"), Profile::named("openai").unwrap());
//! ```
//!
//! A host that knows better passes its own figures. These are the providers' public ones, read in November 2026 from stored copies of
//! the pages, each of the date given; "assumed" is what no page says. A model's id tells who made it, not who serves it: for a model
//! that somebody else hosts, pass the profile.
//!
//! | name | read, write | life | minimum, steps | source |
//! | --- | --- | --- | --- | --- |
//! | anthropic-5m, anthropic-1h | 0.1, 1.25 or 2 | 5 min, 1 h, from the last write or read | 1,024, any | [Anthropic][a], 2026-10-08 |
//! | openai-4o (o1, o3-mini, GPT-4.5) | 0.5, 1 | 5 min | 1,024, 128 | [OpenAI][o], [prices][p], 2025-06-03 |
//! | openai-4.1 (o3, o4-mini) | 0.25, 1 | 5 min | 1,024, 128 | the same |
//! | openai (GPT-5 to 5.5) | 0.1, 1 | 5 min | 1,024, 128 | the same, 2026-09-23 |
//! | openai-5.6 (and later) | 0.1, 1.25 | 30 min | 1,024, any | the same, 2026-09-23 |
//! | gemini (2.5 and later) | 0.1, 1 | 5 min, assumed | 4,096, 2,048 | [Google][g], 2026-10-13, [prices][q], 2026-07-31; the steps: see below |
//! | deepseek (V4 Flash) | 0.02, 1 | 1 h, assumed | 64, 64 | [DeepSeek][d], [prices][e], 2026-10-27 |
//! | mistral | 0.1, 1 | 5 min, assumed | 64, 64 | [Mistral][m], 2026-09-08 |
//! | xai | 0.25, 1 | 5 min, assumed | none, 128 | [xAI][x], 2026-09-29; the steps were [measured][y], 2026-08-19 |
//! | none | 1, 1 | | | models without a cached price: GPT-4 and before, the "pro" ones, Gemini before 2.5 |
//!
//! - OpenAI before GPT-5.6 keeps a prefix for 5 to 10 minutes without use, an hour at the most; with `prompt_cache_retention: "24h"`, a
//!   default of many organisations, for about 30 minutes. The shortest is taken here.
//! - OpenAI from GPT-5.6 on: 30 minutes are the least. Its guide looks through the first 2 and latest 50 explicit breakpoints, the implicit
//!   one and 20 earlier ends of messages; its reference through the latest 80 breakpoints. Here: through all that was written.
//! - DeepSeek clears a prefix after "a few hours to a few days"; its 64 tokens are of 2024-08-02 (128 were measured since).
//! - Gemini's steps are measured: what 830 recorded calls of gemini-3-pro-preview (2025-11) cost says that about 2,048, 4,096, … were read.
//! - Gemini, Mistral and xAI publish no lifetime; xAI may evict at any time.
//!
//! [a]: https://platform.claude.com/docs/en/build-with-claude/prompt-caching
//! [o]: https://developers.openai.com/api/docs/guides/prompt-caching
//! [p]: https://developers.openai.com/api/docs/pricing
//! [g]: https://ai.google.dev/gemini-api/docs/caching
//! [q]: https://ai.google.dev/gemini-api/docs/pricing
//! [d]: https://api-docs.deepseek.com/guides/kv_cache
//! [e]: https://api-docs.deepseek.com/quick_start/pricing
//! [m]: https://docs.mistral.ai/studio-api/conversations/advanced/prompt-caching
//! [x]: https://docs.x.ai/developers/advanced-api-usage/prompt-caching
//! [y]: https://docs.apiyi.com/en/api-capabilities/grok/prompt-caching

use crate::error::Code;
use crate::fields::{self, Fault, amount, positive, whole};
use crate::tape::{Kind, Node};

/// A provider's prices, lifetime and limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Profile {
    /// A cached token read, in uncached input tokens.
    pub read: f64,
    /// A token written to the cache, in uncached input tokens.
    pub write: f64,
    /// Milliseconds that an unread entry lives.
    pub ttl_ms: f64,
    /// The smallest prefix that is cached.
    pub minimum_tokens: u32,
    /// Prefixes are cached in steps of this many tokens; 1 for any length.
    pub granularity_tokens: u32,
    /// What is found again.
    pub lookup: Lookup,
}

/// What of an earlier request a provider finds again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// Nothing.
    Never,
    /// The longest prefix in common.
    Prefix,
    /// A prefix that was written at a mark.
    Marks {
        /// Content blocks that are looked at for one, from a mark of this request backwards, its own block included.
        look_back: u32,
    },
}

/// "At most 20 positions per breakpoint, counting the breakpoint itself as the first" (Anthropic's page above).
pub(super) const LOOK_BACK: u32 = 20;

const ANTHROPIC: Lookup = Lookup::Marks { look_back: LOOK_BACK };
const OPENAI: Lookup = Lookup::Marks { look_back: u32::MAX };

/// The default stands first.
const NAMED: &[(&str, Profile)] = &[
    ("anthropic-5m", profile((0.1, 1.25), 5.0, (1024, 1), ANTHROPIC)),
    ("anthropic-1h", profile((0.1, 2.0), 60.0, (1024, 1), ANTHROPIC)),
    ("openai", profile((0.1, 1.0), 5.0, (1024, 128), Lookup::Prefix)),
    ("openai-4o", profile((0.5, 1.0), 5.0, (1024, 128), Lookup::Prefix)),
    ("openai-4.1", profile((0.25, 1.0), 5.0, (1024, 128), Lookup::Prefix)),
    ("openai-5.6", profile((0.1, 1.25), 30.0, (1024, 1), OPENAI)),
    ("gemini", profile((0.1, 1.0), 5.0, (4096, 2048), Lookup::Prefix)),
    ("deepseek", profile((0.02, 1.0), 60.0, (64, 64), Lookup::Prefix)),
    ("mistral", profile((0.1, 1.0), 5.0, (64, 64), Lookup::Prefix)),
    ("xai", profile((0.25, 1.0), 5.0, (0, 128), Lookup::Prefix)),
    ("none", profile((1.0, 1.0), 0.0, (0, 1), Lookup::Never)),
];

const fn profile((read, write): (f64, f64), minutes: f64, (minimum_tokens, granularity_tokens): (u32, u32), lookup: Lookup) -> Profile {
    Profile { read, write, ttl_ms: minutes * 60_000.0, minimum_tokens, granularity_tokens, lookup }
}

/// Words of a model's id, its profile, and where they differ its read price and minimum. The first that fits counts.
///
/// Runs of words, each to be found; `6+` is a number from 6 to 19, and `^` begins a name. Prices: Anthropic's models overview and
/// prompt caching page (2026-10-08), OpenAI's prices (2026-09-23), DeepSeek's (2026-10-27), xAI's (2025-12; grok-code-fast-1).
const MODELS: &[(&str, &str, Option<f64>, Option<u32>)] = &[
    ("fable 5 1", "anthropic-5m", Some(0.025), Some(512)),
    ("mythos 5 1", "anthropic-5m", Some(0.025), Some(512)),
    ("mythos preview", "anthropic-5m", None, Some(2048)),
    ("mythos", "anthropic-5m", None, Some(512)),
    ("fable", "anthropic-5m", None, Some(512)),
    ("opus 5 5", "anthropic-5m", Some(0.05), Some(512)),
    ("sonnet 5 5", "anthropic-5m", Some(0.05), Some(512)),
    ("opus 5", "anthropic-5m", None, Some(512)),
    ("haiku 5", "anthropic-5m", None, Some(512)),
    ("opus,4 7", "anthropic-5m", None, Some(2048)),
    ("opus,4 6", "anthropic-5m", None, Some(4096)),
    ("opus,4 5", "anthropic-5m", None, Some(4096)),
    ("haiku,4 5", "anthropic-5m", None, Some(4096)),
    ("haiku,3", "anthropic-5m", None, Some(2048)),
    ("claude", "anthropic-5m", None, None),
    ("opus", "anthropic-5m", None, None),
    ("sonnet", "anthropic-5m", None, None),
    ("haiku", "anthropic-5m", None, None),
    ("gpt 35", "none", None, None), // as Azure spells 3.5
    ("gpt 41", "openai-4.1", None, None),
    ("gpt 6 1,sol", "openai-5.6", Some(0.05), None),
    ("gpt 6+", "openai-5.6", None, None),
    ("gpt 5 6+", "openai-5.6", None, None),
    ("gpt 5,pro", "none", None, None),
    ("gpt 5", "openai", None, None),
    ("gpt 4 1", "openai-4.1", None, None),
    ("gpt 4 5", "openai-4o", None, None),
    ("gpt 4o", "openai-4o", None, None),
    ("chatgpt 4o", "openai-4o", None, None),
    ("gpt 4", "none", None, None),
    ("gpt 3", "none", None, None),
    ("^o1 pro", "none", None, None),
    ("^o3 pro", "none", None, None),
    ("^o1", "openai-4o", None, None),
    ("^o3 mini", "openai-4o", None, None),
    ("^o3", "openai-4.1", None, None),
    ("^o4", "openai-4.1", None, None),
    ("codex mini", "openai-4.1", None, None),
    ("gemini 1", "none", None, None),
    ("gemini 2 0", "none", None, None),
    ("gemini 2 5", "gemini", None, Some(2048)),
    ("gemini", "gemini", None, None),
    ("deepseek,pro", "deepseek", Some(1.0 / 30.0), None),
    ("deepseek", "deepseek", None, None),
    ("mistral", "mistral", None, None),
    ("ministral", "mistral", None, None),
    ("magistral", "mistral", None, None),
    ("devstral", "mistral", None, None),
    ("codestral", "mistral", None, None),
    ("pixtral", "mistral", None, None),
    ("mixtral", "mistral", None, None),
    ("voxtral", "mistral", None, None),
    ("grok code", "xai", Some(0.1), None),
    ("grok", "xai", None, None),
];

impl Profile {
    /// The profile of this name.
    pub fn named(name: &str) -> Option<Profile> {
        NAMED.iter().find(|(known, _)| *known == name).map(|(_, profile)| *profile)
    }

    /// The profile that a model's id tells; Anthropic's five minutes where it tells nothing.
    pub fn of_model(id: &str) -> Profile {
        let name = row(id).map_or(NAMED[0].0, |(_, name, ..)| name);
        Profile::named_for(name, id).unwrap_or_default()
    }

    /// Whether a model's id tells its prices.
    pub fn knows(id: &str) -> bool {
        row(id).is_some()
    }

    /// The profile of this name with the figures of the model, where it is of the same provider and has its own.
    pub fn named_for(name: &str, id: &str) -> Option<Profile> {
        let profile = Profile::named(name)?;
        let provider = |name: &str| name.split('-').next().map(str::to_owned);
        match row(id) {
            Some((_, own, read, minimum)) if provider(own) == provider(name) => {
                Some(Profile { read: read.unwrap_or(profile.read), minimum_tokens: minimum.unwrap_or(profile.minimum_tokens), ..profile })
            }
            _ => Some(profile),
        }
    }
}

impl Default for Profile {
    fn default() -> Profile {
        NAMED[0].1
    }
}

fn row(id: &str) -> Option<&'static (&'static str, &'static str, Option<f64>, Option<u32>)> {
    let id = id.to_ascii_lowercase();
    let words = words(&id);
    if words.iter().any(|word| word.text == "distill") {
        return None; // named after its teacher; nobody knows who serves it
    }
    MODELS.iter().find(|(runs, ..)| runs.split(',').all(|run| holds(&words, run)))
}

/// A word of an id, and whether it begins a name: `o1` of `openai/o1` and `openai-o1`, not of `marco-o1`.
struct Word<'i> {
    text: &'i str,
    begins: bool,
}

/// Letters and digits between other signs; `gpt5` is two words, `o3` and `4o` are one.
fn words(id: &str) -> Vec<Word<'_>> {
    let is_separator = |letter: char| !letter.is_ascii_alphanumeric();
    let (mut words, mut before) = (Vec::<Word<'_>>::new(), '/');
    for piece in id.split_inclusive(is_separator) {
        let text = piece.trim_end_matches(is_separator);
        let number = text.find(|letter: char| letter.is_ascii_digit()).filter(|letters| *letters > 2);
        let (name, number) = text.split_at(number.unwrap_or(text.len()));
        let begins = "/:.".contains(before) || words.last().is_some_and(|last| last.text == "openai");
        words.extend([(name, begins), (number, false)].into_iter().filter(|(text, _)| !text.is_empty()).map(|(text, begins)| Word { text, begins }));
        before = piece.chars().next_back().unwrap_or('/');
    }
    words
}

fn holds(words: &[Word<'_>], run: &str) -> bool {
    let (run, anchored) = run.strip_prefix('^').map_or((run, false), |run| (run, true));
    let wanted = run.split(' ').count();
    words.windows(wanted).any(|found| (found[0].begins || !anchored) && run.split(' ').zip(found).all(|(wanted, word)| fits(word.text, wanted)))
}

/// Numbers of more than two digits are dates, and `51` is a version without its dot.
fn fits(word: &str, wanted: &str) -> bool {
    match wanted.strip_suffix('+') {
        Some(least) => word.len() <= 2 && word.parse::<u8>().is_ok_and(|number| least.parse().is_ok_and(|least: u8| (least..20).contains(&number))),
        None => word == wanted,
    }
}

/// What a host asks for.
pub(crate) enum Asked {
    /// A name, which the model's id makes precise.
    Named(&'static str),
    /// Figures of its own.
    Own(Profile),
}

impl Asked {
    /// A name, or `{ read, write, ttlMs }`.
    pub(crate) fn read(value: Node<'_>) -> Result<Asked, Fault> {
        if value.kind() == Kind::Object {
            return fields::inner(value, own).map(Asked::Own);
        }
        let known = NAMED.iter().map(|(name, _)| *name).find(|name| value.text() == Some(name));
        known.map(Asked::Named).ok_or_else(|| {
            let names: Vec<&str> = NAMED.iter().map(|(name, _)| *name).collect();
            Fault::expected(&format!("one of {}, or {{ read, write, ttlMs }}", names.join(", ")), value)
        })
    }

    /// The profile, for a model.
    pub(crate) fn for_model(self, id: Option<&str>) -> Profile {
        match self {
            Asked::Named(name) => Profile::named_for(name, id.unwrap_or_default()).unwrap_or_default(),
            Asked::Own(profile) => profile,
        }
    }
}

/// No provider charges for one token what it charges for so many; over it, sums over a transcript might not be finite.
const DEAREST: f64 = 1e6;

fn price(node: Node<'_>) -> Result<f64, Fault> {
    let price = amount(node).ok().filter(|price| *price <= DEAREST);
    price.ok_or_else(|| Fault::expected("a price in uncached input tokens: a number of at least 0, and at most 1,000,000", node))
}

fn own(prices: &fields::Fields<'_>) -> crate::Result<Profile> {
    prices.refuse_others(&["read", "write", "ttlMs", "minimumTokens", "granularityTokens"])?;
    let profile = Profile {
        read: prices.need("read", price)?,
        write: prices.need("write", price)?,
        ttl_ms: prices.need("ttlMs", amount)?,
        minimum_tokens: prices.read("minimumTokens", whole)?.unwrap_or(0),
        granularity_tokens: prices.read("granularityTokens", positive)?.unwrap_or(1),
        lookup: Lookup::Prefix,
    };
    if profile.write < profile.read {
        let what = "a write costs no less than a read with any provider: are the two exchanged?";
        return Err(prices.error(Code::InvalidOption, "write", what));
    }
    Ok(profile)
}
