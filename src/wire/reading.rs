//! What the formats have in common: what stands before the messages, marks as they are read and written, media, and what values cost.

use super::patch::Step;
use super::{Changes, Request};
use crate::error::{Code, Error};
use crate::history::{ContextPrint, HostMark, Role, Size, View};
use crate::options::Marks;
use crate::tape::{self, Children, Kind, Node};
use crate::tokens::{Estimator, images};

/// Fields that hold a mark: Anthropic's, and OpenAI's.
pub(super) const MARK_KEYS: [&str; 2] = ["cache_control", "prompt_cache_breakpoint"];

/// A document that is only pointed at: one page, as what it holds is not here.
pub(super) const PAGE: u32 = 1500;

/// The messages of a request, read by `append`.
pub(super) fn messages<'t>(
    request: &Request<'t>,
    forced_tool: Option<&'t str>,
    append: fn(&mut View<'t>, Children<'t>) -> crate::Result<()>,
) -> crate::Result<View<'t>> {
    let messages = request.message_array()?;
    let mut view = View { list: request.list, estimator: request.estimator, forced_tool, ..View::default() };
    view.messages.reserve(messages.len());
    view.entries.reserve(messages.len());
    append(&mut view, messages.children())?;
    view.system_end = view.messages.iter().take_while(|message| message.role == Role::System).count();
    Ok(view)
}

/// What stands before the messages: counted, fingerprinted, and the marks that it has. `system` is the print of the leading system messages.
pub(super) fn before<'t>(view: &mut View<'t>, request: &Request<'t>, block: Option<&str>) {
    (view.is_whole, view.system, view.tools) = (request.is_whole, request.system, request.tools);
    view.system_at = request.system_at;
    let mut system = tape::fingerprint("");
    for entry in &view.entries[..view.messages[..view.system_end].last().map_or(0, |message| message.entries.end)] {
        system = system.rotate_left(1) ^ entry.fingerprint();
    }
    for extra in [request.system, request.tools].into_iter().flatten() {
        view.overhead += size_of(view.estimator, extra);
    }
    view.context = ContextPrint {
        system: system ^ request.system.map_or(0, Node::fingerprint),
        tools: request.tools.map_or(0, Node::fingerprint),
        block: block.map_or(0, tape::fingerprint),
    };
    let tools = request.tools.into_iter().flat_map(Node::children).flat_map(|tool| [Some(tool), tool.get("function")]).flatten();
    let marks = tools.chain(request.system.into_iter().flat_map(Node::children)).flat_map(marks_on);
    let marks: Vec<HostMark> = marks.map(|mark| HostMark { message: None, hour: is_hour(mark) }).collect();
    view.host_marks.splice(0..0, marks);
    view.elsewhere = request.elsewhere.or(view.elsewhere);
    view.end_mark = request.mark.map(is_hour);
}

/// What a value that is sent as it is costs.
pub(super) fn size_of(estimator: Estimator, node: Node<'_>) -> Size {
    Size { tokens: estimator.tree(node), bytes: tree_bytes(node) }
}

/// The marks that a caller has put on a node itself: whatever stands there is theirs.
pub(super) fn marks_on(node: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    node.children().filter(|field| field.kind() != Kind::Null && field.key().is_some_and(|key| MARK_KEYS.contains(&key)))
}

/// A mark as it is written: its key, and what stands under it.
pub(super) fn mark_of(changes: &Changes<'_>) -> (&'static str, serde_json::Value) {
    match changes.dialect {
        Marks::Openai => (MARK_KEYS[1], serde_json::json!({ "mode": "explicit" })),
        Marks::Anthropic | Marks::None => cache_control(changes.hour),
    }
}

pub(super) fn is_hour(mark: Node<'_>) -> bool {
    mark.get("ttl").and_then(Node::text) == Some("1h")
}

/// Anthropic's mark, which routers take too: its field and its value.
pub(super) fn cache_control(hour: bool) -> (&'static str, serde_json::Value) {
    let ttl = hour.then_some(("ttl".to_owned(), "1h".into()));
    let value = [("type".to_owned(), "ephemeral".into())].into_iter().chain(ttl).collect();
    (MARK_KEYS[0], serde_json::Value::Object(value))
}

pub(super) fn tree_bytes(node: Node<'_>) -> u32 {
    node.subtree().map(|node| (node.text().map_or(4, str::len) + node.key().map_or(0, str::len) + 4) as u32).sum()
}

