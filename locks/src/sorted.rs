//! Order with little code, for all of it goes to the browser: a map for few entries, and a sort.
//!
//! The map is a vector, kept in the order of its keys. It does what a `BTreeMap` does and reads
//! and writes the same bytes and texts, but its code is a tenth of that for each kind of map. An entry behind
//! the last one is appended; any other shifts those behind it, so large values belong in a box. Likewise
//! `std` compiles its whole sort for each type that is sorted; [`by_numbers`] does so once.

use std::borrow::Borrow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Index;

use borsh::io::{Read, Result};
use borsh::{BorshDeserialize, BorshSerialize};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, Serializer};

/// Values by key, in the order of their keys.
#[derive(Clone, PartialEq, Eq, BorshSerialize)]
pub struct Map<K, V> {
    entries: Vec<(K, V)>,
}

impl<K, V> Map<K, V> {
    /// Nothing yet.
    pub const fn new() -> Map<K, V> {
        Map { entries: Vec::new() }
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Is there none?
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Forget all entries.
    pub fn clear(&mut self) {
        self.entries.clear();
    }

    /// The entries, in the order of their keys.
    pub fn iter(&self) -> Iter<'_, K, V> {
        self.entries.iter().map(as_pair)
    }

    /// The keys, in order.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &K> {
        self.entries.iter().map(|(key, _)| key)
    }

    /// The values, in the order of their keys.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &V> {
        self.entries.iter().map(|(_, value)| value)
    }

    /// The same, to be changed.
    pub fn values_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut V> {
        self.entries.iter_mut().map(|(_, value)| value)
    }
}

impl<K: Ord, V> Map<K, V> {
    /// Where a key is, or where it belongs.
    fn find<Q: Ord + ?Sized>(&self, key: &Q) -> std::result::Result<usize, usize>
    where
        K: Borrow<Q>,
    {
        match self.entries.last() {
            Some((last, _)) if last.borrow() >= key => self.entries.binary_search_by(|(at, _)| at.borrow().cmp(key)),
            _ => Err(self.entries.len()),
        }
    }

    /// The value of a key.
    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.find(key).ok().map(|at| &self.entries[at].1)
    }

    /// The value of a key, to be changed.
    pub fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        self.find(key).ok().map(|at| &mut self.entries[at].1)
    }

    /// Is there a value of that key?
    pub fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.find(key).is_ok()
    }

    /// Set the value of a key.
    pub fn insert(&mut self, key: K, value: V) {
        match self.find(&key) {
            Ok(at) => self.entries[at].1 = value,
            Err(at) => self.entries.insert(at, (key, value)),
        }
    }

    /// Forget a key.
    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        self.find(key).ok().map(|at| self.entries.remove(at).1)
    }

    /// The value of a key, set to its default if there was none.
    pub fn or_default(&mut self, key: K) -> &mut V
    where
        V: Default,
    {
        let at = match self.find(&key) {
            Ok(at) => at,
            Err(at) => {
                self.entries.insert(at, (key, V::default()));
                at
            }
        };
        &mut self.entries[at].1
    }
}

fn as_pair<K, V>((key, value): &(K, V)) -> (&K, &V) {
    (key, value)
}

/// Entries by reference.
type Iter<'a, K, V> = std::iter::Map<std::slice::Iter<'a, (K, V)>, fn(&'a (K, V)) -> (&'a K, &'a V)>;

impl<'a, K, V> IntoIterator for &'a Map<K, V> {
    type Item = (&'a K, &'a V);
    type IntoIter = Iter<'a, K, V>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<K, V> IntoIterator for Map<K, V> {
    type Item = (K, V);
    type IntoIter = std::vec::IntoIter<(K, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_iter()
    }
}

impl<K: Ord, V> FromIterator<(K, V)> for Map<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut map = Map::new();
        for (key, value) in entries {
            map.insert(key, value);
        }
        map
    }
}

impl<K: Ord, V, const N: usize> From<[(K, V); N]> for Map<K, V> {
    fn from(entries: [(K, V); N]) -> Self {
        entries.into_iter().collect()
    }
}

impl<K: Ord + Borrow<Q>, V, Q: Ord + ?Sized> Index<&Q> for Map<K, V> {
    type Output = V;

