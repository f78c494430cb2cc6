//! Recognises definitions: functions, types, targets of makefiles, keys and sections of configuration.

use crate::strategy::content;
use crate::strategy::words::ByteSet;

/// What a definition at the left margin is worth more than other lines, and how much less one that is indented is worth
/// more for each column.
const DEFINITION: i32 = 60;
const PER_COLUMN: i32 = 3;

/// What a word before the name of something says about the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keyword {
    /// It comes before the keyword of a definition.
    Modifier,
    /// The line is a definition, unless it ends with a semicolon.
    Definition,
    /// The line is a definition, which may end with a semicolon.
    Declaration,
    /// The line is a statement.
    Statement,
    Other,
}

impl Keyword {
    fn of(word: &[u8]) -> Keyword {
        match word {
            b"pub" | b"export" | b"default" | b"async" | b"static" | b"public" | b"private"
            | b"protected" | b"internal" | b"abstract" | b"final" | b"override" | b"unsafe" | b"extern"
            | b"inline" | b"sealed" | b"virtual" | b"declare" => Keyword::Modifier,
            b"fn" | b"def" | b"class" | b"func" | b"fun" | b"function" | b"Function" | b"interface"
            | b"struct" | b"enum" | b"impl" | b"trait" | b"module" | b"namespace" | b"mod" | b"object"
            | b"record" | b"protocol" | b"extension" | b"macro_rules!" | b"union" | b"package" | b"sub"
            | b"#define" => Keyword::Definition,
            b"typedef" | b"type" | b"CREATE" | b"create" => Keyword::Declaration,
            b"if" | b"for" | b"while" | b"switch" | b"match" | b"catch" | b"else" | b"return" | b"do"
            | b"try" | b"}" | b"let" | b"elif" | b"with" | b"await" | b"case" | b"throw" | b"new"
            | b"raise" | b"assert" | b"print" | b"yield" | b"defer" | b"go" | b"echo" | b"SELECT"
            | b"INSERT" | b"UPDATE" | b"DELETE" | b"select" | b"insert" | b"update" | b"delete" => {
                Keyword::Statement
            }
            _ => Keyword::Other,
        }
    }
}

/// What a definition is worth more, by its indentation; `None` for any other line.
pub(super) fn definition(line: &[u8]) -> Option<i32> {
    static BETWEEN_WORDS: ByteSet = ByteSet::of(b" (<{:*");
    let text = content::trim_start(line);
    let indent = content::indent(line) as i32;
    if indent > 12 {
        return None;
    }
    let mut words = text
        .split(|&byte| BETWEEN_WORDS.contains(byte))
        .filter(|word| !word.is_empty())
        .skip_while(|word| Keyword::of(word) == Keyword::Modifier);
    let keyword = Keyword::of(words.next()?);
    let is_definition = match keyword {
        Keyword::Declaration => words.next().is_some(),
        Keyword::Definition => words.next().is_some() && !text.ends_with(b";"),
        _ => false,
    } || is_method(text, keyword, indent)
        || is_member(text)
        || is_shell_function(line)
        || assigned_function(line).is_some()
        || is_arrow_function(line)
        || is_target(line)
        || is_section(line);
    is_definition.then(|| worth_of_definition(line))
}

/// What a definition with this indentation is worth more.
pub(super) fn worth_of_definition(line: &[u8]) -> i32 {
    (DEFINITION - PER_COLUMN * content::indent(line) as i32).max(0)
}

/// Words between `CREATE` and the name of what is created, in lower case.
const AFTER_CREATE: [&[u8]; 20] = [
    b"or",
    b"replace",
    b"if",
    b"not",
    b"exists",
    b"unique",
    b"temp",
    b"temporary",
    b"materialized",
    b"recursive",
    b"table",
    b"view",
    b"index",
    b"trigger",
    b"aggregate",
    b"operator",
    b"procedure",
    b"schema",
    b"function",
    b"type",
];

