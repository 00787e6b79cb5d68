"""A whole verifier of admissions, in Python with nothing but `cryptography`: an example to copy, and to translate.

It agrees with every vector of the sets admission and key-set, under both names of the algorithm. The
rules are those of docs/guard.md, in the same order; the reasons are those of packages/token/vectors/README.md.
"""

import base64
import hashlib
import json
import re
import sys

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

TYP = "vst-admission+jwt"
NAMES = ("Ed25519", "EdDSA")
TOKEN_CHARS_MAX = 2048
KEYS_MAX = 16
WHOLE_MAX = 2**53 - 1
USES = ("line", "admission")
FORBIDDEN = ("jwk", "jku", "x5u", "x5c", "x5t", "x5t#S256", "crit", "b64")

P = 2**255 - 19
# y of the points whose order divides 8: under such a key one signature fits many texts.
SMALL_ORDER = {0, 1, P - 1} | {
    int.from_bytes(bytes.fromhex(text), "little")
    for text in (
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    )
}


class Refused(Exception):
    """Its only argument is the reason."""


def need(holds, reason):
    if not holds:
        raise Refused(reason)


def encode(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def decode(text, reason):
    """base64url has one spelling for the same bytes: Python's own decoder passes over what it does not know."""
    need(isinstance(text, str) and re.fullmatch("[A-Za-z0-9_-]*", text), reason)
    need(len(text) % 4 != 1, reason)
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    need(encode(data) == text, reason)
    return data


def no_constant(name):
    raise ValueError(name)  # NaN and Infinity are no JSON


def read_object(part):
    try:
        text = decode(part, "malformed").decode("utf-8")
        value = json.loads(text, parse_constant=no_constant)
    except (ValueError, RecursionError):
        raise Refused("malformed") from None
    need(isinstance(value, dict), "malformed")
    return value


def is_whole(value, least=0):
    return type(value) is int and least <= value <= WHOLE_MAX  # True is no number


def is_hash(value):
    if not isinstance(value, str) or not re.fullmatch("[A-Za-z0-9_-]{43}", value):
        return False
    return encode(base64.urlsafe_b64decode(value + "=")) == value


def read_entry(entry):
    """(x, until, use) of a key of ours; None for a kind or use that is another."""
    need(isinstance(entry, dict), "bad-key-set")
    need(not entry.keys() & {"d", "k", "priv"}, "bad-key-set")
    if entry.get("kty") != "OKP" or entry.get("crv") != "Ed25519":
        return None
    need("alg" not in entry or entry["alg"] in NAMES, "bad-key-set")
    need("use" not in entry or entry["use"] == "sig", "bad-key-set")
    operations = entry.get("key_ops", ["verify"])
    need(isinstance(operations, list) and "verify" in operations, "bad-key-set")
    need("exp" not in entry or is_whole(entry["exp"]), "bad-key-set")
    if "vst_use" in entry and entry["vst_use"] not in USES:
        return None  # a use of later times
    data = decode(entry.get("x"), "bad-key-set")
    need(len(data) == 32, "bad-key-set")
    y = int.from_bytes(data, "little") & (2**255 - 1)
    need(y < P and y not in SMALL_ORDER, "bad-key-set")
    # RFC 7638: the members that are needed, in the order of their names, without white space.
    thumbprint = '{"crv":"Ed25519","kty":"OKP","x":"%s"}' % entry["x"]
    need(entry.get("kid") == encode(hashlib.sha256(thumbprint.encode()).digest()), "bad-key-set")
    return data, entry.get("exp"), entry.get("vst_use")


def read_keys(jwks):
    """kid to (x, until, use). One bad entry refuses the whole set: keep the one that you had."""
    need(isinstance(jwks, dict) and isinstance(jwks.get("keys"), list), "bad-key-set")
    need(len(jwks["keys"]) <= KEYS_MAX, "bad-key-set")
    seen = {}
    for entry in jwks["keys"]:
        read = read_entry(entry)
        kid = entry.get("kid")
        if isinstance(kid, str):
            same = kid not in seen or (read is not None and seen[kid] == read)
            need(same, "bad-key-set")
            seen[kid] = read
    keys = {kid: read for kid, read in seen.items() if read is not None}
    need(keys, "bad-key-set")
    return keys


def verify(token, keys, now_ms, skew, issuer, event, action, lifetime, visitor):
    """The claims. Raises Refused."""
    need(len(token) <= TOKEN_CHARS_MAX, "malformed")
    parts = token.split(".")
    need(len(parts) == 3 and parts[0] and len(parts[2]) == 86, "malformed")
    header = read_object(parts[0])
    need(not header.keys() & set(FORBIDDEN), "forbidden-header")
    need(header.get("alg") in NAMES, "wrong-algorithm")
    need(header.get("typ") == TYP, "wrong-type")
    kid = header.get("kid")
    need(isinstance(kid, str) and kid in keys, "unknown-key")
    data, until, use = keys[kid]
    need(until is None or now_ms < until * 1000, "key-over")
    need(use in (None, "admission"), "wrong-type")  # the line's key signs no admissions
    signature = decode(parts[2], "malformed")
    signed = (parts[0] + "." + parts[1]).encode("utf-8", "surrogatepass")
    try:
        Ed25519PublicKey.from_public_bytes(data).verify(signature, signed)
    except InvalidSignature:
        raise Refused("bad-signature") from None

    claims = read_object(parts[1])
    iat, nbf, exp = (claims.get(name) for name in ("iat", "nbf", "exp"))
    need(is_hash(claims.get("sub")) and is_hash(claims.get("jti")), "bad-claims")
    need(is_whole(claims.get("n"), 1), "bad-claims")
    need(is_whole(iat) and is_whole(nbf) and is_whole(exp) and exp > nbf, "bad-claims")
    need(claims.get("iss") == issuer, "wrong-issuer")
    need(claims.get("aud") == event, "wrong-audience")  # a list is none
    need(claims.get("act") == action, "wrong-action")
    need(exp - nbf <= lifetime, "lifetime-too-long")
    now = now_ms // 1000
    need(iat <= now + skew, "issued-in-future")
    need(nbf <= now + skew, "too-early")
    need(now < exp + skew, "over")
    need(is_hash(visitor), "wrong-visitor")
    need(encode(hashlib.sha256(visitor.encode("ascii")).digest()) == claims["sub"], "wrong-visitor")
    return claims


def check(question):
    options = question["options"]
    try:
        keys = read_keys(question["jwks"])
    except Refused:
        keys = read_keys(question.get("jwksBefore"))
    verify(
        question["token"],
        keys,
        now_ms=options["nowMs"],
        skew=options["skewSeconds"],
        issuer=options["issuer"],
        event=options["event"],
        action=options["action"],
        lifetime=options["lifetimeSeconds"],
        visitor=options["visitor"],
    )


def main():
    for line in sys.stdin:
        question = json.loads(line)
        answer = {"id": question["id"], "ok": True}
        try:
            check(question)
        except Refused as refused:
            answer = {"id": question["id"], "ok": False, "reason": str(refused)}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
