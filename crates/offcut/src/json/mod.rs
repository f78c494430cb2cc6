//! JSON texts by position: tokens, values, and edits that leave every other byte unchanged.
//!
//! A text is never parsed into values and written again: numbers keep their digits, keys keep their order, and
//! duplicates and unknown fields stay. All of it works on the byte positions that [`Lexer`] finds.

mod edits;
mod escapes;
mod lexer;
mod node;

pub use edits::{Edits, quoted};
pub(crate) use escapes::{decoded_length, escape_ceil, escape_floor, offset_of_decoded};
pub use lexer::{Lexer, Position, Token, TokenKind};
pub use node::Node;
