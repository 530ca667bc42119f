//! The phrases that are looked for, as data.
//!
//! They are matched against normalised text, bytewise. Each order names words of which a matching
//! text holds at least one. The lists are our own, kept to phrases that have no business in a
//! change except to steer whoever reviews it.

/// What a phrase does to its reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// Withdraws earlier instructions in words that leave no doubt.
    Override,
    /// Asks for a verdict, for silence, or for earlier rules to be dropped.
    Verdict,
    /// The same in words that programs use too; counts only when somebody is called by name.
    Soft,
    /// The same in words of daily life; counts only when a machine is called by name.
    Hint,
    /// Imitates the frame of a conversation with a model.
    Control,
    /// Dictates an answer in the words of this program's own answers, or forbids the review.
    Answer,
}

/// A phrase that orders.
#[derive(Debug, Clone, Copy)]
pub(super) struct Phrase {
    /// What it orders.
    pub(super) order: Order,
    /// Words of which a matching text holds at least one.
    pub(super) anchors: &'static [&'static str],
    /// The regular expression.
    pub(super) pattern: &'static str,
}

const fn phrase(order: Order, anchors: &'static [&'static str], pattern: &'static str) -> Phrase {
    Phrase {
        order,
        anchors,
        pattern,
    }
}

macro_rules! filler {
    () => {
        concat!(
            r"(?:[ _+-](?:all|any|every|each|of|the|your|my|our|those|these|other|and|or|previous|prior|above",
            r"|earlier|preceding|existing|original|initial|current|system|former|past|developer|user",
            r"|safety|review|reviewer|reviewing|given))"
        )
    };
}

macro_rules! subject {
    () => {
        concat!(
            r"(?:files?|code|changes?|changesets?|patch(?:es)?|diffs?|prs?|pull requests?|mrs?",
            r"|merge requests?|commits?|functions?|methods?|modules?|sections?|hunks?|blocks?|lines?",
            r"|folders?|director(?:y|ies)|submissions?)"
        )
    };
}

macro_rules! unit {
    () => {
        concat!(
            r"(?:files?|code|changes?|changesets?|patch(?:es)?|diffs?|prs?|pull requests?|mrs?",
            r"|merge requests?|commits?|functions?|methods?|modules?|hunks?|folders?|director(?:y|ies)",
            r"|submissions?)"
        )
    };
}

macro_rules! defect {
    () => {
        r"(?:findings?|issues?|problems?|bugs?|defects?|concerns?|violations?|vulnerabilit(?:y|ies))"
    };
}

