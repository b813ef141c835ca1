//! What stands beside the contents: of the SDK's parameters in `config`, of a REST body on its top.

use super::{BLOCK_GAP, LIST, field, parts, text_of};
use crate::error::{Code, Error};
use crate::history::{BlockPlace, Size, View};
use crate::tape::{Kind, Node};
use crate::tokens::Estimator;
use crate::wire::Request;

type Keys = &'static [&'static str];

const SYSTEM: [Keys; 4] = [&["config", "systemInstruction"], &["config", "system_instruction"], &["systemInstruction"], &["system_instruction"]];

/// Fields that only a REST body has on its top.
const OF_REST: [[&str; 2]; 4] =
    [["tools", "tools"], ["toolConfig", "tool_config"], ["generationConfig", "generation_config"], ["safetySettings", "safety_settings"]];

const CACHED: [&str; 2] = ["cachedContent", "cached_content"];

/// The fields of a request object.
pub(in crate::wire) fn request<'t>(root: Node<'t>) -> Request<'t> {
    let config = root.get("config").filter(|config| config.kind() == Kind::Object);
    let beside = |keys: [&'static str; 2]| config.and_then(|config| field(config, keys)).or_else(|| field(root, keys));
    let at = |keys: &Keys| keys.iter().try_fold(root, |node, key| node.get(key)).filter(|node| node.kind() != Kind::Null);
    let there = SYSTEM.into_iter().find(|keys| at(keys).is_some());
    let is_rest = root.get("model").is_none() || OF_REST.into_iter().any(|keys| field(root, keys).is_some());
    let place: Keys = match config {
        _ if beside(CACHED).is_some() => &[], // it may not stand beside one
        Some(_) => SYSTEM[0],
        None if is_rest => SYSTEM[2],
        None => &[],
    };
    let system_at = there.unwrap_or(place);
    Request {
        messages: field(root, [LIST, LIST]),
        list: LIST,
        system: there.and_then(|keys| at(&keys)),
        system_at,
        tools: beside(["tools", "tools"]),
        tool_choice: beside(["toolConfig", "tool_config"]),
        model: root.get("model").and_then(Node::text),
        estimator: Estimator::default(),
        is_whole: true,
        mark: None,
        elsewhere: beside(CACHED).map(|_| CACHED[0]),
    }
}

/// `{"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames"}}` with a single name, or what stands in it.
pub(super) fn forced_tool<'t>(request: &Request<'t>) -> Option<&'t str> {
    let choice = request.tool_choice?;
    let calling = field(choice, ["functionCallingConfig", "function_calling_config"]).unwrap_or(choice);
    let is_any = calling.get("mode").and_then(Node::text).is_some_and(|mode| mode.eq_ignore_ascii_case("any"));
    let names = field(calling, ["allowedFunctionNames", "allowed_function_names"]).filter(|names| is_any && names.len() == 1)?;
    names.children().next()?.text()
}

/// At the end of the system prompt, which it may be alone. The block's size is what reading the prompt back with the block in it would add.
pub(super) fn place_block(view: &mut View<'_>, block: Option<&str>) -> crate::Result<()> {
    let Some(block) = block else { return Ok(()) };
    let refused = |what: &str| Err(Error::new(Code::InvalidOption, "options.contextBlock", what));
    if !view.is_whole {
        return refused("it belongs into the system prompt, which is not returned with contents alone: fold the whole request with foldRequest");
    }
    if view.system.is_some_and(|system| !matches!(system.kind(), Kind::String | Kind::Array | Kind::Object)) {
        return Err(Error::new(Code::InvalidMessage, view.system_at.join("."), "expected a content, parts or a text"));
    }
    let last = view.system.and_then(|system| parts(system).pop()).and_then(text_of);
    if last.and_then(|text| text.strip_suffix(block)).is_some_and(|before| before.is_empty() || before.ends_with(BLOCK_GAP)) {
        return Ok(()); // the host has put it there
    }
    if view.system_at.is_empty() {
        return refused(
            "there is no place for it: give the request a systemInstruction or an empty config; where it has cachedContent, put it in there",
        );
    }
    view.block = BlockPlace::Apart;
    view.overhead += match view.system.and_then(text_of).filter(|text| !text.is_empty()) {
        Some(text) => Size::added(view.estimator, text, BLOCK_GAP, block),
        None => Size::of(view.estimator, block),
    };
    Ok(())
}
