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
    /// The regular expression. The first group that takes part is the secret.
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
    rule("adafruit-key", "an Adafruit IO key", &["aio_"],
        r"\b(aio_[A-Za-z0-9]{28})\b", 3.0, 0),
    rule("age-secret-key", "an age secret key", &["age-secret-key-1"],
        r"\b(AGE-SECRET-KEY-1[02-9AC-HJ-NP-Z]{58})\b", 3.5, 0),
    rule("airtable-token", "an Airtable token", &["airtable"],
        r"\b(pat[A-Za-z0-9]{14}\.[a-f0-9]{64})\b", 3.0, 0),
    rule("alibaba-access-key-id", "an Alibaba Cloud access key id", &["ltai"],
        r"\b(LTAI[A-Za-z0-9]{20})\b", 3.0, 1),
    rule("anthropic-key", "an Anthropic API key", &["sk-ant-"],
        r"\b(sk-ant-[a-z0-9]+-[A-Za-z0-9_-]{60,})", 3.5, 0),
    rule("artifactory-key", "an Artifactory key", &["akcp"],
        r"\b(AKCp[A-Za-z0-9]{69})\b", 3.5, 0),
    rule("atlassian-token", "an Atlassian API token", &["atatt3"],
        r"\b(ATATT3[A-Za-z0-9_=-]{150,})", 3.5, 0),
    rule("authorization-header", "an authorization header", &["authorization"],
        r#"(?i)authorization["'`\])]{0,3}\s*(?:=>|[:=,])\s*["'`]?(?:bearer|basic|token)\s+([a-z0-9+/_.=-]{20,})"#, 3.5, 2),
    rule("aws-access-key-id", "an AWS access key id", &["akia", "asia", "abia", "acca"],
        r"\b((?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16})\b", 3.0, 1),
    rule("aws-secret-access-key", "an AWS secret access key",
        &["aws", "secretaccesskey", "secret_access_key"],
        r#"(?i)(?:aws[\w.-]{0,20}|secret_?access_?)key["'\]]{0,2}\s*(?::=|=>|=|:|,)\s*["'`]?([a-z0-9/+]{40})(?:[^a-z0-9/+=]|$)"#, 4.0, 0),
    rule("azure-client-secret", "an Azure client secret", &["q~"],
        r"(?:^|[^A-Za-z0-9_~.-])([A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34})(?:[^A-Za-z0-9_~.-]|$)", 3.5, 0),
    rule("azure-devops-token", "an Azure DevOps token", &["devops", "azdo", "vsts", "jqqj9"],
        r#"(?i)(?:\b(?:azure[_-]?)?(?:devops|azdo|vsts)[\w.-]{0,25}["'\]]{0,2}\s*(?::=|=>|=|:|,)\s*["'`]?([a-z0-9]{52})(?:[^a-z0-9]|$)|\b([a-z0-9]{52}jqqj9[9dh][a-z0-9]{20,32})\b)"#, 3.5, 0),
    rule("azure-shared-access-signature", "an Azure shared access signature", &["sig="],
        r"(?i)(?:[?&]|&amp;)sig=([a-z0-9/+]{0,60}(?:%2[bf][a-z0-9/+]{0,60}){0,20}(?:%3d|=))", 3.5, 1),
    rule("azure-storage-key", "an Azure storage account key", &["accountkey="],
        r"(?i)accountkey=([a-z0-9+/]{86}==)", 4.0, 0),
    rule("buildkite-token", "a Buildkite token", &["bkua_", "bkaa_", "bkrt_", "bkpt_"],
        r"\b(bk(?:ua|aa|rt|pt)_[a-f0-9]{40})\b", 3.0, 0),
    rule("circleci-token", "a CircleCI token", &["ccipat_", "ccipr_"],
        r"\b(CCI(?:PAT|PR)_[A-Za-z0-9]{22}_[a-f0-9]{40})\b", 3.0, 0),
    rule("clojars-token", "a Clojars token", &["clojars_"],
        r"(?i)\b(clojars_[a-z0-9]{60})\b", 3.0, 0),
    rule("crates-io-token", "a crates.io token", &["cio"],
        r"\b(cio[A-Za-z0-9]{32})\b", 3.5, 0),
    rule("databricks-token", "a Databricks token", &["dapi"],
        r"\b(dapi[a-f0-9]{32}(?:-[0-9])?)\b", 3.0, 0),
    rule("digitalocean-token", "a DigitalOcean token", &["dop_v1_", "doo_v1_", "dor_v1_"],
        r"\b(do[opr]_v1_[a-f0-9]{64})\b", 3.0, 0),
    rule("discord-bot-token", "a Discord bot token", &["discord"],
        r"\b([MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40})", 3.5, 0),
    rule("discord-webhook", "a Discord webhook address", &["/api/webhooks/"],
        r"\bdiscord(?:app)?\.com/api/webhooks/([0-9]{17,20}/[A-Za-z0-9_-]{60,})", 3.5, 1),
    rule("docker-token", "a Docker Hub token", &["dckr_pat_"],
        r"\b(dckr_pat_[A-Za-z0-9_-]{27,})", 3.5, 0),
    rule("doppler-token", "a Doppler token", &["dp.pt.", "dp.st.", "dp.ct.", "dp.sa."],
        r"\b(dp\.(?:pt|st|ct|sa)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44})\b", 3.0, 0),
    rule("dynatrace-token", "a Dynatrace token", &["dt0c01."],
        r"(?i)\b(dt0c01\.[a-z0-9]{24}\.[a-z0-9]{64})\b", 3.5, 0),
    rule("figma-token", "a Figma token", &["figd_", "figo_", "figu_"],
        r"\b(fig[dou]_[A-Za-z0-9_-]{36,})", 3.0, 0),
    rule("flyio-token", "a Fly.io token", &["fo1_", "fm2_"],
        r"\b((?:fo1_[A-Za-z0-9_-]{43}|fm2_[A-Za-z0-9+/]{100,}))", 3.5, 0),
    rule("github-fine-grained-token", "a fine-grained GitHub token", &["github_pat_"],
        r"\b(github_pat_[A-Za-z0-9_]{60,})", 3.5, 0),
    rule("github-token", "a GitHub token", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"],
        r"\b(gh[pousr]_[A-Za-z0-9]{36,})", 3.0, 0),
    rule("gitlab-token", "a GitLab token",
        &["glpat-", "gldt-", "glrt-", "glptt-", "glsoat-", "glcbt-", "glft-"],
        r"\b(gl(?:pat|dt|rt|ptt|soat|cbt|ft)-[A-Za-z0-9_-]{20,})", 3.0, 0),
    rule("google-access-token", "a Google access token", &["ya29."],
        r"\b(ya29\.[A-Za-z0-9_-]{20,})", 3.5, 1),
    rule("google-api-key", "a Google API key", &["aiza"],
        r"\b(AIza[A-Za-z0-9_-]{35})(?:[^A-Za-z0-9_-]|$)", 3.5, 1),
    rule("google-oauth-secret", "a Google OAuth client secret", &["gocspx-"],
        r"\b(GOCSPX-[A-Za-z0-9_-]{28})", 3.0, 0),
    rule("grafana-cloud-token", "a Grafana Cloud token", &["glc_"],
        r"\b(glc_[A-Za-z0-9+/]{32,}={0,2})", 3.5, 0),
    rule("grafana-token", "a Grafana token", &["glsa_"],
        r"\b(glsa_[A-Za-z0-9]{32}_[a-f0-9]{8})\b", 3.0, 0),
    rule("groq-key", "a Groq API key", &["gsk_"],
        r"\b(gsk_[A-Za-z0-9]{52})\b", 3.5, 0),
    rule("hashicorp-vault-token", "a HashiCorp Vault token", &["hvs.", "hvb."],
        r"\b(hv[sb]\.[A-Za-z0-9_-]{24,})", 3.5, 0),
    rule("heroku-key", "a Heroku API key", &["heroku", "hrku-"],
        r#"(?i)(?:\bheroku[\w.-]{0,25}["'\]]{0,2}\s*(?::=|=>|=|:|,)\s*["'`]?([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\b|\b(hrku-[a-z0-9_-]{30,}))"#, 3.0, 0),
    rule("huggingface-token", "a Hugging Face token", &["hf_"],
        r"\b(hf_[A-Za-z]{34})\b", 3.0, 0),
    rule("jwt", "a JSON web token", &["eyj"],
        r"\b(ey[A-Za-z0-9_-]{15,}\.ey[A-Za-z0-9_-]{15,}\.[A-Za-z0-9_-]{15,})", 3.5, 2),
    rule("linear-key", "a Linear API key", &["lin_api_"],
        r"\b(lin_api_[A-Za-z0-9]{40})\b", 3.0, 0),
    rule("mailgun-key", "a Mailgun key", &["mailgun"],
        r"\b(key-[0-9a-f]{32})\b", 3.0, 0),
    rule("netlify-token", "a Netlify token", &["nfp_"],
        r"\b(nfp_[A-Za-z0-9]{36})\b", 3.0, 0),
    rule("netrc-login", "a network login", &["machine "],
        r#"(?i)\bmachine\s+[^\s"']+\s+login\s+[^\s"']+\s+password\s+([^\s"'<>${}]{6,})"#, 2.5, 1),
    rule("newrelic-key", "a New Relic key", &["nrak-", "nrii-"],
        r"\b((?:NRAK-[A-Z0-9]{27}|NRII-[A-Za-z0-9-]{32}))", 3.0, 0),
    rule("notion-token", "a Notion token", &["ntn_"],
        r"\b(ntn_[A-Za-z0-9]{46})\b", 3.5, 0),
    rule("npm-auth-token", "a token of an npm registry", &["_authtoken", "_auth="],
        r#"_auth(?:Token)?\s*=\s*["']?([A-Za-z0-9+/_=-]{20,})"#, 3.0, 0),
    rule("npm-token", "an npm token", &["npm_"],
        r"\b(npm_[A-Za-z0-9]{36})\b", 3.0, 0),
    rule("nuget-key", "a NuGet API key", &["oy2"],
        r"\b(oy2[a-z0-9]{43})\b", 3.0, 0),
    rule("okta-token", "an Okta API token", &["ssws "],
        r"\bSSWS (00[A-Za-z0-9_-]{40})", 3.5, 0),
    rule("onepassword-token", "a 1Password service account token", &["ops_eyj"],
        r"\b(ops_eyJ[A-Za-z0-9+/_-]{100,}={0,2})", 3.5, 0),
    rule("openai-key", "an OpenAI API key", &["sk-"],
        r"\b(sk-(?:(?:proj|svcacct|admin)-[A-Za-z0-9_-]{40,}|[A-Za-z0-9]{40,}))", 3.5, 0),
    rule("openrouter-key", "an OpenRouter key", &["sk-or-v1-"],
        r"\b(sk-or-v1-[a-f0-9]{64})\b", 3.0, 0),
    rule("perplexity-key", "a Perplexity API key", &["pplx-"],
        r"\b(pplx-[A-Za-z0-9]{48})\b", 3.5, 0),
    rule("planetscale-secret", "a PlanetScale password or token", &["pscale_"],
        r"\b(pscale_(?:pw|tkn|oauth)_[A-Za-z0-9_=.-]{32,})", 3.0, 0),
    rule("postman-key", "a Postman API key", &["pmak-"],
        r"\b(PMAK-[a-f0-9]{24}-[a-f0-9]{34})\b", 3.0, 0),
    rule("pulumi-token", "a Pulumi token", &["pul-"],
        r"\b(pul-[a-f0-9]{40})\b", 3.0, 0),
    rule("pypi-token", "a PyPI upload token", &["pypi-age"],
        r"\b(pypi-AgE[A-Za-z0-9_-]{50,})", 3.5, 0),
    rule("replicate-token", "a Replicate token", &["r8_"],
        r"\b(r8_[A-Za-z0-9]{37})\b", 3.5, 0),
    rule("rubygems-key", "a RubyGems API key", &["rubygems_"],
        r"\b(rubygems_[a-f0-9]{48})\b", 3.0, 0),
    rule("sendgrid-key", "a SendGrid key", &["sg."],
        r"\b(SG\.[A-Za-z0-9_-]{20,24}\.[A-Za-z0-9_-]{39,50})", 3.5, 0),
    rule("sendinblue-key", "a Brevo API key", &["xkeysib-"],
        r"\b(xkeysib-[a-f0-9]{64}-[A-Za-z0-9]{16})\b", 3.5, 0),
    rule("sentry-token", "a Sentry token", &["sntrys_", "sntryu_"],
        r"\b((?:sntrys_eyJ[A-Za-z0-9+/=_-]{60,}|sntryu_[a-f0-9]{64}))", 3.0, 0),
    rule("shopify-token", "a Shopify token", &["shpat_", "shpca_", "shppa_", "shpss_"],
        r"\b(shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32})\b", 3.0, 0),
    rule("slack-app-token", "a Slack app token", &["xapp-"],
        r"\b(xapp-[0-9]-[A-Z0-9]+-[0-9]+-[a-z0-9]{32,})", 3.0, 0),
    rule("slack-token", "a Slack token", &["xoxa-", "xoxb-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-"],
        r"\b(xox[abeoprs]-[A-Za-z0-9-]{20,})", 2.8, 0),
    rule("slack-webhook", "a Slack webhook address", &["hooks.slack.com"],
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9+/_-]{30,})", 3.0, 1),
    rule("square-token", "a Square token", &["sq0atp-", "sq0csp-", "eaaa"],
        r"\b((?:sq0atp-[A-Za-z0-9_-]{22}|sq0csp-[A-Za-z0-9_-]{43}|EAAA[A-Za-z0-9_-]{60}))(?:[^A-Za-z0-9_-]|$)", 3.5, 0),
    rule("stripe-key", "a live Stripe key", &["sk_live_", "rk_live_"],
        r"\b([sr]k_live_[A-Za-z0-9]{20,})", 3.0, 0),
    rule("stripe-test-key", "a Stripe key for tests", &["sk_test_", "rk_test_"],
        r"\b([sr]k_test_[A-Za-z0-9]{20,})", 3.0, 2),
    rule("stripe-webhook-secret", "a Stripe webhook secret", &["whsec_"],
        r"\b(whsec_[A-Za-z0-9+/]{32,})", 3.5, 1),
    rule("supabase-token", "a Supabase token", &["sbp_"],
        r"\b(sbp_[a-f0-9]{40})\b", 3.0, 0),
    rule("tailscale-key", "a Tailscale key", &["tskey-"],
        r"\b(tskey-[a-z]+-[A-Za-z0-9]+(?:CNTRL)?-[A-Za-z0-9]{20,})", 3.0, 0),
    rule("teams-webhook", "a Microsoft Teams webhook address", &["webhook.office.com"],
        r"\bwebhook\.office\.com/webhookb2/([a-f0-9@/-]{70,}/IncomingWebhook/[a-f0-9]{32}/[a-f0-9-]{36})", 3.0, 1),
    rule("telegram-bot-token", "a Telegram bot token", &[":aa"],
        r"\b([0-9]{8,10}:AA[A-Za-z0-9_-]{32,33})(?:[^A-Za-z0-9_-]|$)", 3.5, 0),
    rule("terraform-cloud-token", "a Terraform Cloud token", &[".atlasv1."],
        r"\b([A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,})", 3.5, 0),
    rule("twilio-key", "a Twilio API key",
        &["sk0", "sk1", "sk2", "sk3", "sk4", "sk5", "sk6", "sk7", "sk8", "sk9", "ska", "skb", "skc", "skd", "ske", "skf"],
        r"\b(SK[0-9a-f]{32})\b", 3.0, 0),
    rule("typeform-token", "a Typeform token", &["tfp_"],
        r"\b(tfp_[A-Za-z0-9_.=-]{59})", 3.5, 0),
    rule("xai-key", "an xAI API key", &["xai-"],
        r"\b(xai-[A-Za-z0-9]{80})\b", 3.5, 0),
];

/// A password inside an address. The groups are scheme, user, password and host.
pub(super) const URL_PATTERN: &str =
    r#"\b([A-Za-z][A-Za-z0-9+.-]*)://([^/\s:@"'`<>]*):([^/\s@"'`<>]{3,})@([^/\s"'`<>:?#,]+)"#;

/// The name of something secret, as a piece of other patterns; in any case.
macro_rules! name {
    () => {
        concat!(
            r"[\w.-]*(?:passw(?:or)?d|passphrase|pwd|secret|token|api[_-]?key|access[_-]?key",
            r"|(?:auth|encryption|signing|jwt|master|shared|session|hmac|account|storage)[:_-]?key",
            r"|credentials?|[_.-]pass\b|(?:db|smtp|mail|user|root|admin|ftp)pass\b)[\w-]*"
        )
    };
}

/// A value in quotes under a name that says it is secret. The groups are name and value.
pub(super) const QUOTED_PATTERN: &str = concat!(
    "(?i)(",
    name!(),
    r#")["'`\]]{0,2}\s*(?::\s*(?:[\w.&]+(?:<[\w]*>)?\s*)?=|:=|=>|=|:)\s*["'`]([^"'`\s]{8,})["'`]"#
);

/// A name and a value that are handed over together, both in quotes: `define("NAME", "value")`.
pub(super) const ARGUMENTS_PATTERN: &str = concat!(
    r#"(?i)[(\[{,]\s*["'`]("#,
    name!(),
    r#")["'`]\s*,\s*["'`]([^"'`\s]{8,})["'`]"#
);

/// An element or a pair of attributes of XML.
pub(super) const ELEMENT_PATTERN: &str = concat!(
    "(?i)<(",
    name!(),
    r#")(?:\s[^<>]*)?>\s*([^<>\s"']{8,})\s*</"#
);

/// The pair of attributes in which settings in XML hold a name and a value.
pub(super) const ATTRIBUTES_PATTERN: &str = concat!(
    r#"(?i)<(?:add|property|entry|param|parameter|setting|env|variable|environmentvariable)\s[^<>]*\b(?:key|name)\s*=\s*["']("#,
    name!(),
    r#")["'][^<>]*\svalue\s*=\s*["']([^"'\s]{8,})["']"#
);

/// A value without quotes, for files in which values stand so. After a colon it is the last of its
/// line, or words of a sentence would be values; after `ENV` and its like no sign is needed. The
/// groups are name and value.
pub(super) const BARE_PATTERNS: [&str; 3] = [
    concat!(
        r#"(?i)(?:^|[\s;&|(,"'])("#,
        name!(),
        r#")\s*[:?+]{0,2}=\s*([^\s"'`#]{8,})"#
    ),
    concat!(
        r#"(?i)(?:^|[\s{(,"'])("#,
        name!(),
        r#"):\s+([^\s"'`#]{8,})\s*(?:["'#,}\])].*)?$"#
    ),
    concat!(
        r"(?i)(?:^|\s)(?:env|setx?|setenv)\s+(",
        name!(),
        r#")\s+([^\s"'`#]{8,})\s*$"#
    ),
];

/// A password among the fields of a connection string. The group is the password.
pub(super) const FIELD_PATTERN: &str =
    r#"(?i)[;?&"'`\s](?:password|passwd|pwd)=([^\s;&"'`<>,()]{4,})(?:[\s;&"'`<]|$)"#;

/// The fields beside it: the first group is the host.
pub(super) const HOST_PATTERN: &str = concat!(
    r#"(?i)(?:^|[;?&"'`\s])(?:(?:server|data source|host|hostname|addr(?:ess)?|endpoint)=(?:tcp:)?([^\s;&"'`,:\\]+)"#,
    r"|(?:uid|user|username|user id|database|dbname|initial catalog)=)"
);

/// A login on the command line of curl and its like. The groups are user and password.
pub(super) const LOGIN_PATTERN: &str =
    r#"\s(?:-u|--user|--proxy-user)(?:\s+|=)["']?([^\s:"'`$]+):([^\s"'`]{3,})"#;

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
    "signingkey",
    "signing_key",
    "signing-key",
    "jwtkey",
    "jwt_key",
    "jwt-key",
    "jwt:key",
    "masterkey",
    "master_key",
    "master-key",
    "sharedkey",
    "shared_key",
    "session_key",
    "hmac_key",
    "accountkey",
    "account_key",
    "storagekey",
    "storage_key",
    "_pass",
    "-pass",
    ".pass",
    "dbpass",
    "smtppass",
    "mailpass",
    "userpass",
    "rootpass",
    "adminpass",
    "ftppass",
];
