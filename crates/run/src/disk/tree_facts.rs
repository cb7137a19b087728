//! What is known of the entries of a tree.

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum NodeKind {
    File,
    Directory,
    Link,
    /// A FIFO, a socket, a device, or the root of another file system.
    Special,
}

/// What is known of an entry without reading it. As long as it is the same, so is the content: every
/// change sets `changed`, which programs cannot set to a time of their choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct NodeFacts {
    pub(crate) kind: NodeKind,
    /// Permission bits.
    pub(crate) mode: u32,
    pub(crate) size: u64,
    pub(crate) inode: u64,
    /// Nanoseconds since 1970.
    pub(crate) modified: i128,
    /// The same, for content and permissions.
    pub(crate) changed: i128,
}

/// What a walk does with a directory whose owner may not use it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnreadableDirectory {
    /// The walk fails.
    Refuse,
    /// Its owner may list and enter it from now on.
    UnlockToRead,
    /// The same, and may also remove what is in it.
    UnlockToRemove,
}

impl UnreadableDirectory {
    /// Permission bits that a directory gets if it lacks them.
    pub(super) fn needed(self) -> u32 {
        match self {
            Self::Refuse => 0,
            Self::UnlockToRead => 0o500,
            Self::UnlockToRemove => 0o700,
        }
    }
}
