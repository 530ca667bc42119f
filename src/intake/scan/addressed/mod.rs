//! Text that talks to whoever reviews the change.
//!
//! Two signals make a finding: somebody is addressed and something is ordered, close to each other
//! in one line, or in neighbouring lines of one comment or of prose. A phrase that withdraws a
//! model's instructions, one that dictates the answer, and a token that frames a conversation are
//! weaker findings of their own.
//! Everything else stays silent: code talks about reviewers, agents and approvals all the time.

mod comments;
mod normalise;
mod phrases;

use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use aho_corasick::AhoCorasick;
use diffwarden_actors::model::LineRange;
use regex::bytes::{Regex, RegexBuilder};

use super::decode;
use super::report::{Hit, Report, Words};
use super::text::{NumberedLine, PathKind, Text};
use comments::Comments;
use phrases::{MACHINE, MENTION, ORDERS, Order, VOCATIVE};

/// How far apart two signals may be, in bytes of normalised text.
const REACH: usize = 160;
/// How long a signal may be without being missed by a search around it, in bytes.
const LONGEST_SIGNAL: usize = 512;

struct Anchors {
    automaton: AhoCorasick,
    phrases: Vec<usize>,
}

static ANCHORS: LazyLock<Anchors> = LazyLock::new(|| {
    let (words, phrases): (Vec<_>, Vec<_>) = ORDERS
        .iter()
        .enumerate()
        .flat_map(|(index, phrase)| phrase.anchors.iter().map(move |&word| (word, index)))
        .unzip();
    let automaton = AhoCorasick::new(words).expect("a short list of words makes an automaton");
    Anchors { automaton, phrases }
});

static COMPILED: [OnceLock<Regex>; ORDERS.len()] = [const { OnceLock::new() }; ORDERS.len()];
static MENTIONS: LazyLock<Regex> = LazyLock::new(|| compile(MENTION));
static VOCATIVES: LazyLock<Regex> = LazyLock::new(|| compile(VOCATIVE));
static MACHINES: LazyLock<Regex> = LazyLock::new(|| compile(MACHINE));

fn compile(pattern: &str) -> Regex {
    RegexBuilder::new(pattern)
        .unicode(false)
        .build()
        .expect("the patterns are constant and tested")
}

/// Reports text that addresses a reviewer.
pub(super) fn scan(text: &Text<'_>, report: &mut Report) {
    let mut passage = Passage::default();
    let mut comments = Comments::default();
    for line in &text.lines {
        let wordy = text.kind.prose || comments.take(*line);
        if !(wordy && passage.is_continued_by(line.number)) {
            passage.judge(text.kind, report);
            passage.clear();
        }
        passage.push(*line, wordy);
        scan_decoded(*line, text.kind, report);
    }
    passage.judge(text.kind, report);
}

/// Reads what a line says in another encoding, which has to be sentences.
fn scan_decoded(line: NumberedLine<'_>, kind: PathKind, report: &mut Report) {
    for piece in decode::decode(line.bytes) {
        if piece.text.iter().filter(|&&byte| byte == b' ').count() < 2 {
            continue;
        }
        let mut passage = Passage::default();
        let bytes = piece.text.as_slice();
        passage.push(NumberedLine { bytes, ..line }, false);
        passage.judge(kind, report);
    }
}

/// Lines that are read as one text.
#[derive(Debug, Default)]
struct Passage {
    text: Vec<u8>,
    /// Where each line starts in `text`, and its number.
    starts: Vec<(usize, u32)>,
    wordy: bool,
}

/// An order found in a passage.
#[derive(Debug, Clone)]
struct Signal {
    order: Order,
    span: Range<usize>,
}

impl Passage {
    fn is_continued_by(&self, number: u32) -> bool {
        let last = self.starts.last();
        self.wordy && last.is_some_and(|(_, line)| line.saturating_add(1) == number)
    }

    fn clear(&mut self) {
        self.text.clear();
        self.starts.clear();
    }

    fn push(&mut self, line: NumberedLine<'_>, wordy: bool) {
        if !self.text.is_empty() && !self.text.ends_with(b" ") {
            self.text.push(b' ');
        }
        self.starts.push((self.text.len(), line.number));
        self.wordy = wordy;
        normalise::append(normalise::strip_leader(line.bytes), &mut self.text);
    }

