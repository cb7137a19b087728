//! Why something is tried again and again. The same reason is said once.

use std::sync::Mutex;

use crate::lock::locked;

use super::worker::Say;

#[derive(Debug, Default)]
pub(super) struct Trouble(Mutex<Option<String>>);

impl Trouble {
    pub(super) fn say(&self, say: &Say, reason: String) {
        let mut told = locked(&self.0);
        if told.as_ref() != Some(&reason) {
            say(reason.clone());
            *told = Some(reason);
        }
    }

    /// It has worked.
    pub(super) fn clear(&self) {
        *locked(&self.0) = None;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn the_same_trouble_is_said_once_until_it_is_over() {
        let said: Arc<Mutex<Vec<String>>> = Arc::default();
        let say: Say = {
            let said = Arc::clone(&said);
            Arc::new(move |text| locked(&said).push(text))
        };
        let trouble = Trouble::default();
        for reason in ["no answer", "no answer", "no such consumer"] {
            trouble.say(&say, reason.to_owned());
        }
        trouble.clear();
        trouble.say(&say, "no such consumer".to_owned());
        assert_eq!(*locked(&said), ["no answer", "no such consumer", "no such consumer"]);
    }
}
