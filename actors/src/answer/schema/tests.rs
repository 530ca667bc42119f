use super::*;
use crate::answer::samples::answer;
use crate::model::Priority;

fn with(pointer: &str, value: Value) -> Value {
    let mut answer = answer();
    *answer.pointer_mut(pointer).unwrap() = value;
    answer
}

#[test]
fn the_sample_fits_and_keeps_its_values() {
    let result = read_result(&answer()).unwrap();
    assert_eq!(result.findings.len(), 1);
    assert_eq!(result.findings[0].priority, Some(Priority(1)));
    assert_eq!(serde_json::to_value(&result).unwrap(), answer());
}

#[test]
fn absent_and_null_priorities_are_absent() {
    let mut without = answer();
    let finding = without.pointer_mut("/findings/0").unwrap();
    finding.as_object_mut().unwrap().remove("priority");
    for value in [without, with("/findings/0/priority", Value::Null)] {
        assert_eq!(read_result(&value).unwrap().findings[0].priority, None);
    }
}

#[test]
fn whole_floats_are_integers() {
    let value = with("/findings/0/priority", json!(2.0));
    assert_eq!(
        read_result(&value).unwrap().findings[0].priority,
        Some(Priority(2))
    );
    let range = json!({ "start": 3.0, "end": 1e2 });
    let value = with("/findings/0/code_location/line_range", range);
    let range = read_result(&value).unwrap().findings[0]
        .code_location
        .line_range;
    assert_eq!((range.start, range.end), (3, 100));
}

#[test]
fn a_line_that_no_file_has_is_the_last_one_there_is() {
    for end in [json!(4_294_967_296_u64), json!(u64::MAX), json!(1e300)] {
        let range = json!({ "start": 2, "end": end });
        let result = read_result(&with("/findings/0/code_location/line_range", range)).unwrap();
        let range = result.findings[0].code_location.line_range;
        assert_eq!((range.start, range.end), (2, u32::MAX));
    }
    let range = json!({ "start": 8_589_934_592_u64, "end": 4_294_967_296_u64 });
    let error = read_result(&with("/findings/0/code_location/line_range", range)).unwrap_err();
    assert_eq!(error.problem, "start is greater than end");
}

#[test]
fn what_does_not_fit_is_named_with_its_place() {
    let start = "/findings/0/code_location/line_range/start";
    let cases = [
        (
            "/overall_confidence_score",
            json!(1.5),
            "overall_confidence_score",
        ),
        (
            "/overall_confidence_score",
            json!("0.5"),
            "overall_confidence_score",
        ),
        (
            "/overall_correctness",
            json!("unknown"),
            "overall_correctness",
        ),
        ("/overall_explanation", Value::Null, "overall_explanation"),
        ("/findings", json!("3 findings"), "findings"),
        ("/findings/0", Value::Null, "findings[0]"),
        ("/findings/0/title", json!(""), "findings[0].title"),
        ("/findings/0/priority", json!(7), "findings[0].priority"),
        ("/findings/0/priority", json!("1"), "findings[0].priority"),
        ("/findings/0/priority", json!(1.5), "findings[0].priority"),
        (
            "/findings/0/confidence_score",
            json!(-0.1),
            "findings[0].confidence_score",
        ),
        (
            start,
            json!(0),
            "findings[0].code_location.line_range.start",
        ),
        (
            start,
            json!("6"),
            "findings[0].code_location.line_range.start",
        ),
        (
            start,
            json!(6.5),
            "findings[0].code_location.line_range.start",
        ),
        (start, json!(7), "findings[0].code_location.line_range"),
        (
            start,
            json!(4_294_967_296_u64),
            "findings[0].code_location.line_range",
        ),
    ];
    for (pointer, value, path) in cases {
        let error = read_result(&with(pointer, value.clone())).unwrap_err();
        assert_eq!(error.path, path, "{pointer} = {value}: {error}");
    }
    for value in [json!({}), json!([]), Value::Null, json!("text")] {
        assert_eq!(read_result(&value).unwrap_err().path, "");
    }
}

#[test]
fn unknown_keys_are_refused_on_every_level() {
    for pointer in [
        "",
        "/findings/0",
        "/findings/0/code_location",
        "/findings/0/code_location/line_range",
    ] {
        let mut value = answer();
        let object = value.pointer_mut(pointer).unwrap().as_object_mut().unwrap();
        object.insert("severity".to_owned(), json!("high"));
        let error = read_result(&value).unwrap_err();
        assert!(error.problem.contains("severity"), "{error}");
    }
}

#[test]
fn problems_are_short_and_do_not_quote_values() {
    let mut value = answer();
    let object = value.as_object_mut().unwrap();
    object.insert("x".repeat(100_000), json!(1));
    assert!(read_result(&value).unwrap_err().problem.chars().count() <= MAX_PROBLEM + 3);
    let secret = with("/overall_correctness", json!("hunter2"));
    assert!(
        !read_result(&secret)
            .unwrap_err()
            .problem
            .contains("hunter2")
    );
}

#[test]
fn the_strict_schema_requires_every_key() {
    fn check(schema: &Value) {
        if let Some(properties) = schema.get("properties") {
            let names: Vec<&String> = properties.as_object().unwrap().keys().collect();
            assert_eq!(schema["required"], json!(names));
            assert_eq!(schema["additionalProperties"], json!(false));
            properties.as_object().unwrap().values().for_each(check);
        }
        schema.get("items").into_iter().for_each(check);
    }
    check(strict_schema());
    assert_eq!(
        strict_schema().pointer(PRIORITY).unwrap()["type"],
        json!(["integer", "null"])
    );
    let strict = jsonschema::validator_for(strict_schema()).unwrap();
    assert!(strict.is_valid(&with("/findings/0/priority", Value::Null)));
    let lenient = jsonschema::validator_for(result_schema()).unwrap();
    assert!(!lenient.is_valid(&with("/findings/0/priority", Value::Null)));
}