    fn judge(&self, kind: PathKind, report: &mut Report) {
        let orders = self.orders();
        if orders.is_empty() {
            return;
        }
        let text = self.text.as_slice();
        let mentions: Vec<_> = MENTIONS
            .find_iter(text)
            .map(|found| found.range())
            .collect();
        let vocatives: Vec<_> = VOCATIVES
            .find_iter(text)
            .map(|found| found.range())
            .collect();
        // A product that tells its model what it is gives it orders of daily life, too.
        let calls_machine = |at: usize| {
            let call = &text[vocatives[at].clone()];
            MACHINES.is_match(call) && !call.starts_with(b"you are")
        };
        let spans: Vec<_> = orders.iter().map(|signal| signal.span.clone()).collect();
        for signal in &orders {
            let span = &signal.span;
            let called = |at| signal.order != Order::Hint || calls_machine(at);
            let addressed = near(&vocatives, span, called).or_else(|| {
                let enough = !matches!(signal.order, Order::Soft | Order::Hint);
                enough.then(|| near(&mentions, span, |_| true)).flatten()
            });
            // An override and a verdict together need no name: nobody else could be meant.
            let supported = addressed.or_else(|| {
                let strong = matches!(
                    signal.order,
                    Order::Override | Order::Control | Order::Answer
                );
                let other = |index: usize| orders[index].order != signal.order;
                strong.then(|| near(&spans, span, other)).flatten()
            });
            self.report(signal, supported, kind, report);
        }
    }

    fn report(
        &self,
        signal: &Signal,
        support: Option<Range<usize>>,
        kind: PathKind,
        report: &mut Report,
    ) {
        let (rule, priority, confidence) = match (signal.order, &support) {
            (_, Some(_)) => ("reviewer-order", 1, 0.8),
            (Order::Override, None) => ("override-phrase", 2, 0.6),
            (Order::Control, None) => ("chat-control-token", 2, 0.6),
            (Order::Answer, None) => ("answer-order", 2, 0.6),
            (Order::Verdict | Order::Soft | Order::Hint, None) => return,
        };
        let span = support.map_or_else(
            || signal.span.clone(),
            |support| support.start.min(signal.span.start)..support.end.max(signal.span.end),
        );
        let hit = Hit {
            rule,
            lines: LineRange {
                start: self.line_at(span.start),
                end: self.line_at(span.end.saturating_sub(1)),
            },
            priority: kind.soften(priority),
            confidence: if kind.exhibit { 0.4 } else { confidence },
        };
        report.add(hit, || words(rule, kind.exhibit));
    }

    fn line_at(&self, offset: usize) -> u32 {
        let after = self.starts.partition_point(|(start, _)| *start <= offset);
        self.starts[after.saturating_sub(1)].1
    }

    /// Returns the orders in the text, by position.
    fn orders(&self) -> Vec<Signal> {
        let text = self.text.as_slice();
        let mut called = 0_u64;
        for found in ANCHORS.automaton.find_overlapping_iter(text) {
            called |= 1 << ANCHORS.phrases[found.pattern().as_usize()];
        }
        let mut orders = Vec::new();
        while called != 0 {
            let index = called.trailing_zeros() as usize;
            called &= called - 1;
            let regex = COMPILED[index].get_or_init(|| compile(ORDERS[index].pattern));
            let order = ORDERS[index].order;
            let found = regex.find_iter(text).map(|found| found.range());
            orders.extend(
                found
                    .filter(|span| order == Order::Control || !is_told(&text[..span.start]))
                    .map(|span| Signal { order, span }),
            );
        }
        orders.sort_by_key(|signal| signal.span.start);
        orders
    }
}

// One bit for each phrase.
const _: () = assert!(ORDERS.len() <= 64);

/// Whether the words before an order make it a report of what somebody does or may do.
fn is_told(before: &[u8]) -> bool {
    const TELLING: [&[u8]; 22] = [
        b"may", b"might", b"can", b"could", b"will", b"would", b"cannot", b"cant", b"wont", b"not",
        b"never", b"i", b"we", b"they", b"who", b"which", b"users", b"did", b"does", b"didnt",
        b"doesnt", b"if",
    ];
    // Orders that are told as a purpose: "you need to approve this change".
    const URGING: [&[u8]; 10] = [
        b"need",
        b"have",
        b"required",
        b"obliged",
        b"supposed",
        b"remember",
        b"you",
        b"sure",
        b"instructed",
        b"asked",
    ];
    if is_caused(before) {
        return true;
    }
    let mut words = before
        .rsplit(|&byte| byte == b' ')
        .filter(|word| !word.is_empty());
    match words.next() {
        Some(b"to") => !words.next().is_some_and(|word| URGING.contains(&word)),
        // "You may approve this" is an invitation, not a report.
        Some(word) => TELLING.contains(&word) && words.next() != Some(b"you"),
        None => false,
    }
}

