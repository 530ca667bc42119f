//! The scans as a reviewer, through the binary.

use std::fmt::Write as _;

use serde_json::json;

use super::trust_reasons;
use crate::support::{TestEnvironment, reply};

const TOKEN: &str = concat!("gh", "p_q7Wm2Zx9Lk4Vt8Rb3Ny6Hc1Jd5Gf0Ps2Ua7E");

#[test]
fn a_flood_of_questions_does_not_open_the_gate() {
    let environment = TestEnvironment::with_edit();
    let mut text = String::new();
    for number in 0..25 {
        let _ = writeln!(text, "k{number} = '{TOKEN}' # gitleaks:allow\n");
    }
    let gate = ["--reviewer", "surface", "--fail-on-findings", "P1"];
    environment.write("a.py", &text);
    assert_eq!(environment.review(&gate).code, 0);
    let _ = writeln!(text, "real = '{TOKEN}'");
    environment.write("a.py", &text);
    assert_eq!(environment.review(&gate).code, 1);
}

#[test]
fn a_target_without_a_diff_is_refused() {
    let environment = TestEnvironment::with_edit();
    let run = environment.review(&[
        "--reviewer",
        "surface",
        "--target",
        "custom:check every caller",
        "--json",
    ]);
    assert_eq!(run.code, 2, "{}", run.stdout);
    let error = &run.json()["error"];
    assert_eq!(error["code"], "invalid_cli");
    let message = error["message"].as_str().unwrap_or_default();
    assert!(message.contains("`surface`"), "{message}");
}

#[test]
fn an_empty_diff_has_no_findings_whoever_reviews() {
    let environment = TestEnvironment::new();
    environment.write("a.txt", "one\n");
    environment.commit("base");
    environment.git(&["checkout", "--quiet", "-b", &format!("f/{TOKEN}")]);
    environment.codex_does(&json!([reply(&[])]));
    for reviewer in ["surface", "codex"] {
        let run =
            environment.review(&["--reviewer", reviewer, "--json", "--fail-on-findings", "P0"]);
        let artifact = run.json();
        assert_eq!(run.code, 0, "{reviewer}");
        assert_eq!(artifact["reviewers"], json!([]), "{reviewer}");
        assert_eq!(artifact["result"]["findings"], json!([]), "{reviewer}");
        assert_eq!(artifact["result"]["overall_correctness"], "unknown");
        assert_eq!(trust_reasons(&artifact), ["empty_diff"], "{reviewer}");
    }
}

#[test]
fn every_line_is_read_whatever_may_be_sent() {
    let environment = TestEnvironment::with_edit();
    environment.write(
        "big.py",
        "# pad\n".repeat(60_000) + &format!("k = '{TOKEN}'\n"),
    );
    let run = environment.review(&["--reviewer", "surface", "--json"]);
    let artifact = run.json();
    assert_eq!(trust_reasons(&artifact), [] as [&str; 0]);
    for file in artifact["coverage"]["files"].as_array().expect("files") {
        assert_eq!(file["sent"], "whole", "{file}");
    }
    assert_eq!(artifact["reviewers"][0].get("sent"), None);
    let finding = &artifact["result"]["findings"][0];
    assert_eq!(finding["code_location"]["line_range"]["start"], 60_001);

    environment.codex_does(&json!([reply(&[])]));
    let both = environment.review(&["--reviewer", "surface", "--reviewer", "codex", "--json"]);
    assert_eq!(trust_reasons(&both.json()), ["clipped"]);
}

#[test]
fn text_in_other_encodings_is_scanned_and_the_rest_is_named() {
    let utf16: Vec<u8> = format!("\u{FEFF}one\r\nk = '{TOKEN}'\r\n")
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let environment = TestEnvironment::with_edit();
    environment.write("untracked.py", &utf16);
    environment.write("staged.py", &utf16);
    environment.write("nul.py", format!("\0k = '{TOKEN}'\n"));
    environment.write("image.png", [0x89, b'P', 0, 0, 1, 2, 3, 0xFF, 0xFE, 0]);
    environment.git(&["add", "staged.py"]);
    let check = |target: &str| {
        let run = environment.review(&["--reviewer", "surface", "--json", "--target", target]);
        let artifact = run.json();
        let findings = artifact["result"]["findings"].as_array().expect("findings");
        let mut places: Vec<_> = findings
            .iter()
            .map(|finding| {
                let location = &finding["code_location"];
                let path = location["absolute_file_path"].as_str().unwrap_or_default();
                let name = path.rsplit('/').next().unwrap_or_default().to_owned();
                (name, location["line_range"]["start"].as_u64())
            })
            .collect();
        places.sort();
        // The NUL is a finding of its own.
        let expected = [
            ("nul.py", 1),
            ("nul.py", 1),
            ("staged.py", 2),
            ("untracked.py", 2),
        ];
        let expected = expected.map(|(name, line)| (name.to_owned(), Some(line)));
        assert_eq!(places, expected, "{target}");
        let explanation = artifact["result"]["overall_explanation"].as_str();
        let explanation = explanation.unwrap_or_default();
        assert!(explanation.contains(": `image.png`."), "{explanation}");
        assert_eq!(artifact["validation"]["invalid_locations"], json!([]));
    };
    check("uncommitted");
    environment.commit("all");
    check("commit:HEAD");
}

#[test]
fn of_a_changed_file_in_another_encoding_the_new_lines_are_scanned() {
    let utf16 =
        |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_be_bytes).collect() };
    let old = format!("\u{FEFF}one\nold = '{TOKEN}'\n");
    let environment = TestEnvironment::new();
    environment.write("settings.ini", utf16(&old));
    environment.commit("base");
    environment.write("settings.ini", utf16(&format!("{old}new = '{TOKEN}'\n")));
    let check = |target: &str| {
        let run = environment.review(&["--reviewer", "surface", "--json", "--target", target]);
        let artifact = run.json();
        let findings = artifact["result"]["findings"].as_array().expect("findings");
        let lines: Vec<_> = findings
            .iter()
            .map(|finding| finding["code_location"]["line_range"]["start"].clone())
            .collect();
        assert_eq!(lines, [3], "{target}: {artifact}");
        assert_eq!(artifact["coverage"]["files"][0]["sent"], "binary");
    };
    check("uncommitted");
    environment.commit("more");
    check("commit:HEAD");
}
