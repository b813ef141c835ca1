//! The names of the formats that a history can have. What each looks like is known to [`crate::wire`] alone.
//!
//! ```
//! assert_eq!(warmfold::Format::NAMES[0].0, "openai-chat");
//! ```

use serde::Serialize;

/// A format that we read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Format {
    /// OpenAI Chat Completions messages.
    #[serde(rename = "openai-chat")]
    OpenaiChat,
    /// Anthropic Messages.
    #[serde(rename = "anthropic")]
    Anthropic,
    /// OpenAI Responses items.
    #[serde(rename = "openai-responses")]
    OpenaiResponses,
    /// `ModelMessage`s of the Vercel AI SDK.
    #[serde(rename = "ai-sdk")]
    AiSdk,
    /// `UIMessage`s of the Vercel AI SDK, which are read only.
    #[serde(rename = "ai-sdk-ui")]
    AiSdkUi,
    /// Contents of Gemini's `generateContent`.
    #[serde(rename = "gemini")]
    Gemini,
}

impl Format {
    /// All formats by name.
    pub const NAMES: &[(&str, Format)] = &[
        ("openai-chat", Format::OpenaiChat),
        ("anthropic", Format::Anthropic),
        ("openai-responses", Format::OpenaiResponses),
        ("ai-sdk", Format::AiSdk),
        ("ai-sdk-ui", Format::AiSdkUi),
        ("gemini", Format::Gemini),
    ];

    /// Their names, for people.
    pub(crate) fn names() -> String {
        let quoted: Vec<String> = Format::NAMES.iter().map(|(name, _)| format!("\"{name}\"")).collect();
        quoted.join(", ")
    }
}
