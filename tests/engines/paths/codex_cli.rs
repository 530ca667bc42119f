//! `codex exec`, with `@openai/codex` 0.171.0.

use super::codex;
use crate::scenario::Check::{Findings, Output, OutputLacks, Tools, Wire, WireHas, WireLacks};
use crate::scenario::{EnginePath, Row, passes, row};
use crate::situations as given;

/// The path.
pub(crate) const PATH: EnginePath = EnginePath {
    name: "codex/cli",
    engine: "codex",
    transport: "cli",
    command: "codex",
    model: codex::MODEL,
    configure: codex::configure,
    tools: codex::tools,
    planted: codex::REPOSITORY,
    old: codex::OLD,
    patience: 0,
    leaves: &[],
    rows: &[codex::ROWS, ROWS],
};

const ROWS: &[Row] = &[row(
    given::SUCCESS,
    passes(&[
        Findings(1),
        Tools(codex::TOOLS),
        Wire("/model", r#""gpt-5.5""#),
        Wire("/text/format/type", r#""json_schema""#),
        Wire("/text/format/strict", "true"),
        Wire("/text/format/schema/additionalProperties", "false"),
        WireHas("pub fn one() -> u8"),
        WireLacks(codex::OWN_INSTRUCTIONS),
        WireLacks("web_search"),
        Output("/trust/clean", "true"),
        Output(
            "/reviewers/0/adapter_metadata/resolvedModel",
            r#""gpt-5.5""#,
        ),
        Output("/reviewers/0/adapter_metadata/version", r#""0.171.0""#),
        Output("/reviewers/0/adapter_metadata/inputTokens", "100"),
        Output("/reviewers/0/adapter_metadata/outputTokens", "50"),
        Output("/reviewers/0/adapter_metadata/toolCalls", "0"),
        Output("/reviewers/0/usage/input_tokens", "100"),
        OutputLacks("/reviewers/0/adapter_metadata/warnings"),
        OutputLacks("/reviewers/0/adapter_metadata/attempts"),
    ]),
)
.smoke()];
