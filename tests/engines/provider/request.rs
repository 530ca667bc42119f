//! What reaches the provider, in any of the formats it understands.

use serde_json::{Value, json};

use super::{Content, anthropic, gemini, openai};

/// What only the request to transcribe an answer says.
const TRANSCRIBER: &str = "You are a transcriber here";

/// A request for an answer of the model.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    /// The path of the request.
    pub(crate) path: String,
    /// The body.
    pub(crate) body: Value,
    /// The format it is in.
    pub(super) dialect: Dialect,
}

/// A format of requests and answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    Responses,
    Chat,
    Messages,
    Gemini,
}

impl Request {
    /// Takes a request in.
    pub(super) fn new(path: &str, body: Value, dialect: Dialect) -> Self {
        Self {
            path: path.to_owned(),
            body,
            dialect,
        }
    }

    /// Whether an answer is to be transcribed.
    pub(crate) fn is_repair(&self) -> bool {
        self.body.to_string().contains(TRANSCRIBER)
    }

    /// Returns the names of the tools that the model is offered.
    pub(crate) fn tools(&self) -> Vec<String> {
        let mut names = match self.dialect {
            Dialect::Responses => openai::response_tools(&self.body),
            Dialect::Chat => openai::chat_tools(&self.body),
            Dialect::Messages => anthropic::tools(&self.body),
            Dialect::Gemini => gemini::tools(&self.body),
        };
        names.sort();
        names
    }

    /// Returns what tools have returned so far, as text.
    pub(crate) fn tool_results(&self) -> Vec<String> {
        match self.dialect {
            Dialect::Responses => openai::response_results(&self.body),
            Dialect::Chat => openai::chat_results(&self.body),
            Dialect::Messages => anthropic::tool_results(&self.body),
            Dialect::Gemini => gemini::tool_results(&self.body),
        }
    }

    /// Returns the folder in which the prompt says that the change can be looked at.
    pub(super) fn folder(&self) -> Option<String> {
        let text = self.body.to_string();
        let (before, _) = text.split_once("' && git ")?;
        let (_, folder) = before.rsplit_once("cd '")?;
        Some(folder.to_owned())
    }

    /// Returns the tool that takes a structured answer, if one is offered.
    pub(super) fn answer_tool(&self) -> Option<String> {
        let mut names = self.tools().into_iter();
        names.find(|name| name.to_ascii_lowercase().contains("structured"))
    }

    /// Whether the answer is wanted as a stream.
    pub(super) fn is_streamed(&self) -> bool {
        self.path.ends_with(":streamGenerateContent") || self.body["stream"] == json!(true)
    }

    /// Returns the model that is asked for.
    pub(super) fn model(&self) -> &str {
        self.body["model"].as_str().unwrap_or("a-model")
    }
}

impl Dialect {
    /// Returns the format that requests to a path are in.
    pub(super) fn of(path: &str) -> Option<Self> {
        Some(if path.ends_with("/responses") {
            Self::Responses
        } else if path.ends_with("/chat/completions") {
            Self::Chat
        } else if path.ends_with("/messages") {
            Self::Messages
        } else if path.ends_with(":generateContent") || path.ends_with(":streamGenerateContent") {
            Self::Gemini
        } else {
            return None;
        })
    }

    /// Returns the body of an error.
    pub(super) fn error(self, status: u16, request: &Request) -> Value {
        match self {
            Self::Responses | Self::Chat => openai::error(status, request.model()),
            Self::Messages => anthropic::error(status, request.model()),
            Self::Gemini => gemini::error(status, &request.path),
        }
    }

    /// Returns an answer as the events of a stream.
    pub(super) fn events(self, request: &Request, content: &Content) -> Vec<String> {
        match self {
            Self::Responses => openai::response_events(request, content),
            Self::Chat => openai::chat_events(request, content),
            Self::Messages => anthropic::events(request, content),
            Self::Gemini => gemini::events(content),
        }
    }

    /// Returns an answer as one object.
    pub(super) fn whole(self, request: &Request, content: &Content) -> Value {
        match self {
            Self::Responses => openai::response(request, content),
            Self::Chat => openai::chat(request, content),
            Self::Messages => anthropic::message(request, content),
            Self::Gemini => gemini::answer(content),
        }
    }
}
