use glam::{Quat, Vec3};
use serde_json::Value;

/// A place in a vector file, and how it was reached, so that what is misshapen can be named.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node<'a> {
    name: &'a str,
    value: &'a Value,
}

impl<'a> Node<'a> {
    pub(super) fn new(value: &'a Value) -> Self {
        Self { name: "the file", value }
    }

    /// A field that must be there.
    pub(super) fn get(self, key: &'a str) -> Result<Self, String> {
        self.value
            .get(key)
            .map(|value| Self { name: key, value })
            .ok_or_else(|| format!("{} has no `{key}`", self.name))
    }

    /// A field that may be absent or null.
    pub(super) fn find(self, key: &'a str) -> Option<Self> {
        self.value.get(key).filter(|value| !value.is_null()).map(|value| Self { name: key, value })
    }

    pub(super) fn value(self) -> &'a Value {
        self.value
    }

    /// A number, "nan", "inf" or "-inf".
    pub(super) fn number(self) -> Result<f64, String> {
        match self.value {
            Value::Number(number) => number.as_f64().ok_or_else(|| self.wrong("a number")),
            Value::String(word) if matches!(word.as_str(), "nan" | "inf" | "-inf") => {
                word.parse().map_err(|_| self.wrong("a number"))
            }
            _ => Err(self.wrong("a number")),
        }
    }

    /// The field's number, or `default` where the field is absent.
    pub(super) fn number_or(self, key: &'a str, default: f64) -> Result<f64, String> {
        self.find(key).map_or(Ok(default), Self::number)
    }

    pub(super) fn integer(self) -> Result<u64, String> {
        self.value.as_u64().ok_or_else(|| self.wrong("an integer"))
    }

    pub(super) fn boolean(self) -> Result<bool, String> {
        self.value.as_bool().ok_or_else(|| self.wrong("true or false"))
    }

    pub(super) fn text(self) -> Result<&'a str, String> {
        self.value.as_str().ok_or_else(|| self.wrong("text"))
    }

    pub(super) fn items(self) -> Result<Vec<Self>, String> {
        let items = self.value.as_array().ok_or_else(|| self.wrong("a list"))?;
        Ok(items.iter().map(|value| Self { name: self.name, value }).collect())
    }

    pub(super) fn is_null(self) -> bool {
        self.value.is_null()
    }

    /// Exactly `N` numbers.
    pub(super) fn numbers<const N: usize>(self) -> Result<[f64; N], String> {
        let items = self.items()?;
        let numbers: Vec<f64> = items.into_iter().map(Self::number).collect::<Result<_, _>>()?;
        numbers.try_into().map_err(|_| self.wrong(&format!("a list of {N}")))
    }

    pub(super) fn vector(self) -> Result<Vec3, String> {
        let [x, y, z] = self.numbers::<3>()?;
        Ok(Vec3::new(x as f32, y as f32, z as f32))
    }

    pub(super) fn rotation(self) -> Result<Quat, String> {
        let [x, y, z, w] = self.numbers::<4>()?;
        Ok(Quat::from_xyzw(x as f32, y as f32, z as f32, w as f32))
    }

    fn wrong(self, wanted: &str) -> String {
        let shown: String = self.value.to_string().chars().take(60).collect();
        format!("{} is `{shown}`, not {wanted}", self.name)
    }
}