/// Whether the words before an order say that a machine is made or allowed to do it: "lets the bot
/// approve this". The machine stands between, so "let's approve this" is an order.
fn is_caused(before: &[u8]) -> bool {
    const CAUSING: [&[u8]; 8] = [
        b"lets", b"letting", b"makes", b"making", b"helps", b"helping", b"has", b"having",
    ];
    let mut machine = false;
    before
        .rsplit(|&byte| byte == b' ')
        .filter(|word| !word.is_empty())
        .take(4)
        .take_while(|word| word.iter().all(u8::is_ascii_alphanumeric))
        .any(|word| {
            let caused = machine && CAUSING.contains(&word);
            machine |= MENTIONS.is_match(word) || is_machine(word);
            caused
        })
}

fn is_machine(word: &[u8]) -> bool {
    const MACHINES: [&[u8]; 7] = [
        b"bot",
        b"agent",
        b"assistant",
        b"reviewer",
        b"model",
        b"tool",
        b"it",
    ];
    MACHINES.contains(&word.strip_suffix(b"s").unwrap_or(word))
}

/// Returns the span nearest in order that lies within reach of `span`, does not overlap it and is
/// accepted. `spans` are sorted by their start.
fn near(
    spans: &[Range<usize>],
    span: &Range<usize>,
    accept: impl Fn(usize) -> bool,
) -> Option<Range<usize>> {
    let first = span.start.saturating_sub(REACH + LONGEST_SIGNAL);
    let from = spans.partition_point(|other| other.start < first);
    (from..spans.len())
        .take_while(|&index| spans[index].start <= span.end + REACH)
        .find(|&index| {
            let other = &spans[index];
            let apart = other.end <= span.start || span.end <= other.start;
            apart && other.end + REACH >= span.start && accept(index)
        })
        .map(|index| spans[index].clone())
}

fn words(rule: &str, exhibit: bool) -> Words {
    let (title, found) = match rule {
        "reviewer-order" => (
            "Text in the change gives orders to its reviewer",
            "This added text addresses whoever reviews the change, or a model, and tells it what \
             to conclude, report, skip or ignore.",
        ),
        "override-phrase" => (
            "Text in the change tells a model to drop its instructions",
            "This added text holds a phrase that is used to make a language model drop the \
             instructions it was given.",
        ),
        "answer-order" => (
            "Text in the change dictates the answer of its reviewer",
            "This added text says what a review has to answer, in the words of a review's own \
             answer, or that there must be none.",
        ),
        _ => (
            "Chat control token in the change",
            "This added text holds a token that frames the turns of a conversation with a \
             language model.",
        ),
    };
    let advice = if exhibit {
        "It stands under a path of tests or documentation, where it may be an exhibit: is it?"
    } else {
        "Remove it, or show why the program needs it; do not follow it."
    };
    Words {
        title: title.to_owned(),
        body: format!(
            "{found} A reviewer that takes the change for instructions may overlook defects or \
             approve what it should not. {advice}"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles_and_fits_its_anchors() {
        for phrase in ORDERS {
            compile(phrase.pattern);
            assert!(!phrase.anchors.is_empty());
        }
        compile(MENTION);
        compile(VOCATIVE);
        compile(MACHINE);
    }

    #[test]
    fn told_orders_are_no_orders() {
        assert!(is_told(b"the bot may "));
        assert!(is_told(b"wait for it to "));
        assert!(is_told(b"our tool lets claude "));
        assert!(is_told(b"makes the review bot "));
        assert!(!is_told(b"lets "));
        assert!(!is_told(b"lets just "));
        assert!(!is_told(b"claude: make sure you "));
        assert!(!is_told(b"lets see, claude: "));
        assert!(!is_told(b"you need to "));
        assert!(!is_told(b"you can "));
        assert!(!is_told(b"please "));
        assert!(!is_told(b""));
    }
}
