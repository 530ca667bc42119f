//! `codex app-server`, with `@openai/codex` 0.171.0.

use super::codex;
use crate::scenario::Check::{
    Findings, Output, OutputHas, OutputLacks, Repairs, ToolSaid, Tools, Wire, WireHas, WireLacks,
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
    rows: &[codex::ROWS, ROWS],
};

/// Codex's own review flow.
const NATIVE: &str = r#"{"appServerOptions": {"reviewMode": "native"}}"#;

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
        fails("missing_auth", Some("auth"), codex::LOGIN).reviews(1, 2),
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
];
