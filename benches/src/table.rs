/// The figures, printed as they come, as a table in Markdown.
pub(crate) struct Table {
    measured: usize,
    missed: usize,
}

/// A figure and what it is to be compared with.
#[derive(Clone, Copy)]
pub(crate) struct Figure {
    /// What was measured.
    pub(crate) what: &'static str,
    /// How much.
    pub(crate) value: f64,
    /// Its unit.
    pub(crate) unit: &'static str,
    /// The most it may be, in the same unit.
    pub(crate) target: Option<f64>,
    /// A floor or a peer measured in the same run: its name and figure, in the same unit.
    pub(crate) beside: Option<(&'static str, f64)>,
}

impl Figure {
    /// A figure without a target or anything beside it.
    pub(crate) fn new(what: &'static str, value: f64, unit: &'static str) -> Self {
        Self { what, value, unit, target: None, beside: None }
    }

    /// The same, to be at most `target`.
    pub(crate) fn target(self, target: f64) -> Self {
        Self { target: Some(target), ..self }
    }

    /// The same, beside another figure.
    pub(crate) fn beside(self, name: &'static str, value: f64) -> Self {
        Self { beside: Some((name, value)), ..self }
    }
}

impl Table {
    pub(crate) fn begin() -> Self {
        println!("| what | figure | target | | beside | ratio |");
        println!("|---|---:|---:|---|---|---:|");
        Self { measured: 0, missed: 0 }
    }

    pub(crate) fn group(&mut self, name: &str) {
        println!("| **{name}** | | | | | |");
    }

    pub(crate) fn row(&mut self, figure: Figure) {
        let Figure { what, value, unit, target, beside } = figure;
        let (mut wanted, mut verdict) = (String::new(), "");
        if let Some(target) = target {
            self.measured += 1;
            wanted = format!("≤ {} {unit}", short(target));
            verdict = "met";
            if value > target {
                self.missed += 1;
                verdict = "missed";
            }
        }
        let (mut against, mut ratio) = (String::new(), String::new());
        if let Some((name, other)) = beside {
            against = format!("{name} {} {unit}", short(other));
            ratio = format!("{:.2}", value / other);
        }
        println!("| {what} | {} {unit} | {wanted} | {verdict} | {against} | {ratio} |", short(value));
    }

    pub(crate) fn end(self) {
        println!("\n{} of {} targets met", self.measured - self.missed, self.measured);
    }
}

/// Three significant digits.
fn short(value: f64) -> String {
    let digits = if value >= 100.0 {
        0
    } else if value >= 10.0 {
        1
    } else if value >= 1.0 {
        2
    } else {
        3
    };
    format!("{value:.digits$}")
}
