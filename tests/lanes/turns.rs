//! Who runs when: limits over all lanes, and fair turns.

use std::fs;

use serde_json::{Value, json};

use crate::support::{TestEnvironment, reply};

/// Three reviewers who note who they are, and how many are there with them.
fn crowd(focus: &[&str], together: usize) -> TestEnvironment {
    let environment = TestEnvironment::with_edit();
    let (folder, order) = (environment.path("crowd"), environment.path("order"));
    let ids = ["alpha", "beta", "gamma"];
    let entries =
        ids.map(|id| json!({"id": id, "engine": "codex", "model": format!("model-{id}")}));
    environment.write_config(&json!({"reviewers": entries, "reviewerSets": {"1": ids}}));
    let mut runs = Vec::new();
    for id in ids {
        let names = focus.iter().map(|text| Some(*text)).chain([None]);
        for lane in names {
            let contains: Vec<_> = [Some(format!("model-{id}")), lane.map(str::to_owned)]
                .into_iter()
                .flatten()
                .collect();
            let name = format!("{id} {}", lane.unwrap_or("overview"));
            runs.push(json!({"contains": contains, "steps": [
                {"append": {"path": order, "text": name}},
                {"enter": {"folder": folder, "together": together}},
                {"sleep_ms": 20},
                {"leave": folder},
                reply(&[]),
            ]}));
        }
    }
    environment.install_codex(&json!({ "runs": runs }));
    environment
}

/// Returns how many were there at most, and how many there were in all.
fn crowding(environment: &TestEnvironment) -> (usize, usize) {
    let entries = fs::read_dir(environment.path("crowd")).expect("somebody came");
    let seen: Vec<usize> = entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.file_stem().is_some_and(|name| name == "seen"))
        .map(|path| {
            fs::read_to_string(path)
                .expect("a file")
                .parse()
                .expect("a number")
        })
        .collect();
    (seen.iter().copied().max().unwrap_or_default(), seen.len())
}

#[test]
fn one_at_a_time_go_in_fair_turns() {
    let environment = crowd(&["odd errors"], 1);
    let run = environment.review(&["--focus", "odd errors", "--jobs", "1", "--json"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(crowding(&environment), (1, 6));
    let order = fs::read_to_string(environment.path("order")).expect("somebody came");
    let order: Vec<_> = order.lines().collect();
    assert_eq!(
        order,
        [
            "alpha overview",
            "beta odd errors",
            "beta overview",
            "gamma odd errors",
            "gamma overview",
            "alpha odd errors",
        ]
    );
}

#[test]
fn limits_hold_over_all_lanes_and_are_used() {
    let limit = |key: &str, count: usize| json!({ key: count });
    for (config, flags, most) in [
        (limit("maxConcurrency", 3), &[][..], 3),
        (limit("maxConcurrency", 5), &["--jobs", "2"], 2),
        (limit("maxConcurrencyPerEngine", 2), &["--jobs", "8"], 2),
    ] {
        // Nobody goes on before as many have come as may: too low a limit would wait for ever.
        let environment = crowd(&["odd errors"], most);
        let path = environment
            .home()
            .join(".config/diffwarden/diffwarden.config.json");
        let text = fs::read_to_string(&path).expect("the config");
        let mut whole: Value = serde_json::from_str(&text).expect("JSON");
        let (Value::Object(whole_members), Value::Object(members)) = (&mut whole, config.clone())
        else {
            panic!("both are objects");
        };
        whole_members.extend(members);
        fs::write(&path, whole.to_string()).expect("a config");
        let args = [&["--focus", "odd errors", "--json"][..], flags].concat();
        let run = environment.review(&args);
        assert_eq!(run.code, 0, "{config}: {}", run.stderr);
        let (at_most, all) = crowding(&environment);
        assert!(
            at_most <= most,
            "{at_most} at a time with {config} {flags:?}"
        );
        assert_eq!(all, 6, "{config}");
    }
}
