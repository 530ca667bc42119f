//! `codex app-server`, with `@openai/codex` 0.171.0.

use super::codex;
use crate::scenario::Check::{
    Findings, LongestText, Output, OutputHas, OutputLacks, Repairs, ToolSaid, Tools, Wire, WireHas,
    WireLacks,
};
use crate::scenario::{EnginePath, Row, fails, passes, row};
use crate::situations as given;

/// The path.
pub(crate) const PATH: EnginePath = EnginePath {
    name: "codex/app-server",
    engine: "codex",
    transport: "app-server",
    command: "codex",
    model: codex::MODEL,
    configure: codex::configure,
    tools: codex::tools,
    planted: codex::REPOSITORY,
    old: codex::OLD,
    patience: 0,
    leaves: &[],
    rows: ROWS,
};

/// Codex's own review flow.
const NATIVE: &str = r#"{"appServerOptions": {"reviewMode": "native"}}"#;

/// What Codex says when it fails without a cause of its own.
const LOGIN: &str = "codex login";

const ROWS: &[Row] = &[
    row(
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
            Output(
                "/reviewers/0/adapter_metadata/modelResolutionSource",
                r#""provider-init""#,
            ),
            Output(
                "/reviewers/0/adapter_metadata/reviewMode",
                r#""structured""#,
            ),
            Output("/reviewers/0/adapter_metadata/version", r#""0.171.0""#),
            Output("/reviewers/0/adapter_metadata/inputTokens", "100"),
            Output("/reviewers/0/adapter_metadata/outputTokens", "50"),
            Output("/reviewers/0/adapter_metadata/toolCalls", "0"),
            Output("/reviewers/0/usage/inputTokens", "100"),
            OutputLacks("/reviewers/0/adapter_metadata/warnings"),
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
        fails("missing_auth", Some("auth"), "env_key").reviews(0, 0),
    ),
    row(
        given::HTTP_400,
        fails("reviewer_failed", None, "codex exec"),
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
    row(
        given::UNKNOWN_MODEL,
        fails("reviewer_failed", Some("model"), "--model")
            .and(&[Wire("/model", r#""no-such-model""#)]),
    ),
    row(
        given::HTTP_429,
        fails("reviewer_failed", Some("rate_limit"), "try again later"),
    ),
    row(
        given::HTTP_500,
        fails("reviewer_failed", None, "try again later")
            .within(70)
            .reviews(2, 40),
    ),
    row(
        given::HTTP_529,
        fails("reviewer_failed", None, "try again later")
            .within(70)
            .reviews(2, 40),
    ),
    row(given::RECOVERS, passes(&[Findings(1)]).reviews(2, 2)),
    row(
        given::REFUSED,
        fails("reviewer_failed", Some("environment"), "base_url")
            .within(70)
            .reviews(0, 0),
    ),
    row(
        given::CUT,
        fails("reviewer_failed", None, "try again").reviews(2, 10),
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
        given::WRITE,
        passes(&[Findings(1), ToolSaid("read-only sandbox")]).reviews(2, 2),
    ),
    row(
        given::SHELL,
        passes(&[Findings(1), ToolSaid("Read-only file system")]).reviews(5, 5),
    ),
    row(
        given::HOSTILE,
        passes(&[
            Findings(1),
            Tools(codex::TOOLS),
            WireHas("@/etc/hostname"),
            WireLacks(codex::OWN_INSTRUCTIONS),
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
    row(
        given::HUGE,
        passes(&[
            Findings(1),
            LongestText(1 << 20),
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
            Wire("/reasoning/effort", r#""low""#),
            Output("/reviewers/0/adapter_metadata/resolvedEffort", r#""low""#),
        ]),
    ),
    row(
        given::EFFORT_OFF,
        passes(&[
            Wire("/reasoning/effort", r#""none""#),
            Output("/reviewers/0/adapter_metadata/requestedEffort", r#""off""#),
            Output("/reviewers/0/adapter_metadata/resolvedEffort", r#""none""#),
        ]),
    ),
    row(
        given::SUCCESS.reviewer("native", NATIVE),
        passes(&[
            Findings(1),
            Tools(codex::TOOLS),
            Repairs(0),
            Wire("/model", r#""gpt-5.5""#),
            WireHas("pub fn one() -> u8"),
            WireLacks(codex::OWN_INSTRUCTIONS),
            WireLacks("web_search"),
            Output("/result/overall_correctness", r#""unknown""#),
            Output("/result/findings/0/priority", "1"),
            Output(
                "/result/findings/0/code_location/line_range",
                r#"{"start": 2, "end": 2}"#,
            ),
            Output("/validation/parse_mode", r#""fallback-text""#),
            Output("/validation/valid_schema", "false"),
            Output("/trust/clean", "false"),
            Output("/reviewers/0/adapter_metadata/reviewMode", r#""native""#),
            Output(
                "/reviewers/0/adapter_metadata/effectiveWebSearchMode",
                r#""disabled""#,
            ),
            OutputHas("/reviewers/0/adapter_metadata/placeholders/2"),
            OutputLacks("/reviewers/0/adapter_metadata/attempts"),
        ]),
    )
    .smoke(),
    row(
        given::SUCCESS
            .with(&["--strict"])
            .reviewer("native-strict", NATIVE),
        fails("parse_failed", None, "").exit(4),
    ),
    row(
        given::PROSE.reviewer("native-prose", NATIVE),
        passes(&[
            Findings(0),
            Repairs(0),
            Output("/trust/clean", "false"),
            Output("/validation/valid_schema", "false"),
        ]),
    ),
    row(
        given::HTTP_401.reviewer("native-http-401", NATIVE),
        fails("missing_auth", Some("auth"), LOGIN).reviews(1, 2),
    ),
    row(
        given::HTTP_500.reviewer("native-http-500", NATIVE),
        fails("reviewer_failed", None, "try again later")
            .within(70)
            .reviews(2, 40),
    ),
    row(
        given::HANG.reviewer("native-hang", NATIVE),
        fails("timeout", Some("timeout"), "").within(25),
    ),
    row(
        given::INTERRUPT.reviewer("native-interrupt", NATIVE),
        fails("reviewer_failed", Some("interrupted"), "").exit(130),
    ),
    row(
        given::READ.reviewer("native-asks-to-read", NATIVE),
        passes(&[
            Findings(1),
            ToolSaid("pub fn one() -> u8"),
            Output("/reviewers/0/adapter_metadata/toolCalls", "1"),
        ])
        .reviews(2, 2),
    ),
    row(
        given::WRITE.reviewer("native-asks-to-write", NATIVE),
        passes(&[Findings(1), ToolSaid("read-only sandbox")]).reviews(2, 2),
    ),
    row(
        given::SHELL.reviewer("native-asks-for-a-shell", NATIVE),
        passes(&[Findings(1), ToolSaid("Read-only file system")]).reviews(5, 5),
    ),
    row(
        given::HOSTILE.reviewer("native-hostile-repository", NATIVE),
        passes(&[
            Findings(1),
            WireHas("@/etc/hostname"),
            WireLacks(codex::OWN_INSTRUCTIONS),
        ]),
    ),
    row(
        given::EFFORT.reviewer(
            "native-effort",
            r#"{"effort": "low", "appServerOptions": {"reviewMode": "native"}}"#,
        ),
        passes(&[
            Wire("/reasoning/effort", r#""low""#),
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

/// An answer that the same engine has transcribed, without tools that read.
const REPAIRED: &[crate::scenario::Check] = &[
    Findings(1),
    Repairs(1),
    Output("/reviewers/0/adapter_metadata/captureMode", r#""repaired""#),
    Output("/validation/valid_schema", "true"),
    Output("/trust/clean", "true"),
];
