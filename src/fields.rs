//! Typed access to the fields of an object on a tape, with the path of each fault. Options and plans are read through it, so that an
//! error names its place and says what was expected, without a deserialiser generated for each type.

use std::cell::Cell;

use crate::error::{Code, Error};
use crate::tape::{Kind, Node};

/// The fields of one object.
pub(crate) struct Fields<'t> {
    path: String,
    code: Code,
    advice: &'static str,
    /// Each key once, as objects have it.
    fields: Vec<Node<'t>>,
    /// Behind the field that was read last: the next one mostly follows.
    next: Cell<usize>,
}

/// A value that was refused.
pub(crate) struct Fault {
    /// From the object on, as `.name` or `[3]`; empty for the value itself.
    place: String,
    what: String,
}

impl Fault {
    #[cold]
    #[inline(never)]
    pub(crate) fn expected(what: &str, got: Node<'_>) -> Fault {
        let mut shown = match got.kind() {
            Kind::Opaque => "a value that JSON cannot hold".to_owned(),
            Kind::Number if !got.number().is_some_and(f64::is_finite) => "NaN or infinity".to_owned(),
            _ => got.to_json().to_string(),
        };
        if let Some((end, _)) = shown.char_indices().nth(60) {
            shown.truncate(end);
            shown.push('…');
        }
        Fault { place: String::new(), what: format!("expected {what}, got {shown}") }
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn within(mut self, place: std::fmt::Arguments<'_>) -> Fault {
        self.place = format!("{place}{}", self.place);
        self
    }
}

impl<'t> Fields<'t> {
    /// Fields of the object at `path`; faults get this code and advice.
    pub(crate) fn of(node: Node<'t>, path: &str, code: Code, advice: &'static str) -> crate::Result<Fields<'t>> {
        if node.kind() != Kind::Object {
            return Err(error(code, path.to_owned(), Fault::expected("an object", node), advice));
        }
        Ok(Fields { path: path.to_owned(), code, advice, fields: node.children().collect(), next: Cell::new(0) })
    }

    /// Reads a field; `None` where it is absent or null.
    pub(crate) fn read<T>(&self, name: &str, read: fn(Node<'t>) -> Result<T, Fault>) -> crate::Result<Option<T>> {
        match self.given(name).map(read) {
            None => Ok(None),
            Some(Ok(value)) => Ok(Some(value)),
            Some(Err(fault)) => Err(self.faulty(name, fault)),
        }
    }

    // Outside of what is made for each type.
    #[inline(never)]
    fn given(&self, name: &str) -> Option<Node<'t>> {
        let (before, behind) = self.fields.split_at(self.next.get().min(self.fields.len()));
        let found = behind.iter().chain(before).position(|field| field.has_key(name))?;
        let at = (before.len() + found) % self.fields.len();
        self.next.set(at + 1);
        Some(self.fields[at]).filter(|value| value.kind() != Kind::Null)
    }

    #[cold]
    #[inline(never)]
    fn faulty(&self, name: &str, fault: Fault) -> Error {
        error(self.code, format!("{}.{name}", self.path), fault, self.advice)
    }

    /// Reads a field that must be there.
    pub(crate) fn need<T>(&self, name: &str, read: fn(Node<'t>) -> Result<T, Fault>) -> crate::Result<T> {
        match self.read(name, read)? {
            Some(value) => Ok(value),
            None => Err(self.faulty(name, Fault { place: String::new(), what: "it is missing".to_owned() })),
        }
    }

    /// The first field whose name is not among these.
    pub(crate) fn other_than(&self, names: &[&str]) -> Option<&'t str> {
        self.fields.iter().copied().filter_map(Node::key).find(|name| !names.contains(name))
    }

    /// Refuses a field whose name is not among these, and says which one may be meant.
    pub(crate) fn refuse_others(&self, names: &[&str]) -> crate::Result<()> {
        let Some(other) = self.other_than(names) else { return Ok(()) };
        let hint = meant(other, names).map_or_else(|| format!("expected {}", names.join(", ")), |name| format!("did you mean {name}?"));
        Err(self.error(self.code, other, format!("there is no such field; {hint}")))
    }

