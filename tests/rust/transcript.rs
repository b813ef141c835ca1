//! Histories from small numbers: what a property test or a pseudo-random generator chooses, written out as OpenAI Chat messages.
//!
//! Every odd thing that real traffic has is one value of one field here, and small numbers mean plain things, so that a failing
//! history shrinks to one that can be read.

use serde_json::{Value, json};

/// A text, told by three numbers.
#[derive(Clone, Copy, Debug)]
pub struct Text {
    /// Which of [`KINDS`] sorts.
    pub kind: usize,
    /// How much of it.
    pub size: usize,
    /// Texts that differ in this alone differ in every line.
    pub salt: usize,
}

/// How many kinds of text there are.
pub const KINDS: usize = 10;

impl Text {
    pub fn write(self) -> String {
        let Text { kind, size, salt } = self;
        let repeat = |line: &dyn Fn(usize) -> String| (0..size).map(line).collect::<String>();
        match kind {
            0 => repeat(&|n| format!("{salt}: line {n} of a plain file\n")),
            1 => repeat(&|n| format!("{salt}{n} words without any line end ")),
            2 => repeat(&|n| format!("{salt}深い海の底で{n}番目の魚が眠っている。")),
            3 => repeat(&|n| format!("{salt}{n}👩🏽‍🚀e\u{301}🇫🇷🇯🇵👨‍👩‍👧‍👦\u{915}\u{94d}\u{937}")),
            4 => repeat(&|n| format!("\u{1b}[3{};1m{salt} red {n}\u{1b}[0m \u{1b}]8;;file\u{7}link\r", n % 8)),
            5 => repeat(&|n| format!("{salt}: Windows line {n}\r\n\r\n")),
            6 => json!({ "output": repeat(&|n| format!("{salt}: \"quoted\" \\ line {n}\n")), "exit_code": 0 }).to_string(),
            7 => repeat(&|n| format!("{n:>6}\tlet value_{salt}_{n} = compute(&input, {n}); // worth quoting\n")),
            8 => format!("[warmfold: {size} of {salt} lines elided to save context]\n…\n") + &repeat(&|n| format!("…{salt}[{n}]\n")),
            _ => repeat(&|n| format!("{salt}\\u00e{n}\\\\\\n\u{0}\t\u{7f}\u{fffd}\\\"")),
        }
    }
}

/// How a content is spelt.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    String,
    OnePart,
    TwoParts,
    WithImage,
    ImageOnly,
    BareStrings,
    /// With a mark of the host's own.
    Marked,
    Null,
}

impl Shape {
    pub const ALL: [Shape; 8] =
        [Shape::String, Shape::OnePart, Shape::TwoParts, Shape::WithImage, Shape::ImageOnly, Shape::BareStrings, Shape::Marked, Shape::Null];

    fn content(self, text: String) -> Value {
        let part = |text: &str| json!({ "type": "text", "text": text, "annotations": [] });
        let image = json!({ "type": "image_url", "image_url": { "url": "data:image/png;base64,iVBORw0KGgo=", "detail": "low" } });
        match self {
            Shape::String => text.into(),
            Shape::OnePart => json!([part(&text)]),
            Shape::TwoParts => json!([part(&text), part("and a second part")]),
            Shape::WithImage => json!([image, part(&text), image]),
            Shape::ImageOnly => json!([image]),
            Shape::BareStrings => json!([text, "a bare string"]),
            Shape::Marked => json!([{ "type": "text", "text": text, "cache_control": { "type": "ephemeral" } }]),
            Shape::Null => Value::Null,
        }
    }
}

/// What an assistant message holds of its reasoning.
#[derive(Clone, Copy, Debug)]
pub enum Thought {
    None,
    Reasoning(Text),
    Content(Text),
    Details(Text),
}

