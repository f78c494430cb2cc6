//! What every kind of set has in common: outputs, each with facts that a preview shows or misses.

/// An output and its facts. Facts are numbered from 0.
pub(crate) trait Sample {
    /// A name that is unique in its set.
    fn name(&self) -> &str;
    /// Where it comes from: a corpus, an agent.
    fn set(&self) -> &str;
    /// The names of each row of the table in which it counts.
    fn groups(&self) -> Vec<Vec<&str>>;
    /// Samples of one session are not independent of each other.
    fn session(&self) -> String;
    /// The complete output.
    fn text(&self) -> &[u8];
    /// How many facts it has.
    fn facts(&self) -> usize;
    /// The facts that a preview does not show.
    fn missed(&self, preview: &[u8]) -> Vec<usize>;
    /// The name of a fact and the lines that state it, numbered from 1.
    fn fact(&self, fact: usize) -> (String, Vec<usize>);
    /// What the agent's own host shows of the output, if that is known.
    fn shown_by_host(&self) -> Option<Vec<u8>>;
}
