//! `gemini`, with `@google/gemini-cli` 0.61.0.

use super::gemini;
use crate::scenario::Check::{
    Findings, Output, OutputHas, OutputLacks, Path as Asked, Repairs, ToolSaid, Tools, WireHas,
    WireLacks,
};
use crate::scenario::{Check, EnginePath, Row, fails, passes, row};
use crate::situations as given;

/// The path.
pub(crate) const PATH: EnginePath = EnginePath {
    name: "gemini/cli",
    engine: "gemini",
    transport: "cli",
    command: "gemini",
    model: "gemini-2.5-pro",
    configure: gemini::configure,
    tools: gemini::tools,
    planted: gemini::REPOSITORY,
    old: gemini::OLD,
    patience: 20,
    leaves: &[],
    rows: &[ROWS],
};

const ROWS: &[Row] = &[
    row(
        given::SUCCESS,
        passes(&[
            Findings(1),
            Tools(gemini::TOOLS),
            Asked("/models/gemini-2.5-pro:streamGenerateContent"),
            WireHas("pub fn one() -> u8"),
            WireLacks(gemini::OWN_INSTRUCTIONS),
            Output("/trust/clean", "true"),
            Output("/reviewers/0/adapter_metadata/version", r#""0.61.0""#),
            Output("/reviewers/0/adapter_metadata/inputTokens", "100"),
            Output("/reviewers/0/adapter_metadata/outputTokens", "50"),
            Output("/reviewers/0/adapter_metadata/toolCalls", "0"),
            OutputHas("/reviewers/0/usage"),
            OutputLacks("/reviewers/0/adapter_metadata/attempts"),
        ]),
    )
    .smoke(),
    row(given::SLOW, passes(&[Findings(1)])),
    row(
        given::PROSE,
        passes(&[
            Repairs(1),
            Output("/validation/parse_mode", r#""fallback-text""#),
            Output("/trust/clean", "false"),
        ])
        .reviews(2, 2),
    ),
    row(
        given::STRICT_PROSE,
        fails("parse_failed", None, "").exit(4).reviews(2, 2),
    ),
    row(
        given::PROSE_THEN_REVIEW,
        passes(&[
            Findings(1),
            Repairs(1),
            Output("/reviewers/0/adapter_metadata/attempts", "2"),
        ])
        .reviews(2, 2),
    ),
    row(given::HALF, passes(REPAIRED)).smoke(),
    row(given::WRONG_SCHEMA, passes(REPAIRED)),
    row(given::FENCED, passes(&[Findings(1), Repairs(0)])),
    row(given::DOUBLE, passes(&[Findings(1), Repairs(0)])),
    row(
        given::NO_CREDENTIALS,
        fails("missing_auth", Some("auth"), gemini::LOGIN).reviews(0, 0),
    ),
    row(given::HTTP_400, fails("reviewer_failed", None, "")),
    row(
        given::HTTP_401,
        fails("missing_auth", Some("auth"), gemini::LOGIN),
    )
    .smoke(),
    row(
        given::HTTP_403,
        fails("missing_auth", Some("auth"), gemini::LOGIN),
    ),
    row(
        given::UNKNOWN_MODEL,
        fails("reviewer_failed", Some("model"), "--model")
            .and(&[Asked("/models/no-such-model:streamGenerateContent")]),
    ),
    row(
        given::HTTP_429,
        fails("reviewer_failed", Some("rate_limit"), "try again later")
            .within(60)
            .reviews(1, 4),
    ),
    row(
        given::HTTP_500,
        fails("reviewer_failed", None, "try again later")
            .within(60)
            .reviews(1, 4),
    ),
    row(given::RECOVERS, passes(&[Findings(1)]).reviews(2, 2)),
    row(
        given::REFUSED,
        fails("reviewer_failed", None, "").within(60).reviews(0, 0),
    ),
    row(
        given::CUT,
        fails("reviewer_failed", None, "").within(60).reviews(1, 6),
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
            WireLacks("root:x:0"),
            WireLacks("PLANTED-INSTRUCTION"),
            ToolSaid("not in workspace"),
        ])
        .reviews(4, 4),
    ),
    row(
        given::WRITE,
        passes(&[Findings(1), ToolSaid("not found")]).reviews(4, 4),
    ),
    row(
        given::SHELL,
        passes(&[Findings(1), ToolSaid("not found")]).reviews(4, 4),
    ),
    row(
        given::HOSTILE,
        passes(&[
            Findings(1),
            Tools(gemini::TOOLS),
            WireHas("/etc/hostname"),
            WireLacks(gemini::OWN_INSTRUCTIONS),
        ]),
    ),
    row(
        given::HOSTILE.reviewer("context-file", "{}"),
        passes(&[Findings(1), WireLacks(gemini::CONTEXT)]).known(
            &["a request holds \"INSTRUCTION-OF-A-CONTEXT-FILE\""],
            "Gemini sends GEMINI.md of every folder of its workspace and has no switch for it",
        ),
    ),
    row(
        given::LEAK,
        passes(&[Findings(2), Output("/trust/reasons", r#"["masked"]"#)]),
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
        fails("invalid_effort", None, "").exit(2).reviews(0, 0),
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