/// Every order.
#[rustfmt::skip]
pub(super) const ORDERS: &[Phrase] = &[
    // Signs stand for blanks in names. One `instruction` alone is a processor's.
    phrase(Order::Override, &["instruction", "prompt", "directive", "guideline"], concat!(
        r"(?:\b|_)(?:ignore|disregard|forget|(?:do[ _-]not|dont|stop)[ _-](?:follow|obey)(?:ing)?)",
        filler!(), r"{0,6}(?:[ _-](?:previous|prior|above|earlier|preceding|existing|original|initial|system|former|past|your|developer))",
        filler!(), r"{0,3}[ _-](?:instructions|prompts?|directives?|guidelines?)(?:\b|_)")),
    phrase(Order::Override, &["instruction"], concat!(
        r"(?:\b|_)(?:ignore|disregard|forget)", filler!(), r"{0,6}[ _-](?:all|any|every|each|your|these|those)",
        filler!(), r"{1,4}[ _-]instruction(?:\b|_)")),
    phrase(Order::Override, &["instruction", "prompt", "directive", "guideline"], concat!(
        r"\b(?:ignore|disregard|forget)", filler!(), r"{0,6} (?:instructions|prompts?|directives?|guidelines?) ",
        r"(?:above|before this|(?:you (?:were|have been) )?given (?:above|before|earlier|previously|to you)|you (?:were|have been) given|that came before)\b")),
    // The answer in this program's own form.
    phrase(Order::Answer, &["overall_correctness"],
        r"\b(?:set|put|mark|make|leave|keep|report|output|give|write|return|answer|declare)(?: [a-z]+){0,4} overall_correctness\b|\boverall_correctness (?:must|should|shall|has to|needs to|is to|will) (?:be|say|read)\b"),
    phrase(Order::Answer, &["findings"],
        r"\bfindings (?:array |list |field )?(?:must|should|shall|has to|have to|is to|are to|needs? to)(?: always)? (?:be|stay|remain)(?: an?)? ?(?:\[ ?\]|empty|none|null)|\b(?:respond|reply|answer) with(?: only| just| exactly)?(?: an?| the)? (?:empty findings?|findings? ?: ?\[ ?\])|\b(?:leave|keep) (?:the )?findings (?:array |list |field )?empty\b"),
    phrase(Order::Answer, &["findings"],
        r"\b(?:(?:your|the) (?:answer|reply|response|output|review|result|verdict) (?:must|should|shall|has to|is to|will) (?:be|read|say|equal)|(?:respond|reply|answer) with)(?: (?:only|just|exactly|the|this|json|object|a|an)){0,4} ?:? ?\{ ?findings ?: ?\["),
    phrase(Order::Soft, &["findings"],
        r"\b(?:return|output|emit|produce|give|print|write|submit|use|say)(?: (?:only|just|exactly|the|this|json|object|a|an)){0,4} ?:? ?\{ ?findings ?: ?\["),
    phrase(Order::Answer, &["review", "inspect", "audit", "analy"], concat!(
        r"\b(?:do not|dont|never|no need to|there is no need to|stop) (?:review|inspect|audit|analy[sz]e)(?:ing)? ",
        r"(?:(?:the (?:rest|remainder) of (?:this|the|these)|anything (?:else|below) in this) ", subject!(),
        r"|(?:this|these) (?:patch(?:es)?|diffs?|prs?|pull requests?|mrs?|merge requests?|changesets?|changes?))\b",
        r"|\bstop reviewing (?:here|now|at this point)\b")),
    phrase(Order::Hint, &["approve", "accept", "lgtm", "merge"],
        r"\b(?:approve|accept|lgtm|merge)(?: it| this| these| them| everything)?(?: (?:without|unconditionally|silently|immediately|as is)\b| ?(?:[.,;!]|$))"),
    phrase(Order::Hint, &["not ", "dont ", "never ", "avoid ", "no need ", "shouldnt "],
        r"\b(?:do not|dont|must not|should not|shouldnt|need not|never|avoid|no need to) (?:ever )?(?:flag|report|raise|review|comment|mention|question|scan|inspect|analy[sz]e|audit|look at|complain|warn|criticise|criticize|read|check|touch)(?:ing)?\b"),
    phrase(Order::Hint, &["skip", "ignore", "disregard", "overlook", "trust", "downgrade", "suppress", "dismiss", "hide"],
        r"\bskip (?:it|them|everything|over)\b|\b(?:ignore|disregard|overlook|trust|downgrade|suppress|dismiss|hide) (?:this|these|the|it|them|all|every|any|everything|following|below|over)\b"),
    phrase(Order::Hint, &["grade", "score", "mark", "rating", "review", "verdict"],
        r"\b(?:give|assign|grant|award|leave)(?: (?:this|it|these|the|a|an|us|me|my|file|code|change|patch|pr|pull request|commit)){0,4} (?:passing|high|highest|full|perfect|best|top|positive|good|favou?rable|approving|clean) (?:grade|score|mark|rating|review|verdict)s?\b"),
    phrase(Order::Hint, &["run", "execute", "fetch", "download", "open", "visit", "curl", "instructions"],
        r"\b(?:run|execute|fetch|download|open|visit|invoke)(?: (?:the|this|these|following|command|script|commands|url|link))* ?(?:https?:|curl\b|wget\b|env\b|bash\b|sh\b|commands?\b|scripts?\b|urls?\b|links?\b)|\bfollow (?:the|all|any|its) instructions (?:there|in|at|from|below|inside|of)\b"),
    phrase(Order::Hint, &["patch", "change", "code", "diff", "commit"],
        r"\b(?:the |this )?(?:patch|change|code|diff|commit|pull request|pr) (?:is|looks) (?:correct|safe|good|fine|clean|perfect|secure|harmless)\b"),
    phrase(Order::Verdict, &["ignore", "disregard", "forget", "override", "bypass"], concat!(
        r"\b(?:ignore|disregard|forget|override|bypass)", filler!(),
        r"{0,6} (?:instructions?|prompts?|directives?|guidelines?|rules|orders|constraints|polic(?:y|ies))\b")),
    phrase(Order::Verdict, &["everything", "all"],
        r"\b(?:ignore|disregard|forget) (?:all|everything)(?: of the| that| you were told| written| said)* (?:above|before this|previously)\b"),
    phrase(Order::Verdict, &["approv", "accept", "merge", "lgtm", "pass"], concat!(
        r"\b(?:approve|accept|merge|lgtm|pass) (?:this|these|all|every|each|my|the|any)(?: [a-z]+)? ", subject!(), r"\b")),
    phrase(Order::Verdict, &["report", "raise", "flag", "file", "respond", "reply", "answer", "say", "state", "conclude", "write"], concat!(
        r"\b(?:report|raise|flag|respond|reply|answer|say|state|conclude|write)(?: (?:back|with|only|that|there|are|is|were|an?|the|just|exactly|simply))* ",
        r"(?:nothing|(?:no|zero) (?:\w+ )?", defect!(), r"|empty (?:findings|review|report)|lgtm|approved?|(?:the )?patch is correct|looks good|all clear)\b")),
    phrase(Order::Soft, &["return", "output", "emit", "produce", "give", "list", "write", "submit", "post", "leave", "find"], concat!(
        r"\b(?:return|output|emit|produce|give|list|write|submit|post|leave|find)(?: (?:back|with|only|an?|the|just|exactly|simply))* ",
        r"(?:nothing|(?:no|zero) (?:\w+ )?(?:comments?|", defect!(), r")|(?:an )?empty (?:findings|review|report|list|array)|lgtm|(?:the )?patch is correct|looks good)\b")),
    phrase(Order::Verdict, &["not ", "dont ", "never ", "avoid ", "refrain ", "stop ", "shouldnt "], concat!(
        r"\b(?:(?:do|must|should) not|dont|shouldnt|never|avoid|refrain from|stop) (?:ever )?",
        r"(?:flag|report|raise|review|criticize|criticise|comment|question|scan|inspect|analy[sz]e|audit|mention)(?:ing)?(?: on| about)? ",
        r"(?:(?:this|these|the following|the below|any|any of these) (?:\w+ )?(?:", subject!(), r"|", defect!(), r")|", defect!(), r"|anything)\b")),
    phrase(Order::Verdict, &["skip", "omit", "exclude", "ignore"], concat!(
        // Readers are told to skip a section or a line; only with the review it is the reviewer.
        r"\b(?:skip|omit|exclude|ignore) (?:this|these|the following|all|the rest of the|the rest of this)(?: [a-z]+)? (?:", unit!(), r"|review|", defect!(), r")\b",
        r"|\b(?:skip|omit|exclude|ignore) (?:reviewing|(?:the )?(?:code )?review of|(?:the )?analysis of|checking|scanning) ",
        r"(?:this|these|the following|all|the rest of the|the rest of this)(?: [a-z]+)? (?:", subject!(), r"|review|", defect!(), r")\b",
        r"|\b(?:skip|omit|exclude|ignore) (?:this|these|the following|all)(?: [a-z]+)? ", subject!(), r" (?:in|from|during|when|while) (?:your |the |this )?(?:code )?review(?:ing)?\b")),
    phrase(Order::Verdict, &["mark", "treat", "consider", "classify", "rate", "label", "regard", "assume", "deem"], concat!(
        r"\b(?:mark|treat|consider|classify|rate|label|regard|assume|deem) (?:this|these|it|everything|all|the)(?: (?:of|this|the|entire|whole))*(?: (?:",
        subject!(), r"|", defect!(), r"))?(?: (?:as|is|are|to be))* (?:safe|secure|correct|approved|reviewed|clean|benign|trusted|harmless|false positives?|verified)\b")),
    phrase(Order::Soft, &["approved", "cleared", "audited", "verified", "reviewed"],
        r"\b(?:pre-?approved|(?:already|been|was|is) (?:pre-?)?(?:approved|cleared|audited|verified|reviewed)(?: \w+)? by)\b"),
    phrase(Order::Soft, &["environment", "env", "key", "credential", "prompt", "secret", "token", "passwd"],
        r"\b(?:print|send|post|upload|exfiltrate|reveal|leak|output|include|show|dump|echo|cat|read|paste)(?: (?:me|us|out|all|the|your|contents?|of|any|every|full|entire|complete|values?))* (?:env(?:ironment)?(?: var(?:iable)?s)?|\.env(?: file)?|api keys?|credentials|system prompt|secrets|access tokens|ssh keys?|/etc/passwd)\b"),
    phrase(Order::Control, &["<|", "/inst]", "sys>>", "_of_turn>"],
        r"<\|(?:im_start|im_end|im_sep|system|user|assistant|endoftext|end_of_text|begin_of_text|start_header_id|end_header_id|eot_id|eom_id|channel|tool_call|python_tag)\|>|\[/inst\]|<</?sys>>|<(?:start|end)_of_turn>"),
    phrase(Order::Control, &["<system", "</system", "<function_", "</function_", "<tool_", "</tool_"],
        r"</?(?:system-reminder|system_prompt|function_calls|function_results|tool_results?|tool_response)>"),
    // German.
    phrase(Order::Override, &["ignorier", "missacht", "vergiss", "vergessen"],
        r"\b(?:ignorier[a-z]*|missacht[a-z]*|vergiss|vergessen sie)(?: [^ ]+){0,3} (?:vorherige[nr]?|bisherige[nr]?|obige[nr]?|fr(?:ü|ue)here[nr]?|vorangegangene[nr]?|deine|ihre)(?: [^ ]+)? ?(?:anweisungen|instruktionen|vorgaben|befehle)\b"),
    phrase(Order::Verdict, &["genehmig", "melde", "beanstand", "prüfen", "pruefen", "bemängel", "kommentier", "durchwink", "akzeptier", "ignorier", "springen"],
        r"\b(?:diese[nrs]?|den|die|das) (?:datei|code|(?:ä|ae)nderung(?:en)?|zeilen?|funktion|patch|pr|pull.request|commit) (?:bitte )?(?:nicht (?:beanstanden|melden|pr(?:ü|ue)fen|bem(?:ä|ae)ngeln|kommentieren)|genehmigen|durchwinken|akzeptieren|ignorieren|(?:ü|ue)berspringen)\b|\b(?:genehmige(?:n sie)? (?:diese[nr]?|den|die|das) (?:pull.request|pr|patch|(?:ä|ae)nderung(?:en)?|code|commit)|(?:melde|berichte) (?:keine|nichts)|keine (?:fehler|befunde|probleme|m(?:ä|ae)ngel) melden)\b"),
    // French.
    phrase(Order::Override, &["ignore", "oublie"],
        r"\b(?:ignore[rz]?|oublie[rz]?)(?: [^ ]+){0,4} (?:instructions|consignes|directives)(?: [^ ]+)? (?:pr(?:é|e)c(?:é|e)dentes|ant(?:é|e)rieures|ci-dessus)"),
    phrase(Order::Verdict, &["approuve", "signale"],
        r"\b(?:approuve[rz]? (?:cette|ce|la|le|ces|les) (?:pull.request|pr|modifications?|changements?|patch|code)|ne (?:signale|rapporte)[rz]? (?:aucun|pas|rien))"),
    // Spanish.
    phrase(Order::Override, &["ignor", "olvid"],
        r"\b(?:ignor[ae]|olvid[ae])(?: [^ ]+){0,4} (?:instrucciones|indicaciones|(?:ó|o)rdenes)(?: [^ ]+)? (?:anteriores|previas)\b"),
    phrase(Order::Verdict, &["aprueb", "report", "inform", "señal"],
        r"\b(?:aprueb[ae] (?:este|esta|estos|el|la|los) (?:pull.request|pr|cambios?|parche|c(?:ó|o)digo)|no (?:informes?|reportes?|señales?) (?:ning(?:ú|u)n|nada|problemas|errores))"),
    // Portuguese, Italian, Dutch and Polish.
    phrase(Order::Override, &["instru", "orienta"],
        r"\b(?:ignore|ignora|ignorem|esque(?:ç|c)a|desconsidere)(?: [^ ]+){0,4} (?:instru(?:ç|c)(?:õ|o)es|orienta(?:ç|c)(?:õ|o)es)(?: [^ ]+)? (?:anteriores|pr(?:é|e)vias|acima)\b"),
    phrase(Order::Override, &["istruzion", "indicazion", "direttiv"],
        r"\b(?:ignora|ignori|ignorate|ignorare|dimentica|dimenticate)(?: [^ ]+){0,4} (?:istruzioni|indicazioni|direttive)(?: [^ ]+)? (?:precedenti|anteriori|sopra)\b"),
    phrase(Order::Override, &["negeer", "vergeet", "zignoruj", "zapomnij"],
        r"\b(?:negeer|vergeet)(?: [^ ]+){0,3} (?:vorige|eerdere|bovenstaande|voorgaande) (?:instructies|opdrachten|aanwijzingen)\b|\b(?:zignoruj|zapomnij)(?: [^ ]+){0,3} (?:poprzednie|wcze(?:ś|s)niejsze|powy(?:ż|z)sze) (?:instrukcje|polecenia|wytyczne)"),
    // Korean.
    phrase(Order::Override, &["무시", "잊어"],
        r"(?:이전|위의|앞선|기존|모든).{0,18}(?:지시|명령|지침|프롬프트).{0,12}(?:무시|잊)"),
    // Chinese.
    phrase(Order::Override, &["忽略", "无视", "無視", "忘记", "忘記"],
        r"(?:忽略|无视|無視|忘记|忘記).{0,18}(?:之前|以前|上述|上面|先前|此前|前面|所有).{0,18}(?:指令|指示|提示|命令|要求|规则)"),
    phrase(Order::Verdict, &["批准", "不要", "报告", "報告"],
        r"(?:批准(?:这个|此|该|本|这次)?(?: ?pr| ?mr|更改|变更|合并|补丁|代码|提交)|不要(?:报告|標記|标记|指出|评论)|(?:报告|報告)(?:没有|無|无)问题)"),
    // Japanese.
    phrase(Order::Override, &["無視", "忘れ"],
        r"(?:これまで|以前|上記|前|すべて|全て).{0,18}(?:指示|命令|プロンプト|指令).{0,12}(?:無視|忘れ)"),
    phrase(Order::Verdict, &["承認", "問題", "報告", "指摘"],
        r"(?:(?:変更|コード|pr|パッチ|プルリクエスト)を承認|問題なしと(?:報告|回答)|(?:報告|指摘)し(?:ないで|ては))"),
    // Russian.
    phrase(Order::Override, &["игнорируй", "забудь", "обращай"],
        r"(?:игнорируй(?:те)?|забудь(?:те)?|не обращай(?:те)? внимания на)(?: [^ ]+){0,3} (?:предыдущие|прошлые|прежние|вышеуказанные|все)(?: [^ ]+){0,2} ?(?:инструкции|указания|команды|правила)"),
    phrase(Order::Verdict, &["одобр", "сообщай"],
        r"(?:одобри(?:те)? (?:этот |эти |это )?(?:pr|патч|изменени(?:е|я)|код|запрос|коммит)|не сообщай(?:те)? о)"),
];

