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

use serde::Deserialize;
use serde::de::Error as _;

use crate::error::{Code, Error};

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
        let id = id.to_lowercase();
        let name = MODELS.iter().find(|(part, _)| id.contains(part)).map_or("anthropic-5m", |(_, name)| name);
        Profile::named(name).unwrap_or_default()
    }

    pub(crate) fn check(&self, path: &str) -> crate::Result<()> {
        let fault = |name: &str, value: f64| {
            Err(Error::new(Code::InvalidOption, format!("{path}.{name}"), format!("expected a finite number of at least 0, got {value}")))
        };
        for (name, value) in [("read", self.read), ("write", self.write), ("ttlMs", self.ttl_ms)] {
            if !value.is_finite() || value < 0.0 {
                return fault(name, value);
            }
        }
        Ok(())
    }
}

impl Default for Profile {
    fn default() -> Profile {
        Profile { read: 0.1, write: 1.25, ttl_ms: 5.0 * MINUTE }
    }
}

impl<'de> Deserialize<'de> for Profile {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Profile, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "expected the name of a cache profile or { read, write, ttlMs }")]
        enum Given {
            Name(String),
            Prices {
                read: f64,
                write: f64,
                #[serde(rename = "ttlMs")]
                ttl_ms: f64,
            },
        }
        match Given::deserialize(deserializer)? {
            Given::Prices { read, write, ttl_ms } => Ok(Profile { read, write, ttl_ms }),
            Given::Name(name) => Profile::named(&name).ok_or_else(|| {
                let names: Vec<&str> = NAMED.iter().map(|(name, ..)| *name).collect();
                D::Error::custom(format!("there is no cache profile {name:?}; expected one of {}, or {{ read, write, ttlMs }}", names.join(", ")))
            }),
        }
    }
}
