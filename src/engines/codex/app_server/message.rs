//! The lines of the protocol: JSON-RPC without its `jsonrpc` member, one object per line.

use serde_json::{Value, json};

/// The JSON-RPC code for a method that is not there.
const METHOD_NOT_FOUND: i64 = -32601;

/// What the server said in one line.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Incoming {
    /// The reply to a request of ours.
    Reply {
        /// The number of the request.
        id: u64,
        /// The result, or the error object.
        outcome: Result<Value, Value>,
    },
    /// An error that names no request. The server could not read one of ours, so no reply to it
    /// will come.
    Unaddressed(Value),
    /// A request of the server, which waits for a reply.
    Request {
        /// Its name, as it has to be given back.
        id: Value,
        /// What it asks for.
        method: String,
    },
    /// Something that happened.
    Notification {
        /// What.
        method: String,
        /// The details.
        params: Value,
    },
}

/// Reads a line; `None` when it is no message.
pub(super) fn read(line: &str) -> Option<Incoming> {
    let Value::Object(mut message) = serde_json::from_str(line).ok()? else {
        return None;
    };
    let id = message.remove("id").filter(|id| !id.is_null());
    let method = match message.remove("method") {
        Some(Value::String(method)) => Some(method),
        _ => None,
    };
    let error = message.remove("error").filter(|error| !error.is_null());
    match (id, method, error) {
        (Some(id), Some(method), _) => Some(Incoming::Request { id, method }),
        (None, Some(method), _) => Some(Incoming::Notification {
            method,
            params: message.remove("params").unwrap_or_default(),
        }),
        (Some(id), None, error) => Some(Incoming::Reply {
            id: id.as_u64()?,
            outcome: match error {
                Some(error) => Err(error),
                None => Ok(message.remove("result")?),
            },
        }),
        (None, None, error) => error.map(Incoming::Unaddressed),
    }
}

/// Returns the line that asks for `method`.
pub(super) fn request(id: u64, method: &str, params: &Value) -> String {
    json!({"id": id, "method": method, "params": params}).to_string()
}

/// Returns the line that tells of `method`.
pub(super) fn notification(method: &str) -> String {
    json!({"method": method}).to_string()
}

/// Returns the reply to a request of the server: what was asked for is declined, in the words that
/// its method has for that, or else not there. A request without a reply would hold up the turn.
pub(super) fn refusal(id: &Value, method: &str) -> String {
    let result = match method {
        "item/commandExecution/requestApproval" | "item/fileChange/requestApproval" => {
            json!({"decision": "decline"})
        }
        "execCommandApproval" | "applyPatchApproval" => {
            json!({"decision": {"denied": {"rejection": "a review only reads"}}})
        }
        "item/permissions/requestApproval" => json!({"permissions": {}}),
        "item/tool/requestUserInput" => json!({"answers": {}}),
        "mcpServer/elicitation/request" => json!({"action": "decline"}),
        _ => {
            let message = "a review has nobody to ask and no tools of its own";
            let error = json!({"code": METHOD_NOT_FOUND, "message": message});
            return json!({"id": id, "error": error}).to_string();
        }
    };
    json!({"id": id, "result": result}).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn messages_are_told_apart() {
        for (line, expected) in [
            (
                r#"{"id":1,"result":{}}"#,
                Some(Incoming::Reply {
                    id: 1,
                    outcome: Ok(json!({})),
                }),
            ),
            (
                r#"{"id":2,"error":{"code":-32600}}"#,
                Some(Incoming::Reply {
                    id: 2,
                    outcome: Err(json!({"code": -32600})),
                }),
            ),
            (
                r#"{"id":null,"error":{"code":-32700}}"#,
                Some(Incoming::Unaddressed(json!({"code": -32700}))),
            ),
            (
                r#"{"id":"a","method":"x/y","params":{}}"#,
                Some(Incoming::Request {
                    id: json!("a"),
                    method: "x/y".to_owned(),
                }),
            ),
            (
                r#"{"jsonrpc":"2.0","method":"warning"}"#,
                Some(Incoming::Notification {
                    method: "warning".to_owned(),
                    params: Value::Null,
                }),
            ),
            (r#"{"id":"1","result":{}}"#, None),
            (r#"{"id":1}"#, None),
            (r#"{"id":1,"result":"#, None),
            ("[]", None),
            ("WARNING: noise", None),
            ("", None),
        ] {
            assert_eq!(read(line), expected, "{line}");
        }
    }

    #[test]
    fn whatever_the_server_asks_for_is_declined() {
        for (method, pointer, expected) in [
            (
                "item/commandExecution/requestApproval",
                "/result/decision",
                json!("decline"),
            ),
            (
                "item/fileChange/requestApproval",
                "/result/decision",
                json!("decline"),
            ),
            (
                "execCommandApproval",
                "/result/decision/denied/rejection",
                json!("a review only reads"),
            ),
            (
                "item/permissions/requestApproval",
                "/result/permissions",
                json!({}),
            ),
            ("item/tool/requestUserInput", "/result/answers", json!({})),
            (
                "mcpServer/elicitation/request",
                "/result/action",
                json!("decline"),
            ),
            ("item/tool/call", "/error/code", json!(METHOD_NOT_FOUND)),
            ("new/thing", "/error/code", json!(METHOD_NOT_FOUND)),
        ] {
            let reply: Value = serde_json::from_str(&refusal(&json!("7"), method)).unwrap();
            assert_eq!(reply["id"], "7");
            assert_eq!(reply.pointer(pointer), Some(&expected), "{method}");
        }
    }

    proptest! {
        #[test]
        fn any_line_is_read_or_not(line in "[{}\\[\\]\":,a-z0-9 ]{0,60}") {
            read(&line);
        }
    }
}
