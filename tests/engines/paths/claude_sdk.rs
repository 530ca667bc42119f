//! Claude's control protocol, with `@anthropic-ai/claude-code` 2.1.332.

use super::claude;
use crate::scenario::Check::{
    Findings, Output, OutputHas, OutputLacks, Repairs, ToolSaid, Tools, Wire, WireHas, WireLacks,
};
use crate::scenario::{Check, EnginePath, Row, fails, passes, row};
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
    rows: ROWS,
};

/// Left to itself Claude tries again for three minutes. A reviewer's time bounds that to its half.
const SHORT: &[&str] = &["--timeout", "20"];

/// How long a row with [`SHORT`] may take, in seconds.
const SOON: u64 = 25;

/// What to do without credentials.
const LOGIN: &str = "/login";

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
    row(given::SLOW, passes(&[Findings(1)])),
    // Claude itself asks for structure once more, in every run.
    row(
        given::PROSE,
        passes(&[
            Repairs(1),
            Output("/validation/parse_mode", r#""fallback-text""#),
            Output("/trust/clean", "false"),
        ])
        .reviews(4, 4),
    ),
    row(
        given::STRICT_PROSE,
        fails("parse_failed", None, "").exit(4).reviews(4, 4),
    ),
    row(
        given::PROSE_TWICE_THEN_REVIEW,
        passes(&[
            Findings(1),
            Repairs(1),
            Output("/reviewers/0/adapter_metadata/attempts", "2"),
        ])
        .reviews(3, 3),
    ),
    row(given::HALF, passes(REPAIRED).reviews(2, 2)).smoke(),
    // Claude holds the tool's input to the schema five times over, and then has no answer to show;
    // an answer without a word is asked for once more.
    row(
        given::WRONG_SCHEMA,
        fails("reviewer_failed", Some("empty"), "try again")
            .reviews(5, 10)
            .and(&[Repairs(0)]),
    ),
    row(
        given::FENCED,
        passes(&[Findings(1), Repairs(0)]).reviews(2, 2),
    ),
    row(
        given::DOUBLE,
        passes(&[Findings(1), Repairs(0)]).reviews(2, 2),
    ),
    // Claude is asked before the review. Without a key the state lies beside the login that could
    // be there.
    row(
        given::NO_CREDENTIALS,
        fails("missing_auth", Some("auth"), LOGIN)
            .reviews(0, 0)
            .leaves(&["home/.claude/", "home/.claude.json"]),
    ),
    // The key is hidden from Claude, which then says that it has no login.
    row(
        given::SUCCESS.reviewer("no-login", r#"{"sdkOptions": {"authMode": "claude-code"}}"#),
        fails("missing_auth", Some("auth"), LOGIN)
            .reviews(0, 0)
            .leaves(&["home/.claude/", "home/.claude.json"]),
    ),
    row(
        given::HTTP_400,
        fails("reviewer_failed", None, "claude -p").reviews(1, 8),
    ),
    row(
        given::HTTP_401,
        fails("missing_auth", Some("auth"), LOGIN).reviews(1, 2),
    )
    .smoke(),
    row(
        given::HTTP_403,
        fails("missing_auth", Some("auth"), LOGIN).reviews(1, 2),
    ),
    // Where the models are a gateway's own, only the service can tell.
    row(
        given::UNKNOWN_MODEL,
        fails("reviewer_failed", Some("model"), "--model")
            .reviews(1, 3)
            .and(&[Wire("/model", r#""no-such-model""#)]),
    ),
    row(
        given::HTTP_429.with(SHORT),
        fails("reviewer_failed", Some("rate_limit"), "try again later")
            .within(SOON)
            .reviews(2, 6),
    ),
    row(
        given::HTTP_500.with(SHORT),
        fails("reviewer_failed", None, "try again later")
            .within(SOON)
            .reviews(2, 6),
    ),
    row(
        given::HTTP_529.with(SHORT),
        fails("reviewer_failed", None, "try again later")
            .within(SOON)
            .reviews(2, 6),
    ),
    row(given::RECOVERS, passes(&[Findings(1)]).reviews(2, 2)),
    row(
        given::REFUSED.with(SHORT),
        fails("reviewer_failed", Some("environment"), "ANTHROPIC_BASE_URL")
            .within(SOON)
            .reviews(0, 0),
    ),
    // After a broken stream Claude asks for the answer in one piece, which is broken off as well.
    row(
        given::CUT.with(SHORT),
        fails("reviewer_failed", Some("environment"), "network")
            .within(SOON)
            .reviews(2, 20),
    ),
    row(
        given::HANG,
        fails("timeout", Some("timeout"), "").within(25),
    ),
    row(
        given::INTERRUPT,
        fails("reviewer_failed", Some("interrupted"), "").exit(130),
    )
    .smoke(),
    row(
        given::READ,
        passes(&[
            Findings(1),
            ToolSaid("pub fn one() -> u8"),
            Output("/reviewers/0/adapter_metadata/toolCalls", "1"),
            Output("/reviewers/0/adapter_metadata/inputTokens", "200"),
        ])
        .reviews(2, 2),
    ),
    row(
        given::OUTSIDE,
        passes(&[
            Findings(1),
            Output("/reviewers/0/adapter_metadata/toolCalls", "4"),
            OutputHas("/reviewers/0/adapter_metadata/permissionDenials/3"),
            WireLacks("root:x:0"),
            WireLacks("PLANTED-INSTRUCTION"),
        ])
        .reviews(5, 5),
    ),
    row(
        given::WRITE,
        passes(&[Findings(1), ToolSaid("No such tool available")]).reviews(4, 4),
    ),
    row(
        given::SHELL,
        passes(&[Findings(1), ToolSaid("No such tool available")]).reviews(4, 4),
    ),
    row(
        given::HOSTILE,
        passes(&[
            Findings(1),
            Tools(claude::TOOLS),
            Wire("/output_config/effort", r#""high""#),
            WireHas("@/etc/hostname"),
            WireLacks(claude::OWN_INSTRUCTIONS),
        ]),
    ),
    row(
        given::PAST,
        passes(&[
            Findings(1),
            ToolSaid("    2"),
            Output("/snapshot/files", "1"),
            Output("/trust/clean", "true"),
            Output(
                "/result/findings/0/code_location/line_range",
                r#"{"start": 2, "end": 2}"#,
            ),
        ])
        .reviews(2, 2),
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
        given::MISSING,
        fails("missing_requirement", Some("environment"), "npm install").reviews(0, 0),
    ),
    row(
        given::OLD,
        fails(
            "reviewer_environment_failed",
            Some("environment"),
            "npm install",
        )
        .reviews(0, 0),
    ),
    row(
        given::EFFORT,
        passes(&[
            Wire("/output_config/effort", r#""low""#),
            Output("/reviewers/0/adapter_metadata/resolvedEffort", r#""low""#),
        ]),
    ),
    // This model always thinks, and Claude's list says so.
    row(
        given::EFFORT_OFF,
        fails("invalid_effort", None, "high").exit(2).reviews(0, 0),
    ),
    row(
        given::SUCCESS.reviewer("budget", r#"{"maxBudgetUsd": 0.0001}"#),
        fails("reviewer_failed", Some("quota"), "maxBudgetUsd"),
    ),
    row(
        given::READ.reviewer("turns", r#"{"maxTurns": 1}"#),
        fails("reviewer_failed", None, "maxTurns"),
    ),
    row(
        given::LANES,
        passes(&[
            Output("/kind", r#""batch""#),
            Output("/lanes/0/status", r#""success""#),
            Output("/lanes/1/status", r#""success""#),
            OutputHas("/lanes/1/artifact/reviewers/1"),
        ])
        .reviews(4, 4),
    ),
];

/// An answer that the same engine has transcribed.
const REPAIRED: &[Check] = &[
    Findings(1),
    Repairs(1),
    Output("/reviewers/0/adapter_metadata/captureMode", r#""repaired""#),
    Output("/validation/valid_schema", "true"),
    Output("/trust/clean", "true"),
];
