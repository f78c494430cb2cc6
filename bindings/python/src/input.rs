//! Python's strings and bytes.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyMemoryView, PyString};

/// The Python type of an output, for its preview.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextType {
    /// `bytes`.
    Bytes,
    /// `str`.
    Text,
    /// `str` with surrogates, encoded by this error handler.
    Escaped(&'static str),
}

impl TextType {
    pub(crate) fn to_python<'py>(self, py: Python<'py>, content: &[u8]) -> PyResult<Bound<'py, PyAny>> {
        match self {
            TextType::Bytes => Ok(PyBytes::new(py, content).into_any()),
            TextType::Text => Ok(PyString::new(py, &String::from_utf8_lossy(content)).into_any()),
            TextType::Escaped(handler) => {
                let content = PyBytes::new(py, content);
                // A preview may end inside a surrogate.
                let decode = |handler| content.call_method1("decode", ("utf-8", handler));
                decode(handler).or_else(|_| decode("replace"))
            }
        }
    }
}

/// Error handlers that encode a `str` with surrogates, in the order they are tried: as `os.fsencode` does, or one by one.
/// Both are reversible.
const HANDLERS: [&str; 2] = ["surrogateescape", "surrogatepass"];

/// A `str` or bytes, borrowed from Python where possible.
pub(crate) enum Input<'py> {
    Text(Bound<'py, PyString>),
    Bytes(Bound<'py, PyBytes>),
    /// A `str` with surrogates, encoded by this error handler, and its length.
    Escaped(Bound<'py, PyBytes>, &'static str, usize),
}

impl<'a, 'py> FromPyObject<'a, 'py> for Input<'py> {
    type Error = PyErr;

    fn extract(value: Borrowed<'a, 'py, PyAny>) -> PyResult<Input<'py>> {
        let value = value.to_owned();
        if let Ok(text) = value.cast::<PyString>() {
            return match text.to_str() {
                Ok(_) => Ok(Input::Text(text.clone())),
                Err(error) => {
                    let encode =
                        |handler| Some((text.call_method1("encode", ("utf-8", handler)).ok()?, handler));
                    let (bytes, handler) = HANDLERS.into_iter().find_map(encode).ok_or(error)?;
                    Ok(Input::Escaped(
                        bytes.cast_into::<PyBytes>().map_err(PyErr::from)?,
                        handler,
                        text.len()?,
                    ))
                }
            };
        }
        if let Ok(bytes) = value.cast::<PyBytes>() {
            return Ok(Input::Bytes(bytes.clone()));
        }
        // These can change while the interpreter lock is released.
        if value.is_instance_of::<PyByteArray>() || value.is_instance_of::<PyMemoryView>() {
            let bytes = value.py().get_type::<PyBytes>().call1((value,))?;
            return Ok(Input::Bytes(bytes.cast_into::<PyBytes>().map_err(PyErr::from)?));
        }
        let name = value.get_type().name()?;
        Err(PyTypeError::new_err(format!("the output must be str or bytes, not {name}")))
    }
}

impl Input<'_> {
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            // The UTF-8 form was created in `extract`.
            Input::Text(text) => text.to_str().unwrap_or_default().as_bytes(),
            Input::Bytes(bytes) | Input::Escaped(bytes, ..) => bytes.as_bytes(),
        }
    }

    pub(crate) fn text_type(&self) -> TextType {
        match self {
            Input::Text(_) => TextType::Text,
            Input::Bytes(_) => TextType::Bytes,
            Input::Escaped(_, handler, _) => TextType::Escaped(handler),
        }
    }

    /// What `write` of a Python file returns for it.
    pub(crate) fn length(&self) -> usize {
        match self {
            Input::Text(text) => text.len().unwrap_or_default(),
            Input::Bytes(bytes) => bytes.as_bytes().len(),
            Input::Escaped(_, _, length) => *length,
        }
    }
}
