//! The formats of providers: the one place that reads and edits their JSON.
//!
//! Each format lives in a file of its own with the same order inside: read, then apply. Reading gives a [`View`]; applying turns
//! edits, context block and marks into [`patch::Patch`]es, so that everything that is not patched stays the host's own. What the formats
//! have in common is in `reading`.
//!
//! ```
//! use warmfold::{Format, tape::Tape, wire::Request};
//!
//! let tape = Tape::from_json(r#"{"messages": [{"role": "user", "content": "hi"}]}"#)?;
//! let request = Request::of(tape.root());
//! assert_eq!(Format::recognise(&request)?, Format::OpenaiChat);
//! # Ok::<(), warmfold::Error>(())
//! ```

use std::rc::Rc;

use crate::error::{Code, Error};
use crate::format::Format;
use crate::history::View;
use crate::options::Marks;
use crate::plan::Edit;
use crate::tape::{Children, Kind, Node};
use crate::tokens::Estimator;
use patch::Patch;
pub use segment::Segment;

mod ai_sdk;
mod ai_sdk_ui;
mod anthropic;
mod draft;
mod gemini;
mod openai_chat;
mod openai_responses;
pub mod patch;
mod reading;
mod segment;
pub mod splice;
mod touched;

/// A request as the host gives it.
#[derive(Clone, Copy)]
pub struct Request<'t> {
    /// The message array; in Responses it may be a text, in Gemini a single content.
    pub messages: Option<Node<'t>>,
    /// What the request calls it: `messages`, `input` or `contents`.
    pub list: &'static str,
    /// A system prompt that is not among the messages.
    pub system: Option<Node<'t>>,
    /// The keys that lead to it, or would; none where it has no place.
    pub system_at: &'static [&'static str],
    /// The tools schema.
    pub tools: Option<Node<'t>>,
    /// Which tool the model must call.
    pub tool_choice: Option<Node<'t>>,
    /// The model that it goes to.
    pub model: Option<&'t str>,
    /// What it is counted with.
    pub estimator: Estimator,
    /// Whether all of it is returned, and not the messages alone.
    pub is_whole: bool,
    /// A mark on the request itself: the provider then marks the end of it.
    pub mark: Option<Node<'t>>,
    /// The field that names what the provider keeps and adds to the request.
    pub elsewhere: Option<&'static str>,
}

/// What goes into a request.
pub struct Changes<'c> {
    /// Edits by entry, ascending.
    pub edits: &'c [(usize, Rc<Edit>)],
    /// The context block, for where the view has a place for it.
    pub block: Option<&'c str>,
    /// Exchanges that one message stands for, ascending and apart from each other. No edit of theirs is applied.
    pub segments: &'c [Segment<'c>],
    /// Messages of the history that get a mark, ascending; of a segment its first, which names the message that stands for it.
    pub marks: &'c [usize],
    /// Whether a prepended context block gets one.
    pub mark_block: bool,
    /// Whether the system prompt that stands apart gets one, or else the last of the tools.
    pub mark_system: bool,
    /// How marks are written.
    pub dialect: Marks,
    /// Whether marks ask for the one-hour cache.
    pub hour: bool,
}

impl<'t> Request<'t> {
    /// The fields of a request object.
    pub fn of(root: Node<'t>) -> Request<'t> {
        let field = |name| root.get(name).filter(|node| node.kind() != Kind::Null);
        let lists = || LISTS.iter().map(|(list, _)| *list);
        let there = lists().find(|list| field(list).is_some()).or_else(|| lists().find(|list| root.get(list).is_some()));
        let (list, system_at): (_, &[_]) = match there {
            Some(gemini::LIST) => return gemini::request(root),
            Some(openai_responses::LIST) => (openai_responses::LIST, &[openai_responses::SYSTEM]),
            _ => ("messages", &["system"]),
        };
        Request {
            messages: field(list),
            list,
            system: field(system_at[0]),
            system_at,
            tools: field("tools"),
            tool_choice: field("tool_choice"),
            model: field("model").and_then(Node::text),
            estimator: Estimator::default(),
            is_whole: true,
            mark: field(reading::MARK_KEYS[0]).filter(|mark| mark.kind() == Kind::Object),
            elsewhere: openai_responses::ELSEWHERE.into_iter().find(|name| list == openai_responses::LIST && field(name).is_some()),
        }
    }

    /// Counted as this model counts.
    #[must_use]
    pub fn for_model(self, model: Option<&str>) -> Request<'t> {
        Request { estimator: Estimator::of(model), ..self }
    }

    /// The message array.
    ///
    /// # Errors
    /// [`Code::NotAnArray`].
    pub fn message_array(&self) -> crate::Result<Node<'t>> {
        let expected = if self.is_whole {
            "expected an array of messages, as the provider's API takes them: messages, input or contents"
        } else {
            "expected an array of messages, as the provider's API takes them; a whole request goes through foldRequest, its bytes through foldBody"
        };
        self.messages.filter(|node| node.kind() == Kind::Array).ok_or_else(|| Error::new(Code::NotAnArray, self.list, expected))
    }
}