impl Thought {
    fn put_into(self, message: &mut Value) {
        match self {
            Thought::None => {}
            Thought::Reasoning(text) => message["reasoning"] = text.write().into(),
            Thought::Content(text) => message["reasoning_content"] = text.write().into(),
            Thought::Details(text) => {
                message["reasoning"] = text.write().into();
                message["reasoning_details"] = json!([{ "type": "reasoning.text", "text": text.write(), "signature": "c2lnbmVk" }]);
            }
        }
    }
}

/// What a tool says.
#[derive(Clone, Copy, Debug)]
pub enum Says {
    Text(Text),
    Unchanged,
    Error(Text),
}

impl Says {
    fn write(self) -> String {
        match self {
            Says::Text(text) => text.write(),
            Says::Unchanged => "File unchanged since it was last read.".to_owned(),
            Says::Error(text) => "Error: no such file or directory\n".to_owned() + &text.write(),
        }
    }
}

/// Tools of every kind, one without a name, and what a shell is asked to do with a file.
pub const TOOLS: [(&str, Option<&str>); 14] = [
    ("read_file", None),
    ("grep", None),
    ("bash", None),
    ("write_file", None),
    ("todo_write", None),
    ("mcp__files__read_text", None),
    ("strange [tool]\n", None),
    ("", None),
    ("bash", Some("cat 'FILE'")),
    ("bash", Some("cd src && sed -n '1,80p' '../FILE'")),
    ("bash", Some("cargo test")),
    ("bash", Some("echo done > 'FILE'")),
    ("run_tests", None),
    ("edit_file", None),
];

/// One use of a tool.
#[derive(Clone, Copy, Debug)]
pub struct Use {
    /// Which of [`TOOLS`].
    pub tool: usize,
    /// Which of a few files.
    pub file: usize,
    /// First line and number of lines.
    pub range: Option<(usize, usize)>,
    pub says: Says,
    pub shape: Shape,
}

impl Use {
    fn arguments(self) -> String {
        let path = format!("src/file {}.rs", self.file);
        if let (_, Some(command)) = TOOLS[self.tool] {
            return json!({ "command": command.replace("FILE", &path) }).to_string();
        }
        let mut arguments = json!({ "path": path });
        if let Some((offset, limit)) = self.range {
            arguments["offset"] = offset.into();
            arguments["limit"] = limit.into();
        }
        arguments.to_string()
    }
}

/// How ids are given.
#[derive(Clone, Copy, Debug)]
pub enum Ids {
    Fresh,
    /// Always the same one.
    Constant,
    /// A counter that starts again in every message.
    PerMessage,
}

/// One step of a conversation.
#[derive(Clone, Debug)]
#[cfg_attr(target_arch = "wasm32", expect(dead_code, reason = "only the laws, which are native, quote and ask again"))]
pub enum Step {
    System {
        developer: bool,
        text: Text,
    },
    User {
        text: Text,
        shape: Shape,
    },
    Say {
        text: Text,
        shape: Shape,
        thought: Thought,
    },
    Exchange {
        uses: Vec<Use>,
        ids: Ids,
        /// Results in the reverse order.
        reversed: bool,
        /// Only so many results came.
        answered: usize,
        thought: Thought,
        remark: Option<Text>,
    },
    /// The `function_call` of old, and its `function` role.
    Legacy(Use),
    /// The model writes down the first lines of an earlier result, counted from the last: in its answer, or to change the file.
    Quote {
        back: usize,
        lines: usize,
        edits: bool,
    },
    /// An earlier call is made again, counted from the last; it says the same or something new.
    Again {
        back: usize,
        says: Option<Text>,
    },
    /// A result without a call.
    Orphan(Text),
    /// A role and fields that nobody knows.
    Odd(Text),
}

/// Writes a conversation out.
pub fn write(steps: &[Step]) -> Vec<Value> {
    let mut messages = Vec::new();
    for (number, step) in steps.iter().enumerate() {
        write_step(number, step, &mut messages);
    }
    messages
}

