//! Anthropic's Messages.

use serde_json::{Value, json};

use super::{Content, Request, event, halves, members, names};

/// Returns the tools of a request.
pub(super) fn tools(body: &Value) -> Vec<String> {
    names(members(&body["tools"]))
}

/// Returns what tools have returned, over all turns.
pub(super) fn tool_results(body: &Value) -> Vec<String> {
    let blocks = members(&body["messages"]).flat_map(|message| members(&message["content"]));
    let results = blocks.filter(|block| block["type"] == "tool_result");
    results.map(|block| block["content"].to_string()).collect()
}

/// Returns the body of an error.
pub(super) fn error(status: u16, model: &str) -> Value {
    let (kind, message) = match status {
        400 => (
            "invalid_request_error",
            "The request is not valid.".to_owned(),
        ),
        401 => ("authentication_error", "invalid x-api-key".to_owned()),
        403 => (
            "permission_error",
            "Your API key does not have permission to use this resource.".to_owned(),
        ),
        404 => ("not_found_error", format!("model: {model}")),
        429 => (
            "rate_limit_error",
            "This request would exceed the rate limit.".to_owned(),
        ),
        529 => ("overloaded_error", "Overloaded".to_owned()),
        _ => ("api_error", "Internal server error".to_owned()),
    };
    json!({"type": "error", "error": {"type": kind, "message": message}})
}

fn block(request: &Request, content: &Content) -> Value {
    match content {
        Content::Text(text) => json!({"type": "text", "text": text}),
        Content::Call(call) => json!({
            "type": "tool_use", "name": call.name, "input": call.arguments,
            "id": format!("toolu_{}", request.tool_results().len()),
        }),
    }
}

/// Returns a message as one object.
pub(super) fn message(request: &Request, content: &Content) -> Value {
    let reason = match content {
        Content::Text(_) => "end_turn",
        Content::Call(_) => "tool_use",
    };
    json!({
        "id": format!("msg_{}", members(&request.body["messages"]).count()),
        "type": "message", "role": "assistant", "model": request.model(),
        "content": [block(request, content)],
        "stop_reason": reason, "stop_sequence": null,
        "usage": {
            "input_tokens": 100, "output_tokens": 50,
            "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
        },
    })
}

/// Returns a message as a stream.
pub(super) fn events(request: &Request, content: &Content) -> Vec<String> {
    let whole = message(request, content);
    let mut begun = whole.clone();
    begun["content"] = json!([]);
    begun["stop_reason"] = Value::Null;
    let mut empty = block(request, content);
    let [head, tail] = match content {
        Content::Text(text) => {
            empty["text"] = json!("");
            halves(text).map(|part| json!({"type": "text_delta", "text": part}))
        }
        Content::Call(call) => {
            empty["input"] = json!({});
            halves(&call.arguments.to_string())
                .map(|part| json!({"type": "input_json_delta", "partial_json": part}))
        }
    };
    let end = json!({"stop_reason": whole["stop_reason"], "stop_sequence": null});
    [
        json!({"type": "message_start", "message": begun}),
        json!({"type": "content_block_start", "index": 0, "content_block": empty}),
        json!({"type": "content_block_delta", "index": 0, "delta": head}),
        json!({"type": "content_block_delta", "index": 0, "delta": tail}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": end, "usage": {"output_tokens": 50}}),
        json!({"type": "message_stop"}),
    ]
    .iter()
    .map(event)
    .collect()
}
