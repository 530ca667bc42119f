//! Files whose very name says that they hold secrets.
//!
//! Names are compared without regard to case. Deleting such a file is the cure and not reported.

use diffwarden_actors::model::{Body, Change, FilePatch, RepoPath};

use super::report::{Hit, Report, Words};
use super::text::Text;

/// What a name gives away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Sensitive {
    /// What the file is, as people call it.
    what: &'static str,
    /// How urgent its appearance is.
    priority: u8,
}

/// Reports the file when its name is sensitive and the change brings it or its contents.
pub(super) fn scan(file: &FilePatch, path: &RepoPath, text: &Text<'_>, report: &mut Report) {
    let untouched = file.change == Change::Modified && file.body == Body::Unchanged;
    if file.change == Change::Deleted || untouched {
        return;
    }
    let Some(Sensitive { what, priority }) = classify(&path.to_string().to_lowercase()) else {
        return;
    };
    let priority = if is_public_certificate(text) {
        3
    } else {
        text.kind.soften(priority)
    };
    let confidence = if priority < 3 { 0.85 } else { 0.5 };
    let hit = Hit::on_line("sensitive-file", 1, priority, confidence);
    report.add(hit, || words(what, priority));
}

fn words(what: &str, priority: u8) -> Words {
    let advice = if priority < 3 {
        "Take it out of the change, ignore it in git, replace every secret that was in it, and \
         commit an example without values if others need its shape."
    } else {
        "Such a file is often public by nature: check that no private part came along."
    };
    Words {
        title: format!("Sensitive file in the change: {what}"),
        body: format!(
            "The name of this file is that of {what}. Whoever can read the repository can read \
             it, also in the history after it is removed. {advice}"
        ),
    }
}

/// Whether the added lines are a certificate or public key without a private one.
fn is_public_certificate(text: &Text<'_>) -> bool {
    let mut public = false;
    for line in &text.lines {
        if contains(line.bytes, b"PRIVATE KEY") {
            return false;
        }
        public |= line.bytes.starts_with(b"-----BEGIN CERTIFICATE")
            || line.bytes.starts_with(b"-----BEGIN PUBLIC KEY");
    }
    public
}

fn contains(haystack: &[u8], needle: &[u8]) -> bool {
    haystack
        .windows(needle.len())
        .any(|window| window == needle)
}

/// Judges a path in lower case.
fn classify(path: &str) -> Option<Sensitive> {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let name = original_name(name);
    if is_template(name) {
        return None;
    }
    if folders.ends_with(".github/workflows") {
        return by_extension(name);
    }
    by_name(name)
        .or_else(|| by_folder(folders, name))
        .or_else(|| by_extension(name))
}

/// Returns the name of the file that a copy was made of.
fn original_name(name: &str) -> &str {
    let copies = [".bak", ".backup", ".old", ".orig", ".save", ".copy", "~"];
    let stem = copies.iter().find_map(|end| name.strip_suffix(end));
    stem.filter(|stem| !stem.is_empty()).unwrap_or(name)
}

fn is_template(name: &str) -> bool {
    let endings = [".example", ".sample", ".template", ".dist"];
    // As in `example.env` and `credentials.example.json`.
    let parts = ["example", "sample", "template", "dist"];
    let is_part = || name.split('.').any(|part| parts.contains(&part));
    endings.iter().any(|end| name.ends_with(end))
        || (name.ends_with(".env") || name.ends_with(".json")) && is_part()
        || [".env.example.", ".env.sample.", ".env.template."]
            .iter()
            .any(|start| name.starts_with(start))
}

