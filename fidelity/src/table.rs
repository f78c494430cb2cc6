//! Prints tables, for a terminal or as Markdown.

/// How tables are printed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Text,
    Markdown,
}

/// A table. Columns with names come first; they are left-aligned, the others right-aligned.
pub(crate) struct Table {
    pub(crate) title: String,
    pub(crate) names: usize,
    pub(crate) header: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn print(&self, format: Format) {
        match format {
            Format::Text => print!("{}", self.text()),
            Format::Markdown => print!("{}", self.markdown()),
        }
    }

    fn markdown(&self) -> String {
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let rule = "---|".repeat(self.header.len());
        let title = if self.title.is_empty() { String::new() } else { format!("{}\n\n", self.title) };
        let rows: String = self.rows.iter().map(|row| line(row)).collect();
        format!("{title}{}|{rule}\n{rows}\n", line(&self.header))
    }

    fn text(&self) -> String {
        let lines = || std::iter::once(&self.header).chain(&self.rows);
        let width = |column: usize| {
            lines().filter_map(|line| line.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.header.len()).map(width).collect();
        let mut text = if self.title.is_empty() { String::new() } else { format!("{}\n", self.title) };
        for line in lines() {
            let cells = line.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| {
                if column < self.names { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
            });
            text += cells.collect::<Vec<_>>().join("  ").trim_end();
            text += "\n";
        }
        text + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_aligned_text_and_markdown() {
        let cells = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
        let header = cells(&["set", "n", "auto"]);
        let rows = vec![cells(&["one", "12", "5/6/7"]), cells(&["  whole 95%", "", "1-2"])];
        let table = Table { title: "4k".to_owned(), names: 1, header, rows };
        assert_eq!(
            table.text(),
            "4k\nset           n   auto\none          12  5/6/7\n  whole 95%        1-2\n\n"
        );
        assert_eq!(
            table.markdown(),
            "4k\n\n| set | n | auto |\n|---|---|---|\n| one | 12 | 5/6/7 |\n|   whole 95% |  | 1-2 |\n\n"
        );
    }
}
