//! `opencode run`, with `opencode-ai` 1.18.33.

use super::opencode;
use crate::scenario::Check::{
    Findings, Output, OutputHas, OutputLacks, Repairs, ToolSaid, Tools, Wire, WireHas, WireLacks,
};
use crate::scenario::{Check, EnginePath, Row, fails, passes, row};
use crate::situations as given;

/// The path.
pub(crate) const PATH: EnginePath = EnginePath {
    name: "opencode/cli",
    engine: "opencode",
    transport: "cli",
    command: "opencode",
    model: "bench/a-model",
    configure: opencode::configure,
    tools: opencode::tools,
    planted: opencode::REPOSITORY,
    old: opencode::OLD,
    patience: 240,
    leaves: opencode::LEAVES,
    rows: &[ROWS],
};

const ROWS: &[Row] = &[
    row(
        given::SUCCESS,
        passes(&[
            Findings(1),
            Tools(opencode::TOOLS),
            Wire("/model", r#""a-model""#),
            WireHas("pub fn one() -> u8"),
            WireLacks(opencode::OWN_INSTRUCTIONS),
            Output("/trust/clean", "true"),
            Output("/reviewers/0/adapter_metadata/version", r#""1.18.33""#),
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
        fails("missing_auth", Some("auth"), opencode::LOGIN).reviews(1, 1),
    ),
    row(given::HTTP_400, fails("reviewer_failed", None, "")),
    row(
        given::HTTP_401,
        fails("missing_auth", Some("auth"), opencode::LOGIN),
    )
    .smoke(),
    row(
        given::HTTP_403,
        fails("missing_auth", Some("auth"), opencode::LOGIN),
    ),
    row(
        given::UNKNOWN_MODEL,
        fails("reviewer_failed", Some("model"), "opencode models").reviews(0, 0),
    ),
    // OpenCode tries again five times, at growing distances: more than a minute in all.
    row(
        given::HTTP_429,
        fails("reviewer_failed", Some("rate_limit"), "try again later").reviews(2, 6),
    ),
    row(
        given::HTTP_500,
        fails("reviewer_failed", None, "try again later").reviews(2, 6),
    ),
    row(given::RECOVERS, passes(&[Findings(1)]).reviews(2, 2)),
    row(
        given::REFUSED,
        fails("reviewer_failed", Some("environment"), "baseURL").reviews(0, 0),
    ),
    row(
        given::CUT.with(&["--timeout", "60"]),
        fails("reviewer_failed", None, "").reviews(1, 10).known(
            &["ended with", "requests for a review"],
            "OpenCode asks again without end when a stream breaks off; only --timeout ends it",
        ),
    ),
    // On a busy machine the time is over before OpenCode has asked.
    row(
        given::HANG.with(&["--timeout", "30"]),
        fails("timeout", Some("timeout"), "").reviews(0, 1),
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
        ])
        .reviews(4, 4),
    ),
    row(
        given::WRITE,
        passes(&[Findings(1), ToolSaid("unavailable tool")]).reviews(4, 4),
    ),
    row(
        given::SHELL,
        passes(&[Findings(1), ToolSaid("unavailable tool")]).reviews(4, 4),
    ),
    row(
        given::HOSTILE,
        passes(&[
            Findings(1),
            Tools(opencode::TOOLS),
            WireHas("@/etc/hostname"),
            WireLacks(opencode::OWN_INSTRUCTIONS),
        ]),
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
        passes(&[
            Wire("/reasoning_effort", r#""low""#),
            Output("/reviewers/0/adapter_metadata/resolvedEffort", r#""low""#),
        ]),
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
