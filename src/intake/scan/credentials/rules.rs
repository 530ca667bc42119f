//! The shapes of well-known credentials, as data.
//!
//! A rule is tried on a line that holds one of its keywords, whatever their case. Patterns work on
//! bytes with ASCII classes and have no counted repetition that grows their automaton much.

/// The shape of one kind of credential.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rule {
    /// Stable name.
    pub(super) id: &'static str,
    /// What it is, with its article.
    pub(super) what: &'static str,
    /// Words of which a matching line holds at least one, in lower case.
    pub(super) keywords: &'static [&'static str],
    /// The regular expression. Its first group is the secret.
    pub(super) pattern: &'static str,
    /// The least Shannon entropy of the secret, in bits per byte.
    pub(super) entropy: f64,
    /// How urgent a hit is.
    pub(super) priority: u8,
}

const fn rule(
    id: &'static str,
    what: &'static str,
    keywords: &'static [&'static str],
    pattern: &'static str,
    entropy: f64,
    priority: u8,
) -> Rule {
    Rule {
        id,
        what,
        keywords,
        pattern,
        entropy,
        priority,
    }
}

/// Every rule with a shape of its own, alphabetical.
#[rustfmt::skip]
pub(super) const RULES: &[Rule] = &[
    rule("age-secret-key", "an age secret key", &["age-secret-key-1"],
        r"\b(AGE-SECRET-KEY-1[02-9AC-HJ-NP-Z]{58})\b", 3.5, 0),
    rule("anthropic-key", "an Anthropic API key", &["sk-ant-"],
        r"\b(sk-ant-[a-z0-9]+-[A-Za-z0-9_-]{60,})", 3.5, 0),
    rule("authorization-header", "an authorization header", &["authorization"],
        r#"(?i)authorization["']?\s*[:=]\s*["'`]?(?:bearer|basic|token)\s+([a-z0-9+/_.=-]{20,})"#, 3.5, 2),
    rule("aws-access-key-id", "an AWS access key id", &["akia", "asia", "abia", "acca"],
        r"\b((?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16})\b", 3.0, 1),
    rule("aws-secret-access-key", "an AWS secret access key",
        &["aws", "secretaccesskey", "secret_access_key"],
        r#"(?i)(?:aws[\w.-]{0,20}|secret_?access_?)key["'\]]{0,2}\s*(?::=|=>|=|:|,)\s*["'`]?([a-z0-9/+]{40})(?:[^a-z0-9/+=]|$)"#, 4.0, 0),
    rule("azure-storage-key", "an Azure storage account key", &["accountkey="],
        r"(?i)accountkey=([a-z0-9+/]{86}==)", 4.0, 0),
    rule("digitalocean-token", "a DigitalOcean token", &["dop_v1_", "doo_v1_", "dor_v1_"],
        r"\b(do[opr]_v1_[a-f0-9]{64})\b", 3.0, 0),
    rule("discord-bot-token", "a Discord bot token", &["discord"],
        r"\b([MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40})", 3.5, 0),
    rule("discord-webhook", "a Discord webhook address", &["/api/webhooks/"],
        r"\bdiscord(?:app)?\.com/api/webhooks/([0-9]{17,20}/[A-Za-z0-9_-]{60,})", 3.5, 1),
    rule("docker-token", "a Docker Hub token", &["dckr_pat_"],
        r"\b(dckr_pat_[A-Za-z0-9_-]{27,})", 3.5, 0),
    rule("github-fine-grained-token", "a fine-grained GitHub token", &["github_pat_"],
        r"\b(github_pat_[A-Za-z0-9_]{60,})", 3.5, 0),
    rule("github-token", "a GitHub token", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"],
        r"\b(gh[pousr]_[A-Za-z0-9]{36,})", 3.0, 0),
    rule("gitlab-token", "a GitLab token",
        &["glpat-", "gldt-", "glrt-", "glptt-", "glsoat-", "glcbt-", "glft-"],
        r"\b(gl(?:pat|dt|rt|ptt|soat|cbt|ft)-[A-Za-z0-9_-]{20,})", 3.0, 0),
    rule("google-api-key", "a Google API key", &["aiza"],
        r"\b(AIza[A-Za-z0-9_-]{35})(?:[^A-Za-z0-9_-]|$)", 3.5, 1),
    rule("google-oauth-secret", "a Google OAuth client secret", &["gocspx-"],
        r"\b(GOCSPX-[A-Za-z0-9_-]{28})", 3.0, 0),
    rule("grafana-token", "a Grafana token", &["glsa_"],
        r"\b(glsa_[A-Za-z0-9]{32}_[a-f0-9]{8})\b", 3.0, 0),
    rule("hashicorp-vault-token", "a HashiCorp Vault token", &["hvs.", "hvb."],
        r"\b(hv[sb]\.[A-Za-z0-9_-]{24,})", 3.5, 0),
    rule("huggingface-token", "a Hugging Face token", &["hf_"],
        r"\b(hf_[A-Za-z]{34})\b", 3.0, 0),
    rule("jwt", "a JSON web token", &["eyj"],
        r"\b(ey[A-Za-z0-9_-]{15,}\.ey[A-Za-z0-9_-]{15,}\.[A-Za-z0-9_-]{15,})", 3.5, 2),
    rule("linear-key", "a Linear API key", &["lin_api_"],
        r"\b(lin_api_[A-Za-z0-9]{40})\b", 3.0, 0),
    rule("mailgun-key", "a Mailgun key", &["mailgun"],
        r"\b(key-[0-9a-f]{32})\b", 3.0, 0),
    rule("npm-auth-token", "a token of an npm registry", &["_authtoken", "_auth="],
        r#"_auth(?:Token)?\s*=\s*["']?([A-Za-z0-9+/_=-]{20,})"#, 3.0, 0),
    rule("npm-token", "an npm token", &["npm_"],
        r"\b(npm_[A-Za-z0-9]{36})\b", 3.0, 0),
    rule("openai-key", "an OpenAI API key", &["sk-"],
        r"\b(sk-(?:(?:proj|svcacct|admin)-[A-Za-z0-9_-]{40,}|[A-Za-z0-9]{40,}))", 3.5, 0),
    rule("openrouter-key", "an OpenRouter key", &["sk-or-v1-"],
        r"\b(sk-or-v1-[a-f0-9]{64})\b", 3.0, 0),
    rule("pypi-token", "a PyPI upload token", &["pypi-age"],
        r"\b(pypi-AgE[A-Za-z0-9_-]{50,})", 3.5, 0),
    rule("sendgrid-key", "a SendGrid key", &["sg."],
        r"\b(SG\.[A-Za-z0-9_-]{20,24}\.[A-Za-z0-9_-]{39,50})", 3.5, 0),
    rule("shopify-token", "a Shopify token", &["shpat_", "shpca_", "shppa_", "shpss_"],
        r"\b(shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32})\b", 3.0, 0),
    rule("slack-app-token", "a Slack app token", &["xapp-"],
        r"\b(xapp-[0-9]-[A-Z0-9]+-[0-9]+-[a-z0-9]{32,})", 3.0, 0),
    rule("slack-token", "a Slack token", &["xoxa-", "xoxb-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-"],
        r"\b(xox[abeoprs]-[A-Za-z0-9-]{20,})", 2.8, 0),
    rule("slack-webhook", "a Slack webhook address", &["hooks.slack.com"],
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9+/_-]{30,})", 3.0, 1),
    rule("stripe-key", "a live Stripe key", &["sk_live_", "rk_live_"],
        r"\b([sr]k_live_[A-Za-z0-9]{20,})", 3.0, 0),
    rule("stripe-webhook-secret", "a Stripe webhook secret", &["whsec_"],
        r"\b(whsec_[A-Za-z0-9+/]{32,})", 3.5, 1),
    rule("telegram-bot-token", "a Telegram bot token", &[":aa"],
        r"\b([0-9]{8,10}:AA[A-Za-z0-9_-]{32,33})(?:[^A-Za-z0-9_-]|$)", 3.5, 0),
    rule("twilio-key", "a Twilio API key",
        &["sk0", "sk1", "sk2", "sk3", "sk4", "sk5", "sk6", "sk7", "sk8", "sk9", "ska", "skb", "skc", "skd", "ske", "skf"],
        r"\b(SK[0-9a-f]{32})\b", 3.0, 0),
];

/// A password inside an address. The groups are scheme, user, password and host.
pub(super) const URL_PATTERN: &str =
    r#"\b([A-Za-z][A-Za-z0-9+.-]*)://([^/\s:@"'`<>]*):([^/\s@"'`<>]{3,})@([^/\s"'`<>:?#,]+)"#;

/// A value in quotes under a name that says it is secret. The groups are name and value.
pub(super) const QUOTED_PATTERN: &str = concat!(
    r"(?i)([\w.-]*(?:passw(?:or)?d|passphrase|pwd|secret|token|api[_-]?key|access[_-]?key",
    r"|auth[_-]?key|encryption[_-]?key|credentials?)[\w-]*)",
    r#"["'`\]]{0,2}\s*(?::\s*(?:[\w.&]+(?:<[\w]*>)?\s*)?=|:=|=>|=|:)\s*["'`]([^"'`\s]{8,})["'`]"#
);

/// The same without quotes, for settings files that hold one value a line.
pub(super) const BARE_PATTERN: &str = concat!(
    r"(?i)^\s*(?:export\s+|-\s+)?([\w.-]*(?:passw(?:or)?d|passphrase|pwd|secret|token|api[_-]?key",
    r"|access[_-]?key|auth[_-]?key|encryption[_-]?key|credentials?)[\w-]*)",
    r#"\s*[:=]\s*([^\s"'`#]{8,})\s*(?:#.*)?$"#
);

/// Words that the names of generic secrets hold.
pub(super) const GENERIC_KEYWORDS: &[&str] = &[
    "passwd",
    "password",
    "passphrase",
    "pwd",
    "secret",
    "token",
    "apikey",
    "api_key",
    "api-key",
    "accesskey",
    "access_key",
    "access-key",
    "authkey",
    "auth_key",
    "auth-key",
    "encryptionkey",
    "encryption_key",
    "encryption-key",
    "credential",
];
