use std::fmt;

use glam::{Quat, Vec3};

use super::node::Node;

/// Nothing, or what is wrong; the place is the [`Check`]'s to add.
pub(super) type Outcome = Result<(), String>;

/// A difference, or a file that cannot be replayed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// The file.
    pub file: String,
    /// The case's name, or its index from 0; empty outside of cases.
    pub case: String,
    /// The step inside the case; empty where there are none.
    pub step: String,
    /// Field, wanted and got; or what the file lacks.
    pub what: String,
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.file)?;
        for (label, part) in [("case", &self.case), ("step", &self.step)] {
            if !part.is_empty() {
                write!(f, "{label} {part}: ")?;
            }
        }
        f.write_str(&self.what)
    }
}

impl std::error::Error for Trouble {}

/// Compares values within a file's tolerance and remembers where it is.
pub(super) struct Check {
    file: String,
    case: String,
    step: String,
    absolute: f64,
    relative: f64,
    values: u64,
}

impl Check {
    pub(super) fn new(file: &str) -> Self {
        let (case, step) = (String::new(), String::new());
        Self { file: file.to_owned(), case, step, absolute: 0.0, relative: 0.0, values: 0 }
    }

    pub(super) fn set_tolerance(&mut self, absolute: f64, relative: f64) {
        (self.absolute, self.relative) = (absolute, relative);
    }

    pub(super) fn enter_case(&mut self, index: usize, name: Option<&str>) {
        self.case = name.map_or_else(|| index.to_string(), str::to_owned);
        self.step.clear();
    }

    pub(super) fn enter_step(&mut self, step: impl fmt::Display) {
        self.step = step.to_string();
    }

    /// Values compared so far.
    pub(super) fn values(&self) -> u64 {
        self.values
    }

    pub(super) fn trouble(self, what: String) -> Trouble {
        Trouble { file: self.file, case: self.case, step: self.step, what }
    }

    /// Integers, words and booleans agree exactly.
    pub(super) fn same<T: PartialEq + fmt::Display>(&mut self, field: &str, got: T, want: T) -> Outcome {
        self.values += 1;
        if got == want { Ok(()) } else { Err(format!("{field}: wanted {want}, got {got}")) }
    }

    /// Numbers agree when |got - want| ≤ abs + rel*|want|; nonfinite ones when they are the same.
    pub(super) fn number(&mut self, field: &str, got: f64, want: f64) -> Outcome {
        self.values += 1;
        let allowed = self.absolute + self.relative * want.abs();
        let agrees =
            (got - want).abs() <= allowed || got.to_bits() == want.to_bits() || (got.is_nan() && want.is_nan());
        let equal = got.partial_cmp(&want) == Some(std::cmp::Ordering::Equal);
        if agrees || equal { Ok(()) } else { Err(format!("{field}: wanted {want}, got {got}, {:e} apart", got - want)) }
    }

    pub(super) fn vector(&mut self, field: &str, got: Vec3, want: Node<'_>) -> Outcome {
        for ((axis, got), want) in ["x", "y", "z"].into_iter().zip(got.to_array()).zip(want.numbers::<3>()?) {
            self.number(&format!("{field}.{axis}"), f64::from(got), want)?;
        }
        Ok(())
    }

    /// A quaternion equals its negation.
    pub(super) fn rotation(&mut self, field: &str, got: Quat, want: Node<'_>) -> Outcome {
        let want = want.numbers::<4>()?;
        let got = got.to_array().map(f64::from);
        let dot: f64 = got.iter().zip(want).map(|(a, b)| a * b).sum();
        let sign = if dot < 0.0 { -1.0 } else { 1.0 };
        for ((axis, got), want) in ["x", "y", "z", "w"].into_iter().zip(got).zip(want) {
            self.number(&format!("{field}.{axis}"), got * sign, want)?;
        }
        Ok(())
    }
}
