//! Gemini's generateContent and streamGenerateContent.

use serde_json::{Value, json};

use super::{Content, event, halves, members, names};

/// Returns the functions of a request.
pub(super) fn tools(body: &Value) -> Vec<String> {
    names(members(&body["tools"]).flat_map(|tool| members(&tool["functionDeclarations"])))
}

/// Returns what functions have returned, over all turns.
pub(super) fn tool_results(body: &Value) -> Vec<String> {
    let parts = members(&body["contents"]).flat_map(|content| members(&content["parts"]));
    let results = parts.filter_map(|part| part.get("functionResponse"));
    results.map(Value::to_string).collect()
}

/// Returns the body of an error; the path of a request names its model.
pub(super) fn error(status: u16, path: &str) -> Value {
    let (name, message) = match status {
        400 => ("INVALID_ARGUMENT", "The request is not valid.".to_owned()),
        401 => (
            "UNAUTHENTICATED",
            "API keys are not supported by this API.".to_owned(),
        ),
        403 => (
            "PERMISSION_DENIED",
            "The caller does not have permission".to_owned(),
        ),
        404 => ("NOT_FOUND", unknown_model(path)),
        429 => (
            "RESOURCE_EXHAUSTED",
            "Resource has been exhausted".to_owned(),
        ),
        _ => ("INTERNAL", "An internal error has occurred.".to_owned()),
    };
    json!({"error": {"code": status, "message": message, "status": name}})
}

fn unknown_model(path: &str) -> String {
    let model = path.rsplit('/').next().and_then(|it| it.split(':').next());
    format!(
        "models/{} is not found for API version v1beta, or is not supported for generateContent. \
         Call ListModels to see the list of available models and their supported methods.",
        model.unwrap_or_default()
    )
}

/// Returns an answer as one object.
pub(super) fn answer(content: &Content) -> Value {
    let part = match content {
        Content::Text(text) => json!({"text": text}),
        Content::Call(call) => {
            json!({"functionCall": {"name": call.name, "args": call.arguments}})
        }
    };
    json!({
        "candidates": [{
            "content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0,
        }],
        "usageMetadata": {
            "promptTokenCount": 100, "candidatesTokenCount": 50, "totalTokenCount": 150,
        },
        "modelVersion": "a-model",
    })
}

/// Returns an answer as a stream.
pub(super) fn events(content: &Content) -> Vec<String> {
    let last = answer(content);
    let mut first = last.clone();
    if let Content::Text(text) = content {
        let [head, tail] = halves(text);
        first["candidates"][0]["content"]["parts"][0]["text"] = json!(head);
        let mut last = last;
        last["candidates"][0]["content"]["parts"][0]["text"] = json!(tail);
        if let Some(candidate) = first["candidates"][0].as_object_mut() {
            candidate.remove("finishReason");
        }
        return vec![event(&first), event(&last)];
    }
    vec![event(&last)]
}
