use serde_json::Value;

/// What a file says, held against what a model says.
pub(crate) struct Expectation {
    file: String,
    case: usize,
    step: usize,
    absolute: f64,
    relative: f64,
    compared: u64,
}

impl Expectation {
    pub(crate) fn new(file: &str, tolerance: &Value) -> Self {
        let (absolute, relative) = (number(&tolerance["abs"]), number(&tolerance["rel"]));
        Self { file: file.to_owned(), case: 0, step: 0, absolute, relative, compared: 0 }
    }

    pub(crate) fn enter(&mut self, case: usize) {
        (self.case, self.step) = (case, 0);
    }

    pub(crate) fn enter_step(&mut self, step: usize) {
        self.step = step;
    }

    pub(crate) fn compared(&self) -> u64 {
        self.compared
    }

    pub(crate) fn number(&mut self, what: &str, model: f64, stated: &Value) {
        let stated = number(stated);
        let apart = (model - stated).abs();
        let near = apart <= self.absolute + self.relative * stated.abs() || model.to_bits() == stated.to_bits();
        self.that(near || apart == 0.0, || format!("{what}: {model} by the rule, {stated} stated"));
    }

    pub(crate) fn vector<const N: usize>(&mut self, what: &str, model: [f64; N], stated: &Value) {
        for (axis, model) in model.into_iter().enumerate() {
            self.number(what, model, &stated[axis]);
        }
    }

    /// A rotation equals its negation.
    pub(crate) fn rotation(&mut self, what: &str, model: [f64; 4], stated: &Value) {
        let dot: f64 = model.iter().zip(numbers::<4>(stated)).map(|(a, b)| a * b).sum();
        self.vector(what, model.map(|part| if dot < 0.0 { -part } else { part }), stated);
    }

    pub(crate) fn same(&mut self, what: &str, model: impl Into<Value>, stated: &Value) {
        let model = model.into();
        self.that(model == *stated, || format!("{what}: {model} by the rule, {stated} stated"));
    }

    pub(crate) fn that(&mut self, holds: bool, what: impl FnOnce() -> String) {
        self.compared += 1;
        assert!(holds, "{}: case {} step {}: {}", self.file, self.case, self.step, what());
    }
}

pub(crate) fn number(value: &Value) -> f64 {
    match value {
        Value::String(word) => word.parse().expect("a number in words"),
        _ => value.as_f64().unwrap_or_else(|| panic!("{value} is a number")),
    }
}

pub(crate) fn number_or(value: &Value, default: f64) -> f64 {
    if value.is_null() { default } else { number(value) }
}

pub(crate) fn numbers<const N: usize>(value: &Value) -> [f64; N] {
    std::array::from_fn(|at| number(&value[at]))
}

pub(crate) fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

pub(crate) fn length<const N: usize>(vector: [f64; N]) -> f64 {
    vector.iter().map(|part| part * part).sum::<f64>().sqrt()
}

pub(crate) fn minus<const N: usize>(a: [f64; N], b: [f64; N]) -> [f64; N] {
    std::array::from_fn(|at| a[at] - b[at])
}

/// `a + b * share`.
pub(crate) fn plus<const N: usize>(a: [f64; N], b: [f64; N], share: f64) -> [f64; N] {
    std::array::from_fn(|at| a[at] + b[at] * share)
}