macro_rules! role {
    () => {
        concat!(
            r"(?:(?:code|ai|llm|automated|automatic|autonomous|coding|review|reviewing|reviewer|security|pr|software",
            r"|copilot|claude|codex|gemini|cursor|grok|gpt|openai|anthropic)[ -])*",
            // A model alone is a word of programs: `model: ...` calls nobody.
            r"(?:reviewers?|assistants?|agents?|bots?|(?:ai|language|review|reviewing|reviewer)[ -]models?|llms?|ai|copilot|claude(?: code)?|codex|chatgpt",
            r"|gpt[\w.-]*|gemini|grok|cursor|coderabbit(?:ai)?|opencode|droid|devin|diffwarden)"
        )
    };
}

/// Names a machine that reviews or could.
pub(super) const MENTION: &str = concat!(
    r"\b(?:ai|ki|llms?|chatgpt|gpt-?[0-9][\w.-]*|claude(?: code)?|codex|copilot|gemini|grok|coderabbit(?:ai)?|greptile|bugbot",
    r"|opencode|deepseek|qwen|devin|diffwarden|(?:large )?language models?",
    r"|system: ?you are(?: now)?|you are now (?:an?|in) \w+",
    r"|(?:coding|code[ -]review|review|reviewing|reviewer|automated|autonomous)[ -](?:agents?|assistants?|bots?|models?|tools?)",
    r"|(?:automated|automatic|machine)[ -](?:code[ -])?review(?:ers?|s)?)\b",
    r"|\b(?:system (?:prompt )?(?:message|prompt|note|notice|override|update)|new (?:task|objective|orders?|instructions?)) ?:",
    r"|</?(?:system|assistant)>",
    r"|人工智能|大模型|语言模型|審查員|审查(?:者|员|助手)|レビュアー|アシスタント|нейросет|ассистент|\b(?:ia|assistent|prüfer|relecteur|revisor|asistente)\b|ии(?:-| )"
);