fn write_step(number: usize, step: &Step, messages: &mut Vec<Value>) {
    match step {
        Step::System { developer, text } => {
            let role = if *developer { "developer" } else { "system" };
            messages.push(json!({ "role": role, "content": text.write() }));
        }
        Step::User { text, shape } => messages.push(json!({ "role": "user", "content": shape.content(text.write()), "name": "ada" })),
        Step::Say { text, shape, thought } => {
            let mut message = json!({ "role": "assistant", "content": shape.content(text.write()), "refusal": null });
            thought.put_into(&mut message);
            messages.push(message);
        }
        Step::Exchange { uses, ids, reversed, answered, thought, remark } => {
            let id = |at: usize| match ids {
                Ids::Fresh => format!("call_{number}_{at}"),
                Ids::Constant => "x".to_owned(),
                Ids::PerMessage => format!("call_{at}"),
            };
            let call = |(at, one): (usize, &Use)| json!({ "id": id(at), "type": "function", "function": { "name": TOOLS[one.tool].0, "arguments": one.arguments() } });
            let calls: Vec<Value> = uses.iter().enumerate().map(call).collect();
            let mut message = json!({ "role": "assistant", "content": remark.map(Text::write), "tool_calls": calls });
            thought.put_into(&mut message);
            messages.push(message);
            let mut results: Vec<Value> = uses
                .iter()
                .enumerate()
                .take(*answered)
                .map(|(at, one)| json!({ "role": "tool", "tool_call_id": id(at), "content": one.shape.content(one.says.write()) }))
                .collect();
            if *reversed {
                results.reverse();
            }
            messages.extend(results);
        }
        Step::Legacy(one) => {
            let (name, _) = TOOLS[one.tool];
            messages.push(json!({ "role": "assistant", "content": null, "function_call": { "name": name, "arguments": one.arguments() } }));
            messages.push(json!({ "role": "function", "name": name, "content": one.says.write() }));
        }
        Step::Quote { back, lines, edits } => {
            let quote = result_before(messages, *back).map_or(String::new(), |text| text.lines().take(*lines).collect::<Vec<_>>().join("\n"));
            if *edits {
                let arguments = json!({ "path": "src/file 0.rs", "old_string": quote, "new_string": "" }).to_string();
                exchange(number, "edit_file", &arguments, "The file was updated.", messages);
            } else {
                messages.push(json!({ "role": "assistant", "content": format!("It says:\n{quote}\n") }));
            }
        }
        Step::Again { back, says } => {
            let Some(call) = call_before(messages, *back) else { return };
            let text = says.map(Text::write).or_else(|| result_before(messages, *back)).unwrap_or_default();
            let field = |name: &str| call[name].as_str().unwrap_or("").to_owned();
            exchange(number, &field("name"), &field("arguments"), &text, messages);
        }
        Step::Orphan(text) => messages.push(json!({ "role": "tool", "tool_call_id": format!("nobody_{number}"), "content": text.write() })),
        Step::Odd(text) => {
            messages.push(json!({ "role": "critic", "content": text.write(), "score": 1.5, "nested": { "deep": [null, true, 1e300] } }))
        }
    }
}

/// The text of an earlier result, counted from the last.
fn result_before(messages: &[Value], back: usize) -> Option<String> {
    let texts = messages.iter().rev().filter(|message| message["role"] == "tool");
    texts.filter_map(|message| message["content"].as_str().or_else(|| message["content"][0]["text"].as_str())).nth(back).map(str::to_owned)
}

/// An earlier call, counted from the last.
fn call_before(messages: &[Value], back: usize) -> Option<Value> {
    let calls = messages.iter().rev().filter_map(|message| message["tool_calls"].as_array()).flatten();
    calls.map(|call| call["function"].clone()).nth(back)
}

fn exchange(number: usize, tool: &str, arguments: &str, says: &str, messages: &mut Vec<Value>) {
    let id = format!("call_{number}");
    let call = json!({ "id": id, "type": "function", "function": { "name": tool, "arguments": arguments } });
    messages.push(json!({ "role": "assistant", "content": null, "tool_calls": [call] }));
    messages.push(json!({ "role": "tool", "tool_call_id": id, "content": says }));
}
