//! Exercise 1: the script that releases a Redis lock. Catches a plain DEL, looking and deleting in two steps, and
//! comparing the wrong thing.

use super::{Exercise, Language};

/// See the module.
pub const EXERCISE: Exercise = Exercise {
    number: 1,
    slug: "release",
    title: "Release only if it is yours",
    language: Language::Lua,
    starter: "\
-- KEYS[1]: the lock's key. ARGV[1]: your token.
-- Return 1 if your lock was freed, 0 if it was not yours.
if redis.call('EXISTS', KEYS[1]) == 1 then
  redis.call('DEL', KEYS[1])
  return 1
end
return 0
",
    model: "\
if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
return 0
",
    hints: [
        "Your lease may have run out while you worked. Whose lock stands under the key then?",
        "Compare what the key holds with your token, and do it in the same script that deletes: nothing can come \
         between two commands of one script.",
        "If GET of the key equals ARGV[1], return what DEL answers; otherwise return 0.",
    ],
};
