//! Messages in the bytes that `eval/score.py` counts, so that a replay can be held against it.

use crate::tape::Node;
use crate::wire::Request;
use crate::wire::reading::python_json_bytes;

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