/// The name of the definition in this line.
pub(super) fn name_of_definition(line: &[u8]) -> Option<&[u8]> {
    let text = line.trim_ascii();
    if let Some(name) = assigned_function(text) {
        return Some(name);
    }
    let word = |text: &[u8]| -> usize {
        text.iter().position(|byte| b" \t(<{:*".contains(byte)).unwrap_or(text.len())
    };
    let mut rest = text;
    while Keyword::of(&rest[..word(rest)]) == Keyword::Modifier {
        rest = rest[word(rest)..].trim_ascii_start();
        // `pub(crate)`
        rest = rest.strip_prefix(b"(").map_or(rest, |inner| after(inner, b')'));
    }
    let keyword = &rest[..word(rest)];
    let name = match Keyword::of(keyword) {
        Keyword::Definition | Keyword::Declaration => {
            name_after(keyword, rest[keyword.len()..].trim_ascii_start())
        }
        _ => match (memchr::memmem::find(rest, b" = "), memchr::memchr(b'(', rest)) {
            (Some(equals), parenthesis) if parenthesis.is_none_or(|at| at > equals) => {
                last_word(&rest[..equals])
            }
            (_, Some(parenthesis)) => last_word(&rest[..parenthesis]),
            (_, None) => {
                rest[..rest.iter().position(|byte| b":{".contains(byte)).unwrap_or(rest.len())].trim_ascii()
            }
        },
    };
    let is_plain =
        |byte: &u8| *byte >= 0x80 || byte.is_ascii_alphanumeric() || b" _$.:-#~!?/<>&'".contains(byte);
    (!name.is_empty() && name.iter().all(is_plain)).then_some(name)
}

/// The name after this keyword.
fn name_after<'t>(keyword: &[u8], mut rest: &'t [u8]) -> &'t [u8] {
    if keyword == b"impl" {
        // Of `impl<T> A<T> for B<T> {`, all but the first parameters.
        let rest = if rest.first() == Some(&b'<') { after(rest, b' ') } else { rest };
        return rest[..memchr::memchr(b'{', rest).unwrap_or(rest.len())].trim_ascii();
    }
    // `struct node *next_node(struct node *node) {`
    if let Some(parenthesis) = memchr::memchr(b'(', rest)
        && matches!(keyword, b"struct" | b"union" | b"enum")
        && rest[..parenthesis].contains(&b' ')
        && !rest[..parenthesis].contains(&b'<')
    {
        return last_word(&rest[..parenthesis]);
    }
    // The receiver of a method in Go.
    rest = rest.strip_prefix(b"(").map_or(rest, |inner| after(inner, b')'));
    // `function Get-Item {`, in PowerShell and shells.
    let may_have_dash = keyword.eq_ignore_ascii_case(b"function");
    let is_name = |byte: &u8| {
        byte.is_ascii_alphanumeric()
            || *byte >= 0x80
            || b"_$.:!?~".contains(byte)
            || may_have_dash && *byte == b'-'
    };
    loop {
        let end = rest.iter().position(|byte| !is_name(byte)).unwrap_or(rest.len());
        let (name, more) = rest.split_at(end);
        let comes_before_name = match keyword {
            b"CREATE" | b"create" => AFTER_CREATE.iter().any(|word| name.eq_ignore_ascii_case(word)),
            _ => matches!(Keyword::of(name), Keyword::Definition | Keyword::Modifier),
        };
        // A name may look like a keyword: `fn default() {`.
        let follows_word =
            more.first() == Some(&b' ') && more.trim_ascii_start().first().is_some_and(is_name);
        if !comes_before_name || !follows_word {
            return name.strip_suffix(b":").unwrap_or(name);
        }
        rest = more.trim_ascii_start();
    }
}

/// What follows the first `byte`, without white space at its beginning.
fn after(text: &[u8], byte: u8) -> &[u8] {
    memchr::memchr(byte, text).map_or(&b""[..], |at| text[at + 1..].trim_ascii_start())
}

/// The last word of a text that has an identifier at its end.
fn last_word(text: &[u8]) -> &[u8] {
    let text = text.trim_ascii_end();
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte >= 0x80 || b"_$.:-~".contains(byte);
    let start = text.iter().rposition(|byte| !is_name(byte)).map_or(0, |at| at + 1);
    &text[start..]
}

/// Whether a line begins a function that is the value of a name: `export const parse = (text) => {`.
fn is_arrow_function(line: &[u8]) -> bool {
    line.first().is_some_and(u8::is_ascii_alphabetic)
        && line.ends_with(b"=> {")
        && memchr::memmem::find(line, b" = ").is_some()
}