/// What an image, audio, file or unknown part costs: never the length of its base64, never nothing.
pub(super) fn media(estimator: Estimator, node: Node<'_>, kind: &str) -> Size {
    let data = || node.subtree().map(|node| node.text().map_or(0, str::len) as u32 + node.opaque_bytes()).max().unwrap_or(0);
    let tokens = match kind {
        "image_url" | "input_image" | "image" | "computer_screenshot" => {
            let low = node.subtree().any(|node| node.key() == Some("detail") && node.text() == Some("low"));
            let pixels = node.subtree().find_map(|node| images::size(node.text()?)).unwrap_or(images::UNKNOWN);
            images::tokens(estimator.family(), pixels, low)
        }
        "input_audio" => 10 + data() / 1600,        // 10 tokens a second of 16 kB/s compressed speech
        "file" | "input_file" => 100 + data() / 40, // a page of PDF: 60 kB of base64, 1,500 tokens
        "document" => match node.get("source").and_then(|source| source.get("type")).and_then(Node::text) {
            Some("base64") => 100 + data() / 40,
            Some("url" | "file") => PAGE,
            _ => estimator.tree(node),
        },
        _ => estimator.tree(node),
    };
    Size { tokens, bytes: tokens * 4 }
}

/// What cannot be edited without losing what we cannot see.
pub(super) fn plain(node: Node<'_>, path: impl Fn() -> String) -> crate::Result<()> {
    if node.is_instance() { Err(instance(path())) } else { Ok(()) }
}

#[cold]
#[inline(never)]
fn instance(path: String) -> Error {
    let what = "it is an instance of a class, whose other fields cannot be known: pass plain messages, or use the adapter of your framework";
    Error::new(Code::ClassInstance, path, what)
}

/// The same of all that is on the way to a value; `shown` is the path to where it begins.
pub(super) fn plain_along(mut node: Node<'_>, way: &[Step], mut shown: String) -> crate::Result<()> {
    plain(node, || shown.clone())?;
    for step in way {
        let next = match step {
            Step::Index(index) => {
                shown += &format!("[{index}]");
                node.children().nth(*index)
            }
            Step::Key(_) | Step::Named(_) => {
                shown += &format!(".{}", step.key().unwrap_or(""));
                step.key().and_then(|key| node.get(key))
            }
        };
        let Some(next) = next else { return Ok(()) };
        node = next;
        plain(node, || shown.clone())?;
    }
    Ok(())
}

/// Python puts a space behind each comma and colon, and escapes only what must be. Every entry of a filled array or object is counted with
/// a comma: the one too many makes up for the two brackets.
pub(super) fn python_json_bytes(root: Node<'_>) -> u64 {
    let text = |text: &str| serde_json::Value::from(text).to_string().len();
    let one = |node: Node<'_>| match node.kind() {
        Kind::Object | Kind::Array if !node.is_empty() => 0,
        Kind::String => text(node.text().unwrap_or("")),
        _ => node.to_json().to_string().len(),
    };
    let bytes: usize = root.subtree().map(|node| one(node) + node.key().map_or(0, |key| text(key) + 2) + 2).sum();
    bytes as u64 - 2
}

/// Whose a message is that has parts, and no content.
pub(super) fn has_parts(message: Node<'_>) -> Option<&'static str> {
    let has_list = message.get("parts").is_some_and(|parts| matches!(parts.kind(), Kind::Array | Kind::Object));
    let is_gemini = message.get("role").and_then(Node::text) == Some("model");
    (message.get("content").is_none() && (has_list || is_gemini)).then_some("it has the parts of Gemini, or of the AI SDK's UI messages")
}

/// Whether one of the tools has such a field.
pub(super) fn has_tools(request: &Request<'_>, keys: &[&str]) -> bool {
    request.tools.into_iter().flat_map(Node::children).any(|tool| keys.iter().any(|key| tool.get(key).is_some()))
}

/// Whether only Anthropic Messages have blocks of this type.
pub(super) fn is_anthropic_block(kind: &str) -> bool {
    matches!(kind, "tool_use" | "tool_result" | "thinking" | "redacted_thinking" | "compaction")
        || kind.ends_with("_tool_use")
        || kind.ends_with("_tool_result")
}
