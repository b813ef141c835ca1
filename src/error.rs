//! The one error that callers see: a stable [`Code`], the path to the fault, and what to do about it.
//!
//! ```
//! use warmfold::{Options, error::Code};
//!
//! let error = Options::from_json(serde_json::json!({ "floorRatoi": 0.5 })).unwrap_err();
//! assert_eq!(error.code(), Code::UnknownOption);
//! assert_eq!(error.path(), "options.floorRatoi");
//! assert!(error.to_string().contains("did you mean floorRatio?"));
//! ```

use std::fmt;

/// What went wrong. The text form ([`Code::as_str`]) never changes its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Code {
    /// The messages are not an array.
    NotAnArray,
    /// A message is not an object, or a field that must be read has another type than the format gives it.
    InvalidMessage,
    /// A message has no `role`.
    MissingRole,
    /// No format that we read fits the messages.
    UnknownFormat,
    /// An option has a value outside its range or of another type.
    InvalidOption,
    /// An option that does not exist.
    UnknownOption,
    /// An option, or a value of it, that this version does not carry out yet.
    UnsupportedOption,
    /// The plan is not a plan: wrong shape, or of a newer version.
    InvalidPlan,
    /// The window is too small to hold anything: window × headroom − reserve is 0 or less.
    WindowTooSmall,
    /// An edit would have to go through a class instance, whose other fields we cannot know.
    ClassInstance,
    /// A value contains itself.
    Cyclic,
    /// A value is nested more deeply than [`crate::tape::MAX_DEPTH`].
    TooDeep,
    /// The input is larger than wasm memory can hold beside the work on it. Raised by the JavaScript writer.
    TooLarge,
    /// A text that must be JSON is not.
    InvalidJson,
}

impl Code {
    /// The stable name, as TypeScript sees it.
    pub fn as_str(self) -> &'static str {
        match self {
            Code::NotAnArray => "not_an_array",
            Code::InvalidMessage => "invalid_message",
            Code::MissingRole => "missing_role",
            Code::UnknownFormat => "unknown_format",
            Code::InvalidOption => "invalid_option",
            Code::UnknownOption => "unknown_option",
            Code::UnsupportedOption => "unsupported_option",
            Code::InvalidPlan => "invalid_plan",
            Code::WindowTooSmall => "window_too_small",
            Code::ClassInstance => "class_instance",
            Code::Cyclic => "cyclic",
            Code::TooDeep => "too_deep",
            Code::TooLarge => "too_large",
            Code::InvalidJson => "invalid_json",
        }
    }
}

/// A refused input. The host's data is untouched and the plan it holds is still valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    code: Code,
    path: String,
    message: String,
}

impl Error {
    /// `path` names the fault from the argument on (`messages[3].role`); `message` says what is wrong and what to do.
    pub(crate) fn new(code: Code, path: impl Into<String>, message: impl Into<String>) -> Error {
        Error { code, path: path.into(), message: message.into() }
    }

    /// The stable code.
    pub fn code(&self) -> Code {
        self.code
    }

    /// Where the fault is, from the argument's name on.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// What is wrong and what to do, without the path.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.message)
    }
}

impl std::error::Error for Error {}

/// What every fallible function here returns.
pub type Result<T> = std::result::Result<T, Error>;
