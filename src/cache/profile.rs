//! What cached tokens cost, relative to an uncached input token, and how long they live.
//!
//! Figures are those of the providers' public price pages in 2026; a host that knows better passes its own.
//!
//! ```
//! use warmfold::cache::profile::Profile;
//!
//! assert_eq!(Profile::named("anthropic-5m"), Some(Profile { read: 0.1, write: 1.25, ttl_ms: 300_000.0 }));
//! assert_eq!(Profile::of_model("deepseek-v4"), Profile::named("deepseek").unwrap());
//! ```

use crate::error::Code;
use crate::fields::{self, Fault, amount};
use crate::tape::{Kind, Node};

/// A provider's prices and lifetime.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Profile {
    /// A cached token read, in uncached input tokens.
    pub read: f64,
    /// A token written to the cache, in uncached input tokens.
    pub write: f64,
    /// Milliseconds that an unread entry lives.
    pub ttl_ms: f64,
}

const MINUTE: f64 = 60_000.0;

/// Name, read, write, lifetime in minutes.
const NAMED: &[(&str, f64, f64, f64)] = &[
    ("anthropic-5m", 0.1, 1.25, 5.0),
    ("anthropic-1h", 0.1, 2.0, 60.0),
    ("openai", 0.1, 1.0, 5.0),
    ("openai-5.6", 0.1, 1.25, 30.0),
    ("gemini", 0.1, 1.0, 5.0),
    ("deepseek", 0.1, 1.0, 60.0),
    ("none", 1.0, 1.0, 0.0),
];

/// Part of a model's id, and its profile.
const MODELS: &[(&str, &str)] = &[
    ("claude", "anthropic-5m"),
    ("gpt-5.6", "openai-5.6"),
    ("gpt", "openai"),
    ("o1", "openai"),
    ("o3", "openai"),
    ("o4", "openai"),
    ("gemini", "gemini"),
    ("deepseek", "deepseek"),
];

impl Profile {
    /// The profile of this name.
    pub fn named(name: &str) -> Option<Profile> {
        let &(_, read, write, minutes) = NAMED.iter().find(|(known, ..)| *known == name)?;
        Some(Profile { read, write, ttl_ms: minutes * MINUTE })
    }

    /// The profile that a model's id tells; Anthropic's five minutes where it tells nothing.
    pub fn of_model(id: &str) -> Profile {
        let id = id.to_ascii_lowercase();
        let name = MODELS.iter().find(|(part, _)| id.contains(part)).map_or("anthropic-5m", |(_, name)| name);
        Profile::named(name).unwrap_or_default()
    }

    /// A name, or `{ read, write, ttlMs }`.
    pub(crate) fn read(value: Node<'_>) -> Result<Profile, Fault> {
        let names = || NAMED.iter().map(|(name, ..)| *name).collect::<Vec<_>>().join(", ");
        match value.kind() {
            Kind::Object => fields::inner(value, |prices| {
                let profile =
                    Profile { read: prices.need("read", amount)?, write: prices.need("write", amount)?, ttl_ms: prices.need("ttlMs", amount)? };
                if profile.write < profile.read {
                    let what = "a write costs no less than a read with any provider: are the two exchanged?";
                    return Err(prices.error(Code::InvalidOption, "write", what));
                }
                Ok(profile)
            }),
            _ => value
                .text()
                .and_then(Profile::named)
                .ok_or_else(|| Fault::expected(format_args!("one of {}, or {{ read, write, ttlMs }}", names()), value)),
        }
    }
}

impl Default for Profile {
    fn default() -> Profile {
        Profile { read: 0.1, write: 1.25, ttl_ms: 5.0 * MINUTE }
    }
}
