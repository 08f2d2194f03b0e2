//! The common part of the printers of generated kernels: a growing text with braces and their indentation. It knows
//! none of the languages.

#[derive(Default)]
pub(super) struct Page {
    pub(super) text: String,
    indent: usize,
}

pub(super) trait Printer: Sized {
    fn page(&mut self) -> &mut Page;

    fn text(&mut self, text: &str) {
        self.page().text.push_str(text);
    }

    fn line(&mut self, text: &str) {
        self.start();
        self.text(text);
        self.text("\n");
    }

    fn start(&mut self) {
        let indent = "    ".repeat(self.page().indent);
        self.text(&indent);
    }

    /// Prints `{`, the inside and `}`, without a newline.
    fn braces(&mut self, inside: impl FnOnce(&mut Self)) {
        self.text("{\n");
        self.page().indent += 1;
        inside(self);
        self.page().indent -= 1;
        self.start();
        self.text("}");
    }

    /// Returns the number of the next line.
    fn line_number(&mut self) -> usize {
        self.page().text.matches('\n').count() + 1
    }
}
