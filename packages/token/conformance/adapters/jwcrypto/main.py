"""jwcrypto, as its documentation uses it: a JWKSet, and a JWT with algorithms, checked claims and leeway.

Nothing more on purpose: the report shows what is missing then. The clock is the question's, not the machine's.
"""

import importlib.metadata
import json
import sys
import time

from jwcrypto import jwk, jwt

NOW = 0.0
time.time = lambda: NOW


def check(question):
    global NOW
    options = question["options"]
    NOW = options["nowMs"] / 1000
    keys = jwk.JWKSet.from_json(json.dumps(question["jwks"]))
    # Once a claim is named, exp and nbf are looked at only when they are named as well.
    claims = {"iss": options["issuer"], "exp": None}
    if question["kind"] != "manifest":
        claims["aud"] = options["event"]
    if question["kind"] == "admission":
        claims["nbf"] = None
    token = jwt.JWT(check_claims=claims, algs=["EdDSA"])
    token.leeway = options["skewSeconds"]
    token.deserialize(question["token"], keys)


if sys.argv[1:] == ["--version"]:
    print(importlib.metadata.version("jwcrypto"))
    sys.exit()
for line in sys.stdin:
    question = json.loads(line)
    answer = {"id": question["id"], "ok": True}
    try:
        check(question)
    except Exception as error:  # whatever a library throws, the shop refuses
        answer = {"id": question["id"], "ok": False, "reason": type(error).__name__}
    print(json.dumps(answer), flush=True)
