//! The parts of what a target returned that a check can look at.

crate::words! {
    /// What a check looks at. Measured numbers, such as cost and duration, are no such part.
    #[derive(PartialOrd, Ord)]
    pub enum EvidencePart {
        Answer = "answer",
        Calls = "calls",
        Files = "files",
    }
}
