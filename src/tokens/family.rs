//! The tokenizer that a model has, told from its id.
//!
//! ```
//! use warmfold::tokens::Family;
//!
//! assert_eq!(Family::of("anthropic/claude-sonnet-4.5"), Family::Claude);
//! assert_eq!(Family::of("deepseek-r1-distill-llama-70b"), Family::Llama); // a distilled model keeps its tokenizer
//! assert_eq!(Family::of("some-new-model"), Family::O200k);
//! ```

/// Models that tokenize alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Family {
    /// OpenAI's since GPT-4o; taken for all that are not known.
    #[default]
    O200k,
    /// Anthropic's.
    Claude,
    /// Google's: Gemini and Gemma.
    Gemini,
    /// Meta's, from Llama 3 on.
    Llama,
    /// Alibaba's.
    Qwen,
    /// Zhipu's.
    Glm,
    /// DeepSeek's.
    Deepseek,
    /// Mistral's.
    Mistral,
}

/// What a model id has in it, the makers of derived models last.
const NAMES: &[(&str, Family)] = &[
    ("claude", Family::Claude),
    ("gemini", Family::Gemini),
    ("gemma", Family::Gemini),
    ("llama", Family::Llama),
    ("qwen", Family::Qwen),
    ("qwq", Family::Qwen),
    ("glm", Family::Glm),
    ("deepseek", Family::Deepseek),
    ("mistral", Family::Mistral),
    ("mixtral", Family::Mistral),
    ("ministral", Family::Mistral),
    ("magistral", Family::Mistral),
    ("codestral", Family::Mistral),
    ("devstral", Family::Mistral),
    ("pixtral", Family::Mistral),
];

impl Family {
    /// Of a model, as its provider or a router spells it.
    pub fn of(model: &str) -> Family {
        let has = |name: &str| model.as_bytes().windows(name.len()).any(|part| part.eq_ignore_ascii_case(name.as_bytes()));
        NAMES.iter().find(|(name, _)| has(name)).map_or(Family::O200k, |(_, family)| *family)
    }
}
