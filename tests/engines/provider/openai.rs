//! OpenAI's Responses and Chat Completions.

use serde_json::{Value, json};

use super::{Content, Request, event, halves, members, names};

/// Returns the tools of a request for a response. Newer models get theirs in an item of the input.
pub(super) fn response_tools(body: &Value) -> Vec<String> {
    let added = members(&body["input"]).filter(|item| item["type"] == "additional_tools");
    let added = added.flat_map(|item| members(&item["tools"]));
    names(members(&body["tools"]).chain(added))
}

/// Returns the outputs of tools among the input items.
pub(super) fn response_results(body: &Value) -> Vec<String> {
    let is_output = |item: &&Value| {
        let kind = item["type"].as_str().unwrap_or_default();
        kind.ends_with("_call_output")
    };
    let outputs = members(&body["input"]).filter(is_output);
    outputs.map(|item| item["output"].to_string()).collect()
}

/// Returns the tools of a request for a chat completion.
pub(super) fn chat_tools(body: &Value) -> Vec<String> {
    names(members(&body["tools"]).map(|tool| &tool["function"]))
}

/// Returns the outputs of tools among the messages.
pub(super) fn chat_results(body: &Value) -> Vec<String> {
    let messages = members(&body["messages"]).filter(|message| message["role"] == "tool");
    messages
        .map(|message| message["content"].to_string())
        .collect()
}

/// Returns the body of an error.
pub(super) fn error(status: u16, model: &str) -> Value {
    let (kind, code, message) = match status {
        400 => (
            "invalid_request_error",
            json!(null),
            "The request is not valid.".to_owned(),
        ),
        401 => (
            "invalid_request_error",
            json!("invalid_api_key"),
            "Incorrect API key provided.".to_owned(),
        ),
        403 => (
            "invalid_request_error",
            json!("unsupported_country_region_territory"),
            "Country, region, or territory not supported".to_owned(),
        ),
        404 => (
            "invalid_request_error",
            json!("model_not_found"),
            format!("The model `{model}` does not exist or you do not have access to it."),
        ),
        429 => (
            "requests",
            json!("rate_limit_exceeded"),
            "Rate limit reached for requests.".to_owned(),
        ),
        _ => (
            "server_error",
            json!(null),
            "The server had an error while processing your request.".to_owned(),
        ),
    };
    json!({"error": {"message": message, "type": kind, "param": null, "code": code}})
}

fn item(request: &Request, content: &Content) -> Value {
    match content {
        Content::Text(text) => json!({
            "type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": text, "annotations": []}],
        }),
        Content::Call(call) => {
            let id = format!("call_{}", request.tool_results().len());
            match &call.arguments {
                Value::String(input) => json!({
                    "type": "custom_tool_call", "id": format!("ctc_{id}"), "call_id": id,
                    "name": call.name, "input": input, "status": "completed",
                }),
                arguments => json!({
                    "type": "function_call", "id": format!("fc_{id}"), "call_id": id,
                    "name": call.name, "arguments": arguments.to_string(), "status": "completed",
                }),
            }
        }
    }
}

/// Returns a response as one object.
pub(super) fn response(request: &Request, content: &Content) -> Value {
    json!({
        "id": "resp_1", "object": "response", "created_at": 1_790_000_000, "status": "completed",
        "model": request.model(),
        "output": [item(request, content)],
        "usage": {
            "input_tokens": 100, "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 50, "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 150,
        },
    })
}

/// Returns a response as a stream.
pub(super) fn response_events(request: &Request, content: &Content) -> Vec<String> {
    let done = response(request, content);
    let item = &done["output"][0];
    let mut begun = done.clone();
    begun["status"] = json!("in_progress");
    begun["output"] = json!([]);
    begun["usage"] = Value::Null;
    let mut payloads = vec![
        json!({"type": "response.created", "response": begun}),
        json!({"type": "response.output_item.added", "output_index": 0, "item": started(item)}),
    ];
    if let Content::Text(text) = content {
        let of = |kind: &str, key: &str, value: Value| {
            json!({"type": kind, "item_id": item["id"], "output_index": 0, "content_index": 0,
                key: value})
        };
        let [head, tail] = halves(text);
        let empty = json!({"type": "output_text", "text": "", "annotations": []});
        payloads.extend([
            of("response.content_part.added", "part", empty),
            of("response.output_text.delta", "delta", json!(head)),
            of("response.output_text.delta", "delta", json!(tail)),
            of("response.output_text.done", "text", json!(text)),
        ]);
    }
    payloads.extend([
        json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
        json!({"type": "response.completed", "response": done}),
    ]);
    let number = |(position, mut payload): (usize, Value)| {
        payload["sequence_number"] = json!(position);
        event(&payload)
    };
    payloads.into_iter().enumerate().map(number).collect()
}

fn started(item: &Value) -> Value {
    let mut started = item.clone();
    started["status"] = json!("in_progress");
    for (key, empty) in [
        ("content", json!([])),
        ("arguments", json!("")),
        ("input", json!("")),
    ] {
        if started.get(key).is_some() {
            started[key] = empty;
        }
    }
    started
}

fn chat_message(request: &Request, content: &Content) -> (Value, &'static str) {
    match content {
        Content::Text(text) => (json!({"role": "assistant", "content": text}), "stop"),
        Content::Call(call) => {
            let id = format!("call_{}", request.tool_results().len());
            let function = json!({"name": call.name, "arguments": call.arguments.to_string()});
            let call = json!({"index": 0, "id": id, "type": "function", "function": function});
            let message = json!({"role": "assistant", "content": null, "tool_calls": [call]});
            (message, "tool_calls")
        }
    }
}

fn chat_usage() -> Value {
    json!({"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150})
}

/// Returns a chat completion as one object.
pub(super) fn chat(request: &Request, content: &Content) -> Value {
    let (message, reason) = chat_message(request, content);
    json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1_790_000_000,
        "model": request.model(),
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": chat_usage(),
    })
}

/// Returns a chat completion as a stream.
pub(super) fn chat_events(request: &Request, content: &Content) -> Vec<String> {
    let (message, reason) = chat_message(request, content);
    let chunk = |delta: Value, reason: Value| {
        json!({
            "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1_790_000_000,
            "model": request.model(),
            "choices": [{"index": 0, "delta": delta, "finish_reason": reason}],
        })
    };
    let mut last = chunk(json!({}), json!(reason));
    last["usage"] = chat_usage();
    let mut deltas = vec![message];
    if let Content::Text(text) = content {
        deltas = vec![json!({"role": "assistant", "content": ""})];
        deltas.extend(halves(text).map(|part| json!({ "content": part })));
    }
    let mut events: Vec<String> = deltas
        .into_iter()
        .map(|delta| event(&chunk(delta, Value::Null)))
        .collect();
    events.extend([event(&last), "data: [DONE]\n\n".to_owned()]);
    events
}
