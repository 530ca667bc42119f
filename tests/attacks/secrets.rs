//! Secrets in every place, which nobody is sent and nothing repeats.

use serde_json::json;

use super::Expected::{Finds, Prompt, Sent};
use super::{Attack, attack};
use crate::support::reply;

const TOKEN: &str = "GitHub token";

/// The attacks.
pub(super) const ROWS: &[Attack] = &[
    attack(
        "a secret in an added line",
        |world| {
            let secret = world.secret();
            world.write("src/a.rs", format!("const K: &str = \"{secret}\";\n"));
        },
        &[
            Finds(TOKEN),
            Sent("src/a.rs", "masked"),
            Prompt("[masked:github-token]"),
        ],
    ),
    attack(
        "a secret in a removed line",
        |world| {
            let secret = world.secret();
            world.write(
                "src/a.rs",
                format!("fn a() {{}}\nconst K: &str = \"{secret}\";\n"),
            );
            world.move_to_base();
            world.write("src/a.rs", "fn a() {}\n");
        },
        &[Sent("src/a.rs", "masked"), Prompt("[masked:github-token]")],
    ),
    attack(
        "a secret in a line beside the change",
        |world| {
            let secret = world.secret();
            world.write(
                "src/a.rs",
                format!("const K: &str = \"{secret}\";\nfn a() {{}}\n"),
            );
            world.move_to_base();
            world.write(
                "src/a.rs",
                format!("const K: &str = \"{secret}\";\nfn b() {{}}\n"),
            );
        },
        &[Sent("src/a.rs", "masked")],
    ),
    attack(
        "a secret in the name of a file",
        |world| {
            let secret = world.secret();
            world.write(&format!("src/{secret}.rs"), "fn a() {}\n");
        },
        &[Finds(TOKEN)],
    ),
    attack(
        "a secret in a commit message",
        |world| {
            let secret = world.secret();
            world.write("src/a.rs", "fn a() {}\n");
            world.commit(&format!("Use {secret} for now"));
        },
        &[Finds(TOKEN)],
    ),
    attack(
        "a secret in the name of the branch",
        |world| {
            let secret = world.secret();
            world.git(&["checkout", "-q", "-b", &format!("try-{secret}")]);
            world.write("src/a.rs", "fn a() {}\n");
        },
        &[Finds(TOKEN)],
    ),
    attack(
        "a secret in an untracked file",
        |world| {
            let secret = world.secret();
            world.write("notes.txt", format!("token {secret}\n"));
        },
        &[Finds(TOKEN), Sent("notes.txt", "masked")],
    )
    .uncommitted(),
    attack(
        "a secret in a lockfile that is not sent",
        |world| {
            let secret = world.secret();
            world.write(
                "yarn.lock",
                format!("resolved \"https://{secret}@npm.acme.io/a.tgz\"\n"),
            );
            world.write("src/a.rs", "fn a() {}\n");
        },
        &[Finds(TOKEN), Sent("yarn.lock", "pruned")],
    ),
    attack(
        "a secret in base64",
        |world| {
            // The base64 of a token that is put together like the others.
            let text = "Z2hwX204UHk2dUtsMVdiM1FzM3Y3WGM5TG00RmdIMnpUbjVSZDA4QQ==";
            world.plant(text);
            world.write("src/a.py", format!("k = '{text}'\n"));
        },
        &[Finds("encoded"), Sent("src/a.py", "masked")],
    ),
    attack(
        "a secret in hexadecimal digits",
        |world| {
            let token = format!("ghp_{}", "x9Q2mB7tLr4KvN8sZd1WcH5yPj3GfA6eUhex");
            let text: String = token.bytes().map(|byte| format!("{byte:02x}")).collect();
            world.plant(&text);
            world.write("src/a.py", format!("k = '{text}'\n"));
        },
        &[Finds("encoded"), Sent("src/a.py", "masked")],
    ),
    attack(
        "a password in an address, escaped",
        |world| {
            world.plant("k9Qz%37vLm2Xc");
            world.write(
                "src/a.py",
                "db = 'postgres://app:k9Qz%37vLm2Xc@db.acme.io/app'\n",
            );
        },
        &[Finds("database address"), Sent("src/a.py", "masked")],
    ),
    attack(
        "a private key over many lines",
        |world| {
            let material = "q7Wm2Zx9Lk4Vt8Rb3Ny6Hc1Jd5Gf0Ps2Ua7Eq7Wm2Zx9Lk4Vt8Rb3Ny6Hc1J";
            world.plant(material);
            let key =
                format!("-----BEGIN @ KEY-----\n{material}\n{material}\n-----END @ KEY-----\n");
            world.write("src/a.txt", key.replace('@', "RSA PRIVATE"));
        },
        &[Finds("private key"), Sent("src/a.txt", "masked")],
    ),
    attack(
        "a secret that the change calls a test value",
        |world| {
            let secret = world.secret();
            world.write(
                "tests/a.py",
                format!("K = '{secret}'  # gitleaks:allow, only for tests\n"),
            );
        },
        &[Finds(TOKEN), Sent("tests/a.py", "masked")],
    ),
    attack(
        "a list of the change that allows its secret",
        |world| {
            let secret = world.secret();
            world.write("src/a.rs", format!("const K: &str = \"{secret}\";\n"));
            world.write(".gitleaks.toml", "[[allowlists]]\npaths = ['''.*''']\n");
        },
        &[Finds(TOKEN), Sent("src/a.rs", "masked")],
    ),
    attack(
        "a secret in the address of a remote",
        |world| {
            let secret = world.secret();
            let address = format!("https://bot:{secret}@git.acme.io/a.git");
            world.git(&["remote", "add", "origin", &address]);
            world.write("src/a.rs", "fn a() {}\n");
        },
        &[Prompt("fn a()")],
    ),
    attack(
        "a secret that the engine repeats in its answer",
        |world| {
            let secret = world.secret();
            world.write("src/a.rs", format!("const K: &str = \"{secret}\";\n"));
            let finding = crate::support::finding(&format!("[P1] {secret}"), 1, "src/a.rs", (1, 1));
            let steps = json!([world.environment().record(), reply(&[finding])]);
            world.environment().codex_does(&steps);
        },
        &[Finds(TOKEN)],
    ),
    attack(
        "a secret that the engine writes to standard error",
        |world| {
            let secret = world.secret();
            world.write("src/a.rs", format!("const K: &str = \"{secret}\";\n"));
            world
                .environment()
                .codex_does(&json!([{"stderr": format!("fatal: {secret}\n")}, {"exit": 7}]));
        },
        &[Finds(TOKEN)],
    ),
    attack(
        "a secret of the environment in an answer",
        |world| {
            let secret = world.secret();
            world.variable("ACME_API_TOKEN", &secret);
            world.write("src/a.rs", "fn a() {}\n");
            let finding = crate::support::finding(&format!("[P1] {secret}"), 1, "src/a.rs", (1, 1));
            world
                .environment()
                .codex_does(&json!([world.environment().record(), reply(&[finding])]));
        },
        &[Prompt("fn a()")],
    ),
];
