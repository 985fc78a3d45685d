//! The packed form of the log: what the page and the server exchange beside the JSON that everybody else
//! reads. It is a fraction of JSON's size, and reading it takes a fraction of the code, which the browser
//! has to download. It is no contract: both sides are of one build, nothing in this form is ever stored.

use std::collections::BTreeMap;
use std::io::{Error, ErrorKind, Read, Result, Write};

use borsh::{BorshDeserialize, BorshSerialize};
use serde_json::{Map, Number, Value};

/// Pack something, such as a batch of events.
pub fn pack<T: BorshSerialize + ?Sized>(what: &T) -> Vec<u8> {
    // Writing into memory fails only for collections of more than 2^32 members.
    borsh::to_vec(what).unwrap_or_default()
}

/// Unpack what [`pack`] made of a value of the same type; all of it, or an error.
pub fn unpack<T: BorshDeserialize>(bytes: &[u8]) -> Result<T> {
    T::try_from_slice(bytes)
}

/// The same as text (base64), for event streams and for data within a page.
pub fn pack_text<T: BorshSerialize + ?Sized>(what: &T) -> String {
    let bytes = pack(what);
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let bits = three.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - three.len()));
        for at in 0..4 {
            let six = (bits >> (18 - 6 * at)) as usize & 63;
            text.push(if at <= three.len() { char::from(DIGITS[six]) } else { '=' });
        }
    }
    text
}

/// Unpack what [`pack_text`] made.
pub fn unpack_text<T: BorshDeserialize>(text: &str) -> Result<T> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut known) = (0_u32, 0);
    for digit in text.trim_end_matches('=').bytes() {
        let six = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return Err(Error::from(ErrorKind::InvalidData)),
        };
        bits = bits << 6 | u32::from(six);
        known += 6;
        if known >= 8 {
            known -= 8;
            bytes.push((bits >> known) as u8);
        }
    }
    unpack(&bytes)
}

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Values of JSON, for fields that hold them as they are.
pub mod value {
    use super::*;

    /// Write one.
    pub fn write<W: Write>(value: &Value, to: &mut W) -> Result<()> {
        match value {
            Value::Null => 0_u8.serialize(to),
            Value::Bool(is) => (1_u8, is).serialize(to),
            Value::Number(number) => match (number.as_i64(), number.as_u64()) {
                (Some(n), _) => (2_u8, n).serialize(to),
                (None, Some(n)) => (3_u8, n).serialize(to),
                (None, None) => (4_u8, number.as_f64().unwrap_or_default().to_bits()).serialize(to),
            },
            Value::String(text) => (5_u8, text).serialize(to),
            Value::Array(values) => {
                (6_u8, values.len() as u32).serialize(to)?;
                values.iter().try_for_each(|value| write(value, to))
            }
            Value::Object(fields) => {
                (7_u8, fields.len() as u32).serialize(to)?;
                fields.iter().try_for_each(|(name, value)| {
                    name.serialize(to)?;
                    write(value, to)
                })
            }
        }
    }

    /// Read one.
    pub fn read<R: Read>(from: &mut R) -> Result<Value> {
        Ok(match u8::deserialize_reader(from)? {
            0 => Value::Null,
            1 => Value::Bool(bool::deserialize_reader(from)?),
            2 => Value::from(i64::deserialize_reader(from)?),
            3 => Value::from(u64::deserialize_reader(from)?),
            4 => Number::from_f64(f64::from_bits(u64::deserialize_reader(from)?)).map_or(Value::Null, Value::Number),
            5 => Value::String(String::deserialize_reader(from)?),
            6 => {
                let mut values = Vec::new();
                for _ in 0..u32::deserialize_reader(from)? {
                    values.push(read(from)?);
                }
                Value::Array(values)
            }
            7 => {
                let mut fields = Map::new();
                for _ in 0..u32::deserialize_reader(from)? {
                    fields.insert(String::deserialize_reader(from)?, read(from)?);
                }
                Value::Object(fields)
            }
            _ => return Err(Error::from(ErrorKind::InvalidData)),
        })
    }
}

/// Values of JSON by name.
pub mod fields {
    use super::*;

    /// Write them.
    pub fn write<W: Write>(fields: &BTreeMap<String, Value>, to: &mut W) -> Result<()> {
        (fields.len() as u32).serialize(to)?;
        fields.iter().try_for_each(|(name, field)| {
            name.serialize(to)?;
            value::write(field, to)
        })
    }

    /// Read them.
    pub fn read<R: Read>(from: &mut R) -> Result<BTreeMap<String, Value>> {
        let mut fields = BTreeMap::new();
        for _ in 0..u32::deserialize_reader(from)? {
            fields.insert(String::deserialize_reader(from)?, value::read(from)?);
        }
        Ok(fields)
    }
}

/// The same, where there may be none.
pub mod maybe_fields {
    use super::*;

    /// Write them.
    pub fn write<W: Write>(row: &Option<BTreeMap<String, Value>>, to: &mut W) -> Result<()> {
        row.is_some().serialize(to)?;
        row.as_ref().map_or(Ok(()), |row| fields::write(row, to))
    }

    /// Read them.
    pub fn read<R: Read>(from: &mut R) -> Result<Option<BTreeMap<String, Value>>> {
        bool::deserialize_reader(from)?.then(|| fields::read(from)).transpose()
    }
}

/// Maps, read entry by entry: borsh would have each kind of map sorted and built in bulk, which is a
/// tenth of the browser's program. They are written as borsh writes them.
pub mod map {
    use super::*;

    /// Read one.
    pub fn read<R: Read, K: BorshDeserialize + Ord, V: BorshDeserialize>(from: &mut R) -> Result<BTreeMap<K, V>> {
        let mut map = BTreeMap::new();
        for _ in 0..u32::deserialize_reader(from)? {
            map.insert(K::deserialize_reader(from)?, V::deserialize_reader(from)?);
        }
        Ok(map)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::event::{Event, Kind, Source};
    use crate::ids::Endpoint;

    #[test]
    fn an_event_comes_back_with_every_kind_of_value() {
        let row = json!({
            "none": null, "yes": true, "less": -7, "most": u64::MAX, "half": 0.5, "text": "ü", "list": [1, [], {}],
            "deep": { "a": { "b": [null] } }
        });
        let row = row.as_object().map(|fields| fields.clone().into_iter().collect());
        let kind = Kind::Row { table: "locks".to_owned(), key: "k".to_owned(), row };
        let event = Event { seq: 1, at_us: 2, until_us: Some(3), source: Source::Store(Endpoint::Postgres), kind };
        let packed = pack(&vec![&event]);
        assert_eq!(unpack::<Vec<Event>>(&packed).unwrap(), [event]);
        assert!(unpack::<Vec<Event>>(&packed[..packed.len() - 1]).is_err(), "cut short");
        assert!(unpack::<Vec<Event>>(&[packed.as_slice(), &[0]].concat()).is_err(), "with something behind it");
    }

    #[test]
    fn as_text_it_is_base64() {
        assert_eq!(pack_text(&[104_u8, 101]), "aGU=");
        for length in 0..9_u8 {
            let bytes: Vec<u8> = (0..length).map(|n| n.wrapping_mul(67)).collect();
            assert_eq!(unpack_text::<Vec<u8>>(&pack_text(&bytes)).unwrap(), bytes);
        }
        assert!(unpack_text::<Vec<u8>>("AAAA*AA=").is_err());
    }
}