fn by_name(name: &str) -> Option<Sensitive> {
    let (what, priority) = match name {
        ".env" => ("an environment file", 1),
        ".envrc" => ("an environment script, which may hold secrets", 2),
        ".netrc" | "_netrc" => ("a file of network logins", 1),
        ".npmrc" => ("the settings of npm, which may hold a token", 2),
        ".pypirc" => (
            "the settings of Python's package index, which hold a token",
            1,
        ),
        ".dockercfg" => ("Docker's registry logins", 1),
        ".git-credentials" => ("git's stored logins", 1),
        ".vault-token" => ("a Vault token", 1),
        ".htpasswd" => ("a web server's passwords", 1),
        ".pgpass" => ("PostgreSQL's stored logins", 1),
        "kubeconfig" => (
            "the settings of a Kubernetes client, which hold its login",
            1,
        ),
        ".my.cnf" => ("the settings of MySQL's client, which may hold a login", 2),
        "credentials.json" => ("a file of credentials", 1),
        ".vault_pass" | ".vault-pass" => ("the password of an Ansible vault", 1),
        ".s3cfg" | ".boto" => ("the logins of a storage client", 1),
        ".terraformrc" | "terraform.rc" => ("the settings of Terraform, which hold its token", 1),
        ".secrets" | ".secrets.toml" | ".secrets.yml" | ".secrets.yaml" | ".secrets.json" => {
            ("a file of secrets", 1)
        }
        "secrets.yml" | "secrets.yaml" | "secrets.json" | "secrets.toml" | "secrets.ini"
        | "secrets.properties" => ("a file of secrets", 2),
        "wp-config.php" => ("the settings of WordPress, which hold its passwords", 2),
        "auth.json" => ("a file of logins", 2),
        ".bash_history" | ".zsh_history" | ".sh_history" | ".mysql_history" | ".psql_history"
        | ".python_history" | ".node_repl_history" | ".rediscli_history" => {
            ("what somebody typed, which may hold passwords", 1)
        }
        "dump.rdb" | "dump.sql" | "backup.sql" => ("the contents of a database", 2),
        "key.asc" | "private.asc" | "secret.asc" | "private.gpg" | "secret.gpg" => {
            ("a private PGP key", 1)
        }
        _ if name.starts_with(".env.") && !is_code(name) => ("an environment file", 1),
        _ if name.starts_with("client_secret") && name.ends_with(".json") => {
            ("the secret of an OAuth client", 1)
        }
        _ if name.starts_with("wg") && name.ends_with(".conf") => {
            ("the settings of WireGuard, which hold its private key", 2)
        }
        _ if matches!(
            name,
            "kubeconfig.yaml" | "kubeconfig.yml" | "kubeconfig.json"
        ) =>
        {
            (
                "the settings of a Kubernetes client, which hold its login",
                1,
            )
        }
        _ if name.contains("firebase-adminsdk") && name.ends_with(".json") => {
            ("the key of a service account", 1)
        }
        _ if name.starts_with("ssh_host_") && name.ends_with("_key") => {
            ("a private SSH key of a host", 1)
        }
        _ if is_service_account(name) => ("the key of a service account", 1),
        _ if name.starts_with("terraform.tfstate") => ("the state of Terraform", 1),
        _ => return ssh_key(name),
    };
    Some(Sensitive { what, priority })
}

/// Whether a name that begins like an environment file is that of code about it.
fn is_code(name: &str) -> bool {
    let code = [
        ".ts", ".js", ".mjs", ".rs", ".go", ".py", ".rb", ".md", ".sh",
    ];
    code.iter().any(|end| name.ends_with(end))
}

/// Whether people name the keys of Google's service accounts so.
fn is_service_account(name: &str) -> bool {
    let Some(stem) = name.strip_suffix(".json") else {
        return false;
    };
    let plain = stem.replace(['_', '-', '.'], "");
    let whose = ["gcp", "gcloud", "google", "firebase", "sa"];
    plain.starts_with("serviceaccount")
        || whose
            .iter()
            .any(|who| plain.starts_with(&format!("{who}key")))
}

fn ssh_key(name: &str) -> Option<Sensitive> {
    let stem = name.strip_suffix(".pub").unwrap_or(name);
    let kinds = [
        "id_rsa",
        "id_ed25519",
        "id_dsa",
        "id_ecdsa",
        "id_ed25519_sk",
        "id_ecdsa_sk",
    ];
    kinds.contains(&stem).then_some(if stem == name {
        Sensitive {
            what: "a private SSH key",
            priority: 1,
        }
    } else {
        Sensitive {
            what: "a public SSH key",
            priority: 3,
        }
    })
}

