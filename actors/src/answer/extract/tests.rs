use super::*;
use crate::answer::samples::{answer, clean_answer};
use proptest::prelude::*;
use serde_json::{Value, json};

fn mode(text: &str) -> Option<(ParseMode, usize)> {
    let found = extract(text).ok()?;
    Some((found.parse_mode, found.result.findings.len()))
}

fn quoted(text: &str) -> String {
    Value::String(text.to_owned()).to_string()
}

#[test]
fn a_bare_object_is_strict_and_a_wrapped_one_tool_output() {
    let bare = answer().to_string();
    let pretty = serde_json::to_string_pretty(&answer()).unwrap();
    for text in [bare.clone(), format!("\u{feff} {bare}\r\n"), pretty] {
        assert_eq!(mode(&text), Some((ParseMode::StrictJson, 1)));
    }
    for value in [
        json!({ "result": answer() }),
        json!({ "response": { "message": answer() } }),
    ] {
        assert_eq!(mode(&value.to_string()), Some((ParseMode::ToolOutput, 1)));
    }
}

#[test]
fn an_object_is_found_whatever_surrounds_it() {
    let bare = answer().to_string();
    let pretty = serde_json::to_string_pretty(&answer()).unwrap();
    let clean = clean_answer().to_string();
    let twice = quoted(&quoted(&bare));
    for text in [
        format!("In `if (x) {{` the brace opens.\n{bare}"),
        format!("note {{don't \" care}} then\n{bare}"),
        format!("{clean}\n\nFinal:\n{bare}"),
        format!("{bare}\n{{\"findings\": 3}}"),
        format!("Telemetry is on.\n{bare}\nBye {{you}} }}}}"),
        format!("```json\n{pretty}\n```\nDone: `{{ \"findings\": 1`"),
        format!("\u{1b}[1mlog\u{1b}[0m {{\"level\":\"info\"}}\n{bare}"),
        format!("{{\"type\":\"start\"}}\n{{\"type\":\"end\",\"review\":{bare}}}"),
        format!("[{bare}]"),
        format!("{{{{{{{bare}"),
        format!("{{\"findings\": [{bare}"),
        format!("{{\"findings\":\"{bare}"),
        quoted(&bare),
        quoted(&pretty),
        twice,
        json!({ "response": bare.clone() }).to_string(),
        json!({ "text": format!("Here you are:\n{pretty}\n") }).to_string(),
        format!("{{\"a\":1}}\n{}\n{{\"b\":2}}", json!({ "text": pretty })),
        format!("{clean}\n{}", json!({ "text": bare })),
        format!("\\\"{{\\\" {bare}"),
    ] {
        assert_eq!(mode(&text), Some((ParseMode::ExtractedJson, 1)), "{text}");
    }
}

#[test]
fn nothing_is_made_of_text_without_a_fitting_object() {
    let bare = answer().to_string();
    let mut broken = bare.clone();
    broken.insert(broken.len() - 1, ',');
    for text in [
        "",
        "All good, nothing to say.",
        "{}",
        "null",
        "{\"summary\": \"clean\"}",
        "{\"findings\": []}",
        &broken,
        &bare[..bare.len() - 1],
        &bare.replace("0.8", "1.5"),
        &bare.replace("\"body\"", "\"severity\":\"high\",\"body\""),
        &bare.replace("findings", "comments"),
        &bare.replace("{\"findings\"", "{findings"),
        &bare.replace("returns Infinity", "matches \\s+"),
        &bare.replace("returns Infinity", "returns\nInfinity"),
    ] {
        assert_eq!(mode(text), None, "{text}");
    }
}

#[test]
fn the_error_tells_about_the_object_that_came_closest() {
    let bare = answer().to_string();
    let strict = extract(&bare.replace("0.8", "1.5")).unwrap_err();
    assert_eq!(strict.path, "overall_confidence_score");
    let inside = extract(&format!("So: {}", bare.replace("0.8", "1.5"))).unwrap_err();
    assert_eq!(inside.path, "overall_confidence_score");
    let prose = extract("All good.").unwrap_err();
    assert!(prose.problem.contains("no JSON object"));
}

#[test]
fn a_finding_may_say_anything_about_findings() {
    let mut value = answer();
    value["findings"][0]["body"] = json!("no findings: {\"findings\": []} and `{` and \"");
    assert_eq!(
        mode(&format!("x {value} y")),
        Some((ParseMode::ExtractedJson, 1))
    );
}

#[test]
fn hostile_text_is_searched_in_linear_time() {
    let size = 200_000;
    for unit in [
        "{",
        "{\"findings\":",
        "{\"findings\":[",
        "{\"findings\":[{\"title\":\"",
        "{\\\"findings\\\":",
        "{\\\\\\\"findings\\\":\"",
        "\"{\\\"findings\\\":\"",
        "{\"overall_explanation\":\"",
        "{\\n\\n\\\\\\\\",
        "{\"findings\":[],\"a\":{\"b\":[1,",
        "\\\"",
        "[",
        "{\"response\":",
    ] {
        let text = unit.repeat(size / unit.len());
        assert_eq!(mode(&text), None, "{unit}");
        let text = format!("{text}\n{}", answer());
        assert_eq!(mode(&text), Some((ParseMode::ExtractedJson, 1)), "{unit}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn an_object_after_any_text_is_found(
        noise in "[a-z{}\\[\\]\"'`:,\\\\ \n0-9]{0,80}",
        tail in "[a-z}\\]`:, \n0-9]{0,40}",
    ) {
        let text = format!("{noise}{}{tail}", answer());
        prop_assert_eq!(extract(&text).unwrap().result.findings.len(), 1);
    }

    #[test]
    fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let text = String::from_utf8_lossy(&bytes);
        prop_assert!(extract(&text).is_err());
    }

    #[test]
    fn mangled_answers_never_panic(
        cut in 0_usize..400,
        insert in "[{}\"\\\\\\[\\],:a-z\u{e9}\u{feff}]{0,6}",
        encoded: bool,
    ) {
        let mut text = answer().to_string();
        if encoded {
            text = quoted(&text);
        }
        let at = cut.min(text.len());
        text.insert_str(at, &insert);
        if let Ok(found) = extract(&text) {
            prop_assert!(found.parse_mode != ParseMode::FallbackText);
        }
    }
}
