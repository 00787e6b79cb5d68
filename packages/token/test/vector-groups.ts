/** To which group a vector belongs, and why its answer is right: one sentence for each family of names. */

export interface Group {
  readonly group: string;
  readonly comment: string;
}

type Rule = readonly [names: RegExp, group: string, comment: string];

/** The first that matches counts. */
const RULES: readonly Rule[] = [
  // Key sets: their names come first, since some speak of claims as well.
  [
    /^TV-01: alg (ed25519|eddsa) in the header, .* in the key set$/,
    "key-set-algorithm",
    "Names of algorithms are case-sensitive: in lower case it is neither of the two, whatever the key set says.",
  ],
  [
    /in the header, .* in the key set$/,
    "key-set-algorithm",
    "Header and key set may each use either registered name, or the set none: a rollout of one name must not lock anybody out.",
  ],
  [
    /^signed by a key (whose vst_use is (admission|line)|without vst_use)/,
    "key-use",
    "A key whose vst_use names one of the two uses signs that alone: line tickets and statements, admission admissions. Without vst_use it signs anything.",
  ],
  [
    /^TV-12: .*its key for/,
    "key-use",
    "What a key is for is looked at on each use, also when the same text was accepted before.",
  ],
  [
    /vst_use is .*, beside a good one$/,
    "key-use",
    "An entry of a use that is not known is passed over, and so its key is not there: names of uses are case-sensitive texts.",
  ],
  [
    /^a set of keys whose vst_use is of later times, after/,
    "key-endpoint",
    "An answer that is no good set replaces nothing: the keys that were known stay in force.",
  ],
  [
    /^(beside the key: one|a set of keys) whose vst_use is of later times/,
    "key-use",
    "An entry of a use that is not known is passed over, so that a later one can be published beside ours; a set of nothing else has no key.",
  ],
  [
    /^a secret in a set: .*, after a good set$/,
    "private-key",
    "A private or symmetric member refuses the set, and the keys that were known stay in force.",
  ],
  [
    /^a secret in a set/,
    "private-key",
    "A private or symmetric member in a published set is a leak: the set is refused, and somebody is told.",
  ],
  [
    /^KR-03: .*, after a good set$/,
    "duplicate-kid",
    "A set that contradicts itself replaces nothing: the keys that were known stay in force.",
  ],
  [
    /^(KR-03: )?a token without kid/,
    "key-choice",
    "Without kid no key is chosen, however few there are: trying them all hides a mistake of the signer.",
  ],
  [
    /^KR-03: the same (entry|key) (twice|16 times)(, one with(out alg| key_ops)|, for admissions|, under both names of the algorithm)?$/,
    "duplicate-kid",
    "Two entries that say the same key under one kid collapse into one.",
  ],
  [
    /^KR-03: /,
    "duplicate-kid",
    "Entries that contradict each other under one kid refuse the whole set: whichever were taken, a token could be judged by the wrong key.",
  ],
  [
    /^KR-05: .*, after a good set$/,
    "key-endpoint",
    "An answer that is no good set replaces nothing: the keys that were known stay in force.",
  ],
  [
    /^KR-05: /,
    "key-endpoint",
    "An answer that is no good set gives no keys at all, not even those of its entries that look right.",
  ],
  [
    /^TV-13: .* as a key/,
    "degenerate-key",
    "Points of small order and y of p or more are refused as keys: one signature would fit many texts, and runtimes disagree about it.",
  ],
  [
    /^beside the key: a (symmetric|private)/,
    "private-key",
    "A private or symmetric member in a published set is a leak: the set is refused, and somebody is told.",
  ],
  [
    /^(another )?entry with a private half$/,
    "private-key",
    "A private or symmetric member in a published set is a leak: the set is refused, and somebody is told.",
  ],
  [
    /^beside the key: /,
    "foreign-key",
    "Keys of other kinds are passed over (RFC 7517 section 5), so that a later algorithm can be published beside ours.",
  ],
  [
    /^(the key (alone|last)|an entry of kty|key_ops verify|unknown members|16 entries)/,
    "key-set",
    "A set as it may be: order, optional and unknown members make no difference.",
  ],
  [
    /^17 entries/,
    "key-set",
    "A set has at most 16 entries: whoever reads it must not work without a bound.",
  ],
  [
    /^(another )?entry with kid/,
    "key-form",
    "kid is the RFC 7638 thumbprint of its own key, spelled in one way: a set that says otherwise is refused.",
  ],
  [
    /^(another )?entry with x/,
    "key-form",
    "x is the base64url of 32 bytes in its one spelling: a set that says otherwise is refused.",
  ],
  [
    /^(another )?entry with/,
    "key-form",
    "A key that says that it is for something else is not used, and the set is refused.",
  ],
  [
    /^KR-07: an end of/,
    "key-life",
    "exp of a key is a whole number of seconds: a set that says otherwise is refused, since a key without its end would live on.",
  ],
  [
    /^KR-07: a (retiring|retired) key (that|beside|, a second before|in the last)/,
    "key-life",
    "A key is in force until the millisecond before its exp, and another key's end is not its own.",
  ],
  [/^KR-07: a retiring key/, "key-life", "A key is in force until the millisecond before its exp."],
  [
    /^KR-07: /,
    "key-life",
    "From its exp on a key is over by the verifier's own clock, without tolerance and whatever the token says about itself.",
  ],
  [
    /^a staged key/,
    "key-life",
    "A key that was published is in force: a verifier does not ask when it began to sign.",
  ],
  [
    /^a revoked key/,
    "key-life",
    "A revoked key is taken out of the set, and nothing that it signed is accepted from then on.",
  ],
  [
    /^TV-12: (a text that|the same text, its key in force again)/,
    "remembered",
    "The key is in the set and in force.",
  ],
  [
    /^TV-12: the same text, (its|another)/,
    "remembered",
    "A remembered verdict holds only as long as the key under which it was reached.",
  ],
  // Header.
  [/^good$/, "genuine", "A token as the mint signs it."],
  [
    /^(TV-01|signed by the other key)/,
    "genuine",
    "Genuine under any key of the set and under both registered names of the algorithm (RFC 9864, RFC 8037).",
  ],
  [
    /^an unknown header member|^a KID beside/,
    "genuine",
    "Header members that are not known are ignored (RFC 7515 section 4), and their names are case-sensitive.",
  ],
  [
    /^a header with white space|^a payload with white space|^the same two parts/,
    "genuine",
    "JSON may be written in many ways: what is signed is the text, what is read is its meaning.",
  ],
  [/^Alg instead/, "member-names", "Names of members are case-sensitive: alg is missing."],
  [
    /^alg /,
    "algorithm",
    "Only the two registered names of Ed25519 are accepted, letter by letter (RFC 7515 section 4.1.1).",
  ],
  [
    /^TV-03: alg/,
    "unsecured",
    "An unsecured token is no token, in whatever spelling of none (RFC 8725 section 2.1).",
  ],
  [/^TV-03: /, "parts", "A compact JWS has exactly three parts (RFC 7515 section 7.1)."],
  [
    /^HMAC/,
    "mac",
    "The public key is no secret: a MAC that is keyed with it proves nothing (RFC 8725 section 2.1).",
  ],
  [
    /^header with (crit|b64)/,
    "critical",
    "No extension is understood here, so that crit and b64 in any form refuse the token (RFC 7515 section 4.1.11, RFC 7797).",
  ],
  [
    /^header with|^signed by the key that its own/,
    "header-key",
    "A key or a pointer to one in the header is the sender's word (RFC 8725 section 3.9): keys come from the verifier's own set only.",
  ],
  [/^signed by a key that is not/, "key-choice", "No key of that kid is in the set."],
  [
    /^signed by (a stranger|one key)|^a deeply nested header/,
    "key-choice",
    "The key is the one of that kid, and the signature does not hold under it.",
  ],
  [
    /^(kid |Kid instead)/,
    "key-choice",
    "Without a kid that is a text and names a key of the set no key is chosen.",
  ],
  [
    /^TV-09: typ|^Typ instead/,
    "type",
    "typ says which kind of token this is, letter by letter (RFC 8725 section 3.11).",
  ],
  [/^TV-09: a genuine/, "type", "Another kind of token with a right signature is not this kind."],
  [
    /^TV-09: the claims of/,
    "claim-types",
    "The claims of another kind do not make this kind, whatever typ says.",
  ],
  // Signature and spelling.
  [
    /^TV-08: signature of 64|^TV-13: |^another payload/,
    "signature",
    "The signature does not hold, or is a second spelling of one that does (RFC 8032 section 8.4).",
  ],
  [
    /^TV-08: signature/,
    "signature-length",
    "An Ed25519 signature has 64 bytes: another length is refused, not an error.",
  ],
  [
    /^(the last character's|padding|base64 instead|genuinely signed|a space|a line feed|a (character|NUL|percent))/,
    "spelling",
    "base64url has no padding, no white space, no other alphabet and no spare bits (RFC 7515 section 2): one token has one text.",
  ],
  [/^TV-08: empty|^empty text|^dots only/, "parts", "Each of the three parts has something in it."],
  [
    /^TV-08: (header|payload)|^a byte order mark|in the (payload|header)$|payload's|no JSON$|^text behind|nested lists/,
    "json",
    "Header and payload are one JSON object each, in UTF-8, by the grammar of RFC 8259 and nothing beyond it.",
  ],
  // Claims.
  [
    /^(Exp|IAT|Iss) instead|^an EXP/,
    "member-names",
    "Names of claims are case-sensitive: another spelling is another claim.",
  ],
  [/^the claims below/, "claim-types", "Claims are members of the payload itself."],
  [/^exp 1e400/, "claim-types", "Times are whole seconds within 2^53."],
  [/^(iss |an issuer)/, "issuer", "iss is the mint's, letter by letter."],
  [
    /^TV-10: /,
    "audience",
    "aud is the one event as a text, letter by letter: one key signs for many events, and this is the only wall between them.",
  ],
  [
    /^a service's name/,
    "genuine",
    "sub of a service is its name: 1 to 64 small letters, digits and single hyphens.",
  ],
  [/^act /, "action", "act is the action that is asked for, letter by letter."],
  [
    /^(another visitor|no visitor|the hash shown|an empty visitor|the visitor|a visitor|sub is)/,
    "visitor",
    "sub is base64url(SHA-256) over the ASCII text of the visitor's secret, which has 43 characters: a token alone is worth nothing.",
  ],
  [
    /^TV-06: iat in milliseconds/,
    "issued-at",
    "Times are seconds: a signer that counts milliseconds says a time in the far future, or one after its own end.",
  ],
  [
    /^TV-06: /,
    "issued-at",
    "Refused when iat > now + skew: whole seconds, the clock rounded down, the tolerance included.",
  ],
  [
    /^(nbf (is|a)|an hour before)/,
    "not-before",
    "Refused when nbf > now + skew: whole seconds, the clock rounded down, the tolerance included.",
  ],
  [
    /^TV-12: the tolerance|^TV-12: the same text two/,
    "remembered",
    "Refused when now >= exp + skew, also when the same text was accepted before.",
  ],
  [
    /^signed again behind exp/,
    "expiry",
    "An admission may be signed again until it is over: iat is compared with the clock, never with exp.",
  ],
  [
    /^(exp (in the last|\+|is now)|over for a day)/,
    "expiry",
    "Refused when now >= exp + skew: the tolerance is never counted twice.",
  ],
  [
    /^(exp - |exp in milliseconds|exp a hundred|a shorter lifetime|a longer lifetime|the event's lifetime)/,
    "lifetime",
    "A token that lives longer than its kind may is refused, whoever signed it.",
  ],
  [
    /^(jti of another|another number under)/,
    "admission-id",
    "jti follows from event and number: a token that says otherwise contradicts itself.",
  ],
  [/^(exp is|exp before|nbf in milliseconds)/, "lifetime", "A token ends after it begins."],
  [
    /^(longer than|2,04|the widest token)/,
    "size",
    "A token has at most 2,048 characters: longer ones are refused before anything is parsed.",
  ],
  [
    /^(an? (unknown claim|action|nbf|slot|aud)|a draw index instead|held, with|with an event|a seq of 0)/,
    "genuine",
    "What a kind may say, or says in vain: claims that are not known are ignored.",
  ],
  [
    /^(both number|a number, and|a draw index, and)/,
    "claim-types",
    "A ticket has a number or a draw index, and exactly one of them.",
  ],
  [
    /^(held|a run of|rate of|an event|segments|state|cuts|events|endsAt|seq)/,
    "statement",
    "A statement has every member in its form, or it is not used at all.",
  ],
  [
    /^(sub|jti|n|d|iat|nbf|exp|slot) /,
    "claim-types",
    "Each claim of the kind is there and of its type: whole numbers in range, hashes of 43 characters of base64url in their one spelling.",
  ],
];

/** @throws Error for a name that no rule knows: a vector without a why is not published. */
export function groupOf(name: string): Group {
  const rule = RULES.find(([names]) => names.test(name));
  if (rule === undefined) throw new Error(`no group for "${name}"`);
  return { group: rule[1], comment: rule[2] };
}