/// Calls somebody who reviews, by name or role.
pub(super) const VOCATIVE: &str = concat!(
    r"(?:^|[.!?;:=(\[{,>@] ?)",
    role!(),
    r"(?: (?:reading|reviewing|looking at) [^.:,]{1,40})? ?[:,!]",
    r"|\b(?:dear|attention|hey|hi|hello|(?:note|notice|message|important|instructions?|reminder|warning)(?: (?:to|for))|to)(?: (?:the|any|all|every|an?|future|whichever))*:? ",
    role!(),
    r"(?: (?:reading|reviewing|looking at) [^.:,]{1,40})? ?(?:[:,!.-]|$|you\b|please\b)",
    r"|\b(?:dear|attention|hey|note to|note for|message to|message for|instructions? (?:to|for)):? (?:(?:the|any|all|every|an?) )*",
    role!(),
    r"\b|(?:^|[.!?] ?)for (?:(?:the|any|all|every|an?) )*",
    role!(),
    r" ?[:,]",
    r"|\b(?:ai|llm|automated|automatic|machine)[ -](?:code[ -])?(?:review[ -])?(?:reviewers?|agents?|bots?|assistants?|models?|reviews?) (?:should|must|shall|need to|needs to|have to|has to|are to|is to|will please)\b",
    r"|\b(?:if you are|as|you are) (?:an?|the|any) (?:\w+ ){0,3}",
    role!(),
    r"\b|\bif you are (?:reviewing|reading) this\b"
);

/// A word by which a vocative calls a machine and not a person.
pub(super) const MACHINE: &str = concat!(
    r"\b(?:ai|ki|llms?|bots?|agents?|assistants?|models?|automated|automatic|machine|copilot|claude|codex|chatgpt",
    r"|gpt[\w.-]*|gemini|grok|cursor|coderabbit(?:ai)?|opencode|droid|devin|diffwarden)\b"
);