    /// As with every map of `std`, a key that is not there is a bug of the caller.
    fn index(&self, key: &Q) -> &V {
        self.get(key).expect("no entry found for key")
    }
}

impl<K, V> Default for Map<K, V> {
    fn default() -> Self {
        Map::new()
    }
}

impl<K: fmt::Debug, V: fmt::Debug> fmt::Debug for Map<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self).finish()
    }
}

impl<K: BorshDeserialize + Ord, V: BorshDeserialize> BorshDeserialize for Map<K, V> {
    fn deserialize_reader<R: Read>(from: &mut R) -> Result<Self> {
        let mut map = Map::new();
        for _ in 0..u32::deserialize_reader(from)? {
            map.insert(K::deserialize_reader(from)?, V::deserialize_reader(from)?);
        }
        Ok(map)
    }
}

impl<K: Serialize, V: Serialize> Serialize for Map<K, V> {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        to.collect_map(self)
    }
}

impl<'de, K: Deserialize<'de> + Ord, V: Deserialize<'de>> Deserialize<'de> for Map<K, V> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        from.deserialize_map(Entries(PhantomData))
    }
}

/// Reads a map entry by entry.
struct Entries<K, V>(PhantomData<(K, V)>);

impl<'de, K: Deserialize<'de> + Ord, V: Deserialize<'de>> Visitor<'de> for Entries<K, V> {
    type Value = Map<K, V>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> std::result::Result<Map<K, V>, A::Error> {
        let mut map = Map::new();
        while let Some((key, value)) = from.next_entry()? {
            map.insert(key, value);
        }
        Ok(map)
    }
}

/// Sort by two numbers; what has the same ones stays in the order that it has.
pub fn by_numbers<T>(items: &mut Vec<T>, numbers: impl Fn(&T) -> (u64, u64)) {
    let mut order = Vec::with_capacity(items.len());
    for (at, item) in items.iter().enumerate() {
        let (first, second) = numbers(item);
        order.push((first, second, at));
    }
    order.sort_unstable();
    let mut unsorted = Vec::with_capacity(items.len());
    for item in items.drain(..) {
        unsorted.push(Some(item));
    }
    for (_, _, at) in order {
        items.extend(unsorted[at].take());
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_sorts_as_a_stable_sort_does(items in proptest::collection::vec((0..9_u64, 0..3_u64, any::<u8>()), 0..60)) {
            let (mut mine, mut expected) = (items.clone(), items);
            by_numbers(&mut mine, |(first, second, _)| (*first, *second));
            expected.sort_by_key(|(first, second, _)| (*first, *second));
            prop_assert_eq!(mine, expected);
        }

        /// Whatever is done to both, it cannot be told from a `BTreeMap`, in memory or written.
        #[test]
        fn it_is_what_a_btree_map_is(steps in proptest::collection::vec((0..4_u8, 0..24_u8, any::<u16>()), 0..80)) {
            let (mut map, mut tree) = (Map::new(), BTreeMap::new());
            for (what, key, value) in steps {
                match what {
                    0 => _ = tree.insert(key, value),
                    1 => prop_assert_eq!(map.remove(&key), tree.remove(&key)),
                    2 => prop_assert_eq!(map.or_default(key), tree.entry(key).or_default()),
                    _ => prop_assert_eq!(map.get_mut(&key), tree.get_mut(&key)),
                }
                if what == 0 {
                    map.insert(key, value);
                }
                prop_assert_eq!(map.contains_key(&key), tree.contains_key(&key));
                prop_assert_eq!(map.len(), tree.len());
            }
            prop_assert!(map.iter().eq(&tree));
            prop_assert!(map.keys().rev().eq(tree.keys().rev()));
            let (packed, json) = (borsh::to_vec(&tree)?, serde_json::to_string(&tree)?);
            prop_assert_eq!(&borsh::to_vec(&map)?, &packed);
            prop_assert_eq!(&serde_json::to_string(&map)?, &json);
            prop_assert_eq!(&borsh::from_slice::<Map<u8, u16>>(&packed)?, &map);
            prop_assert_eq!(&serde_json::from_str::<Map<u8, u16>>(&json)?, &map);
            prop_assert_eq!(&tree.into_iter().rev().collect::<Map<_, _>>(), &map);
        }
    }
}