/// The name to which this line assigns a function: `read.all <- function(path) {`, `exports.run = async function (text) {`.
fn assigned_function(line: &[u8]) -> Option<&[u8]> {
    let function = memchr::memmem::find(line, b"function")?;
    let follows = line[function + b"function".len()..].trim_ascii_start();
    let before = line[..function].trim_ascii_end();
    let before = before.strip_suffix(b" async").unwrap_or(before);
    let name = before.strip_suffix(b" <-").or_else(|| before.strip_suffix(b" ="))?;
    let is_quiet = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.$ \t".contains(byte);
    (follows.starts_with(b"(") && name.iter().all(is_quiet))
        .then(|| last_word(name))
        .filter(|name| !name.is_empty())
}

/// Whether a line begins a method after words that say who may call it, with its body in the next line or in this one, as in C#
/// and Java: `public List<int> Read(string path)`.
fn is_member(text: &[u8]) -> bool {
    let access: [&[u8]; 4] = [b"public ", b"private ", b"protected ", b"internal "];
    let Some(parenthesis) = memchr::memchr(b'(', text) else { return false };
    let name = &text[..parenthesis];
    let ends_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'>');
    access.iter().any(|word| text.starts_with(word))
        && name.last().is_some_and(ends_name)
        && !name.iter().any(|byte| b"=;{\"'".contains(byte))
}

/// Whether a line begins a function of a shell whose body is in the next line: `clean_up ()`.
fn is_shell_function(line: &[u8]) -> bool {
    let name = line.trim_ascii_end().strip_suffix(b" ()").unwrap_or_default();
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-".contains(byte);
    !name.is_empty() && name.iter().all(is_name)
}

/// Whether a line begins a function without a keyword, as in C, Java, shell and others; or declares one, in a header.
fn is_method(text: &[u8], keyword: Keyword, indent: i32) -> bool {
    let has_body = text.ends_with(b"{");
    if keyword == Keyword::Statement || indent > if has_body { 4 } else { 0 } {
        return false;
    }
    let Some(parenthesis) = memchr::memchr(b'(', text) else { return false };
    let name = &text[..parenthesis];
    static OTHERS: ByteSet = ByteSet::of(b".!|\"';=[]{}#/");
    let is_name = || !name.is_empty() && !name.iter().any(|&byte| OTHERS.contains(byte));
    let is_declaration = || {
        name.contains(&b' ')
            && (text.ends_with(b");") || text.starts_with(b"extern ") || begins_parameters(text, parenthesis))
    };
    (has_body || is_declaration()) && is_name()
}

/// Whether the parameters of a function begin at this parenthesis, and its body in another line: `static int open(int file,`.
fn begins_parameters(text: &[u8], parenthesis: usize) -> bool {
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let is_first = |byte: &u8| !byte.is_ascii_digit();
    text[..parenthesis].last().is_some_and(is_name)
        && text.get(parenthesis + 1).is_some_and(is_first)
        && matches!(text.last(), Some(b')' | b','))
}

/// Whether a line is the target of a makefile, the selector of a style, or a key at the left margin: `build: src`, `.a {`.
fn is_target(line: &[u8]) -> bool {
    static NAME: ByteSet = ByteSet::alphanumeric_and(b"_-./%$()");
    match line.first() {
        Some(b'a'..=b'z' | b'A'..=b'Z') => {
            let (name, rest) = NAME.split(line);
            matches!(rest, [b':'] | [b':', b' ', ..]) && !is_block_word(name)
        }
        Some(b'.' | b'#' | b'@') => line.ends_with(b"{"),
        _ => false,
    }
}

/// Whether a word and a colon begin a block of statements or of members.
fn is_block_word(word: &[u8]) -> bool {
    matches!(
        word,
        b"try" | b"else" | b"finally" | b"except" | b"default" | b"public" | b"private" | b"protected"
    )
}

