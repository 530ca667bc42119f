//! Claude's control protocol, with `@anthropic-ai/claude-code` 2.1.332.

use super::claude;
use crate::scenario::Check::{
    Findings, Output, OutputHas, OutputLacks, Tools, Wire, WireHas, WireLacks,
};
use crate::scenario::{EnginePath, Row, fails, passes, row};
use crate::situations as given;

/// The path.
pub(crate) const PATH: EnginePath = EnginePath {
    name: "claude/sdk",
    engine: "claude",
    transport: "sdk",
    command: "claude",
    model: claude::MODEL,
    configure: claude::configure,
    tools: claude::tools,
    planted: claude::REPOSITORY,
    old: claude::OLD,
    patience: 0,
    leaves: &[],
    rows: &[claude::ROWS, ROWS],
};

const ROWS: &[Row] = &[
    row(
        given::SUCCESS,
        passes(&[
            Findings(1),
            Tools(claude::TOOLS),
            Wire("/model", claude::WIRE_MODEL),
            Wire("/output_config/effort", r#""high""#),
            WireHas("pub fn one() -> u8"),
            WireLacks(claude::OWN_INSTRUCTIONS),
            Output("/trust/clean", "true"),
            Output("/validation/parse_mode", r#""tool-output""#),
            Output("/reviewers/0/adapter_metadata/transport", r#""native""#),
            Output(
                "/reviewers/0/adapter_metadata/resolvedModel",
                claude::WIRE_MODEL,
            ),
            Output(
                "/reviewers/0/adapter_metadata/offeredTools",
                r#"["Glob", "Grep", "Read", "StructuredOutput"]"#,
            ),
            Output(
                "/reviewers/0/adapter_metadata/systemPromptMode",
                r#""split""#,
            ),
            Output("/reviewers/0/adapter_metadata/version", r#""2.1.332""#),
            Output("/reviewers/0/adapter_metadata/inputTokens", "100"),
            Output("/reviewers/0/adapter_metadata/outputTokens", "50"),
            Output("/reviewers/0/adapter_metadata/toolCalls", "0"),
            Output("/reviewers/0/usage/input_tokens", "100"),
            OutputHas("/reviewers/0/adapter_metadata/totalCostUsd"),
            OutputLacks("/reviewers/0/adapter_metadata/stderr"),
            OutputLacks("/reviewers/0/adapter_metadata/attempts"),
        ]),
    )
    .smoke(),
    // Claude is asked before the review. Without a key the state lies beside the login that could
    // be there.
    row(
        given::NO_CREDENTIALS,
        fails("missing_auth", Some("auth"), claude::LOGIN)
            .reviews(0, 0)
            .leaves(&["home/.claude/", "home/.claude.json"]),
    ),
    // The key is hidden from Claude, which then says that it has no login.
    row(
        given::SUCCESS.reviewer("no-login", r#"{"sdkOptions": {"authMode": "claude-code"}}"#),
        fails("missing_auth", Some("auth"), claude::LOGIN)
            .reviews(0, 0)
            .leaves(&["home/.claude/", "home/.claude.json"]),
    ),
    // Where the models are a gateway's own, only the service can tell.
    row(
        given::UNKNOWN_MODEL,
        fails("reviewer_failed", Some("model"), "--model")
            .reviews(1, 3)
            .and(&[Wire("/model", r#""no-such-model""#)]),
    ),
    // No limit of the prompt was met, so diffwarden's own holds.
    row(
        given::HUGE,
        passes(&[
            Findings(1),
            Output("/trust/reasons", r#"["clipped"]"#),
            OutputHas("/coverage/files/0"),
        ]),
    ),
    row(
        given::READ.reviewer("turns", r#"{"maxTurns": 1}"#),
        fails("reviewer_failed", None, "maxTurns"),
    ),
];
