//! The lines that diffwarden writes to a Claude it talks to: one JSON object each.

use serde_json::{Value, json};

/// The id of the only request that diffwarden makes of one process.
pub(super) const REQUEST: &str = "diffwarden-1";

/// Returns the request that opens a conversation. The schema holds the answer, and the system
/// prompt takes the place of Claude's own; a conversation without turns needs neither.
pub(super) fn initialize(schema: Option<&Value>, system: Option<&str>) -> String {
    let mut request = json!({"subtype": "initialize"});
    if let Some(schema) = schema {
        request["jsonSchema"] = schema.clone();
    }
    if let Some(system) = system {
        request["systemPrompt"] = json!([system]);
    }
    json!({"type": "control_request", "request_id": REQUEST, "request": request}).to_string()
}

/// Returns the one message of the user. It is called composed by a program, so that Claude takes
/// it literally: no `@path` attaches a file, and no `/word` is a command.
pub(super) fn user(prompt: &str) -> String {
    json!({
        "type": "user",
        "message": {"role": "user", "content": [{"type": "text", "text": prompt}]},
        "parent_tool_use_id": null,
        "session_id": "",
        "client_composed": true,
    })
    .to_string()
}

/// Returns the answer to whatever Claude asks of its host: nobody is there to grant anything.
pub(super) fn refusal(request: &Value) -> String {
    json!({
        "type": "control_response",
        "response": {
            "subtype": "error",
            "request_id": request,
            "error": "a review grants nothing beyond its tools",
        },
    })
    .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_conversation_opens_with_what_it_needs() {
        let schema = json!({"type": "object"});
        insta::assert_snapshot!(
            [
                initialize(None, None),
                initialize(Some(&schema), Some("contract")),
                user("see @/etc/hostname"),
                refusal(&json!("req_7")),
            ]
            .join("\n")
        );
    }

    proptest! {
        #[test]
        fn any_prompt_is_one_line_and_arrives(prompt in "(.|\n|\u{2028}|\r|\"){0,80}") {
            let line = user(&prompt);
            prop_assert!(!line.contains('\n'));
            let read: Value = serde_json::from_str(&line).unwrap();
            prop_assert_eq!(&read["message"]["content"][0]["text"], &Value::from(prompt));
        }
    }
}