/// Whether a line begins a section of a configuration file: `[dependencies]`, `[[package]]`, `[branch "main"] # note`.
pub(super) fn is_section(line: &[u8]) -> bool {
    if line.first() != Some(&b'[') {
        return false;
    }
    let end = memchr::memmem::find(line, b" #").unwrap_or(line.len());
    let name = match line[..end].trim_ascii_end() {
        [b'[', b'[', name @ .., b']', b']'] | [b'[', name @ .., b']'] => name,
        _ => return false,
    };
    let begins = name.first().is_some_and(|byte| byte.is_ascii_alphanumeric() || b"\"'_".contains(byte));
    begins && !name.iter().any(|byte| b"[],".contains(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_have_names() {
        for (line, name) in [
            ("static int open_file(const char *path,", "open_file"),
            ("const char *name_of(int it)", "name_of"),
            ("export const parse = (text: string) => {", "parse"),
            ("func (s *Server) Close() error {", "Close"),
            ("type Handler interface {", "Handler"),
            ("    async def get(self,", "get"),
            ("class Base:", "Base"),
            ("class Parser(Base):", "Parser"),
            ("    public List<String> names(int first) {", "names"),
            ("pub(crate) fn read<'a>(text: &'a str) -> Row {", "read"),
            ("impl<T> Format for Parts<T> {", "Format for Parts<T>"),
            ("macro_rules! check {", "check"),
            ("#define MAX_LINES 12", "MAX_LINES"),
            ("typedef struct node {", "node"),
            ("CREATE OR REPLACE FUNCTION shop.total(id int)", "shop.total"),
            ("CREATE UNIQUE INDEX IF NOT EXISTS by_name ON goods (name);", "by_name"),
            ("create table orders (", "orders"),
            ("fn default() -> Self {", "default"),
            ("    pub(super) fn replace(&mut self) {", "replace"),
            ("def index(self):", "index"),
            ("class View extends Component {", "View"),
            ("interface Table extends Shape {", "Table"),
            ("type Schema = string;", "Schema"),
            ("enum class Color {", "Color"),
            ("export default function render(page) {", "render"),
            ("static struct inode *alloc_inode(struct super_block *sb)", "alloc_inode"),
            ("pub struct Point(f32, f32);", "Point"),
            ("pub struct Row<'a, T: Ord>(T, &'a [T]);", "Row"),
            ("cleanup() {", "cleanup"),
            ("build-all: src/a.o", "build-all"),
            (".menu > .item {", ".menu > .item"),
            ("        public async Task<int> ReadAll(string path)", "ReadAll"),
            ("    public static void main(String[] args) throws IOException", "main"),
            ("clean_up ()", "clean_up"),
            ("read.all <- function(path, n = 3) {", "read.all"),
            ("plot <- function(x)", "plot"),
            ("exports.run = async function (text) {", "exports.run"),
            ("function Get-Thing {", "Get-Thing"),
        ] {
            let found = name_of_definition(line.as_bytes()).map(String::from_utf8_lossy);
            assert_eq!(found.as_deref(), Some(name), "{line}");
        }
    }

    #[test]
    fn functions_of_many_languages_are_definitions() {
        for (line, expected) in [
            ("static int open_file(const char *path,", true),
            ("int main(void)", true),
            ("export const parse = (text: string) => {", true),
            ("func (s *Server) Close() error {", true),
            ("    async def get(self,", true),
            ("    public void run() {", true),
            ("cleanup() {", true),
            ("items.map((item) => {", false),
            ("    call(first, second)", false),
            ("return compute(first,", false),
            ("raise ValueError(first,", false),
            ("assert is_valid(first)", false),
            ("See also printf(3)", false),
            ("[branch \"main\"]", true),
            ("[target.'cfg(unix)'.dependencies] # Unix", true),
            ("[1, 2]", false),
            ("try:", false),
            ("else:", false),
            ("finally:", false),
            ("except ValueError:", false),
            ("test: build", true),
            ("        public async Task<int> ReadAll(string path)", true),
            ("    private int count = Count(items)", false),
            ("clean_up ()", true),
            ("main()", false),
            ("read.all <- function(path) {", true),
            ("items.each(function (item) {", false),
            ("function Get-Thing {", true),
            ("It is explained below (see there)", false),
        ] {
            assert_eq!(definition(line.as_bytes()).is_some(), expected, "{line}");
        }
    }
}
