//! The name that a misspelt one was probably meant to be.

/// Returns the known name that is most like this one, if one is alike: at most a third of its letters are inserted, removed,
/// replaced or exchanged with the next.
pub(crate) fn nearest<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let distances = known.into_iter().map(|known| (strsim::osa_distance(known, name), known));
    let (distance, known) = distances.min_by_key(|(distance, _)| *distance)?;
    (distance * 3 <= known.len()).then_some(known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_name_has_a_nearest_one() {
        let known = ["token_never_waited", "divergent_collective", "sync", "cluster"];
        let of = |name| nearest(name, known);
        assert_eq!(of("token_not_waited"), Some("token_never_waited"));
        assert_eq!(of("divergent_collectives"), Some("divergent_collective"));
        assert_eq!(of("snyc"), Some("sync"));
        assert_eq!(of("clutser"), Some("cluster"));
        assert_eq!(of("everything"), None);
        assert_eq!(nearest("sync", []), None);
    }
}