/// What requests call their messages, and the format that alone calls them so.
const LISTS: [(&str, Option<Format>); 3] =
    [("messages", None), (openai_responses::LIST, Some(Format::OpenaiResponses)), (gemini::LIST, Some(Format::Gemini))];

/// Patches, and the part that each mark stands in.
pub(super) type Applied = crate::Result<(Vec<Patch>, Vec<u32>)>;

/// What each format does in its own way.
struct Wire {
    /// Why a message cannot be of this format, if it cannot. A conflict only: what several formats share is none.
    foreign: fn(Node<'_>) -> Option<&'static str>,
    /// Whether what stands beside the messages looks like another format's: that decides where messages alone do not.
    is_unlike: fn(&Request<'_>) -> bool,
    /// See [`Format::read`].
    read: for<'t> fn(&Request<'t>, Option<&str>) -> crate::Result<View<'t>>,
    /// See [`Format::append`].
    append: for<'t> fn(&mut View<'t>, Children<'t>) -> crate::Result<()>,
    /// See [`Format::apply`].
    apply: fn(&View<'_>, &Changes<'_>) -> Applied,
    /// See [`Format::scored_bytes`].
    scored_bytes: fn(&Request<'_>) -> crate::Result<Vec<u64>>,
}

impl Format {
    fn wire(self) -> Wire {
        match self {
            Format::OpenaiChat => openai_chat::WIRE,
            Format::Anthropic => anthropic::WIRE,
            Format::OpenaiResponses => openai_responses::WIRE,
            Format::AiSdk => ai_sdk::WIRE,
            Format::AiSdkUi => ai_sdk_ui::WIRE,
            Format::Gemini => gemini::WIRE,
        }
    }

    /// The first format in which no message is out of place, before all one that what stands beside the messages looks like. Where several
    /// are left they agree on all that can be folded.
    ///
    /// # Errors
    /// [`Code::UnknownFormat`] with the first message that no format fits.
    pub fn recognise(request: &Request<'_>) -> crate::Result<Format> {
        if let Some(format) = Format::of_list(request.list) {
            return Ok(format);
        }
        let messages = request.message_array()?;
        let (mut first_fault, mut possible) = (None, None);
        for (_, format) in Format::NAMES {
            let mut faults = messages.children().enumerate().filter_map(|(at, message)| Some((at, (format.wire().foreign)(message)?)));
            match faults.next() {
                None if !(format.wire().is_unlike)(request) => return Ok(*format),
                None => _ = possible.get_or_insert(*format),
                Some(fault) => _ = first_fault.get_or_insert(fault),
            }
        }
        if let Some(format) = possible {
            return Ok(format);
        }
        let (at, what) = first_fault.unwrap_or_default();
        let what = format!("{what}; this version reads {}: convert them first", Format::names());
        Err(Error::new(Code::UnknownFormat, format!("messages[{at}]"), what))
    }

    /// Whether nothing in the request's messages is foreign to it.
    pub fn fits(self, request: &Request<'_>) -> bool {
        let is_of_it = |messages: Node<'_>| messages.kind() != Kind::Array || messages.children().all(|message| self.fits_message(message));
        Format::of_list(request.list).is_none_or(|format| format == self) && request.messages.is_none_or(is_of_it)
    }

    /// The format that alone calls its messages so.
    fn of_list(list: &str) -> Option<Format> {
        LISTS.iter().find(|(name, _)| *name == list).and_then(|(_, format)| *format)
    }

    /// The same of a message.
    pub fn fits_message(self, message: Node<'_>) -> bool {
        (self.wire().foreign)(message).is_none()
    }

    /// Reads a request, and finds the place for a context block.
    ///
    /// # Errors
    /// What is not of this format, with its path.
    pub fn read<'t>(self, request: &Request<'t>, block: Option<&str>) -> crate::Result<View<'t>> {
        (self.wire().read)(request, block)
    }

    /// Reads messages that follow those of a view, whose request is the same in all else.
    ///
    /// # Errors
    /// What is not of this format, with its path; the view is then of no more use.
    pub fn append<'t>(self, view: &mut View<'t>, messages: Children<'t>) -> crate::Result<()> {
        (self.wire().append)(view, messages)
    }

    /// What each message costs beside its texts, in bytes, as `eval/score.py` reckons it.
    ///
    /// # Errors
    /// [`Code::NotAnArray`].
    pub fn scored_bytes(self, request: &Request<'_>) -> crate::Result<Vec<u64>> {
        (self.wire().scored_bytes)(request)
    }

    /// Turns changes into patches of the request; the part that each mark stands in comes along.
    ///
    /// # Errors
    /// [`Code::ClassInstance`] where a patch would go through one.
    pub fn apply(self, view: &View<'_>, changes: &Changes<'_>) -> crate::Result<(Vec<Patch>, Vec<u32>)> {
        (self.wire().apply)(view, changes)
    }
}