    /// An error about one of the fields.
    pub(crate) fn error(&self, code: Code, name: &str, what: impl Into<String>) -> Error {
        Error::new(code, format!("{}.{name}", self.path), what)
    }
}

#[cold]
#[inline(never)]
fn error(code: Code, path: String, fault: Fault, advice: &str) -> Error {
    Error::new(code, format!("{path}{}", fault.place), format!("{}{advice}", fault.what))
}

/// The name that a misspelt or shortened one is most like; of names with dots the last part counts.
pub(crate) fn meant<'n>(name: &str, names: &[&'n str]) -> Option<&'n str> {
    /// Over it two names are alike: `budgt` and `budgetTokens` are, `contextWindow` and `contextHeadroom` are not.
    const ALIKE: f64 = 0.865;
    let plain = |name: &str| name.rsplit('.').next().unwrap_or(name).replace(['_', '-'], "").to_ascii_lowercase();
    let likeness = |known: &&str| strsim::jaro_winkler(&plain(known), &plain(name));
    let best = names.iter().map(|known| (likeness(known), *known)).max_by(|(one, _), (other, _)| one.total_cmp(other));
    best.filter(|(likeness, _)| *likeness > ALIKE).map(|(_, known)| known)
}

/// A fault inside an object becomes a fault of the field that holds it.
pub(crate) fn inner<'t, T>(node: Node<'t>, read: fn(&Fields<'t>) -> crate::Result<T>) -> Result<T, Fault> {
    let fields = Fields::of(node, "", Code::InvalidOption, "").and_then(|fields| read(&fields));
    fields.map_err(|error| Fault { place: error.path().to_owned(), what: error.message().to_owned() })
}

pub(crate) fn truth(node: Node<'_>) -> Result<bool, Fault> {
    match node.kind() {
        Kind::True => Ok(true),
        Kind::False => Ok(false),
        _ => Err(Fault::expected("true or false", node)),
    }
}

pub(crate) fn text(node: Node<'_>) -> Result<String, Fault> {
    node.text().map(str::to_owned).ok_or_else(|| Fault::expected("a text", node))
}

/// A whole number; JavaScript has them all as floats.
pub(crate) fn whole<T: TryFrom<u64>>(node: Node<'_>) -> Result<T, Fault> {
    let number = node.number().filter(|number| number.fract() == 0.0 && (0.0..=9e15).contains(number));
    let number = number.and_then(|number| T::try_from(number as u64).ok());
    number.ok_or_else(|| Fault::expected("a whole number of at least 0 (and below 2^32)", node))
}

pub(crate) fn positive(node: Node<'_>) -> Result<u32, Fault> {
    whole(node).ok().filter(|number| *number > 0).ok_or_else(|| Fault::expected("a whole number of at least 1 (and below 2^32)", node))
}

/// Over 0 and at most 1.
pub(crate) fn share(node: Node<'_>) -> Result<f64, Fault> {
    node.number().filter(|share| *share > 0.0 && *share <= 1.0).ok_or_else(|| Fault::expected("a share over 0 and at most 1", node))
}

/// Finite and at least 0.
pub(crate) fn amount(node: Node<'_>) -> Result<f64, Fault> {
    node.number().filter(|amount| amount.is_finite() && *amount >= 0.0).ok_or_else(|| Fault::expected("a number of at least 0", node))
}

pub(crate) fn list<T>(node: Node<'_>, read: fn(Node<'_>) -> Result<T, Fault>) -> Result<Vec<T>, Fault> {
    if node.kind() != Kind::Array {
        return Err(Fault::expected("an array", node));
    }
    let mut items = Vec::with_capacity(node.len());
    for (at, item) in node.children().enumerate() {
        items.push(read(item).map_err(|fault| fault.within(format_args!("[{at}]")))?);
    }
    Ok(items)
}

/// One of a table of names.
pub(crate) fn one_of<T: Copy>(node: Node<'_>, names: &[(&str, T)]) -> Result<T, Fault> {
    let found = names.iter().find(|(name, _)| node.text() == Some(name));
    found.map(|(_, value)| *value).ok_or_else(|| {
        let known: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
        Fault::expected(&known.join(", "), node)
    })
}
