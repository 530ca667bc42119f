use proptest::prelude::*;
use serde_json::Value;

use super::*;

fn redactor(variables: &[(&str, &str)]) -> Redactor {
    Redactor::new(&variables.iter().copied().collect())
}

#[test]
fn text_without_a_secret_is_borrowed() {
    let text = "commit 4b825dc642cb6eb9a060e54bf8d69288fbee4904, task-force-of-many-long-words";
    let redactor = redactor(&[("A_TOKEN", "aB3aB3aB3")]);
    assert!(matches!(redactor.redact(text), Cow::Borrowed(same) if same == text));
    assert!(matches!(
        redactor.redact_json("{\"a\":\"b\\n\"}"),
        Cow::Borrowed(_)
    ));
}

#[test]
fn the_values_of_variables_are_replaced_by_their_names() {
    let redactor = redactor(&[("A_TOKEN", "aB3aB3aB3"), ("LONG_KEY", "aB3aB3aB3-more")]);
    assert_eq!(
        redactor.redact("x aB3aB3aB3, yaB3aB3aB3-morez"),
        "x [redacted:A_TOKEN], y[redacted:LONG_KEY]z"
    );
}

#[test]
fn token_shapes_are_replaced() {
    let a = |count: usize| "a1".repeat(count);
    let tokens = [
        format!("sk-ant-api03-{}", a(20)),
        format!("sk-proj-{}", a(20)),
        format!("sk-{}", a(24)),
        format!("ghp_{}", a(18)),
        format!("github_pat_{}", a(20)),
        format!("glpat-{}", a(10)),
        format!("AIza{}a", a(17)),
        format!("xoxb-{}", a(10)),
        "AKIAIOSFODNN7EXAMPLE".to_owned(),
        format!("eyJ{}.eyJ{}.{}", a(10), a(10), a(10)),
        format!(
            "-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----",
            a(30)
        ),
        format!(
            "-----BEGIN PRIVATE KEY-----\\n{}==\\n-----END PRIVATE KEY-----",
            a(30)
        ),
    ];
    for token in tokens {
        let text = format!("see ({token}) here");
        assert_eq!(Redactor::default().redact(&text), "see ([redacted]) here");
    }
}

#[test]
fn credentials_in_headers_and_addresses_are_replaced() {
    let redactor = Redactor::default();
    assert_eq!(
        redactor.redact("Authorization: Bearer abcdefghijklmnopqrstuvwx=="),
        "Authorization: Bearer [redacted]"
    );
    assert_eq!(
        redactor.redact("git clone https://me:hunter2@example.com/x.git"),
        "git clone https://me:[redacted]@example.com/x.git"
    );
    assert_eq!(
        redactor.redact("see https://example.com:8080/a@b"),
        "see https://example.com:8080/a@b"
    );
}

#[test]
fn json_stays_json_when_a_secret_holds_its_punctuation() {
    let redactor = redactor(&[
        ("A_TOKEN", "a1\":\"b2\\c"),
        ("B_TOKEN", "nopassw0rd"),
        ("C_TOKEN", "001bcdefg"),
    ]);
    let json = r#"{"a1":"b2\\c","t":"x a1\":\"b2\\c","n":"\nopassw0rd nopassw0rd","u":"\u001bcdefg","e":""}"#;
    let safe = redactor.redact_json(json);
    let value: Value = serde_json::from_str(&safe).unwrap();
    assert_eq!(value["a1"], "b2\\c");
    assert_eq!(value["t"], "x [redacted:A_TOKEN]");
    assert_eq!(value["n"], "\nopassw0rd [redacted:B_TOKEN]");
    assert_eq!(value["u"], "\u{1b}cdefg");
}

#[test]
fn names_and_contract_words_stay() {
    let secrets = [
        ("A_SECRET", "correct-horse-battery-staple"),
        ("B_SECRET", "patch_sha256"),
        ("C_SECRET", "aB3aB3aB3"),
    ];
    let redactor = redactor(&secrets);
    assert_eq!(redactor.secrets.len(), 3);
    let json = r#"{"patch_sha256" : "x","kind":"correct-horse-battery-staple",
        "reasons":["correct-horse-battery-staple"],"type":"aB3aB3aB3",
        "body":"correct-horse-battery-staple patch_sha256","changed_files":["aB3aB3aB3.py"]}"#;
    let value: Value = serde_json::from_str(&redactor.redact_json(json)).unwrap();
    assert_eq!(value["patch_sha256"], "x");
    assert_eq!(value["kind"], "correct-horse-battery-staple");
    assert_eq!(value["reasons"][0], "correct-horse-battery-staple");
    assert_eq!(value["type"], "[redacted:C_SECRET]");
    assert_eq!(value["body"], "[redacted:A_SECRET] [redacted:B_SECRET]");
    assert_eq!(value["changed_files"][0], "[redacted:C_SECRET].py");
}

#[test]
fn a_token_in_a_name_that_an_engine_chose_is_replaced() {
    let json = r#"{"usage":{"AKIAIOSFODNN7EXAMPLE":1}}"#;
    let safe = Redactor::default().redact_json(json).into_owned();
    assert_eq!(safe, r#"{"usage":{"[redacted]":1}}"#);
}

#[test]
fn a_secret_of_several_lines_is_found_in_json() {
    let redactor = redactor(&[("A_SECRET", "first1\nsecond2")]);
    let json = serde_json::to_string("x first1\nsecond2 y").unwrap();
    assert_eq!(redactor.redact_json(&json), "\"x [redacted:A_SECRET] y\"");
}

#[test]
fn text_that_is_no_json_does_no_harm() {
    for text in ["\"", "\"\\", "\"a\\\"", "x\"y\\u12\"z", ""] {
        assert_eq!(Redactor::default().redact_json(text), text);
    }
}

proptest! {
    #[test]
    fn no_planted_secret_is_left(
        secret in "[ -~\n]{6}[0-9][a-zA-Z]{3}",
        before in any::<String>(),
        after in any::<String>(),
    ) {
        let redactor = redactor(&[("PLANTED_TOKEN", &secret)]);
        prop_assume!(!redactor.secrets.is_empty());
        let planted = redactor.secrets[0].value.clone();
        let text = format!("{before}{planted}{after}");
        prop_assert!(!redactor.redact(&text).contains(&planted));

        let json = serde_json::json!({"k": [text, {"n": 1.5, &planted: &planted}]});
        let safe = redactor.redact_json(&serde_json::to_string_pretty(&json).unwrap()).into_owned();
        let value: Value = serde_json::from_str(&safe).unwrap();
        prop_assert!(!value["k"][0].as_str().unwrap().contains(&planted));
        let member = &value["k"][1].as_object().unwrap()[&planted];
        prop_assert_eq!(member, "[redacted:PLANTED_TOKEN]");
    }

    #[test]
    fn redacted_json_is_json(value in "[ -~]{0,20}(AKIAIOSFODNN7EXAMPLE)?[ -~]{0,20}") {
        let json = serde_json::json!({&value: &value, "x": [&value]}).to_string();
        let safe = Redactor::default().redact_json(&json).into_owned();
        prop_assert!(serde_json::from_str::<Value>(&safe).is_ok());
    }

    #[test]
    fn redacting_twice_changes_nothing_more(text in any::<String>()) {
        let redactor = Redactor::default();
        let once = redactor.redact(&text).into_owned();
        prop_assert_eq!(redactor.redact(&once), once.as_str());
    }
}