fn by_folder(folders: &str, name: &str) -> Option<Sensitive> {
    let parts: Vec<&str> = folders.split('/').collect();
    let last = parts.last().copied().unwrap_or_default();
    let what = match (last, name) {
        (".aws", "credentials") => "the logins of the AWS command line",
        (".docker", "config.json") => "Docker's registry logins",
        (".kube", "config") => "the settings of a Kubernetes client, which hold its login",
        (".azure", "accesstokens.json" | "azureprofile.json") => {
            "the logins of the Azure command line"
        }
        ("gh", "hosts.yml") if parts.contains(&".config") => "the logins of GitHub's command line",
        _ if parts.contains(&".ssh") => "part of an SSH folder",
        _ if parts.contains(&".gnupg") => "part of a GnuPG folder",
        _ if parts.windows(2).any(|pair| pair == [".config", "gcloud"]) => {
            "part of the Google Cloud command line's settings"
        }
        _ => return None,
    };
    let priority = if name.ends_with(".pub") || name == "known_hosts" {
        3
    } else {
        1
    };
    Some(Sensitive { what, priority })
}

fn by_extension(name: &str) -> Option<Sensitive> {
    let (_, extension) = name.rsplit_once('.')?;
    let (what, priority) = match extension {
        "env" => ("an environment file", 1),
        "ppk" => ("a private SSH key of PuTTY", 1),
        "pem" => ("a file of keys or certificates", 1),
        "key" => ("a private key", 1),
        "p8" => ("a private key", 1),
        "p12" | "pfx" | "pkcs12" => ("a certificate with its private key", 1),
        "jks" | "keystore" => ("a Java key store", 1),
        "kdbx" | "kdb" | "psafe3" => ("a password database", 1),
        "ovpn" => ("the settings of OpenVPN, which may hold its key", 2),
        "mobileprovision" => ("a provisioning profile", 3),
        "tfvars" => ("the variables of Terraform, which may hold secrets", 2),
        "crt" => ("a certificate", 3),
        _ => return None,
    };
    Some(Sensitive { what, priority })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn priority(path: &str) -> Option<u8> {
        classify(&path.to_lowercase()).map(|sensitive| sensitive.priority)
    }

    #[test]
    fn names_are_judged_without_regard_to_case() {
        for path in [
            ".env",
            "app/.ENV.production",
            "certs/Server.PEM",
            ".ssh/config",
            "home/.aws/credentials",
            "deploy/id_ed25519",
            "infra/terraform.tfstate.backup",
            "service-account-prod.json",
            "home/.config/gcloud/access_tokens.db",
            "release.keystore",
            "config/credentials.json",
            "deploy/prod.env",
            "kubeconfig.yaml",
            "acme-firebase-adminsdk-x1.json",
            "etc/ssh_host_ed25519_key",
            "deploy.ppk",
            ".env~",
            ".pgpass.bak",
            "deploy/id_rsa.old",
            "server.key.orig",
        ] {
            assert_eq!(priority(path), Some(1), "{path}");
        }
        assert_eq!(priority("deploy/id_rsa.pub"), Some(3));
        assert_eq!(priority("ca.crt"), Some(3));
        assert_eq!(priority(".npmrc"), Some(2));
        assert_eq!(priority(".envrc"), Some(2));
    }

    #[test]
    fn templates_and_lookalikes_are_fine() {
        for path in [
            ".env.example",
            ".env.sample",
            ".env.template",
            "example.env",
            "credentials.example.json",
            "sample.env",
            "server.key.example",
            "src/env.rs",
            "environment.ts",
            "src/keys.rs",
            "credentials",
            "id_rsa_test.rs",
            "key",
            "docker/config.json",
        ] {
            assert_eq!(priority(path), None, "{path}");
        }
    }
}
