//! Unusual values: cells of a table unlike the others in their column, and values of keys and attributes unlike those
//! before at the same place.

use super::cells::{CellText, Number};
use std::collections::HashMap;

/// What a unit with an unusual value is worth more.
pub(super) const UNUSUAL: i32 = 200;

/// After this many rows, a cell can be unusual.
const SETTLED_ROWS: u64 = 16;

/// A column is one of numbers, or of one value, if at most one cell in this many is something else.
const CELLS_PER_EXCEPTION: u64 = 16;

/// A number is unusual if it has this many digits more than any before it.
const UNUSUAL_DIGITS: usize = 2;

/// After this many rows, a column that has neither one value nor numbers is text, in which no cell is unusual.
const TEXT_ROWS: u64 = 4096;

/// How many columns are watched, and the values of how many other places.
const MAX_COLUMNS: usize = 64;
const MAX_PLACES: usize = 256;

/// What the cells of each column were so far.
#[derive(Debug, Default)]
pub(super) struct Columns(Vec<Column>);

/// What the cells of one column were so far.
#[derive(Clone, Debug, Default)]
struct Column {
    cells: u64,
    numbers: u64,
    negative: u64,
    /// The first cell, its first bytes as a word, and how many cells differ from it.
    first: Vec<u8>,
    first_word: u64,
    different: u64,
    /// The most digits before the decimal point.
    digits: usize,
}

impl Column {
    /// Adds a cell. Returns whether it is unusual.
    #[inline(always)]
    fn add(&mut self, cell: CellText<'_>) -> bool {
        if self.is_text() {
            return false;
        }
        match cell.short_number() {
            // The most frequent case in large tables.
            Some(digits) if digits <= self.digits => {
                let is_exception = self.add_value(cell);
                self.cells += 1;
                self.numbers += 1;
                is_exception
            }
            _ => self.add_any(CellText::of(cell.text.trim_ascii())),
        }
    }

    /// Adds a cell of any kind. Not inlined, so that the frequent case is.
    #[inline(never)]
    fn add_any(&mut self, cell: CellText<'_>) -> bool {
        if self.cells == 0 {
            (self.first, self.first_word) = (cell.text.to_vec(), cell.word);
        }
        let is_exception = self.add_value(cell);
        self.add_number(Number::of(cell.text)) || is_exception
    }

    /// Whether most cells are neither numbers nor equal to the first one. Once it is text, a column stays text.
    fn is_text(&self) -> bool {
        self.cells >= TEXT_ROWS && self.different * 2 > self.cells && self.numbers * 2 < self.cells
    }

    /// Compares a cell with the first one. Returns whether it is an exception in a column that has one value, such as the
    /// only process that is running.
    #[inline]
    fn add_value(&mut self, cell: CellText<'_>) -> bool {
        // Most cells differ in their first bytes, or have no more.
        if cell.word == self.first_word && cell.is_equal(&self.first) {
            return false;
        }
        self.different += 1;
        self.cells >= SETTLED_ROWS && self.different * CELLS_PER_EXCEPTION <= self.cells
    }

    /// Compares a number, if the cell is one, with those before it. Returns whether the cell is unusual.
    fn add_number(&mut self, number: Option<Number>) -> bool {
        let is_settled = self.cells >= SETTLED_ROWS;
        let are_numbers = (self.cells - self.numbers) * CELLS_PER_EXCEPTION <= self.cells;
        self.cells += 1;
        let Some(Number { digits, is_negative }) = number else { return is_settled && are_numbers };
        self.numbers += 1;
        self.negative += u64::from(is_negative);
        let is_first_negative = is_negative && self.negative * CELLS_PER_EXCEPTION <= self.cells;
        let is_large = digits >= self.digits + UNUSUAL_DIGITS;
        self.digits = self.digits.max(digits);
        is_settled && are_numbers && (is_large || is_first_negative)
    }
}

impl Columns {
    /// Adds a row. Returns whether one of its cells is unusual.
    pub(super) fn add<'c>(&mut self, cells: impl Iterator<Item = CellText<'c>>) -> bool {
        let mut is_unusual = false;
        for (at, cell) in cells.take(MAX_COLUMNS).enumerate() {
            if at == self.0.len() {
                self.0.push(Column::default());
            }
            is_unusual |= self.0[at].add(cell);
        }
        is_unusual
    }
}

/// What the values at each place of a text were so far. A place is the hash of a key or of an attribute.
#[derive(Default)]
pub(super) struct Values(HashMap<u64, Column>);

impl Values {
    /// Adds a value. Returns whether it is unusual: `failed` after `passed` many times.
    pub(super) fn add(&mut self, place: u64, value: &[u8]) -> bool {
        if self.0.len() == MAX_PLACES && !self.0.contains_key(&place) {
            return false;
        }
        self.0.entry(place).or_default().add(CellText::of(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks which rows are unusual, by the first cell of each.
    #[track_caller]
    fn check(rows: impl Iterator<Item = String>, expected: &[&str]) {
        let mut columns = Columns::default();
        let rows: Vec<String> = rows.collect();
        let unusual = rows
            .iter()
            .filter(|row| columns.add(row.as_bytes().split(|&byte| byte == b',').map(CellText::of)));
        let names: Vec<&str> = unusual.map(|row| row.split(',').next().unwrap_or_default()).collect();
        assert_eq!(names, expected);
    }

    fn with(row: usize, cell: &'static str) -> impl Iterator<Item = String> {
        (0..200).map(move |at| {
            format!("r{at},{},x", if at == row { cell.to_owned() } else { (at % 40).to_string() })
        })
    }

    #[test]
    fn row_with_a_cell_unlike_its_column_is_unusual() {
        check(with(100, "7"), &[]);
        check(with(100, "NULL"), &["r100"]);
        check(with(100, ""), &["r100"]);
        check(with(100, "-1"), &["r100"]);
        check(with(100, "9911.91 us"), &["r100"]);
        check(with(100, "9911.91us"), &["r100"]);
        // Too few rows came before.
        check(with(3, "NULL"), &[]);
        check((0..200).map(|at| format!("r{at},word{at}")), &[]);
        check((0..2000).map(|at| format!("r{at},{at}")), &[]);
        // After thousands of rows, only a column of numbers can have an unusual cell.
        check((0..9000).map(|at| format!("r{at},{},w{at}", if at == 8000 { -1 } else { 1 })), &["r8000"]);
    }

    #[test]
    fn exception_in_a_column_of_one_value_is_unusual() {
        let rows =
            |states: fn(usize) -> &'static str| (0..200).map(move |at| format!("r{at},{}", states(at)));
        check(rows(|at| if at == 100 { "R" } else { "S" }), &["r100"]);
        check(rows(|at| if at == 100 { "99.3" } else { "0.0" }), &["r100"]);
        // Too few rows came before.
        check(rows(|at| if at == 3 { "R" } else { "S" }), &[]);
        check(rows(|at| if at % 4 == 0 { "R" } else { "S" }), &[]);
    }
}
