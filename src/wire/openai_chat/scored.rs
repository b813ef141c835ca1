//! Messages in the bytes that `eval/score.py` counts, so that a replay can be held against it.

use crate::tape::{Kind, Node};
use crate::wire::Request;

/// Bytes of each message beside its texts, as `eval/score.py` reckons them: its tool calls as Python writes JSON, and 300 tokens an image.
pub(super) fn scored_bytes(request: &Request<'_>) -> crate::Result<Vec<u64>> {
    let is_image = |part: &Node<'_>| part.get("type").and_then(Node::text).is_some_and(|kind| kind.contains("image"));
    let of_message = |message: Node<'_>| {
        let calls = message.get("tool_calls").into_iter().flat_map(Node::children).map(python_json_bytes).sum::<u64>();
        let images = message.get("content").into_iter().flat_map(Node::children).filter(is_image).count() as u64;
        calls + images * 300 * 4
    };
    Ok(request.message_array()?.children().map(of_message).collect())
}

/// Python puts a space behind each comma and colon, and escapes only what must be. Every entry of a filled array or object is counted with
/// a comma: the one too many makes up for the two brackets.
fn python_json_bytes(root: Node<'_>) -> u64 {
    let text = |text: &str| serde_json::Value::from(text).to_string().len();
    let one = |node: Node<'_>| match node.kind() {
        Kind::Object | Kind::Array if !node.is_empty() => 0,
        Kind::String => text(node.text().unwrap_or("")),
        _ => node.to_json().to_string().len(),
    };
    let bytes: usize = root.subtree().map(|node| one(node) + node.key().map_or(0, |key| text(key) + 2) + 2).sum();
    bytes as u64 - 2
}
