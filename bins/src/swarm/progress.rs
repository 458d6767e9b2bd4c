use std::io::{self, IsTerminal, Write};

/// One line on a terminal that is written over again and again; nothing where there is no terminal.
#[derive(Debug)]
pub(crate) struct Progress {
    shown: bool,
}

impl Progress {
    pub(crate) fn new(wanted: bool) -> Self {
        Self { shown: wanted && io::stderr().is_terminal() }
    }

    pub(crate) fn show(&mut self, line: &str) {
        if self.shown {
            // Progress that cannot be written is not worth failing for.
            let _ = write!(io::stderr(), "\r\x1b[2K{line}").and_then(|()| io::stderr().flush());
        }
    }

    /// Clears the line for what is printed next.
    pub(crate) fn end(&mut self) {
        self.show("");
    }
}
