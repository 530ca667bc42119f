//! Counting: what was expected and came, what did not come, and what came unexpected.

use std::fmt;
use std::ops::AddAssign;

/// What came of one case.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    /// How many expected things came.
    pub(crate) right: usize,
    /// The expected things that did not come.
    pub(crate) missed: Vec<String>,
    /// The things that came and were not expected.
    pub(crate) wrong: Vec<String>,
}

impl Verdict {
    /// Whether everything came as expected.
    pub(crate) fn is_right(&self) -> bool {
        self.missed.is_empty() && self.wrong.is_empty()
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "missed {:?}, and {:?} was not expected",
            self.missed, self.wrong
        )
    }
}

/// The sums over some cases.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Counts {
    pub(crate) cases: usize,
    right: usize,
    missed: usize,
    wrong: usize,
    silent: usize,
}

impl Counts {
    /// How much of what came was expected; 1 when nothing came.
    pub(crate) fn precision(&self) -> f64 {
        share(self.right, self.right + self.wrong)
    }

    /// How much of what was expected came; 1 when nothing was.
    pub(crate) fn recall(&self) -> f64 {
        share(self.right, self.right + self.missed)
    }
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 {
        return 1.0;
    }
    let small = |number| f64::from(u32::try_from(number).unwrap_or(u32::MAX));
    small(part) / small(whole)
}

impl<'a> FromIterator<&'a Verdict> for Counts {
    fn from_iter<T: IntoIterator<Item = &'a Verdict>>(verdicts: T) -> Self {
        let mut counts = Self::default();
        for verdict in verdicts {
            let (missed, wrong) = (verdict.missed.len(), verdict.wrong.len());
            counts += Self {
                cases: 1,
                right: verdict.right,
                missed,
                wrong,
                silent: usize::from(verdict.right + missed + wrong == 0),
            };
        }
        counts
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.cases += other.cases;
        self.right += other.right;
        self.missed += other.missed;
        self.wrong += other.wrong;
        self.silent += other.silent;
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for number in [self.cases, self.right, self.missed, self.wrong, self.silent] {
            write!(f, "{number:>10}")?;
        }
        write!(f, "{:>10.3}{:>10.3}", self.precision(), self.recall())
    }
}
