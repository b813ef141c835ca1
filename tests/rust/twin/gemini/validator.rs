//! What Gemini is documented, or known, to answer with 400, as far as contents are concerned; in the camel case of its REST API.

use serde_json::Value;

/// What is wrong with a request.
pub fn faults(request: &Value) -> Vec<String> {
    let contents: &[Value] = request["contents"].as_array().map_or(&[], Vec::as_slice);
    let mut faults = Vec::new();
    if contents.is_empty() {
        faults.push("contents are not specified".to_owned());
    }
    for (at, content) in contents.iter().enumerate() {
        faults.extend(content_faults(content).into_iter().map(|fault| format!("contents[{at}]: {fault}")));
    }
    faults.extend(pairing(contents));
    faults.extend(signatures(contents));
    let beside = |key: &str| !request[key].is_null() || !request["config"][key].is_null();
    if beside("cachedContent") && ["systemInstruction", "tools", "toolConfig"].into_iter().any(beside) {
        faults.push("a cached content beside a system prompt or tools".to_owned());
    }
    faults
}

const DATA: [&str; 7] = ["text", "inlineData", "fileData", "functionCall", "functionResponse", "executableCode", "codeExecutionResult"];

fn parts(content: &Value) -> &[Value] {
    content["parts"].as_array().map_or(&[], Vec::as_slice)
}

fn content_faults(content: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    let role = content["role"].as_str().unwrap_or("user");
    if !matches!(role, "user" | "model" | "function") {
        faults.push(format!("no role is {role:?}"));
    }
    if parts(content).is_empty() {
        faults.push("it must include at least one part".to_owned());
    }
    faults.extend(parts(content).iter().flat_map(|part| part_faults(part, role)));
    faults
}

fn part_faults(part: &Value, role: &str) -> Vec<String> {
    let data: Vec<&str> = DATA.into_iter().filter(|key| part.get(key).is_some()).collect();
    let mut faults = Vec::new();
    let mut expect = |holds: bool, what: &str| {
        if !holds {
            faults.push(what.to_owned());
        }
    };
    expect(data.len() == 1, "a part has exactly one kind of data");
    expect(part.get("thoughtSignature").is_none_or(|signature| signature.is_string()), "a signature is a text");
    match data.first() {
        Some(&"text") => {
            expect(part["text"].is_string(), "a text is a text");
            expect(part["text"] != "" || part["thoughtSignature"].is_string(), "an empty text");
        }
        Some(&"functionCall") => {
            let call = &part["functionCall"];
            expect(role == "model", "a call of the user's");
            expect(call["name"].as_str().is_some_and(|name| !name.is_empty()), "a call without a name");
            expect(call["args"].is_object() || call["args"].is_null(), "arguments are an object");
        }
        Some(&"functionResponse") => {
            let response = &part["functionResponse"];
            expect(role != "model", "a response of the model's");
            expect(response["name"].as_str().is_some_and(|name| !name.is_empty()), "a response without a name");
            expect(response["response"].is_object(), "a response is an object");
        }
        _ => {}
    }
    faults
}

/// Contents of one role that follow each other are one turn.
fn turns(contents: &[Value]) -> Vec<(bool, Vec<&Value>)> {
    let mut turns: Vec<(bool, Vec<&Value>)> = Vec::new();
    for content in contents {
        let is_models = content["role"] == "model";
        match turns.last_mut().filter(|(last, _)| *last == is_models) {
            Some((_, all)) => all.extend(parts(content)),
            None => turns.push((is_models, parts(content).iter().collect())),
        }
    }
    turns
}

/// A turn with calls is followed by one with as many responses, of the same names and ids; and none stands without its call.
fn pairing(contents: &[Value]) -> Vec<String> {
    let turns = turns(contents);
    let of = |at: Option<usize>, key: &str| -> Vec<(String, Option<String>)> {
        let held = at.and_then(|at| turns.get(at)).into_iter().flat_map(|(_, parts)| parts).map(|part| &part[key]).filter(|held| held.is_object());
        let mut names: Vec<_> = held.map(|held| (held["name"].to_string(), held["id"].as_str().map(str::to_owned))).collect();
        names.sort();
        names
    };
    let mut faults = Vec::new();
    for at in 0..turns.len() {
        let (calls, responses) = (of(Some(at), "functionCall"), of(Some(at + 1), "functionResponse"));
        let is_last = at + 1 == turns.len();
        if !calls.is_empty() && !is_last && calls.len() != responses.len() {
            faults.push(format!("turn {at}: {} responses to {} calls", responses.len(), calls.len()));
        } else if !calls.is_empty() && !is_last && calls != responses {
            faults.push(format!("turn {at}: responses to other calls"));
        }
        if calls.is_empty() && !responses.is_empty() {
            faults.push(format!("turn {}: a response behind no call", at + 1));
        }
        if at == 0 && !calls.is_empty() {
            faults.push("a call before the user has said anything".to_owned());
        }
        if at == 0 && !of(Some(0), "functionResponse").is_empty() {
            faults.push("turn 0: a response behind no call".to_owned());
        }
    }
    faults
}

/// Gemini 3: since the user last said something, the first call of each answer has its signature.
fn signatures(contents: &[Value]) -> Vec<String> {
    let says = |(is_models, parts): &(bool, Vec<&Value>)| !is_models && parts.iter().any(|part| part.get("functionResponse").is_none());
    let turns = turns(contents);
    let since = turns.iter().rposition(says).unwrap_or(0);
    let mut faults = Vec::new();
    for (at, (_, parts)) in turns.iter().enumerate().skip(since) {
        let first = parts.iter().find(|part| part.get("functionCall").is_some());
        if first.is_some_and(|part| part.get("thoughtSignature").is_none()) {
            faults.push(format!("turn {at}: a call has lost its signature"));
        }
    }
    faults
}
